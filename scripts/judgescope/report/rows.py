"""Result tables and scores as DataFrames, and rows of result tables as records."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

import numpy as np
import pyarrow as pa

from judgescope.core.cells import joined
from judgescope.schema.tables import read_table

if TYPE_CHECKING:
    import pandas as pd


class RowPlace(TypedDict, total=False):
    """Where a statistic of a judge holds; `aspect` may have a criterion behind a
    dot.
    """

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


class Address(RowPlace, total=False):
    """Where a number is in the result table of a dataset."""

    judge: str
    statistic: str


_OVERALL: Address = {
    "judge": "",
    "statistic": "",
    "aspect": "",
    "level": "",
    "cell": "",
    "criterion": "",
    "judge_b": "",
    "aspect_b": "",
    "criterion_b": "",
    "k": 0,
    "k_b": 0,
    "form": "",
}
"""The address of a number over all; its keys are those of all addresses, in order."""


class ReportRow(NamedTuple):
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
    slice: str = ""
    target: str = ""
    signature: str = ""

    @property
    def judged(self) -> str:
        """Return the aspect with its criterion behind a dot, as cells name it."""
        if self.criterion:
            return f"{self.aspect}.{self.criterion}"
        return self.aspect

    @property
    def cell(self) -> str:
        """Return the set of targets: `<perturbation>.<degree>`, or its name alone."""
        if self.degree:
            return f"{self.perturbation}.{self.degree}"
        return self.perturbation

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """Return the value and the ends of its interval, for the scale of a figure."""
        return self.value, self.ci_low, self.ci_high

    @property
    def group(self) -> str:
        """Return the letters of a rank: a test does not separate judges that share
        one.
        """
        for part in self.note.split("; "):
            if part.startswith("group "):
                return part.removeprefix("group ")
        return ""


def _number_types() -> dict[str, type]:
    """Column -> its type, of the columns of numbers."""
    types: dict[str, type] = {}
    for name, default in ReportRow._field_defaults.items():
        if not isinstance(default, str):
            types[name] = int if isinstance(default, int) else float
    return types


def _has_value(row: ReportRow) -> bool:
    """Whether the estimate of a row is defined: neither missing nor NaN."""
    return row.value is not None and not isnan(row.value)


class ReportRows:
    """A result table, or some of its rows, in its order.

    >>> rows = ReportRows([ReportRow(judge="a", value=0.5), ReportRow(judge="b")])
    >>> rows.names("judge"), len(rows.where(judge="a")), len(rows.defined)
    (['a', 'b'], 1, 1)
    """

    def __init__(self, records: Iterable[ReportRow] = ()) -> None:
        self._records = tuple(records)
        self._parts: dict[str, dict[str | int, ReportRows]] = {}

    @classmethod
    def of_table(cls, table: pa.Table) -> "ReportRows":
        """Return the rows of a result table.

        Where a number is there with and without the texts that are the references, the
        report shows the one without: with them a judge is measured against itself.
        """
        columns = []
        for name, default in ReportRow._field_defaults.items():
            values = [None] * len(table)
            if name in table.column_names:
                values = table[name].to_pylist()
            columns.append([default if value is None else value for value in values])
        records = list(map(ReportRow._make, zip(*columns, strict=True)))
        places = [
            (row.dataset, row.slice, row.target, *_address(row)) for row in records
        ]
        times = Counter(places)
        kept = []
        for row, key in zip(records, places, strict=True):
            if row.system_subset or times[key] == 1:
                kept.append(row)
        return cls(kept)

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """The rows as a frame: the columns of `ReportRow`, `judged`, `cell`, and
        `record`, the row itself.
        """
        import pandas as pd  # here: `audit` runs without

        fields = [*ReportRow._fields, "judged", "cell", "record"]
        rows = [(*row, row.judged, row.cell, row) for row in self]
        # Objects are filtered several times faster than the string type.
        frame = pd.DataFrame(rows, columns=fields, dtype=object)
        return frame.astype(_number_types()).copy()

    def __iter__(self) -> Iterator[ReportRow]:
        """Iterate over the records."""
        return iter(self._records)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._records)

    def where(self, **equal: str | tuple[str | int, ...]) -> "ReportRows":
        """Return the rows whose columns equal the values, or are one of them where a
        tuple.
        """
        rows = self
        for name, wanted in equal.items():
            if isinstance(wanted, tuple):
                rows = ReportRows(row for row in rows if getattr(row, name) in wanted)
            else:
                rows = rows._by_value(name).get(wanted, NO_ROWS)
        return rows

    def by(self, column: str) -> "dict[str, ReportRows]":
        """Return value -> its rows, in order of appearance, for a text column."""
        return {str(value): part for value, part in self._by_value(column).items()}

    def _by_value(self, column: str) -> "dict[str | int, ReportRows]":
        """Return value -> its rows, in order of appearance."""
        if column not in self._parts:
            # Sections ask for one judge or statistic after another.
            records: dict[str | int, list[ReportRow]] = {}
            for row in self:
                records.setdefault(getattr(row, column), []).append(row)
            self._parts[column] = {
                value: ReportRows(part) for value, part in records.items()
            }
        return self._parts[column]

    def names(self, column: str) -> list[str]:
        """Return the distinct values of a text column, in order of appearance."""
        return list(dict.fromkeys(getattr(row, column) for row in self))

    @property
    def first(self) -> ReportRow | None:
        """The first record, None without rows."""
        return next(iter(self), None)

    @cached_property
    def defined(self) -> "ReportRows":
        """The rows that have a value."""
        return ReportRows(filter(_has_value, self))

    @cached_property
    def undefined(self) -> "ReportRows":
        """The rows that have no value."""
        return ReportRows(row for row in self if not _has_value(row))

    @property
    def highest_class(self) -> int:
        """The highest class that some row is about, 0 without rows."""
        return max((row.k for row in self), default=0)

    def total(self, statistic: str) -> float:
        """Return the sum of a statistic over all rows."""
        rows = self.where(statistic=statistic).defined
        return float(np.sum([row.value for row in rows]))

    def find(
        self,
        judge: str,
        statistic: str,
        shared: RowPlace = _OVERALL,
        **more: Unpack[RowPlace],
    ) -> ReportRow | None:
        """Return the row in a place, or None; the rows are those of one dataset."""
        where: Address = {
            **_OVERALL,
            **shared,
            **more,
            "judge": judge,
            "statistic": statistic,
        }
        aspect, _, criterion = where["aspect"].partition(".")
        where["aspect"] = aspect
        where["criterion"] = criterion or where["criterion"]
        return self._index.get((*where.values(),))

    @cached_property
    def _index(self) -> dict[tuple[object, ...], ReportRow]:
        return {_address(row): row for row in self}


def _address(row: ReportRow) -> tuple[object, ...]:
    """Return where a row stands in the table of its dataset."""
    return tuple(getattr(row, name) for name in _OVERALL)


NO_ROWS = ReportRows()


def between(
    rows: ReportRows,
    judge: str,
    other: str,
    statistic: str,
    **where: Unpack[RowPlace],
) -> ReportRow | None:
    """Return the row of a judge's value minus another's, by their ids, whichever way
    it was written.
    """
    name = f"difference_{statistic}"
    straight = rows.find(judge, name, where, judge_b=other)
    return straight or turned(rows.find(other, name, where, judge_b=judge))


def turned(row: ReportRow | None) -> ReportRow | None:
    """Return the row of a difference the other way round."""
    if row is None:
        return None

    def negative(number: float | None) -> float | None:
        if number is None:
            return None
        return 0.0 - number

    return row._replace(
        judge=row.judge_b,
        judge_b=row.judge,
        value=negative(row.value),
        ci_low=negative(row.ci_high),
        ci_high=negative(row.ci_low),
    )


def scores_of(path: str) -> "pd.DataFrame":
    """Return the scores that judges gave to single texts, from a dataset's file of
    scores.

    `judged` is the aspect with its criterion, as cells name it.
    """
    names = [
        "judge",
        "perturbation",
        "aspect",
        "criterion",
        "target",
        "value",
        "target_b",
    ]
    frame = read_table("scores", path, names).to_pandas()
    frame = frame[frame["target_b"].isna()]
    named = zip(frame["aspect"], frame["criterion"].fillna(""), strict=True)
    return frame.assign(judged=[joined(*names) for names in named])


def ends_of(row: ReportRow) -> tuple[float, float] | None:
    """The ends of a number's interval, None without one."""
    if row.ci_low is None or row.ci_high is None:
        return None
    return row.ci_low, row.ci_high
