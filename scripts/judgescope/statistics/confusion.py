"""Drops that should and should not happen: their means, the confusion index, and equivalence.

A cell is one damage seen through one aspect; its drop is the mean over items of original minus
damaged. Paper 001; index, AUC and equivalence are this project's (methods.md 2).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.dot import dot

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
ALPHA, POWER = 0.05, 0.8


class Confusion(NamedTuple):
    """Mean drop of wanted and of unwanted cells, their ratio (the index), and how they part.

    Shape (rows,) each: the data first, then every resample.
    """

    s_t: Floats
    s_f: Floats
    ratio: Floats
    auc: Floats


def mean_drops(drops: Floats, rows: Floats) -> Floats:
    """Return sum_i w_i d_ic / sum_i w_i over the items i that a cell c has, per row of weights.

    drops (items, cells), NaN = missing; rows (rows, items) of weights. Shape (rows, cells), NaN
    where a row has no item of a cell.
    """
    given = np.isfinite(drops)
    with np.errstate(invalid="ignore"):
        return np.asarray(dot(rows, np.where(given, drops, 0.0)) / dot(rows, given.astype(float)))


def confusion(deltas: Floats, wanted: Flags, unwanted: Flags) -> Confusion:
    """Return S_T = mean wanted drop, S_F = mean unwanted drop, S_F / S_T, and P(wanted > unwanted).

    deltas (rows, cells); wanted, unwanted (cells,). A tie of the AUC counts half. NaN where a cell
    of the set is NaN or the set is empty; the ratio is NaN where S_T is 0. Paper 001, 4.3 (S_T and
    S_F); index and AUC: methods.md 2.
    """
    drop, stay = deltas[:, wanted], deltas[:, unwanted]
    s_t, s_f = _mean(drop), _mean(stay)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(s_t == 0, np.nan, s_f / s_t)
    return Confusion(s_t, s_f, ratio, _auc(drop, stay))


def _mean(cells: Floats) -> Floats:
    return cells.mean(axis=1) if cells.shape[1] else np.full(len(cells), np.nan)


def _auc(drop: Floats, stay: Floats) -> Floats:
    if not drop.shape[1] or not stay.shape[1]:
        return np.full(len(drop), np.nan)
    found = np.empty(len(drop))
    for row, (above, below) in enumerate(zip(drop, np.sort(stay, axis=1), strict=True)):
        less = np.searchsorted(below, above, side="left")
        upto = np.searchsorted(below, above, side="right")
        found[row] = np.mean(less + upto) / 2 / below.size
    lost = np.isnan(drop).any(axis=1) | np.isnan(stay).any(axis=1)
    return np.where(lost, np.nan, found)


def p_equivalence(d: Floats, margin: float) -> float | None:
    """Return the larger p of the one-sided t-tests of mean <= -margin and of mean >= margin.

    d (items,), nothing missing. At most .05 says: the mean lies within the margin. None for fewer
    than two items; a constant d is 0 within the margin and 1 outside. ValueError for a margin that
    is not above 0. Schuirmann 1987 (TOST).
    """
    if margin <= 0:
        raise ValueError(f"the margin must be above 0, not {margin}")
    if d.size < 2:
        return None
    from scipy.special import stdtr  # here only: what merely asks or parses imports no scipy

    error = float(d.std(ddof=1)) / math.sqrt(d.size)
    least = margin - abs(float(d.mean()))
    if error == 0:
        return 0.0 if least > 0 else 1.0
    return float(stdtr(d.size - 1, -least / error))


def items_needed(d: Floats, margin: float) -> int | None:
    """Return how many items would show, with power .8, that a true mean of 0 is within the margin.

    ((z_.95 + z_.9) sd / margin)², rounded up, at least 2; None for fewer than two items. The error
    of a mean falls with the root of the number of items. Julious 2004, equation 8.
    """
    if d.size < 2:
        return None
    from scipy.special import ndtri  # here only: what merely asks or parses imports no scipy

    z = float(ndtri(1 - ALPHA) + ndtri((1 + POWER) / 2))
    return max(2, math.ceil((z * float(d.std(ddof=1)) / margin) ** 2 - 1e-9))
