"""Claims: statements about a judge on one dataset, with the p-values that decide them.

A claim is made where its statistic is computed, from arrays. `verdict_rows` corrects
the claims of one judge and kind by Holm and writes them as rows of table `verdicts`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import Final

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.base import AppliesTo, Row, present
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import rater_tables
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.intervals import SLACK, Scale
from judgescope.statistics.nulls import (
    FEWEST_SYSTEMS,
    LEAST_FILLED,
    filled,
    p_moved,
    system_permutations,
)
from judgescope.statistics.raters import Against, as_rater, decided
from judgescope.statistics.resampling import Replicated, with_interval
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import (
    FEW_LOST,
    MOST_LOST,
    STEPS,
    Evidence,
    Outcome,
    Verdict,
    verdicts,
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
INDEX: Final = "index"
"""The null hypothesis that the confusion index is 1 or more."""
HINTED: Final = "hinted"
"""Reason: the judge is given a rating of the text."""
TOO_MANY_LOST: Final = "too_many_lost"
"""Reason: more than a fifth of the planned judgments are lost."""
THESE_SYSTEMS, FEW = "these_systems", "few_systems"
"""Reasons: the claim holds for these systems alone, or rests on few (with their
number)."""
ENOUGH_SYSTEMS: Final = 8
"""A claim on fewer systems has the reason FEW."""
VERDICT, P_CLAIM, P_HOLM, LOST_SHARE = (
    "verdict",
    "p_claim",
    "p_claim_holm",
    "lost_share",
)
AS_RATER: Final = "as_rater"
"""Begins the name of the difference from one more rater."""
CORRELATION_GAP: Final = Scale("plain", -2.0, 2.0)
"""The scale of the difference of two correlations."""
SHARE_GAP: Final = Scale("plain", -1.0, 1.0)
"""The scale of the difference of two shares."""
NO_COUNTS: Final = Estimate(0.0)


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
    rests on, by statistic.
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

    @property
    def evidence(self) -> Evidence:
        """Return the p-values of the verdict; none where a rule of its own decides."""
        return Evidence({} if self.outcome is not None else self.nulls, self.p_rater)

    def without(self, reason: str) -> "Claim":
        """Return that no claim is possible, with the reason."""
        return replace(self, outcome=Outcome.NO_CLAIM, reasons=(reason,))

    def checked(self) -> "Claim":
        """Return the claim, or none where more than a fifth of its judgments are
        lost.
        """
        return self if self.lost <= MOST_LOST else self.without(TOO_MANY_LOST)

    def tested(
        self,
        nulls: Mapping[str, float],
        worst: Callable[[], Mapping[str, float]] | None,
    ) -> "Claim":
        """Return the claim with its nulls, or none if its number is undefined.

        worst(): the nulls with lost judgments at the worst end, tested if more than a
        few are lost; None: no judgment is lost.
        """
        if self.estimate.value is None:
            return self.without(self.estimate.note)
        if self.lost > FEW_LOST and worst:
            nulls = {**nulls, LOST: float(np.max([*worst().values()]))}
        return replace(self, nulls=nulls).checked()


def verdict_rows(study: EvaluationData, claims: Iterable[Claim]) -> Iterator[Row]:
    """Yield the rows of all claims of a dataset: number, p-values, verdict."""
    families: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        card = study.spec.judges.get(claim.judge)
        if claim.kind in WITH_PEOPLE and card and card.hint:
            claim = replace(claim, nulls={}, rater=None, p_rater=nan).without(HINTED)
        families.setdefault((claim.judge, claim.kind), []).append(claim)
    for family in families.values():
        decisions = verdicts([claim.evidence for claim in family])
        for claim, verdict in zip(family, decisions, strict=True):
            yield from _rows(study, claim, verdict)


def _rows(study: EvaluationData, claim: Claim, verdict: Verdict) -> Iterator[Row]:
    n, missing = claim.estimate.n, claim.estimate.n_missing
    outcome = claim.outcome or verdict.outcome
    reasons = claim.reasons if claim.outcome else (*verdict.reasons, *claim.reasons)
    note = "; ".join(dict.fromkeys([outcome, *reasons]))
    method = "" if isnan(verdict.adjusted) else f"Holm over {verdict.family}"
    step = Estimate(
        STEPS.get(outcome), n=n, n_missing=missing, method=method, note=note
    )

    def p_value(p: float) -> Estimate:
        return Estimate.undefined("not tested", n=n) if isnan(p) else Estimate(p, n=n)

    numbers = {**claim.beside, claim.statistic: claim.estimate, VERDICT: step}
    numbers |= {f"p_{name}": p_value(p) for name, p in claim.nulls.items()}
    numbers |= {P_CLAIM: p_value(verdict.p), P_HOLM: p_value(verdict.adjusted)}
    if claim.lost:
        numbers[LOST_SHARE] = Estimate(claim.lost, n=n, n_missing=missing)
    if claim.rater is not None:
        numbers[f"{AS_RATER}_{claim.statistic}"] = claim.rater
        numbers["p_rater"] = p_value(claim.p_rater)
    columns: AppliesTo = {
        "form": f"{BAR} {claim.statistic}" if claim.kind == BAR else claim.kind,
        "perturbation": claim.perturbation,
        "degree": claim.degree,
        "system_subset": claim.systems,
    }
    for name, estimate in numbers.items():
        yield study.row(
            claim.judge, claim.aspect, name, claim.level, estimate, **columns
        )


def number(
    rows: Floats, sizes: Floats, scale: Scale, counts: Estimate, why: str = "undefined"
) -> Replicated:
    """Return the number whose value is rows[0]; `why` is the reason where that is NaN.

    rows (1 + sources,): the value, then that without each source; sizes (sources,): 0
    where a source cannot change it; `counts` has its counts and its method.
    """
    sizes = np.asarray(sizes, np.float64)
    if np.isnan(rows[0]):
        nothing = replace(counts, value=None, n_tied=0, note=why)
        return Replicated(nothing, rows, sizes, scale, scale.ends)
    value = replace(counts, value=float(rows[0]))
    result = with_interval(Replicated(value, rows, sizes, scale, scale.ends))
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


def less(first: Replicated, second: Replicated, scale: Scale) -> Replicated:
    """Return the paired difference; both delete the same sources."""
    sizes = np.minimum(first.sizes, second.sizes)
    return number(
        first.rows - second.rows, sizes, scale, Estimate(0.0, n=first.estimate.n)
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


def length_nulls(
    result: Replicated,
    chance: float,
    scale: Scale,
    by_length: Callable[[float], Replicated],
) -> dict[str, float]:
    """Return the p of chance and of both lengths; `scale` is that of a difference.

    by_length(sign): the number of a judge that scores the texts by sign * length. Where
    it is undefined (all texts are equally long), it orders nothing, and chance is its
    null.
    """
    nulls = {CHANCE: p_above(result, chance)}
    for name, sign in ((LENGTH, 1.0), (BREVITY, -1.0)):
        other = by_length(sign)
        defined = other.estimate.value is not None
        nulls[name] = (
            p_above(less(result, other, scale), 0.0) if defined else nulls[CHANCE]
        )
    return nulls


def compared_with_raters(
    study: EvaluationData, gap: Replicated
) -> tuple[Estimate, float]:
    """Return a difference from one more rater with its note, and p of being worse."""
    margin = present(study.spec.as_rater).margin
    p = gap.p_above(-margin)
    return gap.estimate.with_note(decided(gap, margin)), nan if p is None else p


class BesideRaters:
    """The texts of a panel on one aspect, on which every judge is compared with one
    more rater.

    gold (texts,): people's value of each text, NaN where there is none; `others`: what
    a rater is compared with (see `statistics.raters.as_rater`); `statistic` and `level`
    decide the claim.
    """

    statistic: str
    level: str

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
    def preference(self) -> "SystemPreference":
        """Return the null of a preference for systems, on the rated texts."""
        source, system = self.panel.source[self.rated], self.panel.system[self.rated]
        return SystemPreference(self.study, source, system)

    @cached_property
    def _rater_tables(self) -> list[Floats]:
        return rater_tables(self.panel, self.aspect)

    def as_rater(self, x: Floats) -> tuple[Estimate | None, float]:
        """Return a judge's deciding number less that of one more rater, and p of being
        worse.
        """
        if not self._rater_tables:
            return None, nan

        def value(a: Floats, b: Floats) -> Mapping[str, Replicated]:
            key = a.tobytes(), b.tobytes()
            if (
                key not in self._rater_numbers
            ):  # raters' numbers are the same beside every judge
                self._rater_numbers[key] = self.number(a, b)
            return {self.statistic: self._rater_numbers[key]}

        compared = as_rater(value, x, self._rater_tables, against=self.others)
        return compared_with_raters(self.study, compared[self.statistic].difference)


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


Statistic = Callable[[Codes], Floats]


@dataclass(frozen=True, eq=False)
class SystemPreference:
    """The null of a preference for systems that is unrelated to quality; (texts,) each.

    Where rated texts come from five systems or more, a judge's columns (systems) are
    permuted jointly over all sources; with fewer systems a claim holds for these
    systems alone.
    """

    study: EvaluationData
    source: Codes
    system: Codes

    @cached_property
    def m(self) -> int:
        """Return the number of systems; 0 where nobody knows who wrote the texts."""
        return 0 if self.study.spec.anonymous_systems else np.unique(self.system).size

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reason that a claim rests on few systems; none if texts have one
        system.
        """
        if self.m < 2 or (self.m >= ENOUGH_SYSTEMS and self.drawn is not None):
            return ()
        return (f"{THESE_SYSTEMS if self.drawn is None else FEW}: {self.m}",)

    @cached_property
    def drawn(self) -> Codes | None:
        """Return the permutations of systems, None if there are too few systems or
        cells.
        """
        if (m := self.m) < FEWEST_SYSTEMS or filled(
            self.source, self.system
        ) < LEAST_FILLED:
            return None
        rng = stream(self.study.spec.seed, "claims", self.study.dataset, "systems", m)
        return system_permutations(m, rng)

    def tested(
        self, claim: Claim, statistic: Statistic, worst: Statistic, cells: int = 0
    ) -> Claim:
        """Return the claim with this null and the reason on few systems.

        statistic, cells: as in `p_moved`, of the rated texts; worst: the statistic with
        lost judgments at the worst end, tested if `claim` has that null.
        """
        claim = replace(claim, reasons=(*claim.reasons, *self.reasons))
        if self.drawn is None:
            return claim
        data = self.source, self.system, self.drawn, cells
        nulls = {**claim.nulls, SYSTEMS: p_moved(statistic, *data)}
        if LOST in nulls:
            nulls[LOST] = float(np.max([nulls[LOST], p_moved(worst, *data)]))
        return replace(claim, nulls=nulls)
