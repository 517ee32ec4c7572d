"""The specs of the jobs that perturb texts by rule, and rate candidates for a graded set."""

from judgescope.core.job_spec import JobSpec, SpecPart
from judgescope.perturb.attacks import Place


class Addition(SpecPart, frozen=True, kw_only=True, tag="addition"):
    """What an attack, or its harmless counterpart, adds to a text, and where."""

    text: str
    place: Place


class RuleUse(SpecPart, frozen=True, kw_only=True, tag="rule"):
    """How a rule is used; `errors` and `steps` are of a rule that makes several texts in a row."""

    rule: str
    options: dict[str, int | str]
    errors: list[str]
    steps: int
    seed: int
    items: str
    """The items, for a rule that needs their meta."""


class PerturbSpec(JobSpec, frozen=True, kw_only=True):
    """The job that perturbs a dataset's originals without a model."""

    dataset: str
    perturbation: str
    degree: str
    change: Addition | RuleUse
    input: str
    output: str


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
    """The candidates' files; those on trial first."""
    compared: list[str]
    """The files of their comparisons with anchors."""
    output: str
    graded: str
