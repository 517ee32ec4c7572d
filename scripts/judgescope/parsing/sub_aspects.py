"""Sub-aspects out of a reply: a name and its definition on each line."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgescope.parsing.score import is_refusal
from judgescope.parsing.steps import LETTERS, LONGEST, SHORTEST, one_line

FEWEST, MOST = 2, 8
"""Sub-aspects of an aspect."""
LONGEST_NAME = 60
"""Characters; more is a sentence."""
_MARK = re.compile(r"\A(?:[-*•·]|#++|\(?\d{1,2}[.)])\s+")
_PAIR = re.compile(r"([^:：]+?)\s*[:：]\s*(\S.*)")
_LEAD_IN = (":", "：")
_FENCE = "```"


class SubAspect(NamedTuple):
    """A part of an aspect, as a model names and explains it."""

    name: str
    definition: str


def read_sub_aspects(text: str) -> list[SubAspect]:
    """Return the parts that the lines of a text tell, without those that tell none."""
    return [part for part in map(_part, _lines(text)[1]) if part]


def _lines(text: str) -> tuple[str, list[str]]:
    """Return what leads a list in, and the lines that should tell a part each."""
    lines = [_MARK.sub("", one_line(line), count=1) for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(_FENCE)]
    led_in = bool(told) and told[0].endswith(_LEAD_IN)
    return told[0] if led_in else "", told[led_in:]


def _part(line: str) -> SubAspect | None:
    found = _PAIR.fullmatch(line)
    return SubAspect(found[1], found[2]) if found else None


def problem_of(text: str) -> str | None:
    """Return the first reason why a text is no usable list of sub-aspects, or None."""
    return next(_problems(text), None)


def _problems(text: str) -> Iterator[str]:
    lead_in, lines = _lines(text)
    found = read_sub_aspects(text)
    # a definition may say what somebody cannot do
    if any(is_refusal(getattr(_part(line), "name", line)) for line in (lead_in, *lines)):
        yield "it is a refusal"
    for number, line in enumerate(lines, start=1):
        if _part(line) is None:
            yield f"line {number} is no name with a definition behind a colon"
    if not FEWEST <= len(found) <= MOST:
        yield f"it has {len(found)} sub-aspect{'s' * (len(found) != 1)}, not {FEWEST} to {MOST}"
    for number, (name, definition) in enumerate(found, start=1):
        if len(name) > LONGEST_NAME or not any(map(str.isalpha, name)):
            yield f"name {number} is no name of at most {LONGEST_NAME} characters"
        if not SHORTEST <= len(definition) <= LONGEST:
            yield (
                f"definition {number} has {len(definition)} characters, not {SHORTEST} to {LONGEST}"
            )
        if sum(map(str.isalpha, definition)) < LETTERS * len(definition):
            yield f"definition {number} is no sentence"
        earlier = found[: number - 1]
        if name.casefold() in (one.name.casefold() for one in earlier):
            yield f"name {number} repeats another"
        if definition.casefold() in (one.definition.casefold() for one in earlier):
            yield f"definition {number} repeats another"
