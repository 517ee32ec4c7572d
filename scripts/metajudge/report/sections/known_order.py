"""Texts in a row, each with one error more than the last: which judges see the order."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from metajudge.report.elements import Block, Cell, Column, Fold, Table, estimate
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Rows
from metajudge.report.sections.shared import bodies
from metajudge.report.words import label
from metajudge.statistics.registry import STATISTICS

LOCAL, AVERAGE = "local", "average"
STRICT = "accuracy_adjacent"
BESIDE = ("accuracy_adjacent_half", "accuracy_adjacent_complete", "tie_rate")
APART = "accuracy_apart"
NOTES = (
    "Each text of a row has one error more than the one before, so no person has to rate it. A "
    "judge is right where it scores the better of two neighbours higher; a tie is wrong here, half "
    "right in the tables below.",
)


class _InARow(NamedTuple):
    """A row of texts, and the aspect on which it is judged."""

    cell: str
    judged: str


def in_a_row(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return the accuracies on texts in a row, what ties make of them, and those further apart."""
    own = rows.where(level=LOCAL)
    found = [
        _InARow(row.cell, row.judged) for row in own.where(statistic=STRICT) if row.perturbation
    ]
    places = list(dict.fromkeys(found))
    if not places:
        return []
    beside = [_table(report, dataset, own, places, name) for name in BESIDE]
    return [
        _table(report, dataset, own, places, STRICT, NOTES),
        Fold(f"{dataset.name}: texts in a row, ties and missing scores", beside),
        Fold(
            f"{dataset.name}: texts in a row, further apart", _further(report, dataset, own, places)
        ),
    ]


def _table(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    places: Sequence[_InARow],
    statistic: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return one statistic of every judge on each row of texts, and its mean over these."""
    means = rows.where(aspect=AVERAGE, statistic=statistic).names("criterion")

    asked = [(one.judged, one.cell, "") for one in places]
    asked += [(AVERAGE, "", criterion) for criterion in means]

    def cells(judge: Judge) -> list[Cell] | None:
        at = partial(rows.at, dataset.id, judge.id, statistic, level=LOCAL)
        found = [at(aspect=one, cell=cell, criterion=word) for one, cell, word in asked]
        return [estimate(row) for row in found] if any(found) else None

    columns = [
        *(Column(one.judged, one.cell, "Row of texts") for one in places),
        *(Column("all", one, "Mean") for one in means),
    ]
    told = f"{label(statistic).lower()}: {STATISTICS[statistic].meaning}"
    caption = f"{dataset.name}, texts in a row; {told}."
    lines = bodies(report.judges, cells)
    return Table(caption, "Judge", columns, lines, notes, source="tables/perspectives.csv")


def _further(
    report: Report, dataset: Dataset, rows: Rows, places: Sequence[_InARow]
) -> list[Table]:
    """Return for each row of texts the accuracy on texts that are k errors apart."""
    tables = []
    for one in places:
        own = rows.where(statistic=APART, perturbation=one.cell.partition(".")[0])
        steps = sorted({row.k for row in own})

        def cells(judge: Judge, one: _InARow, steps: Sequence[int]) -> list[Cell] | None:
            at = partial(rows.at, dataset.id, judge.id, APART, level=LOCAL, cell=one.cell)
            found = [at(aspect=one.judged, k=k) for k in steps]
            return [estimate(row) for row in found] if any(found) else None

        caption = (
            f"{dataset.name}, {one.cell}: ordered right by how many errors apart, {one.judged}."
        )
        columns = [Column(str(k)) for k in steps]
        lines = bodies(report.judges, partial(cells, one=one, steps=steps))
        tables.append(Table(caption, "Judge", columns, lines, source="tables/perspectives.csv"))
    return tables
