"""What people are asked about, of more than they can be: as many of every kind as there are."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from numpy.random import Generator

Thing = TypeVar("Thing")


def balanced(
    things: Sequence[Thing],
    rng: "Generator",
    most: int,
    *,
    kind: Callable[[Thing], Hashable],
    item: Callable[[Thing], Hashable],
) -> list[Thing]:
    """Return some of all things, which stand in an order of their own; none twice.

    All kinds take turns while they have things; whose turn it is gives one of an item that was
    drawn no more often than others. Fewer are the first of more.
    """
    of_kind: dict[Hashable, list[Thing]] = {}
    for at in rng.permutation(len(things)).tolist():
        of_kind.setdefault(kind(things[at]), []).append(things[at])
    used: Counter[Hashable] = Counter()
    found: list[Thing] = []
    while len(found) < min(most, len(things)):
        for left in filter(None, of_kind.values()):
            one = min(left, key=lambda thing: used[item(thing)])
            left.remove(one)
            used[item(one)] += 1
            found.append(one)
    return found[:most]
