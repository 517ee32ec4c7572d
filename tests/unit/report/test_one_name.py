"""A number has one name and one value: on the first page, a judge's, among all claims,
and in the sentence that the terminal prints.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import cards_study
from claims_setup import claim, of_judges
from judgescope.report import judge_card
from judgescope.report.claims import claims
from judgescope.report.contents import sections_of
from judgescope.report.page import first_page, render
from judgescope.report.questions import lowered
from judgescope.report.sections.sentences import sentence
from judgescope.report.words import brief, label, written
from judgescope.schema.tables import table_of, write_table
from report_setup import Page, section_shown

Row = dict[str, Any]
DECIDING = {
    "agreement": ("normal_scores", 0.4567),
    "labels": ("balanced_accuracy", 0.8321),
    "caught": ("tnr", 0.7654),
    "pairs": ("half_credit", 0.6789),
}
"""Kind of claims -> its number and a value."""
LABELLED: Row = {"datasets": {"chat": {"labels": {"fluency": ["fail", "pass"]}}}}


@pytest.mark.parametrize("kind", DECIDING)
def test_a_number_has_a_single_name_and_a_single_value_everywhere(
    tmp_path: Path, kind: str
) -> None:
    name, value = DECIDING[kind]
    outcome = "misses" if kind == "caught" else "better"
    rows = [*claim("it", value, outcome, kind)]
    report = of_judges(tmp_path, ["it"], rows, **LABELLED)
    sections = sections_of(report)
    index = Page(first_page(report, sections)).text
    evidence = Page(render(report, [section_shown("evidence", report)])).text
    [judge] = report.judges
    message = sentence(report, judge, claims(report, judge))
    for text in (evidence, message):
        assert label(name) in text and written(name, value) in text
    assert lowered(label(name)) in index and brief(name, value) in index
    for text in (index, evidence, message):
        assert not re.search(rf"\b{name}\b", text.replace(label(name), ""))


def test_the_page_of_a_judge_has_the_same_name_and_value(tmp_path: Path) -> None:
    rows = [*claim("gamma", 0.4567, dataset="news")]
    spec = cards_study.make(tmp_path)
    path = Path(spec["tables"]["verdicts"])
    write_table("results", table_of("results", rows), path)
    pages = dict(judge_card.render(cards_study.loaded(spec)))
    text = Page(pages["gamma"]).text
    assert "Pairwise correlation 0.457" in text and "0.46" in text
    assert lowered(label("normal_scores")) in text
    assert "normal_scores" not in text.partition("Evidence of")[0]


def test_short_values_are_rounded_from_the_exact_number() -> None:
    assert (brief("normal_scores", 0.4449), brief("normal_scores", -0.004)) == (
        *("0.44", "0.00"),
    )
    assert written("normal_scores", 0.4449) == "0.445"
    assert brief("balanced_accuracy", 0.8321) == written("balanced_accuracy", 0.8321)
