"""From a reply to a judgment: the statuses that hold for all parsers, and the short parsers."""

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from judgescope.parsing import annotation, choice, error_list  # noqa: F401  registers parsers
from judgescope.parsing.judgment import PARSERS, Judgment, Parser, Reading, Scale, parser
from judgescope.parsing.score import read_score
from judgescope.parsing.text import answer_of, fold, nothing_read, unquoted, without_reasoning

Settings = Mapping[str, float | str]
"""What a judge's card sets for its parser: penalties, the letter of a tie."""
NO_SETTINGS: Final[Settings] = MappingProxyType({})
CONTEXT: Final = "context"
"""The rule of a judgment that failed because the request was longer than the model's context."""
CUT: Final = "finish_length"
"""The rule of a judgment that failed because the reply was cut."""
_TOO_LONG = re.compile(
    r"context[ _](length|size|window)|prompt is too long|input is too long|too many tokens"
    r"|tokens? .{0,80}exceeds",
    re.IGNORECASE,
)
"""The errors of OpenAI, vLLM, llama.cpp and others for a request longer than the context."""


def card_parsers() -> dict[str, Parser]:
    """Return the parsers that a judge's card may name."""
    return {name: one for name, one in sorted(PARSERS.items()) if one.in_cards}


def parse(
    text: str | None,
    *,
    scale: Scale | None,
    finish: str | None,
    parser: str = "score",
    reply_status: str = "ok",
    settings: Settings = NO_SETTINGS,
    cut: bool = False,
) -> Judgment:
    """Return what the completion `text` says; never the prompt, never a number it does not say.

    `finish` is the engine's reason for stopping: a reply cut by `length` is no answer, whatever it
    says. `reply_status` other than ok passes through; the text of a reply that is not applicable
    is the reason and becomes the rule. `cut`: a reply cut by `length` counts if its whole first
    line is the verdict and nothing else; its rule ends in `.cut`. ValueError for an unknown parser,
    one that needs a scale and has none, or other settings than it has. Sources: methods.md 6 and
    the facts on servers in engines.md.
    """
    if parser not in PARSERS:
        raise ValueError(f"unknown parser {parser!r}; known parsers: {', '.join(sorted(PARSERS))}")
    version, read, needs_scale, required, optional, _ = PARSERS[parser]
    if needs_scale and scale is None:
        raise ValueError(f"the parser {parser} needs a scale: min, max and step")
    if settings.keys() - set(optional) != set(required):
        raise ValueError(f"the parser {parser} has the settings {required}, not {list(settings)}")
    text = text or ""
    reading = _unread(text, finish, reply_status)
    if cut and reading and reading.rule == CUT:
        reading = _first_line(text, lambda line: read(line, scale, **settings)) or reading
    reading = reading or read(text, scale, **settings)
    if reading.status == "unparsed" and finish == "content_filter":
        reading = Reading("refused", "content_filter")
    status, rule, value, label, rationale, tail, errors = reading
    return Judgment(value, label, rationale, status, rule, f"{parser}@{version}", tail, errors)


def _unread(text: str, finish: str | None, reply_status: str) -> Reading | None:
    """Return the reading of a reply that no parser reads, or None."""
    if reply_status == "not_applicable":
        return Reading("not_applicable", text.strip() or "not_applicable")
    if reply_status != "ok":
        return Reading("error", CONTEXT if _TOO_LONG.search(text) else reply_status)
    if finish == "length":
        return Reading("truncated", CUT)
    if text and not text.isspace():
        return None
    if finish == "content_filter":
        return Reading("refused", "content_filter")
    return Reading("empty", "empty")


def _first_line(text: str, read: Callable[[str], Reading]) -> Reading | None:
    """Return what a cut reply says if its whole first line is the verdict, else None.

    The line has to end: `Rating: 1` may lack another digit.
    """
    answer, unclosed = without_reasoning(text)
    line, ended, rest = answer.lstrip().partition("\n")
    reading = read(line) if ended and not unclosed else None
    if reading is None or reading.status != "ok" or reading.rationale:
        return None
    tail = reading.tail and f"{reading.tail}\n{rest}"
    return reading._replace(rule=f"{reading.rule}.cut", rationale=rest.strip() or None, tail=tail)


_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII)


@parser("number", 2)
def read_number(text: str, scale: Scale | None) -> Reading:
    """Return the one decimal number that the whole text is, as programs write scores.

    `nan` is a missing value, so empty. With a scale the value must be one of it (`Scale.read`):
    means of ratings need a continuous scale, or one that keeps values off its grid. On a scale of
    labels alone the text must be one of its words; a number is none.
    """
    text = text.strip()
    if text.lower() == "nan":
        return Reading("empty", "nan")
    if scale is not None and scale.words:
        return scale.read_word(text, "label")
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        return Reading("unparsed", "no_number")
    return Reading("ok", "number", value) if scale is None else scale.read(value, "number")


_DIGIT = re.compile(r"[0-9]")


@parser("chiang-lee", 1)
def read_chiang_lee(text: str, _: Scale | None) -> Reading:
    """Return the first digit after the last `rating:`, or of the whole text without that label.

    Reproduces published tables; not for new judges. 2.5 is read as 2, and any digit counts,
    whatever the scale. Source: Chiang and Lee 2023, as reproduced in methods.md 6.
    """
    _before, label, after = text.lower().rpartition("rating:")
    rule = "after_rating" if label else "whole_text"
    digit = _DIGIT.search(after)
    if digit is None:
        return Reading("unparsed", f"{rule}.no_digit")
    return Reading("ok", rule, float(digit[0]))


_RESULT = re.compile(r"\[\s*result\s*\][*_\"'`]*\s*:?", re.IGNORECASE)


@parser("result", 5, needs_scale=True)
def read_result(text: str, scale: Scale) -> Reading:
    """Return the rating after the last [RESULT], as judges trained on rubrics write it.

    The text before it is the rationale. Unparsed without the mark, whatever numbers there are.
    """
    answer = answer_of(text)
    if isinstance(answer, Reading):
        return answer
    marks = unquoted(_RESULT.finditer(answer), fold(answer))
    if not marks:
        return nothing_read(answer, "no_result")
    reading = read_score(f"Rating: {answer[marks[-1].end() :].strip()}", scale)
    rationale = answer[: marks[-1].start()].strip() or None
    return reading._replace(rule=f"result.{reading.rule}", rationale=rationale, tail=None)
