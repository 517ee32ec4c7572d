"""Order of texts: does a judge score, or choose, the better of two texts?

A sequence is texts of one source at places 0, 1, …, the best first; sequences may
differ in length, have gaps, and hold several texts at one place.
"""

from dataclasses import replace
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.declared import (
    accuracy,
    agreement,
    declare,
    percent,
    undesired,
)
from judgescope.statistics.means import clustered_mean, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

WRONG_VERDICT: Final = 2.0
"""A verdict on a pair that differs from any truth: for neither text, and not a tie."""
DECLARED = declare(
    "pairs",
    order_consistency=percent(
        "Consistent",
        "share of pairs with the same verdict in both orders",
        "Hu et al. 2025",
    ),
    first_position_rate=percent(
        "First text chosen", "share of decided votes for the text shown first"
    ),
    nontransitive_share=undesired(
        "Circles",
        "share of triples with three decided verdicts that form a circle: A beats B, "
        "B beats C, C beats A",
        "Kendall, Babington Smith 1940",
    ),
    accuracy_comparison=accuracy(
        "Right",
        "share of compared pairs ordered as people do; a tie is wrong",
        "Hu et al. 2025",
        ties="wrong",
    ),
    accuracy_both_orders=accuracy(
        "Right in both orders",
        "share of compared pairs ordered as people do, whichever text is shown first; "
        "a tie is wrong",
        ties="wrong",
    ),
    best_of_n=percent(
        "Best of n",
        "share of items with three or more texts where the text with the most points "
        "from its comparisons is people's best; texts that share the lead count in "
        "part",
    ),
    accuracy_comparison_half=accuracy(
        "Right, ties half",
        "share of compared pairs ordered as people do; a tie is half right",
        ties="half",
    ),
    accuracy_comparison_decided=accuracy(
        "Right, ties left out",
        "share of compared pairs with a verdict for either text that are ordered as "
        "people do",
        ties="left out",
    ),
    accuracy_comparison_by_distance=accuracy(
        "Right at k",
        "share of a chain's pairs, k errors apart, that the comparison orders "
        "correctly; a tie is wrong",
        "Hu et al. 2025, section 5.4",
        ties="wrong",
    ),
)
DECLARED += declare(
    "order",
    accuracy_adjacent=accuracy(
        "Ordered right",
        "share of neighbours in a known order whose better text scores higher; a tie "
        "or a missing score is wrong",
        "Hu et al. 2025, section 3.2",
        ties="wrong",
    ),
    accuracy_adjacent_half=accuracy(
        "Ordered right, ties half",
        "share of a chain's adjacent texts in the right order; a tie counts half, a "
        "missing score is left out",
        ties="half",
    ),
    accuracy_adjacent_complete=accuracy(
        "Ordered right, both scored",
        "share of a chain's adjacent texts in the right order; a tie is wrong, a "
        "missing score is left out",
        ties="wrong",
    ),
    accuracy_by_distance=accuracy(
        "Ordered right at k",
        "share of pairs of texts k positions apart in the right order; for k = 1 it "
        "equals accuracy_adjacent",
        "Hu et al. 2025, section 5.4",
        ties="wrong",
    ),
    accuracy_by_position=accuracy(
        "Ordered right, k and k_b",
        "share of pairs of texts at positions k and k_b of a chain in the right "
        "order; 0 is the original",
        "Hu et al. 2025, figure 5",
        ties="wrong",
    ),
)
DECLARED += declare(
    "ties",
    kappa_orders=agreement(
        "κ of both orders", "agreement of the verdicts in both orders, beyond chance"
    ),
    tie_rate=undesired(
        "Ties", "share of pairs with equal scores, or with a tie as verdict"
    ),
)


STRICT: Final = "accuracy_adjacent"
ORDERED: Final = (
    STRICT,
    "accuracy_adjacent_half",
    "accuracy_adjacent_complete",
    "tie_rate",
)
"""The statistics of `ordered_accuracy`, as they are called where texts are
neighbours."""


class OrderedPairs(NamedTuple):
    """Two texts of a sequence at different places each: which they are, and their
    places; (pairs,).

    `better` and `worse` index the texts, `high` and `low` are the places of these two.
    """

    better: Codes
    worse: Codes
    high: Codes
    low: Codes

    def where(self, chosen: Flags) -> "OrderedPairs":
        """Some of the pairs."""
        return OrderedPairs(*(column[chosen] for column in self))

    def at_distance(self, k: int) -> "OrderedPairs":
        """The pairs that are k places apart, I(k) of (Hu et al. 2025, section
        5.4).
        """
        return self.where(self.low - self.high == k)


def pairs_within(group: NDArray[Any]) -> tuple[Codes, Codes]:
    """The first and the second of every two members of a group: (members,) ->
    (pairs,).

    >>> first, second = pairs_within(np.array([0, 1, 0, 0]))
    >>> first.tolist(), second.tolist()
    ([0, 0, 2], [2, 3, 3])
    """
    order = np.argsort(group, kind="stable")
    _, starts = np.unique(group[order], return_index=True)
    first = [np.empty(0, np.int64)]
    second = [np.empty(0, np.int64)]
    for members in np.split(order, starts[1:]):
        i, j = np.triu_indices(members.size, 1)
        first.append(members[i])
        second.append(members[j])
    return np.concatenate(first), np.concatenate(second)


def places_of(ratings: Floats, source: Codes) -> Codes:
    """The place of each text among the different ratings of its source, 0 the
    highest.

    ratings and source (texts,), nothing missing; ratings 5, 5, 3, 1 of one source -> 0,
    0, 1, 2.

    >>> places_of(np.array([5.0, 5.0, 3.0, 1.0]), np.zeros(4, dtype=np.int64)).tolist()
    [0, 0, 1, 2]
    """
    met, code = np.unique(
        np.stack([source, -ratings], axis=1), axis=0, return_inverse=True
    )
    return np.asarray(code.ravel() - np.searchsorted(met[:, 0], source), dtype=np.int64)


def ordered_pairs(sequence: Codes, position: Codes) -> OrderedPairs:
    """All pairs of texts of one sequence at different places; sequence, place
    (texts,).

    >>> pairs = ordered_pairs(np.array([0, 0, 0]), np.array([0, 1, 1]))
    >>> pairs.better.tolist(), pairs.worse.tolist()
    ([0, 0], [1, 2])
    """
    i, j = pairs_within(sequence)
    in_order = position[i] < position[j]
    better = np.where(in_order, i, j)
    worse = np.where(in_order, j, i)
    pairs = OrderedPairs(better, worse, position[better], position[worse])
    return pairs.where(pairs.high < pairs.low)


def ordered_accuracy(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[str, Replicated]:
    """sum [x_better > x_worse] / pairs under the four rules of ORDERED, by name.

    scores and source (texts,), NaN = missing; weights (sources, sources) or None for no
    interval. STRICT: a tie or a missing score is wrong (Hu et al. 2025, section 3.2; of
    pairs k places apart: its I(k)). Half: a tie counts half, a pair with a missing
    score is left out. Complete: strict over the pairs that have both scores. Tie rate:
    the share of ties among those. Range 0 to 1; `n` counts the pairs used, `n_missing`
    those with a missing score, `n_tied` the ties. Undefined without a pair.

    >>> pairs = ordered_pairs(np.array([0, 0, 0]), np.array([0, 1, 2]))
    >>> scores = np.array([3.0, 2.0, 2.0])
    >>> results = ordered_accuracy(scores, pairs, np.array([0, 0, 0]), None)
    >>> [round(results[name].estimate.value, 3) for name in ORDERED]
    [0.667, 0.833, 0.667, 0.333]
    """
    x = scores[pairs.better]
    y = scores[pairs.worse]
    where = source[pairs.better]
    known = ~(np.isnan(x) | np.isnan(y))
    right = x > y
    tied = x == y
    missing = int((~known).sum())
    ties = int(tied.sum())
    every = np.ones_like(known)
    rules = ((right, every), (right + tied / 2, known), (right, known), (tied, known))
    return {
        name: clustered_mean(
            hits[used], where[used], weights, missing, tied=ties, scale=scale_of(name)
        )
        for name, (hits, used) in zip(ORDERED, rules, strict=True)
    }


def accuracy_by_step(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[int, dict[str, Replicated]]:
    """k -> `ordered_accuracy` of pairs k places apart: I(k), (Hu et al. 2025, 5.4).

    >>> pairs = ordered_pairs(np.array([0, 0, 0]), np.array([0, 1, 2]))
    >>> scores = np.array([3.0, 1.0, 2.0])
    >>> steps = accuracy_by_step(scores, pairs, np.array([0, 0, 0]), None)
    >>> {k: of[STRICT].estimate.value for k, of in steps.items()}
    {1: 0.5, 2: 1.0}
    """
    by_step = {}
    for k in np.unique(pairs.low - pairs.high).tolist():
        at_distance = pairs.at_distance(k)
        by_step[k] = ordered_accuracy(scores, at_distance, source, weights)
    return by_step


def accuracy_grid(
    scores: Floats, pairs: OrderedPairs, source: Codes, weights: Weights
) -> dict[tuple[int, int], dict[str, Replicated]]:
    """(place, lower place) -> `ordered_accuracy`. (Hu et al. 2025, figure 5)

    >>> pairs = ordered_pairs(np.array([0, 0, 0]), np.array([0, 1, 2]))
    >>> scores = np.array([3.0, 1.0, 2.0])
    >>> grid = accuracy_grid(scores, pairs, np.array([0, 0, 0]), None)
    >>> {cell: of[STRICT].estimate.value for cell, of in grid.items()}
    {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 0.0}
    """
    cells = set(zip(pairs.high.tolist(), pairs.low.tolist(), strict=True))
    by_cell = {}
    for high, low in sorted(cells):
        at_cell = pairs.where((pairs.high == high) & (pairs.low == low))
        by_cell[high, low] = ordered_accuracy(scores, at_cell, source, weights)
    return by_cell


def order_consistency(
    first: Floats, second: Floats, source: Codes, weights: Weights
) -> Estimate:
    """The share of pairs whose verdict stays when the two texts change places.

    first, second (pairs,): the vote in either order for the same text, 1, or against
    it, -1, 0 for neither; NaN = missing (a pair without both counts in `n_missing`). A
    WRONG_VERDICT is equal to no other.

    >>> first = np.array([1.0, -1.0, 0.0, np.nan])
    >>> second = np.array([1.0, 1.0, 0.0, 1.0])
    >>> result = order_consistency(first, second, np.arange(4), None)
    >>> round(result.value, 3), result.n_missing
    (0.667, 1)
    """
    equal = (first == second) & (first != WRONG_VERDICT)
    hits = np.where(np.isnan(first) | np.isnan(second), np.nan, equal)
    return clustered_mean(hits, source, weights).estimate


def first_position_rate(votes: Floats, source: Codes, weights: Weights) -> Estimate:
    """The share of decided votes that are for the text that was shown first.

    votes (votes,): 1 for the first text, -1 for the second, 0 for neither, NaN =
    missing. In both orders of every pair, a judge without a bias to a place has .5. `n`
    counts decided votes, `n_tied` the undecided, `n_missing` the missing.

    >>> votes = np.array([1.0, 1.0, -1.0, 0.0])
    >>> result = first_position_rate(votes, np.arange(4), None)
    >>> round(result.value, 3), result.n_tied
    (0.667, 1)
    """
    undecided = votes == 0
    hits = np.where(np.isnan(votes), np.nan, votes > 0)[~undecided]
    result = clustered_mean(hits, source[~undecided], weights).estimate
    return replace(result, n_tied=int(undecided.sum()))


def nontransitive_share(verdict: Floats, source: Codes, weights: Weights) -> Estimate:
    """The share of triples of an item's texts that are preferred in a circle.

    verdict (items, texts, texts): 1 where the first text is better than the second, -1
    where worse, 0 for neither, NaN where unknown; source (items,). `n` counts triples
    with three decided verdicts, `n_missing` the others.

    >>> circle = np.array([[[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]]])
    >>> nontransitive_share(circle, np.array([0]), None).value
    1.0
    """
    hits = np.zeros(len(verdict))
    total = np.zeros(len(verdict))
    missing = 0
    for a, b, c in combinations(range(verdict.shape[1]), 3):
        ring = np.stack([verdict[:, a, b], verdict[:, b, c], verdict[:, c, a]])
        decided = np.all(np.abs(ring) == 1, axis=0)
        missing += int(np.sum(~decided))
        total += decided
        hits += decided & (np.abs(ring.sum(axis=0)) == 3)
    return share(hits, total, source, weights, missing).estimate


def joined_orders(
    listed: Floats, swapped: Floats, rule: Literal["both", "net", "strict"]
) -> Floats:
    """One verdict on each pair from its verdicts in two orders; (pairs,) each.

    Verdicts are 1 for the first text, -1 for the second, 0 for neither, whichever was
    shown first. both: the choice of both orders, else neither. net: the sign of their
    sum (JudgeBench: Tan et al. 2024). strict: the choice of both orders, else
    WRONG_VERDICT. NaN if a verdict is missing.

    >>> a, b = np.array([1.0, 1, 1, 0, 0, -1]), np.array([1.0, 0, -1, 0, -1, -1])
    >>> joined_orders(a, b, "both").astype(int).tolist()
    [1, 0, 0, 0, 0, -1]
    >>> joined_orders(a, b, "net").astype(int).tolist()
    [1, 1, 0, 0, -1, -1]
    >>> joined_orders(a, b, "strict").astype(int).tolist()
    [1, 2, 2, 2, 2, -1]
    """
    if rule == "net":
        return np.asarray(np.sign(listed + swapped), dtype=np.float64)
    alike = (listed == swapped) & (listed != 0)
    other = np.where(alike, listed, WRONG_VERDICT if rule == "strict" else 0.0)
    return np.where(np.isnan(listed) | np.isnan(swapped), np.nan, other)


def against_truth(verdict: Floats, truth: Floats) -> Floats:
    """Verdicts with each WRONG_VERDICT for the text that is not the better one.

    verdict, truth (pairs,): 1, -1, 0 or NaN; where no text is known to be better, a
    wrong verdict is for neither.

    >>> truth = np.array([1.0, -1, np.nan, -1])
    >>> against_truth(np.array([2.0, 2, 2, 1]), truth).tolist()
    [-1.0, 1.0, 0.0, 1.0]
    """
    wrong = np.where(np.isnan(truth), 0.0, 0.0 - np.sign(truth))
    return np.where(verdict == WRONG_VERDICT, wrong, verdict)


def verdicts(first: Codes, second: Codes, neither: Codes) -> Floats:
    """Whom the votes on each pair favour: 1 the first text, -1 the second, 0
    neither.

    A text is favoured if its votes exceed each of the others. first, second, neither
    (pairs,): the votes of both orders and all draws. NaN without a vote. (Hu et al.
    2025, 5.4 and A.4)

    >>> first, second = np.array([3, 1, 2]), np.array([1, 1, 2])
    >>> verdicts(first, second, np.array([1, 0, 0])).tolist()
    [1.0, 0.0, 0.0]
    """
    votes = first + second + neither
    ahead = first > np.maximum(second, neither)
    behind = second > np.maximum(first, neither)
    favoured = ahead.astype(np.float64) - behind
    return np.where(votes > 0, favoured, np.nan)


def comparison_accuracy(
    verdict: Floats, truth: Floats, source: Codes, weights: Weights
) -> dict[str, Estimate]:
    """sum [verdict = truth] / pairs of direct comparisons, over pairs with a
    better text.

    verdict (pairs,) as `verdicts` has it; truth (pairs,): the same of people or of what
    was done to the texts, 0 or NaN where no text is known to be better (left out);
    source (pairs,). `accuracy_comparison`: a verdict for neither is wrong (Hu et al.
    2025, 5.4). `accuracy_comparison_half`: it counts half; a WRONG_VERDICT does not.
    `accuracy_comparison_decided`: it is left out. A pair without a verdict is left out
    of all. `tie_rate`: the share of verdicts for neither. Range 0 to 1; `n` counts the
    pairs used, `n_missing` those without a verdict.

    >>> verdict = np.array([1.0, 0.0, -1.0])
    >>> truth = np.array([1.0, 1.0, 1.0])
    >>> results = comparison_accuracy(verdict, truth, np.arange(3), None)
    >>> [round(result.value, 3) for result in results.values()]
    [0.333, 0.5, 0.5, 0.333]
    """
    asked, known = _asked(truth, verdict)
    right = (verdict == truth)[known]
    tied = (verdict == 0)[known]
    missing = int(asked.sum() - known.sum())
    every = np.ones(right.size, dtype=bool)
    rules = {
        "accuracy_comparison": (right, every),
        "accuracy_comparison_half": (right + tied / 2, every),
        "accuracy_comparison_decided": (right, ~tied),
        "tie_rate": (tied, every),
    }
    results = {}
    for name, (hits, used) in rules.items():
        where = source[known][used]
        scale = scale_of(name)
        mean = clustered_mean(hits[used], where, weights, missing, scale=scale)
        results[name] = mean.estimate
    return results


def right_in_both_orders(
    listed: Floats, swapped: Floats, truth: Floats, source: Codes, weights: Weights
) -> Estimate:
    """sum [both verdicts = truth] / pairs of which the judge saw both orders.

    listed, swapped (pairs,): the verdict on the same two texts in either order, NaN =
    missing; truth as in `comparison_accuracy`. `n_missing` counts pairs without one of
    the verdicts.

    >>> listed = np.array([1.0, 1.0])
    >>> swapped = np.array([1.0, -1.0])
    >>> right_in_both_orders(listed, swapped, np.ones(2), np.arange(2), None).value
    0.5
    """
    asked, known = _asked(truth, listed + swapped)
    hits = ((listed == truth) & (swapped == truth))[known]
    missing = int(asked.sum() - known.sum())
    scale = scale_of("accuracy_both_orders")
    return clustered_mean(hits, source[known], weights, missing, scale=scale).estimate


def ordered_systems(
    verdict: Floats, ahead: Floats, first: Codes, second: Codes
) -> Estimate:
    """The share of pairs of systems of which net verdicts favour the one that
    people do.

    verdict (pairs,): 1, -1, 0 or NaN; ahead (pairs,): how much better people find the
    first text, NaN unknown; first, second (pairs,): the systems. A pair of systems
    whose sum of `ahead` is 0 is left out; a sum of verdicts of 0 is wrong. Both sums
    are over the texts that have both. No interval: pairs of systems share systems.
    Undefined without a pair.

    >>> verdict = np.array([1.0, 1.0, -1.0])
    >>> ahead = np.array([0.5, 1.0, 2.0])
    >>> first, second = np.array([0, 0, 1]), np.array([1, 1, 2])
    >>> ordered_systems(verdict, ahead, first, second).value
    0.5
    """
    known = ~(np.isnan(verdict) | np.isnan(ahead))
    sign = np.where(first < second, 1, -1)[known]
    names = np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1)[
        known
    ]
    kinds, code = np.unique(names, axis=0, return_inverse=True)
    judge = np.bincount(code.ravel(), sign * verdict[known], minlength=len(kinds))
    people = np.bincount(code.ravel(), sign * ahead[known], minlength=len(kinds))
    decided = ~np.isclose(people, 0)
    n = int(decided.sum())
    method = "pairs of systems, by their net verdicts"
    if not n:
        return Estimate.undefined(
            "no pair of systems that people tell apart", method=method
        )
    right = (np.sign(judge) == np.sign(people))[decided]
    tied = int((judge == 0)[decided].sum())
    missing = int(np.isfinite(ahead).sum() - known.sum())
    return Estimate(
        float(right.mean()), n=n, n_missing=missing, n_tied=tied, method=method
    )


def best_of_n(
    verdict: Floats,
    ahead: Floats,
    pair: tuple[Codes, Codes],
    source: Codes,
    weights: Weights,
) -> Estimate:
    """The mean over items of [people's best is among the judge's best] / (number
    of these).

    The best texts of an item have the most points: 1 for each pair that is won, 1/2 for
    a tie. verdict (pairs,): 1 for the first text, -1, 0 or NaN; ahead (pairs,):
    people's net votes for the first; pair: the texts' codes, (pairs,) each; source
    (pairs,): the item. An item of fewer than three compared texts is left out, one with
    several best texts by people too (`n_tied`), and one with a pair without a verdict
    (`n_missing`). By chance 1 / n. Undefined without an item.

    >>> first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> people = np.array([1.0, 1.0, 1.0])  # text 0 is best
    >>> judge = np.array([0.0, 1.0, 1.0])  # texts 0 and 1 share the lead
    >>> item = np.zeros(3, dtype=np.int64)
    >>> best_of_n(judge, people, (first, second), item, None).value
    0.5
    """
    hits = list[float]()
    items = list[int]()
    missing = 0
    tied = 0
    for item in np.unique(source[np.isfinite(ahead)]).tolist():
        compared = (source == item) & np.isfinite(ahead)
        texts, code = np.unique(
            np.stack([each[compared] for each in pair]), return_inverse=True
        )
        if texts.size < 3:  # the better of two texts is not a best of n
            continue
        sides = code.reshape(2, -1)
        judge = _points(sides, verdict[compared], texts.size)
        people = _points(sides, np.sign(ahead[compared]), texts.size)
        best = people == people.max()
        if np.isnan(judge).any():
            missing += 1
        elif best.sum() > 1:
            tied += 1
        else:
            chosen = judge == judge.max()
            hits.append(float((chosen & best).any() / chosen.sum()))
            items.append(item)
    codes = np.array(items, dtype=np.int64)
    return clustered_mean(np.array(hits), codes, weights, missing, tied=tied).estimate


def _points(sides: Codes, won: Floats, texts: int) -> Floats:
    """1 for each pair that a text wins, 1/2 for a tie: (texts,)."""
    of_first = np.bincount(sides[0], (1 + won) / 2, texts)
    return np.asarray(of_first + np.bincount(sides[1], (1 - won) / 2, texts))


def _asked(truth: Floats, verdict: Floats) -> tuple[Flags, Flags]:
    """Which pairs have a better text, and which of these have a verdict."""
    asked = np.isfinite(truth) & (truth != 0)
    return asked, asked & ~np.isnan(verdict)
