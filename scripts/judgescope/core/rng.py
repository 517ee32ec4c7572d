"""Named random streams: a choice is reproducible from the study's seed and the stream's
name.
"""

import hashlib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def stream_seed(seed: int, *names: str | int) -> int:
    """Return a 128-bit integer that depends on `seed` and every part of the name, in
    order.

    Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") are different
    streams.
    """
    text = ""
    for name in (seed, *names):
        part = str(name)
        text += f"{len(part)}:{part}"
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:16], "big")


def stream(seed: int, *names: str | int) -> "Generator":
    """Return the PCG64 generator of the stream `names` of a study with this seed."""
    import numpy as np

    return np.random.default_rng(stream_seed(seed, *names))


def share_of(
    items: Iterable[str], share: float, *, seed: int, dataset: str
) -> frozenset[str]:
    """Return ceil(share · n) of the n items: the first in an order drawn with the
    study's seed.
    """
    names = frozenset(items)
    if share >= 1:
        return names
    return first_of(names, share, seed, "share", dataset)


def first_of(
    items: Iterable[str], share: float, seed: int, *names: str
) -> frozenset[str]:
    """Return ceil(share · n) of n different items, at least one: the first by their own
    streams.
    """
    ordered = sorted(items, key=lambda item: (stream_seed(seed, *names, item), item))
    # Less a little: .1 * 30 is a bit more than 3 in floating point.
    count = math.ceil(share * len(ordered) - 1e-9)
    return frozenset(ordered[: max(1, count)])
