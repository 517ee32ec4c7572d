"""The rows of every table between jobs: the names and types of its columns, in order.

A TypedDict is one row as a job makes it, and as `to_pylist()` of a table gives it.
`tables.SCHEMAS` are derived from them, so a column is declared once. Parquet does not
say which columns may be null; `| None` does.
"""

from typing import TypedDict


class PartValue(TypedDict):
    """A part of a source, such as a dialogue or a question."""

    name: str
    text: str


class EditValue(TypedDict):
    """A change of a text; `offset` counts characters of the text before it."""

    offset: int
    before: str
    after: str


class SpanValue(TypedDict):
    """An error that a judge lists; offsets are characters of the judged text.

    All fields are null that the reply does not give; an error whose words are not in
    the text has no offsets.
    """

    start: int | None
    end: int | None
    """Excluded."""
    occurrence: int | None
    severity: float | None
    category: str | None
    explanation: str | None
    match: str | None
    location: str | None
    """The words as quoted, whether or not they are in the text."""


class UsageValue(TypedDict):
    """The tokens of a reply, as the endpoint counts them."""

    prompt: int | None
    completion: int | None
    reasoning: int | None
    cached: int | None


class ProvenanceValue(TypedDict):
    """What wrote a reply."""

    engine: str | None
    model: str | None
    version: str | None
    fingerprint: str | None
    tool: str | None
    """The tools that a reply calls instead of saying something."""
    asked_again: str | None
    """How often the reply was requested again because it was empty, in digits."""
    content: str | None
    """What stands in place of the text (null, empty, tool) if there is none."""


class ItemRow(TypedDict):
    """A source that systems wrote texts for."""

    dataset: str
    item: str
    source: str
    parts: list[PartValue]
    references: list[str]
    meta: str
    """Canonical JSON."""


class TargetRow(TypedDict):
    """A text that is judged: of a system, or changed."""

    dataset: str
    target: str
    item: str
    system: str
    perturbation: str
    degree: str | None
    step: int
    parent: str | None
    text: str
    status: str
    length: float | None
    edits: list[EditValue]


class RatingRow(TypedDict):
    """A person's rating of a text, or choice between two texts (`target_b`)."""

    dataset: str
    target: str
    target_b: str | None
    aspect: str
    rater: str
    value: float


class GoldSpanRow(TypedDict):
    """An error that people marked; offsets are characters of the target's text."""

    dataset: str
    target: str
    start: int
    end: int
    """Excluded."""
    category: str
    text: str
    correction: str | None
    comment: str | None


class AnalysisRow(TypedDict):
    """Why a rated text deserves its rating, as a judge's prompt shows it."""

    dataset: str
    judge: str
    aspect: str
    criterion: str | None
    target: str
    rating: float
    text: str


class AnchorRow(TypedDict):
    """A rated text that represents a rating, and the cost of choosing it for it."""

    dataset: str
    aspect: str
    target: str
    rating: float
    cost: float


class ComparisonRow(TypedDict):
    """The better of a text and an anchor, by both orders."""

    dataset: str
    target: str
    anchor: str
    rating: float
    outcome: float | None
    """1: the text is better; -1: the anchor; 0: neither."""
    n_missing: int


class GradedRow(TypedDict):
    """A candidate of a graded set, and its rating."""

    dataset: str
    target: str
    item: str
    aspect: str
    errors: int | None
    rating: float | None
    margin: float | None
    n_tied: int
    above_lower: float | None
    """Share of the anchors with the rating below that are worse than the candidate."""
    above_same: float | None
    """Share of the anchors with the same rating that are worse."""
    below_same: float | None
    """Share of the anchors with the same rating that are better."""
    below_higher: float | None
    """Share of the anchors with the rating above that are better."""
    status: str


class ReplyContent(TypedDict):
    """What a model answered, without the request."""

    text: str
    finish: str | None
    usage: UsageValue | None
    status: str
    provenance: ProvenanceValue
    logprobs: list[list[tuple[str, float]]] | None
    """For each token of the reply: pairs (token, log probability), first of the
    sampled token, then of the likeliest others."""


class DrawKey(TypedDict):
    """The hash of a request, and the number of a reply to it, from 0."""

    key: str
    draw: int


class ReplyRow(DrawKey, ReplyContent):
    """A reply in a store."""


class QuestionKey(TypedDict):
    """A question: who judges which text in which respect."""

    judge: str
    kind: str
    target: str
    target_b: str | None
    aspect: str
    criterion: str | None
    hint: str | None


class AnswerRow(QuestionKey, DrawKey, ReplyContent):
    """A reply in a cell's reply file, with the request that it answers."""

    cut: int | None
    """The number of the source's parts that the judge's card shortens."""
    cut_parts: list[str] | None
    """Their names."""


class JudgmentRow(QuestionKey, DrawKey):
    """What a parser read in a reply."""

    value: float | None
    label: str | None
    strength: int | None
    """How clear a choice is, if the reply says so: 2 far better, 1 better, 0 a tie;
    negative if the second text is better."""
    spans: list[SpanValue] | None
    rationale: str | None
    status: str
    rule: str
    parser: str
    confidence: float | None
    """The judge's chance, 0 to 1, that its verdict is right."""
    confidence_source: str | None
    """Where it comes from: column, decision, logprobs, planted or stated; null: the
    judge has no confidence."""
    confidence_rule: str | None
    """How it was found, or why a judge with a source has none here."""
    confident_of: float | None
    """The value that the confidence is about, where that is not `value`."""


class CellKey(TypedDict):
    """A cell of a study: a judge, an aspect, and the texts of a perturbation."""

    dataset: str
    perturbation: str
    judge: str
    aspect: str


class ScoreRow(CellKey):
    """A judge's score of a text, from all draws; or of a pair of texts."""

    criterion: str | None
    target: str
    target_b: str | None
    value: float | None
    n_draws: int
    n_missing: int
    estimator: str


class DrawRow(CellKey):
    """A draw of a cell with several replies to one question, or a vote."""

    target: str
    target_b: str | None
    draw: int
    value: float | None


class RationaleRow(TypedDict):
    """The score and reason of a prompted judge for a rated text, and the hint in the
    prompt (robustness).
    """

    judge: str
    aspect: str
    target: str
    draw: int
    hint: str | None
    status: str
    value: float | None
    text: str | None


class MarkedRow(CellKey):
    """A judgment of a judge that lists errors; columns as in judgments."""

    target: str
    draw: int
    status: str
    rule: str
    value: float | None
    spans: list[SpanValue] | None


class ConfidenceRow(CellKey):
    """A judgment of a judge that states how sure it is; columns as in judgments."""

    target: str
    target_b: str | None
    draw: int
    status: str
    value: float | None
    confidence: float | None
    confidence_source: str | None
    confidence_rule: str | None
    confident_of: float | None


class StatusRow(CellKey):
    """The number of a cell's judgments with a status and rule.

    The first row of an aspect has `served` and `n_asked_again`.
    """

    status: str
    rule: str
    n: int
    served: list[str] | None
    """The models that answered."""
    cut: int | None
    """The number of texts with a shortened source, of those shown."""
    cut_parts: list[str] | None
    """The names of the shortened parts."""
    n_shown: int | None
    """The number of texts shown, if a source was shortened."""
    n_asked_again: int | None
    """The number of replies that were requested again because they were empty."""


class BoughtRow(TypedDict):
    """A reply of a model, once for each judge that reads it, or for the texts made
    from it.
    """

    judge: str | None
    """None: the reply became a text."""
    perturbation: str | None
    key: str
    draw: int
    prompt: int | None
    completion: int | None
    reasoning: int | None
    cached: int | None
    batch: bool


class SampleRow(TypedDict):
    """A training example: a text that the teacher judges, with its prompt."""

    dataset: str
    item: str
    target: str
    system: str
    perturbation: str
    aspect: str
    held_out: bool
    prompt: str
    room: int
    """Tokens by which a text that is still to be written may lengthen the prompt."""


class TrainingRow(TypedDict):
    """The course of a training: one step, or all held-out replies after it.

    Losses are mean negative log likelihoods (nats) of the tokens of replies.
    """

    step: int
    split: str
    loss: float
    learning_rate: float | None
    examples: int
    """Seen so far, or held out; so are `tokens`."""
    tokens: int


class LossRow(TypedDict):
    """The loss of a held-out reply: before training, and after the last step."""

    dataset: str
    item: str
    target: str
    aspect: str
    tokens: int
    before: float
    after: float | None


class ResultKey(TypedDict):
    """The columns that say which number a row of results is, and always apply."""

    dataset: str
    judge: str
    aspect: str
    statistic: str
    level: str


class EstimateColumns(TypedDict):
    """The columns of a row of results that hold its estimate."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_missing: int
    n_tied: int
    method: str
    note: str


class AppliesTo(TypedDict, total=False):
    """The columns of a row of results that are null where they do not apply."""

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
    """The systems whose texts are used, if not all."""
    slice: str | None
    """The part of the texts that is used: `<column>: <value>`."""
    target: str | None
    """The text that the number is about."""


class ResultRow(ResultKey, EstimateColumns, AppliesTo):
    """A row of a result table, in long form."""

    sentence: str | None
    """The verdicts on a judge in words, in the rows of its claims."""
    signature: str
