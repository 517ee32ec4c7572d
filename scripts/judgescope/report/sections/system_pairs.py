"""Which systems people and judges distinguish."""

from collections.abc import Iterator

from judgescope.report.cells import estimate
from judgescope.report.elements import Block, Body, Column, Fold, Line, Section, Table
from judgescope.report.headline import PERSON
from judgescope.report.report import Dataset, Report, in_group
from judgescope.report.rows import Rows
from judgescope.report.tables import section_of, statistic_caption
from judgescope.report.words import label

LEAD = (
    "One-sided p-values for the first system of a pair being better, by people's mean ratings "
    "and by each judge's scores. The paired test flips the signs of differences by source, as "
    "soft pairwise accuracy does; the rank-sum test ignores that both systems wrote about the "
    "same sources, and so finds fewer differences. Neither is corrected for the number of "
    "pairs."
)
TESTS = ("p_system_difference", "p_system_rank_sum")


@in_group("Evidence", 25)
def section(report: Report) -> Section | None:
    """Return per dataset and aspect the pairs of systems, with a table of each test."""
    return section_of(report, "system_pairs", "Pairs of systems", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    for aspect in Rows(rows.frame[rows.frame["judge"] != PERSON.id]).names("judged"):
        of_aspect = rows.where(judged=(aspect, aspect.partition(".")[0]))
        tables = [_table(report, dataset, of_aspect, aspect, test) for test in TESTS]
        yield Fold(f"{dataset.name}, {report.aspect(aspect)}: p of every pair of systems", tables)


def _table(report: Report, dataset: Dataset, rows: Rows, aspect: str, test: str) -> Table:
    """Return a line per pair, a column for people and for each judge."""
    shown = rows.where(statistic=test)
    raters = [judge for judge in (PERSON, *report.judges) if len(shown.where(judge=judge.id))]
    lines = []
    for pair, part in shown.by("system_subset").items():
        of_judge = {row.judge: row for row in part}
        cells = [estimate(of_judge.get(one.id)) for one in raters]
        lines.append(Line(str(pair).replace("+", ", "), cells))
    caption = f"{dataset.name}, {report.aspect(aspect)}; {statistic_caption(test)}."
    columns = [Column(one.id if one != PERSON else "people") for one in raters]
    source = "tables/system_pairs.csv"
    return Table(caption, f"Systems, {label(test)}", columns, [Body(lines)], source=source)
