"""Null judges that a judge must beat: chance, and the length of texts.

Chance is a number. Length is a judge that returns the length of a text (`brevity`:
minus that). `best_length` takes any function of length out of both sides; `systems` has
preferences for the authors of texts.
"""

from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, blocks, quotient
from judgescope.statistics.classes import kappas
from judgescope.statistics.correlation import midranks

PERMUTATIONS: Final = 4999
"""Random permutations of a test, beside the data as they are."""
NEAR: Final = 1e-10
BLOCK: Final = 2_000_000


def half_credits(
    better: Floats, worse: Floats, source: Codes, n_sources: int
) -> tuple[Floats, Floats]:
    """Return the mean over a source's pairs of [better > worse] + [tie]/2, and their
    number.

    better, worse (pairs,): the scores of both texts of a pair, NaN = missing (the pair
    is left out); source (pairs,). Shapes (n_sources,), the mean NaN without a pair.
    """
    known = ~(np.isnan(better) | np.isnan(worse))
    credit = (better > worse) + (better == worse) / 2
    n = np.bincount(source[known], minlength=n_sources).astype(np.float64)
    total = np.bincount(source[known], weights=credit[known], minlength=n_sources)
    return quotient(total, n), n


def dealt(gold: Floats, order: Floats, source: Codes) -> Floats:
    """Return people's sorted ratings, assigned in the order of `order`, leaving the
    source out.

    gold, order, source (texts,), NaN = missing; texts without a rating or a place in
    the order get none. A text of source s gets the rating at its place among the texts
    of the other sources. This makes of a length a judge that gives classes; it knows
    people's distribution and nothing else.
    """
    ratings = np.full(gold.size, np.nan)
    rated = ~(np.isnan(gold) | np.isnan(order))
    if (n := int(rated.sum())) > 1 and np.unique(source[rated]).size == n:
        ranked, places = np.sort(gold[rated]), np.sort(order[rated])
        low, high = (
            np.searchsorted(places, order[rated], side) for side in ("left", "right")
        )
        middle = np.minimum((low + high - 1) // 2, n - 2)  # without the text itself
        ratings[rated] = ranked[
            middle + (middle >= np.searchsorted(ranked, gold[rated]))
        ]
        return ratings
    for one in np.unique(source[rated]):
        own, others = rated & (source == one), rated & (source != one)
        n = int(others.sum())
        if not n:
            continue
        places = np.sort(order[others])
        low, high = (
            np.searchsorted(places, order[own], side) for side in ("left", "right")
        )
        ratings[own] = np.sort(gold[others])[np.minimum((low + high) // 2, n - 1)]
    return ratings


def p_within(
    gold: Codes,
    predicted: Codes,
    source: Codes,
    rng: np.random.Generator,
    distance: Floats,
) -> float:
    """Return p of the null that the classes are assigned at random among the texts of a
    source.

    gold, predicted, source (texts,), nothing missing; distance (classes, classes): what
    a pair of classes costs. Margins stay, so kappa is at least as large where the sum
    of distances is at most as large. One-sided, (k + 1) / (B + 1), B = PERMUTATIONS.
    """
    order = np.argsort(source, kind="stable")
    gold, predicted, source = gold[order], predicted[order], source[order]
    observed = distance[gold, predicted].sum()
    count = 0
    for part in blocks(PERMUTATIONS, gold.size, BLOCK):
        keys = rng.random((part.stop - part.start, gold.size))
        keys += source  # sorts within a source, at random
        dealt_out = predicted[np.argsort(keys, axis=1)]
        count += int(np.sum(distance[gold, dealt_out].sum(axis=1) <= observed + NEAR))
    return (count + 1) / (PERMUTATIONS + 1)


def p_within_pooled(
    x: Floats, y: Floats, source: Codes, rng: np.random.Generator
) -> float:
    """p of the null that scores are exchangeable among the texts of a source, pooled ρ.

    x, y, source (texts,), nothing missing. A judge that only knows how hard a source is
    has a pooled correlation; permuted within sources its scores have the same one.
    Ranks of all texts stay, so Spearman's rho is at least as large where Σ rank rank
    is. One-sided, (k + 1) / (B + 1), B = PERMUTATIONS. Methods.md 18.
    """
    order = np.argsort(source, kind="stable")
    ranks_x = midranks(x)[order]
    ranks_y = midranks(y)[order]
    codes = source[order]
    observed = float(ranks_x @ ranks_y)
    slack = NEAR * max(1.0, abs(observed))
    count = 0
    for part in blocks(PERMUTATIONS, x.size, BLOCK):
        keys = rng.random((part.stop - part.start, x.size)) + codes
        permuted = ranks_x[np.argsort(keys, axis=1)]
        sums = (permuted * ranks_y).sum(axis=1)
        count += int(np.sum(sums >= observed - slack))
    return (count + 1) / (PERMUTATIONS + 1)


def mean_credits(better: Floats, worse: Floats, source: Codes) -> Floats:
    """Return the mean over sources of the half credit (`half_credits`) of each row of
    scores.

    better, worse (rows, pairs), NaN = missing; source (pairs,). Shape (rows,), NaN
    without a pair.
    """
    order = np.argsort(source, kind="stable")
    starts = np.flatnonzero(np.diff(source[order], prepend=-1))
    better, worse = better[:, order], worse[:, order]
    known = ~(np.isnan(better) | np.isnan(worse))
    credit = np.where(known, (better > worse) + (better == worse) / 2, 0.0)
    total, n = (
        np.add.reduceat(v, starts, axis=1) for v in (credit, known.astype(np.float64))
    )
    used = (n > 0).sum(axis=1)
    return quotient((total / np.maximum(n, 1)).sum(axis=1), used)


def linear_kappas(gold: Codes, predicted: Codes, k: int) -> Floats:
    """Return linear kappa of each row of classes (codes below k) with the gold ones.

    gold (texts,); predicted (rows, texts), -1 = missing. Shape (rows,), NaN as in
    `kappas`.
    """
    rows = np.arange(len(predicted))[:, None]
    cells = ((rows * k + gold) * k + predicted)[predicted >= 0]
    counts = np.bincount(cells, minlength=len(predicted) * k * k)
    return kappas(counts.reshape(-1, k, k).astype(np.float64))
