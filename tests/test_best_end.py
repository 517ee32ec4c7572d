"""A scale whose lowest value is the best: the same statistics as of the scale turned around."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
from judgescope.core.errors import UserError
from judgescope.methods.evaluation_data import turned
from judgescope.plan import load_plan
from judgescope.plan.specs import Specs
from judgescope.schema.cards import RatedAspect, Scale
from judgescope.schema.tables import read_table, table_of
from running import HOME

FIVE = {"min": 1, "max": 5, "step": 1}
JUDGES = ["it", "rouge-1"]


def card(folder: Path, file: str, **content: Any) -> None:
    path = folder / f"{file}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def write(folder: Path, *, flipped: bool, methods: list[str] | None = None) -> dict[str, Any]:
    """Write a study of 12 items by three systems, on a scale as usual or turned around."""
    rows = []
    for at in range(36):
        rating, score = 1 + at * 7 % 5, 1 + (at * 7 + at % 2) % 5
        values = {"fluency": rating, "score": score}
        if flipped:
            values = {name: 6 - value for name, value in values.items()}
        place = {"id": f"i{at // 3}", "by": f"s{at % 3}", "source": f"Source {at // 3}."}
        words = " ".join(["word"] * rating + ["other"] * (at % 4))
        rows.append({**place, "gold": "word word word", "text": words, **values})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.jsonl").write_text(text, encoding="utf-8")
    scale = {**FIVE, "best": "min"} if flipped else FIVE
    card(
        folder,
        "config/datasets/mine",
        **{"dataset": "mine", "name": "Mine", "task": "dialogue", "format": "table"},
        **{"files": "../../rows.jsonl", "licence": "-", "citation": "-"},
        columns={"item": "id", "source": "source", "references": "gold", "system": "by"}
        | {"text": "text"},
        aspects={"fluency": scale},
    )
    names = {"item": "id", "system": "by", "scores": {"fluency": "score"}}
    model = {"engine": "recorded", "dataset": "mine", "files": "../../rows.jsonl", "rows": names}
    card(folder, "config/models/it", model="it", **model)
    card(folder, "config/judges/it", judge="it", model="it")
    study = {"study": "best", "seed": 3, "datasets": ["mine"], "judges": JUDGES}
    study |= {"methods": methods or ["agreement"]}
    card(folder, "study", **study)
    return study


def test_values_are_turned_where_they_are_told_and_nowhere_else() -> None:
    place = {"dataset": "d", "perturbation": "systems", "target": "t"}
    rows: list[dict[str, Any]] = [
        {**place, "judge": "it", "aspect": "fluency", "value": 2.0},
        {**place, "judge": "it", "aspect": "fluency", "criterion": "terse", "value": 2.0},
        {**place, "judge": "it", "aspect": "other", "value": 2.0},
        {**place, "judge": "measure", "aspect": "fluency", "value": 0.25},
        {**place, "judge": "it", "aspect": "fluency", "value": None},
    ]
    table = table_of("scores", rows)
    sums = {("it", "fluency"): 6.0, ("it", "fluency.terse"): 6.0}
    assert turned(table, sums)["value"].to_pylist() == [4.0, 4.0, 2.0, 0.25, None]
    assert turned(turned(table, sums), sums).equals(table)
    rating = {"dataset": "d", "target": "t", "aspect": "fluency", "rater": "r", "value": 1.0}
    ratings = turned(table_of("ratings", [rating]), {("", "fluency"): 6.0})
    assert (
        ratings["value"].to_pylist() == [5.0] and ratings.schema == table_of("ratings", []).schema
    )


def test_the_usual_end_changes_no_card(tmp_path: Path) -> None:
    assert "best" not in Scale(**FIVE).model_dump()
    lowest = RatedAspect(**FIVE, best="min")
    assert lowest.model_dump()["best"] == "min" and lowest.turn == 6
    assert RatedAspect.model_validate(lowest.model_dump()) == lowest


@pytest.mark.heavy
def test_measures_stay_and_judges_on_peoples_scale_are_turned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(tmp_path, flipped=True)
    specs = Specs(load_plan(study, HOME, source="study.yaml"), HOME, "results")
    told = json.loads(specs.statistics("agreement", "mine"))["turned"]
    assert told["ratings"] == {"fluency": 6}
    assert told["scores"]["it"] == {"fluency": 6} and "random" in told["scores"]
    assert not {"rouge-1", "length"} & told["scores"].keys()
    study = write(tmp_path, flipped=False)
    specs = Specs(load_plan(study, HOME, source="study.yaml"), HOME, "results")
    assert "turned" not in json.loads(specs.statistics("agreement", "mine"))


@pytest.mark.heavy
def test_methods_and_prompts_that_do_not_know_of_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(tmp_path, flipped=True, methods=["perspectives"])
    with pytest.raises(UserError) as caught:
        load_plan(study, HOME, source="study.yaml")
    assert "fluency" in str(caught.value.got) and "methods" in caught.value.where
    study = write(tmp_path, flipped=True) | {"judges": ["asked"]}
    endpoint = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1"}
    card(tmp_path, "config/models/loop", model="loop", **endpoint)
    card(tmp_path, "config/judges/asked", judge="asked", model="loop", form="score-only")
    with pytest.raises(UserError) as caught:
        load_plan(study, HOME, source="study.yaml")
    assert "scale" in caught.value.where and "best: min" in caught.value.todo
    for best in ("max", "min"):
        own = {"form": "score-only", "scale": {**FIVE, "best": best}}
        card(tmp_path, "config/judges/asked", judge="asked", model="loop", **own)
        specs = Specs(load_plan(study, HOME, source="study.yaml"), HOME, "results")
        told = json.loads(specs.statistics("agreement", "mine"))["turned"]["scores"]
        assert ("asked" in told) == (best == "min")


@pytest.mark.slow
def test_statistics_are_those_of_the_scale_turned_around(tmp_path: Path) -> None:
    found = []
    for flipped in (False, True):
        folder = tmp_path / str(flipped)
        write(folder, flipped=flipped)
        wanted = "results/best/tables/agreement.parquet"
        done = running.snakemake(wanted, "-q", "all", "--configfile", "study.yaml", cwd=folder)
        assert done.returncode == 0, done.stdout
        found.append(
            [
                {name: row[name] for name in ("judge", "statistic", "level", "value", "lo", "hi")}
                for row in read_table("results", folder / wanted).to_pylist()
                if row["judge"] in {*JUDGES, "human", "length"}
            ]
        )
    usual, best_is_lowest = found
    assert len(usual) > 30 and usual == best_is_lowest
    [own] = [
        row["value"]
        for row in usual
        if (row["judge"], row["statistic"], row["level"]) == ("it", "spearman", "pooled")
    ]
    assert own > 0.3
