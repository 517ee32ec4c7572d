"""From a reply to a judgment: statuses common to all parsers, short parsers, choices of
a text.
"""

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from judgescope.parsing import (  # noqa: F401  registers parsers
    annotation,
    card_rules,
    error_list,
)
from judgescope.parsing.judgment import (
    CHOICE_VALUES,
    PARSERS,
    Judgment,
    Parser,
    Scale,
    parser,
)
from judgescope.parsing.score import read_score
from judgescope.parsing.text import (
    answer_of,
    fold,
    nothing_read,
    unquoted,
    without_reasoning,
)

_TEXT = (
    r"(?:text|response|answer|option|output|summary|reply|system|candidate|assistant|"
    r"translation|"
    r"story|dialogue)"
)
_OPEN = r"[*_\"'`(\[]{0,4}"
_MARKS = r"[*_\"'`)\]]{0,4}"
_CLOSE = r"[*_\"'`)\]]*\s*"
_END = (
    rf"(?={_CLOSE}(?:[.,;!]|$|(?:because|since)\s|as\s+(?:its?|the|this|that|both)\b))"
)
"""What may follow a bare `is`: "the better is a matter of taste" names no text."""
_REASON = rf"(?={_CLOSE}(?:[.,;:!(<}}-]|$|(?:because|since|as|for|by|is|with)\b))"
"""What may follow a colon: "Choice: a matter of taste" and "Choice: A and B" name no
text."""
_BEGINS = (
    r"[*_\"'`)\]]{0,4}(?:\s?[:–—]\s|\s?-\s|,?\s(?:because|since|as)\s"
    r"|\.\s(?=(?:the|it|its|this|that|there|both|i|because|while|although|in|as|"
    rf"{_TEXT})\b))"
)
"""What may follow a choice that begins a reply: `A. Smith` is not a choice."""
_LETTERS = str.maketrans("12", "ab")
_NAMED = re.compile(
    rf"\b{_TEXT}\s?#?\(?([12ab])\)?\s+is\s+(?:[a-z]{{1,20}}\s+)?(?:more|better|"
    r"superior)\b"
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
_ANSWER = (
    rf"(?:^|(?<=[.!?]\s))\s{{0,2}}{_OPEN}{_LEAD_IN}(?:the|my)(?:\s+final)?\s+answer"
    rf"|^[ \t#{{]{{0,6}}{_OPEN}(?:final\s+)?answer(?={_MARKS}\s?[:=])"
    rf"(?!{_MARKS}\s?[:=][^\w\n]{{0,6}}[a-z][.)]{_MARKS}[ \t]{{1,2}}\w)"
)
"""`The answer`, `Answer:`; not `Answer: A. Voyager 1`, which answers a question of the
text."""
_OTHER = rf"(?:{_TEXT}\s+)?{_OPEN}[ab]\b{_MARKS}"
_SENTENCE = re.compile(
    rf"(?:^|(?<=[.!?;\n]))\s{{0,2}}{_OPEN}{_LEAD_IN}"
    rf"(?:(?:i|we)\s+(?:would\s+)?(?:prefer|choose|pick)\s+(?:{_TEXT}\s+)?{_OPEN}"
    r"(?P<preferred>a|b)\b"
    rf"{_MARKS}(?:\s+(?:over|to)\s+{_OTHER})?"
    rf"|(?P<text>{_TEXT}\s+{_OPEN})?(?P<better>a|b)\b{_MARKS}\s+is\s+{_BETTER}"
    rf"(?:\s+(?:one|{_TEXT}))?(?:\s+than\s+{_OTHER})?){_MARKS}"
    rf"(?:(?=,?\s+because\b)|(?(text)(?!)|\s?(?:[.!;]{_MARKS}|(?=\n)|\Z)))"
)
"""`A is better` and `I prefer B`, as sentences of their own or before a reason."""
_BECAUSE = re.compile(r",?\s+because\b[^.!?;\n]*")
_OPEN_CASE = re.compile(r"\b(?:if|whether|unless|why|when|not|would|could|might|may)\b")
"""Words with which a last sentence is not a conclusion."""
_EDGE: Final = " \t\n.!*_\"'`"
_LAST: Final = 400
"""The maximum number of characters in a last sentence."""


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
            rf"(?:(?:is\s*)?[:=-][*_\"'`]*\s*{choice}{_REASON}|is\s+{choice}{_END})"
            rf"|<(?:answer|choice|verdict|winner)>\s*{choice}(?={_CLOSE}<)",
            re.MULTILINE,
        ),
        re.compile(rf"\s*{choice}[*_\"'`)\].!\s]*\Z"),
        re.compile(rf"\s*{choice}{_BEGINS}"),
        re.compile(
            rf"(?:^|[.!?;,]\s{{1,2}})[\s*_\"'`(\[]{{0,6}}"
            rf"({letters})[)\]*_]{{0,4}}\s?[:=]",
            re.M,
        ),
    )


@parser("choice", 5, options=("tie",))
def read_choice(text: str, _: Scale | None, *, tie: str = "") -> Judgment:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed if no choice is made.

    The last labelled choice is used. Without one, the reply must be a choice, begin
    with one (`A: Summary 1 is more fluent`) or end with one (`Output (a) is better`).
    tie: the letter that the prompt form gives to a tie, or "". A reply that then names
    both letters, or a text that does not belong to its letter, makes no choice.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    folded, tie = fold(answer), tie.lower()
    match, rule = _choice(folded, tie)
    if match is None:
        return Judgment("unparsed", rule)
    letter = _letter(match, tie)
    rest = (answer[: match.start()] + answer[match.end() :]).strip()
    return Judgment("ok", rule, CHOICE_VALUES[letter], letter, rest or None)


def _choice(folded: str, tie: str) -> tuple[re.Match[str] | None, str]:
    """Return the choice of a reply and its rule, or None and why there is no choice."""
    forms = _forms(tie)
    if labelled := _labelled(folded, forms, tie):
        return labelled, "labelled"
    if alone := forms.alone.match(folded):
        return alone, "alone"
    if begins := forms.begins.match(folded):
        letter = _letter(begins, tie)
        others = {
            _letter(one, tie) for one in forms.another.finditer(folded, begins.end())
        }
        if others - {letter} or _names_another(folded, begins.end(), letter):
            return None, "contradiction"
        return begins, "leading"
    if concluding := _concluding(folded):
        return concluding, "concluding"
    return _whole_sentence(folded)


def _labelled(folded: str, forms: _Forms, tie: str) -> re.Match[str] | None:
    """Return the last labelled choice; a line that names several repeats the
    question.
    """
    lines: dict[int, list[re.Match[str]]] = {}
    line = start = 0
    for match in unquoted(forms.labelled.finditer(folded), folded):
        line, start = line + folded.count("\n", start, match.start()), match.start()
        lines.setdefault(line, []).append(match)
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
    if matches and (
        matches[-1].end() >= end
        or _BECAUSE.fullmatch(folded, matches[-1].end(), end)
        or not folded[: matches[0].start()].strip()
    ):
        if _names_another(folded, matches[0].end(), _letter(matches[0], "")):
            return None, "contradiction"
        return matches[-1], "sentence"
    return None, "no_choice"


def _names_another(folded: str, start: int, letter: str) -> bool:
    """Return whether the reason from `start` on calls a text better that has another
    letter.
    """
    better = _NAMED.search(folded, start)
    return better is not None and better[1].translate(_LETTERS) != letter


def _letter(match: re.Match[str], tie: str) -> str:
    letter: str = match[match.lastindex or 1]
    return "tie" if letter == tie else letter


Settings = Mapping[str, float | str | dict[str, str]]
"""The settings of a parser in a judge's card: penalties, the letter of a tie, a
pattern."""
NO_SETTINGS: Final[Settings] = MappingProxyType({})
CONTEXT: Final = "context"
"""The rule of a judgment that failed because the request was longer than the model's
context."""
CUT: Final = "finish_length"
"""The rule of a judgment that failed because the reply was truncated."""
_TOO_LONG = re.compile(
    r"context[ _](length|size|window)|prompt is too long|input is too long|"
    r"too many tokens"
    r"|tokens? .{0,80}exceeds",
    re.IGNORECASE,
)
"""The errors of OpenAI, vLLM, llama.cpp and others for a request longer than the
context."""


def card_parsers() -> dict[str, Parser]:
    """Return the parsers that a judge's card may name."""
    return {name: one for name, one in sorted(PARSERS.items()) if one.in_cards}


Read = Callable[[str | None, str | None, str], Judgment]
"""(text, finish, status) of a reply -> its judgment."""


def parsed_by(
    parser: str,
    *,
    scale: Scale | None,
    settings: Settings = NO_SETTINGS,
    cut: bool = False,
) -> Read:
    """Return the function that turns a completion into a judgment.

    It never reads the prompt, and returns only numbers that the completion states.
    `finish` is the engine's reason for stopping: a reply truncated by `length` is not
    an answer. A status other than ok is passed on; if it is `not_applicable`, the text
    is the reason and becomes the rule. `cut`: a reply truncated by `length` is accepted
    if its first line is exactly the verdict; its rule ends in `.cut`. ValueError for an
    unknown parser, a missing scale or wrong settings. Sources: methods.md 6 and the
    facts on servers in engines.md.
    """
    if parser not in PARSERS:
        raise ValueError(
            f"unknown parser {parser!r}; known parsers: {', '.join(sorted(PARSERS))}"
        )
    version, read, needs_scale, required, optional, _ = PARSERS[parser]
    if needs_scale and scale is None:
        raise ValueError(f"the parser {parser} needs a scale: min, max and step")
    if settings.keys() - set(optional) != set(required):
        raise ValueError(
            f"the parser {parser} has the settings {required}, not {list(settings)}"
        )

    def judgment(text: str | None, finish: str | None, reply_status: str) -> Judgment:
        text = text or ""
        reading = _unread(text, finish, reply_status)
        if cut and reading and reading.rule == CUT:
            reading = (
                _first_line(text, lambda line: read(line, scale, **settings)) or reading
            )
        reading = reading or read(text, scale, **settings)
        if reading.status == "unparsed" and finish == "content_filter":
            reading = Judgment("refused", "content_filter")
        return reading._replace(parser=f"{parser}@{version}")

    return judgment


def _unread(text: str, finish: str | None, reply_status: str) -> Judgment | None:
    """Return the judgment of a reply that no parser reads, or None."""
    if reply_status == "not_applicable":
        return Judgment("not_applicable", text.strip() or "not_applicable")
    if reply_status != "ok":
        return Judgment("error", CONTEXT if _TOO_LONG.search(text) else reply_status)
    if finish == "length":
        return Judgment("truncated", CUT)
    if text and not text.isspace():
        return None
    if finish == "content_filter":
        return Judgment("refused", "content_filter")
    return Judgment("empty", "empty")


def _first_line(text: str, read: Callable[[str], Judgment]) -> Judgment | None:
    """Return the verdict of a truncated reply if it is the entire first line, else
    None.

    A line break must follow: `Rating: 1` at the end may lack another digit.
    """
    answer, unclosed = without_reasoning(text)
    line, ended, rest = answer.lstrip().partition("\n")
    reading = read(line) if ended and not unclosed else None
    if reading is None or reading.status != "ok" or reading.rationale:
        return None
    tail = reading.tail and f"{reading.tail}\n{rest}"
    return reading._replace(
        rule=f"{reading.rule}.cut", rationale=rest.strip() or None, tail=tail
    )


_NUMBER = re.compile(
    r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII
)


@parser("number", 2)
def read_number(text: str, scale: Scale | None) -> Judgment:
    """Return the value of a text that is one decimal number, as programs write scores.

    `nan` means a missing value, so empty. With a scale, the value must be on it
    (`Scale.read`): means of ratings need a continuous scale, or one that keeps values
    off its grid. On a scale that has only labels, the text must be one of its words,
    not a number.
    """
    text = text.strip()
    if text.lower() == "nan":
        return Judgment("empty", "nan")
    if scale is not None and scale.words:
        return scale.read_word(text, "label")
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        return Judgment("unparsed", "no_number")
    return (
        Judgment("ok", "number", value)
        if scale is None
        else scale.read(value, "number")
    )


_DIGIT = re.compile(r"[0-9]")


@parser("chiang-lee", 1)
def read_chiang_lee(text: str, _: Scale | None) -> Judgment:
    """Return the first digit after the last `rating:`, or of the whole text without
    that label.

    Reproduces published tables; not for new judges. 2.5 is read as 2, and any digit is
    accepted, whatever the scale. Source: Chiang and Lee 2023, as reproduced in
    methods.md 6.
    """
    _before, label, after = text.lower().rpartition("rating:")
    rule = "after_rating" if label else "whole_text"
    digit = _DIGIT.search(after)
    if digit is None:
        return Judgment("unparsed", f"{rule}.no_digit")
    return Judgment("ok", rule, float(digit[0]))


_RESULT = re.compile(r"\[\s*result\s*\][*_\"'`]*\s*:?", re.IGNORECASE)


@parser("result", 6, needs_scale=True)
def read_result(text: str, scale: Scale) -> Judgment:
    """Return the rating after the last [RESULT], as judges trained on rubrics write it.

    The text before it is the rationale. Without [RESULT] the reply is unparsed, even
    with numbers.
    """
    answer = answer_of(text)
    if isinstance(answer, Judgment):
        return answer
    marks = unquoted(_RESULT.finditer(answer), fold(answer))
    if not marks:
        return nothing_read(answer, "no_result")
    reading = read_score(f"Rating: {answer[marks[-1].end() :].strip()}", scale)
    rationale = answer[: marks[-1].start()].strip() or None
    return reading._replace(
        rule=f"result.{reading.rule}", rationale=rationale, tail=None
    )
