"""The study key `unread`: how draws without a value count; policies without effect."""

from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from judgescope.core.errors import UserError, UserErrors
from judgescope.parsing.judgment import PARSERS, WRONG, Policy, Scale, zero_stands_in
from judgescope.plan.loading import load_plan
from judgescope.plan.notices import policies
from judgescope.plan.specs import judging, results
from judgescope.schema.tables import table_of
from judgescope.scoring.cell import score_part
from judgescope.scoring.ensembles import derive_part
from judgescope.scoring.specs import CellPart, ReplyReading, Unread
from methods_setup import FIELD, study
from running import HOME
from study import Study

FIVE = Scale(1, 5, 1)
PART = CellPart("d", "systems", "j", "fluency")
SAID = ["4", "no idea", "1-5", "9"]


def answers(*texts: str, backwards: bool = False) -> pa.Table:
    fields = {
        "judge": "j",
        "kind": "score",
        "aspect": "fluency",
        "draw": 0,
        "finish": "stop",
    }
    rows = [
        {**fields, "target": f"t{at}", "key": str(at), "text": text, "status": "ok"}
        for at, text in enumerate(texts)
    ]
    rows.append(
        {
            **fields,
            "target": "t9",
            "key": "9",
            "text": "why",
            "status": "not_applicable",
        }
    )
    return table_of("answers", rows[::-1] if backwards else rows)


def scores(
    table: pa.Table, unread: Any = None, scale: Scale | None = FIVE
) -> list[Any]:
    parser = "score" if scale else "number"
    reading = ReplyReading(
        pairs=[("fluency", None)],
        scale=scale,
        parser=PARSERS.target(parser),
        estimator="mean",
    )
    result = unread and Unread(**unread)
    judged, scored = score_part(table, reading, part=PART, unread=result)
    by_target = {row["target"]: row for row in judged.to_pylist()}
    assert [by_target[f"t{at}"]["value"] for at in (1, 2, 3)] == [
        None
    ] * 3 or scale is None
    return [(row["value"], row["n_missing"]) for row in scored.to_pylist()]


@pytest.mark.parametrize(("policy", "value"), [("worst", 1.0), ("mid", 3.0)])
def test_a_missing_draw_counts_as_the_study_says(policy: str, value: float) -> None:
    drop = scores(answers(*SAID))
    assert drop == [(4.0, 0), (None, 1), (None, 1), (None, 1), (None, 1)]
    filled = scores(answers(*SAID), {"policy": policy, "seed": 7})
    assert filled == [(4.0, 0), (value, 1), (value, 1), (value, 1), (None, 1)]


def test_a_reply_whose_probabilities_give_no_value_is_a_missing_draw() -> None:
    rows = answers("4", "4").to_pylist()
    rows[0]["logprobs"], rows[1]["logprobs"] = [[("4", log(0.9))]], [[("4", log(0.4))]]
    reading = ReplyReading(
        pairs=[("fluency", None)],
        scale=FIVE,
        parser=PARSERS.target("score"),
        estimator="logprob_mean",
    )
    filled = Unread(policy="worst", seed=7)
    _, scored = score_part(table_of("answers", rows), reading, part=PART, unread=filled)
    assert scored["value"].to_pylist() == [pytest.approx(4), 1, None]
    assert scored["n_missing"].to_pylist() == [0, 1, 1]


def test_where_the_lowest_value_is_the_best_the_highest_is_the_worst() -> None:
    filled = scores(
        answers(*SAID), {"policy": "worst", "seed": 7}, Scale(1, 5, 1, best="min")
    )
    assert filled == [(4.0, 0), (5.0, 1), (5.0, 1), (5.0, 1), (None, 1)]


def test_zero_stands_for_a_missing_draw_only_where_it_is_a_rating() -> None:
    filled = scores(
        answers("4", "?", "?", "?"), {"policy": "zero", "seed": 7}, Scale(0, 5, 1)
    )
    assert filled == [(4.0, 0), (0.0, 1), (0.0, 1), (0.0, 1), (None, 1)]
    assert zero_stands_in(Scale(-1, 1, None)) and not zero_stands_in(Scale(-1, 2, 1.5))
    assert not zero_stands_in(Scale(0, 4, 1, best="min")) and not zero_stands_in(
        Scale(-4, 0, 1)
    )
    with pytest.raises(ValueError, match="not a value of this scale"):
        scores(answers(*SAID), {"policy": "zero", "seed": 7})


@pytest.mark.heavy
def test_a_study_with_zero_needs_scales_that_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fields: dict[str, Any] = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "methods": ["agreement"],
    }
    fields |= {"judges": ["score-only"], "unread": "zero"}
    with pytest.raises(UserError, match="0 is not a value of this scale") as caught:
        load_plan(fields, HOME, source="study.yaml")
    assert "judge score-only" in str(caught.value) and "1 to 5" in str(caught.value)
    marks = {"min": 0, "max": 4, "step": 1, "best": "min"}
    marked = Study(tmp_path, fields)
    marked.change("datasets", "demo-dialogue", aspects={"naturalness": marks})
    marked.change("judges", "score-only", scale=marks)
    with pytest.raises(UserError, match="0 is the best value of this scale"):
        load_plan(fields, HOME, source="study.yaml")
    load_plan(
        fields | {"judges": ["length"]}, HOME, source="study.yaml"
    )  # a control lacks nothing


def test_random_values_come_from_the_seed_and_the_draw_alone() -> None:
    many = ["4", *(["?"] * 60)]
    each, again, other = (
        scores(answers(*many, backwards=turned), {"policy": "random", "seed": seed})
        for seed, turned in ((7, False), (7, True), (8, False))
    )
    assert each == again != other
    assert {value for value, count in each if count and value is not None} == {
        1,
        2,
        3,
        4,
        5,
    }


def test_without_a_scale_nothing_is_filled() -> None:
    table = answers("4", "none", "none", "none")
    assert scores(table, {"policy": "mid", "seed": 7}, None)[1] == (None, 1)


@pytest.mark.heavy
def test_the_key_reaches_scores_and_signature_and_asks_nothing() -> None:
    fields: dict[str, Any] = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "methods": ["agreement"],
    }
    fields["judges"] = ["score-only"]
    asked, scored = [], []
    for keys in ({}, {"unread": "missing"}, {"unread": "worst"}):
        plan = load_plan(fields | keys, HOME, source="study.yaml")
        asked.append(judging.ask(plan, "demo-dialogue", "judge"))
        scored.append(judging.score(plan, "demo-dialogue", "judge").unread)
        statistics = results.statistics(plan, "agreement", "demo-dialogue")
        assert statistics.unread == ("worst" if scored[-1] else "missing")
    assert asked[0] == asked[1] == asked[2] and scored[:2] == [None, None]
    assert scored[2] is not None and scored[2].policy == "worst"
    assert "unread" not in study(FIELD).signature("good", "pearson", "pooled")
    filled = study(FIELD, unread="worst")
    assert "|unread:worst|" in filled.signature("good", "pearson", "pooled")


# --- a verdict that is wrong ----------------------------------------------------------


def estimators(table: pa.Table, policy: Policy) -> dict[str, str]:
    """Return target -> how its score was computed, of labels."""
    words = (("fail", 0), ("pass", 1))
    scale = Scale(0, 1, 1, labels=("fail", "pass"), words=words)
    reading = ReplyReading(
        pairs=[("fluency", None)],
        scale=scale,
        parser=PARSERS.target("score"),
        estimator="mean",
    )
    unread = Unread(policy=policy, seed=7)
    _, scored = score_part(table, reading, part=PART, unread=unread)
    return {row["target"]: row["estimator"] for row in scored.to_pylist()}


def test_scores_of_which_too_few_draws_were_read_are_marked_as_wrong() -> None:
    keys = {
        "read": ["pass", "fail", "fail"],
        "most": ["pass", "?", "pass"],
        "tied": ["pass", "fail", "?"],
        "few": ["pass", "?", "?"],
        "none": ["?", "?", "?"],
    }
    fields = {"judge": "j", "kind": "score", "aspect": "fluency", "finish": "stop"}
    rows = [
        {**fields, "target": target, "draw": draw, "text": text, "status": "ok"}
        | {"key": f"{target}{draw}"}
        for target, texts in keys.items()
        for draw, text in enumerate(texts)
    ]
    rows += [
        {**fields, "target": "out", "draw": draw, "text": "why", "key": f"out{draw}"}
        | {"status": "not_applicable"}
        for draw in range(3)
    ]
    table = table_of("answers", rows)
    marked = estimators(table, "wrong")
    wrong = [target for target, how in marked.items() if how == WRONG]
    assert wrong == ["few", "none"]
    assert set(estimators(table, "worst").values()) == {"majority"}


def test_a_lost_score_of_an_ensemble_is_wrong_if_a_members_is() -> None:
    where = {"dataset": "d", "perturbation": "systems", "aspect": "fluency"}
    kinds = {"a": ("ok", "ok"), "b": ("ok", "lost"), "c": ("lost", "lost")}
    members = []
    for at in (0, 1):
        judged, scored = [], []
        for target, each in kinds.items():
            read = each[at] == "ok"
            judged.append(
                {"judge": "m", "aspect": "fluency", "kind": "score", "draw": 0}
                | {"target": target, "status": "ok" if read else "unparsed"}
            )
            how = "mean" if read else WRONG
            score = {**where, "judge": "m", "target": target, "estimator": how}
            scored.append({**score, "value": 1.0 if read else None})
        members.append((table_of("judgments", judged), table_of("scores", scored)))
    collected = {}
    for least in (1, 2):
        _, scores = derive_part(members, part=PART, min_annotators=least)
        rows = scores.to_pylist()
        collected[least] = [row["target"] for row in rows if row["estimator"] == WRONG]
    assert collected == {1: ["c"], 2: ["b", "c"]}


# --- policies that apply to nothing ---------------------------------------------------


def lines(data: tuple[list[str], str], keys: dict[str, str]) -> list[str]:
    """Return what is said about the policies of a study of judges and a dataset."""
    judges, dataset = data
    study: dict[str, Any] = {"study": "s", "datasets": [dataset], "judges": judges}
    method = "pairwise" if dataset == "demo-pairs" else "agreement"
    plan = load_plan({**study, "methods": [method], **keys}, HOME, source="study.yaml")
    return [*policies(plan)]


SCORED: tuple[list[str], str] = (["score-only"], "demo-dialogue")
COMPARED: tuple[list[str], str] = (["demo-pairs"], "demo-pairs")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("study", "key", "value", "why"),
    [
        (
            COMPARED,
            "gold",
            "median",
            "people rate no aspect of the study on",
        ),
        (SCORED, "orders", "net", "no judge of the study compares two texts in both"),
        (SCORED, "orders", "strict", "no judge of the study compares two texts"),
        (SCORED, "unread", "wrong", "no aspect has labels, and no judge compares two"),
        (COMPARED, "unread", "worst", "no judge that is asked scores texts on a scale"),
    ],
)
def test_a_policy_that_applies_to_nothing_says_so(
    study: tuple[list[str], str], key: str, value: str, why: str
) -> None:
    [line] = lines(study, {key: value})
    assert line.startswith(f"warning: the key `{key}: {value}` has no effect: {why}")


@pytest.mark.heavy
def test_a_policy_that_applies_says_nothing() -> None:
    assert not lines(SCORED, {}) and not lines(COMPARED, {})
    assert not lines(SCORED, {"gold": "majority_else_mean", "unread": "mid"})
    assert not lines(COMPARED, {"orders": "net", "unread": "wrong"})


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("gold", "medain", "nearest: median"),
        ("orders", "stric", "nearest: strict"),
        ("unread", "drop", "allowed: mid, missing, random, worst, wrong, zero"),
    ],
)
def test_an_unknown_policy_names_the_allowed_ones(
    key: str, value: str, message: str
) -> None:
    with pytest.raises((UserError, UserErrors)) as caught:
        lines(SCORED, {key: value})
    text = str(caught.value)
    assert f"key {key}" in text and value in text
    assert message in text
