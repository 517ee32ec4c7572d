"""How much memory a training takes of its device, told before any weights are loaded."""

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

GB = 1e9
MEMINFO = Path("/proc/meminfo")
FLOAT32 = 4


class Size(NamedTuple):
    """What of a base and its adapter takes memory; `width` is the bytes of one of its numbers."""

    parameters: int
    trainable: int
    layers: int
    hidden: int
    vocabulary: int
    width: int


def needed(size: Size, *, rank: int, batch: int, tokens: int, replies: int) -> int:
    """P·b + (20 + 2b)·T + n·L·h·b + n·T/(r·L)·(2b + 4) + m·v·(2b + 12) bytes, about.

    P and T: parameters of the base and of the adapter; b: bytes of a number of the base; L, h, v:
    its layers, their width and its vocabulary; r: the adapter's rank; n and m: tokens at once on
    the device, of `batch` examples that have at most `tokens`, `replies` of them in the reply.

    The terms are (1) the base; (2) the adapter, its gradient, two moments and a step's update in
    float32, and the adapter and its gradient in the base's numbers; (3) what
    goes into each layer, all that is kept under gradient checkpointing; (4) the one layer that is
    computed again: what goes into and comes out of its linear layers, the gradient, and a float32
    copy for the adapter. A linear layer from i to o numbers has r·(i + o) parameters in the
    adapter, so that T/(r·L) numbers go in and out in each layer; (5) the predictions of the
    replies' tokens and their gradient, and three times that in float32.
    """
    length, predicted = batch * tokens, batch * replies
    return (
        size.parameters * size.width
        + size.trainable * (5 * FLOAT32 + 2 * size.width)
        + length * size.layers * size.hidden * size.width
        + length * size.trainable // (rank * size.layers) * (2 * size.width + FLOAT32)
        + predicted * size.vocabulary * (2 * size.width + 3 * FLOAT32)
    )


def free(device: str) -> int:
    """Return the bytes that are free on the device now: a GPU's, or the machine's."""
    if device == "cuda":
        return int(import_module("torch").cuda.mem_get_info()[0])
    return available(MEMINFO.read_text(encoding="utf-8"))


def available(meminfo: str) -> int:
    """Return the bytes that Linux can give to a process without swapping."""
    [line] = (line for line in meminfo.splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) * 1024
