"""Prices of tokens, numbers of tokens in texts, and the speed of a model's earlier
replies.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from judgescope.schema.cards import Price

CHARACTERS = 4  # the assumed characters per token
ENOUGH = 20  # the minimum number of replies for an estimate
PACE_FOLDER = "pace"


def nanodollars(usage: Mapping[str, int | None], price: "Price") -> int:
    """Return the price of a usage in billionths of a dollar, rounded up.

    Reasoning is part of the completion, cached tokens are part of the prompt.
    """
    prompt = usage.get("prompt") or 0
    completion = usage.get("completion") or 0
    cached = min(usage.get("cached") or 0, prompt)
    cached_price = price.input if price.cached_input is None else price.cached_input
    dollars = (
        (prompt - cached) * price.input
        + cached * cached_price
        + completion * price.output
    )
    per_million = 1000  # dollars per million tokens -> billionths of a dollar per token
    return math.ceil(dollars * per_million - 1e-6)


class Density(NamedTuple):
    """Tokens per character of a prompt, and the basis of the estimate."""

    tokens: float
    basis: str


GUESSED = Density(1 / CHARACTERS, f"assumed at {CHARACTERS} characters per token")


def density(tokens: int, characters: int, replies: int, where: str) -> Density:
    """Return the density of known replies, or an assumption if there are too few."""
    if replies < ENOUGH or not characters:
        return GUESSED
    return Density(tokens / characters, f"as in {replies} replies {where}")


def cut_requests(characters: Iterable[int], tokens: Iterable[int]) -> int:
    """How many requests have far fewer tokens than their length lets expect, as if the
    host had cut them.

    characters, tokens: of each request. Far fewer are less than one for ten characters,
    or less than half of what the shorter half of the requests has for its length. 0 of
    fewer than ENOUGH requests, as nothing is known of them then.

    >>> cut_requests([400] * 20 + [8000] * 5, [100] * 20 + [512] * 5)
    5
    >>> cut_requests([400] * 20 + [8000] * 5, [100] * 20 + [2000] * 5)
    0
    """
    pairs = sorted(zip(characters, tokens, strict=True))
    if len(pairs) < ENOUGH:
        return 0
    shorter = sorted(known / size for size, known in pairs[: len(pairs) // 2] if size)
    usual = 0.0
    if shorter:
        usual = shorter[len(shorter) // 2]
    sparsest = 1 / 10
    least = max(sparsest, usual / 2)
    return sum(known < least * size for size, known in pairs)


def tokenizer(path: Path, where: str) -> Callable[[str], int]:
    """Return a function that counts the tokens of a text by a model's tokenizer.json.

    Raises UserError if the file cannot be read or the package tokenizers is not
    installed.
    """
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UserError(
            "the package `tokenizers` is not installed",
            where=f"{where}, key tokenizer",
            todo="run `pip install tokenizers`, or omit the key: the estimate then "
            "uses stored replies",
        ) from None
    try:
        read = Tokenizer.from_file(str(path))
    except Exception as error:  # the package exports no exception classes
        raise UserError(
            f"this tokenizer cannot be read: {error}",
            where=f"{where}, key tokenizer",
            got=str(path),
        ) from None
    return lambda text: len(read.encode(text, add_special_tokens=False).ids)


class Pace(NamedTuple):
    """Sums over replies with usage, and over the seconds of jobs.

    `size`: bytes of the prompts; `densest`: the most prompt tokens per byte in one
    request. Each job that asks writes its pace to a file next to its journals. Only
    estimates use it; no table depends on it.
    """

    replies: int = 0
    seconds: float = 0.0
    size: int = 0
    prompt: int = 0
    densest: float = 0.0

    def with_request(self, size: int, prompt: int, replies: int) -> "Pace":
        """Return the pace with one more request."""
        return joined([self, Pace(replies, 0.0, size, prompt, prompt / size)])


def joined(paces: Iterable[Pace]) -> Pace:
    """Return the pace of several jobs together."""
    columns = list(zip(*paces, strict=True))
    if not columns:
        return Pace()
    replies, seconds, size, prompt, densest = columns
    return Pace(sum(replies), sum(seconds), sum(size), sum(prompt), max(densest))


def read_pace(shard: Path) -> Pace:
    """Return the pace of all earlier jobs of a model; incomplete files are skipped."""
    paces = []
    for path in sorted((shard / PACE_FOLDER).glob("*.json")):
        try:
            pace = Pace(**json.loads(path.read_bytes()))
            sum(pace)  # fails unless all values are numbers
        except (ValueError, TypeError):
            continue
        paces.append(pace)
    return joined(paces)


def write_pace(journals: Path, pace: Pace) -> None:
    """Write the pace of the job whose journal paths start with `journals`."""
    path = journals.parent / PACE_FOLDER / f"{journals.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(pace._asdict()), encoding="utf-8")
