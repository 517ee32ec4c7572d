"""The preferred one of two texts: a labelled choice, or a reply that begins or ends with one."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from judgescope.parsing.judgment import Reading, Scale, parser
from judgescope.parsing.text import answer_of, fold, unquoted

VALUES: Final = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""1: the first text is better, -1: the second, 0: neither."""
_TEXT = (
    r"(?:text|response|answer|option|output|summary|reply|system|candidate|assistant|translation|"
    r"story|dialogue)"
)
_OPEN = r"[*_\"'`(\[]{0,4}"
_MARKS = r"[*_\"'`)\]]{0,4}"
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
_LETTER_OF = {"1": "a", "2": "b", "a": "a", "b": "b"}
_NAMED = re.compile(
    rf"\b{_TEXT}\s?#?\(?([12ab])\)?\s+is\s+(?:[a-z]{{1,20}}\s+)?(?:more|better|superior)\b"
)
"""The better text according to a reason, by its number or letter."""
_BETTER = (
    r"(?:the\s+)?(?:(?:clearly|much|slightly|overall)\s+)?"
    r"(?:better|superior|preferable|winner|best)"
)
_CONCLUDES = re.compile(
    rf"\b{_TEXT}\s+{_OPEN}(a|b)\b{_CLOSE}is\s+{_BETTER}(?:\s+(?:one|{_TEXT}))?"
    rf"(?:\s+than\s+{_TEXT}\s+{_OPEN}[ab]\b{_CLOSE})?\s*\Z"
)
"""`Output (a) is better`, as the end of a reply."""
_LEAD_IN = r"(?:(?:overall|so|thus|hence|therefore|in\s+(?:conclusion|summary))\b,?\s)?"
_ANSWER = rf"(?:^|(?<=[.!?]\s))\s{{0,2}}{_OPEN}{_LEAD_IN}(?:the|my)(?:\s+final)?\s+answer"
_OTHER = rf"(?:{_TEXT}\s+)?{_OPEN}[ab]\b{_MARKS}"
_SENTENCE = re.compile(
    rf"(?:^|(?<=[.!?;\n]))\s{{0,2}}{_OPEN}{_LEAD_IN}"
    rf"(?:(?:i|we)\s+(?:would\s+)?(?:prefer|choose|pick)\s+(?:{_TEXT}\s+)?{_OPEN}(?P<preferred>a|b)\b"
    rf"{_MARKS}(?:\s+(?:over|to)\s+{_OTHER})?"
    rf"|(?P<better>a|b)\b{_MARKS}\s+is\s+{_BETTER}(?:\s+(?:one|{_TEXT}))?(?:\s+than\s+{_OTHER})?)"
    rf"{_MARKS}\s?(?:[.!;]{_MARKS}|(?=\n)|\Z)"
)
"""`A is better` and `I prefer B`, as whole sentences."""
_OPEN_CASE = re.compile(r"\b(?:if|whether|unless|why|when|not|would|could|might|may)\b")
"""With such words a last sentence concludes nothing."""
_EDGE: Final = " \t\n.!*_\"'`"
_LAST: Final = 400
"""Characters that a last sentence has at most."""


class _Forms(NamedTuple):
    """The forms of a choice that depend on the letter of a tie."""

    labelled: re.Pattern[str]
    alone: re.Pattern[str]
    begins: re.Pattern[str]
    another: re.Pattern[str]


@lru_cache(maxsize=32)
def _forms(tie: str) -> _Forms:
    letters = "|".join(["a", "b", "tie", *([re.escape(tie)] if tie else [])])
    choice = rf"{_OPEN}(?:{_TEXT}\s+{_OPEN}|a\s+(?=tie\b))?({letters})\b"
    return _Forms(
        re.compile(
            rf"(?:\b(?:choice|verdict|winner|better(?:\s+text)?)|{_ANSWER})[*_\"'`]*\s*"
            rf"(?:(?:is\s*)?[:=-][*_\"'`]*\s*{choice}{_REASON}|is\s+{choice}{_END})",
            re.MULTILINE,
        ),
        re.compile(rf"\s*{choice}[*_\"'`)\].!\s]*\Z"),
        re.compile(rf"\s*{choice}{_BEGINS}"),
        re.compile(
            rf"(?:^|[.!?;,]\s{{1,2}})[\s*_\"'`(\[]{{0,6}}({letters})[)\]*_]{{0,4}}\s?[:=]", re.M
        ),
    )


@parser("choice", 4, options=("tie",))
def read_choice(text: str, _: Scale | None, *, tie: str = "") -> Reading:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed if no choice is made.

    The last labelled choice counts, else a reply that consists of a choice, begins with one
    (`A: Summary 1 is more fluent`) or ends with one (`Output (a) is better`). tie: the letter that
    the form gives to a tie, "" for none. A reply that goes on to name both letters, or a text other
    than its letter's, makes no choice.
    """
    answer = answer_of(text)
    if isinstance(answer, Reading):
        return answer
    folded, tie = fold(answer), tie.lower()
    match, rule = _choice(folded, tie)
    if match is None:
        return Reading("unparsed", rule)
    letter = _letter(match, tie)
    rest = (answer[: match.start()] + answer[match.end() :]).strip()
    return Reading("ok", rule, VALUES[letter], letter, rest or None)


def _choice(folded: str, tie: str) -> tuple[re.Match[str] | None, str]:
    """Return the choice of a reply and its rule, or None and the reason why there is none."""
    forms = _forms(tie)
    if labelled := _labelled(folded, forms, tie):
        return labelled, "labelled"
    if alone := forms.alone.match(folded):
        return alone, "alone"
    if begins := forms.begins.match(folded):
        letter = _letter(begins, tie)
        others = {_letter(one, tie) for one in forms.another.finditer(folded, begins.end())}
        better = _NAMED.search(folded, begins.end())
        if others - {letter} or (better and _LETTER_OF[better[1]] != letter):
            return None, "contradiction"
        return begins, "leading"
    if concluding := _concluding(folded):
        return concluding, "concluding"
    return _whole_sentence(folded)


def _labelled(folded: str, forms: _Forms, tie: str) -> re.Match[str] | None:
    """Return the last labelled choice; a line that names several repeats the question."""
    lines: dict[int, list[re.Match[str]]] = {}
    for match in unquoted(forms.labelled.finditer(folded), folded):
        lines.setdefault(folded.count("\n", 0, match.start()), []).append(match)
    choices = [
        matches[-1]
        for matches in lines.values()
        if len({_letter(match, tie) for match in matches}) == 1
    ]
    return choices[-1] if choices else None


def _concluding(folded: str) -> re.Match[str] | None:
    """Return the choice with which the last sentence ends."""
    end = len(folded.rstrip(_EDGE))
    start = 1 + max(folded.rfind(mark, max(0, end - _LAST), end) for mark in ".!?;\n")
    match = _CONCLUDES.search(folded, start, end)
    if match is None or _OPEN_CASE.search(folded, start, match.start()):
        return None
    return match if unquoted([match], folded) else None


def _whole_sentence(folded: str) -> tuple[re.Match[str] | None, str]:
    """Return the sentence that only makes a choice, if it begins or ends the reply."""
    matches = unquoted(_SENTENCE.finditer(folded), folded)
    if len({_letter(match, "") for match in matches}) > 1:
        return None, "contradiction"
    end = len(folded.rstrip(_EDGE))
    if matches and (matches[-1].end() >= end or not folded[: matches[0].start()].strip()):
        named = _NAMED.search(folded, matches[0].end())
        if named and _LETTER_OF[named[1]] != _letter(matches[0], ""):
            return None, "contradiction"
        return matches[-1], "sentence"
    return None, "no_choice"


def _letter(match: re.Match[str], tie: str) -> str:
    letter: str = match[match.lastindex or 1]
    return "tie" if letter == tie else letter
