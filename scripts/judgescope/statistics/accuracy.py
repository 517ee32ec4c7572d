"""Pairwise accuracy with calibrated ties: does a judge order the texts of a source as people do?"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.order import pairs_within
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, mean_rows, replicated, whole_and_resamples
from judgescope.statistics.result import NO_SOURCE, Estimate

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MOST_EPSILONS: Final = 256
"""Of more different distances, so many quantiles are tried."""


def acc_eq(
    x: Floats,
    y: Floats,
    source: Codes,
    *,
    weights: NDArray[np.int64] | None,
    leave_one_out: bool = True,
) -> tuple[Replicated, float | None]:
    """Return the mean over sources of the share of pairs that x orders, or ties, as y does.

    A pair of targets of one source is right if the sign of y_i - y_j is that of x_i - x_j, where
    |x_i - x_j| <= epsilon is a tie. The second value is the epsilon that is best over all sources,
    the smallest of equals; the accuracy of a source is taken at the one that is best over the
    others (`leave_one_out`), else at the best of all, which flatters. A threshold is not smooth, so
    the interval takes each source's as given. Epsilons are the distances between scores that
    occur, or MOST_EPSILONS quantiles of them.

    x, y, source (targets,), NaN = missing: a target without both counts in `n_missing`. Range
    [0, 1]; `n` counts sources with a pair; `n_tied` the pairs that are tied in x as they are.
    Undefined without a pair, and with one source if it is to be left out. Deutsch, Foster, Freitag
    2023, "Ties Matter".
    """
    there = ~(np.isnan(x) | np.isnan(y))
    missing = int(there.size - there.sum())
    rows = whole_and_resamples(source, weights)
    pair_source, distance, agrees, tied = _pairs(x[there], y[there], source[there])
    used, code = np.unique(pair_source, return_inverse=True)
    if used.size < 1 + leave_one_out:
        nothing = Estimate.undefined(NO_SOURCE, n=used.size, n_missing=missing)
        return Replicated(nothing, np.full(len(rows), np.nan)), None
    epsilons = _candidates(distance)
    right = _right(code, distance, agrees, tied, epsilons, used.size)
    best = _best(right.sum(axis=0))
    values = np.full(rows.shape[1], np.nan)
    values[used] = _calibrated(right, leave_one_out)
    found = replicated(
        mean_rows(values, weights),
        NO_SOURCE,
        sizes=np.isfinite(values),
        scale=scale_of("acc_eq"),
        n=used.size,
        n_missing=missing,
        n_tied=int((distance == 0).sum()),
        ends=(0.0, 1.0),
    )
    return found, float(epsilons[best])


def _pairs(
    x: Floats, y: Floats, source: Codes
) -> tuple[Codes, Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return of all pairs of one source's targets: source, |x_i - x_j|, x orders as y, y ties."""
    i, j = pairs_within(source)
    dx, dy = x[i] - x[j], y[i] - y[j]
    return source[i], np.abs(dx), np.sign(dx) == np.sign(dy), dy == 0


def _candidates(distance: Floats) -> Floats:
    found = np.unique(np.append(distance, 0.0))
    if found.size > MOST_EPSILONS:
        found = np.unique(np.quantile(found, np.linspace(0, 1, MOST_EPSILONS), method="lower"))
    return np.asarray(found)


def _right(
    source: Codes,
    distance: Floats,
    agrees: NDArray[np.bool_],
    tied: NDArray[np.bool_],
    epsilons: Floats,
    n_sources: int,
) -> Floats:
    """Return the share of right pairs of each source at each epsilon: (sources, epsilons)."""
    step = np.searchsorted(epsilons, distance)  # the first epsilon that makes the pair a tie
    width = epsilons.size + 1
    cell = source * width + step

    def count(which: NDArray[np.bool_]) -> Floats:
        found = np.bincount(cell[which], minlength=n_sources * width)
        return found.reshape(n_sources, width).astype(np.float64)

    ordered = count(agrees & ~tied)
    still_ordered = ordered.sum(axis=1, keepdims=True) - np.cumsum(ordered, axis=1)
    now_tied = np.cumsum(count(tied), axis=1)
    pairs = np.bincount(source, minlength=n_sources)[:, None]
    return np.asarray((still_ordered + now_tied)[:, :-1] / pairs)


def _calibrated(right: Floats, leave_one_out: bool) -> Floats:
    """Return each source's accuracy at the epsilon that is best over the others, or over all."""
    total = right.sum(axis=0)
    chosen = _best(total - right) if leave_one_out else np.full(len(right), _best(total))
    return np.asarray(np.take_along_axis(right, chosen[:, None], axis=1)[:, 0])


def _best(total: Floats) -> Codes:
    """Return the first place of the largest along the last axis; round-off makes no difference."""
    most = total.max(axis=-1, keepdims=True)
    found: Codes = np.argmax(total >= most - 1e-9, axis=-1)
    return found
