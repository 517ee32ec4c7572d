"""Soft pairwise accuracy: is a judge as sure as people are of which system is better?"""

from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.coefficients import CELLS, counted
from judgescope.statistics.dot import dot
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated, sizes_of, whole_and_resamples
from judgescope.statistics.result import FEW_SYSTEMS, Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
EXACT_SOURCES: Final = 12
FEWEST_SYSTEMS: Final = 3


def soft_pairwise_accuracy(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    weights: NDArray[np.int64] | None,
    mid_p: bool = True,
) -> Replicated:
    """Return the mean over pairs of systems of 1 - |p_x - p_y|.

    p is the one-sided p-value that the first system of a pair is better: the share of all flips of
    the signs of its differences from the second, one per source, whose sum is as large as theirs;
    equal sums count half (`mid_p`), else whole, which makes p depend on which system comes first.
    Up to EXACT_SOURCES sources all flips are counted; with more, and in every resample, p is 1 -
    Phi(sum d / sqrt(sum d²)), to which the mid-p tends.

    x, y (targets,), NaN = missing: a target without both counts in `n_missing`, and a pair is
    compared on the sources that have both systems. Range [0, 1]; `n` counts systems, at least 3;
    `n_tied` the pairs that are equal in x. ValueError for `mid_p=False` with more sources than
    can be counted. Thompson et al. 2024, "Improving Statistical Significance in Human Evaluation".
    """
    there = ~(np.isnan(x) | np.isnan(y))
    missing = int(there.size - there.sum())
    systems, code = np.unique(system[there], return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        nothing = Estimate.undefined(FEW_SYSTEMS, n=systems.size, n_missing=missing)
        return Replicated(nothing, np.array([np.nan]))
    rows = whole_and_resamples(source[there], weights)
    used, at = np.unique(source[there], return_inverse=True)
    dx, dy = (_differences(v[there], at, code, (used.size, systems.size)) for v in (x, y))
    values = _normal(dx, dy, rows[:, used])
    if used.size <= EXACT_SOURCES:
        values[0] = _exact(dx, dy, mid_p)
    elif not mid_p:
        raise ValueError(f"{used.size} sources: only up to {EXACT_SOURCES} without mid_p")
    equal = np.nansum(dx, axis=0) == 0
    return replicated(
        values,
        FEW_SYSTEMS,
        sizes=sizes_of(source[there], rows),
        scale=scale_of("spa"),
        n=systems.size,
        n_missing=missing,
        n_tied=int(equal.sum()),
    )


def _differences(values: Floats, source: Codes, system: Codes, shape: tuple[int, int]) -> Floats:
    """Return (sources, pairs): the first system's mean minus the second's, NaN without both."""
    with np.errstate(invalid="ignore"):
        table = counted(source, system, shape, values) / counted(source, system, shape)
    first, second = np.triu_indices(shape[1], 1)
    return np.asarray(table[:, first] - table[:, second])


def _normal(dx: Floats, dy: Floats, rows: Floats) -> Floats:
    """Return the statistic of each row of weights, by the normal limit: (rows,)."""
    from scipy.special import ndtr  # here only: what merely asks or parses imports no scipy

    known = ~np.isnan(dx).all(axis=0)

    def p(part: Floats, difference: Floats) -> Floats:
        d = np.nan_to_num(difference[:, known])
        sums, squares = dot(part, d), dot(part, np.square(d))
        z = np.divide(sums, np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)
        return np.asarray(ndtr(-z))

    step = max(1, CELLS // max(1, int(known.sum())))
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    return np.concatenate([1 - np.abs(p(part, dx) - p(part, dy)).mean(axis=1) for part in parts])


def _exact(dx: Floats, dy: Floats, mid_p: bool) -> float:
    """Return the statistic by counting all flips of signs."""
    flips = np.array(list(product((1.0, -1.0), repeat=len(dx))))

    def p(difference: Floats) -> Floats:
        d = np.nan_to_num(difference)
        sums, observed = dot(flips, d), d.sum(axis=0)
        near = 1e-9 * np.abs(d).sum(axis=0)
        above, equal = sums > observed + near, np.abs(sums - observed) <= near
        return np.asarray(np.mean(above + equal * (0.5 if mid_p else 1.0), axis=0))

    known = ~np.isnan(dx).all(axis=0)
    return float(1 - np.abs(p(dx) - p(dy))[known].mean())
