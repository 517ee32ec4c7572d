"""What the cells of a column are, whatever its header says."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow, entries
from judgescope.tables.spelling import filled_cells, is_date, is_missing

Kind = Literal["empty", "constant", "number", "label", "word", "text", "list", "object"]

MOST_LABELS: Final = 7
"""A column of labels has at most so many different cells."""


@dataclass(frozen=True)
class ColumnProfile:
    """The kind of a column's cells, and its numbers if they are numbers."""

    kind: Kind
    numbers: tuple[float, ...]
    """Of the filled cells, in the order of the rows."""
    different: int
    """Different filled cells."""
    filled: int

    @property
    def two_valued(self) -> bool:
        """Whether the cells are two labels, or the numbers 0 and 1."""
        if self.different != 2:
            return False
        if self.kind == "label":
            return True
        return set(self.numbers) == {0.0, 1.0}


def profile(rows: Sequence[TableRow], column: str) -> ColumnProfile:
    """The profile of a column: numbers, up to seven labels, words, or texts."""
    cells = cells_of(rows, column)
    filled = filled_cells(cells)
    different = {str(cell) for cell in filled}
    numbers = _numbers_of(filled)
    kind: Kind
    if not filled:
        kind = "empty"
    elif all(isinstance(cell, dict) for cell in filled):
        kind = "object"
    elif len(numbers) >= len(filled) and all(map(_is_numeric, _once(filled))):
        kind = "number"
    elif any(isinstance(cell, list) for cell in filled):
        kind = "list"
    elif len(different) <= MOST_LABELS and all(map(_may_be_label, different)):
        kind = "label"
    elif sum(map(len, map(str, filled))) >= 15 * len(filled):
        kind = "text"
    else:
        kind = "word"
    return ColumnProfile(kind, tuple(numbers), len(different), len(filled))


def _numbers_of(cells: Sequence[Any]) -> list[float]:
    """The numbers of all cells; a word that occurs again is not read again."""
    numbers: list[float] = []
    known: dict[str, list[float]] = {}
    for cell in cells:
        if not isinstance(cell, str):
            numbers += numbers_in(cell)
            continue
        if cell not in known:
            known[cell] = numbers_in(cell)
        numbers += known[cell]
    return numbers


def _once(cells: Sequence[Any]) -> Iterator[Any]:
    """Yield the cells, a word that occurs again only once."""
    seen = set[str]()
    for cell in cells:
        if isinstance(cell, str):
            if cell in seen:
                continue
            seen.add(cell)
        yield cell


def numbers_in(cell: Any) -> list[float]:
    """The finite numbers of a cell, of which a list has several."""
    numbers = []
    for entry in entries(cell):
        try:
            value = float(entry)
        except (TypeError, ValueError, OverflowError):
            continue
        if math.isfinite(value):
            numbers.append(value)
    return numbers


def _is_numeric(cell: Any) -> bool:
    values = [entry for entry in entries(cell) if not is_missing(entry)]
    return len(numbers_in(cell)) == len(values)


def _may_be_label(cell: str) -> bool:
    return len(cell) <= 30 and len(cell.split()) <= 4 and not is_date(cell)


def is_design(
    rows: Sequence[TableRow], column: str, sources: Sequence[str] = ()
) -> bool:
    """Whether a column of whole numbers numbers the rows or belongs to a design.

    They run from row to row, or each of at least six occurs equally often, or they are
    constant within a source of several rows: a page, a turn, a question's number.
    """
    numbers = []
    known: dict[str, list[float]] = {}
    for cell in cells_of(rows, column):
        if not isinstance(cell, str):
            in_cell = numbers_in(cell)
        elif cell in known:
            in_cell = known[cell]
        else:
            in_cell = known[cell] = numbers_in(cell)
        if len(in_cell) != 1 or not in_cell[0].is_integer():
            return False
        numbers.append(in_cell[0])
    # Rows from which a run of numbers, or an even design, is no accident.
    fewest_rows = 6
    if len(numbers) < fewest_rows:
        return False
    runs = all(after - before in (0, 1) for before, after in pairwise(numbers))
    times = Counter(numbers)
    if runs and len(times) > 1:
        return True
    even = max(times.values()) - min(times.values()) <= 1 and len(times) >= fewest_rows
    if even and len(times) > 1:
        return True
    return bool(sources) and _is_constant_within(rows, numbers, sources)


def _is_constant_within(
    rows: Sequence[TableRow], numbers: Sequence[float], sources: Sequence[str]
) -> bool:
    by_source: dict[str, set[float]] = {}
    of_sources = [cells_of(rows, column) for column in sources]
    for number, *cells in zip(numbers, *of_sources, strict=True):
        source = str(cells)
        by_source.setdefault(source, set()).add(number)
    repeated = len(by_source) <= len(rows) / 2
    constant = all(len(values) == 1 for values in by_source.values())
    return repeated and constant and len(set(numbers)) > 1
