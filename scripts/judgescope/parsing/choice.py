"""Which of two texts a reply prefers: a labelled choice, a reply that begins or ends with one."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from judgescope.parsing.judgment import Reading, Scale
from judgescope.parsing.quoted import own
from judgescope.parsing.text import fold, without_reasoning

VALUES: Final = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""1: the first text is better, -1: the second, 0: neither."""
_TEXT = (
    r"(?:text|response|answer|option|output|summary|reply|system|candidate|assistant|translation|"
    r"story|dialogue)"
)
_OPEN = r"[*_\"'`(\[]{0,4}"
_CLOSE = r"[*_\"'`)\]]*\s*"
_END = rf"(?={_CLOSE}(?:[.,;!]|$))"
"""After `is` alone: "the better is a matter of taste" names no text."""
_REASON = rf"(?={_CLOSE}(?:[.,;:!(<-]|$|(?:because|since|as|for|by|is|with)\b))"
"""After a colon: "Choice: a matter of taste" and "Choice: A and B" name none either."""
_BEGINS = (
    r"[*_\"'`)\]]{0,4}(?:\s?[:–—]\s|\s?-\s|,?\s(?:because|since|as)\s"
    r"|\.\s(?=(?:the|it|its|this|that|there|both|i|because|while|although|in|as|"
    rf"{_TEXT})\b))"
)
"""What follows a choice that begins a reply: `A. Smith` begins none."""
_INDEX = {"1": "a", "2": "b", "a": "a", "b": "b"}
_NAMED = re.compile(
    rf"\b{_TEXT}\s?#?\(?([12ab])\)?\s+is\s+(?:[a-z]{{1,20}}\s+)?(?:more|better|superior)\b"
)
"""Which text a reason says is the better one, by its number or letter."""
_CONCLUDES = re.compile(
    rf"\b{_TEXT}\s+{_OPEN}(a|b)\b{_CLOSE}is\s+(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    rf"(?:better|superior|preferable|winner|best)(?:\s+(?:one|{_TEXT}))?"
    rf"(?:\s+than\s+{_TEXT}\s+{_OPEN}[ab]\b{_CLOSE})?\s*\Z"
)
"""`Output (a) is better`, as the end of a reply."""
_OPEN_CASE = re.compile(r"\b(?:if|whether|unless|why|when|not|would|could|might|may)\b")
"""With such words a last sentence concludes nothing."""
_EDGE: Final = " \t\n.!*_\"'`"
_LAST: Final = 400
"""Characters that a last sentence has at most."""


class _Forms(NamedTuple):
    """How a choice is written, and which letter is a tie beside the word."""

    labelled: re.Pattern[str]
    alone: re.Pattern[str]
    begins: re.Pattern[str]
    another: re.Pattern[str]
    tie: str


@lru_cache(maxsize=32)
def _forms(tie: str) -> _Forms:
    letters = "|".join(["a", "b", "tie", *([re.escape(tie)] if tie else [])])
    choice = rf"{_OPEN}(?:{_TEXT}\s+{_OPEN}|a\s+(?=tie\b))?({letters})\b"
    return _Forms(
        re.compile(
            r"\b(?:choice|verdict|winner|better(?:\s+text)?)[*_\"'`]*\s*"
            rf"(?:(?:is\s*)?[:=-][*_\"'`]*\s*{choice}{_REASON}|is\s+{choice}{_END})",
            re.MULTILINE,
        ),
        re.compile(rf"\s*{choice}[*_\"'`)\].!\s]*\Z"),
        re.compile(rf"\s*{choice}{_BEGINS}"),
        re.compile(
            rf"(?:^|[.!?;,]\s{{1,2}})[\s*_\"'`(\[]{{0,6}}({letters})[)\]*_]{{0,4}}\s?[:=]", re.M
        ),
        tie,
    )


def read_choice(text: str, _: Scale | None, *, tie: str = "") -> Reading:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed where no choice is made.

    The last labelled choice counts, else a reply that is nothing but a choice, begins with one
    (`A: Summary 1 is more fluent`) or ends with one (`Output (a) is better`). tie: the letter that
    the form gives to a tie, "" for none. A reply that goes on to name both letters, or a text other
    than its letter's, chooses none.
    """
    said, endless = without_reasoning(text)
    if endless:
        return Reading("truncated", "unclosed_reasoning")
    if not said:
        return Reading("empty", "only_reasoning")
    folded, forms = fold(said), _forms(tie.lower())
    match, rule = _found(folded, forms)
    if match is None:
        return Reading("unparsed", rule)
    choice = _letter(match, forms.tie)
    rest = (said[: match.start()] + said[match.end() :]).strip()
    return Reading("ok", rule, VALUES[choice], choice, rest or None)


def _found(folded: str, forms: _Forms) -> tuple[re.Match[str] | None, str]:
    """Return the choice of a reply and its rule, None and why where there is none."""
    if labelled := _labelled(folded, forms):
        return labelled[-1], "labelled"
    if alone := forms.alone.match(folded):
        return alone, "alone"
    if begins := forms.begins.match(folded):
        letter = _letter(begins, forms.tie)
        named = {_letter(one, forms.tie) for one in forms.another.finditer(folded, begins.end())}
        better = _NAMED.search(folded, begins.end())
        if named - {letter} or (better and _INDEX[better[1]] != letter):
            return None, "contradiction"
        return begins, "leading"
    concluded = _concluded(folded)
    return concluded, "concluding" if concluded else "no_choice"


def _concluded(folded: str) -> re.Match[str] | None:
    """Return the choice in which the last sentence ends."""
    end = len(folded.rstrip(_EDGE))
    start = 1 + max(folded.rfind(mark, max(0, end - _LAST), end) for mark in ".!?;\n")
    match = _CONCLUDES.search(folded, start, end)
    if match is None or _OPEN_CASE.search(folded, start, match.start()):
        return None
    return match if own([match], folded) else None


def _labelled(folded: str, forms: _Forms) -> list[re.Match[str]]:
    """Return the labelled choices, without lines that name several: those repeat the question."""
    lines: dict[int, list[re.Match[str]]] = {}
    for match in own(forms.labelled.finditer(folded), folded):
        lines.setdefault(folded.count("\n", 0, match.start()), []).append(match)
    return [
        found[-1]
        for found in lines.values()
        if len({_letter(one, forms.tie) for one in found}) == 1
    ]


def _letter(match: re.Match[str], tie: str) -> str:
    letter: str = match[match.lastindex or 1]
    return "tie" if letter == tie else letter
