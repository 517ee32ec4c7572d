"""p-values adjusted for the number of tests.

Family-wise: Bonferroni and Holm. False discovery rate: Benjamini-Hochberg and, whatever the tests
have in common, Benjamini-Yekutieli.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.declared import declare, p_value

HOLM_1979 = "Holm 1979"
ZEROS = "zeros dropped, midranks"
BENJAMINI_HOCHBERG = "Benjamini, Hochberg 1995"
DECLARED: Final = declare(
    p_value("p_holm", "Holm-adjusted p", "one-sided Wilcoxon test", HOLM_1979, ties=ZEROS),
    p_value(
        "p_fdr", "FDR-adjusted p", "over a judge's wanted drops", BENJAMINI_HOCHBERG, ties=ZEROS
    ),
    p_value("p_holm", "Holm-adjusted p for {}", "over all pairs of an aspect", HOLM_1979),
    p_value("p_fdr", "FDR-adjusted p for {}", "over all pairs of an aspect", BENJAMINI_HOCHBERG),
)


def holm(p: ArrayLike, *, log: bool = False) -> Floats:
    """Return max over j <= i of (m - j + 1) p_(j), at most 1, in the order and shape of p.

    All of p is one family; with `log`, p and the result are ln p. NaN (no test was made) stays NaN
    and does not count in m; ValueError outside [0, 1]. Source: Holm 1979.
    """
    values, tested, order = _ascending(p, log)
    m = order.size
    raised = _times(values[tested][order], np.arange(m, 0, -1), log)
    values[tested] = _reordered(np.maximum.accumulate(raised), order, log)
    return values


def benjamini_hochberg(p: ArrayLike, *, log: bool = False) -> Floats:
    """Return min over j >= i of (m / j) p_(j), at most 1, in the order and shape of p.

    Arguments and NaN as in `holm`. Source: Benjamini and Hochberg 1995.
    """
    return _false_discovery(p, log, 1.0)


def benjamini_yekutieli(p: ArrayLike, *, log: bool = False) -> Floats:
    """Return min over j >= i of (m c / j) p_(j), c = 1 + 1/2 + … + 1/m, at most 1.

    Arguments and NaN as in `holm`. Source: Benjamini and Yekutieli 2001.
    """
    tested = np.count_nonzero(~np.isnan(np.asarray(p, np.float64)))
    return _false_discovery(p, log, float(np.sum(1 / np.arange(1, tested + 1))))


def _false_discovery(p: ArrayLike, log: bool, factor: float) -> Floats:
    values, tested, order = _ascending(p, log)
    m = order.size
    raised = _times(values[tested][order], factor * m / np.arange(1, m + 1), log)
    values[tested] = _reordered(np.minimum.accumulate(raised[::-1])[::-1], order, log)
    return values


def _times(p: Floats, factors: NDArray[Any], log: bool) -> Floats:
    """Return p times the factors; plain p are never taken through logs, which would round them."""
    return np.asarray(p + np.log(factors) if log else p * factors)


def _ascending(p: ArrayLike, log: bool) -> tuple[Floats, Flags, NDArray[np.intp]]:
    """Return a copy of p or ln p, which of it was tested, and the order of those."""
    values = np.array(p, np.float64)
    if np.any(values > (0 if log else 1)) or (not log and np.any(values < 0)):
        raise ValueError(f"no {'ln p' if log else 'p'}: {np.nanmin(values)}..{np.nanmax(values)}")
    tested = ~np.isnan(values)
    return values, tested, np.argsort(values[tested], kind="stable")


def _reordered(ascending: Floats, order: NDArray[np.intp], log: bool) -> Floats:
    """Return values, sorted by `order`, in their first order and capped at a p of 1."""
    restored = np.empty_like(ascending)
    restored[order] = np.minimum(ascending, 0.0 if log else 1.0)
    return restored
