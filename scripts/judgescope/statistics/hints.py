"""Hints: ratings that a judge is told before it judges, right and wrong ones (paper 003)."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

Told = Literal["wrong", "right"]


def shared_rating(ratings: Sequence[float]) -> float:
    """The mode of the raters' ratings, of several the highest.

    One rating or more. Source: paper 003, 3.3 (three raters); methods.md 4 for any number.
    """
    counts = Counter(ratings)
    most = max(counts.values())
    return max(rating for rating, count in counts.items() if count == most)


def hint(ratings: Sequence[float], low: float, high: float, tells: Told) -> float:
    """The wrong one: high where `shared_rating` <= high / 2, else low. The right one: the shared.

    low and high are the ends of the scale. Source: paper 003, 3.3 (PR).
    """
    shared = shared_rating(ratings)
    if tells == "right":
        return shared
    return high if shared <= high / 2 else low
