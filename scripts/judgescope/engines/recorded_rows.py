"""Recorded rows, and the keys by which they are joined to texts."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.names import folded, slug
from judgescope.data.rated import NamesInData
from judgescope.data.rows import pick
from judgescope.engines.base import Subject
from judgescope.schema.cards import RecordedRows

SWAPPED = "swapped"
"""The role of files with the comparisons that showed the second text first."""
_WHOLE_FLOAT = re.compile(r"(-?\d+)\.0+", re.ASCII)

Key = tuple[str, ...]
"""The aspect's id ('' if rows have none), then the values by which a row is joined.

For a comparison: the values of the text that was shown first, then those of the other
text.
"""


class Row(NamedTuple):
    """A recorded row; `fields` are the values that its file's name contains."""

    where: str
    cells: dict[str, Any]
    fields: Mapping[str, str]

    def get(self, name: str) -> Any:
        """Return a field of the file's name, a column, or the value at a JSON path."""
        if name in self.fields:
            return self.fields[name]
        return pick(self.cells, name, self.where)


Table = Mapping[Key, Sequence[Row]]  # key -> its rows, in file order


def indexed(names: RecordedRows, rows: Iterable[tuple[Key, Row]]) -> Table:
    """Return the rows by key.

    Raises UserError if rows about one text differ, unless the card says which of them
    to use.
    """
    table: dict[Key, list[Row]] = {}
    for key, row in rows:
        same = table.setdefault(key, [])
        if (
            same
            and names.repeated == "stop"
            and not _have_same_scores(names, same[0], row)
        ):
            both = "the same text"
            if names.compares:
                both = "the same two texts in the same order"
            swapped = (
                "mark rows that showed the second text first (`swapped`, "
                "`reply_swapped`, or "
            )
            todo = (
                "map the column that distinguishes them under `rows` (system, "
                "source or aspect), or "
            )
            if names.compares:
                todo = f"{swapped}files of the role `{SWAPPED}`), or "
            raise UserError(
                f"two recorded rows describe {both}",
                where=f"{same[0].where} and {row.where}",
                got=shown_key(names, key),
                todo=f"{todo}set `repeated` to first, last or mean",
            )
        same.append(row)
    return table


def _have_same_scores(names: RecordedRows, row: Row, other: Row) -> bool:
    """Return whether the scores of two rows are equal except for rounding.

    Replies are always treated as different: equal replies may be two draws.
    """
    if names.reply is not None:
        return False
    if any("{" in path for path in names.scores.values()):
        if row.cells.keys() != other.cells.keys():
            return False
        return all(
            _is_close(cell, other.cells[name]) for name, cell in row.cells.items()
        )
    return all(
        _is_close(row.get(path), other.get(path)) for path in names.scores.values()
    )


def _is_close(cell: object, other: object) -> bool:
    """Return whether two recorded scores of a text are equal but for rounding."""
    if cell == other:
        return True
    try:
        first = float(str(cell))
        second = float(str(other))
    except ValueError:
        return False
    return math.isclose(first, second, rel_tol=1e-5, abs_tol=1e-6)


def row_key(names: RecordedRows, row: Row, known: NamesInData) -> Key:
    """Return the key of a row, made from the columns by which its model's card joins
    rows.
    """
    aspect = ""
    if names.aspect:
        aspect = _aspect_id(names, row.get(names.aspect))
    if names.target:
        return (aspect, joined_name(row.get(names.target)))
    system = ""
    if names.system:
        system = joined_name(row.get(names.system), same=known.same)
    text = ""
    if names.text:
        text = normal_text(row.get(names.text))
    if names.item:
        return (aspect, system, joined_name(row.get(names.item), same=known.same), text)
    source = normal_text(
        " ".join(normal_text(row.get(column)) for column in names.source)
    )
    return (aspect, system, text, source)


def _aspect_id(names: RecordedRows, cell: object) -> str:
    """Return the id of a row's aspect: the card's id for its name, else the slug of its
    name.
    """
    name = joined_name(cell)
    for aspect, called in names.aspects.items():
        if called == name:
            return aspect
    ident = slug(name)
    if ident in names.aspects:
        return f"other {name}"
    return ident


def subject_keys(
    names: RecordedRows, known: NamesInData, aspect: str, subject: Subject
) -> list[Key]:
    """Return the possible keys of a target's row: by names in the data, then by ids."""

    def either(names_of: Mapping[str, str], ident: str) -> list[str]:
        return list(
            dict.fromkeys(
                [joined_name(names_of.get(ident, ident), same=known.same), ident]
            )
        )

    if names.target:
        return [(aspect, subject.target)]
    systems = either(known.systems, subject.system or "") if names.system else [""]
    text = ""
    if names.text:
        text = normal_text(subject.text)
    if names.item:
        items = either(known.items, subject.item)
        return [(aspect, *pair, text) for pair in product(systems, items)]
    source = ""
    if names.source:
        source = normal_text(subject.source)
    return [(aspect, system, text, source) for system in systems]


def joined_name(name: object, *, same: bool = False) -> str:
    """Return a name for joining: in Unicode NFC, a whole float as an integer.

    `same`: remove the differences that the dataset's card ignores (`same_names: true`).
    """
    text = unicodedata.normalize("NFC", "" if name is None else str(name))
    if same:
        text = folded(text)
    integer = _WHOLE_FLOAT.fullmatch(text)
    return integer[1] if integer else text


def normal_text(text: object) -> str:
    """Return a text for joining: in Unicode NFC, with one space between words."""
    if text is None:
        return ""
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


def shown_key(names: RecordedRows, key: Key) -> str:
    """Return a key for an error message."""
    if names.target:
        parts = ["target"]
    elif names.item:
        parts = ["system", "item", "text"]
    else:
        parts = ["system", "text", "source"]
    parts *= 2 if names.compares else 1
    # Characters of a text that an error shows.
    key_width = 80
    return ", ".join(
        f"{part} {value if len(value) <= key_width else value[: key_width - 1] + '…'!r}"
        for part, value in zip(parts, key[1:], strict=True)
        if value
    )


def is_missing(value: object, words: Sequence[str]) -> bool:
    """Return whether a score or choice is missing: empty, NaN, or one of the card's
    words.
    """
    if isinstance(value, str):
        return value.strip() in ("", *words)
    if value is None or value in words:
        return True
    return isinstance(value, float) and math.isnan(value)
