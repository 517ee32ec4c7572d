"""Rows of a table whose cells are kept by column.

A row with a dozen cells takes half a kilobyte as a dict, and eight bytes a cell as part
of columns. A row is made when it is looked at; who needs one column takes that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, Final, overload

from judgescope.data.rows import FileRow, TableRow

MOST_SHARED: Final = 100_000
"""Different cells of a column that are looked up for an equal one before them."""
AT_A_TIME: Final = 1_000


class ColumnRows(Sequence[FileRow]):
    """Rows that all have the same columns, in the same order.

    >>> rows = ColumnRows({"id": ["a", "b"], "score": [1, 2]})
    >>> len(rows), rows[-1]
    (2, {'id': 'b', 'score': 2})
    """

    def __init__(self, cells: Mapping[str, Sequence[Any]]) -> None:
        self.cells = cells
        """Column -> its cells; there is at least one column."""

    @property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.cells)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.cells.values())))

    def __iter__(self) -> Iterator[FileRow]:
        """Make each row."""
        names = self.names
        for cells in zip(*self.cells.values(), strict=True):
            yield dict(zip(names, cells, strict=True))

    @overload
    def __getitem__(self, index: int) -> FileRow: ...

    @overload
    def __getitem__(self, index: slice) -> "ColumnRows": ...

    def __getitem__(self, index: int | slice) -> "FileRow | ColumnRows":
        """Make a row, or take some."""
        part = {name: cells[index] for name, cells in self.cells.items()}
        if isinstance(index, slice):
            return ColumnRows(part)
        return part

    def __eq__(self, other: object) -> bool:
        """Return whether the rows of another sequence are equal."""
        if isinstance(other, ColumnRows):
            return self.cells is other.cells or self.cells == other.cells
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def cells_of(rows: Sequence[TableRow], column: str) -> Sequence[Any]:
    """Return a column's cells, None where a row has no such column.

    >>> cells_of([{"id": "a"}, {"score": 1}], "id")
    ['a', None]
    """
    if isinstance(rows, ColumnRows):
        cells = rows.cells.get(column)
        if cells is None:
            return [None] * len(rows)
        return cells
    return [row.get(column) for row in rows]


def cells_by_row(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> Iterator[list[Any]]:
    """Yield the cells of some columns of each row, None where it has none.

    >>> list(cells_by_row([{"id": "a", "score": 1}], ["score", "id"]))
    [[1, 'a']]
    """
    if not columns:
        yield from ([] for _ in rows)
        return
    cells = [cells_of(rows, column) for column in columns]
    yield from map(list, zip(*cells, strict=True))


def with_cells(
    rows: Sequence[TableRow], columns: Mapping[str, Sequence[Any]]
) -> Sequence[TableRow]:
    """Return rows with some columns replaced, or added behind the others.

    A row without a column gets none for a cell that is None.

    >>> list(with_cells([{"id": "a"}], {"score": [1]}))
    [{'id': 'a', 'score': 1}]
    """
    if not columns:
        return rows
    if isinstance(rows, ColumnRows):
        return ColumnRows({**rows.cells, **columns})
    changed = list[TableRow]()
    for row, *cells in zip(rows, *columns.values(), strict=True):
        new = dict(row)
        for name, cell in zip(columns, cells, strict=True):
            if name in row or cell is not None:
                new[name] = cell
        changed.append(new)
    return changed


def with_names(
    rows: Sequence[TableRow], names: Mapping[str, str]
) -> Sequence[TableRow]:
    """Return rows with other names of their columns, all different.

    >>> with_names([{"Frage": "Why?"}], {"Frage": "question"})
    [{'question': 'Why?'}]
    """
    if isinstance(rows, ColumnRows) and len({*names.values()}) == len(names):
        return ColumnRows({names[name]: cells for name, cells in rows.cells.items()})
    return [{names[name]: cell for name, cell in row.items()} for row in rows]


def rows_where(rows: Sequence[TableRow], kept: Sequence[bool]) -> Sequence[TableRow]:
    """Return the rows that are to be kept.

    >>> rows_where([{"id": "a"}, {"id": "b"}], [False, True])
    [{'id': 'b'}]
    """
    if all(kept):
        return rows
    if isinstance(rows, ColumnRows):
        return ColumnRows(
            {name: list(compress(cells, kept)) for name, cells in rows.cells.items()}
        )
    return list(compress(rows, kept))


def by_column(rows: Iterable[FileRow]) -> Sequence[FileRow]:
    """Return the rows by column; as they are, where they have different columns.

    Equal cells of a column are one object.

    >>> by_column([{"id": "a"}, {"id": "b"}]) == [{"id": "a"}, {"id": "b"}]
    True
    >>> by_column([{"id": "a"}, {"score": 1}])
    [{'id': 'a'}, {'score': 1}]
    """
    several = iter(rows)
    first = next(several, None)
    if not first:
        if first is None:
            return []
        return [first, *several]
    names = tuple(first)
    shared: list[dict[Any, Any]] = [{} for _ in names]
    columns: list[list[Any]] = [[] for _ in names]
    waiting = [tuple(first.values())]
    for row in several:
        if tuple(row) != names:
            _add(columns, shared, waiting)
            before = ColumnRows(dict(zip(names, columns, strict=True)))
            return [*before, row, *several]
        waiting.append(tuple(row.values()))
        if len(waiting) == AT_A_TIME:
            _add(columns, shared, waiting)
            waiting = []
    _add(columns, shared, waiting)
    return ColumnRows(dict(zip(names, columns, strict=True)))


def _add(
    columns: Sequence[list[Any]],
    shared: Sequence[dict[Any, Any]],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    """Add rows of cells to the columns."""
    if not rows:
        return
    for column, known, cells in zip(
        columns, shared, zip(*rows, strict=True), strict=True
    ):
        are_words = all(isinstance(cell, str) for cell in cells)
        if are_words and len(known) < MOST_SHARED:
            column.extend(known.setdefault(cell, cell) for cell in cells)
        else:
            column.extend(cells)
