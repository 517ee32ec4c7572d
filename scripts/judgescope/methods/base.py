"""The rows of result tables, what a method declares, and the spec of the job that
computes it.
"""

from typing import Final, Literal, TypedDict, TypeVar

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.parsing.judgment import Policy

HUMAN: Final = "human"
"""The `judge` of rows on people."""
Texts = Literal["systems", "once", "graded", "attack"]


class Numbers(TypedDict):
    """The columns of a row that hold its estimate."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_missing: int
    n_tied: int
    method: str
    note: str


class AppliesTo(TypedDict, total=False):
    """The columns that are null where they do not apply."""

    perturbation: str | None
    degree: str | None
    criterion: str | None
    form: str | None
    judge_b: str | None
    aspect_b: str | None
    criterion_b: str | None
    k: int | None
    k_b: int | None
    system_subset: str | None


class Row(Numbers, AppliesTo):
    """A row of a result table (`results` in schema/tables.py)."""

    dataset: str
    judge: str
    aspect: str
    statistic: str
    level: str
    signature: str


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A result table: its module, of the same name, has `rows(study: EvaluationData)`.

    Values are literals (see core/declarations.py).
    """

    selectable: bool = False
    """Whether a study names it in its key `methods`."""
    when: Literal[
        "",
        "draws",
        "votes",
        "constructed",
        "annotated",
        "distilled",
        "labels",
        "always",
    ] = ""
    """Parts of a study that make it compute this table without being asked."""
    tables: tuple[str, ...] = ()
    """Other tables that are computed with it."""
    texts: tuple[Texts, ...] = ()
    """The texts that it reads: of systems, or the kinds of perturbations."""
    parts: tuple[str, ...] = ()
    """The parts of the spec that it reads, by their names in plan/specs/results.py."""
    settings: str = ""
    """The study's key whose content the spec holds in `settings`, under the name of the
    key."""
    inputs: tuple[str, ...] = ()
    """Further files that it reads, below the folder of results; `{dataset}` is filled
    in."""
    across: str = ""
    """The module whose `across(rows)` returns rows over all datasets from those of
    each."""
    datasets: Literal["evaluated", "all", "distilled"] = "evaluated"
    votes: bool = False
    """Whether it reads judges that compare two texts: they have votes and no scores."""
    oracles: bool = False
    """Whether it reads controls that know the errors."""
    claims: tuple[str, ...] = ()
    """The functions of claims for table `verdicts` that rest on its statistics.

    By path below this package: `(study: EvaluationData) -> Iterable[Claim | Row]`.
    """
    bars: bool = True
    """Whether the study's bars (`require`) can be compared with its rows."""
    controls: bool = False
    """Whether it compares judges with ratings, so that every control is included."""
    for_labels: bool = False
    """Whether it is for aspects that people rate by labels alone."""
    unordered: Literal["no", "yes", "noted"] = "no"
    """Whether it uses labels without an order; `noted`: its rows say why there is no
    number.

    Else it leaves such aspects out.
    """
    unturned: bool = False
    """Whether it reads values of its own of scales whose best end is the lowest."""


T = TypeVar("T")
Level = Literal["pooled", "by_source", "by_system"]
Gold = Literal["auto", "mean", "median", "majority_else_mean"]
Orders = Literal["both", "net", "strict"]
Setting = bool | int | float | str | list[int | float | str] | None
"""A value of a study's key that a method names as its settings."""
Prices = dict[str, float | None]
"""US dollars for a million tokens: `input`, `output`, `cached_input`."""


class AspectScale(SpecPart, frozen=True):
    """The scale on which people rated an aspect; `values` is None if any number is a
    rating.
    """

    values: list[float] | None
    ends: tuple[float, float]
    labels: list[str] = field(default_factory=list)
    """The labels of a scale of labels alone, whose values are their places; empty:
    numbers."""
    ordered: bool = True


class JudgeFacts(SpecPart, frozen=True):
    """The facts that statistics need from a judge's card and the cards that it
    names.
    """

    card: str
    """A hash of these cards."""
    engine: str
    form: str
    draws: int
    share: float
    """The share of the items that the judge was given."""
    prompt: str | None
    """A hash of the prompts; None if no model is asked."""
    references: bool
    """Whether the judge reads references."""
    family: str | None
    grid: dict[str, list[float] | None]
    """Aspect -> the values that one reply can have; None: any number."""
    ends: dict[str, tuple[float, float] | None]
    """Aspect -> minimum and maximum of the judge's scale; None if it has none."""
    weighted: bool
    """Whether a score is a mean weighted by log-probabilities."""
    first_draw: bool
    """Whether the first draw alone is the score."""
    discrete: bool
    """Whether a score is a value of one reply, not a mean."""
    hint: Literal["wrong", "right"] | None
    """Which rating of the judged text the prompt gives; None: no rating."""
    parser: str | None = None
    threshold: float | Literal["best"] | None = None
    """From which score on a text has the last of two labels; None: scores are not
    numbers."""
    temperature: float | None = None
    compares: bool = False
    """Whether a reply is about two texts."""
    price: Prices | None = None
    """Read by the table cost only; None if the model's card has no price."""


class Turned(SpecPart, frozen=True):
    """Minimum plus maximum of the scales whose lowest value is the best: value' = sum -
    value.
    """

    ratings: dict[str, float]
    """Aspect -> this sum for people's ratings."""
    scores: dict[str, dict[str, float]]
    """Judge -> aspect -> this sum for the judge's scores."""


class AsRater(SpecPart, frozen=True):
    """How a judge is compared with one more rater."""

    margin: float
    raters: str
    """The key `raters` of the dataset's card."""


class AltTest(SpecPart, frozen=True):
    """The study's key `alt_test`, for one dataset."""

    epsilon: float = 0.1
    unit: Literal["source", "text"] = "source"
    ordered: bool | None = None


class Comparison(SpecPart, frozen=True):
    """The study's key `comparison`."""

    judges: list[str]
    """Only these judges; empty: all."""
    statistics: list[str]
    levels: list[Level]
    permute: Literal["inputs", "systems", "both"]
    permutations: int | None
    wished: float


class Bar(SpecPart, frozen=True):
    """A bar of the study's key `require`; `level` and `aspect` are None if it names
    none.
    """

    statistic: str
    level: str | None
    aspect: str | None
    bar: float


class Required(SpecPart, frozen=True):
    """The study's bars, and the tables whose rows decide on them."""

    bars: list[Bar]
    parts: list[str]


class AspectWeights(SpecPart, frozen=True):
    """The weights of aspects by perturbation for the dataset's task."""

    id: str
    by_perturbation: dict[str, dict[str, float]]
    """Perturbation -> aspect -> weight."""


class ExpectedChange(SpecPart, frozen=True):
    """The aspects that a perturbation should lower, and those that it should not
    change.
    """

    drop: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)


class Expected(SpecPart, frozen=True):
    """The study's expectations of perturbations."""

    id: str
    changes: dict[str, ExpectedChange]
    """Perturbation -> the change that is expected of it."""
    margin: float
    """In points of a scale of five: a smaller change counts as none."""


class Hinted(SpecPart, frozen=True):
    """A judge's hint, and the judge that is asked the same without it."""

    rating: Literal["wrong", "right"]
    baseline: str


class Members(SpecPart, frozen=True):
    """The members of a derived judge; `supervised`: a model merges their lists of
    errors.
    """

    members: list[str]
    supervised: bool


class EnsembleMembers(SpecPart, frozen=True):
    """The members of a derived judge, for the table ensemble."""

    members: list[str]
    min_members: int
    """How many members have to score a text."""
    mixed: list[str]
    """The aspects on which the members have different scales."""
    student: str | None = None
    """The judge that is trained on this one's scores."""


class Step(SpecPart, frozen=True):
    """The work of one model on building texts; its replies are booked under
    `writer`.
    """

    step: str
    writer: str
    model: str
    price: Prices | None


class Training(SpecPart, frozen=True):
    """Which judge was trained on whose scores, and the files of its losses and
    examples.
    """

    judge: str
    teacher: str
    losses: str
    export: str


class GradedTexts(SpecPart, frozen=True):
    """A set of texts of every rating, and how it was built."""

    perturbation: str
    degree: str
    aspect: str
    classes: list[float]
    file: str
    anchors: str | None
    compared: list[str]
    """The files of comparisons with anchors, those among anchors first; empty without
    anchors."""

    @property
    def columns(self) -> AppliesTo:
        """Return the columns that name the set."""
        return {"perturbation": self.perturbation, "degree": self.degree}


class StatisticsSpec(JobSpec, frozen=True, kw_only=True):
    """The job that computes one dataset's part of a result table.

    The fields from `as_rater` on are read by some methods only: their defaults stand
    for absence.
    """

    table: str
    dataset: str
    seed: int
    ratings: str
    """What the dataset's ratings are: the key `ratings` of its card."""
    fault_free_system: str | None
    """The system without faults."""
    aspects: dict[str, AspectScale]
    judges: dict[str, JudgeFacts]
    excluded: list[tuple[str, str, str]]
    """(judge, set of texts, reason)."""
    perturbed: list[tuple[str, str, str]]
    """(perturbation, degree, level)."""
    allow_missing: bool
    families: dict[str, str]
    """System -> the family of its model."""
    reference_systems: list[str]
    exclude_reference_systems: bool
    targets: list[str]
    """The sets of texts."""
    results: str
    output: str
    anonymous_systems: bool = False
    """Whether systems are only the columns of the texts that people compared."""
    turned: Turned | None = None
    gold_rule: Gold = "auto"
    """What stands for several raters' ratings of a text: the study's key `gold`."""
    orders: Orders = "both"
    """How two orders of a pair make one verdict: the study's key `orders`."""
    unread: Policy = "missing"
    """How judgments that were not read count: the study's key `unread`."""
    improved: str | None = None
    """A hash of the card that says how references were rewritten."""
    as_rater: AsRater | None = None
    alt_test: AltTest = AltTest()
    comparison: Comparison | None = None
    claims: list[str] = field(default_factory=list)
    """The functions that make the claims of verdicts, as methods declare them."""
    required: Required | None = None
    compared: list[str] = field(default_factory=list)
    """The judges whose differences are computed; empty: all."""
    weights: AspectWeights | None = None
    expected: Expected | None = None
    criteria: list[str] = field(default_factory=list)
    chains: list[tuple[str, str]] = field(default_factory=list)
    """(perturbation, degree) of the sets with errors one after the other."""
    hinted: dict[str, Hinted] = field(default_factory=dict)
    forms: dict[str, list[str]] = field(default_factory=dict)
    """Model -> the judges that are forms of it."""
    attacks: dict[str, bool] = field(default_factory=dict)
    """Attack -> whether it names a number."""
    rationales: str | None = None
    ensembles: dict[str, EnsembleMembers] = field(default_factory=dict)
    bought: list[str] = field(default_factory=list)
    """The files of bought replies: of the datasets before, and of this one."""
    writers: dict[str, Prices | None] = field(default_factory=dict)
    """What replies of writers are booked under -> the price of the model."""
    made_of: dict[str, Members] = field(default_factory=dict)
    """Derived judge -> its members."""
    steps: list[Step] = field(default_factory=list)
    training: Training | None = None
    marked: str | None = None
    """The file of judgments that list errors."""
    gold: str | None = None
    """The file of errors that people marked."""
    graded: list[GradedTexts] = field(default_factory=list)
    settings: dict[str, dict[str, Setting]] = field(default_factory=dict)
    """The study's key that a method names as its settings -> the content of the key."""


class JoinedTable(SpecPart, frozen=True):
    """The datasets' parts of a table; `across`: the module that adds rows of all
    datasets.
    """

    parts: list[str]
    across: str | None


class TablesSpec(JobSpec, frozen=True, kw_only=True):
    """The job that joins the datasets' parts of every table."""

    tables: dict[str, JoinedTable]
    """Path of a table without its suffix -> its parts."""


def present(value: T | None) -> T:
    """Return a field that the plan fills for the table that reads it."""
    if value is None:
        raise ValueError("the spec has no value for a field that this table reads")
    return value
