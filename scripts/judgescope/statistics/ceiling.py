"""What people reach among themselves: the ceiling of every statistic that judges are held to."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

Floats = NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)
Against = Literal["mean", "each"]


def ceilings(
    statistics: Callable[[Floats, Floats], Mapping[Name, Replicated]],
    ratings: Floats,
    *,
    against: Against,
) -> dict[Name, Estimate]:
    """Return the mean over raters of what each would get in a judge's place.

    `statistics(x, y)` are those of scores x with ratings y, (targets,) both. ratings (raters,
    targets), NaN = missing. Each rater stands against the mean of the others (`mean`, for
    correlations), or against every other rater (`each`, for classes, which a mean leaves).
    Deletions are averaged row by row, as `mean_over` does;
    `n` and `n_missing` are the mean counts. A statistic that is undefined for a rater leaves the
    rater out, and the note counts those left; undefined where none is left. One rater: nothing.
    """
    found: dict[Name, list[Replicated]] = {}
    for rater in range(len(ratings)):
        others = np.delete(ratings, rater, axis=0)
        for gold in [_mean(others)] if against == "mean" else others:
            for name, one in statistics(ratings[rater], gold).items():
                found.setdefault(name, []).append(one)
    return {name: _averaged(each, against) for name, each in found.items()}


def _mean(ratings: Floats) -> Floats:
    given = np.isfinite(ratings).sum(axis=0)
    return np.where(given > 0, np.nansum(ratings, axis=0) / np.maximum(given, 1), np.nan)


def _averaged(each: list[Replicated], against: Against) -> Estimate:
    known = [one for one in each if one.estimate.value is not None]
    if not known:
        return each[0].estimate
    found = mean_over(known, of="raters").estimate
    which = "the mean of the others" if against == "mean" else "every other"
    how = found.method.removeprefix("mean over raters")
    found = replace(
        found,
        n=round(float(np.mean([one.estimate.n for one in known]))),
        n_missing=round(float(np.mean([one.estimate.n_missing for one in known]))),
        method=f"each rater against {which}{how}",
    )
    lost = len(each) - len(known)
    return found.with_note(f"undefined for {lost} of {len(each)}") if lost else found
