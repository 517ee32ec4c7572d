"""Judges that choose between two texts: order, place, circles, and whom the votes favour."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.means import share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.result import Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Weights = NDArray[np.int64] | None


def order_consistency(first: Floats, second: Floats, source: Codes, weights: Weights) -> Estimate:
    """Return the share of pairs whose verdict stays when the two texts change places.

    first, second (pairs,): the vote in either order for the same text, 1, or against it, -1, 0 for
    neither; NaN = missing (a pair without both counts in `n_missing`).
    """
    both = ~(np.isnan(first) | np.isnan(second))
    hits = (first == second)[both].astype(np.float64)
    missing = int(both.size - both.sum())
    return share(hits, np.ones(hits.size), source[both], weights, missing)


def first_position_rate(votes: Floats, source: Codes, weights: Weights) -> Estimate:
    """Return the share of decided votes that are for the text that was shown first.

    votes (votes,): 1 for the first text, -1 for the second, 0 for neither, NaN = missing. In both
    orders of every pair, a judge without a bias to a place has .5. `n` counts decided votes,
    `n_tied` the undecided, `n_missing` the missing.
    """
    decided = ~np.isnan(votes) & (votes != 0)
    hits = (votes[decided] > 0).astype(np.float64)
    missing = int(np.isnan(votes).sum())
    found = share(hits, np.ones(hits.size), source[decided], weights, missing)
    tied = int(np.count_nonzero(votes == 0))
    return replace(found, n_tied=tied)


def nontransitive_share(verdict: Floats, source: Codes, weights: Weights) -> Estimate:
    """Return the share of triples of an item's texts that are preferred in a circle.

    verdict (items, texts, texts): 1 where the first text is better than the second, -1 where worse,
    0 for neither, NaN where unknown; source (items,). `n` counts triples with three decided
    verdicts, `n_missing` the others.
    """
    hits, total, missing = np.zeros(len(verdict)), np.zeros(len(verdict)), 0
    for a, b, c in combinations(range(verdict.shape[1]), 3):
        ring = np.stack([verdict[:, a, b], verdict[:, b, c], verdict[:, c, a]])
        decided = np.all(np.abs(ring) == 1, axis=0)
        missing += int(np.sum(~decided))
        total += decided
        hits += decided & (np.abs(ring.sum(axis=0)) == 3)
    return share(hits, total, source, weights, missing)


def verdicts(first: Codes, second: Codes, neither: Codes) -> Floats:
    """Return whom the votes on each pair favour: 1 the first text, -1 the second, 0 neither.

    A text is favoured if its votes exceed each of the others. first, second, neither (pairs,): the
    votes of both orders and all draws. NaN without a vote. Perspectives paper, 5.4 and A.4.
    """
    ahead = (first > np.maximum(second, neither)).astype(np.float64)
    behind = second > np.maximum(first, neither)
    return np.where(first + second + neither > 0, ahead - behind, np.nan)


def comparison_accuracy(
    verdict: Floats, truth: Floats, source: Codes, weights: Weights
) -> dict[str, Estimate]:
    """Return sum [verdict = truth] / pairs of direct comparisons, over pairs with a better text.

    verdict (pairs,) as `verdicts` has it; truth (pairs,): the same of people or of what was done to
    the texts, 0 or NaN where no text is known to be better (left out); source (pairs,).
    `accuracy_comparison`: a verdict for neither is wrong (perspectives paper, 5.4).
    `accuracy_comparison_half`: it counts half. A pair without a verdict is left out of both.
    `tie_rate`: the share of verdicts for neither. Range 0 to 1; `n` counts the pairs used,
    `n_missing` those without a verdict.
    """
    asked = np.isfinite(truth) & (truth != 0)
    known = asked & ~np.isnan(verdict)
    right, tied = ((v & known).astype(np.float64) for v in (verdict == truth, verdict == 0))
    missing, ones = int(asked.sum() - known.sum()), np.ones(truth.size)
    told = {
        "accuracy_comparison": (right, known),
        "accuracy_comparison_half": (right + tied / 2, known),
        "tie_rate": (tied, known),
    }
    return {
        name: share(hits[used], ones[used], source[used], weights, missing, scale=scale_of(name))
        for name, (hits, used) in told.items()
    }
