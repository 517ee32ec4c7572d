"""Text of cards and data on its way into a file of another language."""

import re

from judgescope.report.html import writable

BREAKS = re.compile("[ \\t\\r\\n\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]+")
"""Blanks and ends of lines; thin spaces within numbers stay."""


def one_line(text: str) -> str:
    """Return a text on one line, a code in place of each character that nobody would see."""
    return writable(BREAKS.sub(" ", text))
