"""Numbers about texts whose kind of change was not checked say so."""

import pytest

from dataset_in_memory import row_of
from discernment_setup import ITEMS, scored, study
from judgescope.methods import discernment, perturbations

CHECKS = {"typos": ["differs", "negation"], "cuts": ["differs", "length"]}
NOTE = f"kind of change not checked in {ITEMS} of {ITEMS} texts: no check for de"


def test_every_number_about_such_texts_says_so() -> None:
    judged = study({"judge": scored(2.0)}, language="de", checks=CHECKS)
    rows = [*discernment.rows(judged)]
    about = [row for row in rows if row.get("perturbation") == "typos"]
    others = [row for row in rows if row.get("perturbation") != "typos"]
    assert about and all(NOTE in str(row["note"]) for row in about)
    assert others and not any("not checked" in str(row["note"]) for row in others)


@pytest.mark.parametrize("language", ["en", "en-GB"])
def test_english_texts_are_checked(language: str) -> None:
    judged = study({"judge": scored(2.0)}, language=language, checks=CHECKS)
    assert judged.unchecked == {}


def test_language_is_guessed_from_the_originals() -> None:
    """The originals of this study are one English word."""
    assert study({"judge": scored(2.0)}, checks=CHECKS).unchecked == {}


def test_share_of_unchecked_texts_counts_those_that_were_made() -> None:
    judged = study(
        {"judge": scored(2.0)},
        status={"typos.minor": "impossible: no room", "cuts.single": "impossible: -"},
        language="de",
        checks=CHECKS,
    )
    rows = [*perturbations.rows(judged)]
    row = row_of(rows, "share_unchecked")
    assert (row["perturbation"], row["value"], row["n"]) == ("typos", 0.0, ITEMS)
    assert row["note"].startswith("no check for de")
