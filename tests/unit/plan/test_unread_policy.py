"""The study key `unread`: how draws without a value count."""

from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from judgescope.core.errors import UserError
from judgescope.parsing.judgment import Scale, zero_stands_in
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging, results
from judgescope.schema.tables import table_of
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, Reading, Unread
from methods_setup import FIELD, study
from running import HOME
from study import Study

FIVE = Scale(1, 5, 1)
PART = CellPart("d", "systems", "j", "fluency")
SAID = ["4", "no idea", "1-5", "9"]


def answers(*texts: str, backwards: bool = False) -> pa.Table:
    own = {
        "judge": "j",
        "kind": "score",
        "aspect": "fluency",
        "draw": 0,
        "finish": "stop",
    }
    rows = [
        {**own, "target": f"t{at}", "key": str(at), "text": text, "status": "ok"}
        for at, text in enumerate(texts)
    ]
    rows.append(
        {**own, "target": "t9", "key": "9", "text": "why", "status": "not_applicable"}
    )
    return table_of("answers", rows[::-1] if backwards else rows)


def scores(
    table: pa.Table, unread: Any = None, scale: Scale | None = FIVE
) -> list[Any]:
    parser = "score" if scale else "number"
    reading = Reading(
        pairs=[("fluency", None)], scale=scale, parser=parser, estimator="mean"
    )
    told = unread and Unread(**unread)
    judged, scored = score_part(table, reading, part=PART, unread=told)
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
    reading = Reading(
        pairs=[("fluency", None)], scale=FIVE, parser="score", estimator="logprob_mean"
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
    told: dict[str, Any] = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "methods": ["agreement"],
    }
    told |= {"judges": ["score-only"], "unread": "zero"}
    with pytest.raises(UserError, match="0 is not a value of this scale") as caught:
        load_plan(told, HOME, source="study.yaml")
    assert "judge score-only" in str(caught.value) and "1 to 5" in str(caught.value)
    marks = {"min": 0, "max": 4, "step": 1, "best": "min"}
    marked = Study(tmp_path, told)
    marked.change("datasets", "demo-dialogue", aspects={"naturalness": marks})
    marked.change("judges", "score-only", scale=marks)
    with pytest.raises(UserError, match="0 is the best value of this scale"):
        load_plan(told, HOME, source="study.yaml")
    load_plan(
        told | {"judges": ["length"]}, HOME, source="study.yaml"
    )  # a control lacks nothing


def test_random_values_come_from_the_seed_and_the_draw_alone() -> None:
    many = ["4", *(["?"] * 60)]
    one, again, other = (
        scores(answers(*many, backwards=turned), {"policy": "random", "seed": seed})
        for seed, turned in ((7, False), (7, True), (8, False))
    )
    assert one == again != other
    assert {value for value, count in one if count and value is not None} == {
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
    told: dict[str, Any] = {
        "study": "s",
        "datasets": ["demo-dialogue"],
        "methods": ["agreement"],
    }
    told["judges"] = ["score-only"]
    asked, scored = [], []
    for keys in ({}, {"unread": "missing"}, {"unread": "worst"}):
        plan = load_plan(told | keys, HOME, source="study.yaml")
        asked.append(judging.ask(plan, "demo-dialogue", "judge"))
        scored.append(judging.score(plan, "demo-dialogue", "judge").unread)
        statistics = results.statistics(plan, "agreement", "demo-dialogue")
        assert statistics.unread == ("worst" if scored[-1] else "missing")
    assert asked[0] == asked[1] == asked[2] and scored[:2] == [None, None]
    assert scored[2] is not None and scored[2].policy == "worst"
    assert "unread" not in study(FIELD).signature("good", "pearson", "pooled")
    filled = study(FIELD, unread="worst")
    assert "|unread:worst|" in filled.signature("good", "pearson", "pooled")
