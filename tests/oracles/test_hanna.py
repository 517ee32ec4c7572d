"""HANNA's file of lists: ratings and scores without texts; what was published comes
out.
"""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_samples import card, values
from judgescope.core.errors import UserErrors
from judgescope.core.names import slug
from judgescope.data.rated import NamesInData
from judgescope.data.select import read_dataset
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.recorded import RecordedEngine
from judgescope.schema.cards import Judge, RatingScale, RecordedModel
from judgescope.schema.loading import read_card
from judgescope.statistics.correlation import correlations
from judgescope.statistics.raters import mean_rating
from report_setup import text_of_pages
from running import HOME, SHARED, needs_data, rows, snakemake
from shelf import holds

FIVE = {"min": 1, "max": 5, "step": 1}
SCORES = {"*": "{form}", "relevance": "RE", "coherence": "CH"}


def write(path: Path, **lists: list[list[Any]]) -> None:
    """Write two systems; each keyword is a column and has a list per system."""
    names = [name.replace("_", " ") for name in lists]
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Model", *names])
        for index, system in enumerate(["Human", "GPT-2 (tag)"]):
            rows.writerow(
                [system, *(json.dumps(column[index]) for column in lists.values())]
            )


def dataset() -> Any:
    aspects = {
        "relevance": FIVE | {"column": "RE"},
        "coherence": FIVE | {"column": "CH"},
    }
    return card(format="hanna_csv", files="x.csv", aspects=aspects)


def test_every_entry_is_a_story_and_every_column_a_rater(tmp_path: Path) -> None:
    write(
        tmp_path / "x.csv",
        Human_1_RE=[[1, 2], [3, 4]],
        Human_2_RE=[[5, 5], [5, 1]],
        Human_1_CH=[[2, 2], [2, 3]],
        Human_2_CH=[[1, 1], [1, None]],
        Human_Avg_1_RE=[[9, 9], [9, 9]],
    )
    rated = read_dataset(dataset(), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["mine-001", "mine-002"]
    assert [output.target for output in rated.outputs][:2] == [
        "mine-001:gpt-2-tag",
        "mine-001:human",
    ]
    assert {output.text for output in rated.outputs} == {""}
    result = values(rated)
    assert result["mine-002:gpt-2-tag", "relevance", "rater-1"] == 4.0
    assert result["mine-001:human", "coherence", "rater-2"] == 1.0
    assert ("mine-002:gpt-2-tag", "coherence", "rater-2") not in result and len(
        result
    ) == 15
    assert rated.problems == ["1 rating of coherence missing: x.csv, row 3"]


def test_lists_of_different_lengths_are_an_error_with_the_row(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", Human_1_RE=[[1, 2], [3]], Human_1_CH=[[2, 2], [2, 3]])
    with pytest.raises(UserErrors) as error:
        read_dataset(dataset(), tmp_path, tmp_path)
    message = str(error.value)
    assert "2 different lengths" in message and "x.csv, row 3" in message
    assert "1 in Human 1 RE, 2 in Human 1 CH" in message


def test_a_recorded_column_may_hold_the_aspect_in_its_name(tmp_path: Path) -> None:
    columns: dict[str, list[list[Any]]] = {
        "BLEU": [[0.1, 0.2], [0.3, 0.4]],
        "Bot_RE_1": [[1, 2], [3, 4]],
    }
    write(tmp_path / "x.csv", **columns, Bot_CH_1=[[5, 4], [3, 2]])
    model = RecordedModel.model_validate(
        {
            "model": "it",
            "engine": "recorded",
            "dataset": "d",
            "files": "x.csv",
            "rows": {"item": "#", "system": "Model", "lists": True, "scores": SCORES},
        }
    )
    names = NamesInData(systems={"human": "Human"})
    engine = RecordedEngine(
        model,
        EngineInputs(seed=0, dataset="d", folder=tmp_path, data=tmp_path, names=names),
    )
    subjects = [
        Subject(f"d-00{k}:human", f"d-00{k}", "human", "systems", "") for k in (2, 1)
    ]

    def prompts_of(form: str, aspect: str) -> list[str]:
        judge = Judge(judge="it", model="it", form=form)
        scale = RatingScale(min=1, max=5, step=1, labels=[])
        return [each.text for [each] in engine.answer(judge, aspect, scale, subjects)]

    assert (
        prompts_of("BLEU", "relevance")
        == prompts_of("BLEU", "coherence")
        == ["0.2", "0.1"]
    )
    assert prompts_of("Bot {aspect} 1", "relevance") == ["2", "1"]
    assert prompts_of("Bot {aspect} 1", "coherence") == ["4", "5"]


# --- the file of its authors ---


@pytest.mark.heavy
@needs_data
def test_the_published_correlations_come_out() -> None:
    """Six metrics, six aspects and their average, three statistics, all systems: 126
    figures.
    """
    config = HOME / "config"
    rated = read_dataset(
        read_card("dataset", config / "datasets" / "hanna.yaml"),
        config / "datasets",
        SHARED,
    )
    assert (len(rated.outputs), len(rated.items), len(rated.ratings)) == (
        1056,
        96,
        19008,
    )
    model = read_card("model", config / "models" / "hanna.yaml")
    judges = read_card("judge", config / "judges" / "hanna-printed-metrics.yaml")
    engine = RecordedEngine(
        model,
        EngineInputs(
            seed=0,
            dataset="hanna",
            folder=config / "models",
            data=SHARED,
            names=rated.names,
        ),
    )
    subjects = [
        Subject(o.target, o.item, o.system, "systems", "") for o in rated.outputs
    ]
    by_target = {output.target: index for index, output in enumerate(rated.outputs)}
    ratings = {
        name: np.full((3, len(by_target)), np.nan)
        for name in {rating.aspect for rating in rated.ratings}
    }
    for rating in rated.ratings:
        ratings[rating.aspect][int(rating.rater[-1]) - 1, by_target[rating.target]] = (
            rating.value
        )
    source = np.array([int(output.item[-3:]) - 1 for output in rated.outputs])
    collected = []
    for column in judges.columns:
        judge = Judge(judge="it", model="it", form=column)
        answers = engine.answer(
            judge, "relevance", RatingScale(min=1, max=5, step=1), subjects
        )
        x = np.array([float(draws[0].text) for draws in answers])
        for statistic in ("pearson", "spearman", "kendall_b"):
            values: dict[str, float] = {}
            for aspect, rated_by in ratings.items():
                [pooled] = correlations(
                    x,
                    mean_rating(rated_by),
                    source,
                    np.zeros_like(source),
                    statistics=[statistic],
                    levels=["pooled"],
                    weights=None,
                ).values()
                assert pooled.estimate.value is not None
                values[aspect] = pooled.estimate.value
            values["average"] = float(np.mean(list(values.values())))
            keys = {"judge": slug(column), "statistic": statistic, "level": "pooled"}
            collected += [
                {**keys, "aspect": name, "value": value}
                for name, value in values.items()
            ]
    holds("hanna", collected)


@pytest.mark.long(9)
@pytest.mark.slow
def test_a_study_of_recorded_columns_with_and_without_the_references(
    tmp_path: Path,
) -> None:
    """From the file to the report: no texts, judges by column, the references' system
    apart.
    """
    folder = tmp_path / "config"
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 6, (2, 2, 12))
    metric = rng.normal(size=(2, 12))
    write(
        tmp_path / "x.csv",
        Human_1_RE=ratings[0].tolist(),
        Human_2_RE=ratings[1].tolist(),
        Metric=metric.tolist(),
        Bot_RE_1=rng.integers(1, 6, (2, 12)).tolist(),
    )
    cards = {
        "datasets/d": {
            **{"dataset": "d", "name": "D", "task": "story", "format": "hanna_csv"},
            **{"files": str(tmp_path / "x.csv"), "licence": "none", "citation": "none"},
            "aspects": {"relevance": FIVE | {"column": "RE"}},
            "reference_systems": ["human"],
            "select": {"original": "none"},
        },
        "models/m": {
            **{"model": "m", "engine": "recorded", "dataset": "d"},
            "files": str(tmp_path / "x.csv"),
            "rows": {"item": "#", "system": "Model", "lists": True, "scores": SCORES},
        },
        "judges/metrics": {"judge": "metrics", "model": "m", "parser": "number"}
        | {"use_reference": True, "columns": ["Metric"]},
        "judges/bots": {"judge": "bots", "model": "m", "parser": "number"}
        | {"columns": ["Bot {aspect} 1"]},
    }
    for name, content in cards.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    study: dict[str, Any] = {
        "study": "s",
        "datasets": ["d"],
        "judges": ["metrics", "bots", "length", "random"],
    }
    study |= {"methods": ["agreement"], "exclude_reference_systems": False}
    (tmp_path / "study.yaml").write_text(json.dumps(study), encoding="utf-8")
    done = snakemake("--configfile", "study.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    out = tmp_path / "results" / "s"
    by_key = {
        (row["judge"], row["system_subset"]): row
        for row in rows(out, "agreement")
        if (row["statistic"], row["level"]) == ("pearson", "pooled")
    }
    text = "without references"
    real = {location for location in by_key if location[0] in {"metric", "bot-1"}}
    assert real == {("metric", None), ("metric", text), ("bot-1", None)}
    result = {text: slice(1, 2), None: slice(0, 2)}
    for systems, part in result.items():
        r = np.corrcoef(metric[part].ravel(), ratings.mean(axis=0)[part].ravel())[0, 1]
        assert by_key["metric", systems]["value"] == pytest.approx(r, abs=1e-12)
    assert by_key["metric", text]["n"] == 12 and by_key["bot-1", None]["n"] == 24
    report = text_of_pages(out / "report")
    assert "bot-1" in report
    reasons = {
        row["judge"]: row["note"]
        for row in rows(out, "coverage")
        if row["aspect"] == ""
    }
    assert reasons == {"length": "not applicable: the dataset has no texts"}
