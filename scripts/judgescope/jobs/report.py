"""Write the report of a study: one offline HTML file, and its figures and sections apart."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.jobs.run import run
from judgescope.report.elements import LONG_TABLES
from judgescope.report.page import render, write_long_tables, write_parts
from judgescope.report.report import Report
from judgescope.report.sections import sections_of
from judgescope.report.specs import ReportSpec

TEMPLATES = WORKFLOW / "report"


def main(spec: ReportSpec) -> None:
    """Read the result tables and what reading the datasets counted, write the page."""
    report = Report.load(spec)
    sections = sections_of(report)
    page = render(report, TEMPLATES, sections)
    drop_stale(spec.tables)
    output = Path(spec.output)
    if not spec.texts:  # of an earlier state of the study, too
        output.with_name("texts.html").unlink(missing_ok=True)
    write_text(output, page)
    write_long_tables(report, TEMPLATES, sections, output.with_name(LONG_TABLES))
    write_parts(report, TEMPLATES, sections, Path(spec.figures), Path(spec.sections))


def drop_stale(tables: dict[str, str]) -> None:
    """Delete tables that an earlier state of the study left: they would pass for this one's."""
    folder = Path(next(iter(tables.values()))).parent
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")]):
        if path.stem not in tables:
            print(f"no table of the study any more, deleted: {path}")
            path.unlink()


if __name__ == "__main__":
    run(main)
