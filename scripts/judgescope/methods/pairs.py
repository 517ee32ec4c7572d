"""A judge's scores of originals and of their perturbed copies, and why a cell has none."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

import numpy as np

from judgescope.methods.evaluation_data import MADE, Codes, EvaluationData, Floats, aligned
from judgescope.methods.specs import JudgeFacts
from judgescope.parsing.parsers import CONTEXT
from judgescope.statistics.discernment import exact_differences, mean_drop, rank_biserial
from judgescope.statistics.result import Estimate
from judgescope.statistics.tango import net_share

MOST_DRAWS = 20
"""With more draws the least common multiple of 1..draws is too large for exact floats."""
NO_PAIRS = "no item has scores for both texts"


@dataclass(frozen=True)
class Pairs:
    """A judge's scores of originals and of their perturbed copies on one aspect, item by item."""

    study: EvaluationData
    original: Floats
    perturbed: Floats
    source: Codes
    n_planned: int
    unit: int | None

    @cached_property
    def differences(self) -> Codes:
        """Return original - perturbed, exact; shape (pairs,)."""
        return exact_differences(self.original, self.perturbed, self.unit)

    def estimates(self) -> dict[str, Estimate]:
        """Return the effect sizes: rank-biserial correlation, mean drop, net share of items."""
        weights = self.study.weights
        missing = self.n_planned - len(self.differences)
        estimates = {
            "rank_biserial": rank_biserial(self.differences, weights, self.source),
            "mean_drop": mean_drop(self.original, self.perturbed, self.source, weights),
            "net_share": net_share(self.differences, self.source),
        }
        return {name: replace(one, n_missing=missing) for name, one in estimates.items()}


def pairs_of(
    study: EvaluationData, perturbation: str, judge: str, *other_judges: str
) -> dict[str, Pairs]:
    """Return aspect -> pairs, without aspects on which no item has both scores.

    Only items that `other_judges` were given, too. Texts that are too long for a model's context
    are not a sample of the items: such a cell is not run at all (methods.md 1).
    """
    original, perturbed = (
        study.panel(name).given(judge, *other_judges) for name in ("original", perturbation)
    )
    card = study.spec.judges[judge]
    pairs = {}
    for aspect in study.spec.aspects:
        before, after = original.scores(judge, aspect), perturbed.scores(judge, aspect)
        if before is None or after is None or _too_long(study, perturbation, judge, aspect):
            continue
        after = aligned(dict(zip(perturbed.items, after.tolist(), strict=True)), original.items)
        both = np.isfinite(before) & np.isfinite(after)
        if both.any():
            scores = before[both], after[both], original.source[both]
            pairs[aspect] = Pairs(study, *scores, len(before), unit_of(card, aspect))
    return pairs


def unit_of(card: JudgeFacts, aspect: str) -> int | None:
    """Return u such that every score is a multiple of 1/u; None: scores are rounded to 9 decimals.

    Means weighted by probabilities have no unit: they lie anywhere on the scale.
    """
    grid, draws = card.grid[aspect], card.draws
    if grid is None or card.weighted or draws > MOST_DRAWS:
        return None
    per_point = 1 / (grid[1] - grid[0])
    whole = per_point.is_integer() and all((value * per_point).is_integer() for value in grid)
    return lcm(*range(1, draws + 1)) * int(per_point) if whole else None


def reasons(
    study: EvaluationData,
    perturbation: str,
    judge: str,
    aspects: Iterable[str],
    pairs: Mapping[str, Pairs],
) -> dict[str, Estimate]:
    """Return aspect -> the undefined estimate that says why it is not among the `pairs`."""
    aspects = [aspect for aspect in aspects if aspect not in pairs]
    if not aspects:
        return {}
    if excluded := study.excluded(perturbation).get(judge):
        return dict.fromkeys(aspects, Estimate.undefined(excluded))
    outcomes = Counter(study.panel(perturbation).outcomes)
    if not MADE & set(outcomes):
        counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        why = f"no text could be made ({counted or 'none planned'})"
        return dict.fromkeys(aspects, Estimate.undefined(why))
    return {aspect: nothing_judged(study, perturbation, judge, aspect) for aspect in aspects}


def nothing_judged(study: EvaluationData, perturbation: str, judge: str, aspect: str) -> Estimate:
    """Return the undefined estimate of a cell in which no item has both scores.

    The note says whether the judge could not be asked at all, or how its replies were parsed.
    """
    if count := _too_long(study, perturbation, judge, aspect):
        return Estimate.undefined(f"not run: context ({count} requests are too long for the model)")
    for name in ("original", perturbation):
        cell = study.status_counts.get((name, judge, aspect), Counter())
        statuses = {status for status, _ in cell}
        if cell and "ok" not in statuses:
            rules = ", ".join(sorted({rule or status for status, rule in cell}))
            only = statuses == {"not_applicable"}
            why = f"not applicable: {rules}" if only else f"no reply could be read: {rules}"
            return Estimate.undefined(why, n_missing=cell.total())
    return Estimate.undefined(NO_PAIRS)


def _too_long(study: EvaluationData, perturbation: str, judge: str, aspect: str) -> int:
    """Return how many requests on originals and perturbed texts exceed the model's context."""
    counts = study.status_counts
    cells = (counts.get((name, judge, aspect)) for name in ("original", perturbation))
    return sum(cell["error", CONTEXT] for cell in cells if cell)
