"""Write a page with a sample of a study's damaged texts: one offline HTML file."""

from pathlib import Path
from typing import Any

from metajudge.command import run, write_text
from metajudge.report.spotcheck import render

TEMPLATES = Path(__file__).resolve().parents[1] / "workflow"


def main(spec: dict[str, Any]) -> None:
    """Read the targets and the replies behind those that a model made, write the page."""
    page = render(spec, TEMPLATES / "texts", TEMPLATES / "report")
    output = Path(spec["output"])
    write_text(output, page)


if __name__ == "__main__":
    run(main)
