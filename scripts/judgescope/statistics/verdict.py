"""What the p-values of one judge's claims of a kind come to: Holm's correction, step by step.

A claim holds a step only if it is significant against each of the step's null hypotheses (an
intersection-union test: its p is the largest), after Holm's correction over the claims of one
judge, dataset and kind. The next step is asked only of claims that hold the one before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan
from typing import Final

import numpy as np

from judgescope.statistics.multiple import holm

LEVEL: Final = 0.025
"""The one-sided level of every claim: the same as of the 95 % interval that is shown."""
FEW_LOST, MOST_LOST = 0.05, 0.2
"""Above the first share of lost judgments a claim must hold with them at the worst end, too; above
the second there is no claim."""
HOLM: Final = "holm"
"""The reason of a claim that only the correction undoes."""
NO_INTERVAL: Final = "no_interval"
"""The reason where no p can be computed: too few sources, or one on which the value hangs."""


class Outcome(StrEnum):
    """What is said of a claim; `STEPS` has those that lie on the way from chance to a bar."""

    NO_CLAIM = "no_claim"
    BELOW = "below"
    NOT_SHOWN = "not_shown"
    BETTER = "better"
    AS_RATER = "as_rater"
    MISSES = "misses"
    CANNOT_TELL = "cannot_tell"
    MEETS = "meets"
    NOTICED = "noticed"
    WITHSTANDS = "withstands"
    SWAYED = "swayed"


STEPS: Final = {
    Outcome.BELOW: 0,
    Outcome.NOT_SHOWN: 1,
    Outcome.BETTER: 2,
    Outcome.AS_RATER: 3,
    Outcome.MISSES: 0,
    Outcome.CANNOT_TELL: 1,
    Outcome.MEETS: 4,
    Outcome.NOTICED: 2,
    Outcome.WITHSTANDS: 2,
    Outcome.SWAYED: 0,
}
"""Outcome -> the number of the step in the tables; none where there is no claim."""


@dataclass(frozen=True)
class Evidence:
    """The p-values of one claim, all one-sided and raw.

    `nulls` has a name for each null hypothesis of the first step -> its p (NaN: not computable);
    `rater` is the p of being worse than one more rater by the margin or more, NaN where that is
    not known; `bar` says that the only null is a stated bar, so the outcome is met or missed.
    `below` names the nulls against whose opposite the claim is tested, too (p >= 1 - LEVEL: worse).
    """

    nulls: Mapping[str, float]
    rater: float = nan
    bar: bool = False
    below: tuple[str, ...] = ("chance", "length", "brevity", "index", "bar")

    @property
    def p(self) -> float:
        """Return the p of the claim: the largest over its nulls, NaN if one is not computable."""
        values = list(self.nulls.values())
        return max(values) if values and not any(map(isnan, values)) else nan


@dataclass(frozen=True)
class Verdict:
    """What is said of a claim, why, and its p after Holm's correction over `family` claims."""

    outcome: Outcome
    reasons: tuple[str, ...]
    p: float
    adjusted: float
    family: int


def verdicts(family: Sequence[Evidence]) -> list[Verdict]:
    """Return the verdict on each claim of one judge, dataset and kind, in their order.

    Reasons are the nulls that are not rejected, or `holm` where only the correction undoes the
    claim. Sources: Holm 1979; Berger 1982 (intersection-union).
    """
    p = np.array([one.p for one in family], dtype=np.float64)
    adjusted = holm(p)
    tested = int(np.count_nonzero(~np.isnan(p)))
    better = [bool(value <= LEVEL) for value in adjusted]  # NaN is not
    rated = np.array([e.rater if yes else nan for e, yes in zip(family, better, strict=True)])
    as_good = holm(rated) <= LEVEL
    return [
        Verdict(*_outcome(one, bool(yes), bool(good)), float(raw), float(corrected), tested)
        for one, yes, good, raw, corrected in zip(family, better, as_good, p, adjusted, strict=True)
    ]


def _outcome(claim: Evidence, better: bool, as_good: bool) -> tuple[Outcome, tuple[str, ...]]:
    if isnan(claim.p):
        return Outcome.NO_CLAIM, (NO_INTERVAL,)
    if better:
        if claim.bar:
            return Outcome.MEETS, ()
        return (Outcome.AS_RATER if as_good else Outcome.BETTER), ()
    worse = tuple(n for n, p in claim.nulls.items() if n in claim.below and p >= 1 - LEVEL)
    if worse:
        return (Outcome.MISSES if claim.bar else Outcome.BELOW), worse
    left = tuple(name for name, p in claim.nulls.items() if p > LEVEL) or (HOLM,)
    return (Outcome.CANNOT_TELL if claim.bar else Outcome.NOT_SHOWN), left
