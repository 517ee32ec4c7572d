"""Anybody's own data: CSV, TSV, JSON, JSONL or Parquet, read through the card's `columns`.

The role `data` has one row per rated text. The role `items`, where there is one, has one row per
item, with source, references and meta; else these stand in the rows of `data`. Items alone are
enough where nothing is rated: their references are damaged.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import MEAN, Draft, Key
from judgescope.data.files import Found, Row, read_rows
from judgescope.data.rated import Rated
from judgescope.schema import cards
from judgescope.schema.cards import Dataset
from judgescope.schema.formats import Format

Rows = dict[str, list[tuple[Path, int, Row]]]

SYSTEM = "system"
"""The one system, where the table names none."""
PLANNED = "planned"
"""The rater of ratings that nobody gave, but that the data was written to deserve."""


def read(card: Dataset, files: Mapping[str, Found]) -> Rated:
    """Return the dataset; raters are rater-1, …, or columns where an aspect has several."""
    assert card.columns is not None  # the card's own check
    draft, columns = Draft(card), card.columns
    rows: Rows = {
        role: [(path, *row) for path, _ in found for row in read_rows(path)]
        for role, found in files.items()
    }
    _check_columns(draft, columns, rows)
    for path, number, row in rows.get("items", []):
        with draft.at(path, number):
            _item(draft, columns, row, len(rows["items"]))
    if "items" in rows and not draft.has_items:
        return draft.finish()
    for path, number, row in rows.get("data", []):
        with draft.at(path, number):
            if "items" in rows:
                item = draft.name(draft.pick(row, columns.item or ""), "item")
            else:
                item = _item(draft, columns, row, len(rows["data"]))
            _output(draft, columns, row, item)
    return draft.finish()


def _check_columns(draft: Draft, columns: cards.Mapping, rows: Rows) -> None:
    """Look for all columns at once in the first row of each role.

    Raises UserError where none is there: then the first row is no header, or the card another's.
    """
    item = [columns.item] if columns.item else []
    per_item = [*item, *columns.source, *columns.references, *columns.meta]
    per_text = [*item, columns.text or "", *([columns.system] if columns.system else [])]
    per_text += [path for aspect in draft.columns for path in _paths(draft, columns, aspect)]
    split = "items" in rows
    wanted = {"items": per_item, "data": per_text if split else per_item + per_text}
    for role, found in rows.items():
        for path, number, row in found[:1]:
            if row and not any(_is_there(draft, row, column) for column in wanted[role]):
                raise UserError(
                    "none of the card's columns is in this table",
                    where=f"{path}, row {number}",
                    got=", ".join(wanted[role]),
                    allowed=row,
                    todo="is its first row a header, and are these its columns?",
                )
            for column in wanted[role]:
                with draft.at(path, number):
                    draft.pick(row, column)


def _is_there(draft: Draft, row: Row, column: str) -> bool:
    try:
        draft.pick(row, column)
    except UserError:
        return False
    return True


def _paths(draft: Draft, columns: cards.Mapping, aspect: str) -> list[str]:
    return columns.ratings.get(aspect, [draft.columns[aspect]])


def _item(draft: Draft, columns: cards.Mapping, row: Row, count: int) -> str:
    """Add the item of a row; without an item column, equal sources are one item."""
    source = [draft.pick(row, path) for path in columns.source]
    references = [text for path in columns.references for text in _entries(draft.pick(row, path))]
    return draft.item(
        draft.pick(row, columns.item) if columns.item else draft.number(source, count),
        source,
        references if columns.references else None,
        {path: draft.pick(row, path) for path in columns.meta},
    )


def _output(draft: Draft, columns: cards.Mapping, row: Row, item: str) -> None:
    system = draft.pick(row, columns.system) if columns.system else SYSTEM
    output = draft.output(item, system, draft.pick(row, columns.text or ""))
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            with draft.caught():
                cell = _parsed(draft.pick(row, path))
                _rate(draft, output, aspect, cell, path if len(paths) > 1 else "")


def _rate(draft: Draft, output: Key, aspect: str, cell: object, column: str) -> None:
    """Add a cell's rating, or ratings where it is a list; `column` names the rater if it can."""
    mean = MEAN if draft.card.raters == MEAN else ""
    name = column or (PLANNED if draft.card.ratings == PLANNED else mean)
    if isinstance(cell, list):
        for index, value in enumerate(cell, start=1):
            draft.rating(output, aspect, f"{name or 'rater'}-{index}", value)
    else:
        draft.rating(output, aspect, name or "rater-1", cell)


def _entries(cell: object) -> list[object]:
    cell = _parsed(cell)
    return cell if isinstance(cell, list) else [cell]


def _parsed(cell: object) -> object:
    """Return the list that a text cell holds in JSON, and any other cell as it is."""
    if not (isinstance(cell, str) and cell.startswith("[")):
        return cell
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


FORMAT = Format(name="table", optional=("items",))
