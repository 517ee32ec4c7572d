"""The card of a study, with the training of a judge, and the card of published
figures.
"""

import os
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from judgescope.schema.cards.base import Access, Card, Slug, repeated, same
from judgescope.schema.cards.data import References
from judgescope.schema.cards.judges import Decoding


class Recipe(Card):
    """How a model is trained: with LoRA (low-rank matrices added to its weights) and
    AdamW.
    """

    rank: int = Field(16, ge=1)
    """The rank of the LoRA matrices."""
    alpha: int = Field(32, ge=1)
    """The LoRA scaling: the product of the matrices is multiplied by alpha / rank."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """The dropout rate of the LoRA layers' input."""
    epochs: int = Field(1, ge=1)
    """Number of passes over the examples."""
    learning_rate: float = Field(2e-4, gt=0)
    """The maximum learning rate, reached after the warm-up; it then decays linearly to
    0."""
    weight_decay: float = Field(0.01, ge=0)
    """The weight decay of AdamW."""
    warmup: float = Field(0.05, ge=0, lt=1)
    """Share of the steps in the warm-up."""
    batch: int = Field(16, ge=1)
    """Number of examples per step."""
    device_batch: int = Field(1, ge=1)
    """Number of examples that the device processes at once."""
    checkpoint_steps: int = Field(50, ge=1)
    """Number of steps between checkpoints, each with the held-out loss."""
    device: Literal["cuda", "cpu"] = "cuda"
    """The device that trains; `cpu` is for very small models only."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.batch % self.device_batch:
            raise ValueError(
                f"batch must be a multiple of device_batch: {self.batch}, "
                f"{self.device_batch}"
            )
        return self


class NewTexts(Decoding):
    """Models that write texts for training; each is one more system of the dataset."""

    models: list[Slug] = Field(min_length=1)
    """Ids of the cards of these models."""
    form: Slug = "write-reference"
    """The instruction, a file of config/prompts."""
    temperature: float = Field(1.0, ge=0)
    """The sampling temperature; 0: always the most likely token."""


class Distillation(Card):
    """A judge's model is trained on a teacher's judgments, of texts that need no human
    ratings.
    """

    teacher: Slug
    """A judge of the study that lists errors, such as an ensemble of annotators."""
    judge: Slug
    """The judge that is trained; its model's card has `adapter: trained`, its own
    `annotation: {score: percent}`."""
    datasets: list[Slug] = Field(min_length=1)
    """Datasets for training, which the study does not evaluate on."""
    systems: int = Field(4, ge=1)
    """Number of systems, drawn for each item, whose texts are used."""
    aspects: int = Field(3, ge=1)
    """Number of aspects, drawn for each text."""
    held_out: float = Field(0.05, gt=0, le=0.5)
    """Share of each dataset's items that are held out to measure the loss; at least one
    item."""
    overlap: Literal["stop", "drop"] = "stop"
    """What to do with training items whose source is also in an evaluation dataset:
    stop, or drop them."""
    write: NewTexts | None = None
    """Let models write more texts for training."""
    recipe: Recipe = Recipe()
    """The training recipe; default: that of Kartáč et al. (2025)."""
    checkpoints: str = "cache/training"
    """The folder of finished and interrupted training runs, which are reused or
    resumed."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.teacher == self.judge:
            raise ValueError("a judge cannot be its own teacher")
        if len(set(self.datasets)) < len(self.datasets):
            raise ValueError("datasets names a dataset twice")
        if self.write and len(set(self.write.models)) < len(self.write.models):
            raise ValueError("write.models names a model twice")
        return self


EPSILON = 0.1
"""The epsilon of the alternative-annotator test if a study sets none."""
PILOT = "-pilot"
"""The suffix of the id of a study's pilot."""


class Comparison(Card):
    """How judges are compared with each other; table comparison.csv."""

    judges: list[Slug] = Field([])
    """Compare only these judges; default: all of the study."""
    statistics: list[Literal["pearson", "spearman", "kendall_b", "kappa_linear"]] = (
        Field(["pearson", "spearman", "kendall_b", "kappa_linear"])
    )
    """Further statistics of agreement with people. The number that decides agreement is
    always compared: normal_scores within sources, also pooled spearman where it
    decides. kappa_linear is always pooled, and only compares judges that give classes
    of the same scale. `[]`: no further statistics. If more than 10 judges are compared,
    the further statistics have differences with intervals but no tests, unless the
    study sets this key or `levels`."""
    levels: list[Literal["pooled", "by_source", "by_system"]] = Field(
        ["pooled", "by_source", "by_system"], min_length=1
    )
    """Levels at which judges are compared by the further statistics."""
    permute: Literal["inputs", "systems", "both"] = "inputs"
    """What a permutation swaps between two judges: all scores of a source, all of a
    system, or those of any text. Choose `systems` to generalize to other systems."""
    permutations: int | None = Field(None, ge=99, le=10_000_000)
    """Number of permutations. Default: 40 per pair of judges, but at least 1,000, so
    that p after Holm's correction over all pairs can reach .025. If more than 10 judges
    are compared, a pair has 1,000, and the others only if their p is at most .05."""
    wished: float = Field(0.05, gt=0)
    """The difference between two judges for which the study reports how many sources
    are needed to detect it."""


class Confusion(Card):
    """How the method confusion is computed; table confusion.csv."""

    expectations: Slug = "table-21"
    """The card in config/expectations that states which perturbation should lower which
    aspect."""
    margin: float = Field(0.2, gt=0)
    """Mean drops smaller than this are treated as no drop; in points of a scale from 1
    to 5, on other scales the same share of the range."""


class AltTest(Card):
    """How the alternative-annotator test is computed (Calderon et al. 2025); in
    agreement.csv.
    """

    epsilon: float | dict[Slug, float] = EPSILON
    """How much worse than a rater the judge may be, because it is cheaper, as a
    difference between two shares of texts: those on which the judge, and those on which
    the rater, is closer to the other raters. One value, or one per dataset: `{summeval:
    .2}`, others .1. The paper uses .1 for crowd workers, .15 for skilled raters, .2 for
    experts."""
    unit: Literal["source", "text"] = "source"
    """What the t-test treats as independent: `source`: sources, with all their texts;
    `text`: texts, as in the paper. Texts of one source are not independent, so with
    `text` more judges win."""
    ordered: bool | None = None
    """How closeness to the other raters is measured: `true`: by distance (minus the
    root mean squared difference); `false`: by the share of equal ratings. Default:
    `false` if judge and people choose from the same values. Unordered labels are never
    compared by distance."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        values = self.epsilon if isinstance(self.epsilon, dict) else {"": self.epsilon}
        for dataset, epsilon in values.items():
            if not 0 <= epsilon < 1:
                raise ValueError(
                    f"epsilon{dataset and f' of {dataset}'} must be at least 0 and "
                    f"below 1, not {epsilon:g}"
                )
        return self

    def epsilon_of(self, dataset: str) -> float:
        """Return epsilon for a dataset."""
        if isinstance(self.epsilon, dict):
            return self.epsilon.get(dataset, EPSILON)
        return self.epsilon


class Estimation(Card):
    """How the methods corrected and choice use ratings of a part of the sources."""

    rated: Literal["unknown", "random", "by_score"] = "unknown"
    """How the rated sources were chosen. `random`: drawn at random; `by_score`: by the
    judge's score, so that nothing is corrected; `unknown`: every number says that it
    assumes a random sample."""


class Slicing(Card):
    """Which parts of the texts the method slices compares with the rest."""

    columns: list[str] = Field([])
    """Columns of the items (`columns.meta` of a dataset's card) whose values are
    slices; numbers of more than 20 values are cut into thirds. Default: every column of
    2 to 20 values or of numbers. Length, the source's length and the system always
    are."""


class Triage(Card):
    """What the method triage promises of texts that pass, or are rejected, without a
    person.
    """

    good_from: float | dict[Slug, float] | None = None
    """The rating from which on a text is good, for every aspect or by aspect: `4`,
    `{fluency: 4}`; of a scale whose lowest value is the best, the rating up to which.
    Labels need none: the last of two is good."""
    error: float = Field(0.1, gt=0, lt=1)
    """The largest share of bad texts among those that pass, and of good ones among
    those that are rejected (α)."""
    risk: float = Field(0.05, gt=0, lt=1)
    """The chance that a promise does not hold (δ)."""


class Cascades(Card):
    """What the method frontier promises of verdicts that a cascade of judges gives
    before it asks a person.
    """

    error: float = Field(0.1, gt=0, lt=1)
    """The largest share of wrong verdicts among them (α)."""
    risk: float = Field(0.05, gt=0, lt=1)
    """The chance that the promise does not hold (δ)."""


class Rubrics(Card):
    """The points of a rubric's criteria, for the method rubrics.

    A criterion is an aspect with two labels, of which the last says that it is met.
    """

    points: dict[Slug, float] = Field({})
    """Criterion -> its points, negative for a fault: `{names-risk: 5, scares: -3}`.
    Only these aspects are criteria; default: every aspect with two labels, one point
    each."""
    themes: dict[Slug, str] = Field({})
    """Criterion -> the theme to which it belongs; themes are compared with the rest."""


class Caps(Card):
    """Limits on spending; replies that were paid for are always kept."""

    max_usd: Access[float | None] = Field(None, ge=0)
    """Maximum cost in US dollars, at the prices of the model cards; default: no
    limit."""
    max_requests: Access[int | None] = Field(None, ge=0)
    """Maximum number of replies requested (two draws are two); default: no limit."""


EXTENSION_KEYS = ("distill",)
"""The keys of a study that extensions read."""


class Study(Caps):
    """A study: what one run covers."""

    study: Slug
    """The id: results are written to results/<study>."""
    seed: int = Field(0, ge=0)
    """The seed of all random choices of the study."""
    data: Access[str] = "data"
    """The folder that `{data}` in a card's paths stands for."""
    datasets: list[Slug] = Field(min_length=1)
    """Ids of dataset cards."""
    judges: list[Slug] = Field(min_length=1)
    """Ids of judge cards."""
    aspects: list[Slug] = Field([])
    """The aspects to judge; default: every aspect that a dataset rates."""
    criteria: list[Slug] = Field([])
    """Alternative wordings of the aspects, each judged separately, from the aspects'
    cards or from config/criteria. With a wording from aspects' cards, only aspects that
    have it are judged. Default: only the aspect's definition."""
    perturbations: list[Slug] = Field([])
    """Ids of perturbation cards: of single texts for discernment and confusion; of
    error-injection chains; of graded sets."""
    methods: list[Slug] = Field(min_length=1)
    """The methods to compute. Coverage and cost are always computed, and spans if a
    judge lists errors with positions."""
    references: References | None = None
    """Let a model write references for every item, which are perturbed in place of the
    data's."""
    weights: Slug | None = None
    """Discernment: the card of expert weights of aspects (config/weights); default: all
    aspects have the same weight."""
    drafter: Access[Slug | None] = None
    """The card of the model that drafts steps and sub-aspects that are missing in cards
    (`judgescope draft`); a run does not need it."""
    share: float = Field(1.0, gt=0, le=1)
    """Maximum share of each dataset's items that LLM judges rate and for which a model
    writes texts; see `share` of a judge."""
    store: str = "cache/replies"
    """The folder of the reply store, which studies may share."""
    caps: Access[dict[Slug, Caps]] = Field({})
    """Model -> limits on its spending (`max_usd`, `max_requests`), in addition to those
    of the study."""
    comparison: Comparison = Comparison()
    """Settings of the comparison of judges."""
    confusion: Confusion = Confusion()
    """Settings of the method confusion."""
    alt_test: AltTest = AltTest()
    """Settings of the alternative-annotator test."""
    estimate: Estimation = Estimation()
    """Settings of the methods corrected and choice: what systems really score."""
    slices: Slicing = Slicing()
    """Settings of the method slices: on which part a judge does worse."""
    cascades: Cascades = Cascades()
    """Settings of the method frontier: how often cascades of judges may be wrong."""
    rubrics: Rubrics = Rubrics()
    """Settings of the method rubrics: criteria with points that experts mark."""
    triage: Triage = Triage()
    """Settings of the method triage: which texts may pass without a person."""
    distill: Distillation | None = None
    """Train a judge's model on the judgments of another judge."""
    as_rater_margin: float = Field(0.05, gt=0)
    """The margin for "as good as one more rater": the judge may be worse by less than
    this, in units of the statistic."""
    require: dict[str, float | dict[Slug, float]] = Field({})
    """Required values (bars): statistic -> minimum for a judge (maximum if lower is
    better, as for errors or prices), for every aspect, or by aspect: `{spearman:
    {coherence: .5}}`. `spearman.pooled` also names the level. The verdict states
    whether a judge meets the bar, misses it, or how many more ratings would be needed
    to decide."""
    price_per_rating: float | None = Field(None, ge=0, exclude_if=same(None))
    """What a person's rating of one text or pair costs, in US dollars; with it, table
    frontier has cascades that end at a person."""
    exclude_reference_systems: bool = True
    """Evaluate judges that compare with references without the systems whose texts are
    the references; false: both with and without them."""
    gold: Literal["auto", "mean", "median", "majority_else_mean"] = "auto"
    """What stands for several raters' ratings of a text on an ordered scale. auto: the
    mean for correlations, the lower median for classes (kappa, labels); mean, median
    (the lower one): this for both; majority_else_mean: the rating that more than half
    of the raters gave, else their mean. If a value is not one of the scale's, the
    statistics of classes are undefined. The signature names it."""
    orders: Literal["both", "net", "strict"] = "both"
    """How the two orders of a pair become one verdict of a judge that compares. both:
    the text that is chosen in both orders, else a tie. net: the sum of both orders, so
    a choice and a tie are a choice. strict: a pair without the same choice in both
    orders is wrong. With net and strict, a pair with an order that was not read is
    unread. The signature names it."""
    unread: Literal["missing", "wrong", "worst", "mid", "random", "zero"] = "missing"
    """How a requested judgment that could not be read counts. missing: it is left out
    and counted; wrong: it is a verdict that differs from every label and from every
    choice between two texts (scores are left out). The others replace a draw in scores,
    to test how much missing judgments could change a number. worst: the scale's `min`;
    mid: its middle value (the lower of two); random: any of its values, by the study's
    seed; zero: 0, an error if a judge's scale has no 0. The signature names it;
    coverage and judges without a scale are unaffected. No request is sent. `judgescope
    run --sensitivity` compares all of them."""
    allow_missing: bool = False
    """Continue if a planned cell of a perturbation is missing, and report it."""

    @property
    def ledger(self) -> str:
        """Return the name under which its spending is booked; a pilot's is booked under
        the study's."""
        return self.study.removesuffix(PILOT)

    @field_validator("store")
    @classmethod
    def _store_apart(cls, store: str) -> str:
        # Folders below the working directory in which no reply store may be.
        folders = ("config", "results")
        first = Path(os.path.relpath(store)).parts[:1]
        if first and first[0] in folders:
            raise ValueError(
                f"the reply store must be outside of {' and '.join(folders)}: cards "
                "are read from the one, and the other may be deleted; write "
                "cache/replies"
            )
        return store

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for key in (
            "datasets",
            "judges",
            "aspects",
            "criteria",
            "perturbations",
            "methods",
        ):
            if twice := repeated(getattr(self, key)):
                raise ValueError(f"{key} names {twice} twice")
        if self.distill and (
            both := sorted({*self.distill.datasets} & {*self.datasets})
        ):
            raise ValueError(
                f"distill.datasets and datasets both name {', '.join(both)}: training "
                "data cannot evaluate the judge; leave it out of one of them"
            )
        by_dataset = {}
        if isinstance(self.alt_test.epsilon, dict):
            by_dataset = self.alt_test.epsilon
        if unknown := sorted({*by_dataset} - {*self.datasets}):
            raise ValueError(
                f"alt_test.epsilon names {unknown[0]}, which is not one of the study's "
                f"datasets: {', '.join(self.datasets)}"
            )
        if "discernment" in self.methods and len(self.criteria) > 1:
            raise ValueError(
                "discernment sums over aspects: give at most one of `criteria`"
            )
        return self


Reason = Literal[
    "error in the paper", "parse rule", "other texts", "other implementation"
]
"""Why a figure may differ from the printed one."""
REASONS = get_args(Reason)


class Publication(Card):
    """Published figures, and the study or the cells from which they follow.

    The figures are in a CSV file next to the card. Its columns are `published` (the
    printed value), `reason` (why it is known to differ), and those that select a row of
    the study's tables.
    """

    publication: Slug
    """The id, equal to the file's name."""
    name: str
    """What is reproduced."""
    printed: str
    """Where the figures are printed."""
    figures: str | None = None
    """The CSV file of the figures, next to the card; not with `means`, whose files
    contain the figures."""
    tolerance: float = Field(0.5, gt=0)
    """The largest difference to ignore, in units of a figure's last decimal; whole
    numbers must match."""
    study: dict[str, Any] | None = None
    """The keys of the study whose tables contain the figures (column `table`)."""
    originals: Slug | None = None
    """The dataset whose originals are counted: characters, words, sentences."""
    means: dict[str, dict[str, list[str]]] = Field({})
    """CSV file of a printed table -> column -> the columns whose mean it should be."""
    ranks: dict[str, str] = Field({})
    """Column -> the mean by which it should rank, the highest first."""
    cells: str | None = None
    """The CSV file of printed cells (perturbation, aspect, human, expected, delta): the
    sets S_T and S_F follow, and the confusion of a judge with these drops."""

    raters: int | None = Field(None, ge=2)
    """The figures are Krippendorff's alphas of so many raters, whose data nobody has:
    each is compared with the least value that it can have."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = (self.study, self.originals, self.means, self.cells, self.raters)
        if sum(map(bool, ways)) != 1:
            raise ValueError(
                "give exactly one of `study`, `originals`, `means`, `cells` and "
                "`raters`"
            )
        if bool(self.figures) == bool(self.means):
            raise ValueError("give `figures`, or `means` without `figures`")
        if any(
            set(self.ranks.values()) - set(columns) for columns in self.means.values()
        ):
            raise ValueError("`ranks` must name columns of `means` in every table")
        return self
