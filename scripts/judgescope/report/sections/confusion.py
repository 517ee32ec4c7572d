"""Criterion confusion: does perturbing one quality lower other scores; do aspects
correlate?
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from judgescope.report import tables
from judgescope.report.cells import (
    NO_CELL,
    UNDEFINED,
    ReportCell,
    estimate,
    estimates,
    figures,
    heat,
)
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
)
from judgescope.report.heatmaps import HeatMap, heat_keys, heatmap_spec
from judgescope.report.report import Report, ShownDataset, ShownJudge, ids_of
from judgescope.report.rows import ReportRow, ReportRows, between
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import statistic

WANTED = "should drop"
SUMS = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")


def blocks(
    report: Report, dataset: ShownDataset, every: ReportRows
) -> Iterator[PageBlock]:
    """Yield per wording the spread of drops, the sums, and differences between judges,
    folded.

    Then what other forms and wordings change.
    """
    auc = "confusion_auc"
    for criterion in every.where(statistic=SUMS).names("criterion"):
        rows = every.where(criterion=criterion)
        name = tables.with_criterion(dataset.name, criterion)
        present = report.judges_of(rows.where(statistic="delta").defined)
        yield from _heat_maps(report, rows, present, name)
        shares = (
            "s_t_significant_share",
            "unwanted_no_drop",
            "unwanted_drop",
            "unwanted_undecided",
        )
        table = tables.TableSpec(
            f"{name}: wanted and unwanted drops.",
            [
                *tables.statistic_columns(SUMS, "Drops", criterion=criterion),
                *tables.statistic_columns(shares, "Verdicts", criterion=criterion),
            ],
            notes=[
                "Two tests are made per cell: is there a drop, and is any drop within "
                "the margin? A cell where neither is shown is undecided; "
                "`items_needed` gives the number of items that would decide it."
            ],
            every_judge=True,
            cell=lambda row: estimate(row) if row else UNDEFINED,
        ).filled(report.judges, rows)
        yield tables.chart(
            f"{name}: wanted and unwanted drops of each judge",
            "Probability that a wanted drop is larger than an unwanted one: near 1 for "
            "a judge that separates qualities; the line marks chance.",
            table,
            line=0.5,
            axis=f"{label(auc)}, with 95 % interval",
            statistics=[auc],
        )
        yield from tables.matrix(
            rows, present, "confusion_index", name, criterion=criterion
        )
    yield from changes(report, dataset, every)


def _heat_maps(
    report: Report, rows: ReportRows, judges: Sequence[ShownJudge], name: str
) -> Iterator[PageFigure]:
    if not judges:
        return
    deltas = rows.where(statistic="delta")
    aspects = deltas.names("judged")
    cells = deltas.names("cell")
    perturbations = [
        perturbation
        for perturbation in report.perturbations
        if perturbation.cell in cells
    ]
    maps = []
    bodies = []
    for judge in judges:
        mine = rows.where(judge=judge.id)
        drops = mine.where(statistic="delta").defined
        largest = max(abs(row.value or 0) for row in drops)
        maps.append(_heat_map(report, judge, drops, largest))
        lines = []
        for perturbation in perturbations:
            of_cell = mine.where(cell=perturbation.cell)
            shown = [_drop(of_cell.where(judged=aspect), largest) for aspect in aspects]
            lines.append(TableLine(perturbation.name, shown, about=perturbation.degree))
        bodies.append(Body(lines, judge.id))
    columns = tables.aspect_columns(report, aspects)
    table = PageTable(
        f"{name}: Δ, {statistic('delta').meaning}.",
        "Perturbation",
        columns,
        bodies,
        [
            "Outlined: a drop is wanted. Grey: nothing is expected. Shading starts at "
            "a tenth of the judge's largest drop and darkens at a quarter, half and "
            "three quarters."
        ],
        code=False,
    )
    titles = [perturbation.title for perturbation in perturbations]
    heads = list(map(report.aspect, aspects))
    yield PageFigure(
        f"{name}: drops by perturbation and aspect",
        svg(heatmap_spec(maps, titles, heads)),
        "A judge that separates qualities lowers the outlined cells and no others.",
        heat_keys(
            "the score drops; darker: a larger share of the judge's largest change",
            "the score rises",
            "a drop is wanted",
        ),
        table,
    )


def _heat_map(
    report: Report, judge: ShownJudge, drops: ReportRows, largest: float
) -> HeatMap:
    """A judge's drops as shares of its largest one, which may be 0."""
    titles = {
        perturbation.cell: perturbation.title for perturbation in report.perturbations
    }
    values = {}
    outlined = []
    for row in drops:
        at = (titles[row.cell], report.aspect(row.judged))
        values[at] = (row.value or 0) / (largest or 1)
        if WANTED in row.note:
            outlined.append(at)
    return HeatMap(tables.labelled(judge), values, outlined)


def _drop(rows: ReportRows, largest: float) -> ReportCell:
    """Return the drop of an aspect under a perturbation and the outcome of its
    equivalence test.
    """
    row = rows.where(statistic="delta").first
    if row is None or row.value is None:
        return estimate(row)
    if WANTED in row.note:
        style = "wanted"
    elif "should stay" in row.note:
        style = ""
    else:
        style = "moot"
    shade = heat(row.value / largest if largest else 0)
    tests = rows.where(statistic="p_tost").defined
    notes = [spoken(test.note) for test in tests if test.note]
    cell = estimate(row, style=f"{shade} {style}".strip())
    return replace(cell, notes=(*cell.notes, *notes))


def changes(report: Report, dataset: ShownDataset, rows: ReportRows) -> list[PageTable]:
    """Return the table of changes against plain forms and the first wording, if there
    are any.
    """
    changed = {**_changes_of_form(report, rows), **_changes_of_wording(report, rows)}
    bodies = []
    for title, by_wording in changed.items():
        lines = []
        for wording, gaps in by_wording.items():
            lines.append(TableLine(wording, estimates(gaps)))
        bodies.append(Body(lines, title))
    if not bodies:
        return []
    columns = []
    for name in SUMS:
        columns.append(
            TableColumn(label(f"difference_{name}"), statistic(name).meaning)
        )
    notes = (
        "Each form minus the first judge of its model, or each wording minus the "
        "study's first, on the same drops of the same items. An interval that includes "
        "0 shows no change.",
        "A score computed from listed errors is not in points of a rating: for such a "
        "form, use only the index and the AUC.",
    )
    caption = f"{dataset.name}: changes in another form or another wording."
    return [PageTable(caption, "Wording", columns, bodies, notes, code=False)]


WordingGaps = dict[str, list[ReportRow | None]]
"""Wording -> the differences of all SUMS."""


def _changes_of_form(report: Report, rows: ReportRows) -> dict[str, WordingGaps]:
    """Heading -> the differences of each judge from the first one of its model."""
    first = dict[str, ShownJudge]()
    for judge in report.judges:
        first.setdefault(judge.model, judge)
    changed = dict[str, WordingGaps]()
    wordings = rows.where(statistic=SUMS).names("criterion")
    for judge in report.judges:
        plain = first[judge.model]
        if not judge.model or judge is plain:
            continue
        for wording in wordings:
            gaps = []
            for name in SUMS:
                gaps.append(between(rows, judge.id, plain.id, name, criterion=wording))
            if any(gaps):
                of_judge = changed.setdefault(f"{judge.id} minus {plain.id}", {})
                of_judge[wording or "the cards' wording"] = gaps
    return changed


def _changes_of_wording(report: Report, rows: ReportRows) -> dict[str, WordingGaps]:
    """Heading -> the differences of each judge from the study's first wording."""
    changed = dict[str, WordingGaps]()
    others = filter(None, rows.names("criterion_b"))
    for judge, wording in product(report.judges, others):
        mine = rows.where(judge=judge.id, criterion_b=wording)
        if judge.control or not len(mine.defined):
            continue
        by_wording: WordingGaps = {}
        for own_wording, part in mine.by("criterion").items():
            by_wording[own_wording] = [
                part.where(statistic=f"difference_{name}").first for name in SUMS
            ]
        changed[f"{judge.id}, minus the wording {wording}"] = by_wording
    return changed


# --- correlations of aspects ----------------------------------------------------------


def criteria(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield the correlations of each judge's aspects and wordings, folded after the
    first.

    None for a single aspect: table `criteria` then has only its correlation with
    people.
    """
    if len(dataset.aspects) < 2:
        return
    whose = f"{dataset.rated_by.whose} ratings"
    sentences = []
    for row in rows.where(statistic="cross_aspect_share").defined:
        number = round((row.value or 0) * row.n)
        wording = ""
        if row.criterion:
            wording = f" in the criterion {row.criterion}"
        sentences.append(
            f"`{row.judge}`: {number} of {row.n} aspects{wording} correlate more with "
            f"{whose} of another aspect than with those of their own."
        )
    if sentences:
        yield Paragraph(f"Judges of {dataset.name} and {whose}:", items=sentences)
    judges = ids_of(report.judges)
    correlations = rows.where(statistic="pearson", judge=judges)
    scores = "scores of each judge for two aspects"
    drawn = []
    for texts, other, about in (
        (
            "systems",
            tables.PEOPLE,
            f"each judge (rows) with {whose} (columns), texts of systems",
        ),
        ("systems", "", f"{scores}, texts of systems"),
        ("all", "", f"{scores}, originals and perturbed texts"),
    ):
        part = correlations.where(perturbation=texts, judge_b=other)
        if len(part):
            drawn.append(_pairs(report, part, f"{dataset.name}: {about}"))
    yield from drawn[:1]
    if drawn[1:]:
        title = f"{dataset.name}: correlations between the aspects of each judge"
        yield Fold(title, drawn[1:])


def _pairs(report: Report, rows: ReportRows, about: str) -> PageFigure:
    """Return r of every two aspects, or wordings, that the rows have, for every
    judge.
    """
    pairs = dict[tuple[str, str, str], ReportRow]()
    for row in rows:
        other = ".".join(filter(None, (row.aspect_b, row.criterion_b)))
        pairs[row.judge, row.judged, other] = row
    aspects = dict[str, None]()
    others = dict[str, None]()
    for _, aspect, other in pairs:
        aspects[aspect] = None
        others[other] = None
    names = list(map(report.aspect, (*aspects, *others)))
    diagonal = list(zip(names, names, strict=True))
    maps = []
    bodies = []
    for judge in report.judges_of(rows):
        known = {}
        for (name, aspect, other), row in pairs.items():
            if name == judge.id and row.value is not None:
                known[report.aspect(aspect), report.aspect(other)] = row.value
        maps.append(HeatMap(tables.labelled(judge), known, diagonal))
        lines = []
        for aspect in aspects:
            cells = []
            for other in others:
                cells.append(_correlation(pairs.get((judge.id, aspect, other))))
            lines.append(TableLine(report.aspect(aspect), cells))
        bodies.append(Body(lines, judge.id))
    columns = tables.aspect_columns(report, others)
    down = list(map(report.aspect, aspects))
    across = list(map(report.aspect, others))
    return PageFigure(
        about,
        svg(heatmap_spec(maps, down, across)),
        "Pearson's r of two aspects; if a judge distinguishes aspects, the diagonal is "
        "darkest.",
        heat_keys(
            "r above 0: the darker, the closer to 1", "r below 0", "the same aspect"
        ),
        PageTable(f"Pearson r: {about}.", "Aspect", columns, bodies, code=False),
    )


def _correlation(row: ReportRow | None) -> ReportCell:
    if row is None:
        return NO_CELL
    return ReportCell(figures(row), sort=row.value, title=f"n = {row.n}", row=row)
