"""What is checked before a judge is trained: its device, its memory, its context."""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.process_limits import available_memory
from judgescope.extensions.distill.training.base import (
    GB,
    AdapterBase,
    Chat,
    Size,
    adapted,
)
from judgescope.schema.cards import Recipe

RECIPE = "study, key distill.recipe"


class Longest(NamedTuple):
    """The longest prompt, including room for a text that is not written yet."""

    tokens: int
    about: str


def check_device(device: str) -> None:
    """Raise UserError if the training's device is not on this machine."""
    if device != "cuda":
        return
    import torch

    if not torch.cuda.is_available():
        raise UserError(
            "torch finds no usable GPU",
            where=f"{RECIPE}.device",
            got=device,
            todo="run on a machine with a GPU, or set `cpu`, which suits only small "
            "trials",
        )


def check_dtype(base: AdapterBase, device: str) -> None:
    """Raise UserError if the device does not support the number format of the
    weights.
    """
    able = ["float32"]
    if device == "cpu":
        able.append("bfloat16")
    else:
        import torch

        # A GPU without bfloat16 would emulate it, and vLLM refuses.
        if torch.cuda.is_bf16_supported(False):
            able.append("bfloat16")
        able.append("float16")
    if base.dtype not in able:
        raise UserError(
            f"training on this {'GPU' if device == 'cuda' else 'CPU'} does not support "
            "this number format",
            where=f"{base.where}, key dtype",
            got=base.dtype,
            allowed=able,
            todo="set an allowed format there, or train on another machine",
        )


def longest(rows: Iterable[dict[str, Any]], base: AdapterBase) -> Longest:
    """Return the longest prompt of a sample."""
    chat = Chat(base)
    chat.ending  # noqa: B018  raises if the template does not define the end of a reply
    prompts = []
    for row in rows:
        tokens = chat.prompt([{"role": "user", "content": row["prompt"]}])
        about = f"{row['dataset']}: {row['target']}, {row['aspect']}"
        prompts.append(Longest(len(tokens) + row["room"], about))
    return max(prompts)


def check_context(base: AdapterBase, prompt: Longest, replies: int) -> None:
    """Raise UserError if the longest prompt leaves no room for the longest reply."""
    if prompt.tokens + replies > base.context:
        limited = base.context == base.card.max_model_len
        raise UserError(
            "the longest prompt and reply exceed the base model's context",
            where=f"{base.where}, key {'max_model_len' if limited else 'name'}",
            got=f"{prompt.tokens} + {replies} tokens ({prompt.about})",
            allowed=f"{base.context} tokens",
            todo=(
                "name a base model with a longer context, lower the judge's "
                "max_tokens, or remove the dataset"
            ),
        )


def checked(
    base: AdapterBase, recipe: Recipe, rows: Iterable[dict[str, Any]], replies: int
) -> dict[str, Any]:
    """Return the known facts about a training, the same on every machine.

    `replies`: the most tokens that a reply may have. Raises UserError if it would fail.
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


def check_memory(
    base: AdapterBase, recipe: Recipe, estimate: int, room: int | None
) -> None:
    """Raise UserError if a training needs more memory than its device has free."""
    if room is not None and estimate > room:
        raise UserError(
            f"the training needs about {estimate / GB:.1f} GB, and the device has "
            f"{room / GB:.1f} GB free",
            where=f"{RECIPE}.device_batch; {base.where}, key name",
            got=f"device_batch {recipe.device_batch}, {base.card.name}",
            todo=(
                "reduce device_batch, name a smaller base model, or stop other "
                "programs on the device; quantized weights cannot be trained"
            ),
        )


def needed(size: Size, *, rank: int, batch: int, tokens: int, replies: int) -> int:
    """P·b + (20 + 2b)·T + n·L·h·b + n·T/(r·L)·(2b + 4) + m·v·(2b + 12) bytes, about.

    P and T: parameters of the base and of the adapter; b: bytes of a number of the
    base; L, h, v: its layers, their width and its vocabulary; r: the adapter's rank; n
    and m: tokens at once on the device, of `batch` examples that have at most `tokens`,
    `replies` of them in the reply.

    The terms are (1) the base; (2) the adapter, its gradient, two moments and a step's
    update in float32, and the adapter and its gradient in the base's numbers; (3) what
    goes into each layer, all that is kept under gradient checkpointing; (4) the one
    layer that is computed again: what goes into and comes out of its linear layers, the
    gradient, and a float32 copy for the adapter. A linear layer from i to o numbers has
    r·(i + o) parameters in the adapter, so that T/(r·L) numbers go in and out in each
    layer; (5) the predictions of the replies' tokens and their gradient, and three
    times that in float32.
    """
    float32 = 4
    length = batch * tokens
    predicted = batch * replies
    base = size.parameters * size.width
    adapter = size.trainable * (5 * float32 + 2 * size.width)
    layer_inputs = length * size.layers * size.hidden * size.width
    numbers_in_layer = length * size.trainable // (rank * size.layers)
    layer = numbers_in_layer * (2 * size.width + float32)
    predictions = predicted * size.vocabulary * (2 * size.width + 3 * float32)
    return base + adapter + layer_inputs + layer + predictions


def free(device: str) -> int | None:
    """Return the bytes that are free on the device now, a GPU or the machine, if it is
    known.
    """
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    return available_memory()
