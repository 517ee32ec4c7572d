"""Rubrics: does a grader mark criteria as experts do, and what do its scores say?"""

from collections.abc import Iterator
from typing import Final

from judgescope.report import tables
from judgescope.report.cells import NO_CELL, ReportCell, estimate, figures
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import label, p_value, plural
from judgescope.report.worse_slices import worse_slice

LEAD: Final = (
    "A rubric has criteria with points. A case is a verdict of the judge on one "
    "criterion of one response, beside one expert's label. Unread is not unmet: both "
    "scores stand here. Lists of criteria are for people to look at; none is removed."
)
CASES: Final = (
    "rubric_balanced_accuracy",
    "rubric_f1",
    "rubric_tpr",
    "rubric_tnr",
    "rubric_kappa",
    "as_rater_rubric_f1",
)
SCORES: Final = (
    "rubric_score",
    "rubric_score_unmet",
    "rubric_unread",
    "rubric_error",
    "normal_scores",
    "spearman",
    "rubric_order",
    "rubric_order_plain",
)
CRITERIA: Final = (
    "rubric_balanced_accuracy",
    "slice_gap_rubric_balanced_accuracy",
    "slice_p_holm_rubric_balanced_accuracy",
    "criterion_met",
    "rubric_kappa",
    "alpha_nominal",
)


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield what is named, the numbers of cases and scores, systems, and criteria."""
    refused = rows.where(judge=tables.PEOPLE, statistic="rubric_score").undefined
    for row in refused:
        if not row.system_subset:
            yield Paragraph(f"{dataset.name}: no rubric, {row.note}.")
            return
    sentences = [*_sentences(report, rows)]
    yield Paragraph(f"{dataset.name}:", items=sentences)
    for row in rows:
        for part in row.note.split("; "):
            if part.startswith("warning: ") and not row.system_subset:
                warning = part.removeprefix("warning: ")
                yield Paragraph(f"`{row.judge}`: {warning}.", style="warning")
    whole = ReportRows(
        row for row in rows if not (row.aspect or row.slice or row.system_subset)
    )
    yield from _table(report, whole, CASES, f"{dataset.name}; criteria, case by case")
    yield from _table(report, whole, SCORES, f"{dataset.name}; scores of responses")
    system_statistics = (
        "rubric_score",
        "rubric_score_unmet",
        "corrected_mean",
        "uncorrected_mean",
    )
    for system, of_system in rows.by("system_subset").items():
        if system:
            title = f"{dataset.name}; {system}"
            yield from _table(report, of_system, system_statistics, title)
    by_criterion = []
    for criterion, of_criterion in rows.by("aspect").items():
        if criterion:
            title = f"{dataset.name}; {report.aspect(criterion)}"
            by_criterion += [*_table(report, of_criterion, CRITERIA, title)]
    if by_criterion:
        title = f"{dataset.name}: {plural(len(by_criterion), 'criterion', 'criteria')}"
        yield Fold(title, by_criterion)


def _sentences(report: Report, rows: ReportRows) -> Iterator[str]:
    """Yield a sentence for each judge's worst criterion, then what to look at."""
    for judge in report.judges_of(rows):
        mine = rows.where(judge=judge.id)
        worst = worse_slice(mine)
        if worst is None:
            yield f"`{judge.id}`: no criterion is shown to be marked worse."
        else:
            kind, _, name = worst.slice.partition(": ")
            title = report.aspect(name) if kind == "criterion" else worst.slice
            yield (
                f"`{judge.id}` is worse on {title}: {figures(worst.inside)}; "
                f"minus the rest {figures(worst.gap)} (Holm p "
                f"{p_value(worst.p_holm)})."
            )
    # How notes on criteria for people to look at begin.
    finding_notes = ("says nothing", "only the judge understands", "redundant with")
    for row in rows:
        for part in row.note.split("; "):
            if part.startswith(finding_notes):
                whose = "" if row.judge == tables.PEOPLE else f" (`{row.judge}`)"
                yield f"{report.aspect(row.aspect)}{whose}: {part}."


def _table(
    report: Report, rows: ReportRows, statistics: tuple[str, ...], title: str
) -> Iterator[PageTable]:
    """Yield a table with a line for experts and each judge; without numbers none."""
    present = {*rows.names("statistic")}
    columns = [name for name in statistics if name in present]
    names = [tables.PEOPLE, *(judge.id for judge in report.judges_of(rows))]
    lines = []
    for name in names:
        by_name = {row.statistic: row for row in rows.where(judge=name)}
        cells = [_cell(by_name.get(column)) for column in columns]
        if any(cell is not NO_CELL for cell in cells):
            lines.append(TableLine("experts" if name == tables.PEOPLE else name, cells))
    if columns and lines:
        yield PageTable(
            f"{title}.",
            "Marked by",
            columns_of(map(label, columns)),
            [Body(lines)],
            source="tables/rubrics.csv",
        )


def _cell(row: ReportRow | None) -> ReportCell:
    return NO_CELL if row is None else estimate(row)
