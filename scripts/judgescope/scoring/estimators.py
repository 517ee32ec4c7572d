"""How the draws of one target become one score."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean(values: Floats) -> Floats:
    """Return sum(v) / n of each row, NaN without any value: (targets, draws) -> (targets,)."""
    given = np.count_nonzero(~np.isnan(values), axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=1) / given)


def mode(values: Floats) -> Floats:
    """Return each row's most frequent value; of several the nearest to the mean, then the lower.

    (targets, draws) -> (targets,), NaN without any value. Source: methods.md 3 (paper 002 drew
    among them by an unseeded random number).
    """
    if not values.size:
        return np.full(len(values), np.nan)
    counts = np.zeros(values.shape, dtype=np.int32)
    for draw in values.T:
        counts += values == draw[:, None]
    tied = (counts == counts.max(axis=1, keepdims=True)) & ~np.isnan(values)
    distance = np.where(tied, np.abs(values - mean(values)[:, None]), np.inf)
    nearest = tied & (distance == distance.min(axis=1, keepdims=True))
    found = np.where(nearest, values, np.inf).min(axis=1)
    return np.where(nearest.any(axis=1), found, np.nan)


def first(values: Floats) -> Floats:
    """Return each row's first draw, NaN where that has no value: (targets, draws) -> (targets,)."""
    return values[:, 0] if values.shape[1] else np.full(len(values), np.nan)


ESTIMATORS: dict[str, Callable[[Floats], Floats]] = {"mean": mean, "mode": mode, "first": first}


def scores(values: Floats, draws: NDArray[np.int64], estimator: str) -> tuple[Floats, Floats]:
    """Return the score of each row and how many of its draws it rests on: (targets,) both.

    values (targets, most draws), NaN where nothing was parsed or no such draw was planned; draws
    (targets,): how many were planned. A score needs half of them (methods.md 1), else it is NaN.
    """
    given = np.count_nonzero(~np.isnan(values), axis=1)
    return np.where(2 * given >= draws, ESTIMATORS[estimator](values), np.nan), given
