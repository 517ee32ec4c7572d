"""Discernment: which judges score damaged texts below their originals, and response styles."""

from functools import partial

from judgescope.methods.discernment import BEYOND
from judgescope.report.charts import (
    BLUE,
    FILL_BLUE,
    FILL_RED,
    INK,
    PALE_BLUE,
    PALE_RED,
    RED,
    Distribution,
    Point,
    Series,
    chart_spec,
    histogram_spec,
    svg,
)
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Key,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from judgescope.report.numbers import listed
from judgescope.report.report import Damage, Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import (
    bodies,
    columns_of,
    estimates,
    labelled,
    leaders,
    matrix,
)
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import STATISTICS

SERIES = (
    Series("D_avg", "blue", FILL_BLUE, BLUE),
    Series("D_avg_ew", "blue", PALE_BLUE, BLUE),
    Series("D_min", "red", FILL_RED, RED),
    Series("D_min_ew", "red", PALE_RED, RED),
    Series("D_avg_exact", "ink", INK, INK, "diamond"),
)
HEADLINES = ("D_avg", "D_avg_ew", "D_avg_exact", "D_min", "D_min_ew", "D_min_exact")
EFFECTS = ("rank_biserial", "mean_drop", "p_holm")
BY_LENGTH, FLAG = "solved by length", "‡"
MIXED = (
    "D and D_ew combine asymptotic p-values, as published, D_exact combines exact ones: not all "
    "columns are of one test."
)
LEAD = (
    "D is log p to the base 0.05 of a one-sided test that a judge scores damaged texts below "
    "their originals: it is 1 at p = 0.05, and every further unit divides p by 20. It grows with "
    "the number of items, so it is evidence and no size of effect: that is the rank-biserial "
    "correlation in the folded tables."
)
READING = (
    "D as published adds up over aspects and passes 1 by chance far more often than one time in "
    "20 when there are several; D_exact keeps that rate. With uniform weights D_ew is D less a "
    "constant, and their difference says nothing about the judge. All damage of a dataset is held "
    "against the same originals: where chance favours them, it shows in many kinds of damage at "
    "once, as the random control may tell."
)
STYLES = (
    Series("original", "blue", FILL_BLUE, BLUE),
    Series("all", "red", FILL_RED, RED),
)
STYLE_KEYS = {
    "original": "originals, upwards",
    "all": "damaged texts, downwards",
}


def section(report: Report) -> Section | None:
    """Return per dataset the bars, the table of judges by damage and, folded, effect sizes."""
    table = report.rows("discernment")
    if not len(table):
        return None
    blocks: list[Block] = [Text(READING)]
    for dataset in report.datasets:
        rows = table.where(dataset=dataset.id)
        blocks.append(Heading(dataset.name, f"discernment-{dataset.id}"))
        blocks += _dataset(report, dataset, rows)
    return Section("discernment", "Discernment", LEAD, blocks)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    if not len(rows):
        return [Text("This dataset has no perturbations.")]
    cells = set(rows.names("cell"))
    damages = [damage for damage in report.damages if damage.cell in cells]
    absent = [judge for judge in report.judges if _reason(rows, dataset, judge)]
    present = [judge for judge in report.judges if judge not in absent]
    blocks: list[Block] = []
    if present:
        blocks += [
            _figure(dataset, rows, present),
            _heat(dataset, rows, present, damages),
            *style_blocks(report, dataset, present),
            *matrix(rows, dataset, present, "D_avg_exact", dataset.name),
            *_beside_weights(dataset, rows, present, damages),
            *_effects(report, dataset, rows, present, damages),
        ]
    if absent:
        told = [f"`{judge.id}`: {_reason(rows, dataset, judge)}." for judge in absent]
        blocks.append(Text("Without discernment on this dataset:", items=told))
    return blocks


def _reason(rows: Rows, dataset: Dataset, judge: Judge) -> str:
    """Return why a judge has no discernment at all, empty where it has."""
    mine = rows.where(judge=judge.id)
    if any(row.value is not None for row in mine):
        return ""
    row = mine.at(dataset.id, judge.id, "D_avg")
    return spoken(row.note) if row else "not planned"


def _figure(dataset: Dataset, rows: Rows, judges: list[Judge]) -> Figure:
    points = [
        Point(labelled(judge), one.name, row.value, row.lo, row.hi)
        for judge in judges
        for one in SERIES
        if (row := rows.at(dataset.id, judge.id, one.name)) and row.value is not None
    ]
    groups = [labelled(judge) for judge in judges]
    axis = "score with 95 % interval; the dashed line is p = 0.05"
    spec = chart_spec(points, groups, SERIES, line=1, x=axis)
    return Figure(
        f"{dataset.name}: discernment of each judge",
        svg(spec),
        _summary(dataset, rows, judges),
        [Key(one.sign, one.style, label(one.name)) for one in SERIES],
        _numbers(dataset, rows, judges),
    )


def _summary(dataset: Dataset, rows: Rows, judges: list[Judge]) -> str:
    known = {
        judge.id: row
        for judge in judges
        if (row := rows.at(dataset.id, judge.id, "D_avg_exact")) and row.value is not None
    }
    best = leaders(judges, known.values())
    if not best:
        return "D_avg_exact is undefined for every judge."
    return (
        f"The highest average D_exact is that of {listed([row.judge for row in best])}, "
        f"{figures(best[0])}; an average of several kinds of damage is no p-value."
    )


def _numbers(dataset: Dataset, rows: Rows, judges: list[Judge]) -> Table:
    def cells(judge: Judge) -> list[Cell]:
        each = [rows.at(dataset.id, judge.id, name) for name in HEADLINES]
        return [estimate(row, mark=_beyond(row)) for row in each]

    columns = columns_of(HEADLINES)
    caption = f"{dataset.name}: average and minimum over the planned perturbations."
    shown = rows.where(statistic=HEADLINES)
    notes = [*_told_beyond(shown), *([MIXED] if _mixed(shown) else [])]
    return Table(caption, "Judge", columns, bodies(judges, cells), notes)


def _mixed(rows: Rows) -> bool:
    """Return whether some of the rows combine exact p-values and others asymptotic ones."""
    return all(any(f"{test} p" in row.method for row in rows) for test in ("exact", "asymptotic"))


def _beyond(row: Row | None) -> str:
    return FLAG if row and BEYOND in row.note else ""


def _told_beyond(rows: Rows) -> list[str]:
    """Return what the flag means, where one of the rows has it."""
    told = f"{FLAG} Beyond 5: an artefact of the normal tail; read the rank-biserial instead."
    return [told] if any(map(_beyond, rows)) else []


def _heat(dataset: Dataset, rows: Rows, judges: list[Judge], damages: list[Damage]) -> Table:
    """Return judge by damage; a shade for every step of D_exact."""

    def cells(judge: Judge) -> list[Cell]:
        found = []
        for damage in damages:
            row = rows.at(dataset.id, judge.id, "D_exact", cell=damage.cell)
            style = _shade(row.value if row else None)
            found.append(estimate(row, mark=_beyond(row), style=style))
        return found

    solved = {row.cell for row in rows.where(statistic="D_exact") if BY_LENGTH in row.note}
    columns = [
        Column(damage.title, BY_LENGTH if damage.cell in solved else "", damage.level)
        for damage in damages
    ]
    notes = ["Shaded from 1 (p = 0.05) on, in steps at 2, 3 and 5."]
    if solved:
        notes.append(f"{BY_LENGTH.capitalize()}: the control that looks at length alone reaches 1.")
    notes += _told_beyond(rows.where(statistic="D_exact"))
    caption = f"{dataset.name}: D_exact of each judge on each kind of damage."
    return Table(caption, "Judge", columns, bodies(judges, cells), notes)


def _beside_weights(
    dataset: Dataset, rows: Rows, judges: list[Judge], damages: list[Damage]
) -> list[Fold]:
    """Return, folded, how much evidence lies beside the aspects that experts name."""
    name = "D_hmp_less_ew"
    weighted = {row.cell for row in rows.where(statistic=name)}
    shown = [damage for damage in damages if damage.cell in weighted]
    if not shown:
        return []

    def cells(judge: Judge) -> list[Cell]:
        return [estimate(rows.at(dataset.id, judge.id, name, cell=one.cell)) for one in shown]

    columns = [Column(damage.title, group=damage.level) for damage in shown]
    caption = f"{dataset.name}: {label(name)}, {STATISTICS[name].meaning}."
    table = Table(caption, "Judge", columns, bodies(judges, cells))
    return [Fold(f"Evidence beside the experts' aspects for {dataset.name}", [table])]


def _shade(value: float | None) -> str:
    steps = (1, 2, 3, 5)
    return f"heat-{sum(value >= step for step in steps)}" if value is not None else ""


def _effects(
    report: Report, dataset: Dataset, rows: Rows, judges: list[Judge], damages: list[Damage]
) -> list[Fold]:
    return [
        Fold(
            f"{label(name)} per aspect for {dataset.name}",
            [_effect(report, dataset, rows, judges, damages, name)],
        )
        for name in EFFECTS
    ]


def _effect(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    judges: list[Judge],
    damages: list[Damage],
    statistic: str,
) -> Table:
    def found(judge: Judge, damage: Damage) -> list[Row | None]:
        at = partial(rows.at, dataset.id, judge.id, statistic, cell=damage.cell)
        return [at(aspect=aspect) for aspect in dataset.aspects]

    parts: list[Body] = []
    for damage in damages:
        parts += estimates(judges, partial(found, damage=damage), damage.title, counts=True)
    columns = [Column(report.aspect(aspect)) for aspect in dataset.aspects]
    caption = f"{dataset.name}: {label(statistic)}, {STATISTICS[statistic].meaning}."
    return Table(caption, "Damage and judge", columns, parts, source="tables/discernment.csv")


def style_blocks(report: Report, dataset: Dataset, judges: list[Judge]) -> list[Block]:
    """Return the figure of a dataset's response styles, nothing where no judge has any."""
    rows = report.rows("responses").where(dataset=dataset.id)
    shown = [judge for judge in judges if rows.at(dataset.id, judge.id, "range_top")]
    if not shown:
        return []
    found = [_distribution(rows, dataset, judge, one.name) for judge in shown for one in STYLES]
    axis = "score, from the bottom to the top of the judge's range"
    spec = histogram_spec(found, [labelled(judge) for judge in shown], STYLES, x=axis)
    keys = [Key(one.sign, one.style, STYLE_KEYS[one.name]) for one in STYLES]
    keys += [Key("▼", "blue", "mean of originals"), Key("▲", "red", "mean of damaged texts")]
    return [
        Figure(
            f"{dataset.name}: response styles",
            svg(spec),
            _style_summary(rows, dataset, shown),
            keys,
            _style_table(rows, dataset, shown),
        )
    ]


def _distribution(rows: Rows, dataset: Dataset, judge: Judge, series: str) -> Distribution:
    mine = rows.where(judge=judge.id, statistic="score_share", perturbation=series)
    shares = {row.k: row.value or 0.0 for row in mine}
    low, high = (rows.at(dataset.id, judge.id, f"range_{end}") for end in ("bottom", "top"))
    mean = rows.at(dataset.id, judge.id, "score_mean", cell=series)
    place = None
    if mean and low and high and None not in (mean.value, low.value, high.value):
        place = ((mean.value or 0) - (low.value or 0)) / ((high.value or 0) - (low.value or 0))
    return Distribution(labelled(judge), series, [shares[k] for k in sorted(shares)], place)


def _style_summary(rows: Rows, dataset: Dataset, judges: list[Judge]) -> str:
    """Return the sentence that says where each judge, no control, puts originals and damage."""
    told = [
        f"{judge.id} {figures(before)} and {figures(after)}"
        for judge in judges
        if not judge.control
        for before, after in [_style_means(rows, dataset, judge)]
        if before and after
    ]
    means = f" Mean scores of originals and of damaged texts: {'; '.join(told)}." if told else ""
    return (
        "Scores, averaged over the aspects, of originals and of all damaged texts. Where a judge "
        f"puts them is its style; discernment asks only whether they part.{means}"
    )


def _style_means(rows: Rows, dataset: Dataset, judge: Judge) -> tuple[Row | None, Row | None]:
    before, after = (rows.at(dataset.id, judge.id, "score_mean", cell=one.name) for one in STYLES)
    return before, after


def _style_table(rows: Rows, dataset: Dataset, judges: list[Judge]) -> Table:
    rated = len(rows.where(statistic="pearson")) > 0
    whose = "the planned ratings" if dataset.planned else "people"

    def cells(judge: Judge) -> list[Cell]:
        found = [*_style_means(rows, dataset, judge)]
        found += [rows.at(dataset.id, judge.id, f"range_{end}") for end in ("bottom", "top")]
        r = rows.at(dataset.id, judge.id, "pearson", level="pooled", cell="systems")
        found += [r] if rated else []
        return [estimate(row) for row in found]

    columns = [
        Column("Originals", "mean score"),
        Column("Damaged texts", "mean score"),
        Column("Bottom", "of the range"),
        Column("Top", "of the range"),
        *([Column("Pearson r", f"with {whose}, of the systems' texts")] if rated else []),
    ]
    caption = f"{dataset.name}: mean scores over the aspects, and where the range ends."
    notes = ["The range is that of the judge's scale, or of its scores where it has none."]
    return Table(
        caption, "Judge", columns, bodies(judges, cells), notes, source="tables/responses.csv"
    )
