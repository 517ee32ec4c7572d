"""Means and shares over things that belong to sources, with intervals over sources."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot
from judgescope.statistics.jackknife import NO_INTERVAL, PLAIN, PROPORTION, Bounds, Scale
from judgescope.statistics.resampling import (
    NO_WIDTH,
    Replicated,
    deleted_counts,
    whole_and_resamples,
    with_interval,
)
from judgescope.statistics.result import NOTHING, Estimate

ASPECTS: Final = "aspects"
ONLY: Final = "the only one of the aspects"
"""Begins the method of a mean over one aspect."""
SHARE: Final[Bounds] = (0.0, 1.0)
"""The ends of a share."""


def share(
    hits: Floats,
    total: Floats,
    source: Codes,
    weights: Weights,
    missing: int = 0,
    *,
    tied: int = 0,
    averaged: str = "",
    ends: Bounds | None = SHARE,
    scale: Scale | None = None,
    units: str = "sources",
    why: str = NOTHING,
) -> Replicated:
    """Return sum hits / sum total, with its interval over sources, and its deletions.

    hits, total and source (things,), whatever is counted, nothing missing; `n` is the sum of
    `total`; weights (sources, sources) or None for no interval. `averaged` says in `method` what is
    averaged. `ends` bound what one thing may have, None where nothing does: where all sources are
    alike, the interval rests on them. Without a `scale` a share of things (ends 0 and 1) is a
    proportion, and any other mean is plain, cut to its ends; `units` names what sources are.
    Undefined, as `why` says, where nothing is counted.
    """
    rows = whole_and_resamples(source, weights)
    sums, size = (
        np.bincount(source, weights=v, minlength=rows.shape[1]).astype(np.float64)
        for v in (hits, total)
    )
    n = round(float(size.sum()))
    if scale is None:
        scale = PROPORTION if ends == SHARE else PLAIN if ends is None else Scale("plain", *ends)
    if n == 0:
        nothing = Estimate.undefined(why, n_missing=missing, method=averaged)
        return Replicated(nothing, np.full(len(rows), np.nan))
    deleted = deleted_counts(rows, np.stack([sums, size], axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        if deleted is None:
            replicates = dot(rows[1:], sums) / dot(rows[1:], size)
        else:
            replicates = deleted[1:, 0] / deleted[1:, 1]
    value = float(hits.sum() / total.sum())
    result = Estimate(value, n=n, n_missing=missing, n_tied=tied, method=averaged)
    return with_interval(Replicated(result, np.append(value, replicates), size, scale, ends), units)


def clustered_mean(
    values: Floats | Flags,
    source: Codes,
    weights: Weights,
    missing: int = 0,
    *,
    tied: int = 0,
    averaged: str = "",
    ends: Bounds | None = SHARE,
    scale: Scale | None = None,
    units: str = "sources",
) -> Replicated:
    """Return sum(v) / n of values (n,), NaN = missing, as `share` does.

    `missing` counts those that are missing and have no place in `values`.
    """
    numbers = np.asarray(values, dtype=np.float64)
    given = np.isfinite(numbers)
    known = numbers[given]
    return share(
        known,
        np.ones(known.size),
        source[given],
        weights,
        missing + numbers.size - known.size,
        tied=tied,
        averaged=averaged,
        ends=ends,
        scale=scale,
        units=units,
    )


def mean_over(each: Sequence[Replicated], *, averaged: str) -> Replicated:
    """Return sum v / k of k statistics of one dataset; a deletion takes a source out of all.

    `each` rests on the same sources; `averaged` says what there is one of each for. `n` is k; a
    mean over one aspect is that aspect's number, with its interval and n. The mean of values is
    plain, cut to the mean of their ends. Undefined where one of them is: means of other things
    would not compare.
    Without an interval where one is of no smooth statistic.
    """
    if nothing := _lost([one.estimate for one in each], averaged):
        return Replicated(nothing, np.full(max(one.rows.size for one in each), np.nan))
    if len(each) == 1 and averaged == ASPECTS:
        return each[0].with_method(ONLY)
    mean = np.mean([one.rows for one in each], axis=0)
    result = Estimate(float(mean[0]), n=len(each), method=f"mean over {averaged}")
    rough = next((one.scale for one in each if one.scale.kind == "rough"), None)
    low, high = (float(np.mean([one.scale.ends[end] for one in each])) for end in (0, 1))
    shares = ("binomial", "logit")
    known = (one.ends or (one.scale.ends if one.scale.kind in shares else None) for one in each)
    ends = [one for one in known if one is not None]
    alike = (*np.mean(ends, axis=0).tolist(),) if len(ends) == len(each) else None
    sizes = np.sum([one.sizes for one in each], axis=0)
    return with_interval(Replicated(result, mean, sizes, rough or Scale("plain", low, high), alike))


def independent_mean(each: Sequence[Estimate], *, averaged: str) -> Estimate:
    """Return v = sum v_i / k of k independent statistics, lo = v - sqrt(sum (v_i - lo_i)²) / k.

    hi alike: the method of variance estimates recovery, which needs no replicates (Zou, Donner
    2008). `n` is k. Undefined where one of them is; no interval where one has none, and the note
    says of how many.
    """
    if nothing := _lost(each, averaged):
        return nothing
    value, lo, hi = (
        np.array([getattr(one, end) for one in each], dtype=np.float64)
        for end in ("value", "ci_low", "ci_high")
    )
    mean, method = float(value.mean()), f"mean over {averaged}"
    down, up = (float(np.sqrt(np.sum((value - end) ** 2))) / len(each) for end in (lo, hi))
    if not np.isfinite(down + up):
        return Estimate(mean, n=len(each), method=method, note=_no_interval(each, averaged))
    method += "; variance estimates recovery"
    result = Estimate(mean, ci_low=mean - down, ci_high=mean + up, n=len(each), method=method)
    return result.with_note(f"{NO_WIDTH}: none of the {averaged} has any" if down + up == 0 else "")


def _lost(each: Sequence[Estimate], averaged: str) -> Estimate | None:
    """Return the undefined mean where some are undefined, with the reason if it is one for all."""
    notes = [one.note for one in each if one.value is None]
    if each and not notes:
        return None
    undefined = f"undefined on {len(notes)} of {len(each)} {averaged}"
    why = f": {notes[0]}" if len(set(notes)) == 1 else ""
    return Estimate.undefined(undefined + why, n=len(each) - len(notes))


def _no_interval(each: Sequence[Estimate], averaged: str) -> str:
    """Return the note of a mean where some have no interval, with the reason if it is one."""
    reasons = [
        next((part for part in one.note.split("; ") if part.startswith(NO_INTERVAL)), "")
        for one in each
        if one.ci_low is None or one.ci_high is None
    ]
    why = reasons[0].removeprefix(NO_INTERVAL) if len(set(reasons)) == 1 else ""
    return f"{NO_INTERVAL} on {len(reasons)} of {len(each)} {averaged}{why}"
