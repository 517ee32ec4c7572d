"""What people reach among themselves: the ceiling of every statistic that judges are held to."""

from collections.abc import Callable, Hashable, Mapping
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate
from metajudge.statistics.resampling import Replicated, with_interval

Floats = NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)
Against = Literal["mean", "each"]


def ceilings(
    statistics: Callable[[Floats, Floats], Mapping[Name, Replicated]],
    ratings: Floats,
    *,
    against: Against,
    n_sources: int,
) -> dict[Name, Estimate]:
    """Return the mean over raters of what each would get in a judge's place.

    `statistics(x, y)` are those of scores x with ratings y, (targets,) both. ratings (raters,
    targets), NaN = missing. Each rater stands against the mean of the others (`mean`, for
    correlations), or against every other rater (`each`, for classes, which a mean leaves).
    Replicates are averaged row by row, so the interval holds the weights that all judges share;
    `n` and `n_missing` are the mean counts. A statistic that is undefined for a rater leaves the
    rater out, and the note counts those left; undefined where none is left. One rater: nothing.
    """
    found: dict[Name, list[Replicated]] = {}
    for rater in range(len(ratings)):
        others = np.delete(ratings, rater, axis=0)
        for gold in [_mean(others)] if against == "mean" else others:
            for name, one in statistics(ratings[rater], gold).items():
                found.setdefault(name, []).append(one)
    return {name: _averaged(each, against, n_sources) for name, each in found.items()}


def _mean(ratings: Floats) -> Floats:
    given = np.isfinite(ratings).sum(axis=0)
    return np.where(given > 0, np.nansum(ratings, axis=0) / np.maximum(given, 1), np.nan)


def _averaged(each: list[Replicated], against: Against, n_sources: int) -> Estimate:
    known = [one for one in each if one.estimate.value is not None]
    if not known:
        return each[0].estimate
    rows = np.mean([one.rows for one in known], axis=0)
    value = Estimate(
        float(np.mean([one.estimate.value for one in known])),
        n=round(float(np.mean([one.estimate.n for one in known]))),
        n_missing=round(float(np.mean([one.estimate.n_missing for one in known]))),
        method="each rater against the mean of the others"
        if against == "mean"
        else "each rater against every other",
    )
    found = with_interval(value, rows[1:], n_sources) if rows.size > 1 else value
    lost = len(each) - len(known)
    return found.with_note(f"undefined for {lost} of {len(each)}") if lost else found
