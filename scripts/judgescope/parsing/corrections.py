"""Verdicts that a reply takes back: `Rating: 2 - on second thought, 3.`

The words of a correction divide the rest of a reply into segments. What a segment
states replaces what stood before; words about the text state nothing.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from judgescope.parsing.glance import words_in
from judgescope.parsing.quotes import (
    QuotedSpans,
    asides,
    quotations,
    text_says,
)

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
_CHANGE = rf"(?:change|revise|lower|raise|adjust) {_IT}(?: (?:down |up )?to)?"
_DISTANT = (
    rf"(?:scratch|strike|forget) (?:that|this)|make (?:that|it)|wait(?:[,.]? no)?"
    rf"|hold on|{_THOUGHT}|(?:just|only) kidding"
    rf"|i(?:'ll| will| must| have to)? take {_IT} back|i mean(?:t)?"
    rf"|let me (?:correct {_IT}(?: to)?|{_CHANGE})|(?<!if )i(?:'ll| will) {_CHANGE}"
    r"|my mistake|i was wrong|i changed my mind"
    r"|(?<![a-z] )(?:edit|update)(?=\s?:)"
)
_FOREIGN_STRONG = (
    "korrektur|corrección|correzione|correção|correctie|поправка|更正|訂正"
)
_STRONG = (
    rf"{_DISTANT}|correction|{_FOREIGN_STRONG}"
    r"|(?:revised|corrected|changed|lowered|raised|adjusted) (?:up |down )?to"
    rf"|(?<!if )i(?:'d| would)? (?:{_CHANGE}|changed {_IT}(?: (?:down |up )?to)?)"
)
_FOREIGN_WEAK = (
    r"besser gesagt|oder besser|bei näherer betrachtung|nach (?:kurzer|reiflicher)"
    r" überlegung|(?:ou )?plutôt|après réflexion|pardon|(?:o )?mejor dicho|perdón"
    r"|pensándolo (?:bien|mejor)|anzi|o meglio|ripensandoci|aliás|ou melhor"
    r"|pensando melhor|bij nader inzien|doch|точнее|вернее"
)
# `Yes: 1, No: 0` are names; `no 5` and `No. 5` deny or number something
_WEAK = (
    r"(?:no|nein|non|não|nee|нет|不|いや|いいえ)(?=[,;!?…–—-]|\.(?!\s*\d)|\s*\Z|\s[–—-]"
    r"|\s(?:wait|sorry|actually|rather|oops|hold|scratch|strike|make|i|on)\b)"
    r"|actually|or rather|rather|sorry(?!\s+\w{1,2}\b(?<!\bi))|oops"
    rf"|or better(?: still| yet)?|nope|{_FOREIGN_WEAK}"
)
_SIGHS = r"(?:(?:hmm+|oh|ah|um|uh|er|oops|well|but|yet|or)[,.!… ]{1,3}){0,2}"
_BETWEEN = r"[\s,.;:!…–—-]{1,4}"
_MARK = (
    rf"(?:(?<=[\s.,;:!?…(*_–—-])|\A){_SIGHS}"
    rf"(?:(?:{_STRONG}|{_WEAK})(?!\w)(?:{_BETWEEN}|\Z)){{1,4}}"
)
CORRECTION_WORDS: Final = frozenset(
    b"no nope wait sorry oops correction rather actually make mean meant scratch"
    b" edit update strike forget back hold thought thoughts reflection reconsideration"
    b" consideration inspection look reading read again reconsidering change changed"
    b" revise revised correct corrected lower lowered raise raised adjust adjusted"
    b" mistake wrong better kidding nein non nee anzi doch korrektur besser betrachtung"
    b" pardon mejor meglio ripensandoci correzione melhor correctie inzien".split()
)
"""Words in letters a-z; every correction in ASCII has one of them."""
_FOREIGN_WORD: Final = re.compile(
    r"überlegung|plutôt|réflexion|perdón|pensándolo|corrección|não|aliás|correção"
    r"|нет|точнее|вернее|поправка|不|いや|いいえ|更正|訂正"
)
"""Every other correction has one of these words."""
_ADJACENT: Final = re.compile(r"[\s*_\"'`()\]}.,;:!?…>–—-]{0,12}")
_NAME_BEFORE: Final = re.compile(
    r"(?<!reason)(?<!rationale)(?<!explanation)(?<!comment)(?<!edit)(?<!update)"
    r"(?<!note)[*_]{0,3}:[\s*_\"'`>-]{0,6}\Z"
)
"""A name directly before a correction: what stands behind belongs to it."""
_QUOTED: Final = re.compile(r"«[^«»\n]{1,4000}+»|(?<=(?:ends|with|says)\s)>\s[^\n]*+")
"""Quotations that are not in quotation marks of English: `«No.»`, `it ends > No.`"""
_ANSWER_SAYS: Final = re.compile(
    r"\b(?:the|this|its) answer (?:says|ends|reads|states|claims|writes|adds)\b"
)
TAKEN_BACK: Final = "taken_back"
"""The rule of a verdict that a reply takes back and does not replace."""
NOTHING: Final = re.compile(
    r"[\W_]*\Z|(?:,?\s?i (?:cannot|can't|can not|won't|am unable to|am not able to)"
    r"|(?:there is )?no (?:rating|score|verdict|choice|answer))\b"
)
"""What takes a verdict back without another: `Rating: 4. Scratch that.`"""
UNABLE: Final = re.compile(
    r"[\s*_]{0,3}i (?:cannot|can't|can not|won't|am unable to|am not able to) "
    r"(?:really |fairly |actually )?"
    r"(?:rate|score|grade|judge|evaluate|assess|decide|choose|pick|tell)\b"
    r"(?!(?: (?:it|this|that|the [a-z]{3,15}))? (?:any |much )?"
    r"(?:higher|lower|better|worse|more|above|below|less)\b)"
)
"""What takes a verdict back behind any words of a correction."""
MOST: Final = 50
"""The maximum number of corrections that are read; a longer reply turns in circles."""


class Correction(NamedTuple):
    """What stands behind words of a correction: from `start` up to the next, `end`.

    begins: where the words begin; firm: whether they take back a verdict even if no
    other follows; distant: whether it may stand anywhere before them, not only
    directly; wish: whether they say what the judge would do.
    """

    begins: int
    start: int
    end: int
    firm: bool
    distant: bool
    wish: bool

    def follows(self, folded: str, end: int) -> bool:
        """Return whether it may take back the verdict that ends at `end`."""
        if self.begins < end:
            return False
        if _ADJACENT.fullmatch(folded, end, self.begins):
            return True
        named = _NAME_BEFORE.search(folded[max(end, self.begins - 40) : self.begins])
        return self.distant and named is None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile at the first use: this takes as long as a small import."""
    return re.compile(pattern)


def may_be_corrected(folded: str, start: int) -> bool:
    """Return whether a word of a correction stands behind `start`.

    >>> may_be_corrected("rating: 2. wait, 3.", 9), may_be_corrected("rating: 2.", 9)
    (True, False)
    """
    behind = folded[start:]
    # most replies end with their verdict
    return len(behind) > 1 and has_correction_word(behind, words_in(behind))


def has_correction_word(folded: str, words: Iterable[bytes]) -> bool:
    """Return whether a folded text has a word of corrections.

    words: at least those of `CORRECTION_WORDS` that the text has.

    >>> has_correction_word("note: 4, plutôt 3", [b"note"])
    True
    """
    if not CORRECTION_WORDS.isdisjoint(words):
        return True
    return not folded.isascii() and _FOREIGN_WORD.search(folded) is not None


def corrections(folded: str, start: int) -> Iterator[Correction]:
    """Yield the corrections of a folded reply from `start` on, in order.

    Those that the reply quotes of the judged text are none.

    >>> text = "rating: 2 - on second thought, 3. no, wait: 4."
    >>> [text[each.start : each.end].strip() for each in corrections(text, 9)]
    ['3.', '4.']
    """
    marks = _own_marks(folded, start)
    firm = _compiled(rf"\b(?:{_STRONG})(?!\w)")
    distant = _compiled(rf"\b(?:{_DISTANT})(?!\w)")
    wish = _compiled(r"\bi(?:'d| would)\b")
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(folded)
        yield Correction(
            mark.start(),
            mark.end(),
            end,
            firm.search(mark[0]) is not None,
            distant.search(mark[0]) is not None,
            wish.search(mark[0]) is not None,
        )


def _own_marks(folded: str, start: int) -> list[re.Match[str]]:
    """Return the words of corrections that the judge says itself, the last ones."""
    marks = list(_compiled(_MARK).finditer(folded, start))[-MOST:]
    if not marks:
        return marks
    quoted = [*quotations(folded), *map(re.Match.span, _QUOTED.finditer(folded))]
    quoted += asides(folded)
    quoted = [span for span in quoted if span[0] >= start]
    return [mark for mark in marks if not _is_quoted(mark, folded, start, quoted)]


def _is_quoted(
    mark: re.Match[str], folded: str, start: int, quoted: QuotedSpans
) -> bool:
    if any(begin <= mark.start() < end for begin, end in quoted):
        return True
    before = folded[start : mark.start()]
    clause = re.split(r"[.!?\n]", before[-200:])[-1]
    if text_says(before, len(before)):
        return True
    return bool(_ANSWER_SAYS.search(clause))
