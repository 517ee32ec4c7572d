"""The first screen: what was measured, and what may be said of each judge."""

from collections.abc import Iterator
from functools import partial

from judgescope.report.cells import UNDEFINED, Cell, dollars_cell, estimate, short
from judgescope.report.elements import Block, Body, Column, Facts, Fold, Line, Section, Table, Text
from judgescope.report.headline import PERSON, SINGULAR, Measure, below, best_control, measures
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row
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
    "discernment": "D tells how surely a judge scores a damaged text below its original: of one "
    "kind of damage, 1 is p = 0.05. An average of several is no p-value.",
    "confusion": "The confusion index is what a judge takes off for damage that should leave an "
    "aspect alone, over what it takes off for damage that should not: 0 is best.",
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
    kinds = {damage.name for damage in report.damages}
    parts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(dataset.counts.items for dataset in report.datasets), "item"),
        plural(rated, "rated text") if rated else "",
        f"{plural(len(report.judges) - controls, 'judge')} and {plural(controls, 'control')}",
        plural(len(kinds), "kind of damage", "kinds of damage") if kinds else "",
        f"{plural(round(replies), 'judgment')} in {plural(len(cells), 'cell')}",
    ]
    return " · ".join(part for part in parts if part)


def _dataset(report: Report, dataset: Dataset) -> Iterator[Block]:
    planned = measures(report, dataset)
    if not planned:
        yield Text("The study plans no statistic on this dataset that has a value per judge.")
        return
    shown = [measure for measure in planned if _known(report, dataset, measure)]
    outranked = _outranked(report, dataset, shown)
    if shown:
        yield _table(report, dataset, shown, bool(outranked))
    if outranked:
        warning = "Warning: by point estimate, a control ranks above a real judge here."
        yield Text(warning, items=outranked, style="warning")
    undefined = []
    for measure in planned:
        if measure not in shown:
            rows = (measure.row(report, dataset, judge) for judge in report.judges)
            reasons = dict.fromkeys(spoken(row.note) for row in rows if row and row.value is None)
            undefined.append(f"{measure.group}, {measure.name(report)}: {'; '.join(reasons)}.")
    if undefined:
        yield Text("Planned, but defined for no judge here:", items=undefined)
    yield _signatures(report, dataset, planned)


def _known(report: Report, dataset: Dataset, measure: Measure) -> list[Row]:
    """Return the measure's defined rows of judges that are no controls."""
    rows = (measure.row(report, dataset, judge) for judge in report.judges if not judge.control)
    return [row for row in rows if row and row.value is not None]


def _table(report: Report, dataset: Dataset, shown: list[Measure], warned: bool) -> Table:
    costs = report.rows("cost", dataset.id)
    priced = len(costs) > 0
    controls = {measure: best_control(report, dataset, measure) for measure in shown}

    def cells(judge: Judge) -> list[Cell]:
        found = []
        for measure in shown:
            row = measure.row(report, dataset, judge)
            worse = not judge.control and below(measure, row, controls[measure])
            shared = letters(report, dataset, measure, judge)
            found.append(estimate(row, mark=f"{shared}{BELOW if worse else ''}"))
        price = price_per_1000(costs.where(judge=judge.id))
        return [*found, *([dollars_cell(price)] if priced else [])]

    bodies = judge_bodies(report.judges, cells)
    people = [measure.row(report, dataset, PERSON) for measure in shown]
    if any(row and row.value is not None for row in people):
        each = [estimate(row) if row else UNDEFINED for row in people]
        line = Line("people", [*each, *([Cell("")] if priced else [])], about=PERSON.about)
        bodies.insert(0, Body([line]))
    columns = [Column(measure.name(report), group=measure.group) for measure in shown]
    columns += [Column(f"US$ per {THOUSAND} judgments", group="Cost")] if priced else []
    notes = [f"{BELOW} Below at least one control, by point estimate."] if warned else []
    if any(
        letters(report, dataset, measure, judge) for measure in shown for judge in report.judges
    ):
        notes.append(LETTERS)
    tables = dict.fromkeys(measure.table for measure in shown)
    about = agreed_with(dataset) if "verdicts" in tables else " and ".join(tables)
    caption = f"{dataset.name}: {about}. {_sizes(report, dataset, shown)}".strip()
    return Table(caption, "Judge", columns, bodies, notes)


def letters(report: Report, dataset: Dataset, measure: Measure, judge: Judge) -> str:
    """Return the letters of the groups that a test puts the judge in, "" where none was made."""
    if not measure.ranked:
        return ""
    rows = report.rows("comparison", dataset.id)
    name = f"rank_{measure.statistic}"
    row = rows.at(judge.id, name, aspect=measure.aspect, level=measure.level)
    return row.group if row else ""


def _sizes(report: Report, dataset: Dataset, shown: list[Measure]) -> str:
    """Return the number of targets, or its range, and of items behind the columns."""
    every: dict[str, set[int]] = {}
    for measure in shown:
        for judge in report.judges:
            row = measure.row(report, dataset, judge)
            if row and row.value is not None:
                every.setdefault(measure.counted(row), set()).add(row.n)
    parts = []
    for noun, sizes in every.items():
        least, most = min(sizes), max(sizes)
        span = count(least) + (f" to {count(most)}" if most > least else "")
        parts.append(f"n = {span} {noun if most != 1 else SINGULAR[noun]}")
    return f"{'; '.join(parts)}." if parts else ""


def _outranked(report: Report, dataset: Dataset, shown: list[Measure]) -> list[str]:
    """Return a sentence for every measure on which a control ranks above a real judge."""
    sentences = []
    for measure in shown:
        known = _known(report, dataset, measure)
        control = best_control(report, dataset, measure)
        under = [row for row in known if below(measure, row, control)]
        if control and under:
            names = listed([f"`{row.judge}` ({short(row)})" for row in under])
            word = f" (wording {measure.criterion})" if measure.criterion else ""
            sentences.append(
                f"{measure.name(report)}{word}: control `{control.judge}` ({short(control)}) ranks "
                f"above {len(under)} of {plural(len(known), 'judge')}: {names}."
            )
    return sentences


def _signatures(report: Report, dataset: Dataset, shown: list[Measure]) -> Fold:
    """Return the signature of each row's first number; the others differ in `stat` and `level`."""
    pairs = []
    for judge in report.judges:
        rows = filter(None, (measure.row(report, dataset, judge) for measure in shown))
        pairs += [(row.judge, row.signature) for row in rows][:1]
    note = "Of each judge's first number; those of the others differ in the parts stat and level."
    return Fold("Signatures", [Text(note, style="small"), Facts(pairs, code=True)])
