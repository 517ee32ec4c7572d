"""Verdicts that a reply takes back: `Rating: 2 - on second thought, 3.`

The words of a correction divide the rest of a reply into segments. What a segment
states replaces what stood before; words about the text state nothing.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from judgescope.parsing.glance import words_in

_NOUN = r"(?:score|rating|grade|mark|verdict|choice|answer|decision|mind)"
_IT = rf"(?:that|it|this|(?:my|the) {_NOUN})"
_THOUGHT = (
    r"(?:up)?on (?:(?:second|further|deeper|more) thoughts?"
    r"|(?:further |closer |more )?(?:reflection|reconsideration|consideration"
    r"|inspection)|(?:a |an )?(?:closer|second|another|fresh) (?:look|reading|read))"
    r"|(?:thinking|looking|reading)(?: (?:about|at))?(?: it)? again"
    r"|after (?:more|some|further) (?:thought|reflection|consideration)"
    r"|reconsidering(?: it| this)?"
)
_STRONG = (
    rf"(?:scratch|strike|forget) (?:that|this)|make (?:that|it)|wait(?:[,.]? no)?"
    rf"|hold on|{_THOUGHT}"
    rf"|i(?:'ll| will| must| have to)? take {_IT} back|correction|i mean(?:t)?"
    rf"|let me (?:change|revise|correct|lower|raise|adjust) {_IT}(?: (?:down |up )?to)?"
    rf"|(?:revised|corrected|changed|lowered|raised|adjusted) (?:up |down )?to"
    rf"|i(?:'ll| will|'d| would)? (?:change|changed|revise|lower|raise|adjust) {_IT}"
    r"(?: (?:down |up )?to)?|my mistake|i was wrong|i changed my mind"
)
# `Yes: 1, No: 0` are names
_WEAK = (
    r"no(?!\s?[:=])|actually|or rather|rather|sorry|oops|or better(?: still| yet)?|nope"
)
_SIGHS = r"(?:(?:hmm+|oh|ah|um|uh|oops|well|but|yet|or)[,.!… ]{1,3}){0,2}"
_BETWEEN = r"[\s,.;:!…–—-]{1,4}"
_MARK = (
    rf"(?:(?<=[\s.,;:!?…(*_–—-])|\A){_SIGHS}"
    rf"(?:(?:{_STRONG}|{_WEAK})(?!\w)(?:{_BETWEEN}|\Z)){{1,4}}"
)
CORRECTION_WORDS: Final = frozenset(
    b"no nope wait sorry oops correction rather actually make mean meant scratch"
    b" strike forget back hold thought thoughts reflection reconsideration"
    b" consideration inspection look reading read again reconsidering change changed"
    b" revise revised correct corrected lower lowered raise raised adjust adjusted"
    b" mistake wrong better".split()
)
"""Words in letters a-z; every correction has one of them."""
_ADJACENT: Final = re.compile(r"[\s*_\"'`)\]}.,;:!?…–—-]{0,12}")
TAKEN_BACK: Final = "taken_back"
"""The rule of a verdict that a reply takes back and does not replace."""
NOTHING: Final = re.compile(
    r"[\W_]*\Z|(?:,?\s?i (?:cannot|can't|can not|won't|am unable to|am not able to)"
    r"|(?:there is )?no (?:rating|score|verdict|choice|answer))\b"
)
"""What takes a verdict back without another: `Rating: 4. Scratch that.`"""
MOST: Final = 50
"""The maximum number of corrections that are read; a longer reply turns in circles."""


class Correction(NamedTuple):
    """What stands behind words of a correction: from `start` up to the next, `end`.

    begins: where the words begin; firm: whether they take back what stands anywhere
    before them, not only directly.
    """

    begins: int
    start: int
    end: int
    firm: bool

    def follows(self, folded: str, end: int) -> bool:
        """Return whether it may take back the verdict that ends at `end`."""
        if self.begins < end:
            return False
        return self.firm or _ADJACENT.fullmatch(folded, end, self.begins) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at the first use: this takes as long as a small import."""
    return re.compile(pattern)


def may_be_corrected(folded: str, start: int) -> bool:
    """Return whether a word of a correction stands behind `start`.

    >>> may_be_corrected("rating: 2. wait, 3.", 9), may_be_corrected("rating: 2.", 9)
    (True, False)
    """
    return not CORRECTION_WORDS.isdisjoint(words_in(folded[start:]))


def corrections(folded: str, start: int) -> Iterator[Correction]:
    """Yield the corrections of a folded reply from `start` on, in order.

    >>> text = "rating: 2 - on second thought, 3. no, wait: 4."
    >>> [text[each.start : each.end].strip() for each in corrections(text, 9)]
    ['3.', '4.']
    """
    marks = list(_compiled(_MARK).finditer(folded, start))[-MOST:]
    firm = _compiled(rf"\b(?:{_STRONG})(?!\w)")
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(folded)
        yield Correction(
            mark.start(), mark.end(), end, firm.search(mark[0]) is not None
        )
