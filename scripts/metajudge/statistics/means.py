"""The mean of values that belong to sources, with its interval over sources."""

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import Estimate
from metajudge.statistics.resampling import with_interval


def clustered_mean(
    values: NDArray[np.float64],
    source: NDArray[np.int64],
    weights: NDArray[np.int64],
    *,
    of: str,
) -> Estimate:
    """Return sum(v) / n with a percentile interval over sources.

    `values` has shape (n,), NaN = missing (counted); `source` gives each value's code, `weights`
    is (resamples, sources). `of` says in `method` what is averaged. Undefined without any value.
    """
    given = np.isfinite(values)
    missing, count = int((~given).sum()), int(given.sum())
    if not count:
        return Estimate.undefined("nothing to average", n_missing=missing, method=of)
    drawn = weights[:, source[given]].astype(np.float64)
    with np.errstate(invalid="ignore"):
        replicates = drawn @ values[given] / drawn.sum(axis=1)
    found = Estimate(float(values[given].mean()), n=count, n_missing=missing, method=of)
    return with_interval(found, replicates, len(np.unique(source[given])))
