"""Which of two texts a reply prefers: the last labelled choice, or a reply that is nothing else."""

import re

from metajudge.parsing.judgment import Reading, Scale
from metajudge.parsing.quoted import own
from metajudge.parsing.text import fold, without_reasoning

VALUES = {"a": 1.0, "b": -1.0, "tie": 0.0}
"""1: the first text is better, -1: the second, 0: neither."""
_OPEN = r"[*_\"'`(\[]{0,4}"
_CHOICE = rf"{_OPEN}(?:(?:text|response|answer|option)\s+|a\s+(?=tie\b))?(a|b|tie)\b"
_CLOSE = r"[*_\"'`)\]]*\s*"
_END = rf"(?={_CLOSE}(?:[.,;!]|$))"
"""After `is` alone: "the better is a matter of taste" names no text."""
_REASON = rf"(?={_CLOSE}(?:[.,;:!(<-]|$|(?:because|since|as|for|by|is|with)\b))"
"""After a colon: "Choice: a matter of taste" and "Choice: A and B" name none either."""
_LABELLED = re.compile(
    r"\b(?:choice|verdict|winner|better(?:\s+text)?)[*_\"'`]*\s*"
    rf"(?:(?:is\s*)?[:=-][*_\"'`]*\s*{_CHOICE}{_REASON}|is\s+{_CHOICE}{_END})",
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
    labelled = _labelled(folded)
    match, rule = (labelled[-1], "labelled") if labelled else (_ALONE.match(folded), "alone")
    if match is None:
        return Reading("unparsed", "no_choice")
    choice = _letter(match)
    rest = (said[: match.start()] + said[match.end() :]).strip()
    return Reading("ok", rule, VALUES[choice], choice, rest or None)


def _labelled(folded: str) -> list[re.Match[str]]:
    """Return the labelled choices, without lines that name several: those repeat the question."""
    lines: dict[int, list[re.Match[str]]] = {}
    for match in own(_LABELLED.finditer(folded), folded):
        lines.setdefault(folded.count("\n", 0, match.start()), []).append(match)
    return [found[-1] for found in lines.values() if len({_letter(one) for one in found}) == 1]


def _letter(match: re.Match[str]) -> str:
    return match[1] or match[2]
