"""Judges that differ in nothing but their scale: what a wider range of points changes."""

from collections.abc import Sequence
from typing import NamedTuple

from judgescope.report.charts import Point, chart_spec, signs, svg
from judgescope.report.elements import (
    Body,
    Cell,
    Column,
    Figure,
    Key,
    Line,
    Table,
    estimate,
    figures,
)
from judgescope.report.numbers import count, listed
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import label

AVERAGE = "average"
MEASURES = {
    ("accuracy_adjacent", "local"): ", texts in a row",
    ("accuracy_adjacent", "direct"): ", rated texts",
    ("kappa_linear", "direct"): "",
    ("pearson", "traditional"): "",
}
"""(Statistic, level) -> what is put behind the statistic's label."""
AXIS = "mean over aspects, with 95 % interval; the line is 0"
Measure = tuple[str, str]


class _Range(NamedTuple):
    """A judge of some that differ in their scale, how many points it has, and its numbers."""

    judge: Judge
    points: list[int]
    at: dict[Measure, Row | None]

    @property
    def name(self) -> str:
        """Return what a figure calls it."""
        return f"{_told(self.points)} points, {self.judge.id}"


def scale_ranges(report: Report, dataset: Dataset, rows: Rows) -> list[Figure]:
    """Return a figure, with its table, for all judges of one model and form on several scales."""
    found = []
    for criterion in rows.where(aspect=AVERAGE).names("criterion"):
        for judges in _alike(report, dataset):
            ranges = [_range(report, dataset, rows, judge, criterion) for judge in judges]
            known = [one for one in ranges if any(_defined(row) for row in one.at.values())]
            if len({tuple(one.points) for one in known}) > 1:
                known.sort(key=lambda one: one.points)
                found.append(_figure(dataset, known, criterion))
    return found


def _alike(report: Report, dataset: Dataset) -> list[list[Judge]]:
    """Return the judges of prompts with a scale of points, those together that are alike."""
    found: dict[str, list[Judge]] = {}
    for judge in report.judges:
        card = report.spec.judges[judge.id]
        if dataset.id in card.points:
            found.setdefault(card.alike, []).append(judge)
    return [*found.values()]


def _range(report: Report, dataset: Dataset, rows: Rows, judge: Judge, criterion: str) -> _Range:
    points = report.spec.judges[judge.id].points[dataset.id]
    at = {
        (name, level): rows.at(
            dataset.id, judge.id, name, aspect=AVERAGE, level=level, criterion=criterion
        )
        for name, level in MEASURES
    }
    return _Range(judge, points, at)


def _defined(row: Row | None) -> bool:
    return row is not None and row.value is not None


def _told(points: Sequence[int]) -> str:
    """Return a number of points, or from how few to how many where it differs by aspect."""
    return " to ".join(count(each) for each in dict.fromkeys((points[0], points[-1])))


def _figure(dataset: Dataset, ranges: Sequence[_Range], criterion: str) -> Figure:
    shown = [place for place in MEASURES if any(_defined(one.at[place]) for one in ranges)]
    names = {(name, level): label(name) + MEASURES[name, level] for name, level in shown}
    series = signs([*names.values()])
    points = [
        Point(one.name, names[place], row.value or 0.0, row.lo, row.hi)
        for one in ranges
        for place in shown
        if (row := one.at[place]) is not None and row.value is not None
    ]
    spec = chart_spec(points, [one.name for one in ranges], series, line=0, x=AXIS)
    of = f", criterion {criterion}" if criterion else ""
    title = f"{dataset.name}{of}: range of the scale, {ranges[0].judge.model}"
    summary = (
        "One model in one form on scales of "
        f"{listed(list(dict.fromkeys(_told(one.points) for one in ranges)))} points. "
        + " ".join(_change(names[place], place, ranges) for place in shown)
    )
    keys = [Key(one.sign, one.style, one.name) for one in series]
    return Figure(title, svg(spec), summary, keys, _table(title, names, ranges))


def _change(name: str, place: Measure, ranges: Sequence[_Range]) -> str:
    """Return a statistic on the narrowest and on the widest scale that have it."""
    known = [(one, row) for one in ranges if (row := one.at[place]) is not None and _defined(row)]
    ends = known[:1] + known[1:][-1:]
    told = [f"{figures(row)} on {_told(one.points)}" for one, row in ends]
    return f"{name}: {', '.join(told)}."


def _table(title: str, names: dict[Measure, str], ranges: Sequence[_Range]) -> Table:
    lines = [
        Line(
            one.judge.id,
            [
                Cell(_told(one.points), sort=one.points[-1]),
                *(estimate(one.at[place], counts=True) for place in names),
            ],
            about=one.judge.about,
        )
        for one in ranges
    ]
    columns = [Column("Points"), *(Column(name) for name in names.values())]
    caption = (
        f"{title}: means over aspects; n counts aspects, or rows of texts. How many texts and "
        "pairs stand behind each aspect is told with every aspect."
    )
    return Table(caption, "Judge", columns, [Body(lines)], source="tables/perspectives.csv")
