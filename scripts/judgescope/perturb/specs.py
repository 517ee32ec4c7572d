"""Specs of the jobs that write, compare and grade texts."""

from typing import Literal

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.perturb.edits import Amount
from judgescope.prompts import Change
from judgescope.replies.specs import WriterSpec

RetryTemperature = float | Literal["same"] | None
"""The temperature of further attempts at a text, if that of the first is 0; `same`: 0;
None: there are no further ones."""


class _SetSpec(JobSpec, frozen=True, kw_only=True):
    """A set of texts for a dataset, made from those in `input`, with their sources."""

    dataset: str
    seed: int
    share: float
    """The share of the items that have such texts."""
    items: str
    input: str
    output: str


class MakeTextsSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model makes texts from other texts, at once or step by
    step.
    """

    perturbation: str
    degree: str | None
    task: str
    writer: WriterSpec
    change: Change
    amount: Amount
    steps: int
    checks: list[str]
    attempts: int
    fallback_to_reference: bool = False
    """Whether a text that could not be made is replaced by its parent text."""
    retry_temperature: RetryTemperature = "same"
    """The temperature of further attempts, if that of the first is 0; None: there are
    no further ones."""
    allow_missing: bool = False
    """Whether the set may stay without texts."""
    replies: str


class WriteReferencesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model writes references and the most diverse of them are
    kept.
    """

    task: str
    writer: WriterSpec
    draws: int
    """The number of references that are written for each item."""
    keep: int
    checks: list[str]
    fallback_to_reference: bool
    """Whether the dataset's reference is used if no written one is usable."""
    kept: str
    replies: str


class Even(SpecPart, frozen=True, kw_only=True, tag="even"):
    """Equally many candidates for each number of errors."""

    targets: int
    """The number of candidates per item."""
    counts: list[int]


class OnTrial(SpecPart, frozen=True, kw_only=True, tag="trial"):
    """Calibration candidates, which show how many errors texts of each rating have."""

    share: float
    """The share of the items that have such candidates."""
    max_errors: int


class OfEachRating(SpecPart, frozen=True, kw_only=True, tag="rest"):
    """Candidates with the numbers of errors that calibration candidates of each rating
    had.
    """

    targets: int
    """The number of texts per item in the final set."""
    oversample: float
    """The factor by which there are more candidates than texts in the set."""
    classes: list[float]


class ModelErrors(SpecPart, frozen=True, kw_only=True):
    """How a model puts errors into texts."""

    writer: WriterSpec
    task: str
    change: Change
    attempts: int


class CandidatesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job that makes a part of the candidates of a graded set, by rule or by a
    model.
    """

    perturbation: str
    degree: str
    references: int
    """The number of references of an item that get errors."""
    written: str | None
    """The file of the references that a model wrote, if any."""
    part: Even | OnTrial | OfEachRating
    errors: list[str] = field(default_factory=list)
    """The kinds of error that rules make."""
    by_model: ModelErrors | None = None
    """None: errors are made by rules."""
    tried: str | None = None
    """The file of the calibration candidates, once they have been compared."""
    compared: str | None = None
    """The file of their comparisons with anchors."""
    replies: str | None = None


class ComparedAspect(SpecPart, frozen=True, kw_only=True):
    """The aspect in which texts are compared, as a prompt shows it."""

    aspect: str
    name: str
    definition: str


class CompareAnchorsSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model compares candidates with anchors, or anchors with each
    other.
    """

    dataset: str
    perturbation: str
    seed: int
    name: str
    """The name to which the cost of the replies is assigned."""
    aspect: ComparedAspect
    source_visible: bool
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    least_accuracy: float
    """The share of anchor pairs that the comparator must order as people do."""
    comparator: WriterSpec
    items: str
    targets: str
    anchors: str
    candidates: str | None
    """None: anchors of different ratings are compared with each other, to check the
    comparator."""
    output: str
    replies: str


class GradeSpec(JobSpec, frozen=True, kw_only=True):
    """The job that rates the candidates of a graded set, and chooses its targets."""

    aspect: str
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    targets: int
    """The number of targets per item in the set."""
    errors_per_rating: int | None
    """The errors that lower a rating by one; None: anchors rate the candidates."""
    seed: int
    candidates: list[str]
    """The candidates' files; those of the calibration first."""
    compared: list[str]
    """The files of their comparisons with anchors."""
    output: str
    graded: str
