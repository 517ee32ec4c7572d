"""Numbers as scorers write them: lexical and control engines, recorded columns of scores."""

import math
import re

from metajudge.parsing.judgment import Reading, Scale

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII)


def read_number(text: str, scale: Scale | None) -> Reading:
    """Return the one decimal number that the whole text is; `nan` is a missing value, so empty.

    With a scale the range is checked, not the grid: a recorded mean of ratings is off the grid.
    """
    text = text.strip()
    if text.lower() == "nan":
        return Reading("empty", "nan")
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        return Reading("unparsed", "no_number")
    if scale is not None and not scale.contains(value):
        return Reading("out_of_range", "number.outside")
    return Reading("ok", "number", value)
