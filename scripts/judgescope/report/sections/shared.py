"""What sections share: judges' rows, differences of judges, tables of constructed sets."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from judgescope.report.charts import Point, chart_spec, signs, svg
from judgescope.report.elements import (
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
    estimate,
)
from judgescope.report.headline import between
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import label
from judgescope.statistics.registry import STATISTICS

PLANNED = "agreement with the quality planned by the authors, not with people"
AVERAGE = "average"
"""The aspect of means over aspects."""


def per_dataset(
    report: Report, table: str, blocks: Callable[[Report, Dataset, Rows], Iterable[Block]]
) -> list[Block]:
    """Return, under a heading each, the blocks of every dataset that has rows in a table."""
    found: list[Block] = []
    for dataset in report.datasets:
        rows = report.rows(table).where(dataset=dataset.id)
        if len(rows):
            found.append(Heading(dataset.name, f"{table}-{dataset.id}"))
            found += blocks(report, dataset, rows)
    return found


def agreed_with(dataset: Dataset) -> str:
    """Return what agreement means on this dataset."""
    return PLANNED if dataset.planned else "agreement with people's ratings"


def bodies(
    judges: Iterable[Judge], cells: Callable[[Judge], list[Cell] | None], title: str = ""
) -> list[Body]:
    """Return the judges' rows and, apart, the controls'; none for a judge without cells."""
    told = [(judge, cells(judge)) for judge in judges]
    lines = [(judge, _line(judge, found)) for judge, found in told if found is not None]
    real = [line for judge, line in lines if not judge.control]
    controls = [line for judge, line in lines if judge.control]
    return [
        *([Body(real, title)] if real else []),
        *([Body(controls, "" if real else title, style="controls")] if controls else []),
    ]


def estimates(
    judges: Iterable[Judge],
    rows: Callable[[Judge], Sequence[Row | None]],
    title: str = "",
    *,
    counts: bool = False,
) -> list[Body]:
    """Return the judges' rows of estimates, as `bodies` does; none for a judge without any."""

    def cells(judge: Judge) -> list[Cell] | None:
        found = rows(judge)
        return [estimate(row, counts=counts) for row in found] if any(found) else None

    return bodies(judges, cells, title)


def by_aspect(
    report: Report, aspects: Iterable[str], rows: Callable[..., Sequence[Row | None]]
) -> list[Body]:
    """Return the judges' rows of estimates under each aspect, with their counts.

    `rows` is called with a judge and `aspect`.
    """
    return [
        body
        for aspect in aspects
        for own in [partial(rows, aspect=aspect)]
        for body in estimates(report.judges, own, report.aspect(aspect), counts=True)
    ]


def columns_of(names: Iterable[str], group: str = "") -> list[Column]:
    """Return a column for each statistic, with what it means."""
    return [Column(label(name), STATISTICS[name].meaning, group) for name in names]


def section_of(
    report: Report,
    table: str,
    title: str,
    lead: str,
    blocks: Callable[[Report, Dataset, Rows], Iterable[Block]],
) -> Section | None:
    """Return the section of a result table, dataset by dataset; None without rows."""
    found = per_dataset(report, table, blocks)
    return Section(table, title, lead, found) if found else None


def chart(
    title: str,
    summary: str,
    table: Table,
    values: Iterable[tuple[str, str, Row]],
    *,
    line: float,
    axis: str,
    groups: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Figure:
    """Return a figure of (group, series, estimate); without `groups` and `names` of all in them."""
    points = [Point(at, name, row.value or 0.0, row.lo, row.hi) for at, name, row in values]
    groups = groups or list(dict.fromkeys(point.group for point in points))
    series = signs(names or list(dict.fromkeys(point.series for point in points)))
    keys = [Key(one.sign, one.style, one.name) for one in series]
    drawn = svg(chart_spec(points, groups, series, line=line, x=axis))
    return Figure(title, drawn, summary, keys, table)


def leaders(judges: Iterable[Judge], rows: Iterable[Row]) -> list[Row]:
    """Return the rows with the highest value: several where judges tie.

    A control leads only where no other judge has a value; a judge that is given a rating of the
    very text never does.
    """
    own = list(judges)
    controls = {judge.id for judge in own if judge.control}
    hinted = {judge.id for judge in own if judge.hint}
    known = [(row.value, row) for row in rows if row.value is not None and row.judge not in hinted]
    real = [(value, row) for value, row in known if row.judge not in controls] or known
    most = max((value for value, _ in real), default=None)
    return [row for value, row in real if value == most]


def _line(judge: Judge, cells: list[Cell]) -> Line:
    badge = "control" if judge.control else ""
    return Line(judge.id, cells, about=judge.about, badge=badge, href=judge.card)


def labelled(judge: Judge) -> str:
    """Return the judge's name in a figure."""
    return f"{judge.id} (control)" if judge.control else judge.id


def matrix(
    rows: Rows,
    dataset: Dataset,
    judges: Sequence[Judge],
    statistic: str,
    name: str,
    criterion: str = "",
    aspect: str = "",
    level: str = "",
) -> list[Fold]:
    """Return, folded, the differences of all pairs of judges; `name` says of what."""

    def cells(judge: Judge) -> list[Cell]:
        return [
            Cell("", style="none")
            if other is judge
            else estimate(between(rows, dataset, judge, other, statistic, criterion, aspect, level))
            for other in judges
        ]

    if not any(row.judge_b for row in rows.where(statistic=f"difference_{statistic}")):
        return []
    columns = [Column(judge.id) for judge in judges]
    caption = f"{name}: {label(statistic)} of the row's judge less that of the column's."
    note = "Both without the same items. An interval that holds 0 tells no judge apart."
    table = Table(caption, "Judge", columns, bodies(judges, cells), [note])
    return [Fold(f"Differences between judges for {name}", [table])]


def gaps(
    report: Report, dataset: Dataset, rows: Rows, statistic: str, name: str, level: str
) -> list[Fold]:
    """Return, folded, the differences of judges' means over aspects, in each wording."""
    found: list[Fold] = []
    own = rows.where(aspect="average", statistic=f"difference_{statistic}", level=level)
    for criterion in own.names("criterion"):
        told = own.where(criterion=criterion)
        known = {each for row in told if row.value is not None for each in (row.judge, row.judge_b)}
        shown = [judge for judge in report.judges if judge.id in known]
        words = f"{name}, criterion {criterion}" if criterion else name
        if shown:
            found += matrix(told, dataset, shown, statistic, words, criterion, "average", level)
    return found


def built_table(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    places: Sequence[tuple[str, str]],
    statistic: str,
    *,
    level: str,
    about: str,
    group: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return a statistic of every judge on each set of texts, and its means over these.

    `places` are (judged aspect, cell) of the sets, `about` says what texts they are, `group` what
    one set is called.
    """
    means = rows.where(aspect=AVERAGE, statistic=statistic).names("criterion")
    asked = [(judged, cell, "") for judged, cell in places]
    asked += [(AVERAGE, "", criterion) for criterion in means]

    def found(judge: Judge) -> list[Row | None]:
        at = partial(rows.at, dataset.id, judge.id, statistic, level=level)
        return [at(aspect=one, cell=cell, criterion=word) for one, cell, word in asked]

    columns = [
        *(Column(judged, cell, group) for judged, cell in places),
        *(Column("all", one, "Mean") for one in means),
    ]
    told = f"{label(statistic)}: {STATISTICS[statistic].meaning}"
    caption = f"{dataset.name}, {about}; {told}."
    lines = estimates(report.judges, found)
    return Table(caption, "Judge", columns, lines, notes, source="tables/perspectives.csv")
