"""Judges that choose between two texts, and scores of texts whose order is known."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate
from metajudge.statistics.means import share

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


def aggregate_votes(better: Codes, worse: Codes, tied: Codes) -> NDArray[np.bool_]:
    """Return whether a direct comparison found the right order of each pair: (pairs,).

    better, worse, tied (pairs,): the votes of both orders and all draws for the right order, for
    the wrong one, and for neither. Right only if the votes for the right order exceed each of the
    others. Perspectives paper, direct comparison.
    """
    return np.asarray((better > worse) & (better > tied))


def ordered_accuracy(
    scores: Floats, source: Codes, weights: Weights, *, step: int = 1
) -> dict[str, Estimate]:
    """Return how often of two texts `step` places apart the better one scores higher.

    scores (sequences, places), best text first, NaN = missing; source (sequences,). `strict`: a tie
    or a missing score is wrong (perspectives paper, local evaluation; at step k its I(k)); `half`:
    a tie counts half, a missing score is left out; `complete`: strict over the pairs that have
    both; `tie_rate`: ties among those. `n` counts the pairs used, `n_missing` those with a missing
    score, `n_tied` the ties.
    """
    better, worse = scores[:, :-step], scores[:, step:]
    planned = np.full(len(scores), float(better.shape[1]))
    known = ~(np.isnan(better) | np.isnan(worse))
    right, tied = (np.sum(v & known, axis=1) for v in (better > worse, better == worse))
    pairs = known.sum(axis=1).astype(np.float64)
    missing, ties = int(planned.sum() - pairs.sum()), int(tied.sum())
    found = {
        "strict": share(right.astype(float), planned, source, weights, missing),
        "half": share(right + tied / 2, pairs, source, weights, missing),
        "complete": share(right.astype(float), pairs, source, weights, missing),
        "tie_rate": share(tied.astype(float), pairs, source, weights, missing),
    }
    return {name: replace(one, n_tied=ties) for name, one in found.items()}


def accuracy_grid(scores: Floats) -> Floats:
    """Return, for each two places, the share of sequences that score the better one higher.

    scores (sequences, places) as above; (places, places), NaN on and below the diagonal and where
    no sequence has both. Ties are wrong. Perspectives paper, the grid over all pairs.
    """
    better, worse = scores[:, :, None], scores[:, None, :]
    known = ~(np.isnan(better) | np.isnan(worse))
    with np.errstate(invalid="ignore"):
        grid = np.sum((better > worse) & known, axis=0) / known.sum(axis=0)
    return np.where(np.tri(scores.shape[1], dtype=bool), np.nan, grid)
