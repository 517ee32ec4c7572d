"""The first screen: what was measured, and how well each judge does."""

from dataclasses import dataclass

from metajudge.report.elements import (
    Block,
    Cell,
    Column,
    Facts,
    Fold,
    Heading,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from metajudge.report.numbers import count, listed, plural
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Row
from metajudge.report.sections.shared import agreed_with, bodies
from metajudge.report.words import label

STATISTIC, LEVEL = "spearman", "pooled"
SCORES = ("D_avg", "D_avg_exact", "D_min", "D_min_exact")
BELOW = "†"


@dataclass(frozen=True)
class Measure:
    """A column of the table of judges: a statistic, of an aspect or over all."""

    table: str
    statistic: str
    aspect: str = ""

    def row(self, report: Report, dataset: Dataset, judge: Judge) -> Row | None:
        """Return the judge's row."""
        level = LEVEL if self.aspect else ""
        place = (dataset.id, judge.id, self.statistic)
        return report.rows(self.table).at(*place, aspect=self.aspect, level=level)


def section(report: Report) -> Section:
    """Return the table of judges of every dataset, with the warnings that it calls for."""
    blocks: list[Block] = []
    for dataset in report.datasets:
        blocks.append(Heading(dataset.name, f"judges-{dataset.id}"))
        blocks += _dataset(report, dataset)
    return Section("judges", "The judges", _lead(report), blocks)


def measured(report: Report) -> str:
    """Return in one line of numbers what was measured."""
    controls = sum(judge.control for judge in report.judges)
    cells = report.rows("coverage").where(statistic="coverage")
    judged = sum(row.value is not None for row in cells)
    replies = sum(row.value or 0 for row in report.rows("coverage").where(statistic="count_ok"))
    counts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(set_.found["items"] for set_ in report.datasets), "item"),
        plural(sum(set_.found["targets"] for set_ in report.datasets), "rated text"),
        f"{plural(len(report.judges) - controls, 'judge')} and {plural(controls, 'control')}",
        plural(len(report.damages), "kind of damage", "kinds of damage") if report.damages else "",
        f"{plural(round(replies), 'judgment')} in {plural(judged, 'cell')}",
    ]
    return " · ".join(part for part in counts if part)


def _lead(report: Report) -> str:
    parts = []
    if len(report.rows("agreement")):
        parts.append(
            f"Agreement is the {label(STATISTIC)} correlation over all targets pooled; other "
            "statistics and levels are under Agreement."
        )
    if len(report.rows("discernment")):
        parts.append(
            "D tells how surely a judge scores a damaged text below its original: from 1 on, "
            "p ≤ 0.05."
        )
    parts.append("Brackets hold 95 % intervals.")
    parts.append("Controls know nothing of quality: a judge should beat every one of them.")
    return " ".join(parts)


def _dataset(report: Report, dataset: Dataset) -> list[Block]:
    measures = _measures(report, dataset)
    if not measures:
        return [Text("The study plans no statistic on this dataset that has a value per judge.")]
    warned = _outranked(report, dataset, measures)
    blocks: list[Block] = []
    if any(measure.aspect for measure in measures) and dataset.planned:
        blocks.append(Text(f"These numbers are {agreed_with(dataset)}.", style="notice"))
    blocks.append(_table(report, dataset, measures, bool(warned)))
    if warned:
        blocks.append(
            Text(
                "Warning: by point estimate, a control ranks above a real judge here.",
                items=warned,
                style="warning",
            )
        )
    blocks.append(_signatures(report, dataset, measures))
    return blocks


def _measures(report: Report, dataset: Dataset) -> list[Measure]:
    planned = [Measure("agreement", STATISTIC, aspect) for aspect in dataset.aspects]
    planned += [Measure("discernment", statistic) for statistic in SCORES]
    return [m for m in planned if any(m.row(report, dataset, judge) for judge in report.judges)]


def _table(report: Report, dataset: Dataset, measures: list[Measure], warned: bool) -> Table:
    def cells(judge: Judge) -> list[Cell]:
        return [_cell(report, dataset, measure, judge) for measure in measures]

    agreement = f"Agreement: {label(STATISTIC)}, pooled"
    columns = [
        Column(report.aspect(m.aspect), group=agreement)
        if m.aspect
        else Column(label(m.statistic), group="Discernment")
        for m in measures
    ]
    said = agreed_with(dataset) if any(m.aspect for m in measures) else "discernment"
    notes = [f"{BELOW} below at least one control, by point estimate."] if warned else []
    if any(not measure.aspect for measure in measures):
        notes.append(
            "D_avg and D_min are as published; the exact columns hold their error rate and are "
            "the ones to trust."
        )
    return Table(
        f"{dataset.name}: {said}. {_counts(report, dataset, measures)}".strip(),
        "Judge",
        columns,
        bodies(report.judges, cells),
        notes,
    )


def _cell(report: Report, dataset: Dataset, measure: Measure, judge: Judge) -> Cell:
    row = measure.row(report, dataset, judge)
    below = not judge.control and row is not None and _above(report, dataset, measure, row)
    return estimate(row, mark=BELOW if below else "")


def _counts(report: Report, dataset: Dataset, measures: list[Measure]) -> str:
    """Return the number of targets, or its range, and of items behind the columns."""
    told = []
    for noun, of_aspect in (("targets", True), ("items", False)):
        rows = [
            row
            for measure in measures
            if bool(measure.aspect) == of_aspect
            for judge in report.judges
            if (row := measure.row(report, dataset, judge)) and row.value is not None
        ]
        sizes = sorted({row.n for row in rows})
        if sizes:
            span = count(sizes[0]) + (f" to {count(sizes[-1])}" if sizes[1:] else "")
            told.append(f"n = {span} {noun}")
    return f"{'; '.join(told)}." if told else ""


def _above(report: Report, dataset: Dataset, measure: Measure, row: Row) -> list[Row]:
    """Return the controls' rows whose value lies above that of `row`."""
    controls = (measure.row(report, dataset, judge) for judge in report.judges if judge.control)
    return [
        one
        for one in controls
        if one and one.value is not None and row.value is not None and one.value > row.value
    ]


def _outranked(report: Report, dataset: Dataset, measures: list[Measure]) -> list[str]:
    """Return a sentence for every measure and control that ranks above a real judge."""
    found = []
    for measure in measures:
        beaten: dict[str, tuple[Row, list[Row]]] = {}
        for judge in report.judges:
            row = None if judge.control else measure.row(report, dataset, judge)
            for above in _above(report, dataset, measure, row) if row else []:
                beaten.setdefault(above.judge, (above, []))[1].append(row)  # type: ignore[arg-type]
        name = report.aspect(measure.aspect) if measure.aspect else label(measure.statistic)
        found += [
            f"{name}: control `{control}` {figures(own)} ranks above "
            + listed([f"`{row.judge}` {figures(row)}" for row in rows])
            + "."
            for control, (own, rows) in beaten.items()
        ]
    return found


def _signatures(report: Report, dataset: Dataset, measures: list[Measure]) -> Fold:
    """Return the signatures behind the table; the same for every aspect."""
    found = {}
    for judge in report.judges:
        for measure in measures:
            row = measure.row(report, dataset, judge)
            if row is not None and row.signature:
                found[row.signature] = judge.id
    pairs = [(judge, signature) for signature, judge in found.items()]
    return Fold("Signatures of these numbers", [Facts(pairs, code=True)])
