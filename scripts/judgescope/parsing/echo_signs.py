"""Cheap signs of echoes of a scale: a reply without one is not searched for them.

The search for echoes (`score.py`) tries many patterns at every character. Each of them
needs one of the signs here, which are found much faster: a pattern that begins with
fixed letters, or a word that most replies lack.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_AWARDS = r"give|assign|award|deserve|merit|warrant|earn|receive|get|rate|score"
_CLAIMED = r"[ \t:\"'(*][^\n]{0,180}?(?:rating|score|verdict)"
_DENIED = rf"\s+(?:\w+\s+)?(?:{_AWARDS})\b"
_LIMIT = r"(?:imum)?\.?[_\s]\s*(?:possible\s+)?(?:score|rating|mark|grade)"
_LED = {
    "between": r"\s+(?:an?\s+)?\.?\d",
    **dict.fromkeys(("not", "never", "n't"), _DENIED),
    **dict.fromkeys(("perfect", "full", "top", "highest", "best"), _LIMIT),
    **dict.fromkeys(("max", "min", "possible"), _LIMIT),
    "say": rf"(?:s|ing){_CLAIMED}",
    "claim": rf"(?:s|ing){_CLAIMED}",
    "ask": rf"(?:s|ing){_CLAIMED}",
    "request": rf"(?:s|ing){_CLAIMED}",
    "stat": rf"(?:es|ing){_CLAIMED}",
    "insist": rf"(?:s|ing){_CLAIMED}",
    "order": rf"(?:s|ing){_CLAIMED}",
    "instruct": rf"(?:s|ing){_CLAIMED}",
    "tell": rf"(?:s|ing){_CLAIMED}",
}
"""A word with which an echo begins -> what must follow it."""


class EchoSigns(NamedTuple):
    """The signs of echoes of one scale.

    numbers: two numbers, or one and `point`; words: a word, and its pattern.
    """

    numbers: tuple[re.Pattern[str], ...]
    words: tuple[tuple[str, re.Pattern[str]], ...]


def echo_signs(
    number_words: Sequence[str], lowest: str | None, highest: str | None
) -> EchoSigns:
    """Return the signs of echoes of a scale.

    number_words: the names of numbers; lowest, highest: those of the scale's ends, None
    for an end without a name.
    """
    number = rf"[-.]?\d|{'|'.join(number_words)}"
    digits = (
        r"[0-9](?:[- ]point|\s++[-.]?\d|\s*+(?:\(|to\b|through\b|and\b"
        rf"|[-~,]\s*+(?:{number})|[/|]\s*+\.?\d++(?:\.\d++)?\s*[/|\n]))"
    )
    joined = (
        r"or[ \t](?:maybe |perhaps |even )?"
        rf"[*_\"'`]{{0,4}}(?:{number})"
    )
    numbers = [digits, joined, r"and[ \t][*_\"'`]{0,4}\.?\d"]
    if lowest:
        numbers.append(rf"{lowest}\b\s*(?:[(~-]|to\b|through\b|and\b)")
    if highest:
        numbers.append(rf"{highest}[- ]point")
    words = [(word, re.compile(word + behind)) for word, behind in _LED.items()]
    return EchoSigns(tuple(map(re.compile, numbers)), tuple(words))


def may_echo(folded: str, signs: EchoSigns) -> bool:
    """Return whether a folded text may echo a scale; False means that it does not.

    >>> signs = echo_signs(("one", "five"), "one", "five")
    >>> may_echo("on a scale of 1 to 5: 4", signs), may_echo("so its score is 4", signs)
    (True, False)
    """
    if not folded.isascii():
        return True
    for pattern in signs.numbers:
        if pattern.search(folded):
            return True
    for word, pattern in signs.words:
        if word in folded and pattern.search(folded):
            return True
    return False
