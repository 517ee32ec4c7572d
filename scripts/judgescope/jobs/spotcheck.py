"""Write a page with a sample of a study's damaged texts: one offline HTML file."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.jobs.run import run
from judgescope.report.specs import SpotcheckSpec
from judgescope.report.spotcheck import render


def main(spec: SpotcheckSpec) -> None:
    """Read the targets and the replies behind those that a model made, write the page."""
    page = render(spec, WORKFLOW / "texts", WORKFLOW / "report")
    output = Path(spec.output)
    write_text(output, page)


if __name__ == "__main__":
    run(main)
