"""Whether a judge can be trained on this machine, checked before its teacher is asked anything."""

import hashlib
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.distill.training.base import GB, Base, Chat, Size
from judgescope.distill.training.train import adapted
from judgescope.schema.cards import Recipe

RECIPE = "study, key distill.recipe"
MEMINFO = Path("/proc/meminfo")
FLOAT32 = 4
Row = Mapping[str, Any]


class Longest(NamedTuple):
    """The longest prompt that there may be, with what still has to be written into it."""

    tokens: int
    about: str


def check_device(device: str) -> None:
    """Raise UserError if the training's device is not on this machine."""
    if device == "cuda" and not import_module("torch").cuda.is_available():
        raise UserError(
            "torch finds no usable GPU",
            where=f"{RECIPE}.device",
            got=device,
            todo="run on a machine with a GPU, or set `cpu`, which suits only small trials",
        )


def check_dtype(base: Base, device: str) -> None:
    """Raise UserError if the device cannot train with the numbers of the base's weights."""
    able = ["float32"]
    # a GPU without bfloat16 would emulate it, and vLLM refuses
    if device == "cpu" or import_module("torch").cuda.is_bf16_supported(False):
        able.append("bfloat16")
    if device == "cuda":
        able.append("float16")
    if base.dtype not in able:
        raise UserError(
            f"training on this {'GPU' if device == 'cuda' else 'CPU'} does not support this "
            "number format",
            where=f"{base.where}, key dtype",
            got=base.dtype,
            allowed=able,
            todo="set an allowed format there, or train on another machine",
        )


def longest(rows: Iterable[Row], base: Base) -> Longest:
    """Return the longest prompt of a sample."""
    chat = Chat(base)
    chat.ending  # noqa: B018  raises where the template does not say how a reply ends
    return max(
        Longest(
            len(chat.prompt([{"role": "user", "content": row["prompt"]}])) + row["room"],
            f"{row['dataset']}: {row['target']}, {row['aspect']}",
        )
        for row in rows
    )


def check_context(base: Base, prompt: Longest, replies: int) -> None:
    """Raise UserError if the longest prompt leaves no room for the longest reply."""
    if prompt.tokens + replies > base.context:
        raise UserError(
            "the longest prompt and reply exceed the base model's context",
            where=f"{base.where}, key max_model_len"
            if base.context == base.card.max_model_len
            else f"{base.where}, key name",
            got=f"{prompt.tokens} + {replies} tokens ({prompt.about})",
            allowed=f"{base.context} tokens",
            todo=(
                "name a base model with a longer context, lower the judge's max_tokens, or "
                "remove the dataset"
            ),
        )


def checked(base: Base, recipe: Recipe, rows: Iterable[Row], replies: int) -> Row:
    """Return what there is to know of a training beforehand, the same on every machine.

    `replies`: the most tokens that a reply may have. Raises UserError for what would fail.
    """
    check_dtype(base, recipe.device)
    prompt = longest(rows, base)
    check_context(base, prompt, replies)
    size = base.size(lambda model: adapted(model, recipe))
    estimate = needed(
        size,
        rank=recipe.rank,
        batch=recipe.device_batch,
        tokens=prompt.tokens + replies,
        replies=replies,
    )
    check_memory(base, recipe, estimate, free(recipe.device))
    return {
        "parameters": size.parameters,
        "trainable": size.trainable,
        "bytes": estimate,
        "longest_prompt": prompt.tokens,
        "context": base.context,
        "commit": base.commit,
        "chat_template": hashlib.sha256(base.template.encode()).hexdigest(),
    }


def check_memory(base: Base, recipe: Recipe, estimate: int, room: int) -> None:
    """Raise UserError if a training takes more memory than its device has free."""
    if estimate > room:
        raise UserError(
            f"the training needs about {estimate / GB:.1f} GB, and the device has "
            f"{room / GB:.1f} GB free",
            where=f"{RECIPE}.device_batch; {base.where}, key name",
            got=f"device_batch {recipe.device_batch}, {base.card.name}",
            todo=(
                "reduce device_batch, name a smaller base model, or stop other programs on "
                "the device; quantized weights cannot be trained"
            ),
        )


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
