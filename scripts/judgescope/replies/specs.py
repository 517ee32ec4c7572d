"""Specs of jobs that ask a model for judgments or analyses, and spec parts for other
jobs.
"""

from typing import Any

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.engines.base import CellsSpec


class AskSpec(CellsSpec, frozen=True, kw_only=True):
    """All requests of a study to one model about one dataset."""

    templates: dict[str, dict[str, str]]
    """Prompt form -> file name -> template; empty if the model reads no prompts."""
    aspects: dict[str, dict[str, Any]]
    """Aspect -> the keys of its card that prompts can show."""
    output: str
    """The folder of the study's results."""
    replies: str
    """The path of a cell's replies; `{}` stands for `<perturbation>/<judge>`."""
    analysts: dict[str, str] = field(default_factory=dict)
    """Judge -> the model that wrote the analyses in its prompts."""
    task: str = ""
    """The dataset's task, for judges that annotate errors; empty without such
    judges."""
    trained: str | None = None
    """The folder of the adapter that the study trains for the model, if it trains
    one."""


class ModelSpec(SpecPart, frozen=True, kw_only=True):
    """A model to which a job sends requests."""

    card: dict[str, Any]
    """The keys of the model's card that its replies depend on."""
    folder: str
    """The folder of the model's card; the paths in the card are relative to it."""
    data: str
    """The folder that `{data}` stands for in paths."""


class PromptSpec(SpecPart, frozen=True, kw_only=True):
    """A prompt form, and how a model decodes its replies to it."""

    form: str
    decoding: dict[str, float | str]
    """The keys of Decoding."""


class WriterSpec(PromptSpec, frozen=True, kw_only=True):
    """A model that writes texts for a job, all with the same prompt form."""

    model: ModelSpec
    templates: dict[str, str]
    """File name -> template."""


class AnalysedJudge(PromptSpec, frozen=True, kw_only=True):
    """A judge whose prompts show analyses, and how these are requested."""

    n: int
    """The number of demonstrations that it is shown."""
    share: float
    """The share of the items that it judges."""
    aspects: list[str]
    attempts: int


class AnalyseSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model explains the ratings of demonstrations that judges are
    shown.
    """

    dataset: str
    seed: int
    model: ModelSpec
    judges: dict[str, AnalysedJudge]
    templates: dict[str, dict[str, str]]
    """Form -> file name -> template."""
    aspects: dict[str, dict[str, Any]]
    """Aspect -> the keys of its card that prompts can show."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    results: str
    output: str
    replies: str
