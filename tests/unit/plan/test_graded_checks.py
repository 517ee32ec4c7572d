"""Cards of graded sets: what is wrong with them is said before anything is asked."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graded_study import NAME, GradedStudy
from judgescope.core.errors import UserError
from judgescope.plan.study import Plan
from judgescope.schema.cards import GradedPerturbation

CARD: dict[str, Any] = {
    **{"perturbation": "g", "name": "g", "level": "sentence", "method": "graded"},
    **{"targets": 5, "aspects": ["fluency"], "errors": ["grammar"]},
}
ANCHORS = {"model": "m", "max_errors": 3}


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"errors": []}, "(`errors`) or by a `model`"),
        ({"model": "m"}, "(`errors`) or by a `model`"),
        ({"rating": "anchors"}, "`rating: anchors` and `anchors` belong together"),
        ({"anchors": ANCHORS}, "`rating: anchors` and `anchors` belong together"),
        ({"aspects": []}, "a graded set is about an aspect"),
        ({"steps": 2}, "not made in steps"),
        ({"degrees": {"minor": {}}}, "a graded set has one degree, `single`"),
        ({"targets": 0}, "greater than or equal to 1"),
    ],
)
def test_a_card_that_contradicts_itself_is_refused(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as error:
        GradedPerturbation.model_validate(CARD | keys)
    assert told in str(error.value)


def plan(folder: Path, monkeypatch: pytest.MonkeyPatch, **keys: Any) -> Plan:
    """Return the plan of the scripted study with changed cards."""
    study = GradedStudy(folder, "http://127.0.0.1:9/v1", **keys)
    monkeypatch.chdir(folder)
    return study.plan()


def test_a_study_that_can_run_is_planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(tmp_path, monkeypatch)
    assert found.target_sets("neat") == ["systems", "original", f"{NAME}.single"]
    assert found.excluded("neat", "oracle", "systems") is not None
    assert found.excluded("neat", "oracle", f"{NAME}.single") is None
    assert found.excluded("neat", "shuffled", f"{NAME}.single") == "not applicable: needs ratings"


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"model": "control"}, "this model cannot write"),
        ({"anchors": {**ANCHORS, "model": "control"}}, "this model cannot write"),
        ({"anchors": {**ANCHORS, "model": "comparator", "judge": "nobody"}}, "need a judge"),
        (
            {"anchors": {**ANCHORS, "model": "comparator", "form": "score-only"}},
            "cannot be rendered",
        ),
        ({"anchors": {**ANCHORS, "model": "comparator", "form": "compare"}}, "the source_b that"),
        ({"form": "reordered"}, "unknown prompt"),
        ({"aspects": ["grace"]}, "has an aspect"),
        (
            {"model": None, "errors": ["typo"], "rating": "errors", "anchors": None},
            "unknown kind of error",
        ),
    ],
)
def test_models_judges_and_prompts_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], told: str
) -> None:
    with pytest.raises(UserError, match=told) as error:
        plan(tmp_path, monkeypatch, **keys)
    assert f"perturbations/{NAME}.yaml" in str(error.value) or "prompts/" in str(error.value)


def test_an_aspect_without_parts_and_a_scale_without_steps_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = GradedStudy(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.chdir(tmp_path)
    study.amend("aspects", "neatness", tasks={})
    with pytest.raises(UserError, match="needs the aspect's sub-aspects") as error:
        study.plan()
    assert "judgescope draft" in str(error.value)
    study.amend("datasets", "neat", aspects={"neatness": {"min": 0, "max": 1}})
    with pytest.raises(UserError, match="need a scale with steps"):
        study.plan()


def test_anchors_are_texts_that_people_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = GradedStudy(tmp_path, "http://127.0.0.1:9/v1")
    monkeypatch.chdir(tmp_path)
    columns = {"item": "id", "source": "source", "text": "text", "references": ["reference"]}
    study.amend("datasets", "neat", ratings="none", columns=columns)
    with pytest.raises(UserError, match="anchors are texts that people rated") as error:
        study.plan()
    assert "use `rating: errors`" in str(error.value)
