"""Types of arrays, places within groups, and products that no number of threads
changes.
"""

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Whole numbers from 0 that name a source, a system or a class."""
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
DIGITS = 12
"""Decimals of distances: tenths have no binary form, and equal distances must be
equal."""
CELLS = 1_000_000
"""Size of a temporary array: resamples and pairs are worked off in blocks of it."""


def blocks(length: int, width: int, cells: int) -> Iterator[slice]:
    """Yield slices of 0..length, each of about cells / width.

    >>> [(part.start, part.stop) for part in blocks(5, width=10, cells=20)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, cells // max(1, width))
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def dot(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """sum_k a_..k b_k..: (..., k) and (k, ...) -> (..., ...), computed by one
    thread.

    Several threads may add in another order, which would change the last digits.

    >>> dot(np.array([1.0, 2.0]), np.array([[3.0], [4.0]])).tolist()
    [11.0]
    """
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(np.tensordot(a, b, axes=1), dtype=np.float64)


def decimal_mean(total: NDArray[Any], n: NDArray[Any]) -> Floats:
    """total / n, NaN for 0 / 0, so that means of decimals that are equal are equal
    numbers.

    A total that is a number of up to 9 decimals but for round-off is taken as that
    number.

    >>> total = np.array([0.1 + 0.2, 0.3])
    >>> decimal_mean(total, np.array([3, 3])).tolist()
    [0.1, 0.1]
    """
    unit = 1e9
    rounded = np.round(total * unit)
    off = np.abs(total * unit - rounded)
    size = np.abs(rounded)
    # The largest relative error of the sum of a few decimals.
    round_off = 4e-15
    is_decimal = (off <= round_off * size) & (size < 2**53)
    return np.where(is_decimal, quotient(rounded, n * unit), quotient(total, n))


def quotient(a: NDArray[Any], b: NDArray[Any] | int) -> Floats:
    """a / b, NaN for 0 / 0.

    >>> quotient(np.array([1.0, 0.0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(a / b, dtype=np.float64)


def place_within(group: Codes) -> Codes:
    """The number of each member among those of its group, from 0, in their order.

    >>> place_within(np.array([7, 3, 7, 7])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    members = group[order]
    numbers = np.empty(group.size, dtype=np.int64)
    numbers[order] = np.arange(group.size) - np.searchsorted(members, members)
    return numbers


@cache
def _blas() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController  # absent where models are asked

    return ThreadpoolController()
