"""The roles of the columns of a user's table."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

NOT_USED = "not used"
ROLES = ("text", "source", "references", "item", "system", "length")
PAIRED = ("texts", "systems", "lengths")
"""The roles that two columns have, instead of `text`, `system` and `length`."""
OTHER_TASK = "text"


@dataclass(frozen=True)
class Guess:
    """The columns of each role, and aspect -> columns of its ratings."""

    item: str | None = None
    source: list[str] = field(default_factory=list)
    part_names: dict[str, str] = field(default_factory=dict)
    """Column of the source -> the name of the part, for those that a flag names."""
    references: list[str] = field(default_factory=list)
    system: str | None = None
    anonymous: bool = False
    """Whether `system` only numbers the answers of a source; the column is ours."""
    text: str | None = None
    texts: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of the texts, instead of
    `text`."""
    systems: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of the systems that wrote them."""
    length: str | None = None
    """The column of the judged texts' lengths, if the table has no texts; never
    guessed."""
    lengths: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of their lengths."""
    choice_words: dict[int, list[str]] = field(default_factory=dict)
    """If people chose: the choice (1, 2, or 0 for a tie) -> the words for it."""
    ratings: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Aspect -> its name in the header or a flag, where the id has not its letters."""
    judges: dict[str, dict[str, str]] = field(default_factory=dict)
    """Judge -> aspect -> the column of its scores; * stands for every aspect."""
    swapped: dict[str, str] = field(default_factory=dict)
    """Column of a judge's choices -> that of its choices with the texts in the other
    order, in words of the row's order."""
    assumed: dict[str, str] = field(default_factory=dict)
    """Column -> why it has its role, if no word of its header says so."""
    unused: dict[str, str] = field(default_factory=dict)
    """Column of numbers -> why it is neither a rating nor a score."""
    doubtful: dict[str, str] = field(default_factory=dict)
    """Column of ratings or scores -> the words of its header that may say that it has
    none."""
    flagged: frozenset[str] = frozenset()
    """The columns that flags name."""
    means: bool = False
    task: str = OTHER_TASK

    @property
    def compared(self) -> list[str]:
        """Return the columns between which people chose: two of texts, or two of
        systems.
        """
        return self.texts or self.systems

    @property
    def has_texts(self) -> bool:
        """Return whether a column has the judged texts."""
        return bool(self.text or self.texts)

    @property
    def measured(self) -> list[str]:
        """Return the columns of the judged texts' lengths."""
        return [*self.columns_of("length"), *self.lengths]

    @property
    def has_lengths(self) -> bool:
        """Return whether columns have the judged texts, or their lengths."""
        return self.has_texts or bool(self.measured)

    @property
    def rated(self) -> list[str]:
        """Return the columns of people's ratings."""
        return list(chain.from_iterable(self.ratings.values()))

    @property
    def scored(self) -> list[str]:
        """Return the columns of judges' scores."""
        return list(
            chain.from_iterable(scores.values() for scores in self.judges.values())
        )

    @property
    def used(self) -> set[str]:
        """Return all columns that have a role or hold ratings."""
        used = {*self.rated, *self.scored, *self.swapped.values()}
        for role in (*ROLES, *PAIRED):
            used.update(self.columns_of(role))
        return used

    def without(self, columns: Collection[str]) -> "Guess":
        """Return the columns except these of ratings and scores."""
        ratings = {}
        for aspect, group in self.ratings.items():
            kept = [column for column in group if column not in columns]
            if kept:
                ratings[aspect] = kept
        judges = {}
        for judge, scores in self.judges.items():
            other = {}
            for name in scores:
                if scores[name] not in columns:
                    other[name] = scores[name]
            if other:
                judges[judge] = other
        return replace(self, ratings=ratings, judges=judges)

    def renamed(self, names: Mapping[str, str]) -> "Guess":
        """Return the roles with other names of the columns."""

        def new(columns: Collection[str]) -> list[str]:
            return [names.get(column, column) for column in columns]

        ratings = {}
        for aspect, group in self.ratings.items():
            ratings[aspect] = new(group)
        judges = {}
        for judge, scores in self.judges.items():
            judges[judge] = {
                aspect: names.get(column, column) for aspect, column in scores.items()
            }
        return replace(
            self,
            item=names.get(self.item, self.item) if self.item else None,
            system=names.get(self.system, self.system) if self.system else None,
            text=names.get(self.text, self.text) if self.text else None,
            length=names.get(self.length, self.length) if self.length else None,
            texts=new(self.texts),
            systems=new(self.systems),
            lengths=new(self.lengths),
            source=new(self.source),
            references=new(self.references),
            ratings=ratings,
            judges=judges,
            swapped={
                names.get(column, column): names.get(other, other)
                for column, other in self.swapped.items()
            },
            assumed={
                names.get(column, column): why for column, why in self.assumed.items()
            },
            unused={
                names.get(column, column): why for column, why in self.unused.items()
            },
            doubtful={
                names.get(column, column): rest
                for column, rest in self.doubtful.items()
            },
        )

    def columns_of(self, role: str) -> list[str]:
        """Return the columns of a role: text, source, references, item or system."""
        columns = getattr(self, role)
        if isinstance(columns, list):
            return list(columns)
        return [columns] if columns else []


def rating_text(name: str, columns: Iterable[str]) -> str:
    """Return `aspect=column,column` as `named_parts` reads it."""
    doubled = {column: column.replace('"', '""') for column in columns}
    quoted = [
        f'"{text}"' if "," in column else column for column, text in doubled.items()
    ]
    return f"{name}={','.join(quoted)}"
