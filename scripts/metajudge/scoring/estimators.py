"""How the draws of one target become one score."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum


def mean(values: Sequence[float]) -> float:
    """Return sum(v) / n; correctly rounded, so that the order of draws does not matter."""
    return fsum(values) / len(values)


def mode(values: Sequence[float]) -> float:
    """Return the most frequent value; of several the nearest to the mean, then the lower.

    Source: methods.md 3 (paper 002 drew among them by an unseeded random number).
    """
    counts = Counter(values)
    most, centre = max(counts.values()), mean(values)
    tied = [value for value, count in counts.items() if count == most]
    return min(tied, key=lambda value: (abs(value - centre), value))


ESTIMATORS: dict[str, Callable[[Sequence[float]], float]] = {"mean": mean, "mode": mode}
