"""The registry of parsers, and what holds for all of them."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from judgescope.parsing.annotation import read_merged, read_verdict_and_errors
from judgescope.parsing.choice import read_choice
from judgescope.parsing.error_list import SEVERITIES, read_errors
from judgescope.parsing.judgment import Judgment, Reader, Reading, Scale
from judgescope.parsing.legacy import read_chiang_lee
from judgescope.parsing.number import read_number
from judgescope.parsing.result import read_result
from judgescope.parsing.score import read_score
from judgescope.parsing.text import without_reasoning


class Parser(NamedTuple):
    """A way to read replies; its version changes whenever some reply is read differently.

    `settings` names what a judge's card has to tell it, `options` what it may tell.
    """

    version: int
    read: Reader
    settings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


PARSERS: dict[str, Parser] = {
    "score": Parser(3, read_score),
    "number": Parser(2, read_number),
    "chiang-lee": Parser(1, read_chiang_lee),
    "choice": Parser(3, read_choice, options=("tie",)),
    "result": Parser(3, read_result),
    "errors": Parser(2, read_errors, (*SEVERITIES, "bottom")),
    "annotation": Parser(3, read_verdict_and_errors),
    "merged": Parser(2, read_merged),
}

Settings = Mapping[str, float | str]
"""What a judge's card tells its parser: penalties, the letter of a tie."""
NO_SETTINGS: Final[Settings] = MappingProxyType({})
CONTEXT: Final = "context"
"""The rule of a judgment that failed because the request was longer than the model's context."""
CUT: Final = "finish_length"
"""The rule of a judgment that failed because the reply was cut."""
TOO_LONG = re.compile(
    r"context[ _](length|size|window)|prompt is too long|input is too long|too many tokens"
    r"|tokens? .{0,80}exceeds",
    re.IGNORECASE,
)
"""What endpoints and engines say then: OpenAI's, vLLM, llama.cpp, and what others' are like."""


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
    is the reason and becomes the rule. `cut`: a reply cut by `length` counts where its whole first
    line is the verdict and nothing else; its rule ends in `.cut`. ValueError for a parser that does
    not exist, one that needs a scale and has none, or other settings than it has. Sources:
    methods.md 6 and the facts on servers in engines.md.
    """
    if parser not in PARSERS:
        raise ValueError(f"no parser {parser!r}; there are {', '.join(PARSERS)}")
    version, read, needed, optional = PARSERS[parser]
    if settings.keys() - set(optional) != set(needed):
        raise ValueError(f"the parser {parser} has the settings {needed}, not {list(settings)}")
    reading = _without_reading(text or "", finish, reply_status)
    if cut and reading and reading.rule == CUT:
        verdict = _first_line(text or "", lambda line: read(line, scale, **settings))
        reading = verdict or reading
    reading = reading or read(text or "", scale, **settings)
    if reading.status == "unparsed" and finish == "content_filter":
        reading = Reading("refused", "content_filter")
    status, rule, value, label, rationale, tail, errors = reading
    return Judgment(value, label, rationale, status, rule, f"{parser}@{version}", tail, errors)


def _without_reading(text: str, finish: str | None, reply_status: str) -> Reading | None:
    """Return the reading of a reply that is no answer, None for one that is."""
    if reply_status == "not_applicable":
        return Reading("not_applicable", text.strip() or "not_applicable")
    if reply_status != "ok":
        return Reading("error", CONTEXT if TOO_LONG.search(text) else reply_status)
    if finish == "length":
        return Reading("truncated", CUT)
    if finish == "content_filter" and not text.strip():
        return Reading("refused", "content_filter")
    if not text.strip():
        return Reading("empty", "empty")
    return None


def _first_line(text: str, read: Callable[[str], Reading]) -> Reading | None:
    """Return what a cut reply says if its whole first line is the verdict, else None.

    The line has to end: of `Rating: 1` another digit may be missing.
    """
    answer, unclosed = without_reasoning(text)
    line, ended, rest = answer.lstrip().partition("\n")
    reading = read(line) if ended and not unclosed else None
    if reading is None or reading.status != "ok" or reading.rationale:
        return None
    tail = reading.tail and f"{reading.tail}\n{rest}"
    return reading._replace(rule=f"{reading.rule}.cut", rationale=rest.strip() or None, tail=tail)
