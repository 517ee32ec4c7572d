"""Write the pages that show texts: a sample of perturbed ones, and all with their judgments."""

from pathlib import Path

from judgescope.core.files import write_text
from judgescope.core.paths import WORKFLOW
from judgescope.report import explore as explore_page
from judgescope.report import spotcheck as texts_page
from judgescope.report.specs import ExploreSpec, SpotcheckSpec

REPORT, TEXTS = WORKFLOW / "report", WORKFLOW / "texts"


def spotcheck(spec: SpotcheckSpec) -> None:
    """Write a sample of the perturbed texts, with the replies behind those that a model made."""
    write_text(Path(spec.output), texts_page.render(spec, TEXTS, REPORT))


def explore(spec: ExploreSpec) -> None:
    """Write the page of all judgments, and the data that it loads from a folder beside it."""
    output = Path(spec.output)
    explore_page.write_shards(spec, output.with_suffix(""))
    styles = [REPORT / "style.css", TEXTS / "style.css"]
    write_text(output, explore_page.render(spec.study, WORKFLOW / "explore", styles))
