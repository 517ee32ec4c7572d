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
Weights = Counts | None
"""How often each resample takes each source, (resamples, sources); None for no
interval."""
DIGITS = 12
"""Decimals of distances: tenths have no binary form, and equal distances must be
equal."""
ROUND_OFF = 4e-15
"""The largest relative error of the sum of a few decimals."""
CELLS = 1_000_000
"""Size of a temporary array: resamples and pairs are worked off in blocks of it."""


def blocks(length: int, width: int, cells: int) -> Iterator[slice]:
    """Yield slices of 0..length, each of about cells / width."""
    step = max(1, cells // max(1, width))
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def dot(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return sum_k a_..k b_k..: (..., k) and (k, ...) -> (..., ...), computed by one
    thread.

    Several threads may add in another order, which would change the last digits.
    """
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(np.tensordot(a, b, axes=1), dtype=np.float64)


def decimal_mean(total: NDArray[Any], n: NDArray[Any]) -> Floats:
    """Return total / n, NaN for 0 / 0, so that means of decimals that are equal are
    equal numbers.

    A total that is a number of up to 9 decimals but for round-off is taken as that
    number.
    """
    unit = 1e9
    whole = np.round(total * unit)
    off, size = np.abs(total * unit - whole), np.abs(whole)
    is_decimal = (off <= ROUND_OFF * size) & (size < 2**53)
    return np.where(is_decimal, quotient(whole, n * unit), quotient(total, n))


def quotient(a: NDArray[Any], b: NDArray[Any] | int) -> Floats:
    """Return a / b, NaN for 0 / 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(a / b, dtype=np.float64)


def place_within(group: Codes) -> Codes:
    """Return the number of each member among those of its group, from 0, in their
    order.
    """
    order = np.argsort(group, kind="stable")
    place = np.empty(group.size, dtype=np.int64)
    place[order] = np.arange(group.size) - np.searchsorted(group[order], group[order])
    return place


@cache
def _blas() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController  # absent where models are asked

    return ThreadpoolController()
