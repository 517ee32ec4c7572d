"""How recorded rows find the targets that they judge, and how many do."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.slugs import folded, slug
from judgescope.data.rated import Names
from judgescope.data.rows import pick
from judgescope.engines.base import Subject
from judgescope.schema.cards import RecordedRows

RELATIVE, ABSOLUTE = 1e-5, 1e-6
"""Scores of one text that are nearer to each other are one score, computed twice."""
FEW = 0.9
"""Where a smaller share of rows or texts joins, that is a warning."""
SHOWN = 4
"""So many judges or aspects are named."""
WIDTH = 80
"""So many characters of a text are shown of a key."""
_WHOLE = re.compile(r"(-?\d+)\.0+", re.ASCII)

Key = tuple[str, ...]
"""The aspect's id first ('' where rows have none), then what a row is joined by."""


class Row(NamedTuple):
    """A recorded row; `fields` are the parts of its file's name that a pattern names."""

    where: str
    cells: dict[str, Any]
    fields: Mapping[str, str]

    def get(self, name: str) -> Any:
        """Return a field of the file's name, a column, or what lies at a JSON path."""
        return self.fields[name] if name in self.fields else pick(self.cells, name, self.where)


Table = Mapping[Key, Sequence[Row]]
"""Key -> its rows, in the order of the files."""


@dataclass(frozen=True, slots=True)
class Join:
    """How many rows on an aspect belong to a text of the study, and how many texts have a row.

    `texts_scored` are those of which a row holds a reply or score.
    """

    judge: str
    aspect: str
    rows: int
    rows_joined: int
    texts: int
    texts_joined: int
    texts_scored: int

    def is_poor(self, *, selected: bool) -> bool:
        """Return whether fewer than nine in ten rows join, or texts have a score.

        `selected`: the study judges a part of the texts, so rows about others are no surprise.
        """
        rows = min(self.rows, self.texts) if selected else self.rows
        return self.rows_joined < FEW * rows or self.texts_scored < FEW * self.texts


def join_lines(joins: Iterable[Mapping[str, Any]], *, poor: bool = False) -> list[str]:
    """Return a line for all judges and aspects of a model of which as much was joined.

    `joins` are those of `RecordedEngine.checked_joins`; `poor`: only those of which it is little.
    """
    counts = ("model", "rows_joined", "rows", "texts_joined", "texts", "texts_scored", "poor")
    alike: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for join in joins:
        if join["poor"] or not poor:
            alike.setdefault(tuple(join[name] for name in counts), []).append(join)
    return [
        f"{'warning: ' if little else ''}{model}: rows {joined} of {rows} join, {texts} of {of} "
        f"texts have one{f', {scored} a score' if scored < texts else ''} ({_whose(same)})"
        for (model, joined, rows, texts, of, scored, little), same in alike.items()
    ]


def _whose(joins: Sequence[Mapping[str, Any]]) -> str:
    """Return the judges and aspects, or how many there are."""
    parts = []
    for kind in ("judge", "aspect"):
        names = sorted({join[kind] for join in joins})
        parts.append(", ".join(names) if len(names) <= SHOWN else f"{len(names)} {kind}s")
    return " on ".join(parts)


def indexed(names: RecordedRows, rows: Iterator[Row], known: Names) -> Table:
    """Return the rows by key.

    Raises UserError for rows about one text that say different things, unless the card tells which
    of them counts.
    """
    table: dict[Key, list[Row]] = {}
    aspects = {name: aspect for aspect, name in names.aspects.items()}
    for row in rows:
        key = _row_key(names, aspects, row, known)
        same = table.setdefault(key, [])
        if same and names.repeated == "stop" and not says_the_same(names, same[0], row):
            raise UserError(
                "two recorded rows are about one text",
                where=f"{same[0].where} and {row.where}",
                got=shown(names, key),
                todo="name what tells them apart under `rows`: system, source or aspect; or say "
                "what counts (`repeated: first`, `last` or `mean`)",
            )
        same.append(row)
    return table


def says_the_same(names: RecordedRows, one: Row, other: Row) -> bool:
    """Return whether two rows hold scores that are equal but for rounding.

    Replies never are the same: equal ones may be draws.
    """
    if names.reply is not None:
        return False
    if any("{" in path for path in names.scores.values()):
        return one.cells.keys() == other.cells.keys() and all(
            _is_same(cell, other.cells[name]) for name, cell in one.cells.items()
        )
    return all(_is_same(one.get(path), other.get(path)) for path in names.scores.values())


def _is_same(one: object, other: object) -> bool:
    if one == other:
        return True
    try:
        first, second = float(str(one)), float(str(other))
    except ValueError:
        return False
    return math.isclose(first, second, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _row_key(names: RecordedRows, aspects: Mapping[str, str], row: Row, known: Names) -> Key:
    aspect = _aspect(names, aspects, row.get(names.aspect)) if names.aspect else ""
    if names.target:
        return (aspect, named(row.get(names.target)))
    system = named(row.get(names.system), same=known.same) if names.system else ""
    if names.item:
        return (aspect, system, named(row.get(names.item), same=known.same))
    source = normal(" ".join(normal(row.get(column)) for column in names.source))
    return (aspect, system, normal(row.get(names.text or "")), source)


def _aspect(names: RecordedRows, aspects: Mapping[str, str], cell: object) -> str:
    """Return the id of a row's aspect: by the card, else the slug of its name."""
    name = named(cell)
    if name in aspects:
        return aspects[name]
    made = slug(name)
    return f"other {name}" if made in names.aspects else made


def subject_keys(names: RecordedRows, known: Names, aspect: str, subject: Subject) -> list[Key]:
    """Return the keys of a target's row: by the names in the data, then by the ids made of them."""
    if names.target:
        return [(aspect, subject.target)]
    systems = [""]
    if names.system:
        systems = _either(known.systems, subject.system or "", same=known.same)
    if names.item:
        items = _either(known.items, subject.item, same=known.same)
        return [(aspect, *pair) for pair in product(systems, items)]
    text, source = normal(subject.text), normal(subject.source) if names.source else ""
    return [(aspect, system, text, source) for system in systems]


def _either(known: Mapping[str, str], ident: str, *, same: bool) -> list[str]:
    return list(dict.fromkeys([named(known.get(ident, ident), same=same), ident]))


def named(name: object, *, same: bool = False) -> str:
    """Return a name by which rows are joined: composed (NFC), a whole float as a whole number.

    `same`: without what the card of the data says makes no other name (`same_names: true`).
    """
    text = unicodedata.normalize("NFC", "" if name is None else str(name))
    text = folded(text) if same else text
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def normal(text: object) -> str:
    """Return a text by which rows are joined: composed (NFC), one space between words."""
    return "" if text is None else " ".join(unicodedata.normalize("NFC", str(text)).split())


def shown(names: RecordedRows, key: Key) -> str:
    """Return a key in words: what a row, or a target, is joined by."""
    if names.target:
        parts = ["target"]
    elif names.item:
        parts = ["system", "item"]
    else:
        parts = ["system", "text", "source"]
    pairs = zip(parts, key[1:], strict=True)
    return ", ".join(
        f"{part} {value if len(value) <= WIDTH else value[: WIDTH - 1] + '…'!r}"
        for part, value in pairs
        if value
    )


def check_distinct(table: Table, keys: Sequence[Key], subjects: Sequence[Subject]) -> None:
    """Two targets may share a row only if they are the same text about the same source."""
    first: dict[Key, Subject] = {}
    for key, subject in zip(keys, subjects, strict=True):
        other = first.setdefault(key, subject)
        if key in table and _content(other) != _content(subject):
            raise UserError(
                "a recorded row fits two targets",
                where=table[key][0].where,
                got=f"{other.target} and {subject.target}",
                todo="name what tells them apart under `rows`: system or source",
            )


def _content(subject: Subject) -> tuple[str, str]:
    return normal(subject.text), normal(subject.source)
