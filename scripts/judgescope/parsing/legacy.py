"""Parsing rules of published code, kept to reproduce its tables; not for new judges."""

import re

from judgescope.parsing.judgment import Reading, Scale

_DIGIT = re.compile(r"[0-9]")


def read_chiang_lee(text: str, scale: Scale | None) -> Reading:
    """Return the first digit after the last `rating:`, of the whole text where there is none.

    2.5 is read as 2; there is no range check, so the scale is not used. Source: Chiang and Lee
    2023, as reproduced in methods.md 6.
    """
    _, label, after = text.lower().rpartition("rating:")
    rule = "after_rating" if label else "whole_text"
    digit = _DIGIT.search(after)
    if digit is None:
        return Reading("unparsed", f"{rule}.no_digit")
    return Reading("ok", rule, float(digit[0]))
