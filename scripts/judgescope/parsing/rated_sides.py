"""Ratings of two texts in one reply: `Assistant A: 4, Assistant B: 7`.

They are no rating of one text, and no choice either: a text with the higher rating is
not always the one that the judge prefers.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from judgescope.parsing.pair_sides import OPEN, SIDES, TEXT

SCORES_OF_SIDES: Final = "scores_of_sides"
"""The rule of a reply that rates both texts."""
SIDE_WORDS: Final = frozenset((b"b", b"two", b"second", b"latter"))
"""The names of the second text, but for `2`: no reply rates both without one."""
_NUMBER = (
    r"(?P<number>[-+]?\.?\d"
    r"|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b)"
)
_CLOSE = r"[)\]\"'`*_]{0,4}"
_SIGN = r"\s?[:=]\s?"
_VERBS = (
    r"is|was|gets?|got|earns?|receives?|deserves?|scores?|scored|rated|given|at|as|an?"
    r"|the|of|only|just|rating|score|grade"
)
_NOUN = rf"(?:{TEXT}|scores?|ratings?|grades?|points)"
_RATED = re.compile(
    # `Assistant A: 4`, `score for B = 2`, `Response 2 gets a 3`, `summary (a) - 4`
    rf"\b(?:(?:{_NOUN}(?:\s(?:of|for))?[\s_#-]{{0,2}}{OPEN}(?P<named>a|b|1|2|one|two)"
    rf"|(?P<placed>first|second|former|latter)\s(?:one|{TEXT}))\b{_CLOSE}"
    rf"(?:'s)?(?:(?:[\s_](?:scores?|ratings?|grades?|points)\b)?[\"'*]{{0,4}}{_SIGN}"
    r"|\s[-–—]\s|\s?\(|\s"
    rf"(?:(?:{_VERBS})\s){{0,4}}?)"
    # `A: 4`, `Student B: 2`, `first = 3`
    r"|(?:(?<=[\n,;.({])|(?<=[,;.]\s)|\A|\band\s)[\s\"'*_(\[]{0,4}"
    r"(?:[^\W\d_]{2,20}\s)?[\"'*_(\[]{0,4}(?P<bare>a|b|first|second)"
    rf"(?:[\s_](?:scores?|ratings?|grades?|points))?{_CLOSE}{_SIGN})"
    rf"[*_\"'`(\[]{{0,4}}{_NUMBER}"
)
_RATED_FIRST = re.compile(
    rf"{_NUMBER}(?:\d|\.\d|\s?/\s?\d){{0,4}}\s(?:points?\s)?(?:for|to)\s(?:the\s)?"
    rf"(?:{TEXT}\s{OPEN}(?P<named>a|b|1|2|one|two)\b|(?P<placed>first|second)\b"
    r"|(?P<bare>a|b)(?=[)\]\"'*]{0,3}(?:[.,;!\n]|\Z|\s(?:and|but)\b)))"
)
"""`4 for A, 2 for B`."""
_PLACED: Final = frozenset((b"second", b"latter"))
_BEHIND_PLACED = re.compile(
    rf"\s(?:one|{TEXT})\b|(?:[\s_](?:scores?|ratings?|grades?|points))?{_CLOSE}{_SIGN}"
    r"|(?<=\bfor\ssecond)|(?<=\bto\ssecond)"
    r"|(?<=\bfor\sthe\ssecond)|(?<=\bto\sthe\ssecond)"
)
"""What stands behind `second` if it names a text; not in `the second question`."""
_SIDE_NAME = re.compile(r"(?:[ab12]|one|two|first|second|former|latter)(?![^\W_])")
"""Most labels stand in a clause without such a word, which rates no side."""
_LONGEST_NUMBER: Final = len("three,")


class RatedSide(NamedTuple):
    """The side whose rating begins at `start`."""

    side: str
    start: int


def names_second_side(folded: str, words: frozenset[bytes]) -> bool:
    """Return whether a folded text with some of `SIDE_WORDS` may rate a second text.

    >>> names_second_side("the second response: 4", frozenset([b"second"]))
    True
    >>> names_second_side("a second question", frozenset([b"second"]))
    False
    """
    words = words & SIDE_WORDS
    if not words <= _PLACED:
        return True
    for word in words:
        name = word.decode()
        at = folded.find(name)
        while at >= 0:
            if _BEHIND_PLACED.match(folded, at + len(name)):
                return True
            at = folded.find(name, at + 1)
    return False


def rated_sides(folded: str) -> Iterator[RatedSide]:
    """Yield the sides that a folded reply rates.

    >>> [each.side for each in rated_sides("assistant a: 4, assistant b: 7")]
    ['a', 'b']
    >>> list(rated_sides("a score of 4 of 5"))
    []
    """
    for pattern in (_RATED, _RATED_FIRST):
        for match in pattern.finditer(folded):
            yield _rated_side(match)


def rates_both_sides(folded: str) -> bool:
    """Return whether a folded reply rates two texts.

    >>> rates_both_sides('{"score_a": 4, "score_b": 7}')
    True
    >>> rates_both_sides("answer a: 4. it is short.")
    False
    """
    return len({rated.side for rated in rated_sides(folded)}) > 1


def is_of_one_side(folded: str, start: int) -> bool:
    """Return whether the rating at `start` is that of one of two texts that are rated.

    >>> is_of_one_side("assistant a: 4, assistant b: 7", 13)
    True
    >>> is_of_one_side("assistant a: 4, assistant b: 7. rating: 3", 40)
    False
    """
    return _side_at(folded, start) is not None and rates_both_sides(folded)


def _side_at(folded: str, start: int) -> str | None:
    """Return the side whose rating begins at `start`, None for another rating."""
    # How many characters before a rating may name its text.
    reach = 80
    begin = max(0, start - reach)
    # the mark itself may stand before a bare letter
    ends = [folded.rfind(mark, begin, start - 1) for mark in ".;,\n"]
    begin = max(begin, *ends)
    if _SIDE_NAME.search(folded, begin, start):
        for match in _RATED.finditer(folded, begin, start + _LONGEST_NUMBER):
            number = match.start("number")
            if number >= start:
                if number == start:
                    return _rated_side(match).side
                return None
    first = _RATED_FIRST.match(folded, start)
    return _rated_side(first).side if first else None


def _rated_side(match: re.Match[str]) -> RatedSide:
    named = match["named"] or match["placed"] or match["bare"]
    return RatedSide(SIDES[named], match.start("number"))
