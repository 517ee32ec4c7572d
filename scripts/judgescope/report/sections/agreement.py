"""Agreement with the ratings, judges that choose between two texts, and repeated draws."""

from collections.abc import Iterator
from functools import partial

from judgescope.report.cells import estimate, figures
from judgescope.report.elements import Block, Body, Column, Figure, Fold, Line, Section, Table, Text
from judgescope.report.headline import PERSON
from judgescope.report.report import Dataset, Report, in_group
from judgescope.report.rows import Rows
from judgescope.report.sections import ratings
from judgescope.report.tables import (
    PEOPLE,
    Entry,
    RowGroup,
    TableSpec,
    agreed_with,
    aspect_chart,
    aspect_columns,
    aspect_groups,
    by_dataset,
    chart,
    labelled,
    leaders,
    rank_cell,
    section_of,
    statistic_columns,
)
from judgescope.report.words import LEVELS, SWAYS, label, listed, plural
from judgescope.statistics.registry import STATISTICS, statistic

FIGURE = ("spearman", "by_source")
CEILINGS = (
    ("alpha_ordinal", "pooled"),
    ("spearman", "pooled"),
    ("spearman", "by_source"),
    ("kendall_b", "by_system"),
    ("kappa_linear", "pooled"),
)
"""Statistics shown of people's agreement with each other; agreement.csv has all."""
REPEATED = ("alpha_draws", "flip_rate", "tied_modes", "reliability", "draws_needed")
POSITION, FAIR = "first_position_rate", 0.5
PAIRS = (
    *("order_consistency", POSITION, "nontransitive_share"),
    *("accuracy_comparison", "accuracy_comparison_half", "tie_rate"),
)
RIGHT, HALF_CREDIT, STRENGTH = "accuracy_comparison", "accuracy_comparison_half", "strength"
ORDERS = {"as_listed": "as listed", "swapped": "swapped"}
CHOICES = (
    *("vote_agreement_ties", "vote_agreement_decided", "kappa_nominal"),
    *("best_of_n", "accuracy_both_orders", "kappa_orders"),
    *("longer_chosen", "longer_excess", "own_family_chosen", "own_family_excess"),
)
"""Statistics shown of comparisons by judges and people's choices between two texts."""


@in_group("Evidence", 10)
def section(report: Report) -> Section | None:
    """Return per dataset a figure and, folded, a table per level."""
    if not len(report.rows("agreement")):
        return None
    lead = (
        "A correlation has a level: over all targets pooled it also rewards a judge that knows "
        "which sources are easy; within one source it asks only which text is better."
    )
    blocks = by_dataset(report.datasets, "agreement", partial(_agreement, report))
    return Section("agreement", "Agreement", lead, blocks)


def _agreement(report: Report, dataset: Dataset) -> Iterator[Block]:
    rows = report.rows("agreement", dataset.id)
    if not len(rows):
        yield Text("No target of this dataset has ratings.")
        return
    yield from _figure(report, dataset, rows)
    yield from ratings.figures(report, dataset)
    if not dataset.planned:
        yield _people(report, dataset, rows)
    yield from _ranks(report, dataset)
    judged_at = rows.frame.loc[rows.frame["judge"] != PEOPLE, "level"].unique()
    levels = [level for level in LEVELS if level in judged_at]
    tables = [
        table
        for level in levels
        for sways in (False, True)
        for table in _statistics(report, dataset, rows.where(level=level), level, sways=sways)
    ]
    yield Fold(f"All statistics and levels for {dataset.name}", tables)


def _statistics(
    report: Report, dataset: Dataset, rows: Rows, level: str, *, sways: bool
) -> Iterator[Table]:
    """Yield the table of a level's statistics: those of influences on a judge, or the others."""
    present = set(rows.where(judge=tuple(judge.id for judge in report.judges)).names("statistic"))
    names = [name for name in STATISTICS if name in present and (name in SWAYS) == sways]
    if names:
        title, meaning = LEVELS[level]
        said = "what influences a judge besides quality" if sways else agreed_with(dataset)
        yield TableSpec(
            f"{dataset.name}, {title}: {said}. {meaning}",
            statistic_columns(names),
            aspect_groups(report, dataset.aspects),
            level=level,
            source="tables/agreement.csv",
            corner="Aspect and judge",
            counts=True,
        ).filled(report.judges, rows)


def _people(report: Report, dataset: Dataset, rows: Rows) -> Figure | Table:
    """Return the agreement of people with each other.

    It is not an upper limit: a judge is compared with the mean of all raters, one rater with that
    of the others.
    """
    lines = [
        Entry(f"{label(name)}, {LEVELS[level][0]}", {"statistic": name, "level": level})
        for name, level in CEILINGS
        if len(rows.where(judge=PEOPLE, statistic=name, level=level))
    ]
    table = TableSpec(
        f"{dataset.name}: agreement of people with each other; correlations compare each rater "
        "with the mean of the others, κ each rater with every other.",
        aspect_columns(report, dataset.aspects),
        [RowGroup(lines=lines)],
        judge=PEOPLE,
        source="tables/agreement.csv",
        corner="Statistic",
        code=False,
        counts=True,
    ).filled((), rows)
    return chart(
        f"{dataset.name}: how well people agree",
        "The lower the agreement between raters, the less agreement a judge can reach.",
        table,
        line=0,
        axis="agreement among people, with 95 % interval",
    )


def _ranks(report: Report, dataset: Dataset) -> Iterator[Table | Fold]:
    """Yield the judges' ranks, with intervals and the groups that a test cannot tell apart.

    First by the main statistic; then, folded, by every statistic and level: does it change the
    order?
    """
    measure, level = FIGURE
    rows = report.rows("comparison", dataset.id)
    source = "tables/comparison.csv"
    if len(rows.where(statistic=f"rank_{measure}", level=level)):
        yield TableSpec(
            f"{dataset.name}: ranks by {label(measure)}, {LEVELS[level][0]}, with the 95 % "
            "interval of the rank; judges that share a letter do not differ significantly.",
            aspect_columns(report, dataset.aspects),
            statistic=f"rank_{measure}",
            level=level,
            source=source,
            cell=rank_cell,
        ).filled(report.judges, rows)
    columns = [
        Column(
            label(name),
            group=LEVELS[level][0],
            statistic=f"rank_{name}",
            where={"level": level},
        )
        for level in LEVELS
        for name in STATISTICS
        if len(rows.where(statistic=f"rank_{name}", level=level))
    ]
    if columns:
        table = TableSpec(
            f"{dataset.name}: ranks by every measure of agreement.",
            columns,
            aspect_groups(report, dataset.aspects),
            source=source,
            corner="Aspect and judge",
            cell=rank_cell,
        ).filled(report.judges, rows)
        yield Fold(f"Ranks by every measure for {dataset.name}", [table])


def _figure(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Figure | Table]:
    measure, level = FIGURE
    judges = tuple(judge.id for judge in report.judges)
    chosen = rows.where(statistic=measure, level=level, judge=judges, judged=tuple(dataset.aspects))
    if not (best := leaders(report.judges, chosen)):
        return
    names = {judge.id: labelled(judge) for judge in report.judges}
    who = listed([f"{names[row.judge]} on {report.aspect(row.aspect)}" for row in best])
    shown = chosen.defined.names("judge")
    yield chart(
        f"{dataset.name}: ordering the texts of one source",
        f"{label(measure)} of {len(shown)} judges and controls on "
        f"{plural(len(dataset.aspects), 'aspect')}. The highest is {who}: {figures(best[0])}.",
        TableSpec(
            f"{dataset.name}: {label(measure)}, {LEVELS[level][0]}; {agreed_with(dataset)}.",
            aspect_columns(report, dataset.aspects),
            statistic=measure,
            level=level,
            every_judge=True,
        ).filled(report.judges, chosen),
        line=0,
        axis=f"{label(measure)}, {LEVELS[level][0]}, with 95 % interval",
    )


@in_group("Evidence", 120)
def repeatability(report: Report) -> Section | None:
    """Return per dataset a table of what several draws of one judgment have in common."""
    lead = (
        "Several replies to the same request: how often they differ, and how many must be averaged "
        "to reach 95 % of the correlation with people that infinitely many would have."
    )

    def blocks(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
        yield from aspect_chart(
            *(report, dataset, rows, "flip_rate", ": replies that differ"),
            "Texts with different scores in two replies to the same request.",
            "share of texts with differing replies, with 95 % interval",
            source="tables/repeatability.csv",
            level="pooled",
        )
        yield _by_aspect(report, dataset, rows, REPEATED, f"{dataset.name}.", "repeatability")

    return section_of(report, "repeatability", "Repeatability", lead, blocks)


@in_group("Evidence", 130)
def pairwise(report: Report) -> Section | None:
    """Return, per dataset and set of texts, the position bias of judges that choose, and more."""
    lead = (
        "Judges that choose between two texts are asked in both orders. A first-position rate of "
        "50 % is fair; accuracy covers the pairs in which people prefer one text."
    )

    def tables(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
        for cell in rows.names("cell"):
            name = ", ".join(filter(None, (dataset.name, cell)))
            part = rows.where(cell=cell)
            yield from aspect_chart(
                *(report, dataset, part, POSITION, f"{f', {cell}' * bool(cell)}: position bias"),
                "How often the text that is shown first wins, over both orders.",
                "first text chosen, with 95 % interval; the line marks no bias",
                line=FAIR,
                source="tables/pairwise.csv",
                level="pooled",
                cell=cell,
            )
            yield _by_aspect(report, dataset, part, PAIRS, f"{name}.", "pairwise", cell)
            if not cell:
                yield from _choices(report, dataset, part)

    return section_of(report, "pairwise", "Position bias and pairwise comparison", lead, tables)


def _choices(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Table]:
    """Yield how judges go with people's choices and order systems; nothing without such rows."""
    present = rows.names("statistic")
    shown = [name for name in CHOICES if name in present]
    if not shown:
        return
    columns = statistic_columns([HALF_CREDIT, *shown])
    if len(rows.where(level=tuple(ORDERS))):
        columns += [
            Column(
                f"{label(RIGHT)} {name}",
                "shown in this order only",
                statistic=RIGHT,
                where={"level": level},
            )
            for level, name in ORDERS.items()
        ]
    yield TableSpec(
        f"{dataset.name}: judges and people's choices. “More than people”: how much more often "
        "a judge prefers such texts than people do.",
        columns,
        aspect_groups(report, dataset.aspects),
        level="pooled",
        source="tables/pairwise.csv",
        counts=True,
    ).filled([PERSON, *report.judges], rows)
    for aspect in dataset.aspects:
        yield from _strengths(report, dataset, rows.where(aspect=aspect), report.aspect(aspect))


def _strengths(report: Report, dataset: Dataset, rows: Rows, aspect: str) -> Iterator[Table]:
    """Yield the strength of each system by people and by judge, and which pairs are in order."""
    strengths = rows.where(statistic=STRENGTH)
    of = {(row.judge, row.system_subset): row for row in strengths}
    judges = sorted(strengths.names("judge"), key=lambda judge: judge != PEOPLE)
    if not judges:
        return
    lines = [
        Line(system, [estimate(of.get((judge, system))) for judge in judges])
        for system in strengths.names("system_subset")
    ]
    ordered = rows.where(statistic=RIGHT, level="by_system").by("judge")
    order = [estimate(ordered[one].first if one in ordered else None) for one in judges]
    columns = [Column("people" if judge == PEOPLE else judge) for judge in judges]
    yield Table(
        f"{dataset.name}, {aspect}: {statistic(STRENGTH).meaning}. Last line: share of pairs "
        "of systems in people's order.",
        "System",
        columns,
        [Body(lines), Body([Line("pairs in order", order)])],
        source="tables/pairwise.csv",
    )


def _by_aspect(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    names: tuple[str, ...],
    caption: str,
    table: str,
    cell: str = "",
) -> Table:
    present = rows.names("statistic")
    return TableSpec(
        caption,
        statistic_columns([name for name in names if name in present], cell=cell),
        aspect_groups(report, dataset.aspects),
        level="pooled",
        source=f"tables/{table}.csv",
        corner="Aspect and judge",
        counts=True,
    ).filled(report.judges, rows)
