"""Agreement with the ratings: every statistic at every level."""

from collections.abc import Sequence
from functools import partial

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from judgescope.report.numbers import listed
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import (
    agreed_with,
    bodies,
    by_aspect,
    chart,
    columns_of,
    labelled,
    leaders,
)
from judgescope.report.words import LEVELS, SWAYS, label
from judgescope.statistics.registry import STATISTICS

PEOPLE = "human"
"""The judge's name in rows about what people reach among themselves."""
FIGURE = ("spearman", "by_source")
CEILINGS = (
    ("alpha_ordinal", "pooled"),
    ("spearman", "pooled"),
    ("spearman", "by_source"),
    ("kendall_b", "by_system"),
    ("kappa_linear", "pooled"),
)
"""What is shown of people among themselves; agreement.csv has all."""

LETTERS = (
    "Judges that share a letter are not told apart by a paired permutation test (Holm over all "
    "pairs of the column, p ≤ 0.05)."
)


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
    tables = [
        _table(report, dataset, rows.where(level=level), level, sways=sways)
        for level in levels
        for sways in (False, True)
    ]
    figure = _figure(report, dataset, rows)
    people: list[Block] = [] if dataset.planned else [_people(report, dataset, rows)]
    fold = Fold(f"All statistics and levels for {dataset.name}", [t for t in tables if t])
    ranks: list[Block] = [*_ranks(report, dataset), *_every_rank(report, dataset)]
    return [*([figure] if figure else []), *people, *ranks, fold]


def _table(
    report: Report, dataset: Dataset, rows: Rows, level: str, *, sways: bool = False
) -> Table | None:
    present = set(rows.where(judge=tuple(judge.id for judge in report.judges)).names("statistic"))
    told = [name for name in STATISTICS if name in present and (name in SWAYS) == sways]
    if not told:
        return None

    def found(judge: Judge, aspect: str) -> list[Row | None]:
        return [rows.at(dataset.id, judge.id, s, aspect=aspect, level=level) for s in told]

    title, meaning = LEVELS[level]
    parts, columns = by_aspect(report, dataset.aspects, found), columns_of(told)
    said = "what sways a judge beside quality" if sways else agreed_with(dataset)
    caption = f"{dataset.name}, {title}: {said}. {meaning}"
    return Table(caption, "Aspect and judge", columns, parts, source="tables/agreement.csv")


def _people(report: Report, dataset: Dataset, rows: Rows) -> Table:
    """Return what people reach among themselves.

    It is no ceiling: a judge is held against the mean of all raters, one rater against that of the
    others.
    """
    own = rows.where(judge=PEOPLE)
    lines = []
    for statistic, level in CEILINGS:
        place = (dataset.id, PEOPLE, statistic)
        each = [own.at(*place, aspect=aspect, level=level) for aspect in dataset.aspects]
        if any(each):
            name = f"{label(statistic)}, {LEVELS[level][0]}"
            lines.append(Line(name, [estimate(row, counts=True) for row in each]))
    return Table(
        f"{dataset.name}: agreement of people among themselves; correlations are of each rater "
        "with the mean of the others, κ of each with every other.",
        "Statistic",
        [Column(report.aspect(aspect)) for aspect in dataset.aspects],
        [Body(lines)],
        code=False,
        source="tables/agreement.csv",
    )


def _ranks(report: Report, dataset: Dataset) -> list[Table]:
    """Return the judges' ranks with intervals, and the groups that a test cannot tell apart."""
    statistic, level = FIGURE
    rows = report.rows("comparison").where(dataset=dataset.id, level=level)
    if not len(rows.where(statistic=f"rank_{statistic}")):
        return []

    def cells(judge: Judge) -> list[Cell] | None:
        place = (dataset.id, judge.id, f"rank_{statistic}")
        return _ranked([rows.at(*place, aspect=a, level=level) for a in dataset.aspects])

    caption = (
        f"{dataset.name}: ranks by {label(statistic)}, {LEVELS[level][0]}, with the 95 % interval "
        f"of the rank. {LETTERS}"
    )
    columns = [Column(report.aspect(aspect)) for aspect in dataset.aspects]
    source = "tables/comparison.csv"
    return [Table(caption, "Judge", columns, bodies(report.judges, cells), source=source)]


def _every_rank(report: Report, dataset: Dataset) -> list[Fold]:
    """Return, folded, the judges' ranks by every statistic and level: does it change the order?"""
    rows = report.rows("comparison").where(dataset=dataset.id)
    planned = [
        (name, level)
        for level in LEVELS
        for name in STATISTICS
        if len(rows.where(statistic=f"rank_{name}", level=level))
    ]
    if not planned:
        return []

    def cells(judge: Judge, aspect: str) -> list[Cell] | None:
        place = (dataset.id, judge.id)
        return _ranked(
            [rows.at(*place, f"rank_{one}", aspect=aspect, level=level) for one, level in planned]
        )

    parts: list[Body] = []
    for aspect in dataset.aspects:
        parts += bodies(report.judges, partial(cells, aspect=aspect), report.aspect(aspect))
    columns = [Column(label(name), group=LEVELS[level][0]) for name, level in planned]
    caption = f"{dataset.name}: ranks by every measure of agreement. {LETTERS}"
    source = "tables/comparison.csv"
    table = Table(caption, "Aspect and judge", columns, parts, source=source)
    return [Fold(f"Ranks by every measure for {dataset.name}", [table])]


def _ranked(rows: Sequence[Row | None]) -> list[Cell] | None:
    if not any(rows):
        return None
    return [estimate(row, mark=f" {row.group}".rstrip() if row else "") for row in rows]


def _figure(report: Report, dataset: Dataset, rows: Rows) -> Figure | None:
    statistic, level = FIGURE
    ids = tuple(judge.id for judge in report.judges)
    places = {"judge": ids, "judged": tuple(dataset.aspects)}
    chosen = rows.where(statistic=statistic, level=level, **places)
    known = [row for row in chosen if row.value is not None]
    names = {judge.id: labelled(judge) for judge in report.judges}
    shown = [judge for judge in report.judges if any(row.judge == judge.id for row in known)]
    if not shown:
        return None
    best = leaders(report.judges, known)
    who = listed([f"{names[row.judge]} on {report.aspect(row.aspect)}" for row in best])
    summary = (
        f"{label(statistic)} of {len(shown)} judges and controls on {len(dataset.aspects)} "
        f"aspects. The highest is {who}: {figures(best[0])}."
    )
    return chart(
        f"{dataset.name}: which of one source's texts is better",
        summary,
        _numbers(report, dataset, chosen),
        [(names[row.judge], report.aspect(row.judged), row) for row in known],
        line=0,
        axis=f"{label(statistic)}, {LEVELS[level][0]}, with 95 % interval",
        groups=[names[judge.id] for judge in shown],
        names=[report.aspect(aspect) for aspect in dataset.aspects],
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
