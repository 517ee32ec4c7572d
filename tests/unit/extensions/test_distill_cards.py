"""What the cards of a study that trains must say, and what else its learnt texts are no
part of.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from asking import AskedStudy
from distilling import MEMBERS, STUDENT, distilling, table
from judgescope.core.errors import UserError
from judgescope.extensions.distill import job_specs
from judgescope.extensions.distill.actions import write_card
from judgescope.extensions.distill.specs import (
    ExampleFiles,
)
from judgescope.extensions.export.targets import export
from judgescope.extensions.people.weights import pages_of
from judgescope.plan.asking_jobs import used_keys
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging
from judgescope.plan.study import Plan
from judgescope.schema.cards import Recipe
from judgescope.schema.loading import load_yaml
from judgescope.schema.tables import table_of, write_table
from running import HOME
from scripted import Endpoint

JUDGES = [*MEMBERS, "together", "distilled"]
ANNOTATING = {"form": "annotate", "annotation": {}, "max_tokens": 300}
PERCENT = {"score": "percent"}
NOWHERE = cast(Endpoint, SimpleNamespace(url="http://127.0.0.1:9/v1"))
OUT = Path("results/asked")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(study: AskedStudy) -> Plan:
    return load_plan(
        load_yaml(study.folder / "study.yaml")[0], HOME, source="study.yaml"
    )


@pytest.mark.heavy
def test_what_the_teacher_does_not_judge_is_not_drawn(folder: Path) -> None:
    study = distilling(folder, NOWHERE)
    study.card(
        "judges", "m1", model="m1", **ANNOTATING, aspects=["fluency", "naturalness"]
    )
    spec = job_specs.sample(planned(study))
    assert [*spec.student.datasets["demo-news"].aspects] == ["fluency"]


@pytest.mark.heavy
def test_the_jobs_that_train_read_what_the_plan_writes_for_them(folder: Path) -> None:
    plan = planned(distilling(folder, NOWHERE))
    check, train = job_specs.check_student(plan), job_specs.train(plan)
    assert (check.model, check.recipe, check.max_tokens) == (
        train.model,
        train.recipe,
        train.max_tokens,
    )
    assert Recipe.model_construct(**train.recipe) == Recipe.model_validate(train.recipe)
    export = job_specs.export(plan)
    assert export.examples == ExampleFiles(train=train.train, held_out=train.held_out)
    assert export.sample == check.sample == job_specs.sample(plan).output
    assert train.student == check.output


def test_a_teacher_scores_from_1_to_5(folder: Path) -> None:
    study = distilling(
        folder, NOWHERE, judges=[*JUDGES, "wide"], distill={"teacher": "wide"}
    )
    study.card("judges", "wide", model="m1", **{**ANNOTATING, "annotation": PERCENT})
    with pytest.raises(UserError, match="score from 1 to 5"):
        planned(study)


@pytest.mark.parametrize(
    "more", [{"severity": "categories"}, {"categories": ["one", "two"]}]
)
def test_a_judge_is_asked_for_what_it_is_taught(
    folder: Path, more: dict[str, Any]
) -> None:
    study = distilling(folder, NOWHERE)
    fields = {
        "model": "student",
        "form": "distilled",
        "annotation": {**PERCENT, **more},
    }
    study.card("judges", "distilled", **fields)
    with pytest.raises(UserError, match="severities from 1 to 5"):
        planned(study)


@pytest.mark.parametrize("shown", [True, "original"])
def test_a_judge_that_learns_is_shown_no_reference(
    folder: Path, shown: bool | str
) -> None:
    study = distilling(folder, NOWHERE)
    fields = {"model": "student", "form": "distilled", "annotation": PERCENT}
    study.card("judges", "distilled", **fields, use_reference=shown)
    with pytest.raises(UserError, match="shows no reference"):
        planned(study)


def test_nothing_is_filled_in_where_the_judge_learns(folder: Path) -> None:
    plan = planned(distilling(folder, NOWHERE, unread="worst"))
    learnt, judged = (
        judging.score(plan, name, "m1").unread
        for [name] in (plan.taught, plan.evaluated)
    )
    assert learnt is None and judged is not None


@pytest.mark.heavy
def test_a_model_that_is_trained_drafts_nothing(folder: Path) -> None:
    with pytest.raises(UserError, match="can only judge"):
        planned(distilling(folder, NOWHERE, drafter="student"))


@pytest.mark.heavy
def test_a_form_of_new_texts_is_filled_before_anything_is_asked(folder: Path) -> None:
    new = {"write": {"models": ["loop"], "form": "bare"}}
    study = distilling(folder, NOWHERE, distill=new)
    (folder / "config" / "prompts").mkdir()
    (folder / "config" / "prompts" / "bare.jinja").write_text(
        "Write a {{ task }}.", "utf-8"
    )
    with pytest.raises(UserError, match="variable `source`"):
        planned(study)


@pytest.mark.heavy
def test_other_judges_need_nothing_of_what_is_learnt_from(folder: Path) -> None:
    """A judge with demonstrations needs ratings of what it judges, and not of other
    texts.
    """
    learnt = {"judges": [*JUDGES, "shown"], "aspects": ["naturalness"]}
    study = distilling(folder, NOWHERE, **learnt, distill={"datasets": ["bare"]})
    study.card("judges", "shown", model="loop", form="score-shots", shots={"n": 3})
    table(study, "bare", [{"item": "i", "source": "s", "system": "a", "text": "t"}])
    assert {
        cell.dataset for cell in planned(study).cell_aspects if cell.judge == "shown"
    } == {"demo-dialogue"}


@pytest.mark.heavy
def test_experts_are_asked_about_what_is_evaluated_alone(folder: Path) -> None:
    """An aspect of the same task that only texts to learn from have has no weight."""
    perturbation = {"methods": ["discernment"], "perturbations": ["random-deletions"]}
    study = distilling(
        folder, NOWHERE, aspects=[], distill={"datasets": ["bare"]}, **perturbation
    )
    table(study, "bare", [{"item": "i", "source": "s", "system": "a", "text": "t"}])
    card = load_yaml(folder / "config/datasets/bare.yaml")[0]
    card["aspects"]["overall"] = {"min": 1, "max": 5, "step": 1}
    study.card("datasets", card.pop("dataset"), **card)
    plan = planned(study)
    assert "overall" in plan.aspects
    [page] = pages_of(plan)
    aspects = dict(page.items[0].questions[0].options)
    assert page.task == "dialogue" and "overall" not in aspects


def sampled(study: AskedStudy) -> None:
    """Write two texts to learn from, of which one is drawn, on one aspect; none to
    evaluate on.
    """
    item = {
        "dataset": "bare",
        "item": "i",
        "source": "s",
        "references": [],
        "meta": "{}",
    }
    for name, rows in (("bare", [item]), ("demo-dialogue", [])):
        write_table("items", table_of("items", rows), OUT / f"items/{name}.parquet")
        texts = [
            {"dataset": name, "target": f"i:{system}", "item": "i", "system": system}
            | {"perturbation": "none", "degree": "", "step": 0, "text": system}
            | {"status": "ok", "edits": []}
            for system in ("a", "b")
            if rows
        ]
        write_table(
            "targets",
            table_of("targets", texts),
            OUT / f"targets/{name}/systems.parquet",
        )
        write_table("ratings", table_of("ratings", []), OUT / f"ratings/{name}.parquet")
    drawn: dict[str, Any] = {
        "dataset": "bare",
        "item": "i",
        "target": "i:b",
        "system": "b",
    }
    drawn |= {"perturbation": "systems", "aspect": "naturalness", "prompt": "p"}
    drawn |= {"held_out": False, "room": 0}
    write_table("samples", table_of("samples", [drawn]), OUT / "distill/sample.parquet")


def small(folder: Path) -> AskedStudy:
    study = distilling(
        folder, NOWHERE, aspects=["naturalness"], distill={"datasets": ["bare"]}
    )
    table(study, "bare", [{"item": "i", "source": "s", "system": "a", "text": "t"}])
    sampled(study)
    return study


@pytest.mark.heavy
def test_of_what_is_learnt_from_only_the_sample_is_scored_elsewhere(
    folder: Path,
) -> None:
    plan, path = planned(small(folder)), folder / "targets.jsonl"
    export(plan, OUT, path, made=False)
    [row] = map(json.loads, path.read_text("utf-8").splitlines())
    assert row["target"] == "i:b" and [
        aspect["aspect"] for aspect in row["aspects"]
    ] == ["naturalness"]


@pytest.mark.heavy
def test_replies_are_not_dropped_while_the_adapter_they_are_of_is_missing(
    folder: Path,
) -> None:
    """Without it the keys of the judge's replies are not known, and all would seem
    unused.
    """
    plan = planned(small(folder))
    with pytest.raises(
        UserError, match="so the replies that it uses are unknown"
    ) as error:
        used_keys(plan, require_texts=True)
    assert "distill/adapter" in str(error.value)
    trained(16)
    assert used_keys(plan, require_texts=True)


def trained(rank: int) -> Path:
    adapter = OUT / "distill" / "adapter"
    adapter.mkdir(parents=True)
    (adapter / "adapter_config.json").write_text(
        json.dumps({"r": rank}), encoding="utf-8"
    )
    (adapter / "adapter_model.safetensors").write_bytes(b"weights")
    return adapter


@pytest.mark.heavy
def test_a_trained_model_is_served_with_its_weights_and_room_for_its_rank(
    folder: Path,
) -> None:
    study = distilling(folder, NOWHERE)
    study.card("models", "student", **STUDENT, path="my weights")
    trained(48)
    *_, serving = write_card(
        planned(study), OUT / "distill/adapter", Path("config/models/m.yaml")
    )
    assert (
        "vllm serve 'config/models/my weights' --enable-lora --max-lora-rank 64"
        in serving
    )
    card = load_yaml(Path("config/models/m.yaml"))[0]
    location = Path("config/models", card["adapter"]["path"])
    assert location.samefile(OUT / "distill/adapter") and card["path"] == "my weights"


def shipped(name: str) -> Plan:
    path = HOME / "config" / "studies" / f"{name}.yaml"
    return load_plan(load_yaml(path)[0], HOME, source=str(path))


@pytest.mark.heavy
def test_the_shipped_study_learns_from_five_tasks() -> None:
    plan = shipped("distill")
    tasks = {plan.datasets[name].task for name in plan.taught}
    assert tasks == {
        "dialogue-summarization",
        "data-to-text",
        "summarization",
        "story",
        "qa",
    }


@pytest.mark.heavy
def test_the_papers_number_of_examples_is_planned_task_by_task() -> None:
    """Table 2 of Kartáč et al. (2025): as many as printed, and less than one item
    more.
    """
    printed = {"summarization": 12_070, "data-to-text": 7_894, "dialogue": 10_074}
    printed |= {"story": 3_200, "qa": 4_849}
    plan = shipped("distill-paper")
    spec = job_specs.sample(plan)
    planned = {
        plan.datasets[name].task: (plan.datasets[name].select.n or 0)
        * min(spec.n_texts, len(taught.new))
        * min(spec.n_aspects, len(taught.aspects))
        for name, taught in spec.student.datasets.items()
    }
    assert {
        task: 0 <= n - printed[task] < 12 for task, n in planned.items()
    } == dict.fromkeys(printed, True)
    assert (sum(printed.values()), sum(planned.values())) == (38_087, 38_112)
