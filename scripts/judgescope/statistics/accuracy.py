"""Pairwise accuracy: of texts, with calibrated ties, and of systems, with soft p-values."""

from itertools import product
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot
from judgescope.statistics.coefficients import CELLS, counted
from judgescope.statistics.declared import SHARE, correlation, declare, scale_of
from judgescope.statistics.jackknife import ACCURACY
from judgescope.statistics.order import pairs_within
from judgescope.statistics.resampling import (
    Replicated,
    Sample,
    mean_rows,
    replicated,
    whole_and_resamples,
)
from judgescope.statistics.result import FEW_SYSTEMS, NO_SOURCE, Estimate

ORDER: Final = 3
DECLARED: Final = declare(
    correlation(
        "acc_eq",
        "acc_eq",
        "share of pairs ordered or tied as people do",
        "Deutsch, Foster, Freitag 2023",
        range=SHARE,
        ties="calibrated",
        scaled=ACCURACY,
    ),
    correlation(
        "spa",
        "SPA",
        "systems distinguished with the same confidence as by people",
        "Thompson et al. 2024",
        range=SHARE,
        ties="half",
        scaled=ACCURACY,
    ),
)


MOST_EPSILONS: Final = 256
"""Quantiles that are tried where there are more different distances."""


def acc_eq(
    x: Floats,
    y: Floats,
    source: Codes,
    *,
    weights: Weights,
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
    complete = ~(np.isnan(x) | np.isnan(y))
    missing = int(complete.size - complete.sum())
    rows = whole_and_resamples(source, weights)
    pair_source, distance, agrees, tied = _pairs(x[complete], y[complete], source[complete])
    used, code = np.unique(pair_source, return_inverse=True)
    if used.size < 1 + leave_one_out:
        nothing = Estimate.undefined(NO_SOURCE, n=used.size, n_missing=missing)
        return Replicated(nothing, np.full(len(rows), np.nan)), None
    epsilons = _candidates(distance)
    right = _right(code, distance, agrees, tied, epsilons, used.size)
    best = _best(right.sum(axis=0))
    values = np.full(rows.shape[1], np.nan)
    values[used] = _calibrated(right, leave_one_out)
    accuracy = replicated(
        mean_rows(values, rows),
        NO_SOURCE,
        sizes=np.isfinite(values),
        scale=scale_of("acc_eq"),
        n=used.size,
        n_missing=missing,
        n_tied=int((distance == 0).sum()),
        ends=(0.0, 1.0),
    )
    return accuracy, float(epsilons[best])


def _pairs(x: Floats, y: Floats, source: Codes) -> tuple[Codes, Floats, Flags, Flags]:
    """Return of all pairs of one source's targets: source, |x_i - x_j|, x orders as y, y ties."""
    i, j = pairs_within(source)
    dx, dy = x[i] - x[j], y[i] - y[j]
    return source[i], np.abs(dx), np.sign(dx) == np.sign(dy), dy == 0


def _candidates(distance: Floats) -> Floats:
    epsilons = np.unique(np.append(distance, 0.0))
    if epsilons.size > MOST_EPSILONS:
        epsilons = np.unique(
            np.quantile(epsilons, np.linspace(0, 1, MOST_EPSILONS), method="lower")
        )
    return np.asarray(epsilons)


def _right(
    source: Codes,
    distance: Floats,
    agrees: Flags,
    tied: Flags,
    epsilons: Floats,
    n_sources: int,
) -> Floats:
    """Return the share of right pairs of each source at each epsilon: (sources, epsilons)."""
    step = np.searchsorted(epsilons, distance)  # the first epsilon that makes the pair a tie
    width = epsilons.size + 1
    cell = source * width + step

    def count(which: Flags) -> Floats:
        result = np.bincount(cell[which], minlength=n_sources * width)
        return result.reshape(n_sources, width).astype(np.float64)

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
    result: Codes = np.argmax(total >= most - 1e-9, axis=-1)
    return result


EXACT_SOURCES: Final = 12
FEWEST_SYSTEMS: Final = 3


def soft_pairwise_accuracy(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    weights: Weights,
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
    complete = ~(np.isnan(x) | np.isnan(y))
    sample = Sample.of(complete, source, weights)
    systems, code = np.unique(system[complete], return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        return sample.undefined(FEW_SYSTEMS, n=systems.size)
    used, at = np.unique(sample.source, return_inverse=True)
    dx, dy = (_differences(v[complete], at, code, (used.size, systems.size)) for v in (x, y))
    values = _normal(dx, dy, sample.rows[:, used])
    if used.size <= EXACT_SOURCES:
        values[0] = _exact(dx, dy, mid_p)
    elif not mid_p:
        raise ValueError(f"{used.size} sources: only up to {EXACT_SOURCES} without mid_p")
    equal = int(np.sum(np.nansum(dx, axis=0) == 0))
    return sample.result("spa", values, FEW_SYSTEMS, n=systems.size, n_tied=equal)


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
