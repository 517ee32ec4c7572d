"""A dataset as read: items, outputs and ratings, with the ids that all tables use."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

BY_REFERENCE = ":reference."
"""In ids of references: stands between the item and the reference's number."""
WHOLLY = 5
"""Minimum number of texts for a system to be taken for the references' author, if all
match."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of items and systems in a dataset's own files, by their ids.

    `same`: names that differ only in blanks, case or Unicode form are the same, as the
    card says.
    """

    items: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    same: bool = False


NO_NAMES = Names()


class Item(NamedTuple):
    """One source and its references; `meta["id"]` is its id in the data."""

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
    length: float | None = None
    """The length that a column gives; None: unknown, or that of the text."""


class Rating(NamedTuple):
    """One rater's rating of one target."""

    target: str
    aspect: str
    rater: str
    value: float


class Preference(NamedTuple):
    """One rater's choice between two targets of an item, in the order in which they
    were shown.
    """

    target: str
    target_b: str
    aspect: str
    rater: str
    value: float
    """1: the first, -1: the second, 0: neither."""


class GoldSpan(NamedTuple):
    """An error that people marked in a text; `end` is the position after its last
    character.
    """

    target: str
    start: int
    end: int
    category: str
    text: str
    correction: str | None
    comment: str | None


@dataclass(frozen=True)
class Rated:
    """A dataset: items by item, outputs by item and system, ratings by target, aspect
    and rater.
    """

    items: list[Item]
    outputs: list[Output]
    ratings: list[Rating]
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> its name in the data."""
    problems: list[str] = field(default_factory=list)
    """Notices that are not errors, as sentences with numbers."""
    spans: list[GoldSpan] = field(default_factory=list)
    """Marked errors by target and place, if a format has them."""
    same_names: bool = False
    """Whether the card says that different spellings of a name are the same name."""
    preferences: list[Preference] = field(default_factory=list)
    """Choices by targets, aspect and rater, if people compared texts."""

    @property
    def names(self) -> Names:
        """Return the names of items and systems in the data."""
        items = {item.item: str(item.meta.get("id", item.item)) for item in self.items}
        return Names(items, self.systems, self.same_names)

    def own_references(self, known: Collection[str]) -> dict[str, int]:
        """Return target -> number of the reference that it equals, for texts of
        reference systems.

        These are the `known` systems, and systems all of whose texts are references. If
        another system wrote the same words as a reference, that is a separate text.
        """
        numbers = {
            (item.item, tuple(text.split())): number
            for item in self.items
            for number, text in reversed([*enumerate(item.references)])
        }
        by_system: dict[str, dict[str, int | None]] = {}
        for output in self.outputs:
            number = numbers.get((output.item, tuple(output.text.split())))
            by_system.setdefault(output.system, {})[output.target] = number
        return {
            target: number
            for system, targets in by_system.items()
            if system in known
            or (len(targets) >= WHOLLY and None not in targets.values())
            for target, number in targets.items()
            if number is not None
        }

    def keep(self, names: Collection[str], dropped: Collection[str] = ()) -> "Rated":
        """Return the part with the items of these names, without the dropped
        systems.
        """
        outputs = [
            text
            for text in self.outputs
            if text.item in names and text.system not in dropped
        ]
        targets = {text.target for text in outputs}
        return replace(
            self,
            items=[item for item in self.items if item.item in names],
            outputs=outputs,
            ratings=[rating for rating in self.ratings if rating.target in targets],
            systems={
                key: name for key, name in self.systems.items() if key not in dropped
            },
            spans=[span for span in self.spans if span.target in targets],
            preferences=[
                one for one in self.preferences if {one.target, one.target_b} <= targets
            ],
        )
