"""The values of columns: numbers, and their scale."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from judgescope.data.column_rows import ColumnRows, cells_of
from judgescope.data.rows import TableRow, entries
from judgescope.tables.leaving_out import USUAL_SCALES
from judgescope.tables.spelling import is_missing


def columns_of(rows: Iterable[TableRow]) -> list[str]:
    """Return the names of all columns, in the order of their first use."""
    if isinstance(rows, ColumnRows):
        return rows.names
    return list(dict.fromkeys(chain.from_iterable(rows)))


def numbers(rows: Sequence[TableRow], column: str) -> list[float] | None:
    """Return the numbers of a column; None if it has other cells, or no numbers."""
    values: list[float] = []
    known: dict[str, list[float] | None] = {}
    for cell in cells_of(rows, column):
        if not isinstance(cell, str):
            of_cell = _numbers_of(cell)
        elif cell in known:
            of_cell = known[cell]
        else:
            of_cell = known[cell] = _numbers_of(cell)
        if of_cell is None:
            return None
        values += of_cell
    return values or None


def numbers_by_row(rows: Sequence[TableRow], column: str) -> Iterator[list[float]]:
    """Yield the numbers of each cell of a column, none for a cell that has others.

    >>> list(numbers_by_row([{"score": "4"}, {"score": "good"}, {}], "score"))
    [[4.0], [], []]
    """
    known: dict[str, list[float]] = {}
    for cell in cells_of(rows, column):
        if not isinstance(cell, str):
            yield _numbers_of(cell) or []
            continue
        if cell not in known:
            known[cell] = _numbers_of(cell) or []
        yield known[cell]


def _numbers_of(cell: Any) -> list[float] | None:
    """Return the numbers of a cell without those that are missing; None if an entry is
    none.
    """
    values: list[float] = []
    for entry in entries(cell):
        if is_missing(entry):
            continue
        value = number(entry)
        if value is None:
            return None
        values.append(value)
    return values


def number(cell: Any) -> float | None:
    """Return a cell as a finite number, None if it is not one."""
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def scale(values: Sequence[float]) -> dict[str, float]:
    """Return the first common scale that contains all ratings, or else their range."""
    least = min(values)
    greatest = max(values)
    for low, high in USUAL_SCALES:
        if low <= least and greatest <= high:
            least = low
            greatest = high
            break
    if least == greatest:
        greatest = least + 1
    limits = {"min": least, "max": greatest}
    for step in (1, 0.5, 0.25):
        if all(((value - least) / step).is_integer() for value in [*values, greatest]):
            return {**limits, "step": step}
    return limits
