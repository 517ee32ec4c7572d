"""What judges reach on texts that a study built, or was given: one table for both kinds."""

from collections.abc import Sequence
from functools import partial

from judgescope.report.elements import Cell, Column, Table, estimate
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.sections.shared import bodies
from judgescope.report.words import label
from judgescope.statistics.registry import STATISTICS

AVERAGE = "average"
"""The aspect of means over aspects."""


def built_table(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    places: Sequence[tuple[str, str]],
    statistic: str,
    *,
    level: str,
    about: str,
    group: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return a statistic of every judge on each set of texts, and its means over these.

    `places` are (judged aspect, cell) of the sets, `about` says what texts they are, `group` what
    one set is called.
    """
    means = rows.where(aspect=AVERAGE, statistic=statistic).names("criterion")
    asked = [(judged, cell, "") for judged, cell in places]
    asked += [(AVERAGE, "", criterion) for criterion in means]

    def cells(judge: Judge) -> list[Cell] | None:
        at = partial(rows.at, dataset.id, judge.id, statistic, level=level)
        found = [at(aspect=one, cell=cell, criterion=word) for one, cell, word in asked]
        return [estimate(row) for row in found] if any(found) else None

    columns = [
        *(Column(judged, cell, group) for judged, cell in places),
        *(Column("all", one, "Mean") for one in means),
    ]
    told = f"{label(statistic)}: {STATISTICS[statistic].meaning}"
    caption = f"{dataset.name}, {about}; {told}."
    lines = bodies(report.judges, cells)
    return Table(caption, "Judge", columns, lines, notes, source="tables/perspectives.csv")
