"""Every number of a judge: all rows of all tables that are about it, with aspects side by side."""

from operator import attrgetter
from typing import NamedTuple

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    interval,
)
from judgescope.report.numbers import DASH, count, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections.known_order import AVERAGE
from judgescope.report.words import label, spoken, written

OVERALL = ""
"""The aspect of numbers that are of no single one."""


class Where(NamedTuple):
    """What tells a number from those of the same statistic, but for the aspect."""

    level: str
    cell: str
    criterion: str
    judge: str
    judge_b: str
    aspect_b: str
    criterion_b: str
    k: int
    k_b: int
    form: str
    systems: str

    @classmethod
    def of(cls, row: Row) -> "Where":
        """Return the place of a row."""
        return cls(*_place(row))

    def told(self, judge: Judge) -> str:
        """Return the place in words."""
        other = f"against {self.judge_b}" if self.judge_b else ""
        if self.judge != judge.id:
            other = f"of {self.judge}, against this one"
        parts = (
            *(spoken(self.level), self.cell, self.criterion, other),
            f"beside {self.aspect_b}" if self.aspect_b else "",
            self.criterion_b,
            f"k = {self.k}" if self.k or self.k_b else "",
            f"to {self.k_b}" if self.k_b else "",
            self.form,
            f"texts of {self.systems}" if self.systems else "",
        )
        return " · ".join(part for part in parts if part) or "overall"


_place = attrgetter(*Where._fields)


def section(report: Report, judge: Judge) -> Section | None:
    """Return all numbers of a judge, folded, table by table within each dataset."""
    index = report.once("rows by judge", lambda: _by_judge(report))
    blocks: list[Block] = []
    for dataset in report.datasets:
        folds = [
            _fold(report, dataset, judge, name, rows)
            for name in report.tables
            if (rows := index.get((name, dataset.id, judge.id)))
        ]
        if folds:
            blocks += [Heading(dataset.name, f"numbers-{dataset.id}"), *folds]
    lead = (
        "All that the result tables say of this judge: value, 95 % interval, n, what is missing, "
        "and what has to be known of it. A dash has its reason below. Where a number stands with "
        "and without the texts that are references, it is the one without."
    )
    return Section("numbers", "All its numbers", lead, blocks) if blocks else None


def _by_judge(report: Report) -> dict[tuple[str, str, str], list[Row]]:
    """Return (table, dataset, judge) -> the rows about the judge, also as the one compared with."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for name, table in report.tables.items():
        for row in table:
            for judge in {row.judge, row.judge_b}:
                found.setdefault((name, row.dataset, judge), []).append(row)
    return found


def _fold(report: Report, dataset: Dataset, judge: Judge, name: str, rows: list[Row]) -> Fold:
    found = {row.aspect for row in rows}
    plain = list(dict.fromkeys(aspect.partition(".")[0] for aspect in dataset.aspects))
    order = [*plain, AVERAGE, OVERALL]
    order += sorted(found - {*order})
    aspects = [aspect for aspect in order if aspect in found]
    statistics: dict[str, dict[Where, dict[str, Row]]] = {}
    for row in rows:
        statistics.setdefault(row.statistic, {}).setdefault(Where.of(row), {})[row.aspect] = row
    bodies = []
    for statistic, places in statistics.items():
        lines = [
            Line(place.told(judge), [number(by_aspect.get(aspect)) for aspect in aspects])
            for place, by_aspect in places.items()
        ]
        bodies.append(Body(lines, label(statistic)))
    columns = [Column(_aspect(report, aspect)) for aspect in aspects]
    table = Table(
        f"{dataset.name}: {spoken(name)}.",
        "Statistic and place",
        columns,
        bodies,
        code=False,
        source=f"tables/{name}.csv",
    )
    return Fold(f"{spoken(name).capitalize()}: {plural(len(rows), 'number')}", [table])


def _aspect(report: Report, aspect: str) -> str:
    names = {OVERALL: "Over all", AVERAGE: "Mean over aspects"}
    return names.get(aspect) or report.aspect(aspect)


def number(row: Row | None) -> Cell:
    """Return a number with all that belongs to it; an empty cell where there is none."""
    if row is None:
        return Cell("", style="none")
    counts = [f"n = {count(row.n)}"] if row.n or row.value is None else []
    counts += [f"{count(row.n_missing)} missing"] if row.n_missing else []
    counts += [f"{count(row.n_tied)} tied"] if row.n_tied else []
    notes = tuple(part for part in (", ".join(counts), spoken(row.note)) if part)
    if row.value is None:
        return Cell(DASH, notes=notes, style="undefined")
    return Cell(
        written(row.statistic, row.value),
        interval=interval(row),
        notes=notes,
        sort=row.value,
        style="number told",
        row=row,
    )
