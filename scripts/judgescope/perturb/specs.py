"""The specs of the jobs that write, compare and grade texts."""

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.perturb.edits import Amount
from judgescope.prompts import Change
from judgescope.replies.specs import WriterSpec


class _SetSpec(JobSpec, frozen=True, kw_only=True):
    """A set of texts of a dataset that are made of those in `input`, with their sources."""

    dataset: str
    seed: int
    share: float
    """The share of the items that have such texts."""
    items: str
    input: str
    output: str


class MakeTextsSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model makes texts of other texts, at once or step by step."""

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
    """Whether a text that could not be made is replaced by what it was to be made of."""
    replies: str


class WriteReferencesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job in which a model writes references, of which the most diverse are kept."""

    task: str
    writer: WriterSpec
    draws: int
    """How many references are written of an item."""
    keep: int
    checks: list[str]
    fallback_to_reference: bool
    """Whether the data's reference is used where none that was written can be."""
    kept: str
    replies: str


class Even(SpecPart, frozen=True, kw_only=True, tag="even"):
    """As many candidates of each number of errors."""

    targets: int
    """How many of an item."""
    counts: list[int]


class OnTrial(SpecPart, frozen=True, kw_only=True, tag="trial"):
    """Candidates that show how many errors texts of each rating have."""

    share: float
    """The share of the items that have candidates."""
    max_errors: int


class OfEachRating(SpecPart, frozen=True, kw_only=True, tag="rest"):
    """Candidates with as many errors as those on trial had of each rating."""

    targets: int
    """How many of an item the set will have."""
    oversample: float
    """How many times as many candidates are made."""
    classes: list[float]


class ModelErrors(SpecPart, frozen=True, kw_only=True):
    """How a model puts errors into texts."""

    writer: WriterSpec
    task: str
    change: Change
    attempts: int


class CandidatesSpec(_SetSpec, frozen=True, kw_only=True):
    """The job that makes a part of the candidates of a graded set, by rule or by a model."""

    perturbation: str
    degree: str
    references: int
    """How many references of an item get errors."""
    written: str | None
    """The file of the references that a model wrote, if one did."""
    part: Even | OnTrial | OfEachRating
    errors: list[str] = field(default_factory=list)
    """The kinds of error that rules make."""
    by_model: ModelErrors | None = None
    """None: errors are made by rules."""
    tried: str | None = None
    """The file of the candidates on trial, once they have been compared."""
    compared: str | None = None
    """The file of their comparisons with anchors."""
    replies: str | None = None


class ComparedAspect(SpecPart, frozen=True, kw_only=True):
    """The aspect in which texts are compared, as a prompt shows it."""

    aspect: str
    name: str
    definition: str


class CompareAnchorsSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model compares candidates with anchors, or anchors with each other."""

    dataset: str
    perturbation: str
    seed: int
    name: str
    """Who counts as the buyer of the replies."""
    aspect: ComparedAspect
    source_visible: bool
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    least_accuracy: float
    """The share of pairs of anchors that the comparator must order as people do."""
    comparator: WriterSpec
    items: str
    targets: str
    anchors: str
    candidates: str | None
    """None: anchors of different ratings are compared with each other, to check the comparator."""
    output: str
    replies: str


class GradeSpec(JobSpec, frozen=True, kw_only=True):
    """The job that rates the candidates of a graded set, and chooses its targets."""

    aspect: str
    classes: list[float]
    """The ratings of the aspect, the lowest first."""
    targets: int
    """How many targets the set has of an item."""
    errors_per_rating: int | None
    """By how many errors a rating is lower than the next; None: anchors rate the candidates."""
    seed: int
    candidates: list[str]
    """The candidates' files; those of the calibration first."""
    compared: list[str]
    """The files of their comparisons with anchors."""
    output: str
    graded: str
