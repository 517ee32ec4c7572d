"""Bootstrap over sources: one weight matrix per dataset, shared by every judge and statistic."""

from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate

RESAMPLES = 1000
FEWEST_SOURCES = 10
"""No interval is given for fewer sources than this (methods.md 8)."""
FEWEST_FOR_PERCENTILES = 30
"""Means over fewer sources than this get a t-interval (methods.md 8)."""
CONFIDENCE = 0.95
NO_WIDTH: Final = "no width"
"""Begins the note of an interval whose ends are equal: resampling shows no other value."""
BESIDE: Final = "the value lies beside its interval, as repeated sources move the statistic"
SLACK = 1e-12
"""Numbers that differ by less are equal but for rounding."""
Bounds: TypeAlias = tuple[float, float]


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
) -> Bounds | None:
    """Return the (1 - c)/2 and (1 + c)/2 quantiles of the defined replicates, or None without any.

    Replicates that are NaN (the statistic is undefined in that resample) are left out.
    """
    defined = replicates[np.isfinite(replicates)]
    if defined.size == 0:
        return None
    tail = (1 - confidence) / 2
    lo, hi = np.quantile(defined, [tail, 1 - tail])
    return float(lo), float(hi)


def share_alike(n_sources: int) -> float:
    """Return q = ((1 - c)/2)^(1/n), the least share of sources that are as n drawn ones all are.

    From a smaller share n alike would be drawn less than one time in 40: the Clopper-Pearson bound
    for n of n.
    """
    return float(((1 - CONFIDENCE) / 2) ** (1 / n_sources))


def bounds_of_alike(value: float, ends: Bounds, n_sources: int) -> Bounds:
    """Return q v + (1 - q) a and q v + (1 - q) b, where n sources all have the mean v in [a, b].

    Sources that were not drawn, a share of at most 1 - q, may have either end: of shares 0 and 1
    this is the interval of Clopper and Pearson, with sources for trials. ValueError for a value
    that is not within the ends.
    """
    if not ends[0] - SLACK <= value <= ends[1] + SLACK:
        raise ValueError(f"a mean of values in {ends} cannot be {value}")
    q = share_alike(n_sources)
    return q * value + (1 - q) * ends[0], q * value + (1 - q) * ends[1]


def with_interval(
    estimate: Estimate,
    replicates: NDArray[np.float64],
    n_sources: int,
    *,
    units: str = "sources",
    alike: Bounds | None = None,
) -> Estimate:
    """Return the estimate with the percentile interval of its replicates over sources.

    `method` names the interval, and `units` what was resampled. None is given below FEWEST_SOURCES
    of them or without a defined replicate; `note` then says so, and it says so when over 5 % of
    the replicates are undefined. Where all replicates are equal, resampling says nothing of what
    was not drawn: the interval is `alike` (`bounds_of_alike`), and without that `note` says that
    it has no width.
    """
    if estimate.value is None:
        return estimate
    if n_sources < FEWEST_SOURCES:
        return estimate.with_note(f"no interval: {n_sources} {units}")
    bounds = percentile_interval(replicates)
    if bounds is None:
        return estimate.with_note("no interval: undefined in every resample")
    defined = replicates[np.isfinite(replicates)]
    if alike is not None and np.ptp(defined) <= SLACK:
        how = f"all {n_sources} {units} alike: exact bound on the share of others"
        return _bounded(estimate, alike, how)
    how = f"bootstrap over {n_sources} {units}, {len(replicates)} resamples, percentile"
    if n_sources < FEWEST_FOR_PERCENTILES:
        how += "; with so few sources it holds the truth in about 90 % of studies"
    found = _bounded(estimate, bounds, how)
    lost = 1 - defined.size / len(replicates)
    found = found.with_note(f"undefined in {lost:.0%} of resamples") if lost > 0.05 else found
    return found.with_note(_warning(estimate.value, bounds, defined, f"{n_sources} {units}"))


def _warning(value: float, bounds: Bounds, replicates: NDArray[np.float64], resampled: str) -> str:
    """Return what is wrong with a percentile interval, "" where nothing is."""
    lo, hi = bounds
    slack = SLACK * max(1.0, abs(value))
    if not lo - slack <= value <= hi + slack:
        return BESIDE
    if hi - lo > slack:
        return ""
    share = float(np.mean(np.abs(replicates - lo) <= slack))
    return f"{NO_WIDTH}: {share:.0%} of the resamples of {resampled} are equal"


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
    alike: Bounds | None = None,
) -> Replicated:
    """Return the estimate whose value is rows[0] and whose replicates are rows[1:], and the rows.

    A NaN value is undefined with the note `why_undefined`; without replicates there is no interval.
    `alike` as in `with_interval`.
    """
    if np.isnan(rows[0]):
        return Replicated(Estimate.undefined(why_undefined, n=n, n_missing=n_missing), rows)
    found = Estimate(float(rows[0]), n=n, n_missing=n_missing, n_tied=n_tied)
    if rows.size > 1:
        found = with_interval(found, rows[1:], n_sources, alike=alike)
    return Replicated(found, rows)


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
    bounds: Bounds = (-np.inf, np.inf),
) -> Estimate:
    """Return the estimate (a mean of one value per source) with its interval over sources.

    values (sources,), NaN where undefined; replicates (resamples,), the mean of each, or none for
    no interval. With FEWEST_FOR_PERCENTILES values or more: percentiles of the replicates; with
    fewer, where percentiles are too narrow, mean ± t · sd / sqrt(n), cut to `bounds`. Where all
    values are equal, as in `with_interval`, of means within `bounds` if these are finite.
    """
    if estimate.value is None or not replicates.size:
        return estimate
    found = values[~np.isnan(values)]
    n, alike = found.size, None
    if np.isfinite(bounds).all() and n:
        alike = bounds_of_alike(estimate.value, bounds, n)
    if FEWEST_SOURCES <= n < FEWEST_FOR_PERCENTILES and np.ptp(found) > SLACK:
        lo, hi = np.clip(_t_interval(found), *bounds)
        return _bounded(estimate, (float(lo), float(hi)), f"t over {n} sources")
    return with_interval(estimate, replicates, n, alike=alike)


def _t_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    from scipy.special import stdtrit  # here only: what merely asks or parses imports no scipy

    n = values.size
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * float(values.std(ddof=1)) / n**0.5
    mean = float(values.mean())
    return mean - half, mean + half


def _bounded(estimate: Estimate, bounds: Bounds, how: str) -> Estimate:
    method = "; ".join(part for part in (estimate.method, how) if part)
    return replace(estimate, lo=bounds[0], hi=bounds[1], method=method)
