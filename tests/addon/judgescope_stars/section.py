"""The section on the distance of judges from people."""

from collections.abc import Iterator

from judgescope.report.elements import PageTable
from judgescope.report.report import Report, ShownDataset
from judgescope.report.rows import ReportRows
from judgescope.report.section import ReportSection
from judgescope.report.tables import TableSpec, aspect_columns

from . import distance as distance


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageTable]:
    """Yield a table of judges by aspect."""
    yield TableSpec(
        f"{dataset.name}: distance in stars.",
        aspect_columns(report, dataset.aspects),
        statistic="star_distance",
        level="pooled",
    ).filled(report.judges, rows)


SECTION = ReportSection(
    id="star_gap",
    group="Evidence",
    title="Distance in stars",
    lead="Mean distance.",
    of_dataset=blocks,
)
