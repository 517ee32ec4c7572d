"""From a reply to a judgment: statuses common to all parsers, short parsers, choices of
a text.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol

from judgescope.core.finish import ending, is_unknown, plain_reason
from judgescope.core.names import MissingContent
from judgescope.parsing.characters import fold
from judgescope.parsing.judgment import PARSERS, Judgment, Parser, Scale, parser
from judgescope.parsing.quotes import unquoted
from judgescope.parsing.reasoning import answer_of, split_reasoning, without_reasoning
from judgescope.parsing.score import read_score
from judgescope.parsing.text import nothing_read

Settings = Mapping[str, float | str | dict[str, str]]
"""The settings of a parser in a judge's card: penalties, the letter of a tie, a
pattern."""
NO_SETTINGS: Final[Settings] = MappingProxyType({})
TOO_LONG: Final = "too_long"
"""The rule of a judgment that failed because the request was longer than the model's
context."""
CUT: Final = "finish_length"
"""The rule of a judgment that failed because the reply was truncated."""
FILTERED: Final = "filtered"
"""The rule of a reply, or of a request without one, that a filter ended."""
REFUSED: Final = "refused"
ERROR_RULES: Final = (FILTERED, TOO_LONG, REFUSED, "given_up", "not_reproduced")
"""Why a request has no reply: the endpoint does not want the text, it is too long, the
endpoint refused the request for another reason, several runs got no answer, or the
server scored another text than the one it was given."""
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
    return {name: each for name, each in PARSERS.working().items() if each.in_cards}


RULES_WITHOUT_TEXT: Final[dict[str, str]] = {
    MissingContent.EMPTY: "empty",
    MissingContent.NULL: "null_content",
    MissingContent.TOOL: "empty_tool_call",
}
"""What stands in place of a reply's text (`names.CONTENT`) -> the rule of its judgment,
whose status is `empty`."""


class ReplyReader(Protocol):
    """Turns a reply into a judgment."""

    def __call__(
        self,
        text: str | None,
        finish: str | None,
        status: str,
        content: str | None = None,
        /,
    ) -> Judgment:
        """Return the judgment of a reply with this text, reason to stop and status.

        content: what stands in place of a text, as the reply's provenance says; None if
        there is a text, or if that is unknown.
        """
        ...


def parsed_by(
    parser: Parser,
    *,
    scale: Scale | None,
    settings: Settings = NO_SETTINGS,
    cut: bool = False,
) -> ReplyReader:
    """Return the function that turns a completion into a judgment.

    It never reads the prompt, and returns only numbers that the completion states.
    `finish` is the engine's reason for stopping (`finish.ending`): a reply that was cut
    or filtered is not an answer. A status other than ok is passed on; if it is
    `not_applicable`, the text is the reason and becomes the rule. `cut`: a reply that
    was cut is accepted if its first line is exactly the verdict; its rule ends in
    `.cut`. A reply without text has a rule of `RULES_WITHOUT_TEXT`. ValueError for a
    missing scale or wrong settings. Source: docs/methods.md, "From a reply to a score".
    """
    if parser.needs_scale and scale is None:
        raise ValueError(f"the parser {parser.name} needs a scale: min, max and step")
    if settings.keys() - set(parser.options) != set(parser.settings):
        raise ValueError(
            f"the parser {parser.name} has the settings {parser.settings}, not "
            f"{list(settings)}"
        )

    # without settings, none are unpacked for every reply
    read = partial(parser.read, **settings) if settings else parser.read
    make = tuple.__new__
    stamp = (f"{parser.name}@{parser.version}",)

    def judgment(
        text: str | None,
        finish: str | None,
        reply_status: str,
        content: str | None = None,
        /,
    ) -> Judgment:
        text = text or ""
        reading = None
        if finish != "stop" or reply_status != "ok" or not text or text.isspace():
            reading = _unread(text, finish, reply_status, content)
        if cut and reading and reading.rule == CUT:
            reading = _first_line(text, lambda line: read(line, scale)) or reading
        reading = reading or read(text, scale)
        if reading.status == "ok" and "</" in text:
            reading = _with_reasons(reading, text)
        unknown = finish != "stop" and is_unknown(finish)
        if unknown and reading.rule != finish:
            reading = reading._replace(rule=f"{reading.rule}+{_ended_by(finish)}")
        # faster than `_replace`, for millions of replies
        return make(Judgment, reading[:7] + stamp + reading[8:])

    return judgment


def _unread(
    text: str, finish: str | None, reply_status: str, content: str | None
) -> Judgment | None:
    """Return the judgment of a reply that no parser reads, or None."""
    if reply_status == "not_applicable":
        return Judgment("not_applicable", text.strip() or "not_applicable")
    if reply_status != "ok":
        return Judgment("error", _error_rule(text, finish, reply_status))
    ended = ending(finish)
    if ended == "cut":
        return Judgment("truncated", CUT)
    if ended == "filtered":
        return Judgment("refused", FILTERED)
    if ended == "failed":
        return Judgment("error", "failed")
    if text and not text.isspace():
        return None
    return Judgment("empty", RULES_WITHOUT_TEXT.get(content or "", "empty"))


def _ended_by(finish: str | None) -> str:
    """Return an unknown reason to stop as coverage names it."""
    # The number of characters of an unknown reason to stop that a rule shows.
    longest_reason = 40
    return f"finish {plain_reason(finish)[:longest_reason]}"


def _with_reasons(reading: Judgment, text: str) -> Judgment:
    """Return a judgment whose rationale has the reasons in tags, too."""
    reasons = split_reasoning(text).reasons
    if reasons is None:
        return reading
    parts = [reasons, reading.rationale or ""]
    return reading._replace(rationale="\n\n".join(part for part in parts if part))


def _error_rule(text: str, finish: str | None, reply_status: str) -> str:
    """Return why a request has no reply; older replies say so only in their text."""
    if finish in ERROR_RULES:
        return finish
    if _TOO_LONG.search(text):
        return TOO_LONG
    return REFUSED if text.startswith("HTTP ") else reply_status


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
    if scale is None:
        return Judgment("ok", "number", value)
    return scale.read(value, "number")


@parser("returned", 1)
def read_returned(text: str, scale: Scale | None) -> Judgment:
    """Return the value that a Python function returned: a number, or a label on a scale
    of labels.

    Of `{"score": …, "reason": …}` the score is read as `number` reads it, and the
    reason is the rationale.
    """
    try:
        content = None
        if text.startswith("{"):
            content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.keys() != {"score", "reason"}:
        return read_number(text, scale)
    reading = read_number(str(content["score"]), scale)
    return reading._replace(rationale=str(content["reason"]))


_DIGIT = re.compile(r"[0-9]")


@parser("chiang-lee", 1)
def read_chiang_lee(text: str, _: Scale | None) -> Judgment:
    """Return the first digit after the last `rating:`, or of the whole text without
    that label.

    Reproduces published tables; not for new judges. 2.5 is read as 2, and any digit is
    accepted, whatever the scale. Source: Chiang and Lee 2023, as reproduced in
    docs/methods.md, "From a reply to a score".
    """
    _before, label, after = text.lower().rpartition("rating:")
    rule = "after_rating" if label else "whole_text"
    digit = _DIGIT.search(after)
    if digit is None:
        return Judgment("unparsed", f"{rule}.no_digit")
    return Judgment("ok", rule, float(digit[0]))


_RESULT = re.compile(r"\[\s*result\s*\][*_\"'`]*\s*:?", re.IGNORECASE)


@parser("result", 16, needs_scale=True)
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
