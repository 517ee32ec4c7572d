"""What cards of judges may say of aspects that people rate by labels alone; controls in
labels.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from data_samples import table
from judgescope.core.errors import UserError
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.controls import build
from judgescope.plan.checks.judges import check_judge
from judgescope.plan.generators import addition
from judgescope.plan.notices import unordered
from judgescope.plan.specs import results
from judgescope.plan.specs.results import without_data
from judgescope.schema.cards import (
    ControlModel,
    Dataset,
    Judge,
    OpenAIModel,
    RatingScale,
    RecordedModel,
)
from study import Study

COLUMNS = {"item": "id", "source": "q", "text": "a"}
POINTS = {"min": 1, "max": 5, "step": 1}
VERDICTS = RatingScale(labels=["fail", "pass"])
KINDS = RatingScale(labels=["no", "why", "yes"], ordered=False)
RECORDED = RecordedModel.model_validate(
    {
        **{"model": "it", "engine": "recorded", "dataset": "mine", "files": "x.jsonl"},
        "rows": {"item": "id", "scores": {"*": "s"}},
    }
)


def rated(**aspects: dict[str, Any]) -> dict[str, Dataset]:
    return {"mine": table("x.jsonl", COLUMNS, aspects=aspects)}


def checked(datasets: dict[str, Dataset], **keys: Any) -> None:
    card = Judge.model_validate({"judge": "j", "model": "it", **keys})
    check_judge(card, RECORDED, datasets, ["labels"])


@pytest.mark.parametrize(
    ("aspect", "keys", "problem", "key"),
    [
        (
            POINTS,
            {"threshold": 3},
            "a threshold needs an aspect that people rate with",
            "",
        ),
        (
            {"labels": ["a", "b", "c"]},
            {"threshold": "best"},
            "a threshold needs an aspect that people rate with two labels",
            "threshold",
        ),
        (
            {"labels": ["fail", "pass"]},
            {"scale": POINTS, "threshold": 9},
            "a threshold outside the judge's scale",
            "threshold",
        ),
        (
            POINTS,
            {"read_as": {"ok": "pass"}},
            "`read_as` needs an aspect with labels",
            "read_as",
        ),
        (
            {"labels": ["fail", "pass"]},
            {"read_as": {"ok": "passs"}},
            "not one of the labels fail, pass .nearest: 'pass'",
            "read_as",
        ),
        (
            {"labels": ["fail", "pass"]},
            {"scale": {"labels": ["bad", "good"]}},
            "the judge's labels differ",
            "scale",
        ),
    ],
)
def test_keys_on_labels_that_do_not_fit_are_refused(
    aspect: dict[str, Any], keys: dict[str, Any], problem: str, key: str
) -> None:
    with pytest.raises(UserError, match=problem) as error:
        checked(rated(fluency=aspect), **keys)
    assert f"judges/j.yaml, key {key}" in error.value.where


def test_points_beside_two_labels_need_a_threshold() -> None:
    with pytest.raises(UserError, match="no aspect of the study's datasets") as error:
        checked(rated(fluency={"labels": ["fail", "pass"]}), scale=POINTS)
    assert "set `threshold`" in error.value.todo
    with pytest.raises(UserError) as error:
        checked(rated(fluency={"labels": ["no", "so-so", "yes"]}), scale=POINTS)
    assert "threshold" not in error.value.todo


def test_a_judge_of_points_or_of_peoples_labels_is_taken() -> None:
    datasets = rated(fluency={"labels": ["fail", "pass"]}, coherence=POINTS)
    checked(datasets, scale=POINTS, threshold=4)
    checked(datasets, scale={"min": 0, "max": 1}, threshold="best")
    checked(datasets, read_as={"ok": "Pass"})
    checked(datasets, scale={"fluency": {"labels": ["fail", "pass"]}})


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        ({"labels": ["a", "b"]}, "`threshold` needs a scale of numbers"),
        ({"a": POINTS, "b": POINTS | {"best": "min"}}, "one `threshold` does not fit"),
        ({"a": POINTS, "b": {"min": 0, "max": 1}}, "one `threshold` does not fit"),
    ],
)
def test_a_threshold_needs_a_single_scale_of_numbers(
    scale: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        Judge.model_validate(
            {"judge": "j", "model": "m", "threshold": 1, "scale": scale}
        )


@pytest.mark.parametrize("key", ["pairs", "orders"])
def test_recorded_rows_say_which_texts_were_compared_and_how(key: str) -> None:
    value = {"pairs": "all", "orders": "one"}[key]
    with pytest.raises(UserError, match="rows of a recorded model determine") as error:
        checked(rated(fluency=POINTS), form="compare", **{key: value})
    assert "judges/j.yaml, key form" in error.value.where
    compares = RECORDED.model_copy(
        update={"rows": RECORDED.rows.model_copy(update={"system_b": "other"})}
    )
    card = Judge.model_validate(
        {"judge": "j", "model": "it", "form": "compare", key: value}
    )
    with pytest.raises(UserError, match="rows of a recorded model determine") as error:
        check_judge(card, compares, rated(fluency=POINTS), ["pairwise"])
    assert f"judges/j.yaml, key {key}" in error.value.where
    assert error.value.todo == f"leave `{key}` out"


def test_a_comparison_is_restricted_to_its_choices_and_to_no_json() -> None:
    model = OpenAIModel(model="it", engine="openai", base_url="http://127.0.0.1:1/v1")
    keys = {"judge": "j", "model": "it", "form": "compare"}
    card = Judge.model_validate({**keys, "structured": "choice"})
    check_judge(card, model, rated(fluency={"min": 0, "max": 1}), ["pairwise"])
    card = Judge.model_validate({**keys, "structured": "json"})
    with pytest.raises(UserError, match="a form that rates one text") as error:
        check_judge(card, model, rated(fluency=POINTS), ["pairwise"])
    assert error.value.where.endswith("key structured")


def test_several_models_and_several_columns_are_refused() -> None:
    with pytest.raises(ValidationError, match="`columns` needs a single `model`"):
        Judge.model_validate({"judge": "j", "models": ["a", "b"], "columns": ["x"]})


def test_the_dump_of_a_judge_has_no_key_on_labels_that_its_card_leaves_out() -> None:
    card = Judge(judge="j", model="m")
    assert not {"read_as", "threshold"} & card.model_dump().keys()
    full = Judge(judge="j", model="m", read_as={"ok": "pass"}, threshold=2.0)
    assert Judge(**full.model_dump()) == full


def answers(
    form: str, scale: RatingScale, ratings: dict[str, list[float]]
) -> list[str]:
    """Return what a control says of texts with these ratings."""
    inputs = EngineInputs(
        seed=1,
        dataset="d",
        ratings={(name, "fluency"): each for name, each in ratings.items()},
    )
    engine = build(ControlModel(model="control", engine="control"), inputs)
    subjects = [Subject(name, name, "s", "systems", "x" * 7) for name in ratings]
    judge = Judge(judge=form, model="control", form=form)
    return [draws[0].text for draws in engine.answer(judge, "fluency", scale, subjects)]


def test_controls_answer_in_labels() -> None:
    ratings = {
        f"i{at}": [1.0, 1.0, 0.0] if at % 4 else [0.0, 0.0, 1.0] for at in range(200)
    }
    assert {*answers("constant_top", VERDICTS, ratings)} == {"pass"}
    assert {*answers("most_frequent", VERDICTS, ratings)} == {"pass"}
    assert {*answers("length", VERDICTS, ratings)} == {"7"}
    random = Counter(answers("random", VERDICTS, ratings))  # 7 of 12 ratings are 1
    assert 90 <= random["pass"] <= 143 and random.total() == 200
    assert Counter(answers("shuffled", VERDICTS, ratings)) == {"pass": 150, "fail": 50}


def test_shuffled_labels_are_the_lower_median_or_the_majority() -> None:
    split = {"a": [0.0, 2.0], "b": [0.0, 2.0], "c": [2.0, 2.0]}
    ordered = RatingScale(labels=KINDS.labels)
    assert Counter(answers("shuffled", ordered, split)) == {"no": 2, "yes": 1}
    assert Counter(answers("shuffled", KINDS, split)) == {"yes": 1, "needs_ratings": 2}


def test_an_attack_names_the_best_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(
        tmp_path,
        study="s",
        datasets=["demo-answers"],
        aspects=[],
        judges=["random"],
        perturbations=["claimed-verdict"],
        methods=["robustness"],
    )
    study.write()
    assert (
        "pass"
        in addition(study.plan(), "demo-answers", "claimed-verdict", "attack").text
    )


def test_a_named_method_without_its_data_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path, study="s", aspects=[], judges=["random"], perturbations=[])
    lines = [*without_data(study.plan(methods=["agreement", "labels", "pairwise"]))]
    assert [line.partition(" has ")[0] for line in lines] == [
        "warning: the method labels",
        "warning: the method pairwise",
    ]
    assert lines[0].endswith("nothing to compute: it needs an aspect with labels")
    study.change("datasets", "demo-answers", dataset="ours")
    assert not [*without_data(study.plan(datasets=["ours"], methods=["labels"]))]


def test_methods_that_compare_values_leave_labels_without_an_order_out_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = {"labels": ["praise", "question"], "ordered": False}
    study = Study(
        tmp_path,
        study="s",
        datasets=["ours"],
        aspects=[],
        judges=["random"],
        perturbations=[],
    )
    study.change(
        "datasets", "demo-answers", dataset="ours", aspects={"correctness": keys}
    )
    study.amend("datasets", "ours", columns={"item": "i", "source": "q", "text": "t"})
    plan = study.plan(methods=["agreement", "perspectives"])
    [line] = unordered(plan)
    assert line.startswith(
        "left out of perspectives: correctness, whose labels have no order"
    )
    aspects = {
        table: set(results.statistics(plan, table, "ours").aspects)
        for table in results.tables_of(plan)
    }
    assert "labels" in aspects
    with_it = {"agreement", "comparison", "labels", "verdicts", "cost", "coverage"}
    assert {table for table, names in aspects.items() if names} == with_it


@pytest.mark.heavy
def test_ids_of_means_are_no_aspect_and_nobody_of_several_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = {"study": "s", "judges": ["rules"], "methods": ["agreement"]}
    study = Study(tmp_path, keys, datasets=["demo-dialogue", "overall"])
    study.change("datasets", "demo-dialogue", dataset="overall")
    with pytest.raises(UserError, match="reserved for means over datasets"):
        study.plan()
    study.change("datasets", "demo-dialogue", aspects={"average": {"min": 1, "max": 5}})
    with pytest.raises(UserError, match="reserved for means over aspects"):
        study.plan(datasets=["demo-dialogue"])
