"""Typed access to the rows of result tables."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypedDict, Unpack

import pyarrow as pa

GROUP = "group "
"""Begins the part of a rank's note that has its letters."""


class Place(TypedDict, total=False):
    """Where a statistic of a judge holds; `aspect` may have a criterion behind a dot."""

    aspect: str
    level: str
    cell: str
    criterion: str
    judge_b: str
    aspect_b: str
    criterion_b: str
    k: int
    k_b: int
    form: str


class Address(Place, total=False):
    """Where a number is in the result table of a dataset."""

    judge: str
    statistic: str


_OVERALL: Address = {
    **{"judge": "", "statistic": ""},
    **{"aspect": "", "level": "", "cell": "", "criterion": ""},
    **{"judge_b": "", "aspect_b": "", "criterion_b": "", "k": 0, "k_b": 0},
    "form": "",
}


class Row(NamedTuple):
    """One row of a result table: a statistic, where it holds, and its estimate.

    A column that is null, or that the table lacks, has the default.
    """

    dataset: str = ""
    judge: str = ""
    aspect: str = ""
    statistic: str = ""
    level: str = ""
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    n_missing: int = 0
    n_tied: int = 0
    method: str = ""
    note: str = ""
    perturbation: str = ""
    degree: str = ""
    form: str = ""
    criterion: str = ""
    judge_b: str = ""
    aspect_b: str = ""
    criterion_b: str = ""
    k: int = 0
    k_b: int = 0
    system_subset: str = ""
    signature: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Return what identifies the row within its dataset and table."""
        where = (self.judge, self.statistic, self.aspect, self.level, self.cell, self.criterion)
        return (*where, self.judge_b, self.aspect_b, self.criterion_b, self.k, self.k_b, self.form)

    @property
    def judged(self) -> str:
        """Return the aspect with its criterion behind a dot, as cells name it."""
        return f"{self.aspect}.{self.criterion}" if self.criterion else self.aspect

    @property
    def cell(self) -> str:
        """Return the set of targets: `<perturbation>.<degree>`, or its name alone."""
        return f"{self.perturbation}.{self.degree}" if self.degree else self.perturbation

    @property
    def group(self) -> str:
        """Return the letters of a rank: a test does not separate judges that share one."""
        letters = (part for part in self.note.split("; ") if part.startswith(GROUP))
        return next(letters, "").removeprefix(GROUP)


class Rows:
    """The rows of one table, in its order."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._groups: dict[str, dict[str | int, Rows]] = {}

    @classmethod
    def of_table(cls, table: pa.Table) -> "Rows":
        """Return the rows of a result table.

        Where a number is there with and without the texts that are the references, the report
        shows the one without: with them a judge is measured against itself.
        """
        columns = []
        for name, default in Row._field_defaults.items():
            values = table[name].to_pylist() if name in table.column_names else [None] * len(table)
            columns.append([default if value is None else value for value in values])
        rows = [Row(*values) for values in zip(*columns, strict=True)]
        fair = {(row.dataset, row.key) for row in rows if row.system_subset}
        return cls(row for row in rows if row.system_subset or (row.dataset, row.key) not in fair)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def where(self, **equal: str | tuple[str | int, ...]) -> "Rows":
        """Return the rows whose columns equal the values, or are one of them where a tuple."""
        rows = self
        for name, wanted in equal.items():
            if isinstance(wanted, tuple):
                rows = Rows(row for row in rows if getattr(row, name) in wanted)
            else:  # sections ask for one judge or statistic after another
                rows = rows._grouped(name).get(wanted) or Rows([])
        return rows

    def _grouped(self, column: str) -> "dict[str | int, Rows]":
        if column not in self._groups:
            groups: dict[str | int, list[Row]] = {}
            for row in self._rows:
                groups.setdefault(getattr(row, column), []).append(row)
            self._groups[column] = {value: Rows(rows) for value, rows in groups.items()}
        return self._groups[column]

    def names(self, column: str) -> list[str]:
        """Return the distinct values of a text column, in order of appearance."""
        return list(dict.fromkeys(getattr(row, column) for row in self._rows))

    def at(
        self, judge: str, statistic: str, shared: Place = _OVERALL, **more: Unpack[Place]
    ) -> Row | None:
        """Return the row in a place, or None; the rows are those of one dataset."""
        where: Address = {**_OVERALL, **shared, **more, "judge": judge, "statistic": statistic}
        aspect, _, criterion = where["aspect"].partition(".")
        where["aspect"], where["criterion"] = aspect, criterion or where["criterion"]
        return self._index.get((*where.values(),))

    @cached_property
    def _index(self) -> dict[tuple[object, ...], Row]:
        return {row.key: row for row in self._rows}
