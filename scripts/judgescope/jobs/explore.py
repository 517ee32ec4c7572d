"""Write the page of all judgments of a study: an offline HTML file, and the data beside it."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.jobs.run import run
from judgescope.report.explore import render, write_shards
from judgescope.report.specs import ExploreSpec

LOOKS = ("report/style.css", "texts/style.css")


def main(spec: ExploreSpec) -> None:
    """Read every judgment beside its text, write the shards and then the page."""
    output = Path(spec.output)
    write_shards(spec, output.with_suffix(""))
    page = render(spec.study, WORKFLOW / "explore", [WORKFLOW / name for name in LOOKS])
    write_text(output, page)


if __name__ == "__main__":
    run(main)
