"""Specs of jobs that ask a model for judgments or analyses, and spec parts for other
jobs.
"""

from typing import Annotated, Any

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.job_files import OUT
from judgescope.engines.base import CellsSpec
from judgescope.engines.subject_files import SubjectFiles
from judgescope.prompts import TextWords


class AskSpec(CellsSpec, frozen=True, kw_only=True):
    """All requests of a study to one model about one dataset."""

    templates: dict[str, dict[str, str]]
    """Prompt form -> file name -> template; empty if the model reads no prompts."""
    aspects: dict[str, dict[str, Any]]
    """Aspect -> the keys of its card that prompts can show."""
    about: TextWords
    """What prompts say about the kind of the texts."""
    log: str
    """The job's log, beside which it notes its progress."""
    part: str
    """The file that a part of the requests writes; `{}` stands for the part."""
    replies: Annotated[str, OUT]
    """The path of a cell's replies; `{}` stands for `<perturbation>/<judge>`."""
    analysts: dict[str, str] = field(default_factory=dict)
    """Judge -> the model that wrote the analyses in its prompts."""
    prefers: bool = False
    """Whether people chose between texts: then judges compare the same pairs."""
    trained: str | None = None
    """The folder of the adapter that the study trains for the model, if it trains
    one."""


class ModelSpec(SpecPart, frozen=True, kw_only=True):
    """A model to which a job sends requests."""

    engine: str
    """Where the engine of the model is: `module:OBJECT`."""
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


class StoppedPrompt(PromptSpec, frozen=True, kw_only=True):
    """A prompt form whose replies end at some strings."""

    stop: list[str] = field(default_factory=list)


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
    retry_temperature: float | None


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
    about: TextWords
    """What prompts say about the kind of the texts."""
    scales: dict[str, dict[str, Any]]
    """Aspect -> the scale on which people rated it."""
    subjects: SubjectFiles
    output: Annotated[str, OUT]
    replies: Annotated[str, OUT]
