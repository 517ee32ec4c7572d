"""Claims: statements about a judge on one dataset, with the p-values that decide them.

A claim is made where its statistic is computed, from arrays. `rows` corrects the claims
of one judge and kind by Holm and writes them as rows of table `verdicts`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import nan
from typing import Final, Protocol

import numpy as np

from judgescope.methods.base import present
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import rater_tables
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.best_length import EQUALLY_LONG, LengthRemoved
from judgescope.statistics.intervals import SLACK, Scale
from judgescope.statistics.raters import Against, AsRater, as_rater, decided
from judgescope.statistics.resampling import Replicated, fewest_varied, with_interval
from judgescope.statistics.result import NO_LENGTHS, Estimate
from judgescope.statistics.verdict import (
    FEW_LOST,
    MOST_LOST,
    Evidence,
    Outcome,
)

AGREEMENT, RATING, ORDER, PAIRS = "agreement", "rating", "order", "pairs"
LABELS, CAUGHT, PASSED = "labels", "caught", "passed"
GRADED, SEQUENCE, SPANS = "graded", "sequence", "spans"
PERTURBATION, CRITERIA, HINTS, BAR = "perturbation", "criteria", "hints", "bar"
KINDS: Final = (
    *(AGREEMENT, LABELS, CAUGHT, PASSED, RATING, ORDER, PAIRS, GRADED, SEQUENCE, SPANS),
    *(PERTURBATION, CRITERIA, HINTS, BAR),
)
"""The kinds of claims: the column `form` begins with it; that of a bar adds the
statistic."""
WITH_PEOPLE: Final = frozenset(
    {AGREEMENT, LABELS, CAUGHT, PASSED, RATING, ORDER, PAIRS, SPANS, BAR}
)
"""Kinds that state agreement with people: none for a judge that is given a rating of
the text."""
CHANCE, LENGTH, BREVITY, SYSTEMS = "chance", "length", "brevity", "systems"
WITHIN, LOST = "within", "lost"
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
IS_LENGTH: Final = "is_length"
"""Reason: the judge's scores are a function of the texts' length (with R²)."""
QUALITY_IS_LENGTH: Final = "quality_is_length"
"""Reason: so are people's ratings (with R²)."""
NO_CEILING: Final = "no_ceiling"
"""Reason: raters do not agree with each other, so nobody can be as good as one."""
SINGLE_TEXTS: Final = "single_texts"
"""Reason: most texts are alone in their source, so that it may be the source that is
known."""
WORSE_THAN_CHANCE: Final = "worse_than_chance"
"""Reason: significantly worse than chance, after Holm's correction."""
SAYS: Final = "says"
"""Reason: the judge gives nearly every text this label."""
VERDICT, P_CLAIM, P_HOLM, LOST_SHARE = (
    "verdict",
    "p_claim",
    "p_claim_holm",
    "lost_share",
)
AS_RATER: Final = "as_rater"
"""Begins the name of the difference from one more rater."""
SOURCES_COUNTED: Final = "sources_counted"
CEILING: Final = "ceiling"
"""Begins the name of the raters' own agreement."""
CORRELATION_GAP: Final = Scale("plain", -2.0, 2.0)
"""The scale of the difference of two correlations."""
SHARE_GAP: Final = Scale("plain", -1.0, 1.0)
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
        return float(np.max([*self.p.values()])) if self.p else nan

    def with_null(self, name: str, p: float, rival: Rival | None = None) -> "Nulls":
        """The same with one more null hypothesis."""
        rivals = self.rivals if rival is None else {**self.rivals, name: rival}
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
        return self if self.lost <= MOST_LOST else self.without(TOO_MANY_LOST)

    def tested(self, nulls: Nulls, worst: Callable[[], Nulls] | None) -> "Claim":
        """Return the claim with its nulls, or none if its number is undefined.

        worst(): the nulls with lost judgments at the worst end, tested if more than a
        few are lost; None: no judgment is lost.
        """
        if self.estimate.value is None:
            return self.without(self.estimate.note)
        if self.lost > FEW_LOST and worst:
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
    scale: Scale,
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
    if alike and (abs(known.value - null) <= SLACK or not known.has_ends):
        return 0.5
    return known.p_above(null)


def p_below(result: Replicated, null: float) -> float:
    """The one-sided p of a truth below the null, NaN where there is no test."""
    scale = result.scale
    # A value turned round lies on the same scale: 1 - v of a share, -v of the others.
    turn = 1.0 if scale.kind in ("logit", "binomial") else 0.0
    ends = result.ends
    if ends is not None:
        ends = (turn - ends[1], turn - ends[0])
    turned = result._replace(
        estimate=replace(result.estimate, value=turn - present(result.estimate.value)),
        rows=turn - result.rows,
        scale=Scale(scale.kind, turn - scale.high, turn - scale.low),
        ends=ends,
    )
    return p_above(turned, turn - null)


def less(first: Replicated, second: Replicated, scale: Scale) -> Replicated:
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
    values: Floats, scale: Scale, counts: Estimate = NO_COUNTS, why: str = "undefined"
) -> Replicated:
    """Return the mean of one value per source, (sources,), NaN where there is none."""
    used = ~np.isnan(values)
    n, total = int(used.sum()), float(values[used].sum())
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


def held_against_lengths(
    nulls: Nulls,
    result: Replicated,
    scale: Scale,
    by_length: Callable[[float], Replicated],
) -> Nulls:
    """The nulls with both lengths; `scale` is that of a difference.

    by_length(sign): the number of a judge that scores the texts by sign * length. Where
    it is undefined (all texts are equally long), it orders nothing, and chance is its
    null.
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
    detail = "" if why == NO_LENGTHS else f": {why}"
    reason = f"{LENGTH_NOT_TESTED}{detail}"
    return replace(nulls, reasons=(*nulls.reasons, reason))


def held_against_best_length(
    nulls: Nulls, rest: LengthRemoved | str, left: Callable[[LengthRemoved], Replicated]
) -> Nulls:
    """The nulls with that of any curve of length (methods.md 19).

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
        p = p_above(remaining, 0.0) if remaining.estimate.value is not None else 1.0
        return nulls.with_null(BEST_LENGTH, p, rival)
    code = QUALITY_IS_LENGTH if rest.quality_is_length else IS_LENGTH
    reason = f"{code}: {rest.judge_r2:.2f}"
    nulls = replace(nulls, reasons=(*nulls.reasons, reason))
    return nulls.with_null(BEST_LENGTH, 1.0, rival)


@dataclass(frozen=True)
class RaterComparison:
    """A judge compared with one more rater: what a claim of step 3 rests on.

    `difference` is None where the comparison is unknown or not asked; `p` is that of
    being worse by the margin; `ceiling` is the raters' own agreement where that is the
    reason.
    """

    difference: Estimate | None = None
    p: float = nan
    ceiling: Estimate | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reason why step 3 is not asked, if there is one."""
        return () if self.ceiling is None else (NO_CEILING,)

    def on(self, claim: Claim) -> Claim:
        """The claim with the comparison."""
        beside = dict(claim.beside)
        if self.ceiling is not None:
            beside[f"{CEILING}_{claim.statistic}"] = self.ceiling
        return replace(
            claim,
            rater=self.difference,
            p_rater=self.p,
            beside=beside,
            reasons=(*claim.reasons, *self.reasons),
        )


def compared_with_raters(
    study: EvaluationData, compared: AsRater, chance: float
) -> RaterComparison:
    """A judge beside one more rater, if raters agree with each other beyond chance.

    chance: the value of the statistic for raters who do not. Methods.md 10.
    """
    ceiling = compared.ceiling
    low = ceiling.estimate.ci_low
    if low is not None and low <= chance:
        return RaterComparison(ceiling=ceiling.estimate)
    margin = present(study.spec.as_rater).margin
    gap = compared.difference
    p = gap.p_above(-margin)
    noted = gap.estimate.with_note(decided(gap, margin))
    return RaterComparison(noted, nan if p is None else p)


class BesideRaters:
    """The texts of a panel on one aspect, on which every judge is compared with one
    more rater.

    gold (texts,): people's value of each text, NaN where there is none; `others`: what
    a rater is compared with (see `statistics.raters.as_rater`); `statistic` and `level`
    decide the claim.
    """

    statistic: str
    level: str
    chance: float = 0.0
    """The number of a judge that knows nothing."""

    def __init__(
        self, panel: TargetSet, aspect: str, gold: Floats, others: Against
    ) -> None:
        self.study, self.panel, self.aspect = panel.study, panel, aspect
        self.gold, self.others = gold, others
        self.rated = np.flatnonzero(~np.isnan(gold))
        """The texts that people rate."""
        self._rater_numbers: dict[tuple[bytes, bytes], Replicated] = {}

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """Return the statistic that decides the claim, of x with people's values, or
        with y.
        """
        raise NotImplementedError

    def claim(self, judge: str, kind: str, x: Floats, estimate: Estimate) -> Claim:
        """Return a judge's claim of its values x, (texts,), without nulls."""
        place = judge, kind, self.statistic, self.level, self.aspect, estimate
        lost = lost_share(self.study, "systems", judge, self.aspect, x, self.gold)
        return Claim(*place, lost=lost, systems=self.panel.subset)

    @cached_property
    def preference(self) -> SystemPreference:
        """Return the null of a preference for systems, on the rated texts."""
        source, system = self.panel.source[self.rated], self.panel.system[self.rated]
        return SystemPreference(self.study, source, system)

    @cached_property
    def _rater_tables(self) -> list[Floats]:
        return rater_tables(self.panel, self.aspect)

    def as_rater(self, x: Floats) -> RaterComparison:
        """A judge's deciding number beside that of one more rater."""
        if not self._rater_tables:
            return RaterComparison()

        def value(a: Floats, b: Floats) -> Mapping[str, Replicated]:
            # Raters' numbers are the same beside every judge.
            key = a.tobytes(), b.tobytes()
            if key not in self._rater_numbers:
                self._rater_numbers[key] = self.number(a, b)
            return {self.statistic: self._rater_numbers[key]}

        compared = as_rater(value, x, self._rater_tables, against=self.others)
        return compared_with_raters(self.study, compared[self.statistic], self.chance)


def lost_share(
    study: EvaluationData,
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
    lost, applies = study.replies_lost(judge, [perturbation], [aspect])
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
    sums = np.bincount(source[rated], weights=y[rated], minlength=int(source.max()) + 1)
    n = np.bincount(source[rated], minlength=sums.size)
    middle = (sums / np.maximum(n, 1))[source]
    worst = np.where(y >= middle, np.nanmin(x), np.nanmax(x))
    return np.where(np.isnan(x) & rated, worst, x)
