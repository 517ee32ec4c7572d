"""Which texts of graded sets people are asked about: as many of every rating, and of each item."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metajudge.reevaluation.texts import Text

if TYPE_CHECKING:
    from numpy.random import Generator


def sampled(texts: Iterable[Text], rng: "Generator", most: int) -> list[Text]:
    """Return some of all texts, none twice; fewer are the first of more.

    The ratings of all sets take turns while they have texts; whose turn it is gives one of an item
    that was drawn no more often than others.
    """
    ordered = sorted(texts, key=lambda one: (one.set, one.aspect, one.target))
    of_rating: dict[tuple[str, str, float], list[Text]] = {}
    for at in rng.permutation(len(ordered)).tolist():
        one = ordered[at]
        of_rating.setdefault((one.set, one.aspect, one.level), []).append(one)
    used: Counter[str] = Counter()
    found: list[Text] = []
    while len(found) < min(most, len(ordered)):
        for left in filter(None, of_rating.values()):
            one = min(left, key=lambda text: used[text.item])
            left.remove(one)
            used[one.item] += 1
            found.append(one)
    return found[:most]
