"""A judge compared with one more rater: step 3 of a claim."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np

from judgescope.methods.base import present
from judgescope.methods.claims.base import (
    CEILING,
    MANY_RATERS,
    NO_CEILING,
    Claim,
    MeasuredCases,
    lost_share,
)
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import EvaluationData, TargetSet
from judgescope.methods.measures import rater_tables, too_many_raters
from judgescope.statistics.arrays import Floats
from judgescope.statistics.headline import people_are_apart
from judgescope.statistics.raters import (
    IF_LOST,
    Against,
    RaterDifference,
    RaterVerdict,
    as_rater,
    decided,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate


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
    too_many: int = 0
    """How many raters there are, where they are too many to compare with each."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reason why step 3 is not asked, if there is one."""
        if self.too_many:
            return (f"{MANY_RATERS}: {self.too_many}",)
        if self.ceiling is None:
            return ()
        return (NO_CEILING,)

    def held_at_worst(self, worst: "RaterComparison") -> "RaterComparison":
        """The comparison where it must also hold with lost judgments at the worst end.

        worst: the comparison with them there.
        """
        if self.difference is None or worst.difference is None:
            return self
        difference = self.difference
        if (
            difference.note == RaterVerdict.AS_GOOD
            and worst.difference.note != RaterVerdict.AS_GOOD
        ):
            difference = replace(difference, note=IF_LOST)
        return replace(self, difference=difference, p=max(self.p, worst.p))

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
    data: EvaluationData, compared: RaterDifference, chance: float
) -> RaterComparison:
    """A judge beside one more rater, if raters agree with each other beyond chance.

    chance: the value of the statistic for raters who do not. See docs/methods.md,
    "Agreement".
    """
    ceiling = compared.ceiling
    if people_are_apart(ceiling.estimate.ci_low, chance):
        return RaterComparison(ceiling=ceiling.estimate)
    margin = present(data.spec.as_rater).margin
    gap = compared.difference
    p = gap.p_above(-margin)
    noted = gap.estimate.with_note(decided(gap, margin))
    return RaterComparison(noted, nan if p is None else p)


class BesideRaters:
    """The texts of one aspect on which every judge is compared with one more rater.

    gold (texts,): people's value of each text, NaN where there is none; `others`: what
    a rater is compared with (see `statistics.raters.as_rater`); `statistic` and `level`
    decide the claim.
    """

    statistic: str
    level: str
    chance: float = 0.0
    """The number of a judge that knows nothing."""

    def __init__(
        self, targets: TargetSet, aspect: str, gold: Floats, others: Against
    ) -> None:
        self.study = targets.study
        self.target_set = targets
        self.aspect = aspect
        self.gold = gold
        self.others = others
        self.rated = np.flatnonzero(~np.isnan(gold))
        """The texts that people rate."""
        self._rater_numbers: dict[tuple[bytes, bytes], Replicated] = {}

    def number(self, x: Floats, y: Floats | None = None) -> Replicated:
        """Return the statistic that decides the claim, of x with people's values, or
        with y.
        """
        raise NotImplementedError

    def measured(self, x: Floats) -> MeasuredCases:
        """Which of the texts with a value x, (texts,), and people's have a length."""
        targets = self.target_set
        judged = ~(np.isnan(x) | np.isnan(self.gold))
        known = np.isfinite(targets.lengths)
        return MeasuredCases(judged, known, "texts", targets.length_untested)

    def claim(self, judge: str, kind: str, x: Floats, estimate: Estimate) -> Claim:
        """Return a judge's claim of its values x, (texts,), without nulls."""
        return Claim(
            judge,
            kind,
            self.statistic,
            self.level,
            self.aspect,
            estimate,
            lost=lost_share(self.study, "systems", judge, self.aspect, x, self.gold),
            systems=self.target_set.subset,
        )

    @cached_property
    def preference(self) -> SystemPreference:
        """Return the null of a preference for systems, on the rated texts."""
        source = self.target_set.source[self.rated]
        system = self.target_set.system[self.rated]
        return SystemPreference(self.study, source, system)

    @cached_property
    def _rater_tables(self) -> list[Floats]:
        return rater_tables(self.target_set, self.aspect)

    def as_rater(self, x: Floats) -> RaterComparison:
        """A judge's deciding number beside that of one more rater."""
        if not self._rater_tables:
            return RaterComparison(
                too_many=too_many_raters(self.target_set, self.aspect)
            )

        def value(a: Floats, b: Floats) -> Mapping[str, Replicated]:
            # Raters' numbers are the same beside every judge.
            key = a.tobytes(), b.tobytes()
            if key not in self._rater_numbers:
                self._rater_numbers[key] = self.number(a, b)
            return {self.statistic: self._rater_numbers[key]}

        compared = as_rater(value, x, self._rater_tables, against=self.others)
        return compared_with_raters(self.study, compared[self.statistic], self.chance)
