"""Which members of an ensemble are far from the others, without a square root or a rounding."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

DEVIATIONS: Final = 2
"""So many population standard deviations from the mean, and"""
POINTS: Final = 1
"""so many points of the scale, at least."""
_TOLERANCE = 1e-6


def outliers(
    scores: Sequence[float | Fraction | None],
    *,
    step: float | Fraction = 1,
    origin: float | Fraction = 0,
) -> list[bool]:
    """Return |x - mean| >= 2 sd and |x - mean| >= 1 of each score x, sd with n below.

    scores (members,), None = missing: never an outlier and not counted; origin + k step for whole
    k, where `step` may be a fraction such as 1/3 (means of three draws). Scores that are fractions
    are taken exactly, floats at the nearest step. With the integers k, their
    number n, sum S and sum of squares Q: (n k - S)² >= 4 (n Q - S²) and |n k - S| step >= n.
    Shape (members,). All false where all scores are equal, and of fewer than 5 members always:
    none can be more than sqrt(n - 1) deviations away. ValueError for a step that is not above 0 or
    a score between two steps. Paper 004, section 4 (footnote on outliers).
    """
    width, start = Fraction(str(step)), Fraction(str(origin))
    if width <= 0:
        raise ValueError(f"the step must be above 0, not {step}")
    places = [None if score is None else _place(score, width, start) for score in scores]
    known = [place for place in places if place is not None]
    n, total, squares = len(known), sum(known), sum(place * place for place in known)
    spread = DEVIATIONS**2 * (n * squares - total**2)
    far = [None if place is None else abs(n * place - total) for place in places]
    return [one is not None and one**2 >= spread and one * width >= n * POINTS for one in far]


def _place(score: float | Fraction, width: Fraction, start: Fraction) -> int:
    if isinstance(score, Fraction):
        exact = (score - start) / width
        if exact.denominator == 1:
            return exact.numerator
        raise ValueError(f"the score {score} is not {start} + k * {width} for a whole k")
    steps = (score - float(start)) / float(width)
    if not abs(steps) < 2**53 or abs(steps - round(steps)) > _TOLERANCE:
        raise ValueError(f"the score {score} is not {start} + k * {width} for a whole k")
    return round(steps)
