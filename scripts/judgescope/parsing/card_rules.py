"""Parsers for judges whose card says how their replies state a verdict: by a pattern,
or by a path in JSON.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import CHOICE_VALUES, Judgment, Scale, parser
from judgescope.parsing.reasoning import answer_of
from judgescope.parsing.text import nothing_read

if TYPE_CHECKING:
    import regex

GROUP: Final = "verdict"
"""The group of a pattern that captures the verdict."""
SEARCHED: Final = 20_000
"""How many characters at the end of an answer are searched."""
TIME_LIMIT: Final = 1.0
"""Seconds that the search of one reply may take."""
TIMEOUT: Final = "pattern.timeout"
"""The rule of a reply whose search took longer."""
NO_MAP: Final[Mapping[str, str]] = MappingProxyType({})

_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)", re.ASCII)
_INDEX = re.compile(r"-?\d+", re.ASCII)
_START_OF_JSON = re.compile(r"[{\[]")


class PatternError(ValueError):
    """A pattern or a path that cannot be used; the text says why."""


@lru_cache(maxsize=64)
def compiled(pattern: str) -> "regex.Pattern[str]":
    """The compiled pattern; PatternError if it is invalid or lacks the group
    `verdict`.

    >>> compiled(r"(?P<verdict>[1-5])/5").groupindex["verdict"]
    1
    """
    # Imported here: jobs that parse replies without such a rule do not need it.
    import regex

    try:
        made = regex.compile(pattern)
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise PatternError(f"the pattern cannot be compiled: {error}") from None
    if GROUP not in made.groupindex:
        raise PatternError(f"the pattern has no group (?P<{GROUP}>…)")
    return made


def steps_of(path: str) -> list[str]:
    """The keys and list indexes of a dotted path; PatternError if one is empty.

    >>> steps_of("result.scores.0")
    ['result', 'scores', '0']
    """
    steps = path.split(".")
    if not all(step.strip() for step in steps):
        raise PatternError("the path has an empty key")
    return steps


@parser("pattern", 2, settings=("pattern",), options=("mapped", "tie"), in_cards=False)
def read_pattern(
    text: str,
    scale: Scale | None,
    *,
    pattern: str,
    mapped: Mapping[str, str] = NO_MAP,
    tie: str = "",
) -> Judgment:
    """The verdict that the pattern's group `verdict` captures in its last match.

    Only the last `SEARCHED` characters of the answer are searched. scale: None if the
    judge chooses between two texts; mapped: captured words -> values; tie: see
    `read_choice`.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    start = max(0, len(answer) - SEARCHED)
    last = None
    try:
        for match in compiled(pattern).finditer(answer[start:], timeout=TIME_LIMIT):
            if match[GROUP] is not None:
                last = match
    except TimeoutError:
        return Judgment("unparsed", TIMEOUT)
    if last is None:
        return nothing_read(answer, "pattern.no_match")
    rest = answer[: start + last.start()] + answer[start + last.end() :]
    judgment = read_verdict(last[GROUP], scale, "pattern", mapped=mapped, tie=tie)
    return judgment._replace(rationale=rest.strip() or None)


@parser("path", 2, settings=("path",), options=("mapped", "tie"), in_cards=False)
def read_path(
    text: str,
    scale: Scale | None,
    *,
    path: str,
    mapped: Mapping[str, str] = NO_MAP,
    tie: str = "",
) -> Judgment:
    """The verdict at a path in the last JSON object or list that has this path.

    Only the last `SEARCHED` characters of the answer are searched; text around the JSON
    is allowed. The arguments are those of `read_pattern`.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    start = max(0, len(answer) - SEARCHED)
    steps = steps_of(path)
    rule = "path.no_json"
    last = None
    for part in _json_parts(answer[start:]):
        rule = "path.missing"
        stated = _value_at(part.value, steps)
        if stated is not None:
            last = part, stated
    if last is None:
        return nothing_read(answer, rule)
    part, stated = last
    rest = answer[: start + part.start] + answer[start + part.end :]
    judgment = read_verdict(stated, scale, "path", mapped=mapped, tie=tie)
    return judgment._replace(rationale=rest.strip() or None)


def read_verdict(
    stated: str,
    scale: Scale | None,
    rule: str,
    *,
    mapped: Mapping[str, str] = NO_MAP,
    tie: str = "",
) -> Judgment:
    """The judgment of a verdict's words: a value or label of the scale, or a choice.

    The words are first replaced by those that `mapped` gives for them, ignoring case
    and blanks. A number outside the scale has the status that `Scale.read` gives it;
    anything else that is not on the menu is unparsed, with the rule `<rule>.off_menu`.

    >>> read_verdict("Good", Scale(1, 5, 1), "pattern", mapped={"good": "4"}).value
    4.0
    >>> read_verdict("fine", Scale(1, 5, 1), "pattern").rule
    'pattern.off_menu'
    >>> read_verdict("b", None, "pattern").value
    -1.0
    """
    words = plain_words(stated)
    replaced = {plain_words(word): plain_words(to) for word, to in mapped.items()}
    words = replaced.get(words, words)
    off_menu = Judgment("unparsed", f"{rule}.off_menu")
    if scale is None:
        letter = words
        if tie and words == tie.lower():
            letter = "tie"
        if letter not in CHOICE_VALUES:
            return off_menu
        return Judgment("ok", rule, CHOICE_VALUES[letter], letter)
    if scale.words:
        labelled = scale.read_word(words, rule)
        return labelled if labelled.status == "ok" else off_menu
    for number, label in enumerate(scale.labels):
        if words == plain_words(label):
            return Judgment("ok", rule, scale.value_of(number), label)
    if _DECIMAL.fullmatch(words):
        return scale.read(float(words), rule)
    return off_menu


def plain_words(text: str) -> str:
    """A text as verdicts are compared: lower case, plain digits, single blanks."""
    return " ".join(fold(text).split()).casefold()


class _JsonPart(NamedTuple):
    """An outermost JSON object or list of an answer, and where it stands."""

    value: object
    start: int
    end: int


def _json_parts(answer: str) -> Iterator[_JsonPart]:
    # strict=False: models write line breaks into strings
    decoder = json.JSONDecoder(strict=False)
    end = 0
    while begin := _START_OF_JSON.search(answer, end):
        start = begin.start()
        try:
            value, end = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield _JsonPart(value, start, end)


def _value_at(value: object, steps: list[str]) -> str | None:
    """The text of a string, number or truth value at a path; None if there is none."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step):
            index = int(step)
            if not -len(value) <= index < len(value):
                return None
            value = value[index]
        else:
            return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return None
