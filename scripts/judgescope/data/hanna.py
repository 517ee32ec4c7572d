"""HANNA as its authors publish it: CSV, one system per row, each cell a JSON list of
all stories.

Columns: Model, and `Human 1 RE` … for every rater and aspect. There are no texts and no
ids: a story's id is its position in the lists.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, FilesByRole
from judgescope.data.rows import FileRow, cell_list
from judgescope.data.wording import numbered
from judgescope.schema.cards import Format

ENTRY = "#"
"""The column that `entries` adds, with the entry's id."""


def read(draft: Draft, files: FilesByRole) -> None:
    """Add the ratings; items are <dataset>-001, …, raters rater-1, …"""
    draft.add_rows(files["data"], _add_all)


def _add_all(draft: Draft, row: FileRow) -> None:
    """Add the texts of a row: one for each entry of the lists in its cells."""
    raters = list[int]()
    for number in count(1):
        columns = [f"Human {number} {name}" for name in draft.columns.values()]
        if not any(column in row for column in columns):
            break
        raters.append(number)
    where = f"{draft.location.file}:{draft.location.row}"
    for entry in entries(row, draft.card.dataset, where):
        _add(draft, entry, raters)


def _add(draft: Draft, row: FileRow, raters: list[int]) -> None:
    item = draft.item(row[ENTRY], [], None)
    output = draft.output(item, draft.pick(row, "Model"), None)
    for aspect, column in draft.columns.items():
        for rater in raters:
            with draft.caught():
                value = draft.pick(row, f"Human {rater} {column}")
                draft.rating(output, aspect, f"rater-{rater}", value)


def entries(row: FileRow, dataset: str, where: str) -> Iterator[FileRow]:
    """Yield a row per entry of the lists in a row's cells; other cells are the same in
    each.

    The column `#` is the entry's id: the dataset's id, and a number. Raises UserError
    if the lists differ in length, or if there are none.
    """
    lists: dict[str, list[Any]] = {}
    column_of_length: dict[int, str] = {}
    for name, cell in row.items():
        cells = cell_list(cell)
        if cells is not None:
            lists[name] = cells
            column_of_length[len(cells)] = name
    if len(column_of_length) != 1:
        lengths = sorted(column_of_length.items())
        raise UserError(
            f"the lists in a row have {len(column_of_length)} different lengths",
            where=where,
            got=", ".join(f"{length} in {name}" for length, name in lengths),
        )
    [length] = column_of_length
    for index in range(length):
        entry = {name: cells[index] for name, cells in lists.items()}
        yield row | entry | {ENTRY: numbered(dataset, index + 1, length)}


FORMAT = Format(name="hanna_csv", read=read, has_texts=False)
