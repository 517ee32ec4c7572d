"""Signs of echoes of a scale: a reply without one is not searched for them.

The search for echoes (`rating_grammar.py`) tries many patterns at every character. Each
of them needs one of the signs here, which are found much faster: a pattern that begins
with fixed letters, or a word that most replies lack.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from judgescope.parsing.glance import Glance

_AWARDS = r"give|assign|award|deserve|merit|warrant|earn|receive|get|rate|score"
_CLAIMED = (
    r"(?:[ \t]?[:\"'(*][ \t\"'(*]{0,4}(?:rating|score|verdict)"
    r"|(?:[ \t][a-z]{1,20}){0,7}?[ \t](?:rating|score|verdict)[ \t]{1,3}(?:of|is)[ \t])"
)
_DENIED = rf"\s+(?:\w+\s+)?(?:{_AWARDS})\b"
_LIMIT = r"(?:imum)?\.?[_\s]\s*(?:possible\s+)?(?:score|rating|mark|grade)"
_LED: Final = {
    "between": r"between\s+(?:an?\s+)?\.?\d",
    "point": r"point(?:(?<=\d.point)|(?<=one.point)|(?<=two.point)|(?<=six.point)"
    r"|(?<=ten.point)|(?<=zero.point)|(?<=four.point)|(?<=five.point)|(?<=nine.point)"
    r"|(?<=three.point)|(?<=seven.point)|(?<=eight.point))",
    "t": rf"n't{_DENIED}",
    "cannot": rf"cannot{_DENIED}",
}
"""A word with which an echo begins (`isn't`: `isn`, `t`) -> what must follow it.

`point` ends one: a number must stand before it."""
for _word in ("not", "never"):
    _LED[_word] = rf"{_word}{_DENIED}"
for _word in ("perfect", "full", "top", "highest", "best", "possible"):
    _LED[_word] = rf"{_word}{_LIMIT}"
for _word in ("max", "maximum", "min", "minimum"):
    _LED[_word] = rf"{_word[:3]}{_LIMIT}"
for _word in (
    "says",
    "saying",
    "claims",
    "claiming",
    "asks",
    "asking",
    "requests",
    "requesting",
    "states",
    "stating",
    "insists",
    "insisting",
    "orders",
    "ordering",
    "instructs",
    "instructing",
    "tells",
    "telling",
):
    _LED[_word] = rf"{_word}{_CLAIMED}"
_JOINING: Final = ("and", "or", "maybe", "perhaps", "possibly")
"""Words between two numbers of which neither is a verdict."""
_BEFORE_WORD: Final = 20
"""How many characters of an echo stand before its sign: `shouldn't`, `are asking`."""
_FIRST_WORDS: Final = frozenset(word.encode() for word in _LED)
ECHO_WORDS: Final = _FIRST_WORDS | {word.encode() for word in _JOINING}
"""The words that a glance looks for."""


class EchoSigns(NamedTuple):
    """The signs of echoes of one scale, in texts with several numbers.

    digits: a digit, and what follows it; words: a word -> how it leads to a number.
    """

    digits: re.Pattern[str]
    words: dict[bytes, re.Pattern[str]]


def echo_signs(
    number_words: Sequence[str], lowest: str | None, highest: str | None
) -> EchoSigns:
    """Return the signs of echoes of a scale.

    number_words: the names of numbers; lowest, highest: those of the scale's ends, None
    for an end without a name.
    """
    number = rf"[-.]?\d|{'|'.join(number_words)}"
    digits = (
        r"[0-9](?:[- ]point|\s++[-.]?\d|\s*+(?:\(|\.\.|to\b|through\b|and\b"
        rf"|[-~,]\s*+(?:{number})|[/|]\s*+\.?\d++(?:\.\d++)?\s*[/|\n])"
        r"|[*_\"'`)]{0,4}\s(?:for|on|in)\s[a-z ]{1,80}(?:[,;]|and|but)\s)"
    )
    marks = "[*_\"'`]{0,4}"
    doubt = rf", WORD[ \t](?:an?[ \t])?{marks}(?:{number})"
    words = {
        "and": rf"and[ \t]{marks}\.?\d",
        "or": rf"or[ \t](?:maybe |perhaps |even )?{marks}(?:{number})",
    }
    for word in ("maybe", "perhaps", "possibly"):
        words[word] = doubt.replace("WORD", word)
    if highest:
        words[highest] = rf"{highest}[- ]point"
    if lowest:
        range_ = rf"{lowest}\b\s*(?:[(~-]|to\b|through\b|and\b)"
        words[lowest] = rf"{words[lowest]}|{range_}" if lowest in words else range_
    patterns = {word.encode(): re.compile(sign) for word, sign in words.items()}
    return EchoSigns(re.compile(digits), patterns)


def first_echo(folded: str, seen: Glance, signs: EchoSigns, end: int) -> int:
    """Return from where on a folded text may echo a scale; -1 means that it does not.

    Signs that begin behind `end` do not count.

    >>> from judgescope.parsing.glance import glance, watch
    >>> signs = echo_signs(("one", "five"), "one", "five")
    >>> text = "on a scale of 1 to 5: 4"
    >>> first_echo(text, glance(text, watch(ECHO_WORDS)), signs, len(text))
    13
    >>> text = "so its score is 4"
    >>> first_echo(text, glance(text, watch(ECHO_WORDS)), signs, len(text))
    -1
    """
    first = -1
    if not _FIRST_WORDS.isdisjoint(seen.words):
        first = _first_sign(folded, seen, _first_signs(), 0, end)
    if not seen.several_numbers:
        return first
    start = max(0, seen.first - 1)  # `.5` may be the first number
    if (
        not folded.isascii()
        or _has_sign_at_digit(folded, start, seen, signs)
        or _first_sign(folded, seen, signs.words, start, end) >= 0
    ):
        if first < 0:
            return start
        return min(start, first)
    return first


def _has_sign_at_digit(folded: str, start: int, seen: Glance, signs: EchoSigns) -> bool:
    """Return whether a digit from `start` on begins a sign; most replies have one."""
    if seen.lone_digit >= 0:
        return signs.digits.match(folded, seen.lone_digit) is not None
    return signs.digits.search(folded, start) is not None


@cache
def _first_signs() -> dict[bytes, re.Pattern[str]]:
    """Word -> its pattern, compiled at the first use: this takes as long as an
    import.
    """
    return {word.encode(): re.compile(led) for word, led in _LED.items()}


def _first_sign(
    folded: str,
    seen: Glance,
    signs: Mapping[bytes, re.Pattern[str]],
    start: int,
    end: int,
) -> int:
    """Return from where on one of the words that a text has is a sign; -1 without.

    Only signs between `start` and `end` count.
    """
    first = -1
    for word in seen.words:
        pattern = signs.get(word)
        sign = pattern and pattern.search(folded, start, end)
        if sign and (first < 0 or sign.start() < first):
            first = sign.start()
    if first >= 0:
        return max(0, first - _BEFORE_WORD)
    return -1
