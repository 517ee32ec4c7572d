"""Which replies are wanted: millions of keys in flat arrays, 32 bytes a key."""

from collections.abc import Callable, Iterable, Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.bytes_]
Counts = NDArray[np.int64]
Chosen = Callable[[Keys], NDArray[np.bool_]]
"""Of some keys, which are wanted."""
KEY = np.dtype("S32")
"""A key as bytes. NumPy's strings end in NULs that it does not show, and compare as whole ones."""


def joined(several: Iterable[Mapping[str, Keys]]) -> dict[str, Keys]:
    """Return the keys of several studies, by shard."""
    found: dict[str, list[Keys]] = {}
    for one in several:
        for shard, keys in one.items():
            found.setdefault(shard, []).append(keys)
    return {shard: np.concatenate(keys) for shard, keys in found.items()}


def having(keys: Keys | None) -> Chosen:
    """Return what says of keys whether they are among these; none are among None."""
    some = np.empty(0, KEY) if keys is None else keys
    return Wanted(some, np.ones(len(some), np.int64)).has


class Wanted:
    """Keys, each once and ascending, and the draws of each, 0 to `draws` - 1.

    Of equal keys the most draws count; `representative` is the number of the first that wants them,
    counted from 0 or as `numbers` says.
    All draws stand in one row: draw d of key k is slot `first[k] + d`, of `slots`.
    """

    def __init__(self, keys: Keys, draws: Counts, numbers: Counts | None = None) -> None:
        by_draws = np.argsort(-draws, kind="stable")
        self.keys, first = np.unique(keys[by_draws], return_index=True)
        chosen = by_draws[first]
        self.representative = chosen if numbers is None else numbers[chosen]
        self.draws = draws[chosen]
        self.first = np.cumsum(self.draws) - self.draws
        self.slots = int(self.draws.sum())

    @classmethod
    def of(cls, draws: Mapping[str, int]) -> Self:
        """Return what is wanted as a mapping: key in hex -> how many draws."""
        keys = np.array([bytes.fromhex(key) for key in draws], KEY)
        return cls(keys, np.fromiter(draws.values(), np.int64, len(draws)))

    def places(self, keys: Keys) -> Counts:
        """Return the place of each of the keys among the wanted ones, -1 where it is none."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, found, -1)

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which of the keys are wanted."""
        return self.places(keys) >= 0

    def place(self, key: str) -> int:
        """Return the place of a key that is wanted."""
        return int(self.keys.searchsorted(bytes.fromhex(key)))
