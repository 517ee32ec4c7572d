"""Cohen's weighted kappa between a judge's classes and people's, over the full scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import FEW_PAIRS, NO_VARIATION, Estimate
from metajudge.statistics.resampling import replicated, whole_and_resamples


def kappa_linear(
    gold: NDArray[np.float64],
    predicted: NDArray[np.float64],
    classes: Sequence[float],
    source: NDArray[np.int64],
    weights: NDArray[np.int64] | None,
) -> Estimate:
    """Return 1 - sum d O / sum d E with d = |i - j| between the places i, j in `classes`.

    O are the counts of (gold, predicted) pairs, E those expected from the margins alone. gold and
    predicted (targets,), NaN = missing: a target without both counts in `n_missing`; classes: the
    whole ordered scale, used or not, since a class left out moves its neighbours together; source
    (targets,) and weights (resamples, sources) as in `correlate`. Range up to 1, 0 = chance. `n`
    counts pairs; `n_tied` stays 0: equal classes are agreement here, not ties. Undefined below 2
    pairs and where both are constant in the same class. ValueError for a value that is no class.
    Cohen 1968; perspectives paper, global evaluation.
    """
    there = ~(np.isnan(gold) | np.isnan(predicted))
    n, source = int(there.sum()), source[there]
    rows = whole_and_resamples(source, weights)
    counts = confusion_counts(gold[there], predicted[there], classes, source, rows.shape[1])
    values = _linear(np.tensordot(rows, counts, axes=1)) if n >= 2 else np.array([np.nan])
    return replicated(
        values,
        NO_VARIATION if n >= 2 else FEW_PAIRS,
        n_sources=np.unique(source).size,
        n=n,
        n_missing=there.size - n,
    ).estimate


def confusion_counts(
    gold: NDArray[np.float64],
    predicted: NDArray[np.float64],
    classes: Sequence[float],
    source: NDArray[np.int64],
    n_sources: int,
) -> NDArray[np.int64]:
    """Return how often each source has each (gold, predicted) pair: (sources, classes, classes).

    gold, predicted and source (targets,), nothing missing. ValueError for a value that is no class.
    """
    k = len(classes)
    cell = class_codes(gold, classes) * k + class_codes(predicted, classes)
    counts = np.bincount(source * k * k + cell, minlength=n_sources * k * k)
    return counts.reshape(n_sources, k, k)


def class_codes(values: NDArray[np.float64], classes: Sequence[float]) -> NDArray[np.int64]:
    """Return the place of each value in `classes`; ValueError names a value that is not there."""
    scale = np.asarray(classes, dtype=np.float64)
    order = np.argsort(scale)
    found: NDArray[np.int64] = order[np.searchsorted(scale[order], values).clip(max=scale.size - 1)]
    wrong = scale[found] != values
    if wrong.any():
        raise ValueError(f"value {values[wrong][0]:g} is not one of {list(classes)}")
    return found


def _linear(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kappa of each table, NaN where no disagreement is expected: (rows, k, k) -> (rows,).

    Up to the last division all numbers are whole, so no round-off hides a zero.
    """
    place = np.arange(counts.shape[1])
    distance = np.abs(place[:, None] - place)
    observed = np.einsum("rij,ij->r", counts, distance) * counts.sum(axis=(1, 2))
    expected = np.einsum("ri,ij,rj->r", counts.sum(axis=2), distance, counts.sum(axis=1))
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: without expectation nothing is observed
        found: NDArray[np.float64] = 1 - observed / expected
    return found
