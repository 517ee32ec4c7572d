"""Tables and figures of estimates: a line per judge, and what places them across and
below.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple, Unpack

from judgescope.methods import base, measures
from judgescope.report import elements
from judgescope.report.cells import (
    NO_CELL,
    ReportCell,
    estimate,
    figures,
)
from judgescope.report.charts import MOST_SIGNS, Point, chart_spec, signs, svg
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageFigure,
    PageTable,
    TableColumn,
    TableLine,
)
from judgescope.report.report import Report, ShownDataset, ShownJudge, ids_of
from judgescope.report.rows import (
    Address,
    ReportRow,
    ReportRows,
    RowPlace,
    between,
)
from judgescope.report.words import known_names, label, listed
from judgescope.statistics.registry import statistic

AVERAGE: Final = measures.AVERAGE
"""The aspect of means over aspects."""
PEOPLE: Final = base.HUMAN
"""The judge's name in rows about people's agreement with each other."""


@dataclass(frozen=True)
class Entry:
    """A line that is not a judge's: its heading, and what all its numbers share."""

    head: str
    where: Address = field(default_factory=Address)
    about: str = ""


@dataclass(frozen=True)
class RowGroup:
    """Lines under one title; `where` is what all their numbers share.

    The lines are `lines`, or else a line for each of `judges`, or of the table's
    judges.
    """

    title: str = ""
    where: Address = field(default_factory=Address)
    judges: Sequence[ShownJudge] | None = None
    lines: Sequence[Entry | TableLine] | None = None


@dataclass(frozen=True)
class TableSpec:
    """A table of estimates: what each column and each line shows.

    A cell is the number at the places of its group, its line and its column together;
    `statistic`, `level` and `judge` hold where none of them says its own. HTML,
    Markdown, LaTeX and the lines of a terminal are written from the `Table` that
    `filled` returns.
    """

    caption: str
    columns: Sequence[TableColumn]
    groups: Sequence[RowGroup] = (RowGroup(),)
    statistic: str = ""
    level: str = ""
    judge: str = ""
    notes: Sequence[str] = ()
    source: str = ""
    corner: str = "Judge"
    code: bool = True
    counts: bool = False
    every_judge: bool = False
    """Whether a judge without any number has a line, too."""
    cell: Callable[[ReportRow | None], ReportCell] | None = None
    """What shows a number, where it is not `estimate`."""

    def filled(self, judges: Sequence[ShownJudge], rows: ReportRows) -> PageTable:
        """Return the table of the rows of one dataset."""
        bodies: list[Body] = []
        for group in self.groups:
            if group.lines is None:
                shown = judges if group.judges is None else group.judges
                cells_of = partial(self._of_judge, rows, group)
                bodies += judge_bodies(shown, cells_of, group.title)
            else:
                lines = [self._line(rows, group, each) for each in group.lines]
                bodies.append(Body(lines, group.title))
        return PageTable(
            caption=self.caption,
            corner=self.corner,
            columns=self.columns,
            bodies=bodies,
            notes=self.notes,
            code=self.code,
            source=self.source,
        )

    def _line(
        self, rows: ReportRows, group: RowGroup, line: Entry | TableLine
    ) -> TableLine:
        """A line that is not a judge's; one that is there already stays as it is."""
        if isinstance(line, TableLine):
            return line
        cells, _ = self._cells(rows, {**group.where, **line.where})
        return TableLine(line.head, cells, about=line.about)

    def _of_judge(
        self, rows: ReportRows, group: RowGroup, judge: ShownJudge
    ) -> list[ReportCell] | None:
        cells, known = self._cells(rows, {**group.where, "judge": judge.id})
        if known or self.every_judge:
            return cells
        return None

    def _cells(
        self, rows: ReportRows, shared: Address
    ) -> tuple[list[ReportCell], bool]:
        """Return the cells of a line, and whether any has a row."""
        shown = []
        for column in self.columns:
            address: Address = {
                "judge": self.judge,
                "level": self.level,
                **shared,
                **column.where,
            }
            name = column.statistic or address.get("statistic", self.statistic)
            shown.append(rows.find(address["judge"], name, address))
        cell = self.cell or partial(estimate, counts=self.counts)
        return [cell(row) for row in shown], any(shown)


def rater(judge: str) -> str:
    """Return the name of a row's judge on a page: "people" for their agreement with
    each other.
    """
    return "people" if judge == PEOPLE else judge


def rank_cell(row: ReportRow | None) -> ReportCell:
    """Return a rank with the letters of the judges that a test does not separate."""
    return estimate(row, mark=f" {row.group}".rstrip() if row else "")


def judge_bodies(
    judges: Iterable[ShownJudge],
    cells: Callable[[ShownJudge], list[ReportCell] | None],
    title: str = "",
) -> list[Body]:
    """Return the judges' rows and, apart, the controls'; none for a judge without
    cells.
    """
    real: list[TableLine] = []
    controls: list[TableLine] = []
    for judge in judges:
        shown = cells(judge)
        if shown is None:
            continue
        badge = "planted" if judge.planted else ""
        if judge.control:
            badge = "control"
        line = TableLine(
            rater(judge.id), shown, about=judge.about, badge=badge, href=judge.card
        )
        if judge.control:
            controls.append(line)
        else:
            real.append(line)
    bodies = []
    if real:
        bodies.append(Body(real, title))
    if controls:
        bodies.append(Body(controls, "" if real else title, "controls"))
    return bodies


def statistic_columns(
    names: Iterable[str], group: str = "", **where: Unpack[RowPlace]
) -> list[TableColumn]:
    """Return a column for each statistic, with what it means."""
    return [
        TableColumn(
            label(name), statistic(name).meaning, group, statistic=name, where=where
        )
        for name in names
    ]


def aspect_columns(
    report: Report, aspects: Iterable[str], **where: Unpack[RowPlace]
) -> list[TableColumn]:
    """Return a column for each aspect, which may have a criterion behind a dot."""
    return [
        TableColumn(report.aspect(aspect), where={**where, "aspect": aspect})
        for aspect in aspects
    ]


def aspect_or_mean(report: Report, aspect: str) -> str:
    """Return the name of an aspect, or of the mean over aspects, with the criterion, if
    any.
    """
    plain, _, criterion = aspect.partition(".")
    if plain != AVERAGE:
        return report.aspect(aspect)
    if criterion:
        return f"mean over aspects ({criterion})"
    return "mean over aspects"


def aspect_groups(report: Report, aspects: Iterable[str]) -> list[RowGroup]:
    """Return a group of lines for each aspect."""
    return [RowGroup(report.aspect(aspect), {"aspect": aspect}) for aspect in aspects]


def by_dataset(
    datasets: Iterable[ShownDataset],
    prefix: str,
    make: Callable[[ShownDataset], Iterable[PageBlock]],
) -> list[PageBlock]:
    """Return the blocks of every dataset that has some, under a heading each."""
    blocks: list[PageBlock] = []
    for dataset in datasets:
        of_dataset = list(make(dataset))
        if of_dataset:
            blocks.append(elements.Heading(dataset.name, f"{prefix}-{dataset.id}"))
            blocks += of_dataset
    return blocks


def agreed_with(dataset: ShownDataset) -> str:
    """Return what agreement means on this dataset."""
    return dataset.rated_by.agreement


def with_criterion(name: str, criterion: str) -> str:
    """Return a name with the criterion, if there is one."""
    if criterion:
        return f"{name}, criterion {criterion}"
    return name


def chart(
    title: str,
    summary: str,
    table: PageTable,
    *,
    line: float = 0.0,
    axis: str,
    across: bool = False,
    statistics: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> PageFigure | PageTable:
    """Return a table's estimates as a figure; the table alone where none is defined.

    Each line is a group, each column a series; `across` is the reverse, as is what
    spares series without a sign of their own: those are not drawn, but in the table.
    The table may have other `statistics` than these, default: all are drawn; `names`
    are lines' names in the figure.
    """
    estimates = _estimates(table, statistics)
    if not estimates:
        return table
    columns = _series_names(table, estimates)
    heads = _line_names(table, names)
    points = []
    for each in estimates:
        head = heads(each.line, each.title)
        column = columns[each.column]
        row = each.row
        point = Point(head, column, row.value or 0.0, row.ci_low, row.ci_high)
        if across:
            point = replace(point, group=column, series=head)
        points.append(point)
    groups = list(dict.fromkeys(point.group for point in points))
    every = list(dict.fromkeys(point.series for point in points))
    (groups if across else every).sort(key=columns.index)
    if len(every) > MOST_SIGNS >= len(groups):
        points = [
            replace(point, group=point.series, series=point.group) for point in points
        ]
        groups, every = every, groups
    drawn_series = every[:MOST_SIGNS]
    if len(every) > MOST_SIGNS:
        summary += (
            f" The figure shows the first {MOST_SIGNS} of {len(every)}; the "
            "table has all."
        )
        points = [point for point in points if point.series in drawn_series]
    series = signs(drawn_series)
    keys = [elements.LegendKey(each.sign, each.style, each.name) for each in series]
    drawn = svg(chart_spec(points, groups, series, line=line, x=axis))
    return PageFigure(title, drawn, summary, keys, table)


class _ShownEstimate(NamedTuple):
    """An estimate in a table: its line, the title above it, and its column's place."""

    line: TableLine
    title: str
    column: int
    row: ReportRow


def _estimates(table: PageTable, statistics: Collection[str]) -> list[_ShownEstimate]:
    """The estimates of a table, of all statistics or of some, in reading order."""
    estimates = []
    title = ""
    for body in table.bodies:
        title = body.title or title
        for line in body.lines:
            for column, cell in enumerate(line.cells):
                row = cell.row
                if row and (not statistics or row.statistic in statistics):
                    estimates.append(_ShownEstimate(line, title, column, row))
    return estimates


def _series_names(table: PageTable, estimates: Iterable[_ShownEstimate]) -> list[str]:
    """A name for each column: with the heading above it where two share a text."""
    shown = {estimate.column for estimate in estimates}
    texts = Counter(table.columns[column].text for column in shown)
    return [
        column.heading if texts[column.text] > 1 else column.text
        for column in table.columns
    ]


def _line_names(
    table: PageTable, names: Mapping[str, str]
) -> Callable[[TableLine, str], str]:
    """What names a line by itself and the title above it, so that no two are alike.

    `names` are names of some lines in the figure, by their heading.
    """
    heads = Counter[str]()
    for body in table.bodies:
        heads.update(line.head for line in body.lines)

    def name(line: TableLine, title: str) -> str:
        more = ""
        if heads[line.head] > 1:
            more = title or line.about
        badge = f" ({line.badge})" if line.badge else ""
        full = f"{line.head}, {more}{badge}" if more else f"{line.head}{badge}"
        return names.get(line.head, full)

    return name


@dataclass(frozen=True)
class AspectFigure:
    """A figure of one statistic of every judge by aspect, and its texts."""

    statistic: str
    title: str
    """What follows the dataset's name."""
    sentence: str
    axis: str
    level: str = ""
    line: float = 0.0
    """Where a line across the figure marks no effect or chance."""


def aspect_chart(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    figure: AspectFigure,
    *,
    source: str,
    **where: Unpack[RowPlace],
) -> Iterator[PageFigure | PageTable]:
    """Yield a statistic of every judge by aspect as a figure; nothing where none is
    defined.
    """
    title = f"{dataset.name}{figure.title}"
    judges = ids_of(report.judges)
    mine = rows.where(statistic=figure.statistic, judge=judges)
    known = mine.defined
    if not len(known):
        return
    judged = known.names("judged")
    aspects = known_names(dataset.aspects, judged)
    aspects += sorted({*judged} - {*aspects, AVERAGE})
    table = TableSpec(
        f"{title}; {statistic_caption(figure.statistic)}.",
        aspect_columns(report, aspects, **where),
        statistic=figure.statistic,
        level=figure.level,
        source=source,
        counts=True,
    ).filled(report.judges, mine)
    summary = f"{figure.sentence} {_span(report, known)}"
    line = figure.line
    yield chart(title, summary, table, line=line, axis=figure.axis, across=True)


def _span(report: Report, rows: ReportRows) -> str:
    """The sentence on the lowest and the highest of some defined numbers."""

    def value(row: ReportRow) -> float:
        return row.value or 0.0

    def named(row: ReportRow) -> str:
        return f"{figures(row)} ({row.judge}, {report.aspect(row.judged).lower()})"

    low = named(min(rows, key=value))
    high = named(max(rows, key=value))
    if low != high:
        return f"From {low} to {high}."
    return f"It is {low}."


def aspect_table(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    names: Sequence[str],
    caption: str,
    table: str,
    *,
    level: str = "pooled",
    cell: str = "",
) -> PageTable:
    """The table of those of some statistics that have rows, by aspect and judge.

    `table` is the result table that the rows are of.
    """
    present = rows.names("statistic")
    return TableSpec(
        caption,
        statistic_columns(known_names(names, present), cell=cell),
        aspect_groups(report, dataset.aspects),
        level=level,
        source=f"tables/{table}.csv",
        corner="Aspect and judge",
        counts=True,
    ).filled(report.judges, rows)


def judges_in_words(rows: Iterable[ReportRow]) -> str:
    """Return the judges of rows as a part of a sentence."""
    return listed([row.judge for row in rows])


def leaders(judges: Iterable[ShownJudge], rows: Iterable[ReportRow]) -> list[ReportRow]:
    """Return the rows with the highest value: several where judges tie.

    A control leads only where no other judge has a value; a judge that is given a
    rating of the very text never does.
    """
    by_id = {judge.id: judge for judge in judges}
    of_controls: list[ReportRow] = []
    of_real: list[ReportRow] = []
    for row in rows:
        judge = by_id.get(row.judge)
        if row.value is None or (judge and judge.hint):
            continue
        if judge and judge.control:
            of_controls.append(row)
        else:
            of_real.append(row)
    candidates = of_real or of_controls
    if not candidates:
        return []
    highest = max(row.value or 0.0 for row in candidates)
    return [row for row in candidates if row.value == highest]


def labelled(judge: ShownJudge) -> str:
    """Return the judge's name in a figure."""
    if judge.control:
        return f"{judge.id} (control)"
    return judge.id


def matrix(
    rows: ReportRows,
    judges: Sequence[ShownJudge],
    statistic: str,
    name: str,
    **where: Unpack[RowPlace],
) -> list[Fold]:
    """Return, folded, the differences of all pairs of judges; `name` says of what."""
    if not any(rows.where(statistic=f"difference_{statistic}").names("judge_b")):
        return []

    def cells(judge: ShownJudge) -> list[ReportCell]:
        of_judge = []
        for other in judges:
            if other is judge:
                of_judge.append(NO_CELL)
            else:
                gap = between(rows, judge.id, other.id, statistic, **where)
                of_judge.append(estimate(gap))
        return of_judge

    columns = elements.columns_of(ids_of(judges))
    caption = f"{name}: {label(statistic)} of the row's judge minus the column's."
    table = PageTable(caption, "Judge", columns, judge_bodies(judges, cells))
    return [Fold(f"Differences between judges for {name}", [table])]


def mean_differences(
    report: Report, rows: ReportRows, statistics: Iterable[str], name: str, level: str
) -> Iterator[Fold]:
    """Yield, in one fold, the differences of judges' means over aspects, in each
    wording.
    """
    tables: list[PageBlock] = []
    for measure in statistics:
        means = rows.where(
            aspect=AVERAGE, statistic=f"difference_{measure}", level=level
        )
        for criterion in means.names("criterion"):
            part = means.where(criterion=criterion)
            compared = [*part.defined.names("judge"), *part.defined.names("judge_b")]
            judges = report.judges_named(compared)
            if not judges:
                continue
            address: RowPlace = {
                "criterion": criterion,
                "aspect": AVERAGE,
                "level": level,
            }
            about = with_criterion(name, criterion)
            for fold in matrix(part, judges, measure, about, **address):
                tables += fold.blocks
    if tables:
        yield Fold(f"Differences between judges for {name}", tables)


def statistic_caption(name: str) -> str:
    """Return a statistic's label and its meaning."""
    return f"{label(name)}: {statistic(name).meaning}"
