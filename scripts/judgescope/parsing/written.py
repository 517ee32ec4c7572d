"""Texts that models write for cards and demonstrations: numbered steps, sub-aspects,
analyses.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgescope.parsing.judgment import STATED, Scale
from judgescope.parsing.score import read_score
from judgescope.parsing.text import is_refusal

STEPS = range(3, 11)
"""The allowed numbers of steps in a list."""
SUB_ASPECTS = range(2, 9)
"""The allowed numbers of sub-aspects of an aspect."""
LONGEST = 400
"""The allowed number of characters in a step or a definition."""
_ITEM = re.compile(
    r" {0,3}(?:#+ *)?(?:\*\*|__)?(?:step +(\d{1,2}) *[:.)-]|\(?(\d{1,2})[.)、．）])"
    r"(?:\*\*|__)?(?:\s+|$)(.*)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\A(?:[-*•·]|#++|\(?\d{1,2}[.)])\s+")
_PAIR = re.compile(r"([^:：]+?)\s*[:：]\s*(\S.*)")
_EMPHASIS = re.compile(r"\*\*|__")
_FENCE = "```"
_RATING = re.compile(
    r"(?<![\s*_#\"'`])[\s*_#\"'`]*+\brating\b[*_\"'\s]*+[:：][^:：\n]*+\Z",
    re.IGNORECASE,
)
"""The rating at the end of an analysis."""


class Steps(NamedTuple):
    """The items of a list with their numbers, and the text before them."""

    before: str
    numbers: list[int]
    texts: list[str]


class SubAspect(NamedTuple):
    """A part of an aspect, as a model names and explains it."""

    name: str
    definition: str


def read_steps(text: str) -> Steps:
    """Return the numbered items of a text (`1.`, `1)` or `Step 1:`) with their further
    lines.

    A line belongs to the item above it; after a blank line, only if it is indented.
    """
    before: list[str] = []
    items: list[tuple[int, list[str]]] = []
    ended = False
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item:
            items.append((int(item[1] or item[2]), [item[3]]))
            ended = False
        elif not line.strip() or line.startswith(_FENCE):
            ended = True
        elif not items:
            before.append(line)
        elif not ended or line[0].isspace():
            items[-1][1].append(line)
    texts = [_one_line(" ".join(lines)) for _, lines in items]
    return Steps("\n".join(before), [number for number, _ in items], texts)


def problem_with_steps(text: str) -> str | None:
    """Return the first reason why a text is not a usable list of steps, or None."""
    return next(_problems_with_steps(text), None)


def _problems_with_steps(text: str) -> Iterator[str]:
    steps = read_steps(text)
    count = len(steps.texts)
    if is_refusal(steps.before if count else text):
        yield "it is a refusal"
    if not count:
        yield "it has no numbered list"
    if steps.numbers != [*range(1, count + 1)]:
        yield "it is not one list that is numbered 1, 2, 3 and so on"
    yield from _wrong_count(count, STEPS, "step")
    for number, step in enumerate(steps.texts, start=1):
        yield from _no_sentence(f"step {number}", step)
        if step.casefold() in map(str.casefold, steps.texts[: number - 1]):
            yield f"step {number} repeats another"


def read_sub_aspects(text: str) -> list[SubAspect]:
    """Return the sub-aspects in the lines of a text (`name: definition`)."""
    return [part for part in map(_sub_aspect, _sub_aspect_lines(text)[1]) if part]


def _sub_aspect_lines(text: str) -> tuple[str, list[str]]:
    """Return the line that introduces a list, if any, and the lines of the list."""
    lines = []
    for line in text.splitlines():
        lines.append(_BULLET.sub("", _one_line(line), count=1))
    lines = [line for line in lines if line and not line.startswith(_FENCE)]
    introduced = bool(lines) and lines[0].endswith((":", "："))
    return lines[0] if introduced else "", lines[introduced:]


def _sub_aspect(line: str) -> SubAspect | None:
    pair = _PAIR.fullmatch(line)
    if pair:
        return SubAspect(pair[1], pair[2])
    return None


def problem_with_sub_aspects(text: str) -> str | None:
    """Return the first reason why a text is not a usable list of sub-aspects, or
    None.
    """
    return next(_problems_with_sub_aspects(text), None)


def _problems_with_sub_aspects(text: str) -> Iterator[str]:
    introduction, lines = _sub_aspect_lines(text)
    parts = [_sub_aspect(line) for line in lines]
    # a definition may say what somebody cannot do
    stated = [
        part.name if part else line for part, line in zip(parts, lines, strict=True)
    ]
    if any(map(is_refusal, (introduction, *stated))):
        yield "it is a refusal"
    for number, part in enumerate(parts, start=1):
        if part is None:
            yield f"line {number} is no name with a definition behind a colon"
    sub_aspects = [part for part in parts if part]
    yield from _wrong_count(len(sub_aspects), SUB_ASPECTS, "sub-aspect")
    # The maximum number of characters in a sub-aspect's name; a longer name is a
    # sentence.
    longest_name = 60
    for number, (name, definition) in enumerate(sub_aspects, start=1):
        if len(name) > longest_name or not any(map(str.isalpha, name)):
            yield f"name {number} is no name of at most {longest_name} characters"
        yield from _no_sentence(f"definition {number}", definition)
        earlier = sub_aspects[: number - 1]
        if name.casefold() in (part.name.casefold() for part in earlier):
            yield f"name {number} repeats another"
        if definition.casefold() in (part.definition.casefold() for part in earlier):
            yield f"definition {number} repeats another"


def _wrong_count(count: int, allowed: range, name: str) -> Iterator[str]:
    if count not in allowed:
        yield (
            f"it has {count} {name}{'s' * (count != 1)}, not {allowed[0]} to "
            f"{allowed[-1]}"
        )


def _no_sentence(name: str, text: str) -> Iterator[str]:
    shortest = 15
    if not shortest <= len(text) <= LONGEST:
        yield f"{name} has {len(text)} characters, not {shortest} to {LONGEST}"
    # The minimum share of letters in a sentence; in some scripts, marks are half of a
    # word.
    least_letters = 0.3
    if sum(map(str.isalpha, text)) < least_letters * len(text):
        yield f"{name} is no sentence"


def _one_line(text: str) -> str:
    """Return a text on one line, without emphasis and without invisible characters."""
    # Not printable, and parts of words in some scripts.
    joiners = "\u200c\u200d"
    shown = (
        sign for sign in text if sign.isprintable() or sign.isspace() or sign in joiners
    )
    return " ".join(_EMPHASIS.sub("", "".join(shown)).split())


def without_rating(text: str) -> str:
    """Return an analysis without the rating that it ends with."""
    rating = _RATING.search(text)
    if rating:
        return text[: rating.start()].strip()
    return text


def problem_with_analysis(text: str, rating: float, scale: Scale) -> str | None:
    """Return why a text is not an analysis that leads to this rating and no other, or
    None.
    """
    last = _RATING.search(text)
    if last is None:
        return f'it does not end in a line "Rating: {rating:g}"'
    if not _states(last[0], rating, scale):
        return f"its last line does not give the rating {rating:g}"
    analysis = without_rating(text)
    if not any(map(str.isalpha, analysis)):
        return "nothing stands before the rating"
    if read_score(analysis, scale).status in STATED and not _states(
        analysis, rating, scale
    ):
        return f"it names another rating than {rating:g}"
    return None


def _states(text: str, rating: float, scale: Scale) -> bool:
    value = read_score(text, scale).value
    return value is not None and abs(value - rating) < 1e-9
