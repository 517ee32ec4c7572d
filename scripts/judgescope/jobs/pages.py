"""Write the report of a study and the cards of its judges: offline HTML files."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.report import judge_card as cards
from judgescope.report.page import write_pages, write_parts
from judgescope.report.report import CardReport, Report
from judgescope.report.sections import sections_of
from judgescope.report.specs import JudgeCardSpec, ReportSpec

REPORT, TEXTS = WORKFLOW / "report", WORKFLOW / "texts"


def report(spec: ReportSpec) -> None:
    """Write the pages of the report, and its figures and sections as files of their own."""
    contents = Report.load(spec)
    sections = sections_of(contents)
    _drop_stale(spec.tables)
    output = Path(spec.output)
    if not spec.texts:  # pages of an earlier state of the study, too
        output.with_name("texts.html").unlink(missing_ok=True)
    write_pages(contents, REPORT, sections, output.parent)
    write_parts(contents, REPORT, sections, Path(spec.figures), Path(spec.sections))


def _drop_stale(tables: dict[str, str]) -> None:
    """Delete tables that an earlier state of the study left: they would pass for this one's."""
    folder = Path(next(iter(tables.values()))).parent
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")]):
        if path.stem not in tables:
            print(f"deleted, because the study no longer has this table: {path}")
            path.unlink()


def judge_card(spec: JudgeCardSpec) -> None:
    """Write the card of every judge, and delete those of an earlier state of the study."""
    folder = Path(spec.output)
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for judge, html in cards.render(CardReport.load(spec), REPORT, TEXTS):
        path = folder / f"{judge}.html"
        write_text(path, html)
        written.add(path)
    for path in sorted({*folder.glob("*.html")} - written):
        print(f"deleted, because the study no longer has this judge: {path}")
        path.unlink()
