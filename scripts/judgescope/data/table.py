"""Anybody's own data: CSV, TSV, JSON, JSONL or Parquet, read through the card's `columns`.

The role `data` has one row per rated text. The role `items`, where there is one, has one row per
item, with source, references and meta; else these stand in the rows of `data`. Items alone are
enough where nothing is rated: their references are perturbed.
"""

from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.data.draft import MEAN, ONLY_SYSTEM, Draft, Files, Key
from judgescope.data.rated import Rated
from judgescope.data.rows import Row, all_rows, cell_list
from judgescope.schema.cards import ColumnMapping, Dataset, Format

Rows = dict[str, list[tuple[Path, int, Row]]]

PLANNED = "planned"
"""The rater of ratings that nobody gave, but that the data was written to deserve."""


def read(card: Dataset, files: Files) -> Rated:
    """Return the dataset; raters are rater-1, …, or columns where an aspect has several."""
    assert card.columns is not None  # the card's own check
    draft, columns = Draft(card), card.columns
    rows = {role: all_rows(path for path, _ in paths) for role, paths in files.items()}
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


def _check_columns(draft: Draft, columns: ColumnMapping, rows: Rows) -> None:
    """Look for all columns at once in the first row of each role.

    Raises UserError where none is there: then the first row is no header, or the card another's.
    """
    item = [columns.item] if columns.item else []
    per_item = [*item, *columns.source, *columns.references, *columns.meta]
    per_text = [*item, columns.text or "", *([columns.system] if columns.system else [])]
    per_text += [path for aspect in draft.columns for path in _paths(draft, columns, aspect)]
    needed = {"items": per_item, "data": per_text if "items" in rows else per_item + per_text}
    for role, role_rows in rows.items():
        for path, number, row in role_rows[:1]:
            if row and not any(_has(draft, row, column) for column in needed[role]):
                raise UserError(
                    "none of the card's columns is in this table",
                    where=f"{path}, row {number}",
                    got=", ".join(needed[role]),
                    allowed=row,
                    todo="is its first row a header, and are these its columns?",
                )
            for column in needed[role]:
                with draft.at(path, number):
                    draft.pick(row, column)


def _has(draft: Draft, row: Row, column: str) -> bool:
    try:
        draft.pick(row, column)
    except UserError:
        return False
    return True


def _paths(draft: Draft, columns: ColumnMapping, aspect: str) -> list[str]:
    return columns.ratings.get(aspect, [draft.columns[aspect]])


def _item(draft: Draft, columns: ColumnMapping, row: Row, count: int) -> str:
    """Add the item of a row; without an item column, equal sources are one item."""
    source = [draft.pick(row, path) for path in columns.source]
    references = [text for path in columns.references for text in _entries(draft.pick(row, path))]
    return draft.item(
        draft.pick(row, columns.item) if columns.item else draft.number(source, count),
        source,
        references if columns.references else None,
        {path: draft.pick(row, path) for path in columns.meta},
    )


def _output(draft: Draft, columns: ColumnMapping, row: Row, item: str) -> None:
    system = draft.pick(row, columns.system) if columns.system else ONLY_SYSTEM
    output = draft.output(item, system, draft.pick(row, columns.text or ""))
    for aspect in draft.columns:
        paths = _paths(draft, columns, aspect)
        for path in paths:
            with draft.caught():
                _rate(draft, output, aspect, draft.pick(row, path), path if len(paths) > 1 else "")


def _rate(draft: Draft, output: Key, aspect: str, cell: object, column: str) -> None:
    """Add a cell's rating, or ratings where it is a list; `column` names the rater if it can."""
    mean = MEAN if draft.card.raters == MEAN else ""
    name = column or (PLANNED if draft.card.ratings == PLANNED else mean)
    if (values := cell_list(cell)) is None:
        draft.rating(output, aspect, name or "rater-1", cell)
    for index, value in enumerate(values or (), start=1):
        draft.rating(output, aspect, f"{name or 'rater'}-{index}", value)


def _entries(cell: object) -> list[object]:
    values = cell_list(cell)
    return [cell] if values is None else values


FORMAT = Format(name="table", optional=("items",))
