"""One dataset in memory, as the job `statistics` reads it, and rows of its results."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.core.cells import split
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.tables import table_of
from statistics_spec import spec_of

Floats = NDArray[np.float64]
Row = dict[str, Any]
DATASET = "d"
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
TABLES = ("items", "targets", "ratings", "scores", "draws", "statuses")


class DatasetTables:
    """The tables of a dataset, to which a test adds what it needs; NaN adds no
    number.
    """

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}

    def add(self, table: str, **row: Any) -> None:
        """Add one row of a table."""
        self.rows[table].append({"dataset": DATASET, **row})

    def add_items(self, items: Iterable[str]) -> None:
        """Add items without a source."""
        for item in items:
            self.add("items", item=item)

    def add_text(self, cell: str, target: str, item: str, **more: Any) -> None:
        """Add a text of a cell, `systems`, `original` or `perturbation.degree`."""
        perturbation, _, degree = cell.partition(".")
        row: Row = {"perturbation": perturbation, "degree": degree or None}
        row |= {"system": "s", "text": "words", "status": "ok"}
        self.add("targets", target=target, item=item, **row | more)

    def add_ratings(
        self, aspect: str, rater: str, targets: Sequence[str], values: ArrayLike
    ) -> None:
        """Add the ratings of one person; NaN: not rated."""
        for target, value in zip(targets, _floats(values), strict=True):
            if not np.isnan(value):
                row = {"target": target, "rater": rater, "value": value}
                self.add("ratings", aspect=aspect, **row)

    def add_scores(
        self,
        cell: str,
        judge: str,
        aspect: str,
        targets: Sequence[str],
        values: ArrayLike,
    ) -> None:
        """Add the scores of a judge in an aspect, or a criterion of it; NaN: none."""
        plain, criterion = split(aspect)
        where = {"perturbation": cell, "judge": judge}
        for target, value in zip(targets, _floats(values), strict=True):
            score = None if np.isnan(value) else value
            row = {"aspect": plain, "criterion": criterion, "value": score}
            self.add("scores", target=target, **where, **row)

    def data(self, **spec: Any) -> EvaluationData:
        """Return the dataset with the spec of some fields (see `spec_of`)."""
        tables = {name: table_of(name, rows) for name, rows in self.rows.items()}
        scores = ScoreTables.of_table(tables.pop("scores"))
        return EvaluationData(
            data_sha="0123abcd", spec=spec_of(spec), scores=scores, **tables
        )


def _floats(values: ArrayLike) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=np.float64)]


def scales(
    aspects: Iterable[str],
    values: list[float] | None = FIVE,
    ends: tuple[float, float] = (1.0, 5.0),
) -> dict[str, Row]:
    """Return people's scale of each aspect, as the spec has it."""
    return {aspect: {"values": values, "ends": [*ends]} for aspect in aspects}


def judge_facts(
    aspects: Sequence[str],
    values: list[float] | None = FIVE,
    ends: tuple[float, float] | None = (1.0, 5.0),
) -> Row:
    """Return the facts of a judge that gives these values in all aspects."""
    return {
        "grid": dict.fromkeys(aspects, values),
        "ends": dict.fromkeys(aspects, ends),
    }


# --- rows of results ------------------------------------------------------------------


def rows_of(
    rows: Iterable[Mapping[str, Any]], *statistics: str, **where: Any
) -> list[Row]:
    """Return the rows of these statistics (of all, if none is named) with these values
    in columns.
    """
    chosen = []
    for row in rows:
        is_wanted = not statistics or row["statistic"] in statistics
        if is_wanted and all(row.get(name) == value for name, value in where.items()):
            chosen.append(dict(row))
    return chosen


def row_of(rows: Iterable[Mapping[str, Any]], statistic: str, **where: Any) -> Row:
    """Return the only row of a statistic with these values in columns."""
    (row,) = rows_of(rows, statistic, **where)
    return row
