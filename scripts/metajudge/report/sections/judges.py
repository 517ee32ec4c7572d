"""The first screen: what was measured, and how well each judge does."""

import math
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
    short,
)
from metajudge.report.numbers import count, listed, plural
from metajudge.report.report import Dataset, Judge, Report
from metajudge.report.rows import Row
from metajudge.report.sections.known_order import AVERAGE
from metajudge.report.sections.shared import agreed_with, bodies
from metajudge.report.words import label

STATISTIC, LEVEL = "spearman", "pooled"
SCORES = ("D_avg", "D_avg_exact", "D_min", "D_min_exact")
CONFUSED = ("confusion_index", "confusion_auc")
VIEWS = (
    ("kappa_linear", "direct"),
    ("accuracy_adjacent", "direct"),
    ("kappa_linear", "global"),
    ("accuracy_adjacent", "local"),
)
ROBUST = ("alpha_pair", "sway")
ENSEMBLE = ("error_correlation_mean", "effective_judges")
LEAST_IS_BEST = {"confusion_index", "sway", "error_correlation_mean"}
BELOW = "†"


@dataclass(frozen=True)
class Measure:
    """A column of the table of judges: a statistic, of an aspect or over all.

    `group` is the heading above it, `noun` what its `n` counts.
    """

    table: str
    statistic: str
    group: str
    noun: str
    aspect: str = ""
    level: str = ""
    criterion: str = ""

    def row(self, report: Report, dataset: Dataset, judge: Judge) -> Row | None:
        """Return the judge's row."""
        place = (dataset.id, judge.id, self.statistic)
        where = {"aspect": self.aspect, "level": self.level, "criterion": self.criterion}
        return report.rows(self.table).at(*place, **where)  # type: ignore[arg-type]

    def merit(self, row: Row) -> float:
        """Return a number that is the higher the better; an undefined one is below all."""
        if row.value is None:
            return -math.inf
        return -row.value if self.statistic in LEAST_IS_BEST else row.value


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
    known = {set_.id for set_ in report.datasets}
    of_these = [row for row in report.rows("coverage") if row.dataset in known]
    judged = sum(row.value is not None for row in of_these if row.statistic == "coverage")
    replies = sum(row.value or 0 for row in of_these if row.statistic == "count_ok")
    rated = sum(set_.found["targets"] for set_ in report.datasets)
    counts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(set_.found["items"] for set_ in report.datasets), "item"),
        plural(rated, "rated text") if rated else "",
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
    if len(report.rows("confusion")):
        parts.append(
            "The confusion index is what a judge takes off for damage that should leave an aspect "
            "alone, over what it takes off for damage that should not: 0 is best."
        )
    parts.append("Brackets hold 95 % intervals.")
    parts.append("Controls know nothing of quality: a judge should beat every one of them.")
    return " ".join(parts)


def _dataset(report: Report, dataset: Dataset) -> list[Block]:
    measures = _measures(report, dataset)
    if not measures:
        return [Text("The study plans no statistic on this dataset that has a value per judge.")]
    warned = _outranked(report, dataset, measures)
    blocks: list[Block] = [_table(report, dataset, measures, bool(warned))]
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
    agreement = f"Agreement: {label(STATISTIC)}, pooled"
    planned = [
        Measure("agreement", STATISTIC, agreement, "targets", aspect, LEVEL)
        for aspect in dataset.aspects
    ]
    planned += [Measure("discernment", one, "Discernment", "items") for one in SCORES]
    planned += [*_confusion(report, dataset), *_perspectives(report, dataset)]
    planned += [*_robustness(report, dataset), *_ensemble(report, dataset)]
    return [m for m in planned if any(m.row(report, dataset, judge) for judge in report.judges)]


def _confusion(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the columns of confusion, in the wording that the table has first."""
    own = report.rows("confusion").where(dataset=dataset.id, statistic=CONFUSED)
    first = own.names("criterion")[:1]
    return [
        Measure("confusion", one, f"Confusion {word}".strip(), "items", criterion=word)
        for word in first
        for one in CONFUSED
    ]


def _perspectives(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the columns of perspectives, means over aspects in the wording that comes first."""
    own = report.rows("perspectives").where(dataset=dataset.id, aspect=AVERAGE)
    first = own.names("criterion")[:1]
    return [
        Measure("perspectives", name, f"Perspectives, {level}", "aspects", AVERAGE, level, word)
        for word in first
        for name, level in VIEWS
    ]


def _robustness(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the columns of robustness, means over aspects in the wording that comes first."""
    own = report.rows("robustness").where(dataset=dataset.id, aspect=AVERAGE)
    return [
        Measure("robustness", name, "Robustness", "aspects", AVERAGE, criterion=word)
        for word in own.names("criterion")[:1]
        for name in ROBUST
    ]


def _ensemble(report: Report, dataset: Dataset) -> list[Measure]:
    """Return the columns of ensemble, means over aspects in the wording that comes first."""
    own = report.rows("ensemble").where(dataset=dataset.id, aspect=AVERAGE)
    return [
        Measure("ensemble", name, "Ensemble", "aspects", AVERAGE, "pooled", word)
        for word in own.names("criterion")[:1]
        for name in ENSEMBLE
    ]


def _table(report: Report, dataset: Dataset, measures: list[Measure], warned: bool) -> Table:
    def cells(judge: Judge) -> list[Cell]:
        return [_cell(report, dataset, measure, judge) for measure in measures]

    columns = [Column(_named(report, measure), group=measure.group) for measure in measures]
    tables = dict.fromkeys(measure.table for measure in measures)
    said = agreed_with(dataset) if "agreement" in tables else " and ".join(tables)
    notes = [f"{BELOW} Below at least one control, by point estimate."] if warned else []
    if "discernment" in tables:
        notes.append(
            "D_avg and D_min are as published; the exact ones rest on p-values that hold their "
            "error rate, and are the ones to trust."
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
    control = _best_control(report, dataset, measure)
    merit = measure.merit
    below = row and row.value is not None and control and merit(row) < merit(control)
    return estimate(row, mark=BELOW if below and not judge.control else "")


def _counts(report: Report, dataset: Dataset, measures: list[Measure]) -> str:
    """Return the number of targets, or its range, and of items behind the columns."""
    told = []
    for noun in dict.fromkeys(measure.noun for measure in measures):
        rows = [
            row
            for measure in measures
            if measure.noun == noun
            for judge in report.judges
            if (row := measure.row(report, dataset, judge)) and row.value is not None
        ]
        sizes = sorted({row.n for row in rows})
        if sizes:
            span = count(sizes[0]) + (f" to {count(sizes[-1])}" if sizes[1:] else "")
            told.append(f"n = {span} {noun}")
    return f"{'; '.join(told)}." if told else ""


def _best_control(report: Report, dataset: Dataset, measure: Measure) -> Row | None:
    """Return the row of the control that ranks highest; the first of equals, never the oracle."""
    null = [judge for judge in report.judges if judge.engine == "control"]
    rows = (measure.row(report, dataset, judge) for judge in null)
    known = [row for row in rows if row and row.value is not None]
    return max(known, key=measure.merit, default=None)


def _outranked(report: Report, dataset: Dataset, measures: list[Measure]) -> list[str]:
    """Return a sentence for every measure on which a control ranks above a real judge."""
    found = []
    for measure in measures:
        rows = [measure.row(report, dataset, judge) for judge in report.judges if not judge.control]
        known = [row for row in rows if row and row.value is not None]
        control = _best_control(report, dataset, measure)
        merit = measure.merit
        below = [row for row in known if control and merit(row) < merit(control)]
        if control and below:
            told = listed([f"`{row.judge}` ({short(row)})" for row in below])
            found.append(
                f"{_named(report, measure)}: control `{control.judge}` ({short(control)}) ranks "
                f"above {len(below)} of {plural(len(known), 'judge')}: {told}."
            )
    return found


def _signatures(report: Report, dataset: Dataset, measures: list[Measure]) -> Fold:
    """Return the signature of each row's first number; the others differ in `stat` and `level`."""
    pairs = []
    for judge in report.judges:
        rows = (measure.row(report, dataset, judge) for measure in measures)
        pairs += [(row.judge, row.signature) for row in filter(None, rows)][:1]
    told = Text(
        "Of each judge's first number; those of the others differ in the parts stat and level.",
        style="small",
    )
    return Fold("Signatures", [told, Facts(pairs, code=True)])


def _named(report: Report, measure: Measure) -> str:
    agreed = measure.table == "agreement"
    return report.aspect(measure.aspect) if agreed else label(measure.statistic)
