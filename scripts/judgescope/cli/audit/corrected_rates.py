"""What a file says of its systems: the judge's means, corrected by the rated rows.

Numbers and refusals are those of the table corrected. A file does not say how its rated
rows were chosen, so that every number assumes a random sample.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from judgescope.report.report import Report
from judgescope.report.rows import ReportRow


@dataclass(frozen=True)
class CorrectedRate:
    """The mean of all texts, or of a system's, by people's ratings of some of them."""

    judge: str
    aspect: str
    system: str
    """"" where the texts name no systems."""
    corrected: ReportRow
    """Without a value where it is refused; the note says why."""
    uncorrected: ReportRow | None
    """The judge's own mean; None where the corrected one is refused."""


def corrected_rates(report: Report, *, named: bool) -> Iterator[CorrectedRate]:
    """Yield the means of judges that scored sources which nobody rated.

    named: whether the table has a column of systems; else a study gives all texts one.
    """
    table_name = "corrected"
    if table_name not in report.tables:
        return
    rows = report.rows(table_name)
    for row in rows.where(statistic="corrected_mean"):
        of_cell = rows.where(
            judge=row.judge, aspect=row.aspect, system_subset=row.system_subset
        )
        unrated = of_cell.where(statistic="unrated_sources").first
        if unrated is not None and not unrated.value:
            continue
        uncorrected = of_cell.where(statistic="uncorrected_mean").first
        system = row.system_subset if named else ""
        yield CorrectedRate(row.judge, row.aspect, system, row, uncorrected)
