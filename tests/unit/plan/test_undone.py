"""Rows of texts that a model makes: what an error is about, and that none of them is mended."""

from dataclasses import replace

import pytest

from judgescope.core.errors import UserError
from judgescope.perturb.validation import undone
from judgescope.plan.checks.prompts import rehearse
from judgescope.plan.generators import lowered
from judgescope.plan.loading import load_plan
from judgescope.prompts import change_of
from judgescope.schema.cards import MadePerturbation
from judgescope.schema.loading import read_card
from running import HOME
from vectors import published

FIRST = "Anna sold nine shops. She lives in Hartwell."
LAST = "Anna sold ten shops. She live in Hartwell."
STUDY = {"study": "s", "datasets": ["demo-news"], "judges": ["rules"], "methods": ["agreement"]}


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
def test_another_error_beside_those_that_are_there(text: str) -> None:
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
def test_an_error_that_is_mended_is_told_whatever_else_is_new(text: str) -> None:
    assert "is mended" in (undone(text, LAST, FIRST) or "")
    assert undone(text, FIRST, FIRST) is None


@pytest.mark.heavy
def test_every_shipped_row_is_about_an_aspect_with_parts() -> None:
    names = sorted(path.stem for path in (HOME / "config/perturbations").glob("local-llm-*.yaml"))
    assert len(names) == 9
    study = {**STUDY, "datasets": ["summeval", "usr", "topical-chat"], "perturbations": names}
    plan = load_plan(
        study | {"share": 1.0, "references": {"model": "generator"}}, HOME, source="study.yaml"
    )
    for name in names:
        card = plan.perturbations[name]
        assert isinstance(card, MadePerturbation)
        changes = [change_of(lowered(plan, dataset, card)).aspect for dataset in plan.datasets]
        assert any(aspect and len(aspect.sub_aspects) >= 2 for aspect in changes), name


def test_a_row_without_parts_to_be_about_is_told_before_anything_is_asked() -> None:
    study = {**STUDY, "perturbations": ["local-llm-fluency"]}
    plan = load_plan(study, HOME, source="study.yaml")
    bare = plan.aspects["fluency"].model_copy(update={"tasks": {}})
    assert isinstance(card := plan.perturbations["local-llm-fluency"], MadePerturbation)
    assert lowered(plan, "demo-news", card)
    without = replace(plan, aspects={**plan.aspects, "fluency": bare})
    assert not lowered(without, "demo-news", card)
    with pytest.raises(UserError, match="shows an aspect's sub-aspects") as error:
        rehearse(without)
    assert error.value.where == "aspects/fluency.yaml, key tasks.summarization.sub_aspects"


def test_parts_are_in_words_of_our_own() -> None:
    theirs = [row["definition"].lower().split() for row in published("s002_subaspects_tables12_13")]
    runs = {tuple(one[at : at + 6]) for one in theirs for at in range(len(one) - 5)}
    for path in (HOME / "config" / "aspects").glob("*.yaml"):
        for task in read_card("aspect", path).tasks.values():
            for part in task.sub_aspects:
                own = part.definition.lower().split()
                assert not runs & {tuple(own[at : at + 6]) for at in range(len(own) - 5)}
