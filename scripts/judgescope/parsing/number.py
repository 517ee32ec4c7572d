"""Numbers as scorers write them: lexical and control engines, recorded columns of scores."""

import math
import re

from judgescope.parsing.judgment import Reading, Scale

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.IGNORECASE | re.ASCII)


def read_number(text: str, scale: Scale | None) -> Reading:
    """Return the one decimal number that the whole text is; `nan` is a missing value, so empty.

    With a scale the value must be one of it, as `Scale.read` has it: means of ratings need a scale
    without steps, or one that keeps what is off its grid.
    """
    text = text.strip()
    if text.lower() == "nan":
        return Reading("empty", "nan")
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    if math.isinf(value):
        return Reading("unparsed", "no_number")
    return Reading("ok", "number", value) if scale is None else scale.read(value, "number")
