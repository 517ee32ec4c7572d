"""Write the card of every judge of a study: one offline HTML file each."""

from pathlib import Path
from typing import Any

from metajudge.command import run, write_text
from metajudge.report.cards.card import render
from metajudge.report.charts import unchecked
from metajudge.report.report import Report

WORKFLOW = Path(__file__).resolve().parents[1] / "workflow"


def main(spec: dict[str, Any]) -> None:
    """Read tables, scores and texts, write the cards, delete those of an earlier state."""
    unchecked()
    folder = Path(spec["output"])
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for judge, page in render(Report.load(spec), WORKFLOW / "report", WORKFLOW / "texts"):
        path = folder / f"{judge}.html"
        write_text(path, page)
        written.add(path)
    for path in sorted({*folder.glob("*.html")} - written):
        print(f"no judge of the study any more, deleted: {path}")
        path.unlink()


if __name__ == "__main__":
    run(main)
