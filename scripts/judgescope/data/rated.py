"""A dataset as read: items, outputs, ratings, with the ids that all tables use."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

BY_REFERENCE = ":reference."
"""Between an item and the number of one of its references: the text that another one is or was."""
WHOLLY = 5
"""So many texts at least tell that a system, all of whose texts are references, wrote these."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of items and systems in a dataset's own files, by their ids."""

    items: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)


NO_NAMES = Names()


class Item(NamedTuple):
    """One source and what was written for it; `meta["id"]` is its id in the data."""

    item: str
    source: str
    references: tuple[str, ...]
    meta: Mapping[str, Any]


class Output(NamedTuple):
    """A text by a system, and the row of the data that it comes from."""

    target: str
    item: str
    system: str
    text: str
    row: int
    file: str


class Rating(NamedTuple):
    """What one rater said of one target."""

    target: str
    aspect: str
    rater: str
    value: float


class GoldSpan(NamedTuple):
    """An error that people marked in a text; `end` is the character behind it."""

    target: str
    start: int
    end: int
    category: str
    text: str
    correction: str | None
    comment: str | None


@dataclass(frozen=True)
class Rated:
    """Items by item, outputs by item and system, ratings by target, aspect and rater."""

    items: list[Item]
    outputs: list[Output]
    ratings: list[Rating]
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> its name in the data."""
    problems: list[str] = field(default_factory=list)
    """What is no error but should be known, as sentences with numbers."""
    spans: list[GoldSpan] = field(default_factory=list)
    """Marked errors by target and place, where a format has them."""

    @property
    def names(self) -> Names:
        """Return the names of items and systems in the data."""
        items = {one.item: str(one.meta.get("id", one.item)) for one in self.items}
        return Names(items, self.systems)

    def own_references(self, known: Collection[str]) -> dict[str, int]:
        """Return target -> which reference of its item it is, for texts of reference systems.

        These are the `known` ones, and systems all of whose texts are references. Another system
        may have written the words of a reference: that is a text of its own.
        """
        numbered = {
            (item.item, tuple(text.split())): number
            for item in self.items
            for number, text in reversed([*enumerate(item.references)])
        }
        found = {
            one.target: numbered.get((one.item, tuple(one.text.split()))) for one in self.outputs
        }
        texts: dict[str, list[bool]] = {}
        for one in self.outputs:
            texts.setdefault(one.system, []).append(found[one.target] is not None)
        wholly = {name for name, same in texts.items() if len(same) >= WHOLLY and all(same)}
        return {
            one.target: number
            for one in self.outputs
            if one.system in wholly | {*known} and (number := found[one.target]) is not None
        }

    def keep(
        self,
        item: Callable[[Item], bool] = lambda _: True,
        system: Callable[[str], bool] = lambda _: True,
    ) -> "Rated":
        """Return the part with these items and systems."""
        items = [one for one in self.items if item(one)]
        names = {one.item for one in items}
        outputs = [one for one in self.outputs if one.item in names and system(one.system)]
        targets = {one.target for one in outputs}
        return replace(
            self,
            items=items,
            outputs=outputs,
            ratings=[one for one in self.ratings if one.target in targets],
            systems={one: name for one, name in self.systems.items() if system(one)},
            spans=[one for one in self.spans if one.target in targets],
        )
