"""Means and shares of things that belong to sources, with their intervals over sources."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.dot import dot
from metajudge.statistics.estimate import NOTHING, Estimate
from metajudge.statistics.resampling import Replicated, whole_and_resamples, with_interval

Floats = NDArray[np.float64]


def replicated_share(
    hits: Floats,
    total: Floats,
    source: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
    *,
    missing: int = 0,
    tied: int = 0,
    of: str = "",
) -> Replicated:
    """Return sum hits / sum total, with a percentile interval over sources, and its replicates.

    hits, total and source (things,), whatever is counted, nothing missing; `n` is the sum of
    `total`; weights (resamples, sources) or None for no interval. `of` says in `method` what is
    averaged. Undefined where nothing is counted.
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
    found = with_interval(found, replicates, used) if replicates.size else found
    return Replicated(found, np.append(value, replicates))


def share(
    hits: Floats,
    total: Floats,
    source: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
    missing: int = 0,
    *,
    of: str = "",
) -> Estimate:
    """Return `replicated_share` without its replicates."""
    return replicated_share(hits, total, source, weights, missing=missing, of=of).estimate


def clustered_mean(
    values: NDArray[np.float64],
    source: NDArray[np.int64],
    weights: NDArray[np.int64],
    *,
    of: str,
) -> Estimate:
    """Return sum(v) / n of values (n,), NaN = missing (counted), as `share` does."""
    given = np.isfinite(values)
    known, missing = values[given], int((~given).sum())
    return share(known, np.ones(known.size), source[given], weights, missing, of=of)


def mean_over(each: Sequence[Replicated], n_sources: int, *, of: str) -> Replicated:
    """Return sum v / k of k statistics of one dataset, with the interval of their replicates' mean.

    `each` rests on the same resamples of `n_sources` sources; `of` says what there is one of each
    for. `n` is k. Undefined where one of them is: means of other things would not compare.
    """
    mean = np.mean([one.rows for one in each], axis=0)
    if nothing := _lost([one.estimate for one in each], of):
        return Replicated(nothing, mean * np.nan)
    found = Estimate(float(mean[0]), n=len(each), method=f"mean over {of}")
    found = with_interval(found, mean[1:], n_sources) if mean.size > 1 else found
    return Replicated(found, mean)


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
