"""Prompts are filled once before anything is asked."""

from pathlib import Path
from typing import Any

import pytest

from judgescope.core.errors import UserError
from rehearsal_setup import planned


@pytest.mark.parametrize("used", ["judge", "writer"])
@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("Rate this.", "does not show the text"),
        ("{{ text }} {{ txet }}", "cannot be rendered: 'txet' is undefined"),
        ("{{ text }} {{ text / 2 }}", "cannot be rendered: unsupported operand"),
    ],
)
def test_a_form_that_cannot_work_is_found_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: str, form: str, says: str
) -> None:
    with pytest.raises(UserError, match=says) as error:
        planned(monkeypatch, tmp_path, form, used)
    assert error.value.where == "prompts/mine.jinja"


def test_a_form_is_tried_with_all_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = "{{ text | upper }} {{ scale.min }} {{ aspect.name }} {{ source | length }}"
    assert planned(monkeypatch, tmp_path, form).templates["mine"]["mine.jinja"] == form


def test_a_reason_that_only_the_second_attempt_has_is_tried_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="cannot be rendered"):
        planned(monkeypatch, tmp_path, "{{ text }}{% if problem %}{{ why }}{% endif %}", "writer")


@pytest.mark.parametrize(
    ("used", "keys", "where"),
    [
        ("judge", {"form": "score-steps"}, "aspects/naturalness.yaml:16, key tasks.dialogue.steps"),
        (
            "writer",
            {"form": "adjust-steps", "adjustment": "Name a wrong colour."},
            "perturbations/wrong.yaml, key instructions",
        ),
    ],
)
def test_a_form_that_shows_steps_names_the_card_without_any_and_who_drafts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: str, keys: dict[str, Any], where: str
) -> None:
    with pytest.raises(UserError, match="shows steps, and this card has none") as error:
        planned(monkeypatch, tmp_path, "{{ text }}", used, **keys)
    assert error.value.where == where and "judgescope draft" in error.value.todo


def test_steps_are_not_blamed_for_what_else_a_form_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="'adjustment' is undefined") as error:
        planned(monkeypatch, tmp_path, "{{ text }}", "writer", form="adjust-steps")
    assert error.value.where == "prompts/adjust-steps.jinja"


def test_a_card_alone_makes_a_perturbation_of_the_form_adjust_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"adjustment": "Name a wrong colour.", "instructions": ["Look.", "Change it."]}
    plan = planned(monkeypatch, tmp_path, "{{ text }}", "writer", form="adjust-steps", **told)
    assert "adjust-steps.jinja" in plan.templates["adjust-steps"]
