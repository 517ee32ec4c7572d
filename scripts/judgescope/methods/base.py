"""The rows of result tables, what a method declares, and the spec of the job that
computes it.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Final, Literal, TypeVar

from msgspec import Struct, field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.job_files import IN, OUT
from judgescope.parsing.judgment import Policy
from judgescope.schema.rows import AppliesTo, ResultRow

HUMAN: Final = "human"
"""The `judge` of rows on people."""
TextSetKind = Literal["systems", "once", "graded", "attack"]


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A result table."""

    name: str
    """The name of the table, which the key `methods` of a study gives."""
    rows: Callable[..., Iterable[ResultRow]]
    """`rows(data: EvaluationData)` yields the rows of one dataset."""
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
        "priced",
        "confident",
        "always",
    ] = ""
    """Parts of a study that make it compute this table without being asked."""
    tables: tuple[str, ...] = ()
    """Other tables that are computed with it."""
    texts: tuple[TextSetKind, ...] = ()
    """The texts that it reads: of systems, or the kinds of perturbations."""
    parts: tuple[str, ...] = ()
    """The parts of the spec that it reads, by their names in plan/specs/results.py."""
    settings: str = ""
    """The study's key whose content the spec holds in `settings`, under the name of the
    key."""
    inputs: tuple[str, ...] = ()
    """Further files that it reads, below the folder of results; `{dataset}` is filled
    in."""
    across: Callable[[Iterable[ResultRow]], list[ResultRow]] | None = None
    """The rows over all datasets from those of each; the function `across` of its
    module."""
    datasets: Literal["evaluated", "all", "distilled"] = "evaluated"
    votes: bool = False
    """Whether it reads judges that compare two texts: they have votes and no scores."""
    oracles: bool = False
    """Whether it reads controls that know the errors."""
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
StatisticLevel = Literal["pooled", "by_source", "by_system"]
GoldRuleSetting = Literal["auto", "mean", "median", "majority_else_mean"]
Orders = Literal["both", "net", "strict"]
SettingValue = (
    bool | int | float | str | list[int | float | str] | dict[str, float | str] | None
)
"""A value of a study's key that a method names as its settings."""
TokenPrices = dict[str, float | None]
"""US dollars for a million tokens: `input`, `output`, `cached_input`."""


class PriceStated(SpecPart, frozen=True):
    """What 1,000 judgments of a judge cost, in US dollars, and who says so."""

    usd_per_1000: float
    source: str


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
    """Whether a score is a mean weighted by probabilities; of a decision model only on
    numbers, or on labels with a threshold."""
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
    asked: bool = False
    """Whether its engine answers requests."""
    compares: bool = False
    """Whether a reply is about two texts."""
    price: TokenPrices | None = None
    """Read by the table cost only; None if the model's card has no price."""
    stated: PriceStated | None = None
    """What recorded judgments cost, if the model's card says so."""
    cuts: str = ""
    """How its card shortens the parts of sources, in words."""
    confidence: str = ""
    """Where its confidence in a verdict comes from; "": it has none."""


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


class AltTestSettings(SpecPart, frozen=True):
    """The study's key `alt_test`, for one dataset."""

    epsilon: float = 0.1
    unit: Literal["source", "text"] = "source"
    ordered: bool | None = None


class ComparisonSettings(SpecPart, frozen=True, kw_only=True):
    """The study's key `comparison`."""

    all_tested: bool = False
    """Whether the study names statistics or levels: these are tested then, however many
    judges there are."""

    judges: list[str]
    """Only these judges; empty: all."""
    statistics: list[str]
    levels: list[StatisticLevel]
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
    parts: Annotated[list[str], IN]


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


class WritingStep(SpecPart, frozen=True):
    """The work of one model on building texts; its replies are booked under
    `writer`.
    """

    step: str
    writer: str
    model: str
    price: TokenPrices | None


class TrainedJudge(SpecPart, frozen=True):
    """Which judge was trained on whose scores, and the files of its losses and
    examples.
    """

    judge: str
    teacher: str
    losses: Annotated[str, IN]
    export: Annotated[str, IN]


class GradedTexts(SpecPart, frozen=True):
    """A set of texts of every rating."""

    perturbation: str
    degree: str
    aspect: str
    classes: list[float]
    file: Annotated[str, IN]

    @property
    def columns(self) -> AppliesTo:
        """Return the columns that name the set."""
        return {"perturbation": self.perturbation, "degree": self.degree}


class AnchoredSet(SpecPart, frozen=True):
    """The files of the anchors by which the texts of a set were rated."""

    anchors: Annotated[str, IN]
    compared: Annotated[list[str], IN]
    """Comparisons with anchors, those among anchors first."""


class DatasetFiles(SpecPart, frozen=True, kw_only=True):
    """The tables of a dataset that every method reads; "" for data in memory."""

    items: Annotated[str, IN] = ""
    ingested: Annotated[str, IN] = ""
    """The counts of what was read of the dataset."""
    ratings: Annotated[str, IN] = ""
    targets: Annotated[dict[str, str], IN] = field(default_factory=dict)
    """Set of texts -> its file."""
    scores: Annotated[str, IN] = ""
    draws: Annotated[str, IN] = ""
    statuses: Annotated[str, IN] = ""


class StatisticsSpec(JobSpec, frozen=True, kw_only=True):
    """The job that computes one dataset's part of a result table.

    The fields from `as_rater` on are read by some methods only: their defaults stand
    for absence.
    """

    table: str
    method: str
    """Where the method is: `module:OBJECT`."""
    dataset: str
    seed: int
    ratings: str
    """What the dataset's ratings are: the key `ratings` of its card."""
    fault_free_system: str | None
    """The system without faults."""
    aspects: dict[str, AspectScale]
    judges: dict[str, JudgeFacts]
    add_ons: list[str] = field(default_factory=list)
    """Other packages on which the numbers depend: `name@version`."""
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
    """The sets of texts, in the order of their rows."""
    files: DatasetFiles = DatasetFiles()
    inputs: Annotated[list[str], IN] = field(default_factory=list)
    """The further files that the method names (`Method.inputs`)."""
    output: Annotated[str, OUT]
    anonymous_systems: bool = False
    """Whether the systems are unknown: they number texts, or are only the columns of
    the texts that people compared."""
    turned: Turned | None = None
    gold_rule: GoldRuleSetting = "auto"
    """What stands for several raters' ratings of a text: the study's key `gold`."""
    orders: Orders = "both"
    """How two orders of a pair make one verdict: the study's key `orders`."""
    unread: Policy = "missing"
    """How judgments that were not read count: the study's key `unread`."""
    language: str = ""
    """The language of the dataset's card, "" to guess it from the originals."""
    checks: dict[str, list[str]] = field(default_factory=dict)
    """Perturbation by a model -> the checks that its card names."""
    improved: str | None = None
    """A hash of the card that says how references were rewritten."""
    as_rater: AsRater | None = None
    alt_test: AltTestSettings = AltTestSettings()
    comparison: ComparisonSettings | None = None
    claims: list[str] = field(default_factory=list)
    """The targets (`module:OBJECT`) of the records of claims (`TableClaims`)."""
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
    rationales: Annotated[str | None, IN] = None
    ensembles: dict[str, EnsembleMembers] = field(default_factory=dict)
    rating_price: float | None = None
    """US$ that a person's rating of one text or pair costs; None if nobody says so."""
    bought: Annotated[list[str], IN] = field(default_factory=list)
    """The files of bought replies: of the datasets before, and of this one."""
    writers: dict[str, TokenPrices | None] = field(default_factory=dict)
    """What replies of writers are booked under -> the price of the model."""
    made_of: dict[str, Members] = field(default_factory=dict)
    """Derived judge -> its members."""
    verdicts: Annotated[str | None, IN] = None
    """The dataset's part of table `verdicts`."""
    steps: list[WritingStep] = field(default_factory=list)
    training: TrainedJudge | None = None
    marked: Annotated[str | None, IN] = None
    """The file of judgments that list errors."""
    confidences: Annotated[str | None, IN] = None
    """The file of judgments with a confidence."""
    gold: Annotated[str | None, IN] = None
    """The file of errors that people marked."""
    graded: list[GradedTexts] = field(default_factory=list)
    anchored: dict[str, AnchoredSet] = field(default_factory=dict)
    """Graded set -> the anchors by which its texts were rated, if any."""
    settings: dict[str, dict[str, SettingValue]] = field(default_factory=dict)
    """The study's key that a method names as its settings -> the content of the key."""


def present(value: T | None) -> T:
    """Return a field that the plan fills for the table that reads it."""
    if value is None:
        raise ValueError("the spec has no value for a field that this table reads")
    return value
