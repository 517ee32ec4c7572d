"""Bootstrap over sources: one weight matrix per dataset, shared by every judge and statistic."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate

RESAMPLES = 1000
FEWEST_SOURCES = 10
"""No interval is given for fewer sources than this (methods.md 8)."""


def source_weights(
    rng: np.random.Generator, n_sources: int, resamples: int = RESAMPLES
) -> NDArray[np.int64]:
    """Return w[b, s] = how often source s is drawn in resample b; each row sums to n_sources.

    Drawing n sources with replacement is one multinomial draw of their counts (Efron 1979).
    Shape (resamples, n_sources).
    """
    return rng.multinomial(n_sources, np.full(n_sources, 1 / n_sources), size=resamples)


def percentile_interval(
    replicates: NDArray[np.float64], confidence: float = 0.95
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


def with_interval(estimate: Estimate, replicates: NDArray[np.float64], n_sources: int) -> Estimate:
    """Return the estimate with the percentile interval of its replicates over sources.

    No interval below FEWEST_SOURCES sources; both cases are named in `note`, and a share of
    undefined replicates above 5 % is too.
    """
    if estimate.value is None:
        return estimate
    if n_sources < FEWEST_SOURCES:
        return estimate.with_note(f"no interval: {n_sources} sources")
    bounds = percentile_interval(replicates)
    if bounds is None:
        return estimate.with_note("no interval: undefined in every resample")
    lost = float(np.mean(~np.isfinite(replicates)))
    found = replace(estimate, lo=bounds[0], hi=bounds[1])
    return found.with_note(f"undefined in {lost:.0%} of resamples") if lost > 0.05 else found
