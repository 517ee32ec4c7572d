"""Texts in a row, each with one error more than the last: which judges see the order."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Line,
    Table,
    estimate,
)
from judgescope.report.report import Dataset, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.accuracy_by_distance import (
    APART,
    Drawn,
    InARow,
    figure,
    scored_and_compared,
)
from judgescope.report.sections.constructed_sets import built_table
from judgescope.report.sections.differences import gaps
from judgescope.report.sections.shared import labelled

LOCAL, AVERAGE = "local", "average"
STRICT = "accuracy_adjacent"
BESIDE = ("accuracy_adjacent_half", "accuracy_adjacent_complete", "tie_rate")
PLACES = "accuracy_places"
SHADES = (0.5, 0.7, 0.85, 0.95)
NOTES = (
    "Each text of a row has one error more than the one before, so no person has to rate it. A "
    "judge is right where it scores the better of two neighbours higher; a tie is wrong here, half "
    "right in the tables below.",
)


def in_a_row(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return the accuracies on texts in a row, what ties make of them, and those further apart."""
    own = rows.where(level=LOCAL)
    found = [
        InARow(row.cell, row.judged) for row in own.where(statistic=STRICT) if row.perturbation
    ]
    places = list(dict.fromkeys(found))
    if not places:
        return []
    sets = [(one.judged, one.cell) for one in places]
    table = partial(
        built_table,
        *(report, dataset, own, sets),
        level=LOCAL,
        about="texts in a row",
        group="Row of texts",
    )
    beside = [table(statistic) for statistic in BESIDE]
    name = f"{dataset.name}: texts in a row"
    return [
        table(STRICT, notes=NOTES),
        *(one for place in places for one in scored_and_compared(report, dataset, own, place)),
        *gaps(report, dataset, own, STRICT, f"{dataset.name}, texts in a row", LOCAL),
        Fold(f"{name}, ties and missing scores", beside),
        Fold(f"{name}, further apart", _further(report, dataset, own, places)),
        Fold(f"{name}, every two places", _grids(report, dataset, own, places)),
    ]


def _further(
    report: Report, dataset: Dataset, rows: Rows, places: Sequence[InARow]
) -> list[Figure]:
    """Return for each row of texts the accuracy on texts that are k errors apart."""
    found = []
    for one in places:
        own = rows.where(statistic=APART, perturbation=one.perturbation)
        shown = [judge for judge in report.judges if len(own.where(judge=judge.id))]
        known = [
            row
            for judge in shown
            for row in own.where(judge=judge.id, judged=one.judged)
            if row.value is not None
        ]
        if known:
            title = f"{dataset.name}, {one.cell}: {report.aspect(one.judged)}, further apart"
            caption = f"{dataset.name}, {one.cell}: ordered right by how many errors apart."
            drawn = [Drawn(judge, labelled(judge)) for judge in shown]
            found.append(figure(title, caption, "Accuracy", {"": drawn}, known))
    return found


def _grids(report: Report, dataset: Dataset, rows: Rows, places: Sequence[InARow]) -> list[Table]:
    """Return for each judge and row of texts the accuracy on every two places."""
    tables = []
    for judge, one in product(report.judges, places):
        own = rows.where(statistic=PLACES, judge=judge.id, perturbation=one.perturbation)
        at = {(row.k, row.k_b): row for row in own.where(judged=one.judged)}
        if at and not judge.control:
            last = max(low for _, low in at)
            caption = (
                f"{dataset.name}, {one.cell}: {judge.id} on {report.aspect(one.judged)}, the text "
                "with so many errors (rows) scored above the one with so many (columns)."
            )
            lines = [
                Line(str(high), [_shaded(at.get((high, low))) for low in range(1, last + 1)])
                for high in range(last)
            ]
            columns = [Column(str(low)) for low in range(1, last + 1)]
            note = "Shaded from 50 % on, in steps at 70, 85 and 95 %. 0 errors is the original."
            tables.append(Table(caption, "Errors", columns, [Body(lines)], [note], code=False))
    return tables


def _shaded(row: Row | None) -> Cell:
    if row is None or row.value is None:
        return Cell("")
    shade = f"heat-{sum(row.value >= step for step in SHADES)}"
    plain = estimate(row)
    return replace(plain, interval="", notes=(), style=f"{plain.style} {shade}")
