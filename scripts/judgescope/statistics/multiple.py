"""p-values adjusted for the number of tests.

Family-wise: Holm. False discovery rate: Benjamini-Hochberg and, whatever the tests
have in common, Benjamini-Yekutieli.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.statistics.arrays import Floats
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
    and does not count in m; ValueError outside [0, 1]. Holm 1979.
    """
    return _adjusted(p, log, lambda m: np.arange(m, 0, -1), np.maximum.accumulate)


def benjamini_hochberg(p: ArrayLike, *, log: bool = False) -> Floats:
    """Return min over j >= i of (m / j) p_(j), at most 1, in the order and shape of p.

    Arguments and NaN as in `holm`. Benjamini and Hochberg 1995.
    """
    return _adjusted(p, log, lambda m: m / np.arange(1, m + 1), _least_from_the_right)


def benjamini_yekutieli(p: ArrayLike, *, log: bool = False) -> Floats:
    """Return min over j >= i of (m c / j) p_(j), c = 1 + 1/2 + … + 1/m, at most 1.

    Arguments and NaN as in `holm`. Benjamini and Yekutieli 2001.
    """

    def factors(m: int) -> Floats:
        places = np.arange(1, m + 1)
        return np.asarray(float(np.sum(1 / places)) * m / places)

    return _adjusted(p, log, factors, _least_from_the_right)


def _least_from_the_right(values: Floats) -> Floats:
    return np.minimum.accumulate(values[::-1])[::-1]


def _adjusted(
    p: ArrayLike,
    log: bool,
    factors: Callable[[int], NDArray[Any]],
    accumulate: Callable[[Floats], Floats],
) -> Floats:
    """Return p, sorted, times factors of their number, accumulated, in its own order."""
    values = np.array(p, np.float64)
    if np.any(values > (0 if log else 1)) or (not log and np.any(values < 0)):
        raise ValueError(f"no {'ln p' if log else 'p'}: {np.nanmin(values)}..{np.nanmax(values)}")
    tested = ~np.isnan(values)
    order = np.argsort(values[tested], kind="stable")
    ascending, times = values[tested][order], factors(order.size)
    raised = ascending + np.log(times) if log else ascending * times  # a log would round a plain p
    restored = np.empty_like(ascending)
    restored[order] = np.minimum(accumulate(raised), 0.0 if log else 1.0)
    values[tested] = restored
    return values
