"""Confusion: does damage to one quality lower the scores of others, too?"""

from collections.abc import Iterator, Sequence

import numpy as np

from judgescope.report.charts import BLUE, FILL_BLUE, FILL_RED, RED, Box, Series, box_spec, svg
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Key,
    Line,
    Section,
    Table,
    estimate,
)
from judgescope.report.headline import between
from judgescope.report.report import Damage, Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.shared import bodies, columns_of, labelled, matrix, section_of
from judgescope.report.words import label, spoken
from judgescope.statistics.registry import STATISTICS

SHARES = ("wanted_shown", "unwanted_no_drop", "unwanted_drop", "unwanted_undecided")
WANTED, KEPT = "should drop", "should stay"
SERIES = (Series(WANTED, "blue", FILL_BLUE, BLUE), Series(KEPT, "red", FILL_RED, RED))
STEPS = (0.1, 0.25, 0.5, 0.75)
"""Of a judge's largest drop: where the next shade begins."""
LEAD = (
    "Damage to one quality should lower that quality's score and leave others as they are. Δ is "
    "the mean drop of a score; S_T is its mean where a drop is wanted, S_F where none is. A judge "
    "that keeps qualities apart has a confusion index, S_F over S_T, near 0 and an AUC near 1."
)
SUMS = ("s_t_mean", "s_f_mean", "confusion_index", "confusion_auc")
OWN_WORDING = "the cards' wording"
CHANGE_NOTES = (
    "A form less the first judge of its model, a wording less the first one of the study, on the "
    "same drops of the same items. Where the interval holds 0, no change is shown.",
    "Points of a score that is computed from errors are no points of a rating: of such a form, "
    "read the index and the AUC.",
)


def section(report: Report) -> Section | None:
    """Return per dataset and wording the sums, the spread of drops, and all of them, folded.

    What other forms and wordings change stands behind them.
    """
    return section_of(report, "confusion", "Confusion of criteria", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    found: list[Block] = []
    for criterion in rows.where(statistic=SUMS).names("criterion"):
        part = rows.where(criterion=criterion)
        found += _wording(report, dataset, part, criterion)
    return found + changes(report, dataset, rows)


def _wording(report: Report, dataset: Dataset, rows: Rows, criterion: str) -> list[Block]:
    name = f"{dataset.name}, criterion {criterion}" if criterion else dataset.name
    present = [
        judge
        for judge in report.judges
        if any(row.value is not None for row in rows.where(judge=judge.id, statistic="delta"))
    ]
    found: list[Block] = [_sums(report, dataset, rows, criterion, name)]
    figure = _figure(rows, present, name)
    found += [figure] if figure else []
    found += matrix(rows, dataset, present, "confusion_index", name, criterion)
    return found + [
        Fold(f"Drops of {judge.id}: {name}", [_matrix(report, dataset, rows, judge, name)])
        for judge in present
    ]


def _sums(report: Report, dataset: Dataset, rows: Rows, criterion: str, name: str) -> Table:
    def cells(judge: Judge) -> list[Cell]:
        found = [
            rows.at(dataset.id, judge.id, one, criterion=criterion) for one in (*SUMS, *SHARES)
        ]
        return [estimate(row) if row else Cell("–", style="undefined") for row in found]

    columns = [*columns_of(SUMS, "Drops"), *columns_of(SHARES, "Verdicts")]
    notes = [
        "Verdicts rest on tests of every cell: a drop that is shown, and one that is shown to be "
        "within the margin; what is neither is undecided, and the table says how many items would "
        "tell (`items_needed`)."
    ]
    caption = f"{name}: wanted and unwanted drops."
    return Table(caption, "Judge", columns, bodies(report.judges, cells), notes)


def _figure(rows: Rows, judges: Sequence[Judge], name: str) -> Figure | None:
    boxes, told = [], []
    for judge in judges:
        own = rows.where(judge=judge.id, statistic="delta")
        scale = max((abs(row.value) for row in own if row.value is not None), default=0)
        for one in SERIES:
            values = [row.value for row in own if row.value is not None and one.name in row.note]
            if values and scale:
                boxes.append(_box(labelled(judge), one.name, np.array(values) / scale))
                told.append(_line(judge, one.name, np.array(values)))
    if not boxes:
        return None
    groups = list(dict.fromkeys(box.group for box in boxes))
    axis = "drop as a share of the judge's largest; box: quartiles, line: median"
    columns = [
        Column(each) for each in ("Cells", "Least", "Quartile", "Median", "Quartile", "Most")
    ]
    numbers = Table(f"{name}: the drops of every cell.", "Judge", columns, [Body(told)])
    return Figure(
        f"{name}: wanted and unwanted drops of each judge",
        svg(box_spec(boxes, groups, SERIES, line=0, x=axis)),
        "The two boxes of a judge that keeps qualities apart do not overlap.",
        [Key(one.sign, one.style, one.name) for one in SERIES],
        numbers,
    )


def _spread(values: np.ndarray) -> list[float]:
    return [float(one) for one in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]


def _box(group: str, series: str, values: np.ndarray) -> Box:
    return Box(group, series, *_spread(values))


def _line(judge: Judge, expected: str, values: np.ndarray) -> Line:
    shown = [Cell(f"{one:.3g}".replace("-", "−"), sort=one) for one in _spread(values)]
    return Line(judge.id, [Cell(str(len(values)), sort=len(values)), *shown], about=expected)


def _matrix(report: Report, dataset: Dataset, rows: Rows, judge: Judge, name: str) -> Table:
    """Return damage by aspect: wanted drops outlined, a shade for every step of the drop."""
    own = rows.where(judge=judge.id)
    deltas = own.where(statistic="delta")
    largest = max((abs(row.value) for row in deltas if row.value is not None), default=0)
    aspects = [each for each in dataset.aspects if deltas.where(judged=each)]

    def cells(damage: Damage) -> list[Cell]:
        places = [deltas.where(judged=aspect, cell=damage.cell) for aspect in aspects]
        tests = [own.where(judged=aspect, cell=damage.cell) for aspect in aspects]
        return [
            _cell(next(iter(place), None), test, largest)
            for place, test in zip(places, tests, strict=True)
        ]

    damages = [damage for damage in report.damages if deltas.where(cell=damage.cell)]
    lines = [Line(damage.name, cells(damage), about=damage.degree) for damage in damages]
    notes = [
        "Outlined: a drop is wanted. Grey: nothing is expected. Shaded from a tenth of the judge's "
        "largest drop on, in steps at a quarter, half and three quarters."
    ]
    caption = f"{name}: Δ of {judge.id}, {STATISTICS['delta'].meaning}."
    columns = [Column(report.aspect(aspect)) for aspect in aspects]
    return Table(caption, "Damage", columns, [Body(lines)], notes, code=False)


def _cell(row: Row | None, tests: Rows, largest: float) -> Cell:
    if row is None or row.value is None:
        return estimate(row)
    style = "wanted" if WANTED in row.note else "" if KEPT in row.note else "moot"
    share = row.value / largest if largest else 0
    shade = f"heat-{sum(share >= step for step in STEPS)}"
    equivalence = tests.where(statistic="p_tost")
    said = [one.note for one in equivalence if one.note and one.value is not None]
    found = estimate(row, style=f"{shade} {style}".strip())
    return Cell(**{**vars(found), "notes": (*found.notes, *map(spoken, said))})


def changes(report: Report, dataset: Dataset, rows: Rows) -> list[Table]:
    """Return the table of changes against plain forms and the first wording, if there are any."""
    parts = [*_changed_forms(report, dataset, rows), *_changed_wordings(report, rows)]
    if not parts:
        return []
    columns = [Column(label(f"difference_{one}"), STATISTICS[one].meaning) for one in SUMS]
    caption = f"{dataset.name}: what another form, or another wording, changes."
    return [Table(caption, "Wording", columns, parts, CHANGE_NOTES, code=False)]


def _changed_forms(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge whose model has a judge before it, its changes by wording."""
    first = {judge.model: judge for judge in reversed(report.judges)}
    for judge in report.judges:
        plain = first[judge.model]
        if not judge.model or judge is plain:
            continue
        found = {
            criterion: [between(rows, dataset, judge, plain, one, criterion) for one in SUMS]
            for criterion in rows.where(statistic=SUMS).names("criterion")
        }
        lines = [
            Line(criterion or OWN_WORDING, [estimate(row) for row in each])
            for criterion, each in found.items()
            if any(each)
        ]
        if lines:
            yield Body(lines, f"{judge.id}, less {plain.id}")


def _changed_wordings(report: Report, rows: Rows) -> Iterator[Body]:
    """Yield, for every judge with a value in several wordings, their changes."""
    for judge in report.judges:
        for first in filter(None, rows.names("criterion_b")):
            changed = rows.where(judge=judge.id, criterion_b=first)
            if not judge.control and any(row.value is not None for row in changed):
                lines = [
                    Line(criterion, [estimate(_changed(changed, criterion, one)) for one in SUMS])
                    for criterion in changed.names("criterion")
                ]
                yield Body(lines, f"{judge.id}, less the wording {first}")


def _changed(rows: Rows, criterion: str, name: str) -> Row | None:
    return next(iter(rows.where(criterion=criterion, statistic=f"difference_{name}")), None)
