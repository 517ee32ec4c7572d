"""Analyses that lead to a given rating, as a model writes them for demonstrations."""

import re

from judgescope.parsing.judgment import STATED, Scale
from judgescope.parsing.score import read_score

_LAST = re.compile(
    r"(?<![\s*_#\"'`])[\s*_#\"'`]*+\brating\b[*_\"'\s]*+[:：][^:：\n]*+\Z", re.IGNORECASE
)


def without_rating(text: str) -> str:
    """Return an analysis without the rating that it ends with."""
    last = _LAST.search(text)
    return text[: last.start()].strip() if last else text


def problem_of(text: str, rating: float, scale: Scale) -> str | None:
    """Return why a text is no analysis that leads to this rating and to no other, or None."""
    last = _LAST.search(text)
    if last is None:
        return f'it does not end in a line "Rating: {rating:g}"'
    if not _says(last[0], rating, scale):
        return f"its last line does not give the rating {rating:g}"
    analysis = without_rating(text)
    if not any(map(str.isalpha, analysis)):
        return "nothing stands before the rating"
    named = read_score(analysis, scale).status in STATED
    if named and not _says(analysis, rating, scale):
        return f"it names another rating than {rating:g}"
    return None


def _says(text: str, rating: float, scale: Scale) -> bool:
    value = read_score(text, scale).value
    return value is not None and abs(value - rating) < 1e-9
