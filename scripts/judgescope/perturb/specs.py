"""Specs of the jobs that write, compare and grade texts."""

from typing import Annotated

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.job_files import IN, OUT
from judgescope.perturb.edits import Amount
from judgescope.prompts import TextWords, WriterChange
from judgescope.replies.specs import WriterSpec


class _SetSpec(JobSpec, frozen=True, kw_only=True):
    """A set of texts for a dataset, made from those in `input`, with their sources."""

    dataset: str
    seed: int
    share: float
    """The share of the items that have such texts."""
    allow_missing: bool = False
    """Whether a set may stay without texts if a model's first ones are unusable."""
    items: Annotated[str, IN]
    input: Annotated[str, IN]
    output: Annotated[str, OUT]


class MakeTextsSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model makes texts from other texts, at once or step by
    step.
    """

    perturbation: str
    degree: str | None
    about: TextWords
    writer: WriterSpec
    change: WriterChange
    amount: Amount
    steps: int
    checks: list[str]
    attempts: int
    language: str = ""
    """The language of the dataset's card, "" to guess it from the originals."""
    fallback_to_reference: bool = False
    """Whether a text that could not be made is replaced by its parent text."""
    retry_temperature: float | None
    """The temperature of further attempts, if that of the first is 0; None: there are
    no further ones."""
    replies: Annotated[str, OUT]


class WriteReferencesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model writes references and the most diverse of them are
    kept.
    """

    about: TextWords
    writer: WriterSpec
    draws: int
    """The number of references that are written for each item."""
    keep: int
    checks: list[str]
    fallback_to_reference: bool
    """Whether the dataset's reference is used if no written one is usable."""
    kept: Annotated[str, OUT]
    replies: Annotated[str, OUT]


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
    about: TextWords
    change: WriterChange
    attempts: int
    retry_temperature: float | None


class CandidatesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job that makes a part of the candidates of a graded set, by rule or by a
    model.
    """

    perturbation: str
    degree: str
    references: int
    """The number of references of an item that get errors."""
    written: Annotated[str | None, IN]
    """The file of the references that a model wrote, if any."""
    part: Even | OnTrial | OfEachRating
    errors: list[str] = field(default_factory=list)
    """The kinds of error that rules make."""
    by_model: ModelErrors | None = None
    """None: errors are made by rules."""
    tried: Annotated[str | None, IN] = None
    """The file of the calibration candidates, once they have been compared."""
    compared: Annotated[str | None, IN] = None
    """The file of their comparisons with anchors."""
    replies: Annotated[str | None, OUT] = None


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
    about: TextWords
    source_visible: bool
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    least_accuracy: float
    """The share of anchor pairs that the comparator must order as people do."""
    comparator: WriterSpec
    items: Annotated[str, IN]
    targets: Annotated[str, IN]
    anchors: Annotated[str, IN]
    candidates: Annotated[str | None, IN]
    """None: anchors of different ratings are compared with each other, to check the
    comparator."""
    output: Annotated[str, OUT]
    replies: Annotated[str, OUT]


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
    candidates: Annotated[list[str], IN]
    """The candidates' files; those of the calibration first."""
    compared: Annotated[list[str], IN]
    """The files of their comparisons with anchors."""
    output: Annotated[str, OUT]
    graded: Annotated[str, OUT]
