"""Scores of texts whose order is known: does a judge score the better of two texts higher?

A sequence is texts of one source at places 0, 1, …, the best first; sequences may differ in length,
have gaps, and hold several texts at one place.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.means import replicated_share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Weights = NDArray[np.int64] | None
ORDERED: Final = {
    "strict": "accuracy_adjacent",
    "half": "accuracy_adjacent_half",
    "complete": "accuracy_adjacent_complete",
    "ties": "tie_rate",
}
"""The rules, and what each is called where texts are neighbours."""


class OrderedPairs(NamedTuple):
    """Two texts of a sequence at different places each: which they are, and their places; (pairs,).

    `better` and `worse` index the texts, `high` and `low` are the places of these two.
    """

    better: Codes
    worse: Codes
    high: Codes
    low: Codes

    def where(self, chosen: NDArray[np.bool_]) -> "OrderedPairs":
        """Return some of the pairs."""
        return OrderedPairs(*(column[chosen] for column in self))

    def apart(self, k: int) -> "OrderedPairs":
        """Return the pairs that are k places apart, I(k) of the perspectives paper."""
        return self.where(self.low - self.high == k)


def pairs_within(group: NDArray[Any]) -> tuple[Codes, Codes]:
    """Return the first and the second of every two members of a group: (members,) -> (pairs,)."""
    order = np.argsort(group, kind="stable")
    _, starts = np.unique(group[order], return_index=True)
    first, second = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for members in np.split(order, starts[1:]):
        i, j = np.triu_indices(members.size, 1)
        first.append(members[i])
        second.append(members[j])
    return np.concatenate(first), np.concatenate(second)


def places_of(ratings: Floats, source: Codes) -> Codes:
    """Return the place of each text among the different ratings of its source, 0 the highest.

    ratings and source (texts,), nothing missing; ratings 5, 5, 3, 1 of one source -> 0, 0, 1, 2.
    """
    met, code = np.unique(np.stack([source, -ratings], axis=1), axis=0, return_inverse=True)
    return np.asarray(code.ravel() - np.searchsorted(met[:, 0], source), dtype=np.int64)


def ordered_pairs(sequence: Codes, place: Codes) -> OrderedPairs:
    """Return all pairs of texts of one sequence at different places; sequence, place (texts,)."""
    i, j = pairs_within(sequence)
    better, worse = np.where(place[i] < place[j], [i, j], [j, i])
    pairs = OrderedPairs(better, worse, place[better], place[worse])
    return pairs.where(pairs.high < pairs.low)


def ordered_accuracy(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """Return sum [x_better > x_worse] / pairs under the four rules of ORDERED.

    scores and source (texts,), NaN = missing; weights (sources, sources) or None for no interval.
    `strict`: a tie or a missing score is wrong (perspectives paper, 3.2; pairs k places apart: its
    I(k)). `half`: a tie counts half, a pair with a missing score is left out. `complete`: strict
    over the pairs that have both scores. `ties`: the share of ties among those. Range 0 to 1; `n`
    counts the pairs used, `n_missing` those with a missing score, `n_tied` the ties. Undefined
    without a pair.
    """
    x, y, where = scores[pairs.better], scores[pairs.worse], source[pairs.better]
    known = ~(np.isnan(x) | np.isnan(y))
    right, tied = (x > y).astype(np.float64), (x == y).astype(np.float64)
    missing, ties = int((~known).sum()), int(tied.sum())
    ones = np.ones(known.size)
    return {
        rule: replicated_share(
            hits[used],
            ones[used],
            where[used],
            weights,
            missing=missing,
            tied=ties,
            scale=scale_of(name),
        )
        for (rule, name), hits, used in zip(
            ORDERED.items(),
            (right, right + tied / 2, right, tied),
            (ones > 0, known, known, known),
            strict=True,
        )
    }


def accuracy_by_step(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[int, dict[str, Replicated]]:
    """Return k -> `ordered_accuracy` of the pairs k places apart: I(k), perspectives paper, 5.4."""
    steps = np.unique(pairs.low - pairs.high).tolist()
    return {k: ordered_accuracy(scores, pairs.apart(k), source, weights) for k in steps}


def accuracy_grid(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[tuple[int, int], dict[str, Replicated]]:
    """Return (place, lower place) -> `ordered_accuracy`: perspectives paper, figure 5."""
    cells = sorted(set(zip(pairs.high.tolist(), pairs.low.tolist(), strict=True)))
    at = {(i, j): pairs.where((pairs.high == i) & (pairs.low == j)) for i, j in cells}
    return {cell: ordered_accuracy(scores, own, source, weights) for cell, own in at.items()}
