"""A scale whose lowest value is the best: the same statistics as of the scale turned
around.
"""

from pathlib import Path
from typing import Any

import pytest

from best_end_setup import FIVE, JUDGES, write
from judgescope.core.errors import UserError
from judgescope.methods.evaluate import turned
from judgescope.plan.specs import results
from judgescope.schema.cards import RatedAspect, RatingScale
from judgescope.schema.tables import read_table, table_of


def test_values_are_turned_where_they_are_reported_and_nowhere_else() -> None:
    where = {"dataset": "d", "perturbation": "systems", "target": "t"}
    rows: list[dict[str, Any]] = [
        {**where, "judge": "it", "aspect": "fluency", "value": 2.0},
        {
            **where,
            "judge": "it",
            "aspect": "fluency",
            "criterion": "terse",
            "value": 2.0,
        },
        {**where, "judge": "it", "aspect": "other", "value": 2.0},
        {**where, "judge": "measure", "aspect": "fluency", "value": 0.25},
        {**where, "judge": "it", "aspect": "fluency", "value": None},
    ]
    table = table_of("scores", rows)
    sums = {("it", "fluency"): 6.0, ("it", "fluency.terse"): 6.0}
    assert turned(table, sums)["value"].to_pylist() == [4.0, 4.0, 2.0, 0.25, None]
    assert turned(turned(table, sums), sums).equals(table)
    rating = {
        "dataset": "d",
        "target": "t",
        "aspect": "fluency",
        "rater": "r",
        "value": 1.0,
    }
    ratings = turned(table_of("ratings", [rating]), {("", "fluency"): 6.0})
    assert (
        ratings["value"].to_pylist() == [5.0]
        and ratings.schema == table_of("ratings", []).schema
    )


def test_the_usual_end_changes_no_card(tmp_path: Path) -> None:
    assert "best" not in RatingScale(**FIVE).model_dump()
    lowest = RatedAspect(**FIVE, best="min")
    assert lowest.model_dump()["best"] == "min" and lowest.turn == 6
    assert RatedAspect.model_validate(lowest.model_dump()) == lowest


@pytest.mark.heavy
def test_measures_stay_and_judges_on_peoples_scale_are_turned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(tmp_path, flipped=True)
    plan = study.plan()
    turned = results.statistics(plan, "agreement", "mine").turned
    assert turned is not None and turned.ratings == {"fluency": 6}
    assert turned.scores["it"] == {"fluency": 6} and "random" in turned.scores
    assert not {"rouge-1", "length"} & turned.scores.keys()
    study = write(tmp_path, flipped=False)
    plan = study.plan()
    assert results.statistics(plan, "agreement", "mine").turned is None


@pytest.mark.heavy
def test_methods_and_prompts_that_do_not_know_of_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(tmp_path, flipped=True, methods=["perspectives"])
    with pytest.raises(UserError) as caught:
        study.plan()
    assert "fluency" in str(caught.value.got) and "methods" in caught.value.where
    study = write(tmp_path, flipped=True)
    endpoint = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"}
    study.card("models", "loop", **endpoint)
    study.card("judges", "asked", model="loop", form="score-only")
    with pytest.raises(UserError) as caught:
        study.plan(judges=["asked"])
    assert "scale" in caught.value.where and "best: min" in caught.value.todo
    for best in ("max", "min"):
        fields = {"form": "score-only", "scale": {**FIVE, "best": best}}
        study.card("judges", "asked", model="loop", **fields)
        plan = study.plan(judges=["asked"])
        turned = results.statistics(plan, "agreement", "mine").turned
        assert turned is not None and ("asked" in turned.scores) == (best == "min")


@pytest.mark.long(7)
@pytest.mark.slow
def test_statistics_are_those_of_the_scale_turned_around(tmp_path: Path) -> None:
    collected = []
    for flipped in (False, True):
        folder = tmp_path / str(flipped)
        study = write(folder, flipped=flipped)
        wanted = "results/best/tables/agreement.parquet"
        done = study.snakemake("-q", "all", "--", wanted)
        assert done.returncode == 0, done.stdout
        collected.append(
            [
                {
                    name: row[name]
                    for name in (
                        "judge",
                        "statistic",
                        "level",
                        "value",
                        "ci_low",
                        "ci_high",
                    )
                }
                for row in read_table("results", folder / wanted).to_pylist()
                if row["judge"] in {*JUDGES, "human", "length"}
            ]
        )
    usual, best_is_lowest = collected
    assert len(usual) > 30 and usual == best_is_lowest
    [value] = [
        row["value"]
        for row in usual
        if (row["judge"], row["statistic"], row["level"])
        == ("it", "spearman", "pooled")
    ]
    assert value > 0.3
