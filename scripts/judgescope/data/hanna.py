"""HANNA as its authors publish it: CSV, one system per row, each cell a JSON list of
all stories.

Columns: Model, and `Human 1 RE` … for every rater and aspect. There are no texts and no
ids: a story's id is its position in the lists.
"""

from collections.abc import Iterator
from itertools import count, takewhile

from judgescope.core.errors import UserError
from judgescope.data.draft import Draft, Files, numbered
from judgescope.data.rows import Row, cell_list
from judgescope.schema.cards import Format

ENTRY = "#"
"""The column that `entries` adds, with the entry's id."""


def read(draft: Draft, files: Files) -> None:
    """Add the ratings; items are <dataset>-001, …, raters rater-1, …"""
    draft.add_rows(files["data"], _add_all)


def _add_all(draft: Draft, row: Row) -> None:
    columns = draft.columns.values()
    raters = [
        *takewhile(
            lambda n: any(f"Human {n} {name}" in row for name in columns), count(1)
        )
    ]
    for entry in entries(
        row, draft.card.dataset, f"{draft.location.file}:{draft.location.row}"
    ):
        _add(draft, entry, raters)


def _add(draft: Draft, row: Row, raters: list[int]) -> None:
    item = draft.item(row[ENTRY], [], None)
    output = draft.output(item, draft.pick(row, "Model"), None)
    for aspect, column in draft.columns.items():
        for rater in raters:
            with draft.caught():
                value = draft.pick(row, f"Human {rater} {column}")
                draft.rating(output, aspect, f"rater-{rater}", value)


def entries(row: Row, dataset: str, where: str) -> Iterator[Row]:
    """Yield a row per entry of the lists in a row's cells; other cells are the same in
    each.

    The column `#` is the entry's id: the dataset's id, and a number. Raises UserError
    if the lists differ in length, or if there are none.
    """
    lists = {
        name: cells
        for name, cell in row.items()
        if (cells := cell_list(cell)) is not None
    }
    lengths = {len(cells): name for name, cells in lists.items()}
    if len(lengths) != 1:
        raise UserError(
            f"the lists in a row have {len(lengths)} different lengths",
            where=where,
            got=", ".join(
                f"{size} in {name}" for size, name in sorted(lengths.items())
            ),
        )
    (size,) = lengths
    for index in range(size):
        entry = {name: cells[index] for name, cells in lists.items()}
        yield row | entry | {ENTRY: numbered(dataset, index + 1, size)}


FORMAT = Format(name="hanna_csv", has_texts=False)
