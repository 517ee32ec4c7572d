"""Criterion confusion: does perturbing one quality lower other scores; do aspects correlate?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgescope.report.cells import NO_CELL, UNDEFINED, Cell, estimate, figures, heat
from judgescope.report.charts import svg
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
from judgescope.report.panels import HeatMap, heat_keys, heatmap_spec
from judgescope.report.report import Dataset, Judge, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import (
    PEOPLE,
    TableSpec,
    aspect_columns,
    between,
    chart,
    labelled,
    matrix,
    section_of,
    statistic_columns,
    with_criterion,
)
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import statistic

SHARES = ("s_t_significant_share", "unwanted_no_drop", "unwanted_drop", "unwanted_undecided")
WANTED, KEPT = "should drop", "should stay"
LEAD = (
    "Does perturbing one quality lower the scores of others (Hu et al. 2024)? Δ is the mean drop "
    "of a score; S_T is the mean of Δ where a drop is wanted, S_F where none is. A judge that "
    "separates qualities has a confusion index, S_F over S_T, near 0 and an AUC near 1."
)
AUC = "confusion_auc"
SUMS = ("s_t_mean", "s_f_mean", "confusion_index", AUC)
OWN_WORDING = "the cards' wording"
SUM_NOTE = (
    "Two tests are made per cell: is there a drop, and is any drop within the margin? A cell "
    "where neither is shown is undecided; `items_needed` gives the number of items that would "
    "decide it."
)
DROP_NOTE = (
    "Outlined: a drop is wanted. Grey: nothing is expected. Shading starts at a tenth of the "
    "judge's largest drop and darkens at a quarter, half and three quarters."
)
CHANGE_NOTES = (
    "Each form minus the first judge of its model, or each wording minus the study's first, "
    "on the same drops of the same items. An interval that includes 0 shows no change.",
    "A score computed from listed errors is not in points of a rating: for such a form, use "
    "only the index and the AUC.",
)
CRITERIA_LEAD = (
    "Does a judge that is asked about one aspect rate another (Hu et al. 2024)? If so, its "
    "scores of two aspects correlate, or its scores of one aspect follow the ratings of the "
    "other more than its own."
)


@in_group("Evidence", 50)
def section(report: Report) -> Section | None:
    """Return per dataset and wording the sums, the spread of drops, and all of them, folded.

    Then what other forms and wordings change.
    """
    return section_of(report, "confusion", "Criterion confusion", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    for criterion in rows.where(statistic=SUMS).names("criterion"):
        yield from _wording(report, dataset, rows.where(criterion=criterion), criterion)
    yield from changes(report, dataset, rows)


def _wording(report: Report, dataset: Dataset, rows: Rows, criterion: str) -> Iterator[Block]:
    name = with_criterion(dataset.name, criterion)
    known = rows.where(statistic="delta").defined.names("judge")
    present = [judge for judge in report.judges if judge.id in known]
    yield from _heat_maps(report, rows, present, name)
    table = TableSpec(
        f"{name}: wanted and unwanted drops.",
        [
            *statistic_columns(SUMS, "Drops", criterion=criterion),
            *statistic_columns(SHARES, "Verdicts", criterion=criterion),
        ],
        notes=[SUM_NOTE],
        every_judge=True,
        cell=lambda row: estimate(row) if row else UNDEFINED,
    ).filled(report.judges, rows)
    yield chart(
        f"{name}: wanted and unwanted drops of each judge",
        "Probability that a wanted drop is larger than an unwanted one: near 1 for a judge "
        "that separates qualities; the line marks chance.",
        table,
        line=0.5,
        axis=f"{label(AUC)}, with 95 % interval",
        statistics=[AUC],
    )
    yield from matrix(rows, present, "confusion_index", name, criterion=criterion)


def _heat_maps(report: Report, rows: Rows, judges: Sequence[Judge], name: str) -> Iterator[Figure]:
    """Yield every judge's drops, perturbations by aspect, with their numbers."""
    deltas = rows.where(statistic="delta")
    aspects = deltas.names("judged")
    known = set(deltas.names("cell"))
    perturbations = [one for one in report.perturbations if one.cell in known]
    titles = {one.cell: one.title for one in perturbations}
    panels, bodies = [], []
    for judge in judges:
        mine = rows.where(judge=judge.id)
        each = [row for row in mine.where(statistic="delta") if row.value is not None]
        largest = max(abs(row.value or 0) for row in each)
        places = {(titles[row.cell], report.aspect(row.judged)): row for row in each}
        values = {place: (row.value or 0) / (largest or 1) for place, row in places.items()}
        outlined = [place for place, row in places.items() if WANTED in row.note]
        panels.append(HeatMap(labelled(judge), values, outlined))
        lines = []
        for one in perturbations:
            here = mine.where(cell=one.cell)
            cells = [_drop(here.where(judged=aspect), largest) for aspect in aspects]
            lines.append(Line(one.name, cells, about=one.degree))
        bodies.append(Body(lines, judge.id))
    if not panels:
        return
    caption = f"{name}: Δ, {statistic('delta').meaning}."
    columns = aspect_columns(report, aspects)
    yield Figure(
        f"{name}: drops by perturbation and aspect",
        svg(heatmap_spec(panels, [*titles.values()], [column.text for column in columns])),
        "A judge that separates qualities lowers the outlined cells and no others.",
        heat_keys(
            "the score drops; darker: a larger share of the judge's largest change",
            "the score rises",
            "a drop is wanted",
        ),
        Table(caption, "Perturbation", columns, bodies, [DROP_NOTE], code=False),
    )


def _drop(rows: Rows, largest: float) -> Cell:
    """Return the drop of an aspect under a perturbation and the outcome of its equivalence test."""
    row = next(iter(rows.where(statistic="delta")), None)
    if row is None or row.value is None:
        return estimate(row)
    style = "wanted" if WANTED in row.note else "" if KEPT in row.note else "moot"
    shade = heat(row.value / largest if largest else 0)
    equivalence = rows.where(statistic="p_tost")
    notes = [spoken(test.note) for test in equivalence if test.note and test.value is not None]
    cell = estimate(row, style=f"{shade} {style}".strip())
    return replace(cell, notes=(*cell.notes, *notes))


def changes(report: Report, dataset: Dataset, rows: Rows) -> list[Table]:
    """Return the table of changes against plain forms and the first wording, if there are any."""
    parts = [*_changed_forms(report, rows), *_changed_wordings(report, rows)]
    if not parts:
        return []
    columns = [Column(label(f"difference_{name}"), statistic(name).meaning) for name in SUMS]
    caption = f"{dataset.name}: changes in another form or another wording."
    return [Table(caption, "Wording", columns, parts, CHANGE_NOTES, code=False)]


def _changed_forms(report: Report, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge whose model has a judge before it, its changes by wording."""
    first = {judge.model: judge for judge in reversed(report.judges)}
    for judge in report.judges:
        plain = first[judge.model]
        if not judge.model or judge is plain:
            continue
        lines = []
        for criterion in rows.where(statistic=SUMS).names("criterion"):
            each = [between(rows, judge, plain, name, criterion=criterion) for name in SUMS]
            if any(each):
                lines.append(Line(criterion or OWN_WORDING, [estimate(row) for row in each]))
        if lines:
            yield Body(lines, f"{judge.id} minus {plain.id}")


def _changed_wordings(report: Report, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge with a value in several wordings, their changes."""
    for judge in report.judges:
        for first in filter(None, rows.names("criterion_b")):
            changed = rows.where(judge=judge.id, criterion_b=first)
            if judge.control or all(row.value is None for row in changed):
                continue
            lines = []
            for criterion in changed.names("criterion"):
                named = {
                    row.statistic: row for row in reversed([*changed.where(criterion=criterion)])
                }
                cells = [estimate(named.get(f"difference_{name}")) for name in SUMS]
                lines.append(Line(criterion, cells))
            yield Body(lines, f"{judge.id}, minus the wording {first}")


# --- correlations of aspects ----------------------------------------------------------------


@in_group("Evidence", 30)
def criteria(report: Report) -> Section | None:
    """Return per dataset the correlations of each judge's aspects and wordings, folded."""
    return section_of(report, "criteria", "Correlated criteria", CRITERIA_LEAD, _correlations)


def _correlations(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    whose = "the planned ratings" if dataset.planned else "people's ratings"
    sentences = [
        f"`{row.judge}`: {round((row.value or 0) * row.n)} of {row.n} aspects"
        f"{f' in the criterion {row.criterion}' if row.criterion else ''} correlate "
        f"more with {whose} of another aspect than with those of their own."
        for row in rows.where(statistic="cross_aspect_share").defined
    ]
    if sentences:
        yield Text(f"Judges of {dataset.name} and {whose}:", items=sentences)
    correlations = rows.where(statistic="pearson", judge=tuple(judge.id for judge in report.judges))
    kinds = {
        ("systems", PEOPLE): f"each judge (rows) with {whose} (columns), texts of systems",
        ("systems", ""): "scores of each judge for two aspects, texts of systems",
        ("all", ""): "scores of each judge for two aspects, originals and perturbed texts",
    }
    drawn = [
        _pairs(report, part, f"{dataset.name}: {about}")
        for (texts, other), about in kinds.items()
        if len(part := correlations.where(perturbation=texts, judge_b=other))
    ]
    if drawn:
        first, *others = drawn
        yield first
        if others:
            yield Fold(f"{dataset.name}: correlations between the aspects of each judge", others)


def _pairs(report: Report, rows: Rows, about: str) -> Figure:
    """Return r of every two aspects, or wordings, that the rows have, for every judge."""
    pairs = {
        (row.judge, row.judged, ".".join(filter(None, (row.aspect_b, row.criterion_b)))): row
        for row in rows
    }
    aspects, others = (list(dict.fromkeys(place[at] for place in pairs)) for at in (1, 2))
    names = {aspect: report.aspect(aspect) for aspect in (*aspects, *others)}
    panels, bodies = [], []
    for judge in report.judges:
        mine = {(one, other): row for (name, one, other), row in pairs.items() if name == judge.id}
        if not mine:
            continue
        known = {
            (names[one], names[other]): row.value
            for (one, other), row in mine.items()
            if row.value is not None
        }
        panels.append(HeatMap(labelled(judge), known, [(name, name) for name in names.values()]))
        lines = [
            Line(names[one], [_correlation(mine.get((one, other))) for other in others])
            for one in aspects
        ]
        bodies.append(Body(lines, judge.id))
    columns = aspect_columns(report, others)
    return Figure(
        about,
        svg(heatmap_spec(panels, [names[one] for one in aspects], [names[one] for one in others])),
        "Pearson's r of two aspects; if a judge distinguishes aspects, the diagonal is darkest.",
        heat_keys("r above 0: the darker, the closer to 1", "r below 0", "the same aspect"),
        Table(f"Pearson r: {about}.", "Aspect", columns, bodies, code=False),
    )


def _correlation(row: Row | None) -> Cell:
    return Cell(figures(row), sort=row.value, title=f"n = {row.n}", row=row) if row else NO_CELL
