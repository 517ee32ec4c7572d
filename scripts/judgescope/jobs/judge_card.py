"""Write the card of every judge of a study: one offline HTML file each."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.jobs.run import run
from judgescope.report.judge_card import render
from judgescope.report.report import CardReport
from judgescope.report.specs import JudgeCardSpec


def main(spec: JudgeCardSpec) -> None:
    """Read tables, scores and texts, write the cards, delete those of an earlier state."""
    folder = Path(spec.output)
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for judge, page in render(CardReport.load(spec), WORKFLOW / "report", WORKFLOW / "texts"):
        path = folder / f"{judge}.html"
        write_text(path, page)
        written.add(path)
    for path in sorted({*folder.glob("*.html")} - written):
        print(f"no judge of the study any more, deleted: {path}")
        path.unlink()


if __name__ == "__main__":
    run(main)
