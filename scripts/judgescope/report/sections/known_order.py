"""Texts in a row, each with one error more than the last: which judges see the order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

from judgescope.report.charts import MOST_SIGNS
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
    figures,
)
from judgescope.report.numbers import listed, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies, built_table, chart, gaps, labelled, leaders

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
APART, COMPARED = "accuracy_apart", "accuracy_comparison_apart"
AXIS = "right, with 95 % interval; the line is chance without ties"


class InARow(NamedTuple):
    """A row of texts, and the aspect on which it is judged."""

    cell: str
    judged: str

    @property
    def perturbation(self) -> str:
        """Return the id of the perturbation."""
        return self.cell.partition(".")[0]


@dataclass(frozen=True)
class Drawn:
    """A judge, and what a figure calls it."""

    judge: Judge
    name: str


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


def scored_and_compared(
    report: Report, dataset: Dataset, rows: Rows, place: InARow
) -> list[Figure]:
    """Return the figure of judges that compare beside those that score; none without both.

    `rows` are those of perspectives.csv on texts in a row. Judges of the models that compare come
    first among those that score; controls are in the figure of all that score.
    """
    votes = _defined(report.rows("pairwise").where(dataset=dataset.id, statistic=COMPARED), place)
    scores = _defined(rows.where(statistic=APART), place)
    real = [judge for judge in report.judges if not judge.control]
    comparing = [judge for judge in real if any(row.judge == judge.id for row in votes)]
    models = {judge.model for judge in comparing}
    scoring = [judge for judge in real if any(row.judge == judge.id for row in scores)]
    scoring.sort(key=lambda judge: judge.model not in models)
    if not comparing or not scoring:
        return []
    name = f"{dataset.name}, {place.cell}"
    caption = (
        f"{name}: right by how many errors apart. n counts pairs of texts; a tie and a missing "
        "reply are wrong. The original is among the texts that are scored, and never compared."
    )
    drawn = {
        "Judges that compare": [Drawn(judge, f"{judge.id} (compares)") for judge in comparing],
        "Judges that score": [Drawn(judge, f"{judge.id} (scores)") for judge in scoring],
    }
    title = f"{name}: {report.aspect(place.judged)}, scored and compared"
    told = "Accuracy of scores, the original among the texts, and of comparisons, without it,"
    return [figure(title, caption, told, drawn, votes + scores)]


def _defined(rows: Rows, place: InARow) -> list[Row]:
    own = rows.where(perturbation=place.perturbation, judged=place.judged)
    return [row for row in own if row.value is not None]


def figure(
    title: str,
    caption: str,
    told: str,
    drawn: Mapping[str, Sequence[Drawn]],
    known: Sequence[Row],
) -> Figure:
    """Return accuracies by the number of errors between two texts, and their table.

    `drawn` is the judges under the headings of the table, `known` has their rows; the first
    MOST_SIGNS judges are in the figure.
    """
    every = [one for each in drawn.values() for one in each]
    names = {one.judge.id: one.name for one in every[:MOST_SIGNS]}
    steps = sorted({row.k for row in known})
    summary = f"{told} by the number of errors between two texts. {_best(drawn, known)}"
    if len(every) > MOST_SIGNS:
        summary += f" Drawn are the first {MOST_SIGNS} of {len(every)} judges; the table has all."
    table = _distance_table(caption, drawn, known, steps)
    values = [(_apart(row.k), names[row.judge], row) for row in known if row.judge in names]
    order = {"groups": [_apart(k) for k in steps], "names": [*names.values()]}
    return chart(title, summary, table, values, line=0.5, axis=AXIS, **order)


def _best(drawn: Mapping[str, Sequence[Drawn]], known: Iterable[Row]) -> str:
    """Return who is best at the least and at the greatest distance, under each heading."""
    told = []
    for heading, judges in drawn.items():
        ids = {one.judge.id for one in judges}
        own = [row for row in known if row.judge in ids]
        near, far = (end(row.k for row in own) for end in (min, max))
        every = [one.judge for one in judges]
        best = {k: leaders(every, (row for row in own if row.k == k)) for k in (near, far)}
        each = [
            f"at {_apart(k)} is {figures(rows[0])} ({listed([row.judge for row in rows])})"
            for k, rows in best.items()
        ]
        of = f" of the {heading[0].lower()}{heading[1:]}" if heading else ""
        told.append(f"The highest{of} {', '.join(each)}.")
    return " ".join(told)


def _distance_table(
    caption: str,
    drawn: Mapping[str, Sequence[Drawn]],
    known: Iterable[Row],
    steps: Sequence[int],
) -> Table:
    at = {(row.judge, row.k): row for row in known}

    def cells(judge: Judge) -> list[Cell]:
        return [estimate(at.get((judge.id, k)), counts=True) for k in steps]

    parts: list[Body] = []
    for heading, judges in drawn.items():
        parts += bodies([one.judge for one in judges], cells, heading)
    columns = [Column(_apart(k)) for k in steps]
    compared = any(row.statistic == COMPARED for row in at.values())
    source = "tables/pairwise.csv and tables/perspectives.csv"
    source = source if compared else "tables/perspectives.csv"
    return Table(caption, "Judge", columns, parts, source=source)


def _apart(k: int) -> str:
    return plural(k, "error")
