"""Which texts may pass without a person: a sentence and a table for each aspect."""

from collections.abc import Iterator

from judgescope.report.cells import NO_CELL, ReportCell, estimate
from judgescope.report.elements import (
    Body,
    PageBlock,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.report import Report, ShownDataset, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import known_names, label, percent


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield what each judge may decide, the numbers, and thresholds of confidence."""
    shown_columns = (
        "accept_from",
        "accepted_share",
        "accept_error_bound",
        "reject_up_to",
        "rejected_share",
        "reject_error_bound",
        "left_share",
    )
    for aspect in rows.names("judged"):
        of_aspect = rows.where(judged=aspect)
        name = f"{dataset.name}, {report.aspect(aspect)}"
        lines = []
        for judge in known_names(ids_of(report.judges), of_aspect.names("judge")):
            by_name = {row.statistic: row for row in of_aspect.where(judge=judge)}
            yield Paragraph(f"{name}: {_sentence(judge, by_name)}")
            cells = [_cell(by_name.get(column)) for column in shown_columns]
            lines.append(TableLine(judge, cells))
        yield PageTable(
            f"{name}.",
            "Judge",
            columns_of(map(label, shown_columns)),
            [Body(lines)],
            source="tables/triage.csv",
        )
        yield from _by_confidence(report, dataset, aspect, name)


def _cell(row: ReportRow | None) -> ReportCell:
    return NO_CELL if row is None else estimate(row)


def _sentence(judge: str, by_name: dict[str, ReportRow]) -> str:
    """Say what a judge may decide alone, or why it may decide nothing."""
    first = by_name["accept_from"]
    if "left_share" not in by_name:
        return f"`{judge}` is not tested: {first.note}."
    decided = []
    for threshold, share, verb, kind in (
        ("accept_from", "accepted_share", "accepts", "bad"),
        ("reject_up_to", "rejected_share", "rejects", "good"),
    ):
        if by_name[threshold].value is not None:
            bound = by_name[f"{threshold.partition('_')[0]}_error_bound"]
            part = percent(by_name[share].value or 0)
            decided.append(
                f"{verb} {part} of the texts with at most {percent(bound.value or 0)} "
                f"{kind} among them ({bound.n} rated texts)"
            )
    if not decided:
        return f"`{judge}` may decide nothing alone: {first.note}."
    left = percent(by_name["left_share"].value or 0)
    return (
        f"`{judge}` {' and '.join(decided)}; {left} go to people. Each line is on its "
        f"own: {first.method}."
    )


def _by_confidence(
    report: Report, dataset: ShownDataset, aspect: str, name: str
) -> Iterator[PageTable]:
    """Yield the thresholds of the judges' confidence, where they have one."""
    rows = report.rows("confidence", dataset.id).where(judged=aspect)
    lines = []
    by_confidence = ("confidence_from", "selective_coverage")
    for judge in report.judges_of(rows):
        by_name = {row.statistic: row for row in rows.where(judge=judge.id)}
        if by_confidence[0] in by_name:
            cells = [_cell(by_name.get(column)) for column in by_confidence]
            lines.append(TableLine(judge.id, cells))
    if lines:
        yield PageTable(
            f"{name}: verdicts that may stand by the judge's confidence.",
            "Judge",
            columns_of(map(label, by_confidence)),
            [Body(lines)],
            source="tables/confidence.csv",
        )
