"""Which of two texts a reply prefers: the last labelled choice, or a reply that is nothing else."""

import re

from metajudge.parsing.judgment import Reading, Scale
from metajudge.parsing.text import fold, without_reasoning

VALUES = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""1: the first text is better, -1: the second, 0: neither."""
_OPEN = r"[*_\"'`(\[]{0,4}"
_CHOICE = rf"{_OPEN}(?:(?:text|response|answer|option)\s+)?(a|b|tie)\b"
_END = r"(?=[*_\"'`)\]]*\s*(?:[.,;!]|$))"
"""After `is` alone: "the better is a matter of taste" names no text."""
_LABELLED = re.compile(
    r"\b(?:choice|verdict|winner|better(?:\s+text)?)[*_\"'`]*\s*"
    rf"(?:(?:is\s*)?[:=-][*_\"'`]*\s*{_CHOICE}|is\s+{_CHOICE}{_END})",
    re.MULTILINE,
)
_ALONE = re.compile(rf"\s*{_CHOICE}[*_\"'`)\].!\s]*\Z")


def read_choice(text: str, _: Scale | None) -> Reading:
    """Return 1 for A, -1 for B, 0 for a tie; unparsed where no choice is labelled or alone."""
    said, endless = without_reasoning(text)
    if endless:
        return Reading("truncated", "unclosed_reasoning")
    if not said:
        return Reading("empty", "only_reasoning")
    folded = fold(said)
    labelled = list(_LABELLED.finditer(folded))
    match, rule = (labelled[-1], "labelled") if labelled else (_ALONE.match(folded), "alone")
    if match is None:
        return Reading("unparsed", "no_choice")
    choice = next(filter(None, match.groups()))
    rest = (said[: match.start()] + said[match.end() :]).strip()
    return Reading("ok", rule, VALUES[choice], choice, rest or None)
