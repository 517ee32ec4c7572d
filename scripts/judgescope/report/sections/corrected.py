"""What the systems really score: differences, means and what a rating is worth; which
system is best.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

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
from judgescope.report.report import Report, ShownDataset, ids_of
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.words import known_names, label, plural

DIFFERENCES = ("corrected_difference", "p_holm_corrected_difference")
MEANS = ("corrected_mean", "uncorrected_mean", "judge_bias", "rating_worth")


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
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


def choice(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield per aspect how often each system is the best in draws, by people and by
    each judge, corrected and alone, and what the picks gain.
    """
    of_judges = ReportRows(row for row in rows if row.judge != tables.PEOPLE)
    for aspect in of_judges.names("judged"):
        of_aspect = rows.where(judged=(aspect, aspect.partition(".")[0]))
        name = f"{dataset.name}, {report.aspect(aspect)}"
        chosen = of_aspect.where(statistic="p_best")
        refused = [row for row in chosen if row.value is None]
        if refused:
            yield Paragraph(f"{name}: {_reasons(refused)}", style="warning")
        for statistic in ("p_best", "may_be_best"):
            yield from _chosen(report, of_aspect, name, statistic)
        yield from _gains(report, of_aspect, name)


def _chosen(
    report: Report, rows: ReportRows, name: str, statistic: str
) -> Iterator[PageTable]:
    """Yield a table with a line for each system: people, then both picks of judges."""
    by_system: dict[str, dict[tuple[str, str], ReportRow]] = {}
    for row in rows.where(statistic=statistic):
        if row.value is not None:
            column = row.judge, row.form or ""
            by_system.setdefault(row.system_subset or "", {})[column] = row
    present = {judge for judge, _ in chain.from_iterable(by_system.values())}
    columns = []
    for judge in known_names(ids_of([PERSON, *report.judges]), present):
        forms = [""] if judge == tables.PEOPLE else ["corrected", "uncorrected"]
        columns += [(judge, form) for form in forms]
    lines = []
    for system in sorted(by_system):
        cells = estimates(map(by_system[system].get, columns))
        lines.append(TableLine(system, cells))
    if lines:
        titles = [", ".join(filter(None, (tables.rater(j), f))) for j, f in columns]
        yield PageTable(
            f"{name}; {tables.statistic_caption(statistic)}.",
            "System",
            columns_of(titles),
            [Body(lines)],
            source="tables/choice.csv",
        )


def _gains(report: Report, rows: ReportRows, name: str) -> Iterator[PageTable]:
    """Yield a table with a line for people and each judge: what its own pick gains."""
    statistics = ("choice_gain", "choice_regret", "system_pearson_true")
    by_judge: dict[str, dict[str, ReportRow]] = {}
    for row in rows.where(statistic=statistics):
        by_judge.setdefault(row.judge, {})[row.statistic] = row
    lines = []
    for judge in known_names(ids_of([PERSON, *report.judges]), by_judge):
        lines.append(
            TableLine(
                tables.rater(judge), estimates(map(by_judge[judge].get, statistics))
            )
        )
    if lines:
        yield PageTable(
            f"{name}; picks by the judges alone, valued by people on other sources.",
            "Judge",
            columns_of(map(label, statistics)),
            [Body(lines)],
            source="tables/choice.csv",
        )


def _is_refused(row: ReportRow) -> bool:
    """Return whether a corrected number is undefined."""
    if row.value is not None:
        return False
    return row.statistic in ("corrected_mean", DIFFERENCES[0])


def _reasons(refused: Sequence[ReportRow]) -> str:
    """Return the first reason, and how many others there are."""
    notes = [*dict.fromkeys(row.note for row in refused)]
    more = ""
    if notes[1:]:
        more = f" (and {plural(len(notes) - 1, 'other reason')})"
    return f"{notes[0][:1].upper()}{notes[0][1:]}{more}."


def _tables(
    report: Report, rows: ReportRows, name: str, statistics: Sequence[str]
) -> Iterator[PageTable]:
    """Yield a table for each statistic: a line per system or pair, a column per
    rater.
    """
    # Statistic of judges -> that of people, in a column beside them.
    beside = {
        "corrected_difference": "rated_difference",
        "corrected_mean": "rated_mean",
    }
    for statistic in statistics:
        shown = [*rows.where(statistic=statistic)]
        shown += rows.where(statistic=beside.get(statistic, ""))
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
