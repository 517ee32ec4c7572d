"""A perturbation with five degrees of the user's own names: jobs, tables and page."""

from pathlib import Path

import pytest

from report_setup import text_of_pages
from study import Study

pytestmark = pytest.mark.slow
EDITS = (1, 2, 5, 10, 25)
DEGREES = [f"k{k}" for k in EDITS]


@pytest.mark.long(7)
def test_five_degrees_in_dry_run_tables_and_page(tmp_path: Path) -> None:
    study = Study(tmp_path, judges=["rouge-l", "length"], perturbations=["dose"])
    card = study.card(
        "perturbations",
        "dose",
        name="deletion of k words",
        level="word",
        method="rule",
        rule="delete_words",
    )
    # as text: the order of the degrees is their strength
    degrees = "".join(f"  k{k}: {{k: {k}}}\n" for k in EDITS)
    card.write_text(f"{card.read_text('utf-8')}degrees:\n{degrees}", "utf-8")
    study.write(aspects=["naturalness"])

    dry = study.run("-n")
    assert dry.returncode == 0, dry.stdout
    assert "targets/demo-dialogue/dose.k" in dry.stdout
    assert f"and {len(EDITS) - 1} more" in dry.stdout

    done = study.run()
    assert done.returncode == 0, done.stdout
    for table, statistic in (("discernment", "net_share"), ("perturbations", "edits")):
        listed = [
            row["degree"]
            for row in study.rows(table)
            if row["statistic"] == statistic and row["judge"] in ("", "rouge-l")
        ]
        assert listed == DEGREES, table
    page = text_of_pages(study.out / "report")
    assert "net share noticed by degree" in page
    places = ", ".join(f"{at} {name}" for at, name in enumerate(DEGREES, start=1))
    assert f"degree, the weakest first: {places}" in page
