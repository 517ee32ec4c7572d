"""Claims: statements about a judge on one dataset, with the p-values that decide them.

A claim is made where its statistic is computed, from arrays. `rows` corrects the claims
of one judge and kind by Holm and writes them as rows of table `verdicts`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import ClassVar, Final, Protocol

import numpy as np
from msgspec import Struct

from judgescope.methods.base import present
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.best_length import EQUALLY_LONG, LengthRemoved
from judgescope.statistics.intervals import TOLERANCE, IntervalScale
from judgescope.statistics.resampling import Replicated, fewest_varied, with_interval
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.verdict import LOSS, Evidence, Outcome

AGREEMENT = "agreement"
RATING = "rating"
ORDER = "order"
PAIRS = "pairs"
LABELS = "labels"
CAUGHT = "caught"
PASSED = "passed"
GRADED = "graded"
SEQUENCE = "sequence"
SPANS = "spans"
PERTURBATION = "perturbation"
CRITERIA = "criteria"
HINTS = "hints"
BAR = "bar"
WITH_PEOPLE: Final = frozenset(
    {AGREEMENT, LABELS, CAUGHT, PASSED, RATING, ORDER, PAIRS, SPANS, BAR}
)
"""Kinds that state agreement with people: none for a judge that is given a rating of
the text."""
CHANCE = "chance"
LENGTH = "length"
BREVITY = "brevity"
SYSTEMS = "systems"
WITHIN = "within"
LOST = "lost"
BEST_LENGTH: Final = "best_length"
"""The null hypothesis that nothing is left when a curve of length is taken out."""
BEYOND_SYSTEMS: Final = "beyond_systems"
"""The number among texts of one system, which decides how far a claim reaches."""
INDEX: Final = "index"
"""The null hypothesis that the confusion index is 1 or more."""
HINTED: Final = "hinted"
"""Reason: the judge is given a rating of the text."""
TOO_MANY_LOST: Final = "too_many_lost"
"""Reason: more than a fifth of the planned judgments are lost."""
THESE_SYSTEMS: Final = "these_systems"
"""Reason: among texts of one system the claim is not shown (with their number)."""
HANGS_ON: Final = "hangs_on"
"""Reason: without the texts of one system, which is named, the claim fails."""
LENGTH_NOT_TESTED: Final = "length_not_tested"
"""Reason: the data have neither texts nor lengths, or too few of them."""
LENGTHS_PARTLY: Final = "lengths_partly"
"""Reason: some texts or pairs have no length, and length is tested on the others."""
IS_LENGTH: Final = "is_length"
"""Reason: the judge's scores are a function of the texts' length (with R²)."""
QUALITY_IS_LENGTH: Final = "quality_is_length"
"""Reason: so are people's ratings (with R²)."""
NO_CEILING: Final = "no_ceiling"
"""Reason: raters do not agree with each other, so nobody can be as good as one."""
SINGLE_TEXTS: Final = "single_texts"
"""Reason: most texts are alone in their source, so that it may be the source that is
known."""
CONSTANT: Final = "constant"
"""Reason: the judge gives one score to all texts, or a tie to all pairs."""
MANY_RATERS: Final = "many_raters"
"""Reason: a judge is not compared with one more rater of so many (with their
number)."""
WORSE_THAN_CHANCE: Final = "worse_than_chance"
"""Reason: significantly worse than chance, after Holm's correction."""
SAYS: Final = "says"
"""Reason: the judge gives nearly every text this label."""
VERDICT = "verdict"
P_CLAIM = "p_claim"
P_HOLM = "p_claim_holm"
LOST_SHARE = "lost_share"
AS_RATER: Final = "as_rater"
"""Begins the name of the difference from one more rater."""
SOURCES_COUNTED: Final = "sources_counted"
CEILING: Final = "ceiling"
"""Begins the name of the raters' own agreement."""
CORRELATION_GAP: Final = IntervalScale("plain", -2.0, 2.0)
"""The scale of the difference of two correlations."""
SHARE_GAP: Final = IntervalScale("plain", -1.0, 1.0)
"""The scale of the difference of two shares."""
NO_COUNTS: Final = Estimate(0.0)
LENGTHS: Final = (LENGTH, BREVITY, BEST_LENGTH)
"""The nulls of the texts' length."""
SHARES_OF_LABELS: Final = ("tpr", "tnr")
"""Shares that a judge reaches by giving every text one label."""


@dataclass(frozen=True)
class Rival:
    """What a claim must beat, in units of the claim's number.

    `value` is the rival's own number, `difference` the judge's minus it; None where the
    null has no such number.
    """

    value: Estimate | None = None
    difference: Estimate | None = None


@dataclass(frozen=True)
class Nulls:
    """The null hypotheses of a claim: one-sided p by name, and the rivals behind them.

    `worse` is the p of chance in the other direction; `reasons` are codes of what could
    not be tested, or of what the judge is.
    """

    p: Mapping[str, float]
    rivals: Mapping[str, Rival] = field(default_factory=dict)
    worse: float = nan
    reasons: tuple[str, ...] = ()

    @property
    def largest(self) -> float:
        """The p of the claim: the largest, NaN if one is not computable."""
        if self.p:
            return float(np.max([*self.p.values()]))
        return nan

    def with_null(self, name: str, p: float, rival: Rival | None = None) -> "Nulls":
        """The same with one more null hypothesis."""
        rivals = self.rivals
        if rival is not None:
            rivals = {**self.rivals, name: rival}
        return replace(self, p={**self.p, name: p}, rivals=rivals)


class SystemEvidence(Protocol):
    """What is known of a claim and the systems whose texts it rests on."""

    def asked(self, claim: "Claim", family: int) -> "Claim":
        """The claim with the null of a preference for systems, where it can pass."""

    def beyond(self) -> Replicated | None:
        """The number among texts of one system; None where there is none."""

    def hangs_on(self, claim: "Claim", family: int) -> str | None:
        """The only system without whose texts the claim fails, or None."""

    @property
    def systems(self) -> int:
        """How many named systems wrote the texts; 0 if none are named."""


@dataclass(frozen=True)
class Claim:
    """One claim about a judge on a dataset.

    `aspect` includes its criterion and is "" where a claim is of all aspects;
    `estimate` is the deciding number, with its interval. `nulls` maps each null
    hypothesis to its one-sided p (see `Evidence`); empty: no claim is possible, and
    `reasons` say why. `rater` is the difference from one more rater with `p_rater`;
    `None` if unknown. `lost` is the share of its planned judgments without a score.
    `reasons` are codes that the report words; `outcome` is set where a rule of its own
    decides (and is then not corrected). `beside` has further numbers that the verdict
    rests on, by statistic; `rivals` the number behind each null. `worse` is the p of
    being worse than chance. `by_system` is what is known of the texts' systems; `says`
    the label that the judge gives most texts.
    """

    judge: str
    kind: str
    statistic: str
    level: str
    aspect: str
    estimate: Estimate
    nulls: Mapping[str, float] = field(default_factory=dict)
    rater: Estimate | None = None
    p_rater: float = nan
    lost: float = 0.0
    reasons: tuple[str, ...] = ()
    outcome: Outcome | None = None
    perturbation: str | None = None
    degree: str | None = None
    systems: str | None = None
    beside: Mapping[str, Estimate] = field(default_factory=dict)
    rivals: Mapping[str, Rival] = field(default_factory=dict)
    worse: float = nan
    by_system: SystemEvidence | None = None
    says: str = ""

    @property
    def evidence(self) -> Evidence:
        """Return the p-values of the verdict; none where a rule of its own decides."""
        return Evidence({} if self.outcome is not None else self.nulls, self.p_rater)

    def without(self, reason: str) -> "Claim":
        """Return that no claim is possible, with the reason."""
        return replace(self, outcome=Outcome.NO_CLAIM, reasons=(reason,))

    def counting(self, result: Replicated) -> "Claim":
        """Return the claim with the number of sources that its number rests on."""
        sources = int((result.sizes > 0).sum())
        counted = Estimate(float(sources), n=sources)
        return replace(self, beside={**self.beside, SOURCES_COUNTED: counted})

    def checked(self) -> "Claim":
        """Return the claim, or none where more than a fifth of its judgments are
        lost.
        """
        if self.lost <= LOSS.no_claim:
            return self
        return self.without(TOO_MANY_LOST)

    def tested(self, nulls: Nulls, worst: Callable[[], Nulls] | None) -> "Claim":
        """Return the claim with its nulls, or none if its number is undefined.

        worst(): the nulls with lost judgments at the worst end, tested if more than a
        few are lost; None: no judgment is lost.
        """
        if self.estimate.value is None:
            return self.without(self.estimate.note)
        if self.lost > LOSS.worst_case and worst:
            nulls = nulls.with_null(LOST, worst().largest)
        return replace(
            self,
            nulls=nulls.p,
            rivals=nulls.rivals,
            worse=nulls.worse,
            reasons=(*self.reasons, *nulls.reasons),
        ).checked()


def number(
    rows: Floats,
    sizes: Floats,
    scale: IntervalScale,
    counts: Estimate,
    why: str = "undefined",
    *,
    varied: int | None = None,
) -> Replicated:
    """Return the number whose value is rows[0]; `why` is the reason where that is NaN.

    rows (1 + sources,): the value, then that without each source; sizes (sources,): 0
    where a source cannot change it; `counts` has its counts and its method; `varied` as
    in `Replicated`.
    """
    sizes = np.asarray(sizes, np.float64)
    if np.isnan(rows[0]):
        nothing = replace(counts, value=None, n_tied=0, note=why)
        return Replicated(nothing, rows, sizes, scale, scale.ends, varied)
    value = replace(counts, value=float(rows[0]))
    result = with_interval(Replicated(value, rows, sizes, scale, scale.ends, varied))
    if result.estimate.ci_low is None:
        return result
    # p-values tell what an interval without width does
    return result._replace(estimate=replace(result.estimate, note=counts.note))


def p_above(result: Replicated, null: float) -> float:
    """Return the one-sided p of a truth above the null, NaN where there is no test.

    One half where every source has the null's value, or all are alike and nothing
    bounds the others: that supports neither side.
    """
    known = result.jackknifed
    if isinstance(known, str):
        return nan
    alike = known.error == 0 and known.n_eff is None
    if alike and (abs(known.value - null) <= TOLERANCE or not known.has_ends):
        return 0.5
    return known.p_above(null)


def p_below(result: Replicated, null: float) -> float:
    """The one-sided p of a truth below the null, NaN where there is no test."""
    scale = result.scale
    # A value turned round lies on the same scale: 1 - v of a share, -v of the others.
    turn = 0.0
    if scale.kind in ("logit", "binomial"):
        turn = 1.0
    ends = result.ends
    if ends is not None:
        ends = (turn - ends[1], turn - ends[0])
    turned = result._replace(
        estimate=replace(result.estimate, value=turn - present(result.estimate.value)),
        rows=turn - result.rows,
        scale=IntervalScale(scale.kind, turn - scale.high, turn - scale.low),
        ends=ends,
    )
    return p_above(turned, turn - null)


def less(first: Replicated, second: Replicated, scale: IntervalScale) -> Replicated:
    """Return the paired difference; both delete the same sources."""
    sizes = np.minimum(first.sizes, second.sizes)
    return number(
        first.rows - second.rows,
        sizes,
        scale,
        Estimate(0.0, n=first.estimate.n),
        varied=fewest_varied([first, second]),
    )


def mean_of_sources(
    values: Floats,
    scale: IntervalScale,
    counts: Estimate = NO_COUNTS,
    why: str = "undefined",
) -> Replicated:
    """Return the mean of one value per source, (sources,), NaN where there is none."""
    used = ~np.isnan(values)
    n = int(used.sum())
    total = float(values[used].sum())
    rows = np.full(1 + values.size, nan)
    if n:
        rows[:] = total / n
    if n > 1:
        rows[1:][used] = (total - values[used]) / (n - 1)
    return number(rows, used.astype(float), scale, replace(counts, n=n), why)


def chance_tested(result: Replicated, chance: float) -> Nulls:
    """The null of chance, in both directions, with chance as the rival's number."""
    value = present(result.estimate.value)
    low = result.estimate.ci_low
    high = result.estimate.ci_high
    known = low is not None and high is not None
    difference = replace(
        result.estimate,
        value=value - chance,
        ci_low=low - chance if known and low is not None else None,
        ci_high=high - chance if known and high is not None else None,
    )
    rival = Rival(Estimate(chance), difference)
    p = p_above(result, chance)
    return Nulls({CHANCE: p}, {CHANCE: rival}, worse=p_below(result, chance))


@dataclass(frozen=True, eq=False)
class MeasuredCases:
    """Which texts, or pairs of texts, of a claim have a length.

    judged, measured (cases,): the claim rests on a case; its length is known. `unit` is
    "texts" or "pairs"; `no_lengths` says why the data cannot test length, "" if it can.
    """

    judged: Flags
    measured: Flags
    unit: str
    no_lengths: str = ""

    least_share: ClassVar[float] = 0.5
    """With a smaller share of cases that have a length, length is not tested: a good
    judge would fail for want of lengths, and a rule on few texts says little of all."""

    @property
    def complete(self) -> bool:
        """Whether every case has a length."""
        return self._known == self._judged

    @property
    def untested(self) -> str:
        """Why the claim is not tested against length, "" if it is."""
        if self.no_lengths:
            return self.no_lengths
        if self._known >= self.least_share * self._judged:
            return ""
        missing = self._judged - self._known
        return f"{missing} of {self._judged} {self.unit} have no length"

    def noted(self, nulls: Nulls) -> Nulls:
        """The nulls with the number of cases that test length, if some have none."""
        if self.complete:
            return nulls
        reason = f"{LENGTHS_PARTLY}: {self._known} of {self._judged} {self.unit}"
        return replace(nulls, reasons=(*nulls.reasons, reason))

    @cached_property
    def _judged(self) -> int:
        return int(self.judged.sum())

    @cached_property
    def _known(self) -> int:
        return int((self.judged & self.measured).sum())


def held_against_lengths(
    nulls: Nulls,
    result: Replicated,
    scale: IntervalScale,
    by_length: Callable[[float], Replicated],
) -> Nulls:
    """The nulls with both lengths; `scale` is that of a difference.

    result: the judge's number on the cases that have a length. by_length(sign): the
    number of a judge that scores the texts by sign * length. Where it is undefined (all
    texts are equally long), it orders nothing, and chance is its null.
    """
    for name, sign in ((LENGTH, 1.0), (BREVITY, -1.0)):
        other = by_length(sign)
        if other.estimate.value is None:
            nulls = nulls.with_null(name, nulls.p[CHANCE])
            continue
        gap = less(result, other, scale)
        rival = Rival(other.estimate, gap.estimate)
        nulls = nulls.with_null(name, p_above(gap, 0.0), rival)
    return nulls


def length_untested(nulls: Nulls, why: str) -> Nulls:
    """The nulls of a claim that cannot be compared with length, with the reason."""
    detail = "" if why == REASONS.no_lengths else f": {why}"
    reason = f"{LENGTH_NOT_TESTED}{detail}"
    return replace(nulls, reasons=(*nulls.reasons, reason))


def held_against_best_length(
    nulls: Nulls, rest: LengthRemoved | str, left: Callable[[LengthRemoved], Replicated]
) -> Nulls:
    """The nulls with that of any curve of length (docs/methods.md, "Rules of the
    verdicts").

    rest: what length leaves of judge and people, or why there is no curve; left(rest):
    its correlation. A judge that is a function of length cannot reject it.
    """
    if rest == EQUALLY_LONG:
        return nulls.with_null(BEST_LENGTH, nulls.p[CHANCE])
    if isinstance(rest, str):
        return length_untested(nulls, rest)
    remaining = left(rest)
    rival = Rival(remaining.estimate)
    if not rest.is_length:
        p = 1.0
        if remaining.estimate.value is not None:
            p = p_above(remaining, 0.0)
        return nulls.with_null(BEST_LENGTH, p, rival)
    code = QUALITY_IS_LENGTH if rest.quality_is_length else IS_LENGTH
    reason = f"{code}: {rest.judge_r2:.2f}"
    nulls = replace(nulls, reasons=(*nulls.reasons, reason))
    return nulls.with_null(BEST_LENGTH, 1.0, rival)


def lost_share(
    data: EvaluationData,
    perturbation: str,
    judge: str,
    aspect: str,
    x: Floats,
    planned: Floats,
) -> float:
    """Return the larger lost share: of the cell's replies, or of the texts that count.

    x (texts,): the scores; planned (texts,): NaN where no judgment counts (no rating).
    Replies alone count where the judge does not apply to some texts.
    """
    lost, applies = data.replies_lost(judge, [perturbation], [aspect])
    rated = ~np.isnan(planned)
    if not applies or not rated.any():
        return lost
    return max(lost, float(np.isnan(x[rated]).mean()))


def at_the_worst_end(x: Floats, y: Floats, source: Codes) -> Floats:
    """Return the scores with each missing one as wrong as can be, within the scores
    that occur.

    x, y, source (texts,). A text that people rate at or above the mean of its source's
    ratings gets the lowest score of the judge, the others the highest; texts without a
    rating stay missing.
    """
    rated = ~np.isnan(y)
    lost = np.isnan(x) & rated
    if not lost.any():
        return x  # claims keep it: a copy of many texts for nothing
    sums = np.bincount(source[rated], weights=y[rated], minlength=int(source.max()) + 1)
    n = np.bincount(source[rated], minlength=sums.size)
    middle = (sums / np.maximum(n, 1))[source]
    worst = np.where(y >= middle, np.nanmin(x), np.nanmax(x))
    return np.where(lost, worst, x)


ClaimsOf = Callable[[EvaluationData], Iterator[Claim]]
"""Yields the claims of one kind or several; a record of `TableClaims` names it."""


class TableClaims(Struct, frozen=True, forbid_unknown_fields=True):
    """The claims for table `verdicts` that rest on the statistics of one table."""

    name: str
    """The name of the table."""
    makers: tuple[Callable[[EvaluationData], Iterable[Claim | ResultRow]], ...]
    """What makes the claims; a row goes into the table of verdicts as it is."""


def unordered_too(claims: ClaimsOf) -> ClaimsOf:
    """Mark claims that can use labels without an order; others never see these."""
    claims.unordered_too = True  # type: ignore[attr-defined]
    return claims
