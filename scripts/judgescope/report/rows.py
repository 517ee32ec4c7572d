"""Result tables and scores as DataFrames, and rows of result tables as records."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, TypedDict, Unpack

import pandas as pd
import pyarrow as pa

from judgescope.core.cells import joined
from judgescope.schema.tables import read_table

GROUP = "group "
"""Begins the part of a rank's note that has its letters."""


class Place(TypedDict, total=False):
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
    def judged(self) -> str:
        """Return the aspect with its criterion behind a dot, as cells name it."""
        return f"{self.aspect}.{self.criterion}" if self.criterion else self.aspect

    @property
    def cell(self) -> str:
        """Return the set of targets: `<perturbation>.<degree>`, or its name alone."""
        return (
            f"{self.perturbation}.{self.degree}" if self.degree else self.perturbation
        )

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """Return the value and the ends of its interval, for the scale of a figure."""
        return self.value, self.ci_low, self.ci_high

    @property
    def group(self) -> str:
        """Return the letters of a rank: a test does not separate judges that share
        one.
        """
        letters = (part for part in self.note.split("; ") if part.startswith(GROUP))
        return next(letters, "").removeprefix(GROUP)


NUMBERS = {
    name: type(default) if isinstance(default, int) else float
    for name, default in Row._field_defaults.items()
    if not isinstance(default, str)
}
"""Column -> its type, of the columns of numbers."""


class Rows:
    """A result table, or some of its rows, in its order.

    `frame` has the columns of `Row`, with `judged`, `cell` and the `record` of each
    row.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._parts: dict[tuple[str, str | int], Rows] = {}

    @classmethod
    def from_records(cls, records: Iterable[Row] = ()) -> "Rows":
        """Return records as rows."""
        fields = [*Row._fields, "judged", "cell", "record"]
        rows = [(*row, row.judged, row.cell, row) for row in records]
        # objects are filtered several times faster than the string type
        return cls(
            pd.DataFrame(rows, columns=fields, dtype=object).astype(NUMBERS).copy()
        )

    @classmethod
    def of_table(cls, table: pa.Table) -> "Rows":
        """Return the rows of a result table.

        Where a number is there with and without the texts that are the references, the
        report shows the one without: with them a judge is measured against itself.
        """
        columns = []
        for name, default in Row._field_defaults.items():
            values = (
                table[name].to_pylist()
                if name in table.column_names
                else [None] * len(table)
            )
            columns.append([default if value is None else value for value in values])
        frame = cls.from_records(map(Row._make, zip(*columns, strict=True))).frame
        with_and_without = frame.duplicated(["dataset", *_OVERALL], keep=False)
        return cls(frame[(frame["system_subset"] != "") | ~with_and_without])

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the records."""
        return iter(self.frame["record"])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    def where(self, **equal: str | tuple[str | int, ...]) -> "Rows":
        """Return the rows whose columns equal the values, or are one of them where a
        tuple.
        """
        rows = self
        for name, wanted in equal.items():
            if isinstance(wanted, tuple):
                rows = Rows(rows.frame[rows.frame[name].isin(wanted)])
            else:  # sections ask for one judge or statistic after another
                if (name, wanted) not in rows._parts:
                    part = rows.frame[rows.frame[name] == wanted]
                    rows._parts[name, wanted] = Rows(part)
                rows = rows._parts[name, wanted]
        return rows

    def by(self, column: str) -> "dict[str, Rows]":
        """Return value -> its rows, in order of appearance."""
        return {value: self.where(**{column: value}) for value in self.names(column)}

    def names(self, column: str) -> list[str]:
        """Return the distinct values of a text column, in order of appearance."""
        return list(self.frame[column].unique())

    @property
    def first(self) -> Row | None:
        """The first record, None without rows."""
        return next(iter(self), None)

    @cached_property
    def defined(self) -> "Rows":
        """The rows that have a value."""
        return Rows(self.frame[self.frame["value"].notna()])

    def total(self, statistic: str) -> float:
        """Return the sum of a statistic over all rows."""
        return float(self.where(statistic=statistic).frame["value"].sum())

    def find(
        self,
        judge: str,
        statistic: str,
        shared: Place = _OVERALL,
        **more: Unpack[Place],
    ) -> Row | None:
        """Return the row in a place, or None; the rows are those of one dataset."""
        where: Address = {
            **_OVERALL,
            **shared,
            **more,
            "judge": judge,
            "statistic": statistic,
        }
        aspect, _, criterion = where["aspect"].partition(".")
        where["aspect"], where["criterion"] = aspect, criterion or where["criterion"]
        return self._index.get((*where.values(),))

    @cached_property
    def _index(self) -> dict[tuple[object, ...], Row]:
        return dict(
            zip(
                self.frame[[*_OVERALL]].itertuples(index=False, name=None),
                self,
                strict=True,
            )
        )


NO_ROWS = Rows.from_records()


def scores_of(out: str, dataset: str) -> pd.DataFrame:
    """Return the scores that judges gave to single texts of a dataset in the results
    `out`.

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
    path = f"{out}/collected/{dataset}/scores.parquet"
    frame = read_table("scores", path, names).to_pandas()
    frame = frame[frame["target_b"].isna()]
    named = zip(frame["aspect"], frame["criterion"].fillna(""), strict=True)
    return frame.assign(judged=[joined(*names) for names in named])
