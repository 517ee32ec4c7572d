"""Null judges that a judge must beat: chance, the length of texts, and preferences for
systems.

Chance is a number. Length is a judge that returns the length of a text (`brevity`:
minus that). A preference for systems is a judge whose scores follow the author of a
text: its columns (systems) are permuted jointly over all sources.
"""

from collections.abc import Callable
from itertools import permutations
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, blocks, place_within, quotient
from judgescope.statistics.classes import kappas
from judgescope.statistics.correlation import midranks
from judgescope.statistics.within_sources import normal_scores, varies

PERMUTATIONS: Final = 4999
ALL_PERMUTATIONS_TO: Final = 6
"""Up to so many systems every permutation is taken, beyond it PERMUTATIONS random
ones."""
FEWEST_SYSTEMS: Final = 5
"""Of fewer, no permutation test reaches .025: 4! = 24."""
LEAST_FILLED: Final = 0.5
"""Share of cells (source, system) with a text, below which systems are not permuted."""
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


def system_permutations(m: int, rng: np.random.Generator) -> Codes:
    """Return permutations of m systems, the identity first: all of few, else random
    ones.
    """
    if m <= ALL_PERMUTATIONS_TO:
        return np.array(list(permutations(range(m))), dtype=np.int64)
    return np.stack([np.arange(m), *(rng.permutation(m) for _ in range(PERMUTATIONS))])


def p_systems(
    x: Floats, y: Floats, source: Codes, system: Codes, perms: Codes, *, pooled: bool
) -> float:
    """Return p of the null that the scores belong to systems at random.

    x, y, source, system (texts,), NaN = missing; `perms` by `system_permutations` of as
    many systems. The judge's columns move jointly over all sources, a missing cell with
    its column. The statistic is the rank correlation within sources (`within_sources`;
    `pooled`: Spearman's rho of all texts) of the cells that have both after the
    permutation. One-sided. NaN where no source has two different ratings.
    """
    rows, columns = (
        np.unique(codes, return_inverse=True)[1] for codes in (source, system)
    )
    if not pooled:
        kept = varies(np.where(np.isnan(x), np.nan, y), rows, int(rows.max()) + 1)[rows]
        if not kept.any():
            return float("nan")
        x, y, rows, columns = x[kept], y[kept], rows[kept], columns[kept]
    scores = midranks if pooled else normal_scores
    a, b = (scores(_table(v, rows, columns, perms.shape[1])) for v in (x, y))
    values = _permuted(a, b, perms, pooled=pooled)
    return float(np.mean(values >= values[0] - NEAR))


def p_moved(
    statistic: Callable[[Codes], Floats],
    source: Codes,
    system: Codes,
    perms: Codes,
    cells: int = 0,
) -> float:
    """Return p of any statistic where a judge's columns (systems) are permuted at
    random.

    source, system (texts,); `perms` as in `p_systems`, whose rule this is. statistic:
    which text's score stands in each text's place, -1 for none, (rows, texts) ->
    (rows,); an undefined value counts as large; `cells`: how many numbers it makes of a
    row. One-sided. NaN where the statistic itself is undefined.
    """
    columns = np.unique(system, return_inverse=True)[1]
    table = _table(
        np.arange(source.size, dtype=np.float64), source, columns, perms.shape[1]
    )
    table = np.where(np.isnan(table), -1, table).astype(np.int64)
    places = np.argwhere(table >= 0)
    rows, columns, depth = places[np.argsort(table[table >= 0])].T
    values = np.concatenate(
        [
            statistic(table[rows, perms[part][:, columns], depth])
            for part in blocks(len(perms), max(source.size, cells), BLOCK)
        ]
    )
    if np.isnan(values[0]):
        return float("nan")
    return float(np.mean(~(values < values[0] - NEAR)))


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


def filled(source: Codes, system: Codes) -> float:
    """Return the share of cells (source, system) that have a text."""
    cells = np.unique(np.stack([source, system]), axis=1).shape[1]
    return float(cells / max(1, np.unique(source).size * np.unique(system).size))


def _table(values: Floats, source: Codes, column: Codes, columns: int) -> Floats:
    """Return (sources, columns, texts of both), NaN where there is none; all
    (texts,).
    """
    rows = np.unique(source, return_inverse=True)[1]
    depth = place_within(rows * columns + column)
    table = np.full((int(rows.max()) + 1, columns, int(depth.max()) + 1), np.nan)
    table[rows, column, depth] = values
    return table


def _permuted(scores: Floats, people: Floats, perms: Codes, *, pooled: bool) -> Floats:
    """Return the correlation after each permutation of the columns of `scores`,
    (perms,).

    scores, people (sources, systems, texts of both), NaN = missing. Values are taken as
    deviations from the mean of their source, or `pooled` from that of all.
    """
    if not (
        np.isnan(scores).any() or np.isnan(people).any()
    ):  # sums of a table of products
        axes = (0, 1, 2) if pooled else (1, 2)
        units = []
        for side in (scores, people):
            deviations = side - side.mean(axis=axes, keepdims=True)
            size = np.sqrt(np.sum(deviations**2))
            units.append(deviations / size if size > NEAR else 0.0 * deviations)
        products = np.einsum("sid,sjd->ij", *units)
        return np.asarray(products[perms, np.arange(perms.shape[1])].sum(axis=1))
    axes = (1, 2, 3) if pooled else (2, 3)
    correlations = []
    for part in blocks(len(perms), scores.size, BLOCK):
        a = np.moveaxis(scores[:, perms[part]], 1, 0)  # (perms, sources, m, depth)
        both = ~(np.isnan(a) | np.isnan(people))
        values = np.where(both, a, 0.0), np.where(both, people, 0.0)
        n, totals = (
            np.maximum(both.sum(axis=axes), 1),
            [v.sum(axis=axes) for v in values],
        )
        ab, aa, bb = (
            ((values[i] * values[j]).sum(axis=axes) - totals[i] * totals[j] / n)
            .reshape(len(a), -1)
            .sum(axis=1)
            for i, j in ((0, 1), (0, 0), (1, 1))
        )
        varied = (aa > NEAR) & (bb > NEAR)
        correlations.append(
            np.where(varied, ab / np.sqrt(np.where(varied, aa * bb, 1.0)), 0.0)
        )
    return np.concatenate(correlations)
