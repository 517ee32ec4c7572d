"""p-values adjusted for the number of tests: Holm (family-wise) and Benjamini-Hochberg (FDR)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike, *, log: bool = False) -> NDArray[np.float64]:
    """Return max over j <= i of (m - j + 1) p_(j), at most 1, in the order and shape of p.

    All of p is one family; with `log`, p and the result are ln p. NaN (no test was made) stays NaN
    and does not count in m; ValueError outside [0, 1]. Source: Holm 1979.
    """
    values, tested, order = _ascending(p, log)
    m = order.size
    raised = values[tested][order] + np.log(np.arange(m, 0, -1))
    values[tested] = _reordered(np.maximum.accumulate(raised), order)
    return values if log else np.exp(values)


def benjamini_hochberg(p: ArrayLike, *, log: bool = False) -> NDArray[np.float64]:
    """Return min over j >= i of (m / j) p_(j), at most 1, in the order and shape of p.

    Arguments and NaN as in `holm`. Source: Benjamini and Hochberg 1995.
    """
    values, tested, order = _ascending(p, log)
    m = order.size
    raised = values[tested][order] + np.log(m / np.arange(1, m + 1))
    values[tested] = _reordered(np.minimum.accumulate(raised[::-1])[::-1], order)
    return values if log else np.exp(values)


def _ascending(
    p: ArrayLike, log: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    """Return a copy of ln p, which of it was tested, and the order of those."""
    values = np.array(p, np.float64)
    if np.any(values > (0 if log else 1)) or (not log and np.any(values < 0)):
        raise ValueError(f"no {'ln p' if log else 'p'}: {np.nanmin(values)}..{np.nanmax(values)}")
    if not log:
        with np.errstate(divide="ignore"):
            values = np.log(values)
    tested = ~np.isnan(values)
    return values, tested, np.argsort(values[tested], kind="stable")


def _reordered(ascending: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return values, sorted by `order`, in their first order and capped at ln 1."""
    restored = np.empty_like(ascending)
    restored[order] = np.minimum(ascending, 0.0)
    return restored
