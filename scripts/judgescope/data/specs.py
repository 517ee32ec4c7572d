"""The specs of the jobs that read a dataset's files, and the record of what was read."""

from typing import Any, Literal

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart


class IngestFiles(SpecPart, frozen=True, kw_only=True):
    """Where the tables of a dataset are written."""

    items: str
    systems: str
    original: str | None
    """Of the texts that are perturbed; None: there are none."""
    ratings: str
    spans: str
    report: str


class _DatasetSpec(JobSpec, frozen=True, kw_only=True):
    """A dataset's card; `folder` and `data` only say where its files lie."""

    dataset: dict[str, Any]
    folder: str
    """The folder of the card; the paths in it are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""

    @property
    def card_file(self) -> str:
        """Return how errors name the card."""
        return f"{self.folder}/{self.dataset.get('dataset')}.yaml"


class IngestSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that reads a dataset, checks it and writes its tables."""

    seed: int
    output: IngestFiles


class TakeSpec(_DatasetSpec, frozen=True, kw_only=True):
    """The job that takes the texts that a dataset brings for one aspect."""

    perturbation: str
    degree: str
    role: Literal["local", "global"]
    aspect: str
    items: str
    output: str
    classes: list[float] = field(default_factory=list)
    """The ratings of the aspect, the lowest first; of role `global` only."""
    graded: str | None = None
    """Where the texts' ratings are written; of role `global` only."""


class IngestReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was read of a dataset, in numbers: the file items/<dataset>.json."""

    dataset: str
    sha256: dict[str, str]
    """Role -> the hash of its files."""
    items: int
    targets: int
    originals: int
    ratings: int
    raters: list[str]
    systems: dict[str, str]
    """System -> its name in the data."""
    problems: list[str]
    """Notices that are not errors, as sentences."""
    licence: str
    citation: str
    ratings_kind: str
    """Whose ratings they are: human, planned or none."""
    spans: int | None = None
    """Errors that people marked; None: the format has none."""
    same_names: bool = False
    """Whether names that differ only in blanks, case or Unicode form are one."""
