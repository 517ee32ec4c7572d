"""The confidence that a reply states beside its verdict: `Confidence: 80 %`."""

import re
from typing import NamedTuple

from judgescope.parsing.characters import fold
from judgescope.parsing.reasoning import without_reasoning

_NUMBER = r"-?(?:\d{1,6}(?:[.,]\d{1,6})?|\.\d{1,6})"
_NAME = r"(?:confidence(?:[ _](?:level|score|rating))?|certainty)"
_UNIT = r"(?P<unit>\s?(?:%|percent\b|per cent\b)|\s?/\s?[1-9]\d{0,3}(?![\d.]))?"
_RANGE = r"(?P<range>\s?(?:-|to\b)\s?\d)?"
_NAMED = re.compile(
    rf"\b{_NAME}\b[\"'*_`]{{0,4}}\s?(?::|=|\bis\b|\bof\b)[\s\"'*_`~]{{0,6}}"
    rf"(?:(?P<number>{_NUMBER})(?:\s?%)?{_RANGE}{_UNIT}|(?P<word>[a-z]+))",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    rf"(?P<number>{_NUMBER}){_RANGE}(?P<unit>\s?(?:%|percent\b|per cent\b))"
    r"\s(?:confident|certain|sure)\b(?P<word>\Z.)?",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\s?(?:%|percent|per cent)", re.IGNORECASE)


class StatedConfidence(NamedTuple):
    """The stated chance, 0 to 1, and how it was written; None, and why there is
    none.
    """

    chance: float | None
    rule: str


def stated_confidence(text: str) -> StatedConfidence:
    """Return the last confidence that a reply names, outside of its reasoning.

    A number with `%`, or above 1, is per cent; one with a fraction up to 1 is a share;
    `8/10` is a share, too. `1` alone may be either, and a range is no number: both have
    none. A word (`high`) has none.

    >>> stated_confidence("Verdict: pass" + chr(10) + "Confidence: 80 %")
    StatedConfidence(chance=0.8, rule='percent')
    >>> stated_confidence('{"verdict": "pass", "confidence": 0.65}')
    StatedConfidence(chance=0.65, rule='share')
    >>> stated_confidence("Confidence: 120 %")
    StatedConfidence(chance=None, rule='outside')
    >>> stated_confidence("Verdict: pass")
    StatedConfidence(chance=None, rule='none_stated')
    """
    answer = fold(without_reasoning(text)[0])
    named = [*_NAMED.finditer(answer)] or [*_SPOKEN.finditer(answer)]
    # The reply names no confidence.
    none_stated = "none_stated"
    if not named:
        return StatedConfidence(None, none_stated)
    return _value_of(named[-1], answer)


def _value_of(match: re.Match[str], answer: str) -> StatedConfidence:
    number = match["number"]
    # A word stands where the number should (`Confidence: high`).
    no_number = "no_number"
    if number is None:
        return StatedConfidence(None, no_number)
    # The number may be a share or per cent (`1`), or is a range.
    ambiguous = "ambiguous"
    if match["range"]:
        return StatedConfidence(None, ambiguous)
    value = float(number.replace(",", "."))
    unit = (match["unit"] or "").strip()
    behind = answer[match.end("number") :]
    if unit.startswith("/"):
        return _within(value / float(unit[1:]), "fraction")
    if unit or _PERCENT.match(behind):
        return _within(value / 100, "percent")
    if value == 1 and not re.search(r"[.,]", number):
        return StatedConfidence(None, ambiguous)
    if value <= 1:
        return _within(value, "share")
    return _within(value / 100, "percent")


def _within(chance: float, rule: str) -> StatedConfidence:
    # The number is below 0 or above 100 %.
    outside = "outside"
    if not 0 <= chance <= 1:
        return StatedConfidence(None, outside)
    return StatedConfidence(round(chance, 12), rule)
