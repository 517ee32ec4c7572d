"""Which columns of a user's table hold what."""

import re
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from judgescope.schema.cards.base import (
    Card,
    Columns,
    Slug,
    alternatives,
    plain_word,
    repeated,
    same,
)

TIE = "tie"
"""The word for a choice of neither text."""


def part_name(column: str) -> str:
    """Return the name of a source's part by the path of its column.

    >>> part_name("dialogue.last_turn")
    'Last turn'
    """
    key = column.replace("[*]", "").rpartition(".")[2]
    words = " ".join(re.split(r"[\s_-]+", key)).strip()
    return words[:1].upper() + words[1:]


def check_parts(names: Iterable[str]) -> None:
    """Raise ValueError for a name of a part that prompts cannot print as a heading."""
    # Names, in lower case, that forms give to other things than parts of a source.
    reserved = ("text", "reference", "rating")
    # The most characters of the name of a source's part.
    longest = 40
    names = list(names)
    for name in names:
        if not 1 <= len(name) <= longest:
            raise ValueError(
                f"the name of a part has 1 to {longest} characters: {name!r}"
            )
        if not name[0].isalpha():
            raise ValueError(f"the name of a part begins with a letter: {name!r}")
        if ":" in name or len(name.splitlines()) > 1 or name != name.strip():
            raise ValueError(
                "the name of a part has no colon, no line break and no blank at its "
                f"ends: {name!r}"
            )
        if plain_word(name) in reserved:
            raise ValueError(
                f"the name of a part is reserved: {name!r} (Text, Reference and "
                "Rating stand for other things in prompts)"
            )
    if twice := repeated(map(plain_word, names)):
        raise ValueError(f"two parts have the same name: {twice}")


def _as_source(value: object) -> object:
    if isinstance(value, list | dict):
        return value
    return [value]


SourceColumns = Annotated[
    list[str] | dict[str, str],
    alternatives(_as_source, str | list[str] | dict[str, str]),
]
"""Columns, or the name of each part of a source -> its column."""


class SpanColumns(Card):
    """Where a table has the errors that people marked in its texts: in the role
    `spans`, a row per error; in a list in the text's row; or as marks in the text.
    """

    listed: str | None = None
    """The column of the text's row with a list of its errors, objects with the keys
    below."""
    marked: str | None = None
    """The column of a text with its errors between `marks`. In the role `spans`: of the
    text again, with one error or more of the row; otherwise the text that is judged,
    without the marks."""
    marks: tuple[str, str] = ("<v>", "</v>")
    """What stands before and after an error."""
    start: str = "start"
    """The position of an error's first character, from 0."""
    end: str = "end"
    """The position after an error's last character."""
    category: str | None = None
    """The kind of error; default: all are of the kind `error`."""
    annotator: str | None = None
    """Who marked the error. Equal marks of several annotators are one error."""
    correction: str | None = None
    """What should stand there."""
    comment: str | None = None
    """Why it is an error."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.listed and self.marked:
            raise ValueError("errors are `listed` or `marked`: map one")
        if not all(self.marks) or self.marks[0] == self.marks[1]:
            raise ValueError("`marks` needs two different marks")
        return self

    @property
    def per_error(self) -> list[str]:
        """Return the columns of a row, or the keys of a listed object, per error."""
        places = [self.marked] if self.marked else [self.start, self.end]
        about = [self.category, self.annotator, self.correction, self.comment]
        return [column for column in (*places, *about) if column]


class ColumnMapping(Card):
    """The columns or JSON paths of a row (format `table`)."""

    item: str | None = None
    """The item's id; default: rows with the same source belong to one item."""
    source: SourceColumns = Field([])
    """The columns of the source: one column, a list, or a mapping of the parts' names,
    as prompts show them, to their columns, such as `{Conversation: context, Fact:
    fact}`. The names of a list are those of its columns; one column is named by the
    task (config/tasks.yaml)."""
    references: Columns = Field([])
    """Columns of references; a list in a cell holds several."""
    system: str | None = None
    """The system that wrote the text; default: all texts are by one system."""
    anonymous: bool = Field(False, exclude_if=same(False))
    """Whether `system` only numbers the answers of a source: nobody knows the systems,
    so nothing is said about them."""
    text: str | None = None
    """The text that is judged; default: the data has ratings but no texts."""
    length: str | None = Field(None, exclude_if=same(None))
    """Without `text`: the length of the judged text, a number in any unit (characters,
    words, tokens); for the control `length` and every comparison with length. An empty
    cell: unknown."""
    ratings: dict[Slug, Columns] = Field({})
    """Aspect -> its columns, one per rater; a list in a cell holds the ratings of
    several raters. Default: one column with the aspect's name."""
    meta: Columns = Field([])
    """Columns that are kept with the item."""
    texts: Columns = Field([])
    """If people chose between texts, in place of `text`: the columns of a row's texts,
    two or more, in the order in which people saw them. A text may be in several rows of
    its item."""
    systems: Columns = Field([])
    """The columns of the systems that wrote `texts`, in the same order; default:
    unknown. Without `texts`, the data has choices between systems but no texts."""
    lengths: Columns = Field([], exclude_if=same([]))
    """With `systems` and without `texts`: the columns of the lengths of their texts, in
    the same order."""
    preferences: dict[Slug, Columns] = Field({})
    """With `texts` or `systems`: aspect -> the columns that name the better text of the
    row, one per rater; a list in a cell holds the choices of several raters."""
    spans: SpanColumns | None = Field(None, exclude_if=same(None))
    """The errors that people marked in the texts, for judges that list errors."""
    original: str | None = Field(None, exclude_if=same(None))
    """Role `pairs`: the text before its perturbation."""
    perturbed: str | None = Field(None, exclude_if=same(None))
    """Role `pairs`: the perturbed text."""
    perturbation: str | None = Field(None, exclude_if=same(None))
    """Role `pairs`: the name of the perturbation; may be left out if there is one."""
    degree: str | None = Field(None, exclude_if=same(None))
    """Role `pairs`: the name of the degree; default: each perturbation has one."""
    rater: str | None = None
    """With `preferences`: the column of the rater, if a row holds one rater's
    choice."""
    choices: dict[str, Columns] = Field({})
    """With `preferences`: a column of `texts` (of `systems` if there are no texts), or
    `tie` -> the words in the data for this choice, in any case. Always understood: the
    text's number in the row, its letter, the names of its columns, its system, and
    `tie`."""

    @property
    def source_columns(self) -> list[str]:
        """Return the columns of the source."""
        if isinstance(self.source, dict):
            return list(self.source.values())
        return self.source

    def part_names(self, only: str) -> list[str]:
        """Return the names of the source's parts; `only`: that of a single column."""
        if isinstance(self.source, dict):
            return list(self.source)
        if len(self.source) == 1:
            return [only]
        return list(map(part_name, self.source))

    @field_validator("source")
    @classmethod
    def _named(cls, source: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
        if isinstance(source, dict):
            check_parts(source)
        elif len(source) > 1:
            names = list(map(part_name, source))
            try:
                check_parts(names)
            except ValueError as error:
                mapping = ", ".join(f"…: {column}" for column in source)
                raise ValueError(
                    f"{error}; give the columns names: source: {{{mapping}}}"
                ) from None
        return source

    @property
    def compared(self) -> list[str]:
        """Return the columns of what people chose between: texts, or systems without
        texts.
        """
        return self.texts or self.systems

    @model_validator(mode="after")
    def _identified(self) -> Self:
        if self.item is None and not self.source:
            raise ValueError(
                "rows are grouped into items by `item` or `source`: map one of them"
            )
        compared = self.compared
        if bool(compared) != bool(self.preferences):
            raise ValueError(
                "`texts` (or `systems`) and `preferences` need each other: map both"
            )
        if not compared and (self.rater or self.choices):
            raise ValueError("`rater` and `choices` need `texts` and `preferences`")
        if compared and (self.text or self.system or self.ratings):
            raise ValueError(
                "map `texts` with `preferences`, or `text` with its ratings, not both"
            )
        if len(compared) == 1 or repeated(compared):
            raise ValueError(
                "`texts` (or `systems`) needs two or more different columns"
            )
        if self.systems and len(self.systems) != len(compared):
            raise ValueError("`systems` needs one column for each column of `texts`")
        if unknown := sorted(self.choices.keys() - {*compared, TIE}):
            raise ValueError(
                f"`choices` names {unknown[0]}, which is not a column of `texts`"
            )
        if self.rater and any(
            len(columns) > 1 for columns in self.preferences.values()
        ):
            raise ValueError(
                "with `rater` a row has one rater's choice: map one column per aspect"
            )
        self._check_lengths()
        return self

    def _check_lengths(self) -> None:
        """Raise ValueError for lengths where the data has the texts, or has others."""
        for key, given, texts in (
            ("length", self.length, self.text),
            ("lengths", self.lengths, self.texts),
        ):
            if given and texts:
                raise ValueError(f"the texts have lengths of their own: remove `{key}`")
        if self.length and self.compared:
            raise ValueError(
                "`length` is for texts with ratings: with `preferences`, map "
                "`lengths`, one column for each column of `systems`"
            )
        if self.lengths and len(self.lengths) != len(self.systems):
            raise ValueError("`lengths` needs one column for each column of `systems`")
