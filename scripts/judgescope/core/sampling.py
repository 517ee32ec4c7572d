"""A share of a dataset's items: seeded, the same for all judges, a smaller one within a larger."""

import math
from collections.abc import Iterable

from judgescope.core.rng import stream_seed


def share_of(items: Iterable[str], share: float, *, seed: int, dataset: str) -> frozenset[str]:
    """Return ceil(share · n) of the n items: the first in an order drawn by the study's seed."""
    names = set(items)
    if share >= 1:
        return frozenset(names)
    ordered = sorted(names, key=lambda item: (stream_seed(seed, "share", dataset, item), item))
    return frozenset(ordered[: math.ceil(share * len(ordered) - 1e-9)])
