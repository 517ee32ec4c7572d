"""What a folded reply contains, seen at one glance: its words and how many numbers.

Most replies have neither a second number nor a word of a mention or of an echo. Then
no slow pattern is tried.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

NUMBER_WORDS: Final = frozenset(
    b"zero one two three four five six seven eight nine ten".split()
)
_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = b"0123456789"
_BLANKS: Final = bytes(code if code in _LETTERS else 32 for code in range(256))
"""Translates all bytes but small letters to blanks."""
_NOT_DIGITS: Final = bytes(code for code in range(256) if code not in _DIGITS)


class Glance(NamedTuple):
    """What a text has of the watched words, and where its numbers are.

    first, last: before the first and behind the last of these characters no number
    begins; the whole text if it is not ASCII. lone_digit: where the only digit of an
    ASCII text is, -1 without one or with several.
    """

    words: frozenset[bytes]
    several_numbers: bool
    first: int
    last: int
    lone_digit: int


def watch(*groups: Iterable[bytes]) -> frozenset[bytes]:
    """Return the words, in small letters a-z, that a glance is to look for.

    Those of numbers are always among them.
    """
    return NUMBER_WORDS.union(*groups)


def words_in(folded: str) -> list[bytes]:
    """Return the words of a folded text, of letters a-z.

    >>> words_in("so: it's 4.")
    [b'so', b'it', b's']
    """
    return folded.encode(errors="replace").translate(_BLANKS).split()


def glance(folded: str, watched: frozenset[bytes]) -> Glance:
    """Return what a folded text contains; `watched` is made by `watch`.

    >>> sorted(glance("so its score is 4.", watch([b"so", b"score", b"not"])).words)
    [b'score', b'so']
    >>> texts = ("1 to 5", "four, not 5", "a 4")
    >>> [glance(text, watch()).several_numbers for text in texts]
    [True, True, False]
    >>> seen = glance("a 4, not 5.", watch())
    >>> seen.first, seen.last, seen.lone_digit
    (2, 9, -1)
    """
    ascii_only = folded.isascii()
    data = folded.encode() if ascii_only else folded.encode(errors="replace")
    words = data.translate(_BLANKS).split()
    seen = watched.intersection(words)
    digits = data.translate(None, _NOT_DIGITS)
    several = len(digits) > 1 and digits not in data
    if not digits:
        first = len(folded)
        last = 0
    else:
        first = data.find(digits[0])
        last = data.rfind(digits[-1])
    lone_digit = first if ascii_only and len(digits) == 1 else -1
    if not NUMBER_WORDS.isdisjoint(seen):
        if not several:
            several = bool(digits) or sum(word in NUMBER_WORDS for word in words) > 1
        for word in NUMBER_WORDS & seen:
            first = min(first, data.find(word))
            last = max(last, data.rfind(word))
    if not ascii_only:
        first = 0
        last = len(folded)
    # faster than `Glance(…)`, for millions of replies
    return tuple.__new__(Glance, (seen, several, first, last, lone_digit))
