"""Named random streams: a random choice is reproducible from the study's seed and its name."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.random import Generator


def stream_seed(seed: int, *names: str | int) -> int:
    """Return a 128-bit integer that depends on `seed` and every part of the name, in order.

    Parts are length-prefixed, so that ("ab", "c") and ("a", "bc") are different streams.
    """
    parts: Sequence[str] = [str(seed), *map(str, names)]
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def stream(seed: int, *names: str | int) -> "Generator":
    """Return the PCG64 generator of the stream `names` of a study with this seed."""
    import numpy as np

    return np.random.default_rng(stream_seed(seed, *names))
