"""Users' own data: CSV, TSV, JSON, JSONL or Parquet, read with the card's `columns`.

The role `data` has one row per rated text. The role `items`, if present, has one row
per item, with source, references and meta; otherwise these are in the rows of `data`.
If nothing is rated, items are enough: their references are perturbed.
"""

from collections.abc import Sequence
from itertools import chain, combinations, count
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import MEAN, ONLY_SYSTEM, Draft, Files, Key, RowFault
from judgescope.data.rows import Row, all_rows, cell_list, entries, word_of
from judgescope.schema.cards import ColumnMapping, Format
from judgescope.schema.cards.data import TIE

Rows = dict[str, list[tuple[Path, int, Row]]]
Words = dict[str, set[int | None]]
"""Word -> positions of the texts of a row that it may choose; None: a tie."""

PLANNED = "planned"
"""The rater of ratings that the data's authors planned and no person gave."""


def read(draft: Draft, files: Files) -> None:
    """Add all rows; raters are rater-1, …, or columns if an aspect has several."""
    columns = draft.card.columns
    assert columns is not None  # the card's own check
    rows = {role: all_rows(of_role) for role, of_role in files.items()}
    _check_columns(draft, columns, rows)
    for path, number, row in rows.get("items", []):
        with draft.reading(path, number):
            _item(draft, columns, row, len(rows["items"]))
    if "items" in rows and not draft.has_items:
        return
    named: dict[str, dict[str, object]] = {}
    for path, number, row in rows.get("data", []):
        with draft.reading(path, number):
            if "items" in rows:
                item = draft.name(draft.pick(row, columns.item or ""), "item")
            else:
                item = _item(draft, columns, row, len(rows["data"]))
            if columns.compared:
                _compared(draft, columns, row, item, named.setdefault(item, {}))
            else:
                _output(draft, columns, row, item)


def _check_columns(draft: Draft, columns: ColumnMapping, rows: Rows) -> None:
    """Check for all columns at once, in the first row of each role."""
    item = [columns.item] if columns.item else []
    per_item = [*item, *columns.source, *columns.references, *columns.meta]
    alone, several = (columns.text, columns.system), (*columns.texts, *columns.systems)
    lengths = (columns.length, *columns.lengths)
    per_text = [*item, *filter(None, (*alone, *several, *lengths, columns.rater))]
    per_text += [
        path for aspect in draft.columns for path in _paths(draft, columns, aspect)
    ]
    needed = {
        "items": per_item,
        "data": per_text if "items" in rows else per_item + per_text,
    }
    for role, role_rows in rows.items():
        for path, number, row in role_rows[:1]:
            if row and not any(_has(draft, row, column) for column in needed[role]):
                raise UserError(
                    "none of the card's columns is in this table",
                    where=f"{path}, row {number}",
                    got=", ".join(needed[role]),
                    allowed=row,
                    todo="check that its first row is a header with the columns of the "
                    "card",
                )
            for column in needed[role]:
                with draft.reading(path, number):
                    draft.pick(row, column)


def _has(draft: Draft, row: Row, column: str) -> bool:
    try:
        draft.pick(row, column)
    except UserError:
        return False
    return True


def _paths(draft: Draft, columns: ColumnMapping, aspect: str) -> list[str]:
    if columns.preferences:
        return columns.preferences[aspect]
    return columns.ratings.get(aspect, [draft.columns[aspect]])


def _item(draft: Draft, columns: ColumnMapping, row: Row, count: int) -> str:
    """Add the item of a row; without an item column, rows with equal sources are one
    item.
    """
    source = [draft.pick(row, path) for path in columns.source]
    references = [
        text for path in columns.references for text in entries(draft.pick(row, path))
    ]
    return draft.item(
        draft.pick(row, columns.item) if columns.item else draft.number(source, count),
        source,
        references if columns.references else None,
        {path: draft.pick(row, path) for path in columns.meta},
    )


def _output(draft: Draft, columns: ColumnMapping, row: Row, item: str) -> None:
    system = draft.pick(row, columns.system) if columns.system else ONLY_SYSTEM
    output = draft.output(
        item, system, draft.pick(row, columns.text) if columns.text else None
    )
    if columns.length:
        draft.length(output, draft.pick(row, columns.length), columns.length)
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            with draft.caught():
                _rate(
                    draft,
                    output,
                    aspect,
                    draft.pick(row, path),
                    path if len(paths) > 1 else "",
                )


def _compared(
    draft: Draft, columns: ColumnMapping, row: Row, item: str, named: dict[str, object]
) -> None:
    """Add the texts of a row, and each rater's choice: preferred over every other text,
    or a tie.

    `named`: name -> text, for the item's texts whose system is unknown.
    """
    cells = [draft.pick(row, path) for path in columns.compared]
    systems = [draft.pick(row, path) for path in columns.systems]
    there = [
        place
        for place, cell in enumerate(cells)
        if cell is not None and str(cell).strip()
    ]
    if len(there) < 2:
        raise RowFault(
            "this row has fewer than two texts to compare",
            got=", ".join(columns.compared[place] for place in there) or None,
            allowed=f"two or more of {', '.join(columns.compared)}",
        )
    names = systems or _names(columns.texts, cells, named)
    keys = {
        place: draft.output(
            item, names[place], cells[place] if columns.texts else "", again=True
        )
        for place in there
    }
    if len({*keys.values()}) < len(there):
        problem = "this row compares two texts of the same system"
        raise RowFault(problem, got=", ".join(map(str, names)))
    if columns.lengths:
        for place, key in keys.items():
            column = columns.lengths[place]
            draft.length(key, draft.pick(row, column), column, again=True)
    words = _words(columns, systems)
    rater = draft.name(draft.pick(row, columns.rater), "rater") if columns.rater else ""
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            name = rater or (path if len(paths) > 1 else "")
            for who, value in _by_rater(draft.pick(row, path), name):
                with draft.caught():
                    _prefer(draft, keys, aspect, who, value, words)


def _names(
    columns: Sequence[str], texts: Sequence[object], named: dict[str, object]
) -> list[str]:
    """Return a name for each text of a row: its column's name, with a number if that is
    taken.
    """
    names: list[str] = []
    for column, text in zip(columns, texts, strict=True):
        same = (
            name for name, other in named.items() if other == text and name not in names
        )
        numbered = (f"{column} {number}" for number in count(2))
        new = (name for name in chain([column], numbered) if name not in named)
        names.append(next(same, None) or next(new))
        named[names[-1]] = text
    return names


def _prefer(
    draft: Draft,
    keys: dict[int, Key],
    aspect: str,
    rater: str,
    cell: object,
    words: Words,
) -> None:
    """Add a rater's choice: the chosen text is preferred to every other text of the
    row.
    """
    if draft.is_missing(cell, aspect):
        return
    chosen = words.get(word_of(cell).casefold(), set())
    shown = sorted(
        word for word, places in words.items() if places and len(places) == 1
    )
    if len(chosen) != 1 or not chosen <= {*keys, None}:
        what = (
            "unknown choice"
            if not chosen
            else "a choice of a text that is not in the row"
        )
        raise RowFault(
            what if len(chosen) < 2 else "a choice of two texts at once",
            got=cell,
            allowed=shown,
            todo="give its meaning under `columns.choices` in the dataset's card",
        )
    [place] = chosen
    for first, second in combinations(keys, 2):
        if place in {None, first, second}:
            value = 0.0 if place is None else 1.0 if place == first else -1.0
            draft.preference(keys[first], keys[second], aspect, rater, value)


def _words(columns: ColumnMapping, systems: Sequence[object]) -> Words:
    """Return word -> the positions of the texts that it may choose, None for a tie."""
    words: Words = {TIE: {None}}
    for place, column in enumerate(columns.compared):
        known = {str(place + 1), chr(ord("a") + place), column}
        known |= {
            *columns.systems[place : place + 1],
            *map(str, systems[place : place + 1]),
        }
        for word in known:
            words.setdefault(word.strip().casefold(), set()).add(place)
    said: Words = {}
    for name, listed in columns.choices.items():
        chosen = None if name == TIE else columns.compared.index(name)
        for word in listed:
            said.setdefault(word.strip().casefold(), set()).add(chosen)
    return words | said


def _rate(draft: Draft, output: Key, aspect: str, cell: object, column: str) -> None:
    """Add the rating in a cell, or its list of ratings; `column` names the rater if it
    can.
    """
    mean = MEAN if draft.card.raters == MEAN else ""
    name = column or (PLANNED if draft.card.ratings == PLANNED else mean)
    for rater, value in _by_rater(cell, name):
        draft.rating(output, aspect, rater, value)


def _by_rater(cell: object, name: str) -> list[tuple[str, object]]:
    """Return (rater, value) for a cell, which has one value or a list; `name` is "" if
    unknown.
    """
    if (values := cell_list(cell)) is None:
        return [(name or "rater-1", cell)]
    return [
        (f"{name or 'rater'}-{index}", value)
        for index, value in enumerate(values, start=1)
    ]


FORMAT = Format(name="table", optional=("items",), chosen=True)
