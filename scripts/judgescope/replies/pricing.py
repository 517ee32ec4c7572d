"""How many tokens a text has, and what tokens cost."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from judgescope.schema.cards import Price

PER_MILLION = 1000
"""Dollars per million tokens -> billionths of a dollar per token."""


def nanodollars(usage: Mapping[str, int | None], price: "Price") -> int:
    """Return the price of a usage in billionths of a dollar, rounded up.

    Reasoning is part of the completion, cached tokens are part of the prompt.
    """
    prompt, completion = usage.get("prompt") or 0, usage.get("completion") or 0
    cached = min(usage.get("cached") or 0, prompt)
    again = price.input if price.cached_input is None else price.cached_input
    each = (prompt - cached) * price.input + cached * again + completion * price.output
    return math.ceil(each * PER_MILLION - 1e-6)


class Density(NamedTuple):
    """Tokens per character of a prompt, and how that is known."""

    tokens: float
    told: str


CHARACTERS = 4
ENOUGH = 20
"""An estimate rests on so many replies at least."""
GUESSED = Density(1 / CHARACTERS, f"a guess: {CHARACTERS} characters a token")


def density(tokens: int, characters: int, replies: int, where: str) -> Density:
    """Return the density of replies that are known, or a guess where they are too few."""
    if replies < ENOUGH or not characters:
        return GUESSED
    return Density(tokens / characters, f"as in {replies} replies {where}")


def tokenizer(path: Path, where: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text by a model's tokenizer.json.

    Raises UserError where the file is none, or the package that reads it is not installed.
    """
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UserError(
            "the package that reads a tokenizer is not installed",
            where=f"{where}, key tokenizer",
            todo="pip install tokenizers, or leave the key out: then replies so far tell",
        ) from None
    try:
        read = Tokenizer.from_file(str(path))
    except Exception as error:  # its own kinds are not exported
        raise UserError(
            f"this tokenizer cannot be read: {error}",
            where=f"{where}, key tokenizer",
            got=str(path),
        ) from None
    return lambda text: len(read.encode(text, add_special_tokens=False).ids)
