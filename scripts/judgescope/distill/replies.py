"""What a judge is taught to write: an annotator's answer, as the parser of annotations reads it."""

import re
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Final

from judgescope.parsing.annotation import read_annotation
from judgescope.parsing.judgment import ErrorSpan
from judgescope.parsing.locate import LocatedSpan
from judgescope.schema.cards.judges import HUNDREDTHS, MOST_ERRORS, OVERALL

Error = ErrorSpan | LocatedSpan
NO_ERROR: Final = "No Error"
NOWHERE: Final = "None"
LARGEST: Final = 10_000
"""The largest denominator of a mean: no two such fractions are the same to nine decimals."""
_ENDS: Final = " *_>|"
_AROUND: Final = (("", ""), ('"', '"'), ("“", "”"), ("«", "»"), ("`", "`"))
_LABEL = re.compile(
    r"(?:location|(?:explanation of the|overall) score|explanation|severity|category)"
    r"(?=[*_]{0,3}\s?[:：])",
    re.IGNORECASE,
)
_ROUND: Final = str.maketrans("[{<>}]", "((()))")


def taught_score(mean: float) -> int:
    """Return (mean - 1) / 4 * 100 to the nearest of 0, 5, ..., 100, halves up.

    mean: an ensemble's score from 1 to 5, rounded to nine decimals; it is taken as the fraction
    that was rounded, so that a half is one. ValueError for a mean that is no such score. Paper 004,
    section 5.
    """
    if not OVERALL.min <= mean <= OVERALL.max:
        raise ValueError(f"the mean {mean} is not from {OVERALL.min:g} to {OVERALL.max:g}")
    exact = Fraction(mean).limit_denominator(LARGEST)
    share = (exact - Fraction(OVERALL.min)) / Fraction(OVERALL.max - OVERALL.min)
    return int(HUNDREDTHS[floor(share * (len(HUNDREDTHS) - 1) + Fraction(1, 2))])


def taught_reply(errors: Sequence[Error], score: int) -> str:
    """Return errors and a score in the lines in which annotators answer, without categories.

    `read_annotation` finds the same in it, but for what its lines cannot hold: every stretch of
    white space is a space; marks at the ends of an explanation go; where a text has labels
    (`Severity:`), JSON or reasoning tags in it, its labels are in small letters and its brackets
    round. A place that is a word for nothing (None, N/A) reads as none, and an error whose words
    say that there is none as no error. An error without a severity has no such line. ValueError for
    more errors than annotators list, or a score that is none of 0, 5, ..., 100.
    """
    if len(errors) > MOST_ERRORS:
        raise ValueError(f"{len(errors)} errors are more than {MOST_ERRORS}")
    if str(score) not in HUNDREDTHS:
        raise ValueError(f"{score} is no score from 0 to 100 in steps of 5")
    listed = [_entry(number, error) for number, error in enumerate(errors, start=1)]
    return "\n\n".join([*(listed or [NO_ERROR]), f"Overall score: {score}"])


def _entry(number: int, error: Error) -> str:
    lines = [
        f"Error {number}:",
        f"Location: {_location(error.location or '')}",
        f"Explanation: {_explanation(error.explanation)}".rstrip(),
    ]
    severity = [] if error.severity is None else [f"Severity: {error.severity}"]
    return "\n".join(lines + severity)


def _location(text: str) -> str:
    """Return a place so that it is read as it is: in quotation marks only where it has to be."""
    plain = " ".join(text.split())
    softened = _softened(plain)
    for own in (plain, softened):
        for left, right in _AROUND:
            if _read(f"{left}{own}{right}", "why") == [(own, "why")]:
                return f"{left}{own}{right}"
    return softened or NOWHERE


def _explanation(text: str) -> str:
    plain = " ".join(text.split()).strip(_ENDS)
    return plain if _read("place", plain) == [("place", plain)] else _softened(plain)


def _read(location: str, explanation: str) -> list[tuple[str | None, str]]:
    """Return the errors that the parser finds in the lines of one."""
    found = read_annotation(f"Error 1:\nLocation: {location}\nExplanation: {explanation}")
    return [(error.location, error.explanation) for error in found.errors]


def _softened(text: str) -> str:
    """Return a text in which nothing is taken for a label, for JSON or for a reasoning tag."""
    return _LABEL.sub(lambda label: label[0].lower(), text).translate(_ROUND)
