"""The first screen: what was measured, and what may be said of each judge."""

from collections.abc import Iterator, Sequence
from functools import partial

from judgescope.report.cells import UNDEFINED, Cell, dollars_cell, estimate, short
from judgescope.report.elements import Block, Body, Column, Facts, Fold, Line, Section, Table, Text
from judgescope.report.headline import PERSON, SINGULAR, Measure, measures
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.sections.agreement import LETTERS
from judgescope.report.sections.cost import price_per_1000, total
from judgescope.report.sections.trust import sentences
from judgescope.report.tables import agreed_with, by_dataset, judge_bodies
from judgescope.report.words import THOUSAND, count, listed, plural, spoken

BELOW = "†"
LEADS = {
    "agreement": "Agreement is the rank correlation that decides the claim: within each source, "
    "the mean over sources (one score for all texts of a source counts 0), or pooled where too "
    "few sources have different ratings. Other statistics and levels are under Agreement.",
    "discernment": "D is how surely a judge scores perturbed texts below their originals: of one "
    "perturbation, 1 is p = 0.05. An average of several is no p-value.",
    "confusion": "The confusion index is what a judge takes off an aspect for perturbations that "
    "should not lower it, over what it takes off for those that should: 0 is best.",
}
"""Table -> what its numbers on the first screen are."""
LEAD = (
    "Brackets hold 95 % intervals. Controls know nothing of quality: a judge should beat every one "
    "of them."
)


def section(report: Report) -> Section:
    """Return a sentence per judge, and of every dataset a table with the warnings it calls for."""
    blocks = sentences(report)
    blocks += by_dataset(report.datasets, "judges", partial(_dataset, report))
    leads = [lead for table, lead in LEADS.items() if len(report.rows(table))]
    return Section("judges", "The judges", " ".join([*leads, LEAD]), blocks)


def measured(report: Report) -> str:
    """Return in one line of numbers what was measured."""
    controls = sum(judge.control for judge in report.judges)
    replies, cells = 0.0, set()
    for dataset in report.datasets:
        rows = report.rows("coverage", dataset.id)
        replies += total(rows, "count_ok")
        cells |= {
            (row.dataset, row.cell, row.judge)
            for row in rows.where(statistic="coverage")
            if row.value is not None
        }
    rated = sum(dataset.counts.targets for dataset in report.datasets)
    kinds = {perturbation.name for perturbation in report.perturbations}
    parts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(dataset.counts.items for dataset in report.datasets), "item"),
        plural(rated, "rated text") if rated else "",
        f"{plural(len(report.judges) - controls, 'judge')} and {plural(controls, 'control')}",
        plural(len(kinds), "perturbation") if kinds else "",
        f"{plural(round(replies), 'judgment')} in {plural(len(cells), 'cell')}",
    ]
    return " · ".join(part for part in parts if part)


def _dataset(report: Report, dataset: Dataset) -> Iterator[Block]:
    planned = measures(report, dataset)
    if not planned:
        yield Text("The study plans no statistic on this dataset that has a value per judge.")
        return
    real = [judge for judge in report.judges if not judge.control]
    shown = [measure for measure in planned if measure.defined(real)]
    outranked = [text for measure in shown for text in _outranked(measure, real)]
    if shown:
        yield _table(report, dataset, shown, bool(outranked))
    if outranked:
        warning = "Warning: by point estimate, a control ranks above a real judge here."
        yield Text(warning, items=outranked, style="warning")
    undefined = []
    for measure in planned:
        if measure not in shown:
            rows = map(measure.row, report.judges)
            reasons = dict.fromkeys(spoken(row.note) for row in rows if row and row.value is None)
            undefined.append(f"{measure.group}, {measure.name}: {'; '.join(reasons)}.")
    if undefined:
        yield Text("Planned, but defined for no judge here:", items=undefined)
    signatures = []
    for judge in report.judges:
        numbers = filter(None, (measure.row(judge) for measure in planned))
        signatures += [(row.judge, row.signature) for row in numbers][:1]
    note = "Of each judge's first number; those of the others differ in the parts stat and level."
    yield Fold("Signatures", [Text(note, style="small"), Facts(signatures, code=True)])


def _table(report: Report, dataset: Dataset, shown: list[Measure], warned: bool) -> Table:
    costs = report.rows("cost", dataset.id)
    priced = len(costs) > 0

    def cells(judge: Judge) -> list[Cell]:
        found = []
        for measure in shown:
            row = measure.row(judge)
            below = BELOW if not judge.control and measure.below_control(row) else ""
            found.append(estimate(row, mark=f"{measure.letters(judge)}{below}"))
        price = price_per_1000(costs.where(judge=judge.id))
        return [*found, *([dollars_cell(price)] if priced else [])]

    bodies = judge_bodies(report.judges, cells)
    people = [measure.row(PERSON) for measure in shown]
    if any(row and row.value is not None for row in people):
        each = [estimate(row) if row else UNDEFINED for row in people]
        line = Line("people", [*each, *([Cell("")] if priced else [])], about=PERSON.about)
        bodies.insert(0, Body([line]))
    columns = [Column(measure.name, group=measure.group) for measure in shown]
    columns += [Column(f"US$ per {THOUSAND} judgments", group="Cost")] if priced else []
    notes = [f"{BELOW} Below at least one control, by point estimate."] if warned else []
    if any(measure.letters(judge) for measure in shown for judge in report.judges):
        notes.append(LETTERS)
    tables = dict.fromkeys(measure.table for measure in shown)
    about = agreed_with(dataset) if "verdicts" in tables else " and ".join(tables)
    caption = f"{dataset.name}: {about}. {_sizes(shown, report.judges)}".strip()
    return Table(caption, "Judge", columns, bodies, notes)


def _sizes(shown: list[Measure], judges: Sequence[Judge]) -> str:
    """Return the number of targets, or its range, and of items behind the columns."""
    every: dict[str, set[int]] = {}
    for measure in shown:
        for row in measure.defined(judges):
            every.setdefault(measure.counted(row), set()).add(row.n)
    parts = []
    for noun, sizes in every.items():
        least, most = min(sizes), max(sizes)
        span = count(least) + (f" to {count(most)}" if most > least else "")
        parts.append(f"n = {span} {noun if most != 1 else SINGULAR[noun]}")
    return f"{'; '.join(parts)}." if parts else ""


def _outranked(measure: Measure, real: Sequence[Judge]) -> Iterator[str]:
    """Yield a sentence where a control ranks above a real judge."""
    known, control = measure.defined(real), measure.best_control
    under = [row for row in known if measure.below_control(row)]
    if control and under:
        names = listed([f"`{row.judge}` ({short(row)})" for row in under])
        word = f" (wording {measure.criterion})" if measure.criterion else ""
        yield (
            f"{measure.name}{word}: control `{control.judge}` ({short(control)}) ranks "
            f"above {len(under)} of {plural(len(known), 'judge')}: {names}."
        )
