"""Cards of judges: how a model is asked, and how its replies become scores."""

from typing import Annotated, Final, Literal, Self

from pydantic import (
    Discriminator,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)

from judgescope.core.names import ORACLE
from judgescope.schema.cards.annotations import OVERALL, PARSER, AnnotationKeys
from judgescope.schema.cards.base import (
    Access,
    Answering,
    Asking,
    Card,
    RatingScale,
    Replaying,
    Slug,
    plain_word,
    repeated,
    same,
)
from judgescope.schema.cards.systemone import QuestionType

ASPECT = "{aspect}"
"""Stands for the aspect in the name of a column of recorded scores."""
COMPARE = "compare"
"""The form that asks about two texts at once."""
LEXICAL_FORMS = ("rouge1", "rouge2", "rougel", "chrf", "bleu", "rules")
NULL_FORMS = ("constant_top", "most_frequent", "random", "shuffled", "length")
CONTROL_FORMS = (*NULL_FORMS, ORACLE)
PLANTED_FORMS = ("rate", COMPARE)
RETRY_TEMPERATURE: Final = 0.7
"""The temperature at which a text is requested again if that of the first attempt is
0."""
Attempts = Annotated[
    int,
    Field(
        ge=1,
        le=10,
        description="Maximum number of requests for one text; from the second on, "
        "the prompt says why the last reply could not be used.",
    ),
]
LONGEST_PATTERN = 2_000
"""The most characters of a pattern or path."""
MOST_DRAWS = 10_000
"""The most draws of one text; the store could keep a hundred times as many."""


FormName = Annotated[str, Field(min_length=1)]
"""The name of a template of config/prompts."""


ConfidenceKey = Literal["logprobs", "stated", "draws", "none"]


Stops = list[Annotated[str, Field(min_length=1)]]
"""Strings at which a reply ends."""


class Decoding(Card):
    """How a model chooses its words; part of every request's key."""

    temperature: Asking[float] = Field(0.0, ge=0)
    """The sampling temperature; 0: always the most likely token."""
    top_p: Asking[float] = Field(1.0, gt=0, le=1)
    """Sample only from the most likely tokens with this total probability."""
    max_tokens: Asking[int] = Field(512, ge=1)
    """Maximum number of tokens of a reply; a longer reply is cut off, gets the status
    `truncated` and no score."""
    system: Asking[FormName | None] = Field(None, exclude_if=same(None))
    """A template of config/prompts for a system message, which stands before the
    prompt. It sees what the prompt says about aspect, scale and kind of text, and no
    text. Default: no system message."""
    seed: Asking[Literal["request", "study"]] = "request"
    """How a draw's seed is derived: `request`: from the request only, so that all
    studies share its replies; `study`: also from the study's seed."""


class RetriedDecoding(Decoding):
    """Decoding of texts that are requested again while they are unusable."""

    attempts: Attempts = 2
    retry_temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        RETRY_TEMPERATURE, exclude_if=same(RETRY_TEMPERATURE)
    )
    """The temperature of further attempts if `temperature` is 0, at which the same text
    may come again; null: there are no further attempts; 0: theirs is 0, too."""

    @property
    def most_attempts(self) -> int:
        """Return the maximum number of requests for one text."""
        no_more = self.temperature == 0 and self.retry_temperature is None
        return 1 if no_more else self.attempts


class Fallback(Card):
    """How a judge with `estimator: logprob_mean` is asked if the endpoint has no
    probabilities.
    """

    draws: int = Field(20, ge=1, le=MOST_DRAWS)
    """Number of replies per target."""
    temperature: float = Field(1.0, gt=0)
    """The sampling temperature of these replies."""


class Analyses(RetriedDecoding):
    """A model explains the ratings of demonstrations before they are shown."""

    model: Slug
    """The card of the model that writes; in Hu et al. 2024 the judge's own model."""
    form: Slug
    """The instruction, a file of config/prompts; such as `analysis`."""
    attempts: Attempts = 3


class Shots(Card):
    """Demonstrations in a judge's prompt: texts of the dataset with people's
    ratings.
    """

    n: int = Field(ge=1, le=20)
    """Number of demonstrations, each of a different item."""
    analyses: Analyses | None = None
    """Let a model write why each text deserves its rating; for forms that print
    `shot.analysis`."""


class Hint(Card):
    """A rating that the prompt shows before the judge rates: people's, or a wrong
    one.
    """

    rating: Literal["wrong", "right"] = "wrong"
    """`right`: the rating that most people gave (the highest of several); `wrong`: the
    top of the scale if that rating is at most half the top, else the bottom."""
    attributed: bool = True
    """Whether the prompt attributes the rating to an expert; forms get it as
    `attributed`."""
    baseline: Slug
    """The judge of the study that answers the same questions without a hint."""


class Severities(Card):
    """The penalty of an error of each severity, for `parser: errors`.

    A text whose penalties sum to `bottom` gets the lowest score, a text without errors
    the highest.
    """

    minor: float = Field(1.0, ge=0)
    """The penalty of a minor error."""
    major: float = Field(5.0, ge=0)
    """The penalty of a major error; at least that of a minor one."""
    critical: float = Field(10.0, ge=0)
    """The penalty of a critical error; at least that of a major one."""
    bottom: float = Field(25.0, gt=0)
    """The sum of penalties that gives a text the lowest score; a smaller sum lowers the
    score proportionally."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.minor <= self.major <= self.critical:
            raise ValueError("a more severe error needs at least the same penalty")
        return self


class ReadRule(Card):
    """How a judge's replies state the verdict: by a pattern, or by a path in JSON."""

    pattern: str = Field("", max_length=LONGEST_PATTERN)
    """A regular expression (Python's syntax, as of the package `regex`) with the group
    `(?P<verdict>…)`, which captures the verdict. The last match in the last 20,000
    characters of a reply decides."""
    path: str = Field("", max_length=LONGEST_PATTERN)
    """In place of `pattern`: the verdict's place in a JSON object of the reply, as keys
    and list indexes with dots between them, such as `result.scores.0`. The last object
    that has this place decides."""
    map: dict[str, StrictStr | StrictInt | StrictFloat] = Field({})
    """What the reply says -> what it means: a value or label of the scale; with the
    form compare `A`, `B` or `tie`. Case and blanks are ignored. Other words are read
    unchanged."""

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if bool(self.pattern) == bool(self.path):
            raise ValueError("`read` needs either `pattern` or `path`")
        if twice := repeated(plain_word(word) for word in self.map):
            raise ValueError(
                f"`map` has a word twice (ignoring case and blanks): {twice}"
            )
        return self

    @property
    def words(self) -> dict[str, str]:
        """Return `map` with numbers as text."""
        return {word: str(meaning) for word, meaning in self.map.items()}


class ExampleReply(Card):
    """A reply, and the verdict that must be read in it."""

    reply: str
    """The reply's text."""
    value: StrictStr | StrictInt | StrictFloat | None
    """The value or label that it gives; with the form compare `A`, `B` or `tie`;
    `null`: it has no verdict that can be read."""
    aspect: Slug | None = None
    """The aspect that the reply is about; default: all aspects of the judge."""


def _kind_of_scale(value: object) -> str:
    """Return "one" for a scale for all aspects, "named" for a scale for each named
    aspect.
    """
    scales = []
    if isinstance(value, dict):
        scales = list(value.values())
    if scales and all(isinstance(scale, dict | RatingScale) for scale in scales):
        return "named"
    return "one"


JudgeScale = Annotated[
    Annotated[RatingScale, Tag("one")]
    | Annotated[dict[Slug, RatingScale], Tag("named")],
    Discriminator(_kind_of_scale),
]
"""A scale, or aspect -> scale."""


class PartCut(Card):
    """How much of a part of the source a judge sees."""

    characters: int = Field(ge=1)
    """The most characters; a longer part is cut at the nearest white space within
    them."""
    keep: Literal["start", "end"] = "start"
    """Which end of the part stays."""


class Judge(Decoding):
    """A judge: a model, the form in which it is asked, and how its replies become
    scores.

    Temperature, top_p and max_tokens are for models that read prompts.
    """

    judge: Answering[Slug]
    """The id, equal to the file's name."""
    model: Answering[Slug] = ""
    """The card of the model that answers."""
    models: Access[list[Slug]] = Field([])
    """In place of `model`: several model cards, each of which makes a separate judge
    with the id `<judge>-<model>`. A study names this card; other cards name those
    judges."""
    form: Answering[str] = ""
    """Models that read prompts: the prompt template, a file of config/prompts. Lexical,
    control and command models: what is computed. Planted models: `rate` or `compare`.
    Recorded models: a name for the report."""
    pairs: Asking[Literal["adjacent", "all"]] = "adjacent"
    """Form compare: which texts of an item are compared, ordered by step or id. If
    people chose between texts, `adjacent` means the pairs that people compared."""
    orders: Asking[Literal["both", "one"]] = Field("both", exclude_if=same("both"))
    """Form compare: `both` asks about a pair in both orders; `one` asks once, in the
    order in which people saw it, or by step or id. `one` halves the requests, but a
    preference for the first text then looks like quality."""
    use_reference: Answering[Literal["original"] | bool | None] = None
    """Whether a text is compared with its references, except the one that it was made
    from; prompt forms get the first one as `reference`. `original`: a prompt form gets
    the text before its perturbation instead, and for an original that original itself,
    so that every text of confusion and discernment has a reference. Default: true for
    lexical forms (with false they compare with the source); false for other judges."""
    scale: Answering[JudgeScale | None] = None
    """The judge's own scale, or aspect -> scale; default, also for aspects that are not
    named: the aspect's scale."""
    draws: Answering[int] = Field(1, ge=1, le=MOST_DRAWS)
    """Number of replies per target."""
    share: Answering[float] = Field(1.0, gt=0, le=1)
    """The share of each dataset's items that the judge rates, drawn with the study's
    seed. Judges with the same share get the same items; a smaller share is a subset of
    a larger one."""
    estimator: Answering[
        Literal["mean", "mode", "first", "logprob_mean", "likelihood", "pmi"]
    ] = "mean"
    """How draws become a score; half of them must be parsed. first: the first draw;
    further draws only measure how often replies change on repetition, which the
    baseline of a hint needs. logprob_mean: the mean of the scale's values, weighted by
    the probabilities of their tokens. likelihood, pmi: the model writes nothing; the
    score is the mean log probability of the text's first `max_tokens` tokens after the
    prompt, or (pmi) by how much the source raises it. For the form likelihood and the
    engines llama and vllm."""
    top_logprobs: Asking[int] = Field(20, ge=1, le=20)
    """For logprob_mean: number of tokens with probabilities at each position."""
    fallback: Asking[Fallback | None] = None
    """For logprob_mean, if the endpoint returns no probabilities: use the mean of
    several replies; default: stop. Each score records how it was computed."""
    confidence: Answering[Literal["logprobs", "stated", "draws", "none"] | None] = (
        Field(None, exclude_if=same(None))
    )
    """Where the judge's confidence in its verdicts is read, for table confidence.
    logprobs: the probability of the verdict's tokens, which are then requested (number:
    `top_logprobs`); stated: a number in the reply, such as `Confidence: 80 %`, which a
    form asks for (`confident-verdict`); draws: the share of equal draws of several;
    none: nowhere. Default: logprobs with `estimator: logprob_mean`, else what the
    model says (`rows.confidence` of recorded scores; a decision model's probability).
    Only logprobs changes a request."""
    question: Asking[QuestionType | None] = Field(None, exclude_if=same(None))
    """For models of engine systemone: the type of the question. choice: one of the
    labels or values; noul: whether the better one of two holds; score: one of up to ten
    ordered levels. Default: score for numbers, noul for two ordered labels, choice for
    other labels and for two texts."""
    structured: Asking[Literal["choice", "json"] | None] = None
    """Constrain replies to the scale's values: `choice`: to a value; `json`: to a JSON
    object with the field `rating`. With the form compare, `choice` constrains them to
    its three answers. The run stops if the endpoint does not support it."""
    parser: str | None = None
    """The parser that reads replies; the list is below. Default: number for engines
    that compute, choice for the form compare, annotation for judges that annotate,
    score for other replies. result: the rating after [RESULT]; errors: a list of
    errors, whose severities determine the score."""
    read: ReadRule | None = Field(None, exclude_if=same(None))
    """In place of `parser`: how this judge's replies state the verdict, as `{pattern:
    …}` or `{path: …}`. Changing it sends no request: stored replies are read again."""
    examples: Access[list[ExampleReply]] = Field([], exclude_if=same([]))
    """Replies and the verdicts that must be read in them: `check` reads each and stops
    at one that is read differently. No number depends on them."""
    off_grid: Literal["drop", "keep", "round"] = "drop"
    """What to do with a value between the steps of the scale, such as 4.5 with step 1.
    drop: the value is missing, with the status `off_grid`; keep: it is used unchanged,
    and the judge's scores are then not classes; round: it becomes the nearest step (of
    two equally near, the one an even number of steps above `min`), and its rule ends in
    `.rounded`. Changing it sends no request."""
    tie: str = Field("", pattern="^[C-Zc-z]?$")
    """For the parser choice: the letter that the form gives to a tie, such as `C`; the
    word `tie` always means a tie. Changing it sends no request."""
    severities: Severities = Severities()
    """For `parser: errors`: the penalties of errors. Changing them sends no request."""
    annotation: Asking[AnnotationKeys | None] = None
    """Request a list of the text's errors, with location, explanation and severity, and
    an overall score on its own scale, independent of people's; for forms that print
    `annotation`, such as `annotate`."""
    shots: Asking[Shots | None] = None
    """Show rated texts of other items as examples, from the lowest to the highest
    rating in equal steps; for forms that print `shots`."""
    hint: Asking[Hint | None] = None
    """Show the judge a rating of the judged text where its form prints `hint`. The
    robustness method uses it."""
    spotlight: Asking[bool] = False
    """Enclose every text from data or models in the prompt in markers with a tag that
    is unique to the request, and state that text between them is not an instruction."""
    cut_parts: Asking[dict[str, PartCut]] = Field({}, exclude_if=same({}))
    """Name of a part of the source, or `*` for all other parts -> how much of it the
    prompt shows, such as `{Conversation: {characters: 6000, keep: end}}`; `[…]` stands
    at the cut. The judged text and the reference are never cut. Default: nothing is
    cut."""
    columns: list[str] = Field([])
    """Columns of recorded scores: each becomes a judge whose id comes from the column's
    name; {aspect} in a name stands for the aspect's entry in the model's `scores`."""
    family: Slug | None = None
    """The model's family, if its card has none; see `families` of a dataset."""
    aspects: list[Slug] = Field([])
    """Judge only these aspects; default: all of the study."""
    perturbations: list[Slug] | None = None
    """Judge only texts of these perturbations and unperturbed texts; default: all of
    the study. For a judge whose replies are slow or expensive."""
    stop: Asking[Stops] = Field([], max_length=4)
    """Up to four strings at which a reply ends; for models that read prompts."""
    read_as: Replaying[dict[str, str]] = Field({}, exclude_if=same({}))
    """For aspects with labels without numbers: other words in replies or recorded
    scores -> labels, such as `{"yes": pass, "1": pass}`. Changing it sends no
    request."""
    threshold: Replaying[float | Literal["best"] | None] = Field(
        None, exclude_if=same(None)
    )
    """For a judge that gives numbers and aspects that people rate with two labels: a
    score at or above it means the last label (with `best: min`: at or below it).
    `best`: for each source, the threshold with the highest balanced accuracy in all
    other sources. Changing it sends no request."""
    cut: Literal["unread", "read"] = "unread"
    """`read`: use a reply that was cut off at max_tokens if its first line is complete
    and is the verdict, as in forms that ask for the rating first; its rule ends in
    `.cut`."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.threshold is not None and any(
            scale.categorical for scale in self.scales
        ):
            raise ValueError(
                "`threshold` needs a scale of numbers, but the judge's own has labels"
            )
        if bool(self.model) == bool(self.models):
            raise ValueError("a judge needs either `model` or `models`")
        if self.models and self.columns:
            raise ValueError("`columns` needs a single `model`, not `models`")
        ends = {(scale.min, scale.max, scale.best) for scale in self.scales}
        if isinstance(self.threshold, float) and len(ends) > 1:
            raise ValueError(
                "one `threshold` does not fit scales with different ends: make a judge "
                "for each scale, or write `threshold: best`"
            )
        if twice := repeated(self.models):
            raise ValueError(f"models names {twice} twice")
        if self.fallback is not None and self.estimator != "logprob_mean":
            raise ValueError("`fallback` needs `estimator: logprob_mean`")
        lists_errors = self.parser in {"errors", "annotation", "result"}
        # A list of errors that is cut lacks some.
        if self.cut == "read" and (lists_errors or self.annotates):
            raise ValueError(
                "`cut: read` needs replies whose first line is the verdict"
            )
        if self.off_grid != "drop":  # only values that a reply states lie between steps
            if self.parser in {"chiang-lee", "choice", "errors"}:
                raise ValueError(
                    f"`off_grid` cannot be used with the parser {self.parser}"
                )
            if self.estimator == "logprob_mean":
                raise ValueError(
                    "`off_grid` cannot be used with `estimator: logprob_mean`"
                )
        if self.read is not None:
            self._check_read()
        if self.parser != "errors" and self.severities != Severities():
            raise ValueError("`severities` needs `parser: errors`")
        computed = self.estimator == "logprob_mean" or self.structured is not None
        if self.parser == "errors" and computed:
            raise ValueError(
                "`structured` and logprob_mean cannot be used with `parser: errors`"
            )
        if self.annotates:
            self._check_annotation()
        return self

    def _check_read(self) -> None:
        """Raise ValueError for keys that do not go with `read`."""
        unfit = {
            "parser": self.parser is not None,
            "annotation": self.annotation is not None,
            "estimator: logprob_mean": self.estimator == "logprob_mean",
        }
        for key, given in unfit.items():
            if given:
                raise ValueError(
                    f"`read` and `{key}` both say how replies are read: leave one out"
                )

    def _check_annotation(self) -> None:
        """Raise ValueError for keys that do not go with annotations."""
        if self.parser not in {None, PARSER}:
            raise ValueError(
                f"`annotation` needs the parser {PARSER}: leave `parser` out"
            )
        unfit = {
            "scale": self.scale is not None,
            "structured": self.structured is not None,
            "estimator: logprob_mean": self.estimator == "logprob_mean",
            "hint": self.hint is not None,
            "shots": self.shots is not None,
        }
        for key in (key for key, given in unfit.items() if given):
            raise ValueError(
                f"`{key}` cannot be used with annotations, whose score follows a list "
                "of errors and has its own scale: leave it out"
            )

    @property
    def needs_logprobs(self) -> bool:
        """Return whether replies are requested with probabilities of their tokens."""
        return self.estimator == "logprob_mean" or self.confidence == "logprobs"

    @property
    def scores_texts(self) -> bool:
        """Return whether its score is how probable a text is; no reply is written."""
        return self.estimator in ("likelihood", "pmi")

    @property
    def against(self) -> Literal["references", "original", "source"] | None:
        """Return what a text is compared with, as far as the card says."""
        if self.use_reference == "original":
            return "original"
        if self.use_reference:
            return "references"
        if self.use_reference is False and self.form in LEXICAL_FORMS:
            return "source"
        return None

    @property
    def annotates(self) -> bool:
        """Return whether its replies are annotations."""
        return self.annotation is not None or self.parser == PARSER

    @property
    def own_scale(self) -> JudgeScale | None:
        """Return the judge's own scale, or None if it uses the aspects' scales."""
        if self.annotation is not None:
            return self.annotation.scale
        if self.annotates:
            return OVERALL
        return self.scale

    @property
    def scales(self) -> list[RatingScale]:
        """Return the scales that its card gives."""
        if isinstance(self.scale, dict):
            return list(self.scale.values())
        if self.scale is None:
            return []
        return [self.scale]

    def scale_on(self, aspect: str) -> RatingScale | None:
        """Return the scale that its card gives an aspect, or None if it uses the
        aspect's own.
        """
        if isinstance(self.scale, dict):
            return self.scale.get(aspect)
        return self.scale

    def own_scale_on(self, aspect: str) -> RatingScale | None:
        """Return the scale of its replies: an annotation's score has its own scale."""
        scale = self.own_scale
        if isinstance(scale, dict):
            return scale.get(aspect)
        return scale


class Supervisor(Decoding):
    """A model that makes one list of the errors that several annotators found."""

    model: Slug
    """The card of the model that merges."""
    form: Slug = "merge-errors"
    """The instruction, a file of config/prompts that shows `lists`."""
    max_tokens: int = Field(1024, ge=1)
    """Maximum number of tokens of a reply; a longer reply is cut off, gets the status
    `truncated` and no list."""
    stop: Stops = Field([], max_length=4, exclude_if=same([]))
    """Up to four strings at which a reply ends."""


class DerivedJudge(Card):
    """A judge made from other judges of the study; its score is the mean of their
    scores.

    If the members give labels, it gives the label that most of them give; after a tie
    it has no score.

    If all members list errors, it lists errors too, merged by a rule or by a
    supervisor, the only model that is asked. Errors of a member whose score is far from
    the others' are left out.
    """

    judge: Slug
    """The id, equal to the file's name."""
    members: list[Slug] = Field(min_length=2)
    """Ids of judges of the study."""
    combine: Literal["mean", "supervisor"] = "mean"
    """How the members' error lists are merged: `mean`: by a rule; `supervisor`: by a
    model. Either way the score is the mean of the members' scores."""
    supervisor: Supervisor | None = None
    """With `combine: supervisor`: the model that merges the lists."""
    min_annotators: int = Field(1, ge=1)
    """Number of members that must score a target; with fewer, it has no score."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if len(set(self.members)) < len(self.members):
            raise ValueError("a member is named twice")
        if self.min_annotators > len(self.members):
            raise ValueError(
                f"min_annotators is above the number of members ({len(self.members)})"
            )
        if (self.combine == "supervisor") != (self.supervisor is not None):
            raise ValueError(
                "combine: supervisor and the key supervisor go together: write "
                "`supervisor: {model: …}`, or combine: mean without it"
            )
        return self


def _kind_of_judge(card: object) -> str:
    members = "members" in card if isinstance(card, dict) else hasattr(card, "members")
    return "derived" if members else "asked"


AnyJudge = Annotated[
    Annotated[Judge, Tag("asked")] | Annotated[DerivedJudge, Tag("derived")],
    Discriminator(_kind_of_judge),
]
