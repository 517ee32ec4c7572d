"""Steps out of a reply: one numbered list, whatever stands around it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgescope.parsing.score import is_refusal

FEWEST, MOST = 3, 10
"""Steps of a list."""
SHORTEST, LONGEST = 15, 400
"""Characters of a step."""
LETTERS = 0.3
"""Of a step's characters: fewer are no sentence. In some scripts, half of a word is marks."""
_ITEM = re.compile(
    r" {0,3}(?:#+ *)?(?:\*\*|__)?(?:step +(\d{1,2}) *[:.)-]|\(?(\d{1,2})[.)、．）])"
    r"(?:\*\*|__)?(?:\s+|$)(.*)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"\*\*|__")
_FENCE = "```"
_JOINERS = "\u200c\u200d"
"""Not printable, and parts of words in some scripts."""


class Steps(NamedTuple):
    """The items of a list with the numbers that they bear, and what stands before them."""

    before: str
    numbers: list[int]
    texts: list[str]


def read_steps(text: str) -> Steps:
    """Return the numbered items of a text (1. or 1) or Step 1:), each with its further lines.

    A line goes with the item above it, after a blank line only where it is indented.
    """
    before: list[str] = []
    items: list[tuple[int, list[str]]] = []
    ended = False
    for line in text.splitlines():
        found = _ITEM.match(line)
        if found:
            items.append((int(found[1] or found[2]), [found[3]]))
            ended = False
        elif not line.strip() or line.startswith(_FENCE):
            ended = True
        elif not items:
            before.append(line)
        elif not ended or line[0].isspace():
            items[-1][1].append(line)
    texts = [one_line(" ".join(lines)) for _, lines in items]
    return Steps("\n".join(before), [number for number, _ in items], texts)


def one_line(text: str) -> str:
    """Return a text on one line, without emphasis and without signs that cannot be seen."""
    shown = (one for one in text if one.isprintable() or one.isspace() or one in _JOINERS)
    return " ".join(_EMPHASIS.sub("", "".join(shown)).split())


def problem_of(text: str) -> str | None:
    """Return the first reason why a text is no usable list of steps, or None."""
    return next(_problems(read_steps(text), text), None)


def _problems(found: Steps, text: str) -> Iterator[str]:
    count = len(found.texts)
    if is_refusal(found.before if count else text):
        yield "it is a refusal"
    if not count:
        yield "it has no numbered list"
    if found.numbers != [*range(1, count + 1)]:
        yield "it is not one list that is numbered 1, 2, 3 and so on"
    if not FEWEST <= count <= MOST:
        yield f"it has {count} step{'s' * (count != 1)}, not {FEWEST} to {MOST}"
    for number, step in enumerate(found.texts, start=1):
        if not SHORTEST <= len(step) <= LONGEST:
            yield f"step {number} has {len(step)} characters, not {SHORTEST} to {LONGEST}"
        if sum(map(str.isalpha, step)) < LETTERS * len(step):
            yield f"step {number} is no sentence"
        if step.casefold() in map(str.casefold, found.texts[: number - 1]):
            yield f"step {number} repeats another"
