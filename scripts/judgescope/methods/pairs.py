"""A judge's scores of originals and of their damaged copies, item by item."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from judgescope.methods.evaluation_data import EvaluationData, Floats, aligned
from judgescope.methods.specs import JudgeFacts
from judgescope.methods.undefined import Ends, too_long
from judgescope.statistics.discernment import exact_differences, mean_drop, rank_biserial
from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share

MOST_DRAWS = 20
"""Beyond this the least common multiple of 1..draws is too large for exact floats."""


@dataclass(frozen=True)
class Pairs:
    """A judge's scores of originals and of their damaged copies on one aspect, item by item."""

    study: EvaluationData
    original: Floats
    perturbed: Floats
    source: NDArray[np.int64]
    n_planned: int
    unit: int | None

    @cached_property
    def differences(self) -> NDArray[np.int64]:
        """Return original - perturbed, exact; shape (pairs,)."""
        return exact_differences(self.original, self.perturbed, self.unit)

    def estimates(self) -> dict[str, Estimate]:
        """Return the effect sizes: rank-biserial correlation, mean drop, net share of items."""
        weights = self.study.weights
        missing = self.n_planned - len(self.differences)
        found = {
            "rank_biserial": rank_biserial(self.differences, weights, self.source),
            "mean_drop": mean_drop(self.original, self.perturbed, self.source, weights),
            "net_share": net_share(self.differences, self.source),
        }
        return {name: replace(one, n_missing=missing) for name, one in found.items()}


def pairs_of(
    study: EvaluationData, found: Ends, perturbation: str, judge: str, *beside: str
) -> dict[str, Pairs]:
    """Return aspect -> pairs, without aspects on which no item has both scores.

    Only items that the judges `beside` were given, too. What is too long for a model's context
    is not a sample of the items: such a cell is not run at all (methods.md 1).
    """
    original, damaged = (
        study.panel(name).given(judge, *beside) for name in ("original", perturbation)
    )
    card = study.spec.judges[judge]
    told = {}
    for aspect in study.spec.aspects:
        before, after = original.scores(judge, aspect), damaged.scores(judge, aspect)
        if before is None or after is None or too_long(found, perturbation, judge, aspect):
            continue
        paired = aligned(dict(zip(damaged.items, after.tolist(), strict=True)), original.items)
        both = np.isfinite(before) & np.isfinite(paired)
        if both.any():
            texts = before[both], paired[both], original.source[both]
            told[aspect] = Pairs(study, *texts, len(before), unit_of(card, aspect))
    return told


def unit_of(card: JudgeFacts, aspect: str) -> int | None:
    """Return u such that every score is a multiple of 1/u; None: rounded to 9 decimals instead.

    So are means that probabilities weigh: they lie anywhere on the scale.
    """
    grid, draws = card.grid[aspect], card.draws
    if grid is None or card.weighted or draws > MOST_DRAWS:
        return None
    per_point = 1 / (grid[1] - grid[0])
    whole = per_point.is_integer() and all((value * per_point).is_integer() for value in grid)
    return lcm(*range(1, draws + 1)) * int(per_point) if whole else None
