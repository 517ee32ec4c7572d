"""Prompts are filled once before anything is asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asking import AskedStudy
from judgescope.core.errors import UserError
from judgescope.perturb.validation import undone
from judgescope.plan.checks.rehearsal import rehearse
from judgescope.plan.generators import lowered
from judgescope.plan.judges import parser_of
from judgescope.plan.loading import load_plan
from judgescope.plan.study import Plan
from judgescope.prompts import change_of
from judgescope.schema.cards import (
    MadePerturbation,
)
from judgescope.schema.loading import read_card
from running import HOME
from scripted import Endpoint, reply
from vectors import published


def planned(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    form: str,
    used: str = "judge",
    /,
    **keys: Any,
) -> Plan:
    """Return the plan of a study whose judge or writer is asked with this form."""
    monkeypatch.chdir(folder)
    (folder / "config" / "prompts").mkdir(parents=True)
    (folder / "config" / "prompts" / "mine.jinja").write_text(form, encoding="utf-8")
    study = AskedStudy(
        folder, Endpoint("http://127.0.0.1:9/v1", lambda body: reply("4"))
    )
    if used == "judge":
        study.card("judges", "terse", model="loop", **{"form": "mine"} | keys)
        more: dict[str, Any] = {}
    else:
        card = {"name": "Wrong fact", "level": "word", "method": "llm", "model": "loop"}
        study.card("perturbations", "wrong", **card | {"form": "mine"} | keys)
        more = {"perturbations": ["wrong"], "methods": ["discernment"]}
    return study.plan(**more)


@pytest.mark.parametrize("used", ["judge", "writer"])
@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("Rate this.", "variable `text`"),
        ("{{ text }} {{ txet }}", "cannot be rendered: 'txet' is undefined"),
        ("{{ text }} {{ text / 2 }}", "cannot be rendered: unsupported operand"),
    ],
)
def test_a_form_that_cannot_work_is_detected_before_anything_is_asked(
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
        planned(
            monkeypatch,
            tmp_path,
            "{{ text }}{% if problem %}{{ why }}{% endif %}",
            "writer",
        )


@pytest.mark.parametrize(
    ("used", "keys", "where"),
    [
        (
            "judge",
            {"form": "score-steps"},
            "aspects/naturalness.yaml:16, key tasks.dialogue.steps",
        ),
        (
            "writer",
            {"form": "adjust-steps", "adjustment": "Name a wrong colour."},
            "perturbations/wrong.yaml, key instructions",
        ),
    ],
)
def test_a_form_that_shows_steps_names_the_card_without_any_and_who_drafts_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    used: str,
    keys: dict[str, Any],
    where: str,
) -> None:
    with pytest.raises(
        UserError, match=r"prints (evaluation )?steps, and .* card has n"
    ) as error:
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
    fields = {
        "adjustment": "Name a wrong colour.",
        "instructions": ["Look.", "Change it."],
    }
    plan = planned(
        monkeypatch, tmp_path, "{{ text }}", "writer", form="adjust-steps", **fields
    )
    assert "adjust-steps.jinja" in plan.templates["adjust-steps"]


FIRST = "Anna sold nine shops. She lives in Hartwell."
LAST = "Anna sold ten shops. She live in Hartwell."
STUDY = {
    "study": "s",
    "datasets": ["demo-news"],
    "judges": ["rules"],
    "methods": ["agreement"],
}


@pytest.mark.parametrize(
    "text",
    [
        "Anna sold ten shops. She live in Tarkeby.",
        "She live in Hartwell. Anna sold ten shops.",
        "Anna sold ten shops. She live in Hartwell. It rained.",
        "Anna sold ten. She live in Hartwell.",
        "Anna sold eleven shops. She live in Hartwell.",
    ],
)
def test_another_error_beside_those_that_exist(text: str) -> None:
    assert undone(text, LAST, FIRST) is None


@pytest.mark.parametrize(
    "text",
    [
        "Anna sold nine shops. She live in Hartwell.",
        "Anna sold ten shops. She lives in Tarkeby.",
        "It rained. Anna sold nine shops. She live in Hartwell.",
        FIRST,
    ],
)
def test_a_mended_error_is_reported_whatever_else_is_new(text: str) -> None:
    assert "is mended" in (undone(text, LAST, FIRST) or "")
    assert undone(text, FIRST, FIRST) is None


@pytest.mark.heavy
def test_every_shipped_row_is_about_an_aspect_with_parts() -> None:
    names = sorted(
        path.stem for path in (HOME / "config/perturbations").glob("local-llm-*.yaml")
    )
    assert len(names) == 9
    study = {
        **STUDY,
        "datasets": ["summeval", "usr", "topical-chat"],
        "perturbations": names,
    }
    plan = load_plan(
        study | {"share": 1.0, "references": {"model": "generator"}},
        HOME,
        source="study.yaml",
    )
    for name in names:
        card = plan.perturbations[name]
        assert isinstance(card, MadePerturbation)
        changes = [
            change_of(lowered(plan, dataset, card)).aspect for dataset in plan.datasets
        ]
        assert any(aspect and len(aspect.sub_aspects) >= 2 for aspect in changes), name


def test_a_row_without_parts_to_be_about_is_reported_before_anything_is_asked() -> None:
    study = {**STUDY, "perturbations": ["local-llm-fluency"]}
    plan = load_plan(study, HOME, source="study.yaml")
    bare = plan.aspects["fluency"].model_copy(update={"tasks": {}})
    assert isinstance(card := plan.perturbations["local-llm-fluency"], MadePerturbation)
    assert lowered(plan, "demo-news", card)
    without = replace(plan, aspects={**plan.aspects, "fluency": bare})
    assert not lowered(without, "demo-news", card)
    with pytest.raises(UserError, match="prints an aspect's sub-aspects") as error:
        rehearse(without)
    assert (
        error.value.where == "aspects/fluency.yaml, key tasks.summarization.sub_aspects"
    )


def test_parts_are_in_unpublished_words() -> None:
    theirs = [
        row["definition"].lower().split()
        for row in published("s002_subaspects_tables12_13")
    ]
    runs = {
        tuple(their[at : at + 6]) for their in theirs for at in range(len(their) - 5)
    }
    for path in (HOME / "config" / "aspects").glob("*.yaml"):
        for task in read_card("aspect", path).tasks.values():
            for part in task.sub_aspects:
                own_part = part.definition.lower().split()
                assert not runs & {
                    tuple(own_part[at : at + 6]) for at in range(len(own_part) - 5)
                }


@pytest.mark.parametrize(
    ("keys", "says", "where"),
    [
        (
            {"form": "annotate"},
            "this card has no `annotation`",
            "judges/terse.yaml, key annotation",
        ),
        ({"annotation": {}}, "does not ask for annotations", "prompts/mine.jinja"),
        ({"form": "annotate", "annotation": {}}, "", ""),
        ({"parser": "annotation"}, "", ""),
    ],
)
def test_card_and_form_ask_for_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keys: dict[str, Any],
    says: str,
    where: str,
) -> None:
    if not says:
        assert parser_of(
            planned(monkeypatch, tmp_path, "{{ text }}", **keys), "terse"
        ) == ("annotation")
        return
    with pytest.raises(UserError, match=says) as error:
        planned(monkeypatch, tmp_path, "{{ text }}", **keys)
    assert error.value.where == where
