"""What is checked of a judge that shall be trained, before a teacher is asked about anything."""

import hashlib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.distill.training.base import Base
from judgescope.distill.training.examples import Chat
from judgescope.distill.training.memory import GB, free, needed
from judgescope.distill.training.train import adapted
from judgescope.schema.cards import Recipe

RECIPE = "study, key distill.recipe"
NUMBERS = ("float32", "bfloat16", "float16")
Row = Mapping[str, Any]


class Longest(NamedTuple):
    """The longest prompt that there may be, with what has yet to be written into it."""

    tokens: int
    about: str


def check_device(device: str) -> None:
    """Raise UserError if the training's device is not on this machine."""
    if device == "cuda" and not import_module("torch").cuda.is_available():
        raise UserError(
            "there is no GPU here that torch can use",
            where=f"{RECIPE}.device",
            got=device,
            todo="run this where there is one, or take `cpu`, which is for small trials",
        )


def check_dtype(base: Base, device: str) -> None:
    """Raise UserError if the device cannot train with the numbers of the base's weights."""
    able = list(NUMBERS) if device == "cuda" else [one for one in NUMBERS if one != "float16"]
    modern = device == "cpu" or import_module("torch").cuda.is_bf16_supported(False)
    if not modern:  # it would emulate them, and vLLM refuses
        able.remove("bfloat16")
    if base.dtype not in able:
        raise UserError(
            f"a training on this {'GPU' if device == 'cuda' else 'CPU'} cannot have such numbers",
            where=f"{base.where}, key dtype",
            got=base.dtype,
            allowed=able,
            todo="name one of these there, or train on another machine",
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
            "the longest prompt and reply are longer than the base's context",
            where=f"{base.where}, key max_model_len"
            if base.context == base.card.max_model_len
            else f"{base.where}, key name",
            got=f"{prompt.tokens} + {replies} tokens ({prompt.about})",
            allowed=f"{base.context} tokens",
            todo="name a base with a longer context, give the judge fewer max_tokens, or leave "
            "the dataset out",
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
            todo="make device_batch smaller, name a smaller base, or end what else runs there; "
            "quantized weights, which would be smaller, cannot be trained",
        )
