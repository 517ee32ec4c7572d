"""The study's key `rubrics`: criteria are aspects with two labels."""

from typing import Any

import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results


def planned(rubrics: dict[str, Any]) -> Any:
    study = {
        "study": "rubric",
        "datasets": ["demo-answers"],
        "judges": ["constant-top"],
        "methods": ["rubrics"],
        "rubrics": rubrics,
    }
    return load_plan(study, HOME, source="rubric.yaml", results="results")


def test_the_method_gets_the_points_of_the_study() -> None:
    points = {"points": {"correctness": 2}, "themes": {"correctness": "facts"}}
    spec = results.statistics(planned(points), "rubrics", "demo-answers")
    assert spec.settings["rubrics"]["points"] == {"correctness": 2.0}
    assert spec.settings["rubrics"]["themes"] == {"correctness": "facts"}


@pytest.mark.parametrize(
    ("rubrics", "parts"),
    [
        ({"points": {"correct": 2}}, ("rubrics.points", "correctness", "correct")),
        ({"themes": {"correct": "a"}}, ("rubrics.themes", "correctness")),
        ({"points": {"correctness": -2}}, ("rubrics.points", "-2", "positive")),
    ],
)
def test_bad_points_are_an_error(
    rubrics: dict[str, Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises((UserError, UserErrors)) as caught:
        planned(rubrics)
    for part in parts:
        assert part in str(caught.value)
