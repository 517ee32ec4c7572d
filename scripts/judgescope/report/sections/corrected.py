"""What the systems really score: differences first, then means, and what a rating is
worth.
"""

from collections.abc import Iterator, Sequence

from judgescope.report import tables
from judgescope.report.cells import estimates
from judgescope.report.elements import (
    Body,
    Fold,
    PageBlock,
    PageTable,
    Paragraph,
    TableLine,
    columns_of,
)
from judgescope.report.headline import PERSON
from judgescope.report.report import Dataset, Report, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import known_names, plural

DIFFERENCES = ("corrected_difference", "p_holm_corrected_difference")
MEANS = ("corrected_mean", "uncorrected_mean", "judge_bias", "rating_worth")
BESIDE = {
    "corrected_difference": "rated_difference",
    "corrected_mean": "rated_mean",
}
"""Statistic of judges -> that of people, in a column beside them."""


def blocks(report: Report, dataset: Dataset, rows: ReportRows) -> Iterator[PageBlock]:
    """Yield per aspect its differences, means, the judges' bias, and the worth of a
    rating.
    """
    of_judges = ReportRows(row for row in rows if row.judge != tables.PEOPLE)
    for aspect in of_judges.names("judged"):
        of_aspect = rows.where(judged=(aspect, aspect.partition(".")[0]))
        name = f"{dataset.name}, {report.aspect(aspect)}"
        refused = [row for row in of_aspect if _is_refused(row)]
        if refused:
            yield Paragraph(
                f"{name}: {plural(len(refused), 'number')} not corrected, and no raw "
                f"one in its place. {_reasons(refused)}",
                style="warning",
            )
        yield from _tables(report, of_aspect, name, MEANS[:1])
        pairs = [*_tables(report, of_aspect, name, DIFFERENCES)]
        if pairs:
            yield Fold(f"{name}: difference of every pair of systems", pairs)
        more = [*_tables(report, of_aspect, name, MEANS[1:])]
        if more:
            title = f"{name}: the judges alone, their bias, and the worth of a rating"
            yield Fold(title, more)


def _is_refused(row: ReportRow) -> bool:
    """Return whether a corrected number is undefined."""
    return row.value is None and row.statistic in ("corrected_mean", DIFFERENCES[0])


def _reasons(refused: Sequence[ReportRow]) -> str:
    """Return the first reason, and how many others there are."""
    notes = [*dict.fromkeys(row.note for row in refused)]
    more = f" (and {plural(len(notes) - 1, 'other reason')})" if notes[1:] else ""
    return f"{notes[0][:1].upper()}{notes[0][1:]}{more}."


def _tables(
    report: Report, rows: ReportRows, name: str, statistics: Sequence[str]
) -> Iterator[PageTable]:
    """Yield a table for each statistic: a line per system or pair, a column per
    rater.
    """
    for statistic in statistics:
        shown = [*rows.where(statistic=statistic)]
        shown += rows.where(statistic=BESIDE.get(statistic, ""))
        by_system: dict[str, dict[str, ReportRow]] = {}
        for row in shown:
            by_system.setdefault(row.system_subset or "", {})[row.judge] = row
        present = list(dict.fromkeys(row.judge for row in shown))
        raters = known_names(ids_of([PERSON, *report.judges]), present)
        lines = []
        for system in sorted(by_system):
            cells = estimates(map(by_system[system].get, raters))
            title = system.replace("+", ", ") or "all texts"
            lines.append(TableLine(title, cells))
        if lines:
            yield PageTable(
                f"{name}; {tables.statistic_caption(statistic)}.",
                "System" if statistic in MEANS else "First system, second",
                columns_of(map(tables.rater, raters)),
                [Body(lines)],
                source="tables/corrected.csv",
            )
