"""Agreement with the ratings: every statistic at every level."""

from functools import partial

from metajudge.report.charts import Point, chart_spec, signs, svg
from metajudge.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Key,
    Line,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Rows
from metajudge.report.sections.shared import agreed_with, bodies, labelled
from metajudge.report.words import LEVELS, STATISTICS, label

PEOPLE = "human"
"""The judge's name in rows about what people reach among themselves."""
FIGURE = ("spearman", "by_source")


def section(report: Report) -> Section | None:
    """Return per dataset a figure and, folded, a table per level."""
    if not len(report.rows("agreement")):
        return None
    blocks: list[Block] = []
    for dataset in report.datasets:
        rows = report.rows("agreement").where(dataset=dataset.id)
        blocks.append(Heading(dataset.name, f"agreement-{dataset.id}"))
        if len(rows):
            blocks += _dataset(report, dataset, rows)
        else:
            blocks.append(Text("No target of this dataset has ratings."))
    lead = (
        "A correlation has a level: over all targets pooled it also rewards a judge that knows "
        "which sources are easy; within one source it asks only which text is better."
    )
    return Section("agreement", "Agreement", lead, blocks)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    levels = [
        level for level in LEVELS if any(row.judge != PEOPLE for row in rows.where(level=level))
    ]
    tables = [_table(report, dataset, rows.where(level=level), level) for level in levels]
    figure = _figure(report, dataset, rows)
    people: list[Block] = [] if dataset.planned else [_people(report, dataset, rows)]
    fold = Fold(f"All statistics and levels for {dataset.name}", tables)
    return [*([figure] if figure else []), *people, fold]


def _table(report: Report, dataset: Dataset, rows: Rows, level: str) -> Table:
    present = set(rows.where(judge=tuple(judge.id for judge in report.judges)).names("statistic"))
    told = [name for name in STATISTICS if name in present]

    def cells(judge: Judge, aspect: str) -> list[Cell] | None:
        place = [rows.at(dataset.id, judge.id, s, aspect=aspect, level=level) for s in told]
        return [estimate(row, counts=True) for row in place] if any(place) else None

    parts: list[Body] = []
    for aspect in dataset.aspects:
        name = report.aspect(aspect)
        parts += bodies(report.judges, partial(cells, aspect=aspect), name)
    title, meaning = LEVELS[level]
    columns = [Column(label(name), note=STATISTICS[name].meaning) for name in told]
    caption = f"{dataset.name}, {title}: {agreed_with(dataset)}. {meaning}"
    return Table(caption, "Aspect and judge", columns, parts, source="tables/agreement.csv")


def _people(report: Report, dataset: Dataset, rows: Rows) -> Table:
    """Return what people reach among themselves: no judge can be held to more."""
    place = (dataset.id, PEOPLE, "alpha_ordinal")
    told = [
        estimate(rows.at(*place, aspect=a, level="pooled"), counts=True) for a in dataset.aspects
    ]
    return Table(
        f"{dataset.name}: agreement of people among themselves, {label('alpha_ordinal')}.",
        "Raters",
        [Column(report.aspect(aspect)) for aspect in dataset.aspects],
        [Body([Line("people", told)])],
        code=False,
    )


def _figure(report: Report, dataset: Dataset, rows: Rows) -> Figure | None:
    statistic, level = FIGURE
    chosen = rows.where(statistic=statistic, level=level)
    known = [row for row in chosen if row.value is not None]
    names = {judge.id: labelled(judge) for judge in report.judges}
    shown = [judge for judge in report.judges if any(row.judge == judge.id for row in known)]
    if not shown:
        return None
    series = signs([report.aspect(aspect) for aspect in dataset.aspects])
    points = [
        Point(names[r.judge], report.aspect(r.aspect), r.value, r.lo, r.hi)
        for r in known
        if r.value is not None
    ]
    axis = f"{label(statistic)}, {LEVELS[level][0]}, with 95 % interval"
    spec = chart_spec(points, [names[judge.id] for judge in shown], series, line=0, x=axis)
    best = max(known, key=lambda row: row.value or 0)
    summary = (
        f"{label(statistic)} of {len(shown)} judges and controls on {len(series)} aspects. The "
        f"highest is {names[best.judge]} on {report.aspect(best.aspect)}: {figures(best)}."
    )
    return Figure(
        f"{dataset.name}: which of one source's texts is better",
        svg(spec),
        summary,
        [Key(one.sign, one.style, one.name) for one in series],
        _numbers(report, dataset, chosen),
    )


def _numbers(report: Report, dataset: Dataset, rows: Rows) -> Table:
    statistic, level = FIGURE

    def cells(judge: Judge) -> list[Cell]:
        place = (dataset.id, judge.id, statistic)
        return [estimate(rows.at(*place, aspect=a, level=level)) for a in dataset.aspects]

    return Table(
        f"{dataset.name}: {label(statistic)}, {LEVELS[level][0]}; {agreed_with(dataset)}.",
        "Judge",
        [Column(report.aspect(aspect)) for aspect in dataset.aspects],
        bodies(report.judges, cells),
    )
