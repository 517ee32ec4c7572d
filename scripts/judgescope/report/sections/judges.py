"""The first screen: what was measured, and what may be said of each judge."""

from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Facts,
    Fold,
    Heading,
    Line,
    Section,
    Table,
    Text,
    dollars,
    estimate,
    short,
)
from judgescope.report.headline import SINGULAR, Measure, below, best_control, measures
from judgescope.report.numbers import DASH, THOUSAND, count, listed, plural
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections.agreement import LETTERS
from judgescope.report.sections.cost import price_per_1000
from judgescope.report.sections.shared import agreed_with, bodies
from judgescope.report.sections.trust import sentences
from judgescope.report.words import spoken

BELOW = "†"
PEOPLE = "human"
"""The judge of rows about people."""


def section(report: Report) -> Section:
    """Return a sentence per judge, and of every dataset a table with the warnings it calls for."""
    blocks = sentences(report)
    for dataset in report.datasets:
        blocks.append(Heading(dataset.name, f"judges-{dataset.id}"))
        blocks += _dataset(report, dataset)
    return Section("judges", "The judges", _lead(report), blocks)


def measured(report: Report) -> str:
    """Return in one line of numbers what was measured."""
    controls = sum(judge.control for judge in report.judges)
    known = {set_.id for set_ in report.datasets}
    of_these = [row for row in report.rows("coverage") if row.dataset in known]
    cells = {
        (row.dataset, row.perturbation, row.degree, row.judge)
        for row in of_these
        if row.statistic == "coverage" and row.value is not None
    }
    replies = sum(row.value or 0 for row in of_these if row.statistic == "count_ok")
    rated = sum(set_.found["targets"] for set_ in report.datasets)
    kinds = {damage.name for damage in report.damages}
    counts = [
        plural(len(report.datasets), "dataset"),
        plural(sum(set_.found["items"] for set_ in report.datasets), "item"),
        plural(rated, "rated text") if rated else "",
        f"{plural(len(report.judges) - controls, 'judge')} and {plural(controls, 'control')}",
        plural(len(kinds), "kind of damage", "kinds of damage") if kinds else "",
        f"{plural(round(replies), 'judgment')} in {plural(len(cells), 'cell')}",
    ]
    return " · ".join(part for part in counts if part)


def _lead(report: Report) -> str:
    parts = []
    if len(report.rows("agreement")):
        parts.append(
            "Agreement is the rank correlation that decides the claim: within each source, the "
            "mean over sources (one score for all texts of a source counts 0), or pooled where "
            "too few sources have different ratings. Other statistics and levels are under "
            "Agreement."
        )
    if len(report.rows("discernment")):
        parts.append(
            "D tells how surely a judge scores a damaged text below its original, by p-values that "
            "hold their error rate: from 1 on, p ≤ 0.05."
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
    planned = measures(report, dataset)
    if not planned:
        return [Text("The study plans no statistic on this dataset that has a value per judge.")]
    shown = [one for one in planned if any(_known(report, dataset, one))]
    warned = _outranked(report, dataset, shown)
    blocks: list[Block] = []
    if shown:
        blocks.append(_table(report, dataset, shown, bool(warned)))
    if warned:
        blocks.append(
            Text(
                "Warning: by point estimate, a control ranks above a real judge here.",
                items=warned,
                style="warning",
            )
        )
    missing = _undefined(report, dataset, [one for one in planned if one not in shown])
    if missing:
        blocks.append(Text("Planned, but defined for no judge here:", items=missing))
    blocks.append(_signatures(report, dataset, planned))
    return blocks


def _known(report: Report, dataset: Dataset, measure: Measure) -> list[Row]:
    """Return the measure's defined rows of judges that are no controls."""
    rows = (measure.row(report, dataset, judge) for judge in report.judges if not judge.control)
    return [row for row in rows if row and row.value is not None]


def _undefined(report: Report, dataset: Dataset, planned: list[Measure]) -> list[str]:
    """Return a sentence for every measure that no judge has, with the reasons."""
    found = []
    for measure in planned:
        rows = (measure.row(report, dataset, judge) for judge in report.judges)
        reasons = dict.fromkeys(spoken(row.note) for row in rows if row and row.value is None)
        found.append(f"{measure.group}, {measure.name(report)}: {'; '.join(reasons)}.")
    return found


def _table(report: Report, dataset: Dataset, shown: list[Measure], warned: bool) -> Table:
    costs = report.rows("cost").where(dataset=dataset.id)
    ranked = any(letters(report, dataset, one, judge) for one in shown for judge in report.judges)

    def cells(judge: Judge) -> list[Cell]:
        own = costs.where(judge=judge.id)
        price = [dollars(price_per_1000(own))] if len(costs) else []
        return [*(_cell(report, dataset, measure, judge) for measure in shown), *price]

    columns = [Column(one.name(report), group=one.group) for one in shown]
    columns += [Column(f"US$ per {THOUSAND} judgments", group="Cost")] if len(costs) else []
    tables = dict.fromkeys(measure.table for measure in shown)
    said = agreed_with(dataset) if "verdicts" in tables else " and ".join(tables)
    notes = [f"{BELOW} Below at least one control, by point estimate."] if warned else []
    if ranked:
        notes.append(LETTERS)
    return Table(
        f"{dataset.name}: {said}. {_counts(report, dataset, shown)}".strip(),
        "Judge",
        columns,
        [*_people(report, dataset, shown, bool(len(costs))), *bodies(report.judges, cells)],
        notes,
    )


def _people(report: Report, dataset: Dataset, shown: list[Measure], costs: bool) -> list[Body]:
    """Return the row of what a rater gets in a judge's place; none where that is not known."""
    person = Judge(PEOPLE, PEOPLE, "one rater, against the others")
    rows = [measure.row(report, dataset, person) for measure in shown]
    if not any(row and row.value is not None for row in rows):
        return []
    cells = [estimate(row) if row else Cell(DASH, style="undefined") for row in rows]
    line = Line("people", [*cells, *([Cell("")] if costs else [])], about=person.about)
    return [Body([line])]


def _cell(report: Report, dataset: Dataset, measure: Measure, judge: Judge) -> Cell:
    row = measure.row(report, dataset, judge)
    worse = not judge.control and below(measure, row, best_control(report, dataset, measure))
    shared = letters(report, dataset, measure, judge)
    return estimate(row, mark=f"{shared}{BELOW if worse else ''}")


def letters(report: Report, dataset: Dataset, measure: Measure, judge: Judge) -> str:
    """Return the letters of the groups that a test puts the judge in, "" where none was made."""
    if not measure.ranked:
        return ""
    place = (dataset.id, judge.id, f"rank_{measure.statistic}")
    row = report.rows("comparison").at(*place, aspect=measure.aspect, level=measure.level)
    return row.group if row else ""


def _counts(report: Report, dataset: Dataset, shown: list[Measure]) -> str:
    """Return the number of targets, or its range, and of items behind the columns."""
    told = []
    for noun in dict.fromkeys(measure.noun for measure in shown):
        rows = [
            row
            for measure in shown
            if measure.noun == noun
            for judge in report.judges
            if (row := measure.row(report, dataset, judge)) and row.value is not None
        ]
        sizes = sorted({row.n for row in rows})
        if sizes:
            span = count(sizes[0]) + (f" to {count(sizes[-1])}" if sizes[1:] else "")
            told.append(f"n = {span} {noun if sizes[-1] != 1 else SINGULAR[noun]}")
    return f"{'; '.join(told)}." if told else ""


def _outranked(report: Report, dataset: Dataset, shown: list[Measure]) -> list[str]:
    """Return a sentence for every measure on which a control ranks above a real judge."""
    found = []
    for measure in shown:
        known = _known(report, dataset, measure)
        control = best_control(report, dataset, measure)
        under = [row for row in known if below(measure, row, control)]
        if control and under:
            told = listed([f"`{row.judge}` ({short(row)})" for row in under])
            word = f" (wording {measure.criterion})" if measure.criterion else ""
            found.append(
                f"{measure.name(report)}{word}: control `{control.judge}` ({short(control)}) ranks "
                f"above {len(under)} of {plural(len(known), 'judge')}: {told}."
            )
    return found


def _signatures(report: Report, dataset: Dataset, shown: list[Measure]) -> Fold:
    """Return the signature of each row's first number; the others differ in `stat` and `level`."""
    pairs = []
    for judge in report.judges:
        rows = (measure.row(report, dataset, judge) for measure in shown)
        pairs += [(row.judge, row.signature) for row in filter(None, rows)][:1]
    told = Text(
        "Of each judge's first number; those of the others differ in the parts stat and level.",
        style="small",
    )
    return Fold("Signatures", [told, Facts(pairs, code=True)])
