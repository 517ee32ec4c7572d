"""Cards of annotators: what contradicts itself, and what is planned and asked."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

import prompts_setup
from annotation_setup import ASPECT, VARIANTS
from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.parsing.annotation import VERDICTS
from judgescope.parsing.judgment import Scale
from judgescope.plan.judges import facts_of, parser_of, prompt_aspects, scale_of
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging, results
from judgescope.plan.study import Plan
from judgescope.prompts import annotating, load, rated
from judgescope.replies.judging import ProgramQuestions, Questions
from judgescope.replies.questions import plan_questions as job_of
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import (
    AnnotationKeys,
    Aspect,
    CommandModel,
    Judge,
    OpenAIModel,
    RatedAspect,
)
from judgescope.schema.cards.annotations import OVERALL, PERCENT
from judgescope.schema.loading import load_yaml, read_card
from prompts_setup import CONFIG, FIVE, FORMS, SUMMARY, about, asked_about, filled
from running import HOME
from study import Study

JUDGE: dict[str, Any] = {"judge": "mine", "model": "m", "form": "annotate"}
SHIPPED: dict[str, dict[str, Any]] = {
    "annotator": {},
    "annotator-integers": {"score": "integers"},
    "annotator-severity-words": {"severity": "categories"},
    "annotator-no-rules": {"rules": False},
}


# --- cards ---


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_annotators_differ_in_a_single_thing_each(name: str) -> None:
    card = read_card("judge", CONFIG / "judges" / f"{name}.yaml")
    assert card.annotation == AnnotationKeys(**SHIPPED[name])
    assert (card.model, card.form, card.temperature) == ("judge", "annotate", 0)
    assert card.max_tokens == 1536 and card.own_scale == OVERALL


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"scale": {"min": 1, "max": 5, "step": 1}},
            "`scale` cannot be used with annotations",
        ),
        ({"structured": "json"}, "`structured` cannot be used with"),
        (
            {"estimator": "logprob_mean"},
            "`estimator: logprob_mean` cannot be used with",
        ),
        ({"hint": {"baseline": "other"}}, "`hint` cannot be used with"),
        ({"shots": {"n": 2}}, "`shots` cannot be used with"),
        ({"parser": "score"}, "needs the parser annotation"),
        ({"parser": "errors"}, "needs the parser annotation"),
        ({"annotation": {"categories": ["Name", "name"]}}, "named twice"),
        ({"annotation": {"categories": ["Na\nme"]}}, "should match pattern"),
        ({"annotation": {"categories": [""]}}, "should match pattern"),
        ({"annotation": {"score": "words"}}, "'integers' or 'percent'"),
    ],
)
def test_cards_that_contradict_themselves(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Judge.model_validate(JUDGE | {"annotation": {}} | keys)
    if "annotation" not in keys and "parser" not in keys:
        with pytest.raises(ValueError, match=message):
            Judge.model_validate(JUDGE | {"parser": "annotation"} | keys)


def test_annotations_that_were_recorded_need_the_parser_alone() -> None:
    judge = Judge.model_validate(JUDGE | {"parser": "annotation"})
    assert judge.annotates and judge.annotation is None and judge.own_scale == OVERALL
    assert not Judge.model_validate(JUDGE).annotates
    assert Judge.model_validate(
        JUDGE | {"annotation": {}, "parser": "annotation"}
    ).annotates


# --- plans ---


def plan_of(*judges: str, **keys: Any) -> Plan:
    study = {"study": "s", "datasets": ["demo-dialogue"], "judges": [*judges]}
    return load_plan(
        study | {"methods": ["agreement"]} | keys, HOME, source="study.yaml"
    )


@pytest.mark.heavy
def test_an_annotator_has_a_separate_scale_whatever_people_s_is() -> None:
    plan = plan_of("annotator", "score-only", datasets=["topical-chat"])
    assert parser_of(plan, "annotator") == "annotation" != parser_of(plan, "score-only")
    assert scale_of(plan, "topical-chat", "annotator", "naturalness") == OVERALL
    scale = scale_of(plan, "topical-chat", "score-only", "naturalness")
    assert scale is not None and scale.max == 3
    facts = facts_of(plan, "topical-chat", "annotator")
    assert facts.ends["naturalness"] == (1, 5)
    assert facts.grid["naturalness"] == [1, 2, 3, 4, 5]
    cells = judging.score(plan, "topical-chat", "judge").cells
    [[scored]] = [each.readings for each in cells if each.judge == "annotator"]
    assert scored.scale is not None and scored.scale.labels == (*VERDICTS,)
    reader = "judgescope.parsing.annotation:read_verdict_and_errors"
    assert scored.parser == reader and scored.settings == {}


def test_a_score_in_percent_has_twenty_a_single_values_and_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config" / "judges").mkdir(parents=True)
    card = {"judge": "hundred", "model": "judge", "form": "distilled"}
    (tmp_path / "config" / "judges" / "hundred.yaml").write_text(
        json.dumps(card | {"annotation": {"score": "percent"}}), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    plan = plan_of("hundred", aspects=["naturalness"])
    assert scale_of(plan, "demo-dialogue", "hundred", "naturalness") == PERCENT
    facts = facts_of(plan, "demo-dialogue", "hundred")
    assert facts.ends["naturalness"] == (0, 100)
    assert facts.grid["naturalness"] == [*range(0, 101, 5)]
    [cells] = judging.score(plan, "demo-dialogue", "judge").cells
    assert (cells.judge, cells.perturbations) == ("hundred", ["systems"])
    assert cells.readings[0].scale == Scale(0, 100, 5, (), "drop")


def test_forms_of_a_single_model_are_compared_on_people_s_scale_alone() -> None:
    plan = plan_of("annotator", "score-only", "rate-explain")
    spec = results.statistics(plan, "robustness", "demo-dialogue")
    assert spec.forms == {"judge": ["score-only", "rate-explain"]}


@pytest.mark.heavy
def test_what_is_asked_depends_on_the_annotation_and_no_other_judge_s_on_the_key() -> (
    None
):
    def spec(*judges: str) -> AskSpec:
        return judging.ask(plan_of(*judges), "demo-dialogue", "judge")

    both = spec("annotator-integers", "score-only")
    assert both.judges["annotator-integers"]["annotation"]["score"] == "integers"
    assert (
        both.about.task == "dialogue"
        and both.judges["score-only"]["annotation"] is None
    )
    alone = spec("score-only")
    assert (
        alone.about == both.about
        and alone.judges["score-only"] == both.judges["score-only"]
    )


def test_of_an_aspect_prompts_are_reported_only_what_its_card_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"aspect": "mine", "name": "Mine", "definition": "What is mine."}
    (tmp_path / "config" / "aspects").mkdir(parents=True)
    (tmp_path / "config" / "aspects" / "naturalness.yaml").write_text(
        json.dumps(fields | {"aspect": "naturalness"}), encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    plan = plan_of("score-only", aspects=["naturalness", "coherence"])
    result = prompt_aspects(plan, "demo-dialogue")
    by_name = {
        name: {key for key in each if each[key]} for name, each in result.items()
    }
    assert by_name["naturalness"] == {"aspect", "name", "definition"}
    assert {"unlike", "worst", "best"} <= by_name["coherence"]


@pytest.mark.parametrize("end", ["worst", "best"])
def test_an_aspect_without_an_end_is_named_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    fields = {
        "aspect": "naturalness",
        "name": "N",
        "definition": "D",
        "worst": "w",
        "best": "b",
    }
    del fields[end]
    path = tmp_path / "config" / "aspects" / "naturalness.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(fields), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"a description of the {end} text") as error:
        plan_of("annotator", aspects=["naturalness"])
    assert error.value.where == f"aspects/naturalness.yaml, key tasks.dialogue.{end}"
    path.write_text(json.dumps(fields | {end: "that end"}), encoding="utf-8")
    plan_of("annotator", aspects=["naturalness"])


def test_a_model_that_reads_no_prompt_is_asked_for_no_annotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "config" / "judges"
    folder.mkdir(parents=True)
    card = {"judge": "counted", "model": "lexical", "form": "rules", "annotation": {}}
    (folder / "counted.yaml").write_text(json.dumps(card), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="needs a model that reads prompts") as error:
        plan_of("counted")
    assert "parser: annotation" in error.value.todo


# --- requests ---


SCALE = RatedAspect(min=0, max=1, step=1)
TEXT = Subject("i:s", "i", "s", "systems", "THE TEXT", "THE SOURCE")


def questions(
    aspect: Aspect = ASPECT, form: str = "annotate", **keys: Any
) -> Questions:
    model = OpenAIModel.model_validate(
        {"model": "m", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}
    )
    judge = Judge.model_validate(JUDGE | {"form": form} | keys)
    templates = load(form, [CONFIG], where="")
    return Questions(
        model,
        judge,
        aspect,
        SCALE,
        asked_about(judge, [TEXT]),
        templates,
        0,
        about("qa"),
    )


@pytest.mark.heavy
def test_an_annotator_s_requests_are_its_prompt_and_change_with_the_annotation() -> (
    None
):
    [request] = questions(ASPECT.in_task("qa"), annotation={})
    assert request.asked["messages"] == [
        {
            "role": "user",
            "content": filled(
                "annotate",
                [SourcePart("Source", "THE SOURCE")],
                **about("qa").names,
                **rated(ASPECT.in_task("qa"), SCALE),
                **annotating(AnnotationKeys()),
            ),
        }
    ]
    keys = {questions(annotation=keys)[0].key for keys in VARIANTS}
    assert len(keys) == len(VARIANTS)


class Texts:
    """Stands in for a dataset's texts: one in every set of them."""

    sample = None

    def in_set(self, perturbation: str, share: float, aspect: str) -> list[Subject]:
        return [TEXT]


def test_a_job_tells_annotators_the_task_of_their_texts() -> None:
    plan = plan_of("annotator", aspects=["naturalness"])
    spec = judging.ask(plan, "demo-dialogue", "judge")
    model = plan.models["judge"]
    assert isinstance(model, OpenAIModel)
    job = job_of(spec, model, subjects=cast(Subjects, Texts()))
    [questions] = job.cells.values()
    [message] = questions[0].asked["messages"]
    assert "The text is a reply in a conversation." in message["content"]
    assert (
        "Excellent, that it is just what a person would say here" in message["content"]
    )


OTHER = {*FORMS} - {"annotate", "distilled", "rubric-verdict", *prompts_setup.VERDICTS}


@pytest.mark.parametrize("form", sorted(OTHER))
def test_no_other_form_shows_what_only_annotators_are_reported(form: str) -> None:
    bare = ASPECT.model_copy(
        update={"unlike": [], "worst": None, "best": None, "steps": ["Go."]}
    )
    full = ASPECT.model_copy(update={"steps": ["Go."]})
    parts = {"sub_aspects": [{"name": "A", "definition": "B"}]}
    each, other = (
        filled(form, **(row | {"aspect": row["aspect"] | parts}))
        for row in (rated(bare, FIVE), rated(full, FIVE))
    )
    assert each == other


def test_a_rubric_has_words_for_the_ends_that_a_card_lacks() -> None:
    bare = ASPECT.model_copy(update={"worst": None, "best": None, "steps": ["Go."]})
    ends = "1: the worst on this quality\n5: the best on this quality"
    assert ends in filled("rubric-verdict", **rated(bare, FIVE))


def test_requests_to_a_program_stay_the_same() -> None:
    model = CommandModel.model_validate(
        {"model": "m", "engine": "command", "argv": ["true"], "inputs": ["aspect"]}
    )
    judge = Judge.model_validate(JUDGE | {"form": "any"})
    bare = Aspect(aspect="clear", name="Clarity", definition="How clear it is.")
    asked_ = [
        ProgramQuestions(
            model,
            judge,
            each,
            SCALE,
            asked_about(judge, [TEXT]),
            {},
            0,
            SUMMARY,
        )[0].key
        for each in (bare, ASPECT, ASPECT.in_task("qa"))
    ]
    assert len({*asked_}) == 1


ABLATIONS: dict[str, dict[str, Any]] = {
    "integers": {"score": "integers"},
    "exchanged": {"score": "integers", "severity": "categories"},
    "severity-words": {"severity": "categories"},
    "no-rules": {"rules": False},
}
"""The four of figure 3 of Kartáč et al. (2025)."""


@pytest.mark.heavy
def test_each_ablation_is_of_the_complete_ensemble() -> None:
    path = HOME / "config" / "studies" / "ensemble-ablations.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=str(path))
    models = [f"annotator-{number}" for number in range(1, 6)]
    for name, changed in ABLATIONS.items():
        members = [f"members-{name}-{model}" for model in models]
        ensemble = plan.derived[f"ensemble-{name}"]
        assert list(ensemble.members) == members
        for member, model in zip(members, models, strict=True):
            card, full = plan.judges[member], plan.judges[model]
            assert card.model == model and card.annotation is not None
            assert full.annotation is not None
            assert card.annotation == full.annotation.model_copy(update=changed)
            left = {"judge", "annotation"}
            assert card.model_dump(exclude=left) == full.model_dump(exclude=left)
    assert set(plan.study.comparison.judges) == set(plan.derived)


def test_a_judge_of_several_models_is_a_judge_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_part = Study(tmp_path)
    own_part.card("judges", "terse", models=["annotator-1", "judge"], form="score-only")
    monkeypatch.chdir(tmp_path)
    fields = {"study": "s", "datasets": ["demo-dialogue"], "judges": ["terse"]}
    plan = load_plan(fields | {"methods": ["agreement"]}, HOME, source="study.yaml")
    asked = {
        name: card.model
        for name, card in plan.judges.items()
        if card.form == "score-only"
    }
    assert asked == {"terse-annotator-1": "annotator-1", "terse-judge": "judge"}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, "either `model` or `models`"),
        ({"model": "a", "models": ["b"]}, "either `model` or `models`"),
        ({"models": ["a", "b", "a"]}, "models names a twice"),
    ],
)
def test_a_judge_has_a_single_model_or_several(
    keys: dict[str, object], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        Judge.model_validate({"judge": "j", "form": "score-only", **keys})
