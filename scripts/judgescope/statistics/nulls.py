"""Null judges that a judge must beat: chance, and the length of texts.

Chance is a number. Length is a judge that returns the length of a text (`brevity`:
minus that). `best_length` takes any function of length out of both sides; `systems` has
preferences for the authors of texts.
"""

from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, blocks, quotient
from judgescope.statistics.classes import kappas
from judgescope.statistics.coefficients import midranks

PERMUTATIONS: Final = 4999
"""Random permutations of a test, beside the data as they are."""
NEAR: Final = 1e-10
BLOCK: Final = 2_000_000


def half_credits(
    better: Floats, worse: Floats, source: Codes, n_sources: int
) -> tuple[Floats, Floats]:
    """The mean over a source's pairs of [better > worse] + [tie]/2, and their number.

    better, worse (pairs,): the scores of both texts of a pair, NaN = missing (the pair
    is left out); source (pairs,). Shapes (n_sources,), the mean NaN without a pair.

    >>> better = np.array([2.0, 1.0, 3.0])
    >>> worse = np.array([1.0, 1.0, 4.0])
    >>> mean, pairs = half_credits(better, worse, np.array([0, 0, 1]), 2)
    >>> mean.tolist(), pairs.tolist()
    ([0.75, 0.0], [2.0, 1.0])
    """
    known = ~(np.isnan(better) | np.isnan(worse))
    credit = (better > worse) + (better == worse) / 2
    n = np.bincount(source[known], minlength=n_sources).astype(np.float64)
    total = np.bincount(source[known], weights=credit[known], minlength=n_sources)
    return quotient(total, n), n


def dealt(gold: Floats, order: Floats, source: Codes) -> Floats:
    """People's sorted ratings, assigned in the order of `order`, without the source's.

    gold, order, source (texts,), NaN = missing; texts without a rating or a place in
    the order get none. A text of source s gets the rating at its place among the texts
    of the other sources. This makes of a length a judge that gives classes; it knows
    people's distribution and nothing else.

    >>> people = np.array([1.0, 2.0, 3.0, 4.0])
    >>> lengths = np.array([10.0, 40.0, 20.0, 30.0])
    >>> dealt(people, lengths, np.array([0, 0, 1, 1])).tolist()
    [3.0, 4.0, 2.0, 2.0]
    """
    ratings = np.full(gold.size, np.nan)
    rated = ~(np.isnan(gold) | np.isnan(order))
    n = int(rated.sum())
    if n > 1 and np.unique(source[rated]).size == n:
        ratings[rated] = _dealt_without_each(gold[rated], order[rated])
        return ratings
    for code in np.unique(source[rated]):
        members = rated & (source == code)
        others = rated & (source != code)
        n = int(others.sum())
        if not n:
            continue
        middle = _middle(np.sort(order[others]), order[members])
        ratings[members] = np.sort(gold[others])[np.minimum(middle, n - 1)]
    return ratings


def _middle(ordered: Floats, values: Floats, shift: int = 0) -> Codes:
    """The middle place of values among sorted ones, minus shift / 2."""
    low = np.searchsorted(ordered, values, "left")
    high = np.searchsorted(ordered, values, "right")
    return np.asarray((low + high - shift) // 2)


def _dealt_without_each(gold: Floats, order: Floats) -> Floats:
    """`dealt` where every text has a source of its own; nothing missing, (n,) each."""
    ranked = np.sort(gold)
    middle = _middle(np.sort(order), order, shift=1)
    among_others = np.minimum(middle, gold.size - 2)
    # The text's own rating is left out of the sorted ones.
    skipped = among_others >= np.searchsorted(ranked, gold)
    return np.asarray(ranked[among_others + skipped])


def p_within(
    gold: Codes,
    predicted: Codes,
    source: Codes,
    rng: np.random.Generator,
    distance: Floats,
) -> float:
    """p of the null that the classes are assigned at random among texts of a source.

    gold, predicted, source (texts,), nothing missing; distance (classes, classes): what
    a pair of classes costs. Margins stay, so kappa is at least as large where the sum
    of distances is at most as large. One-sided, (k + 1) / (B + 1), B = PERMUTATIONS.

    >>> people = np.array([0, 1] * 6)
    >>> source = np.repeat(np.arange(6), 2)
    >>> cost = 1.0 - np.eye(2)
    >>> rng = np.random.default_rng(1)
    >>> p = p_within(people, people, source, rng, cost)
    >>> 0.005 < p < 0.03  # one permutation in 2⁶ is as good
    True
    """
    order = np.argsort(source, kind="stable")
    people = gold[order]
    judge = predicted[order]
    codes = source[order]
    observed = distance[people, judge].sum()
    count = 0
    for part in blocks(PERMUTATIONS, people.size, BLOCK):
        permuted = judge[_orders_within(codes, part.stop - part.start, rng)]
        costs = distance[people, permuted].sum(axis=1)
        count += int(np.sum(costs <= observed + NEAR))
    return (count + 1) / (PERMUTATIONS + 1)


def _orders_within(codes: Codes, rows: int, rng: np.random.Generator) -> Codes:
    """Random orders of the texts of each source, sorted by source: (rows, texts)."""
    keys = rng.random((rows, codes.size))
    keys += codes  # sorts within a source, at random
    return np.asarray(np.argsort(keys, axis=1))


def p_within_pooled(
    x: Floats, y: Floats, source: Codes, rng: np.random.Generator
) -> float:
    """p of the null that scores are exchangeable among the texts of a source, pooled ρ.

    x, y, source (texts,), nothing missing. A judge that only knows how hard a source is
    has a pooled correlation; permuted within sources its scores have the same one.
    Ranks of all texts stay, so Spearman's rho is at least as large where Σ rank rank
    is. One-sided, (k + 1) / (B + 1), B = PERMUTATIONS. See docs/methods.md,
    "Agreement".

    >>> people = np.array([1.0, 2.0] * 6)
    >>> source = np.repeat(np.arange(6), 2)
    >>> rng = np.random.default_rng(1)
    >>> p = p_within_pooled(people, people, source, rng)
    >>> 0.005 < p < 0.03  # one permutation in 2⁶ is as good
    True
    """
    order = np.argsort(source, kind="stable")
    ranks_x = midranks(x)[order]
    ranks_y = midranks(y)[order]
    codes = source[order]
    observed = float(ranks_x @ ranks_y)
    slack = NEAR * max(1.0, abs(observed))
    count = 0
    for part in blocks(PERMUTATIONS, x.size, BLOCK):
        permuted = ranks_x[_orders_within(codes, part.stop - part.start, rng)]
        sums = (permuted * ranks_y).sum(axis=1)
        count += int(np.sum(sums >= observed - slack))
    return (count + 1) / (PERMUTATIONS + 1)


def mean_credits(better: Floats, worse: Floats, source: Codes) -> Floats:
    """The mean over sources of the half credit (`half_credits`) of each row of scores.

    better, worse (rows, pairs), NaN = missing; source (pairs,). Shape (rows,), NaN
    without a pair.

    >>> better = np.array([[2.0, 1.0, 3.0]])
    >>> worse = np.array([[1.0, 1.0, 4.0]])
    >>> mean_credits(better, worse, np.array([0, 0, 1])).tolist()
    [0.375]
    """
    order = np.argsort(source, kind="stable")
    starts = np.flatnonzero(np.diff(source[order], prepend=-1))
    first = better[:, order]
    second = worse[:, order]
    known = ~(np.isnan(first) | np.isnan(second))
    credit = np.where(known, (first > second) + (first == second) / 2, 0.0)
    total = np.add.reduceat(credit, starts, axis=1)
    n = np.add.reduceat(known.astype(np.float64), starts, axis=1)
    used = (n > 0).sum(axis=1)
    return quotient((total / np.maximum(n, 1)).sum(axis=1), used)


def linear_kappas(gold: Codes, predicted: Codes, k: int) -> Floats:
    """Linear kappa of each row of classes (codes below k) with the gold ones.

    gold (texts,); predicted (rows, texts), -1 = missing. Shape (rows,), NaN as in
    `kappas`.

    >>> linear_kappas(np.array([0, 1]), np.array([[0, 1], [1, 0]]), 2).tolist()
    [1.0, -1.0]
    """
    rows = np.arange(len(predicted))[:, None]
    cells = (rows * k + gold) * k + predicted
    counts = np.bincount(cells[predicted >= 0], minlength=len(predicted) * k * k)
    tables = counts.reshape(-1, k, k).astype(np.float64)
    return kappas(tables)
