"""Criterion confusion: does perturbing one quality lower other scores; do aspects
correlate?
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from judgescope.report import tables
from judgescope.report.cells import NO_CELL, UNDEFINED, Cell, estimate, figures, heat
from judgescope.report.charts import svg
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Fold,
    Line,
    Table,
    Text,
)
from judgescope.report.panels import HeatMap, heat_keys, heatmap_spec
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import statistic

SHARES = (
    "s_t_significant_share",
    "unwanted_no_drop",
    "unwanted_drop",
    "unwanted_undecided",
)
WANTED, KEPT = "should drop", "should stay"
LEAD = (
    "Does perturbing one quality lower the scores of others (Hu et al. 2024)? Δ is the "
    "mean drop of a score; S_T is the mean of Δ where a drop is wanted, S_F where none "
    "is. A judge that separates qualities has a confusion index, S_F over S_T, near 0 "
    "and an AUC near 1."
)
AUC = "confusion_auc"
SUMS = ("s_t_mean", "s_f_mean", "confusion_index", AUC)
OWN_WORDING = "the cards' wording"
SUM_NOTE = (
    "Two tests are made per cell: is there a drop, and is any drop within the margin? "
    "A cell where neither is shown is undecided; `items_needed` gives the number of "
    "items that would decide it."
)
DROP_NOTE = (
    "Outlined: a drop is wanted. Grey: nothing is expected. Shading starts at a tenth "
    "of the judge's largest drop and darkens at a quarter, half and three quarters."
)
CHANGE_NOTES = (
    "Each form minus the first judge of its model, or each wording minus the study's "
    "first, on the same drops of the same items. An interval that includes 0 shows no "
    "change.",
    "A score computed from listed errors is not in points of a rating: for such a "
    "form, use only the index and the AUC.",
)
CRITERIA_LEAD = (
    "Does a judge that is asked about one aspect rate another (Hu et al. 2024)? If so, "
    "its scores of two aspects correlate, or its scores of one aspect follow the "
    "ratings of the other more than its own."
)


@tables.section_of("Evidence", 50, "confusion", "Criterion confusion", LEAD)
def section(report: Report, dataset: Dataset, every: Rows) -> Iterator[Block]:
    """Yield per wording the spread of drops, the sums, and differences between judges,
    folded.

    Then what other forms and wordings change.
    """
    for criterion in every.where(statistic=SUMS).names("criterion"):
        rows = every.where(criterion=criterion)
        name = tables.with_criterion(dataset.name, criterion)
        present = report.judges_of(rows.where(statistic="delta").defined)
        yield from _heat_maps(report, rows, present, name)
        table = tables.TableSpec(
            f"{name}: wanted and unwanted drops.",
            [
                *tables.statistic_columns(SUMS, "Drops", criterion=criterion),
                *tables.statistic_columns(SHARES, "Verdicts", criterion=criterion),
            ],
            notes=[SUM_NOTE],
            every_judge=True,
            cell=lambda row: estimate(row) if row else UNDEFINED,
        ).filled(report.judges, rows)
        yield tables.chart(
            f"{name}: wanted and unwanted drops of each judge",
            "Probability that a wanted drop is larger than an unwanted one: near 1 for "
            "a judge that separates qualities; the line marks chance.",
            table,
            line=0.5,
            axis=f"{label(AUC)}, with 95 % interval",
            statistics=[AUC],
        )
        yield from tables.matrix(
            rows, present, "confusion_index", name, criterion=criterion
        )
    yield from changes(report, dataset, every)


def _heat_maps(
    report: Report, rows: Rows, judges: Sequence[Judge], name: str
) -> Iterator[Figure]:
    if not judges:
        return
    deltas = rows.where(statistic="delta")
    aspects, known = deltas.names("judged"), deltas.names("cell")
    perturbations = [one for one in report.perturbations if one.cell in known]
    titles = {one.cell: one.title for one in perturbations}
    panels, bodies = [], []
    for judge in judges:
        mine = rows.where(judge=judge.id)
        each = [*mine.where(statistic="delta").defined]
        largest = max(abs(row.value or 0) for row in each)
        places = {(titles[row.cell], report.aspect(row.judged)): row for row in each}
        values = {
            place: (row.value or 0) / (largest or 1) for place, row in places.items()
        }
        outlined = [place for place, row in places.items() if WANTED in row.note]
        panels.append(HeatMap(tables.labelled(judge), values, outlined))
        lines = []
        for one in perturbations:
            here = mine.where(cell=one.cell)
            cells = [_drop(here.where(judged=aspect), largest) for aspect in aspects]
            lines.append(Line(one.name, cells, about=one.degree))
        bodies.append(Body(lines, judge.id))
    caption = f"{name}: Δ, {statistic('delta').meaning}."
    columns = tables.aspect_columns(report, aspects)
    yield Figure(
        f"{name}: drops by perturbation and aspect",
        svg(
            heatmap_spec(
                panels, [*titles.values()], [column.text for column in columns]
            )
        ),
        "A judge that separates qualities lowers the outlined cells and no others.",
        heat_keys(
            "the score drops; darker: a larger share of the judge's largest change",
            "the score rises",
            "a drop is wanted",
        ),
        Table(caption, "Perturbation", columns, bodies, [DROP_NOTE], code=False),
    )


def _drop(rows: Rows, largest: float) -> Cell:
    """Return the drop of an aspect under a perturbation and the outcome of its
    equivalence test.
    """
    row = rows.where(statistic="delta").first
    if row is None or row.value is None:
        return estimate(row)
    style = "wanted" if WANTED in row.note else "" if KEPT in row.note else "moot"
    shade = heat(row.value / largest if largest else 0)
    notes = [
        spoken(test.note)
        for test in rows.where(statistic="p_tost").defined
        if test.note
    ]
    cell = estimate(row, style=f"{shade} {style}".strip())
    return replace(cell, notes=(*cell.notes, *notes))


def changes(report: Report, dataset: Dataset, rows: Rows) -> list[Table]:
    """Return the table of changes against plain forms and the first wording, if there
    are any.
    """
    first = {judge.model: judge for judge in reversed(report.judges)}
    wordings = rows.where(statistic=SUMS).names("criterion")
    changed: dict[str, dict[str, list[Row | None]]] = {}
    for judge in report.judges:
        plain = first[judge.model]
        for word in wordings if judge.model and judge is not plain else ():
            each = [
                tables.between(rows, judge, plain, name, criterion=word)
                for name in SUMS
            ]
            if any(each):
                of_judge = changed.setdefault(f"{judge.id} minus {plain.id}", {})
                of_judge[word or OWN_WORDING] = each
    for judge, wording in product(
        report.judges, filter(None, rows.names("criterion_b"))
    ):
        mine = rows.where(judge=judge.id, criterion_b=wording)
        if not judge.control and len(mine.defined):
            changed[f"{judge.id}, minus the wording {wording}"] = {
                word: [
                    part.where(statistic=f"difference_{name}").first for name in SUMS
                ]
                for word, part in mine.by("criterion").items()
            }
    bodies = [
        Body(
            [Line(head, [*map(estimate, each)]) for head, each in lines.items()], title
        )
        for title, lines in changed.items()
    ]
    if not bodies:
        return []
    columns = [
        Column(label(f"difference_{name}"), statistic(name).meaning) for name in SUMS
    ]
    caption = f"{dataset.name}: changes in another form or another wording."
    return [Table(caption, "Wording", columns, bodies, CHANGE_NOTES, code=False)]


# --- correlations of aspects ----------------------------------------------------------


@tables.section_of("Evidence", 30, "criteria", "Correlated criteria", CRITERIA_LEAD)
def criteria(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield the correlations of each judge's aspects and wordings, folded after the
    first.

    None for a single aspect: table `criteria` then has only its correlation with
    people.
    """
    if len(dataset.aspects) < 2:
        return
    whose = "the planned ratings" if dataset.planned else "people's ratings"
    sentences = [
        f"`{row.judge}`: {round((row.value or 0) * row.n)} of {row.n} aspects"
        f"{f' in the criterion {row.criterion}' if row.criterion else ''} correlate "
        f"more with {whose} of another aspect than with those of their own."
        for row in rows.where(statistic="cross_aspect_share").defined
    ]
    if sentences:
        yield Text(f"Judges of {dataset.name} and {whose}:", items=sentences)
    correlations = rows.where(
        statistic="pearson", judge=tuple(judge.id for judge in report.judges)
    )
    kinds = {
        (
            "systems",
            tables.PEOPLE,
        ): f"each judge (rows) with {whose} (columns), texts of systems",
        ("systems", ""): "scores of each judge for two aspects, texts of systems",
        (
            "all",
            "",
        ): "scores of each judge for two aspects, originals and perturbed texts",
    }
    drawn = [
        _pairs(report, part, f"{dataset.name}: {about}")
        for (texts, other), about in kinds.items()
        if len(part := correlations.where(perturbation=texts, judge_b=other))
    ]
    yield from drawn[:1]
    if others := drawn[1:]:
        yield Fold(
            f"{dataset.name}: correlations between the aspects of each judge", others
        )


def _pairs(report: Report, rows: Rows, about: str) -> Figure:
    """Return r of every two aspects, or wordings, that the rows have, for every
    judge.
    """
    pairs = {
        (
            row.judge,
            row.judged,
            ".".join(filter(None, (row.aspect_b, row.criterion_b))),
        ): row
        for row in rows
    }
    aspects, others = (
        list(dict.fromkeys(place[at] for place in pairs)) for at in (1, 2)
    )
    names = {aspect: report.aspect(aspect) for aspect in (*aspects, *others)}
    panels, bodies = [], []
    diagonal = [(name, name) for name in names.values()]
    for judge in report.judges_of(rows):
        known = {
            (names[one], names[other]): row.value
            for (name, one, other), row in pairs.items()
            if name == judge.id and row.value is not None
        }
        panels.append(HeatMap(tables.labelled(judge), known, diagonal))
        lines = [
            Line(
                names[one],
                [_correlation(pairs.get((judge.id, one, b))) for b in others],
            )
            for one in aspects
        ]
        bodies.append(Body(lines, judge.id))
    columns = tables.aspect_columns(report, others)
    return Figure(
        about,
        svg(
            heatmap_spec(
                panels, [names[one] for one in aspects], [names[one] for one in others]
            )
        ),
        "Pearson's r of two aspects; if a judge distinguishes aspects, the diagonal is "
        "darkest.",
        heat_keys(
            "r above 0: the darker, the closer to 1", "r below 0", "the same aspect"
        ),
        Table(f"Pearson r: {about}.", "Aspect", columns, bodies, code=False),
    )


def _correlation(row: Row | None) -> Cell:
    return (
        Cell(figures(row), sort=row.value, title=f"n = {row.n}", row=row)
        if row
        else NO_CELL
    )
