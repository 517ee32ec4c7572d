"""Judgments by their status, counted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from judgescope.report import words
from judgescope.report.cells import ReportCell, count_cell, words_cell
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow

PREFIX = "count_"
"""Begins the names of statistics that count judgments of a status."""


class CoverageTally:
    """Judgments by status in rows of coverage, and the reasons why cells were never
    asked.
    """

    def __init__(self, rows: Iterable[ReportRow]) -> None:
        self.counts = Counter[str]()
        self.reasons = dict[str, None]()
        for row in rows:
            if row.statistic.startswith(PREFIX) and row.value is not None:
                self.counts[row.statistic.removeprefix(PREFIX)] += round(row.value)
            elif row.statistic == "coverage" and row.value is None:
                self.reasons[words.spoken(row.note)] = None
        self.asked = self.counts.total() - self.counts["not_applicable"]
        """How many judgments were asked for."""
        self.failed = {
            status: number
            for status, number in self.counts.items()
            if number and status not in ("ok", "not_applicable")
        }
        """Status -> number of the judgments without a value."""

    def cells(self, statuses: Sequence[str]) -> list[ReportCell]:
        """Return planned, each status, the share with a value, reasons."""
        covered = ReportCell(words.DASH)
        if self.asked:
            share = self.counts["ok"] / self.asked
            row = ReportRow(statistic="coverage", value=share, n=self.asked)
            covered = ReportCell(words.percent(share), sort=share, row=row)
        cells = [count_cell(self.counts.total())]
        cells += [count_cell(self.counts[status]) for status in statuses]
        return [*cells, covered, words_cell("; ".join(self.reasons))]


def tally_of(report: Report, judge: ShownJudge) -> CoverageTally:
    """Return the sum over all judgments of a judge."""
    return CoverageTally(report.rows("coverage").where(judge=judge.id))
