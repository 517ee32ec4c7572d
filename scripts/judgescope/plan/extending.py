"""What extensions add to the plan of a study: checks, texts, inputs and targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import Struct

from judgescope.core.extensions import extension_modules
from judgescope.core.paths import Paths
from judgescope.plan.study import Plan


class Writing(NamedTuple):
    """One job in which a model writes for a dataset, and the set and part that it
    writes.
    """

    job: str
    """One of `WritingJob` in plan/generators.py, or an extension's."""
    model: str
    name: str = ""
    part: str = ""


@dataclass(frozen=True)
class StudyExtension:
    """What an extension adds to a study's plan: `EXTENSION` in its module
    `planning`.

    All functions give nothing for a study without the extension's key.
    """

    key: str
    """The key of a study that turns it on."""
    check: Callable[[Plan, str], None]
    """Raises UserError for a plan that cannot work; also takes the study's file."""
    writing_job: str
    """The job in which models write sets of texts that only the extension needs."""
    writing_record: type[Struct]
    """The type of that job's spec."""
    writing_spec: Callable[[Plan, str, Writing], Struct]
    """The spec of that job for a dataset."""
    writings: Callable[[Plan, str], Mapping[str, Writing]]
    """Name of a dataset's file -> the job that writes it."""
    before_requests: Callable[[Plan], list[str]]
    """The files that a job waits for before it sends a request."""
    before_judging: Callable[[Plan, str], list[str]]
    """The files that a model needs beside those of its card before it can judge."""
    drawn: Callable[[Plan, str, Paths], str | None]
    """The file that lists the texts of a dataset that are judged; None if all are."""
    targets: Callable[[Plan], list[str]]
    """The files that a study makes before models write its texts."""


def study_extensions() -> list[StudyExtension]:
    """The additions of all extensions to a study's plan."""
    return [module.EXTENSION for module in extension_modules("planning")]


def before_requests(plan: Plan) -> list[str]:
    """The files of extensions that a job waits for before it sends a request."""
    files = []
    for each in study_extensions():
        files += each.before_requests(plan)
    return files


def before_judging(plan: Plan, model: str) -> list[str]:
    """The files of extensions that a model needs before it can judge."""
    files = []
    for each in study_extensions():
        files += each.before_judging(plan, model)
    return files


def drawn_texts(plan: Plan, dataset: str, paths: Paths) -> str | None:
    """The file that lists the texts of a dataset that are judged; None if all are."""
    files = (each.drawn(plan, dataset, paths) for each in study_extensions())
    return next(filter(None, files), None)
