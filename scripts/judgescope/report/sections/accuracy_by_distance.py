"""Texts in a row by how many errors they are apart: judges that score, and judges that compare."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judgescope.report.charts import MOST_SIGNS, Point, chart_spec, signs, svg
from judgescope.report.elements import Body, Cell, Column, Figure, Key, Table, estimate, figures
from judgescope.report.numbers import listed, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies, leaders

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


def scored_and_compared(
    report: Report, dataset: Dataset, rows: Rows, place: InARow
) -> list[Figure]:
    """Return the figure of judges that compare beside those that score; none without both.

    `rows` are those of perspectives.csv on texts in a row. Judges of the models that compare come
    first among those that score; controls are in the figure of all that score.
    """
    votes = _of(report.rows("pairwise").where(dataset=dataset.id, statistic=COMPARED), place)
    scores = _of(rows.where(statistic=APART), place)
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


def _of(rows: Rows, place: InARow) -> list[Row]:
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
    series = signs([*names.values()])
    steps = sorted({row.k for row in known})
    points = [
        Point(_apart(row.k), names[row.judge], row.value or 0.0, row.lo, row.hi)
        for row in known
        if row.judge in names
    ]
    spec = chart_spec(points, [_apart(k) for k in steps], series, line=0.5, x=AXIS)
    summary = f"{told} by the number of errors between two texts. {_best(drawn, known)}"
    if len(every) > MOST_SIGNS:
        summary += f" Drawn are the first {MOST_SIGNS} of {len(every)} judges; the table has all."
    keys = [Key(one.sign, one.style, one.name) for one in series]
    return Figure(title, svg(spec), summary, keys, _numbers(caption, drawn, known, steps))


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


def _numbers(
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
