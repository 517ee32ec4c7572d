"""Would a taste for systems that has nothing to do with quality do as well?

Where texts come from five systems or more, a judge's columns (systems) are permuted jointly over
all sources; with fewer systems a claim holds for these systems alone, and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.claims.base import LOST, SYSTEMS, Claim
from judgescope.methods.evaluation_data import Codes, EvaluationData, Floats
from judgescope.statistics.nulls import (
    FEWEST_SYSTEMS,
    LEAST_FILLED,
    filled,
    p_moved,
    system_permutations,
)

THESE_SYSTEMS, FEW = "these_systems", "few_systems"
"""Reasons: the claim holds for these systems alone, or rests on few (with their number)."""
Statistic = Callable[[Codes], Floats]
MANY: Final = 8
"""A claim that rests on fewer systems says so."""


@dataclass(frozen=True, eq=False)
class Tastes:
    """The systems of the rated texts; source and system (texts,)."""

    study: EvaluationData
    source: Codes
    system: Codes

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Return the reason that says on how few systems claims rest; none of texts of one."""
        m = np.unique(self.system).size
        if m < 2 or (m >= MANY and self.drawn is not None):
            return ()
        return (f"{THESE_SYSTEMS if self.drawn is None else FEW}: {m}",)

    @cached_property
    def drawn(self) -> Codes | None:
        """Return the permutations of systems, None where too few of them or cells are there."""
        m = np.unique(self.system).size
        if m < FEWEST_SYSTEMS or filled(self.source, self.system) < LEAST_FILLED:
            return None
        rng = stream(self.study.spec.seed, "claims", self.study.dataset, "systems", m)
        return system_permutations(m, rng)

    def tested(self, claim: Claim, statistic: Statistic, worst: Statistic, cells: int = 0) -> Claim:
        """Return the claim with the null of a taste, and on how few systems it rests.

        statistic, cells: as `p_moved` has them, of the rated texts; worst: the statistic with lost
        judgments at the worst end, asked where `claim` has that null.
        """
        claim = replace(claim, reasons=(*claim.reasons, *self.rests_on))
        if self.drawn is None:
            return claim
        place = self.source, self.system, self.drawn, cells
        nulls = {**claim.nulls, SYSTEMS: p_moved(statistic, *place)}
        if LOST in nulls:
            nulls[LOST] = float(np.max([nulls[LOST], p_moved(worst, *place)]))
        return replace(claim, nulls=nulls)
