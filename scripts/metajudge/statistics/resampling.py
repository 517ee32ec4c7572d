"""Bootstrap over sources: one weight matrix per dataset, shared by every judge and statistic."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate

RESAMPLES = 1000
FEWEST_SOURCES = 10
"""No interval is given for fewer sources than this (methods.md 8)."""
FEWEST_FOR_PERCENTILES = 30
"""Means over fewer sources than this get a t-interval (methods.md 8)."""
CONFIDENCE = 0.95


def source_weights(
    rng: np.random.Generator, n_sources: int, resamples: int = RESAMPLES
) -> NDArray[np.int64]:
    """Return w[b, s] = how often source s is drawn in resample b; each row sums to n_sources.

    Drawing n sources with replacement is one multinomial draw of their counts (Efron 1979).
    Shape (resamples, n_sources).
    """
    return rng.multinomial(n_sources, np.full(n_sources, 1 / n_sources), size=resamples)


def whole_and_resamples(
    source: NDArray[np.int64], weights: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return the weights with a first row of ones: the data as they are, then every resample.

    A statistic of these rows gives its value and its replicates by the same arithmetic. Shape
    (1 + resamples, sources), or (1, sources) without weights. ValueError for a source code that
    has no column.
    """
    n_sources = int(source.max(initial=-1)) + 1 if weights is None else weights.shape[1]
    if source.size and not 0 <= source.min() <= source.max() < n_sources:
        raise ValueError(f"source code {source.max()} is outside 0..{n_sources - 1}")
    resamples = np.empty((0, n_sources)) if weights is None else weights
    return np.vstack([np.ones((1, n_sources)), resamples])


def percentile_interval(
    replicates: NDArray[np.float64], confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Return the (1 - c)/2 and (1 + c)/2 quantiles of the defined replicates, or None without any.

    Replicates that are NaN (the statistic is undefined in that resample) are left out.
    """
    defined = replicates[np.isfinite(replicates)]
    if defined.size == 0:
        return None
    tail = (1 - confidence) / 2
    lo, hi = np.quantile(defined, [tail, 1 - tail])
    return float(lo), float(hi)


def with_interval(
    estimate: Estimate, replicates: NDArray[np.float64], n_sources: int, *, units: str = "sources"
) -> Estimate:
    """Return the estimate with the percentile interval of its replicates over sources.

    `method` names the interval, and `units` what was resampled. None is given below FEWEST_SOURCES
    of them or without a defined replicate; `note` then says so, and it says so when over 5 % of
    the replicates are undefined.
    """
    if estimate.value is None:
        return estimate
    if n_sources < FEWEST_SOURCES:
        return estimate.with_note(f"no interval: {n_sources} {units}")
    bounds = percentile_interval(replicates)
    if bounds is None:
        return estimate.with_note("no interval: undefined in every resample")
    lost = float(np.mean(~np.isfinite(replicates)))
    how = f"bootstrap over {n_sources} {units}, {len(replicates)} resamples, percentile"
    if n_sources < FEWEST_FOR_PERCENTILES:
        how += "; with so few sources it holds the truth in about 90 % of studies"
    found = _bounded(estimate, bounds, how)
    return found.with_note(f"undefined in {lost:.0%} of resamples") if lost > 0.05 else found


class Replicated(NamedTuple):
    """An estimate, its value again and that of every resample: (1 + resamples,), or (1,).

    Replicates of two judges of one dataset rest on the same weights, so that the interval of
    their difference is that of the differences, row by row.
    """

    estimate: Estimate
    rows: NDArray[np.float64]


def replicated(
    rows: NDArray[np.float64],
    why_undefined: str,
    *,
    n_sources: int,
    n: int,
    n_missing: int = 0,
    n_tied: int = 0,
) -> Replicated:
    """Return the estimate whose value is rows[0] and whose replicates are rows[1:], and the rows.

    A NaN value is undefined with the note `why_undefined`; without replicates there is no interval.
    """
    if np.isnan(rows[0]):
        return Replicated(Estimate.undefined(why_undefined, n=n, n_missing=n_missing), rows)
    found = Estimate(float(rows[0]), n=n, n_missing=n_missing, n_tied=n_tied)
    return Replicated(with_interval(found, rows[1:], n_sources) if rows.size > 1 else found, rows)


def mean_rows(
    values: NDArray[np.float64], weights: NDArray[np.int64] | NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return sum w v / sum w over the values that are defined, as they are and in each resample.

    values (sources,), NaN where undefined, weights (resamples, sources) or None for no resamples.
    Shape (1 + resamples,) or (1,), NaN without a defined value.
    """
    used = ~np.isnan(values)
    w = np.ones((1, values.size))[:, used]
    if weights is not None:
        w = np.vstack([w, weights[:, used]])
    with np.errstate(invalid="ignore"):  # a resample may hold no source with a value
        return np.asarray(np.einsum("rs,s->r", w, values[used]) / w.sum(axis=1))


def with_mean_interval(
    estimate: Estimate,
    values: NDArray[np.float64],
    replicates: NDArray[np.float64],
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """Return the estimate (a mean of one value per source) with its interval over sources.

    values (sources,), NaN where undefined; replicates (resamples,), the mean of each, or none for
    no interval. With FEWEST_FOR_PERCENTILES values or more: percentiles of the replicates; with
    fewer, where percentiles are too narrow, mean ± t · sd / sqrt(n), cut to `bounds`.
    """
    if estimate.value is None or not replicates.size:
        return estimate
    found = values[~np.isnan(values)]
    if FEWEST_SOURCES <= found.size < FEWEST_FOR_PERCENTILES:
        lo, hi = np.clip(_t_interval(found), *bounds)
        return _bounded(estimate, (float(lo), float(hi)), f"t over {found.size} sources")
    return with_interval(estimate, replicates, found.size)


def _t_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    from scipy.special import stdtrit  # here only: what merely asks or parses imports no scipy

    n = values.size
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * float(values.std(ddof=1)) / n**0.5
    mean = float(values.mean())
    return mean - half, mean + half


def _bounded(estimate: Estimate, bounds: tuple[float, float], how: str) -> Estimate:
    method = "; ".join(part for part in (estimate.method, how) if part)
    return replace(estimate, lo=bounds[0], hi=bounds[1], method=method)
