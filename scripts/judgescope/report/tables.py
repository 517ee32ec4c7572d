"""Tables and figures of estimates: a line per judge, and what places them across and
below.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from types import MappingProxyType
from typing import Final, Unpack

from judgescope.methods import base, measures
from judgescope.report import elements
from judgescope.report.cells import NO_CELL, Cell, count_cell, estimate, figures, heat
from judgescope.report.charts import MOST_SIGNS, Point, chart_spec, signs, svg
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Fold,
    Line,
    Section,
    Table,
    Text,
)
from judgescope.report.report import Dataset, Judge, Maker, Report, in_group
from judgescope.report.rows import Address, Place, Row, Rows
from judgescope.report.words import label
from judgescope.statistics.registry import statistic

PLANNED = "agreement with the quality planned by the authors, not with people"
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
    judges: Sequence[Judge] | None = None
    lines: Sequence[Entry | Line] | None = None


@dataclass(frozen=True)
class TableSpec:
    """A table of estimates: what each column and each line shows.

    A cell is the number at the places of its group, its line and its column together;
    `statistic`, `level` and `judge` hold where none of them says its own. HTML,
    Markdown, LaTeX and the lines of a terminal are written from the `Table` that
    `filled` returns.
    """

    caption: str
    columns: Sequence[Column]
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
    cell: Callable[[Row | None], Cell] | None = None
    """What shows a number, where it is not `estimate`."""

    def filled(self, judges: Sequence[Judge], rows: Rows) -> Table:
        """Return the table of the rows of one dataset."""
        bodies: list[Body] = []
        for group in self.groups:
            if group.lines is None:
                shown = judges if group.judges is None else group.judges
                bodies += judge_bodies(
                    shown, partial(self._of_judge, rows, group), group.title
                )
                continue
            lines = []
            for each in group.lines:
                if isinstance(each, Line):
                    lines.append(each)
                else:
                    cells, _ = self._cells(rows, {**group.where, **each.where})
                    lines.append(Line(each.head, cells, about=each.about))
            bodies.append(Body(lines, group.title))
        return Table(
            *(
                self.caption,
                self.corner,
                self.columns,
                bodies,
                self.notes,
                self.code,
                self.source,
            )
        )

    def _of_judge(self, rows: Rows, group: RowGroup, judge: Judge) -> list[Cell] | None:
        cells, known = self._cells(rows, {**group.where, "judge": judge.id})
        return cells if known or self.every_judge else None

    def _cells(self, rows: Rows, shared: Address) -> tuple[list[Cell], bool]:
        """Return the cells of a line, and whether any has a row."""
        found = []
        for column in self.columns:
            place: Address = {
                "judge": self.judge,
                "level": self.level,
                **shared,
                **column.where,
            }
            name = column.statistic or place.get("statistic", self.statistic)
            found.append(rows.find(place["judge"], name, place))
        show = self.cell or partial(estimate, counts=self.counts)
        return [show(row) for row in found], any(found)


def rater(judge: str) -> str:
    """Return the name of a row's judge on a page: "people" for their agreement with
    each other.
    """
    return "people" if judge == PEOPLE else judge


def rank_cell(row: Row | None) -> Cell:
    """Return a rank with the letters of the judges that a test does not separate."""
    return estimate(row, mark=f" {row.group}".rstrip() if row else "")


def judge_bodies(
    judges: Iterable[Judge],
    cells: Callable[[Judge], list[Cell] | None],
    title: str = "",
) -> list[Body]:
    """Return the judges' rows and, apart, the controls'; none for a judge without
    cells.
    """
    real: list[Line] = []
    controls: list[Line] = []
    for judge in judges:
        shown = cells(judge)
        if shown is not None:
            badge = "control" if judge.control else ""
            line = Line(
                rater(judge.id), shown, about=judge.about, badge=badge, href=judge.card
            )
            (controls if judge.control else real).append(line)
    bodies = [Body(real, title)] if real else []
    return bodies + (
        [Body(controls, "" if real else title, "controls")] if controls else []
    )


def statistic_columns(
    names: Iterable[str], group: str = "", **where: Unpack[Place]
) -> list[Column]:
    """Return a column for each statistic, with what it means."""
    return [
        Column(label(name), statistic(name).meaning, group, statistic=name, where=where)
        for name in names
    ]


def aspect_columns(
    report: Report, aspects: Iterable[str], **where: Unpack[Place]
) -> list[Column]:
    """Return a column for each aspect, which may have a criterion behind a dot."""
    return [
        Column(report.aspect(aspect), where={**where, "aspect": aspect})
        for aspect in aspects
    ]


def aspect_or_mean(report: Report, aspect: str) -> str:
    """Return the name of an aspect, or of the mean over aspects, with the criterion, if
    any.
    """
    plain, *criterion = aspect.split(".", 1)
    if plain != AVERAGE:
        return report.aspect(aspect)
    return " ".join(["mean over aspects", *(f"({one})" for one in criterion)])


def aspect_groups(report: Report, aspects: Iterable[str]) -> list[RowGroup]:
    """Return a group of lines for each aspect."""
    return [RowGroup(report.aspect(aspect), {"aspect": aspect}) for aspect in aspects]


def by_dataset(
    datasets: Iterable[Dataset], prefix: str, make: Callable[[Dataset], Iterable[Block]]
) -> list[Block]:
    """Return the blocks of every dataset that has some, under a heading each."""
    blocks: list[Block] = []
    for dataset in datasets:
        if found := list(make(dataset)):
            blocks += [elements.Heading(dataset.name, f"{prefix}-{dataset.id}"), *found]
    return blocks


def section_of(
    group: str,
    order: int,
    table: str,
    title: str,
    lead: str,
    *,
    empty: str = "",
    always: bool = False,
    finish: Callable[[Report, list[Block]], list[Block]] = lambda _, blocks: blocks,
) -> Callable[[Callable[[Report, Dataset, Rows], Iterable[Block]]], Maker]:
    """Register the section of a result table: a function makes the blocks of each
    dataset.

    Of a dataset without rows there is the text `empty`, or nothing, unless the function
    makes blocks `always`; `finish` adds those of no dataset. The section is None
    without blocks.
    """

    def register(make: Callable[[Report, Dataset, Rows], Iterable[Block]]) -> Maker:
        @wraps(make)
        def section(report: Report) -> Section | None:
            def blocks(dataset: Dataset) -> Iterable[Block]:
                rows = report.rows(table, dataset.id)
                return make(report, dataset, rows) if len(rows) or always else nothing

            nothing = [Text(empty)] if empty and len(report.rows(table)) else []
            found = by_dataset(report.datasets, table, blocks)
            return Section(table, title, lead, finish(report, found)) if found else None

        return in_group(group, order)(section)

    return register


def agreed_with(dataset: Dataset) -> str:
    """Return what agreement means on this dataset."""
    return PLANNED if dataset.planned else "agreement with people's ratings"


def with_criterion(name: str, criterion: str) -> str:
    """Return a name with the criterion, if there is one."""
    return f"{name}, criterion {criterion}" if criterion else name


def chart(
    title: str,
    summary: str,
    table: Table,
    *,
    line: float = 0.0,
    axis: str,
    across: bool = False,
    statistics: Collection[str] = (),
    names: Mapping[str, str] = MappingProxyType({}),
) -> Figure | Table:
    """Return a table's estimates as a figure; the table alone where none is defined.

    Each line is a group, each column a series; `across` is the reverse, as is what
    spares series without a sign of their own: those are not drawn, but in the table.
    The table may have other `statistics` than these, default: all are drawn; `names`
    are lines' names in the figure.
    """
    found, heading = [], ""
    for body in table.bodies:
        heading = body.title or heading
        for each in body.lines:
            for at, row in enumerate(cell.row for cell in each.cells):
                if row and (not statistics or row.statistic in statistics):
                    found.append((each, heading, at, row))
    if not found:
        return table
    heads = Counter(each.head for body in table.bodies for each in body.lines)
    texts = Counter(table.columns[at].text for at in {at for _, _, at, _ in found})
    columns = [
        one.heading if texts[one.text] > 1 else one.text for one in table.columns
    ]
    points = []
    for each, title_of_body, at, row in found:
        more = (title_of_body or each.about) if heads[each.head] > 1 else ""
        badge = f" ({each.badge})" if each.badge else ""
        head = names.get(each.head, f"{each.head}{f', {more}' if more else ''}{badge}")
        place = (columns[at], head) if across else (head, columns[at])
        points.append(Point(*place, row.value or 0.0, row.ci_low, row.ci_high))
    groups, every = (
        list({one.group: 0 for one in points}),
        list({one.series: 0 for one in points}),
    )
    (groups if across else every).sort(key=columns.index)
    if len(every) > MOST_SIGNS >= len(groups):
        points = [replace(one, group=one.series, series=one.group) for one in points]
        groups, every = every, groups
    series = signs(every[:MOST_SIGNS])
    if len(every) > MOST_SIGNS:
        summary += (
            f" The figure shows the first {MOST_SIGNS} of {len(every)}; the "
            "table has all."
        )
        points = [point for point in points if point.series in every[:MOST_SIGNS]]
    keys = [elements.Key(one.sign, one.style, one.name) for one in series]
    drawn = svg(chart_spec(points, groups, series, line=line, x=axis))
    return Figure(title, drawn, summary, keys, table)


def aspect_chart(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    name: str,
    *words: str,
    line: float = 0.0,
    source: str,
    **where: Unpack[Place],
) -> Iterator[Figure | Table]:
    """Yield a statistic of every judge by aspect as a figure; nothing where none is
    defined.

    `words` are a title, a sentence, and what the axis shows.
    """
    title, sentence, axis = f"{dataset.name}{words[0]}", *words[1:]
    judges = tuple(judge.id for judge in report.judges)
    mine = rows.where(statistic=name, judge=judges)
    known = mine.defined
    if not len(known):
        return
    ends = (each(known, key=lambda row: row.value or 0.0) for each in (min, max))
    low, high = (
        f"{figures(row)} ({row.judge}, {report.aspect(row.judged).lower()})"
        for row in ends
    )
    found = {*known.names("judged")}
    aspects = [aspect for aspect in dataset.aspects if aspect in found]
    table = TableSpec(
        f"{title}; {statistic_caption(name)}.",
        aspect_columns(
            report, [*aspects, *sorted(found - {*aspects, AVERAGE})], **where
        ),
        statistic=name,
        source=source,
        counts=True,
    ).filled(report.judges, mine)
    span = f"From {low} to {high}." if low != high else f"It is {low}."
    yield chart(title, f"{sentence} {span}", table, line=line, axis=axis, across=True)


def leaders(judges: Iterable[Judge], rows: Iterable[Row]) -> list[Row]:
    """Return the rows with the highest value: several where judges tie.

    A control leads only where no other judge has a value; a judge that is given a
    rating of the very text never does.
    """
    judges = list(judges)
    controls = {judge.id for judge in judges if judge.control}
    hinted = {judge.id for judge in judges if judge.hint}
    known = [
        (row.value, row)
        for row in rows
        if row.value is not None and row.judge not in hinted
    ]
    real = [(value, row) for value, row in known if row.judge not in controls] or known
    most = max((value for value, _ in real), default=None)
    return [row for value, row in real if value == most]


def labelled(judge: Judge) -> str:
    """Return the judge's name in a figure."""
    return f"{judge.id} (control)" if judge.control else judge.id


def between(
    rows: Rows, judge: Judge, other: Judge, statistic: str, **where: Unpack[Place]
) -> Row | None:
    """Return the row of a judge's value minus another's, whichever way it was
    written.
    """
    name = f"difference_{statistic}"
    straight = rows.find(judge.id, name, where, judge_b=other.id)
    return straight or turned(rows.find(other.id, name, where, judge_b=judge.id))


def turned(row: Row | None) -> Row | None:
    """Return the row of a difference the other way round."""
    if row is None:
        return None
    value, lo, hi = (
        None if end is None else 0.0 - end
        for end in (row.value, row.ci_high, row.ci_low)
    )
    return row._replace(
        judge=row.judge_b, judge_b=row.judge, value=value, ci_low=lo, ci_high=hi
    )


def matrix(
    rows: Rows,
    judges: Sequence[Judge],
    statistic: str,
    name: str,
    **where: Unpack[Place],
) -> list[Fold]:
    """Return, folded, the differences of all pairs of judges; `name` says of what."""
    if not any(rows.where(statistic=f"difference_{statistic}").names("judge_b")):
        return []

    def cells(judge: Judge) -> list[Cell]:
        return [
            NO_CELL
            if other is judge
            else estimate(between(rows, judge, other, statistic, **where))
            for other in judges
        ]

    columns = [Column(judge.id) for judge in judges]
    caption = f"{name}: {label(statistic)} of the row's judge minus the column's."
    table = Table(caption, "Judge", columns, judge_bodies(judges, cells))
    return [Fold(f"Differences between judges for {name}", [table])]


def mean_differences(
    report: Report, rows: Rows, statistics: Iterable[str], name: str, level: str
) -> Iterator[Fold]:
    """Yield, in one fold, the differences of judges' means over aspects, in each
    wording.
    """
    tables: list[Block] = []
    for measure in statistics:
        means = rows.where(
            aspect=AVERAGE, statistic=f"difference_{measure}", level=level
        )
        for criterion in means.names("criterion"):
            part = means.where(criterion=criterion)
            known = {*part.defined.names("judge"), *part.defined.names("judge_b")}
            judges = [judge for judge in report.judges if judge.id in known]
            place: Place = {"criterion": criterion, "aspect": AVERAGE, "level": level}
            about = with_criterion(name, criterion)
            for fold in matrix(part, judges, measure, about, **place) if judges else ():
                tables += fold.blocks
    if tables:
        yield Fold(f"Differences between judges for {name}", tables)


def class_columns(
    counts: Iterable[Row], group: str = "", statistic: str = "class_count"
) -> list[Column]:
    """Return a column for each class that some count has, from the lowest."""
    classes = range(1, max((row.k for row in counts), default=0) + 1)
    return [
        Column(f"class {k}", "", group, statistic=statistic, where={"k": k})
        for k in classes
    ]


def counted(row: Row | None) -> Cell:
    """Return the cell of a count; an empty one without a row."""
    return NO_CELL if row is None else count_cell(round(row.value or 0))


def class_table(
    rows: Rows,
    size: int,
    caption: str,
    corner: str,
    classes: str,
    *,
    names: Sequence[str] = (),
    more: Sequence[str] = (),
    link: Callable[[int, int], str] = lambda _, __: "",
) -> Table:
    """Return the classes of texts (rows) by those of a judge (columns).

    `names` are those of the classes, `more` those of further columns, which hold other
    verdicts; link(row, column), both from 1: where a count leads. Cells are shaded by
    their share of the line; that of the right class is outlined.
    """
    counts = {(row.k, row.k_b): round(row.value or 0) for row in rows}
    lines, width = [], size + len(more)
    for k in range(1, size + 1):
        numbers = [counts.get((k, other), 0) for other in range(1, width + 1)]
        cells = []
        for other, number in enumerate(numbers, 1):
            shade = heat(number / sum(numbers) if number else 0)
            outline = " wanted" if other == k else ""
            cell = count_cell(number)
            href = link(k, other) if number else ""
            cells.append(
                replace(cell, style=f"{cell.style} {shade}{outline}", href=href)
            )
        lines.append(Line(names[k - 1] if names else f"class {k}", cells))
    note = f"Outlined: the judge finds {classes}. Shaded by the share of the row."
    columns = [Column(line.head) for line in lines] + [Column(head) for head in more]
    return Table(caption, corner, columns, [Body(lines)], [note], code=False)


def statistic_caption(name: str) -> str:
    """Return a statistic's label and its meaning."""
    return f"{label(name)}: {statistic(name).meaning}"
