"""Hu et al. (2024): what the shipped study plans; judges that confuse and that do
not.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from asking import AskedStudy
from confusion_study_setup import ASPECTS, Planted
from judgescope.core.cells import split
from judgescope.plan.loading import load_plan
from judgescope.schema.loading import load_yaml
from report_setup import text_of_pages
from running import HOME
from scripted import serve

Row = dict[str, Any]


@pytest.mark.heavy
def test_shipped_study_plans_every_perturbation_aspect_and_wording() -> None:
    path = HOME / "config" / "studies" / "confusion.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    assert plan.expectations is not None
    perturbations = set(plan.perturbations)
    assert (
        perturbations == set(plan.expectations.perturbations)
        and len(perturbations) == 18
    )
    for dataset in plan.datasets:
        assert len(plan.plain_aspects(dataset)) == 11
        assert {name for name, _ in plan.perturbed(dataset)} == perturbations
    judged = [cell for cell in plan.cell_aspects if cell.judge == "ten-draws"]
    assert len(judged) == 4 * (1 + 18) * 11 * 5
    assert {split(cell.aspect)[1] for cell in judged} == set(plan.study.criteria)
    expected = [
        sum(
            len(getattr(card, key)) for card in plan.expectations.perturbations.values()
        )
        for key in ("drop", "same")
    ]
    assert expected == [57, 130]


@pytest.mark.heavy
def test_both_rubric_judges_have_the_papers_draws_and_all_its_texts() -> None:
    path = HOME / "config" / "studies" / "confusion.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    for name, reference in (("rubric-original", "original"), ("rubric-another", True)):
        card = plan.judges[name]
        assert (card.form, card.use_reference) == ("rubric", reference)
        assert (card.draws, card.temperature, card.parser) == (10, 1, "result")
        cells = [cell for cell in plan.cell_aspects if cell.judge == name]
        assert len(cells) == 4 * (1 + 18) * 11 * 5


@pytest.mark.heavy
def test_in_all_wordings_it_has_the_paper_s_number_of_prompts() -> None:
    result, _ = load_yaml(HOME / "config" / "studies" / "confusion.yaml")
    wordings = [*result["criteria"], "selection-1", "selection-2", "selection-3"]
    plan = load_plan(result | {"criteria": wordings}, HOME, source="study.yaml")
    cells = [cell for cell in plan.cell_aspects if cell.judge == "ten-draws"]
    assert len(cells) == 4 * 19 * 80 and plan.judges["ten-draws"].draws == 10
    assert sum(plan.datasets[cell.dataset].select.n or 0 for cell in cells) == 1_520_000


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(Planted()) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("confusion"), endpoint)
        study.card("judges", "clear", model="loop", form="score-only")
        study.card("judges", "mixed", model="loop", form="score-only", temperature=0.5)
        study.write(
            datasets=["demo-confusion-news"],
            aspects=ASPECTS,
            criteria=["default", "term"],
            judges=["clear", "mixed", "rules", "constant-top"],
            perturbations=["spelling-mistake", "sentence-deletion"],
            methods=["confusion"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


def confusion_row(study: AskedStudy, judge: str, statistic: str, criterion: str) -> Row:
    (row,) = (
        row
        for row in study.rows("confusion")
        if (row["judge"], row["statistic"], row["criterion"])
        == (judge, statistic, criterion)
        and not row["aspect"]
    )
    return row


@pytest.mark.long(10)
@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["default", "term"])
def test_the_index_tells_a_judge_that_confuses_from_one_that_does_not(
    study: AskedStudy, criterion: str
) -> None:
    clear, mixed = (
        confusion_row(study, judge, "confusion_index", criterion)
        for judge in ("clear", "mixed")
    )
    assert clear["value"] == 0 and clear["n"] == 12
    assert mixed["value"] == pytest.approx(1) and mixed["ci_low"] > 0.9
    assert confusion_row(study, "clear", "s_t_mean", criterion)[
        "value"
    ] == pytest.approx(2)
    assert confusion_row(study, "clear", "confusion_auc", criterion)["value"] == 1
    assert confusion_row(study, "mixed", "confusion_auc", criterion)["value"] == 0.5
    assert confusion_row(study, "clear", "unwanted_no_drop", criterion)["value"] == 1
    assert confusion_row(study, "mixed", "unwanted_drop", criterion)["value"] == 1
    control = confusion_row(study, "constant-top", "confusion_index", criterion)
    assert control["value"] is None and "not above 0" in control["note"]


@pytest.mark.long(10)
@pytest.mark.slow
def test_every_cell_says_what_is_expected_of_it(study: AskedStudy) -> None:
    actual = {
        (row["perturbation"], row["aspect"]): (
            row["note"].rpartition("; ")[2],
            row["value"],
        )
        for row in study.rows("confusion")
        if (row["judge"], row["statistic"], row["criterion"])
        == ("clear", "delta", "default")
    }
    assert actual == {
        ("spelling-mistake", "fluency"): ("should drop", 2),
        ("spelling-mistake", "coherence"): ("should stay", 0),
        ("spelling-mistake", "informativeness"): ("should stay", 0),
        ("sentence-deletion", "fluency"): ("should stay", 0),
        ("sentence-deletion", "coherence"): ("should stay", 0),
        ("sentence-deletion", "informativeness"): ("should drop", 2),
    }


@pytest.mark.long(10)
@pytest.mark.slow
def test_wordings_are_asked_about_each_and_held_against_each_other(
    study: AskedStudy,
) -> None:
    assert (
        len({prompt.split("\n\nThe scale")[0] for prompt in study.endpoint.prompts})
        == 6
    )
    rows = [
        row
        for row in study.rows("criteria")
        if row["judge"] == "clear"
        and (row["criterion"], row["criterion_b"]) == ("default", "term")
    ]
    same = {row["aspect"]: row["value"] for row in rows}
    assert same.keys() == {*ASPECTS} and same["fluency"] == pytest.approx(1)
    assert same["coherence"] is None  # it never moves
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "Criterion confusion" in page and "criterion term" in page
