"""Matrix products that are the same, bit for bit, for any number of threads."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController


def dot(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return sum_k a_..k b_k..: (..., k) and (k, ...) -> (..., ...), worked off by one thread.

    With several, BLAS may add in another order, and the last digits would tell how many there were.
    """
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(np.tensordot(a, b, axes=1), dtype=np.float64)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()
