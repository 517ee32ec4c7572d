"""Write the page of all judgments of a study: an offline HTML file, and the data beside it."""

from pathlib import Path
from typing import Any

from metajudge.command import run, write_text
from metajudge.report.explore import render, write_shards

TEMPLATES = Path(__file__).resolve().parents[1] / "workflow"
LOOKS = ("report/style.css", "texts/style.css")


def main(spec: dict[str, Any]) -> None:
    """Read every judgment beside its text, write the shards and then the page."""
    output = Path(spec["output"])
    write_shards(spec, output.with_suffix(""))
    page = render(spec["study"], TEMPLATES / "explore", [TEMPLATES / name for name in LOOKS])
    write_text(output, page)


if __name__ == "__main__":
    run(main)
