"""A judge's key `perturbations`: whose texts it judges."""

from pathlib import Path

import pytest

from judgescope.core.errors import UserError
from study import Study


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    return Study(tmp_path)


def sets(study: Study) -> set[str]:
    cells = study.plan().cells_of("demo-dialogue")
    return {cell.perturbation for cell in cells if cell.judge == "rules"}


def test_a_judge_judges_texts_of_its_perturbations_beside_the_unperturbed(study: Study) -> None:
    unperturbed = {"original", "systems"}
    study.change("judges", "rules", perturbations=["reordering"])
    assert sets(study) == {*unperturbed, "reordering.minor", "reordering.major"}
    study.change("judges", "rules", perturbations=[])
    assert sets(study) == unperturbed
    study.change("judges", "rules")
    assert sets(study) > {"random-typos.minor", "reordering.minor", *unperturbed}


def test_a_perturbation_that_the_study_does_not_have_is_an_error(study: Study) -> None:
    study.change("judges", "rules", perturbations=["reorderin"])
    with pytest.raises(UserError, match="no such perturbation") as unknown:
        study.plan()
    assert unknown.value.nearest() == "reordering"
