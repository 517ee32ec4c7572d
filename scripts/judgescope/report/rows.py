"""Typed access to the rows of result tables."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

Place = tuple[str | int, ...]
GROUP = "group "
"""Begins the part of a rank's note that has its letters."""
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("value", "lo", "hi")),
    **dict.fromkeys(("n", "n_missing", "n_tied", "k", "k_b"), 0),
}


class Row(NamedTuple):
    """One row of a result table: a statistic, where it holds, and its estimate."""

    dataset: str
    judge: str
    aspect: str
    statistic: str
    level: str
    value: float | None
    lo: float | None
    hi: float | None
    n: int
    n_missing: int
    n_tied: int
    method: str
    note: str
    perturbation: str
    degree: str
    form: str
    criterion: str
    judge_b: str
    aspect_b: str
    criterion_b: str
    k: int
    k_b: int
    systems: str
    signature: str

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Row":
        """Return the row of a record of a result table; null counts are 0, null texts empty."""
        values = ((record.get(name), empty) for name, empty in _COLUMNS)
        cells: list[Any] = [value if empty is None else value or empty for value, empty in values]
        return cls(*cells)

    @property
    def place(self) -> Place:
        """Return what tells the row from all others of its table that the report shows."""
        where = (self.dataset, self.judge, self.aspect, self.statistic, self.level)
        other = (self.judge_b, self.aspect_b, self.criterion_b)
        return (*where, self.cell, self.criterion, *other, self.k, self.k_b)

    @property
    def judged(self) -> str:
        """Return what a cell calls the aspect: with its criterion."""
        return f"{self.aspect}.{self.criterion}" if self.criterion else self.aspect

    @property
    def cell(self) -> str:
        """Return the set of targets: `<perturbation>.<degree>`, or its name alone."""
        return f"{self.perturbation}.{self.degree}" if self.degree else self.perturbation

    @property
    def group(self) -> str:
        """Return the letters of a rank: judges that share one are not told apart by a test."""
        told = [part for part in self.note.split("; ") if part.startswith(GROUP)]
        return told[0].removeprefix(GROUP) if told else ""


_COLUMNS: list[tuple[str, Any]] = [(name, _EMPTY.get(name, "")) for name in Row._fields]
"""Each column of a row with what stands for null."""


class Rows:
    """The rows of one table, in its order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._groups: dict[str, dict[str, list[Row]]] = {}

    @classmethod
    def of_records(cls, records: Iterable[Mapping[str, Any]]) -> "Rows":
        """Return the rows of the records of a result table.

        Where a number stands with and without the texts that are the references, the report shows
        the one without: with them a judge is measured against itself.
        """
        return cls._fair([Row.of(record) for record in records])

    @classmethod
    def of_table(cls, table: pa.Table) -> "Rows":
        """Return the rows of a result table, as `of_records` does."""
        columns = []
        for name, empty in _COLUMNS:
            values = table[name].to_pylist() if name in table.column_names else [None] * len(table)
            columns.append(values if empty is None else [value or empty for value in values])
        return cls._fair([Row(*values) for values in zip(*columns, strict=True)])

    @classmethod
    def _fair(cls, rows: list[Row]) -> "Rows":
        fair = {row.place for row in rows if row.systems}
        kept = (row for row in rows if row.systems or row.place not in fair)
        return cls(kept if fair else rows)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def where(self, **equal: str | tuple[str, ...]) -> "Rows":
        """Return the rows whose columns equal the values, or are one of them where a tuple."""
        wanted = {name: (v,) if isinstance(v, str) else v for name, v in equal.items()}
        rows, first = self._rows, next(iter(wanted), "")
        if len(wanted.get(first, ())) == 1:  # many ask for one statistic or judge after another
            rows = self._grouped(first).get(wanted.pop(first)[0], [])
        for name, values in wanted.items():
            rows = [row for row in rows if getattr(row, name) in values]
        return Rows(rows)

    def _grouped(self, column: str) -> dict[str, list[Row]]:
        """Return value of a column -> its rows, in order; what is grouped is kept."""
        if column not in self._groups:
            groups = self._groups[column] = {}
            for row in self._rows:
                groups.setdefault(getattr(row, column), []).append(row)
        return self._groups[column]

    def names(self, column: str) -> list[str]:
        """Return the distinct values of a text column, in order of appearance."""
        return list(dict.fromkeys(getattr(row, column) for row in self._rows))

    def at(
        self,
        dataset: str,
        judge: str,
        statistic: str,
        *,
        aspect: str = "",
        level: str = "",
        cell: str = "",
        criterion: str = "",
        judge_b: str = "",
        aspect_b: str = "",
        criterion_b: str = "",
        k: int = 0,
        k_b: int = 0,
    ) -> Row | None:
        """Return the one row in this place, or None; `aspect` may have a criterion behind a dot."""
        if "." in aspect:
            aspect, _, criterion = aspect.partition(".")
        other = (judge_b, aspect_b, criterion_b)
        place = (dataset, judge, aspect, statistic, level, cell, criterion, *other, k, k_b)
        return self._index.get(place)

    @cached_property
    def _index(self) -> dict[Place, Row]:
        return {row.place: row for row in self._rows}
