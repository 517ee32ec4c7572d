"""Means and shares of things that belong to sources, with their intervals over sources."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.dot import dot
from metajudge.statistics.estimate import NOTHING, Estimate
from metajudge.statistics.resampling import (
    Bounds,
    Replicated,
    bounds_of_alike,
    whole_and_resamples,
    with_interval,
)

Floats = NDArray[np.float64]
SHARE: Final[Bounds] = (0.0, 1.0)
"""What a share of things lies within."""


def replicated_share(
    hits: Floats,
    total: Floats,
    source: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
    *,
    missing: int = 0,
    tied: int = 0,
    of: str = "",
    ends: Bounds | None = SHARE,
) -> Replicated:
    """Return sum hits / sum total, with a percentile interval over sources, and its replicates.

    hits, total and source (things,), whatever is counted, nothing missing; `n` is the sum of
    `total`; weights (resamples, sources) or None for no interval. `of` says in `method` what is
    averaged. `ends` bound what one thing may have, None where nothing does: where all sources are
    alike, the interval rests on them (`bounds_of_alike`). Undefined where nothing is counted.
    """
    rows = whole_and_resamples(source, weights)
    sums, size = (np.bincount(source, weights=v, minlength=rows.shape[1]) for v in (hits, total))
    n = round(float(size.sum()))
    if n == 0:
        nothing = Estimate.undefined(NOTHING, n_missing=missing, method=of)
        return Replicated(nothing, np.full(len(rows), np.nan))
    with np.errstate(invalid="ignore"):
        replicates = dot(rows[1:], sums) / dot(rows[1:], size)
    value = float(hits.sum() / total.sum())
    found = Estimate(value, n=n, n_missing=missing, n_tied=tied, method=of)
    used = int(np.count_nonzero(size))
    if replicates.size:
        alike = ends and bounds_of_alike(value, ends, used)
        found = with_interval(found, replicates, used, alike=alike)
    return Replicated(found, np.append(value, replicates))


def share(
    hits: Floats,
    total: Floats,
    source: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
    missing: int = 0,
    *,
    of: str = "",
    ends: Bounds | None = SHARE,
) -> Estimate:
    """Return `replicated_share` without its replicates."""
    told = replicated_share(hits, total, source, weights, missing=missing, of=of, ends=ends)
    return told.estimate


def clustered_mean(
    values: NDArray[np.float64],
    source: NDArray[np.int64],
    weights: NDArray[np.int64],
    *,
    of: str,
    ends: Bounds | None = None,
) -> Estimate:
    """Return sum(v) / n of values (n,), NaN = missing (counted), as `share` does."""
    given = np.isfinite(values)
    known, missing = values[given], int((~given).sum())
    ones = np.ones(known.size)
    return share(known, ones, source[given], weights, missing, of=of, ends=ends)


def mean_over(each: Sequence[Replicated], n_sources: int, *, of: str) -> Replicated:
    """Return sum v / k of k statistics of one dataset, with the interval of their replicates' mean.

    `each` rests on the same resamples of `n_sources` sources; `of` says what there is one of each
    for. `n` is k. Undefined where one of them is: means of other things would not compare. Where no
    resample moves the mean, its interval has the means of the ends of theirs.
    """
    mean = np.mean([one.rows for one in each], axis=0)
    if nothing := _lost([one.estimate for one in each], of):
        return Replicated(nothing, mean * np.nan)
    found = Estimate(float(mean[0]), n=len(each), method=f"mean over {of}")
    if mean.size > 1:
        alike = _mean_ends([one.estimate for one in each])
        found = with_interval(found, mean[1:], n_sources, alike=alike)
    return Replicated(found, mean)


def _mean_ends(each: Sequence[Estimate]) -> Bounds | None:
    """Return the means of the lower and of the upper ends, None without width or where one lacks.

    Where all sources are alike in every statistic, they are so in their mean.
    """
    lo = [one.lo for one in each if one.lo is not None]
    hi = [one.hi for one in each if one.hi is not None]
    if len(lo) < len(each) or np.sum(lo) == np.sum(hi):
        return None
    return float(np.mean(lo)), float(np.mean(hi))


def independent_mean(each: Sequence[Estimate], *, of: str) -> Estimate:
    """Return v = sum v_i / k of k independent statistics, lo = v - sqrt(sum (v_i - lo_i)²) / k.

    hi alike: the method of variance estimates recovery, which needs no replicates (Zou, Donner
    2008). `n` is k. Undefined where one of them is; no interval where one has none.
    """
    if nothing := _lost(each, of):
        return nothing
    value, lo, hi = (
        np.array([getattr(one, end) for one in each], dtype=np.float64)
        for end in ("value", "lo", "hi")
    )
    mean, method = float(value.mean()), f"mean over {of}"
    down, up = (float(np.sqrt(np.sum((value - end) ** 2))) / len(each) for end in (lo, hi))
    if not np.isfinite(down + up):
        return Estimate(mean, n=len(each), method=method)
    method += "; variance estimates recovery"
    return Estimate(mean, lo=mean - down, hi=mean + up, n=len(each), method=method)


def _lost(each: Sequence[Estimate], of: str) -> Estimate | None:
    """Return the undefined mean where some are undefined, with the reason if it is one for all."""
    notes = [one.note for one in each if one.value is None]
    if each and not notes:
        return None
    told = f"undefined on {len(notes)} of {len(each)} {of}"
    why = f": {notes[0]}" if len(set(notes)) == 1 else ""
    return Estimate.undefined(told + why, n=len(each) - len(notes))
