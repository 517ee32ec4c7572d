"""A dataset as read: items, outputs and ratings, with the ids that all tables use."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

BY_REFERENCE = ":reference."
"""In ids of references: stands between the item and the reference's number."""


@dataclass(frozen=True, slots=True)
class NamesInData:
    """The names of items and systems in a dataset's own files, by their ids.

    `same`: names that differ only in blanks, case or Unicode form are the same, as the
    card says.
    """

    items: Mapping[str, str] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)
    same: bool = False


NO_NAMES = NamesInData()


SOURCE = "Source"
"""The name of a source that has one part, for tasks that give it no name."""


class SourcePart(NamedTuple):
    """A part of a source: its name in prompts, such as Article, and its text."""

    name: str
    text: str


class Item(NamedTuple):
    """One source and its references; `meta["id"]` is its id in the data."""

    item: str
    source: str
    references: tuple[str, ...]
    meta: Mapping[str, Any]
    parts: tuple[SourcePart, ...] = ()
    """The parts of the source, in the order of the card; none is empty."""


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


class PerturbedText(NamedTuple):
    """A perturbed text that comes with the data; item, perturbation and degree by their
    names in the data.
    """

    item: str
    perturbation: str
    degree: str
    text: str


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
class DatasetContent:
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
    def names(self) -> NamesInData:
        """Return the names of items and systems in the data."""
        items = {item.item: str(item.meta.get("id", item.item)) for item in self.items}
        return NamesInData(items, self.systems, self.same_names)

    def own_references(self, known: Collection[str]) -> dict[str, int]:
        """Return target -> number of the reference that it equals, for texts of
        reference systems.

        These are the `known` systems, and systems all of whose texts are references. If
        another system wrote the same words as a reference, that is a separate text.
        """
        numbers: dict[tuple[str, str], int] = {}
        for item in self.items:
            for number, text in enumerate(item.references):
                numbers.setdefault((item.item, " ".join(text.split())), number)
        by_system: dict[str, dict[str, int | None]] = {}
        for output in self.outputs:
            words = " ".join(output.text.split())
            targets = by_system.setdefault(output.system, {})
            targets[output.target] = numbers.get((output.item, words))
        numbers_of_targets: dict[str, int] = {}
        for system, targets in by_system.items():
            # With fewer texts, all of them could be references by chance.
            all_equal = len(targets) >= 5 and None not in targets.values()
            if system not in known and not all_equal:
                continue
            for target, reference in targets.items():
                if reference is not None:
                    numbers_of_targets[target] = reference
        return numbers_of_targets

    def keep(
        self, names: Collection[str], dropped: Collection[str] = ()
    ) -> "DatasetContent":
        """Return the part with the items of these names, without the dropped
        systems.
        """
        outputs = []
        for text in self.outputs:
            if text.item in names and text.system not in dropped:
                outputs.append(text)
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
                choice
                for choice in self.preferences
                if {choice.target, choice.target_b} <= targets
            ],
        )
