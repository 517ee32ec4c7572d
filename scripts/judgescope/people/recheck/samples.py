"""Which texts of graded sets people are asked about: as many of every rating, and of each item."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from judgescope.people.recheck.texts import Text
from judgescope.people.sampling import balanced

if TYPE_CHECKING:
    from numpy.random import Generator


def sampled(texts: Iterable[Text], rng: "Generator", most: int) -> list[Text]:
    """Return some of all texts, none twice; the ratings of all sets take turns (`balanced`)."""
    return balanced(
        sorted(texts, key=lambda one: (one.set, one.aspect, one.target)),
        rng,
        most,
        kind=lambda one: (one.set, one.aspect, one.level),
        item=lambda one: one.item,
    )
