"""Rank coefficients of two judges whose scores are swapped unit by unit, for values that differ.

A permutation takes, for each unit (a source, a system or a target), the scores of one judge or of
the other: the first judge's coefficient rests on what is taken, the second's on the rest. Both come
from one pass, and no resample is written out. All sums are of whole numbers, exact up to 2**53.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.coefficients import (
    CELLS,
    Between,
    Codes,
    Floats,
    Statistic,
    centred,
    counted,
    ratio,
    sign_products,
    signs,
    unit_groups,
)
from judgescope.statistics.dot import dot

ROUND_OFF = 1e-14
"""Of values within [-1, 1]: a mean square deviation below it may be round-off of equal values."""
DEAR_PAIRS = 4
"""Targets per permutation from which all pairs of targets cost more than ranks each time."""
Both = tuple[Floats, Floats]
"""The same quantity of the first and of the second judge in each permutation: (rows,) each."""


class Taken(NamedTuple):
    """What the permutations take of both judges' values.

    For each permutation and judge: sum over targets of (twice the midrank's deviation from the mean
    rank) times that of y, and the sums of squares and of cubes of the numbers of equal values.
    """

    across: Both
    squares: Both
    cubes: Both


def taken_ranks(x1: Floats, x2: Floats, y: Floats, unit: Codes, flips: NDArray[np.bool_]) -> Taken:
    """Return the sums over ranks that Spearman's rho and the ties of tau-b need.

    Twice a midrank's deviation is the sum of the signs of its differences, so that `across` is
    half the sum over pairs of sign(a_i - a_j) (b_i - b_j). x1, x2, y and unit (targets,), nothing
    missing; flips (rows, units), True where the unit's scores are swapped; every unit has a target.
    Memory: blocks of CELLS values.
    """
    _, value, counts = np.unique(np.append(x1, x2), return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts > 1)
    place = np.full(counts.size, shared.size)
    place[shared] = np.arange(shared.size)
    shape = flips.shape[1], shared.size + 1
    first, second = (counted(unit, own, shape)[:, :-1] for own in np.split(place[value], 2))
    blocks = []
    for start in range(0, len(flips), max(1, CELLS // max(1, shared.size))):
        part = flips[start : start + max(1, CELLS // max(1, shared.size))]
        tied = first.sum(axis=0) + dot(part, second - first)
        rest = counts[shared] - tied
        blocks.append([_powers(w, y.size, k) for k in (2, 3) for w in (tied, rest)])
    squares, other_squares, cubes, other_cubes = map(np.concatenate, zip(*blocks, strict=True))
    b = rank_deviations(y)
    if y.size > DEAR_PAIRS * len(flips):
        across = _rank_products(x1, x2, b, unit, flips)
    else:
        first, second = _products(x1, x2, b, unit, flips, np.subtract)
        across = first / 2, second / 2
    return Taken(across, (squares, other_squares), (cubes, other_cubes))


def _rank_products(x1: Floats, x2: Floats, b: Codes, unit: Codes, flips: NDArray[np.bool_]) -> Both:
    """Return `across` of both judges for b, which sums to 0: (rows,) each.

    Sort all values; w says which ones the first judge takes, and rank_k how many taken ones lie
    below value k plus how many do not lie above it. The first judge's sum is that of w b rank. The
    other judge takes the rest, whose sum differs from it by a linear function of w.
    """
    values = np.append(x1, x2)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    below, above = np.searchsorted(ordered, ordered), np.searchsorted(ordered, ordered, "right")
    units, swapped = np.append(unit, unit)[order], order >= x1.size
    b = np.append(b, b)[order].astype(np.float64)
    sums = np.append(0, np.cumsum(b))
    rest = sums[below] + sums[above] - b * (below + above)
    moved = np.bincount(units, weights=np.where(swapped, rest, -rest), minlength=flips.shape[1])
    first = np.empty(len(flips))
    ranks = np.zeros((max(1, CELLS // order.size), order.size + 1), np.int32)
    for start in range(0, len(flips), len(ranks)):
        taken = flips[start : start + len(ranks)].take(units, axis=1) == swapped
        upto = ranks[: len(taken)]
        np.cumsum(taken, axis=1, out=upto[:, 1:])
        rank = upto.take(below, axis=1) + upto.take(above, axis=1)
        first[start : start + len(ranks)] = dot(rank * taken, b)
    constant = float(dot(b, below + above)) + rest[~swapped].sum()
    return first, first + constant + dot(flips, moved)


def _powers(tied: Floats, n: int, k: int) -> Floats:
    """Return sum w^k over all values of n, of which `tied` has those that may occur twice."""
    return np.asarray(n - tied.sum(axis=1) + (tied**k).sum(axis=1))


def rank_deviations(y: Floats) -> Codes:
    """Return twice the deviation of each midrank from the mean rank: (targets,)."""
    _, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    found = 2 * np.cumsum(counts) - counts - y.size
    return np.asarray(found.astype(np.min_scalar_type(-2 * y.size)))[code]


def concordance(x1: Floats, x2: Floats, y: Floats, unit: Codes, flips: NDArray[np.bool_]) -> Both:
    """Return twice the concordant minus the discordant pairs of each judge in each permutation."""
    people = np.unique(y, return_inverse=True)[1]
    return _products(x1, x2, people.astype(np.min_scalar_type(y.size)), unit, flips, signs)


def _products(
    x1: Floats,
    x2: Floats,
    y: NDArray[Any],
    unit: Codes,
    flips: NDArray[np.bool_],
    between: Between,
) -> Both:
    """Return the sum over pairs of sign(a_i - a_j) g(y_i, y_j) of each judge in each permutation.

    With f = 1 where a unit is swapped and M_ab the sums over targets i of one unit and j of another
    of sign(a_i - b_j) g(y_i, y_j): 1'M_11 1 - 2 f'M_11 1 + 2 f'M_21 1 + f'Q f for the first
    judge, the same with 1 and 2 exchanged for the second, Q = M_11 + M_22 - M_12 - M_21. g is
    `between`, antisymmetric and whole; other arguments as in `taken_ranks`. Memory: blocks of CELLS
    pairs.
    """
    order = np.argsort(unit, kind="stable")
    codes = np.unique(np.append(x1[order], x2[order]), return_inverse=True)[1]
    a, b = np.split(codes.astype(np.min_scalar_type(2 * y.size)), 2)
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    rows = flips.astype(np.float64)
    square = np.zeros(len(rows))
    sums = np.zeros((2, 2, starts.size))  # M_ab 1, by unit
    for units in unit_groups(starts, order.size):
        pairs = [(v, w) for v in (a, b) for w in (a, b)]
        matrices = np.array(sign_products(pairs, y[order], starts, units, between))
        matrices = matrices.reshape(2, 2, *matrices.shape[1:])
        rest = slice(units.stop, None)
        inside = units.stop - units.start
        sums[:, :, units] += matrices.sum(axis=3)
        sums[:, :, rest] += matrices[:, :, :, inside:].sum(axis=2).transpose(1, 0, 2)
        q = matrices[0, 0] + matrices[1, 1] - matrices[0, 1] - matrices[1, 0]
        q[:, inside:] *= 2  # what stands below the diagonal mirrors what stands above it
        square += np.einsum("rs,rs->r", dot(rows[:, units], q), rows[:, units.start :])
    first, second = (
        own.sum() + 2 * dot(rows, crossed - own) + square
        for own, crossed in ((sums[0, 0], sums[1, 0]), (sums[1, 1], sums[0, 1]))
    )
    return first, second


def rank_coefficients(
    x1: Floats,
    x2: Floats,
    y: Floats,
    unit: Codes,
    flips: NDArray[np.bool_],
    statistics: Collection[Statistic],
) -> dict[Statistic, Both]:
    """Return Spearman's rho and tau-b of both judges in each permutation, NaN without variation."""
    n = float(y.size)
    counts = np.unique(y, return_counts=True)[1].astype(np.float64)
    taken = taken_ranks(x1, x2, y, unit, flips)
    found: dict[Statistic, Both] = {}
    if "spearman" in statistics:  # sum (2 midrank - n - 1)² = (n³ - sum w³) / 3
        own = (n**3 - taken.cubes[0]) / 3, (n**3 - taken.cubes[1]) / 3
        found["spearman"] = _coefficients(taken.across, own, (n**3 - float((counts**3).sum())) / 3)
    if "kendall_b" in statistics:
        own = n**2 - taken.squares[0], n**2 - taken.squares[1]
        pairs = concordance(x1, x2, y, unit, flips)
        found["kendall_b"] = _coefficients(pairs, own, n**2 - float((counts**2).sum()))
    return found


def pearson(x1: Floats, x2: Floats, y: Floats, unit: Codes, flips: NDArray[np.bool_]) -> Both:
    """Return Pearson's r of both judges in each permutation, NaN without variation.

    What a unit adds to sum a b and sum a² moves from one judge to the other; a and b are centred
    over both judges. Arguments as in `taken_ranks`.
    """
    (a1, a2), b = np.split(centred(np.append(x1, x2)), 2), centred(y)
    rows = flips.astype(np.float64)
    moments = [[a, a * a, a * b] for a in (a1, a2)]
    moved = np.array(
        [
            np.bincount(unit, weights=other - own, minlength=flips.shape[1])
            for own, other in zip(*moments, strict=True)
        ]
    )
    moved = dot(rows, moved.T).T
    first, second = (
        _pearson([np.sum(own) + sign * gap for own, gap in zip(each, moved, strict=True)], b)
        for each, sign in zip(moments, (1, -1), strict=True)
    )
    return first, second


def _pearson(sums: Sequence[Floats], b: Floats) -> Floats:
    """Return r from the sums of a, a² and a b: NaN where a varies no more than by round-off."""
    a, squares, across = sums
    varies = squares - a * a / b.size
    varies = np.where(varies > ROUND_OFF * b.size, varies, np.nan)
    return ratio(across - a * b.mean(), varies, np.full(a.shape, float(dot(b - b.mean(), b))))


def _coefficients(across: Both, own: Both, other: float) -> Both:
    first, second = (
        ratio(ab, aa, np.full(aa.shape, other)) for ab, aa in zip(across, own, strict=True)
    )
    return first, second
