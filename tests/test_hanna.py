"""HANNA's file of lists: ratings and scores without texts; what was published comes out."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data_samples import card, values
from metajudge.data import read_dataset
from metajudge.engines import Subject
from metajudge.engines.recorded import RecordedEngine
from metajudge.methods.agreement import mean_rating
from metajudge.schema.cards import Judge, RecordedModel, Scale
from metajudge.schema.errors import UserErrors
from metajudge.schema.loading import read_card
from metajudge.statistics.correlation import correlate
from running import HOME, SHARED, needs_data

FIVE = {"min": 1, "max": 5, "step": 1}
SCORES = {"*": "{form}", "relevance": "RE", "coherence": "CH"}


def write(path: Path, **lists: list[list[Any]]) -> None:
    """Write two systems; each keyword is a column and has a list per system."""
    names = [name.replace("_", " ") for name in lists]
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Model", *names])
        for index, system in enumerate(["Human", "GPT-2 (tag)"]):
            rows.writerow([system, *(json.dumps(column[index]) for column in lists.values())])


def dataset() -> Any:
    aspects = {"relevance": FIVE | {"column": "RE"}, "coherence": FIVE | {"column": "CH"}}
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
    assert [one.target for one in rated.outputs][:2] == ["mine-001:gpt-2-tag", "mine-001:human"]
    assert {one.text for one in rated.outputs} == {""}
    found = values(rated)
    assert found["mine-002:gpt-2-tag", "relevance", "rater-1"] == 4.0
    assert found["mine-001:human", "coherence", "rater-2"] == 1.0
    assert ("mine-002:gpt-2-tag", "coherence", "rater-2") not in found and len(found) == 15
    assert rated.problems == ["1 rating of coherence missing: x.csv, row 3"]


def test_lists_of_different_lengths_are_an_error_with_the_row(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", Human_1_RE=[[1, 2], [3]], Human_1_CH=[[2, 2], [2, 3]])
    with pytest.raises(UserErrors) as error:
        read_dataset(dataset(), tmp_path, tmp_path)
    told = str(error.value)
    assert "of 2 lengths" in told and "x.csv, row 3" in told
    assert "1 in Human 1 RE, 2 in Human 1 CH" in told


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
    engine = RecordedEngine(model, tmp_path, tmp_path)
    subjects = [Subject(f"d-00{k}:human", f"d-00{k}", "human", "systems", "") for k in (2, 1)]

    def said(form: str, aspect: str) -> list[str]:
        judge = Judge(judge="it", model="it", form=form)
        scale = Scale(min=1, max=5, step=1, labels=[])
        return [one.text for [one] in engine.answer(judge, aspect, scale, subjects)]

    assert said("BLEU", "relevance") == said("BLEU", "coherence") == ["0.2", "0.1"]
    assert said("Bot {aspect} 1", "relevance") == ["2", "1"]
    assert said("Bot {aspect} 1", "coherence") == ["4", "5"]


# --- the file of its authors ---

PUBLISHED = {
    "BLEU": "BLEU Ξ§",
    "ROUGE-1": "ROUGE-1 Recall Ξ§",
    "METEOR": "METEOR Ξ§",
    "MoverScore": "MoverScore Ξε",
    "BERTScore": "BERTScore F1 Ξε",
    "BARTScore": "BARTScore-SH ΞΔ",
}
TABLES = {
    "s004_table15_hanna_pearson": "pearson",
    "s004_table16_hanna_spearman": "spearman",
    "s004_table17_hanna_kendall": "kendall_b",
}


@needs_data
@pytest.mark.parametrize("table", TABLES)
def test_the_published_correlations_come_out(table: str) -> None:
    """42 cells of each table: six metrics, six aspects and their average, all systems."""
    config = HOME / "config"
    rated = read_dataset(
        read_card("dataset", config / "datasets" / "hanna.yaml"), config / "datasets", SHARED
    )
    assert (len(rated.outputs), len(rated.items), len(rated.ratings)) == (1056, 96, 19008)
    engine = RecordedEngine(
        read_card("model", config / "models" / "hanna.yaml"), config / "models", SHARED
    )
    subjects = [Subject(o.target, o.item, o.system, "systems", "") for o in rated.outputs]
    place = {one.target: index for index, one in enumerate(rated.outputs)}
    ratings = {
        name: np.full((3, len(place)), np.nan) for name in {one.aspect for one in rated.ratings}
    }
    for one in rated.ratings:
        ratings[one.aspect][int(one.rater[-1]) - 1, place[one.target]] = one.value
    with (SHARED.parent / "reference" / f"{table}.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] in PUBLISHED]
    assert len(rows) == len(PUBLISHED)
    source = np.array([int(one.item[-3:]) - 1 for one in rated.outputs])
    for row in rows:
        judge = Judge(judge="it", model="it", form=PUBLISHED[row["metric"]])
        answers = engine.answer(judge, "relevance", Scale(min=1, max=5, step=1), subjects)
        x = np.array([float(draws[0].text) for draws in answers])
        found = {}
        for aspect, rated_by in ratings.items():
            estimate = correlate(
                x,
                mean_rating(rated_by),
                source,
                np.zeros_like(source),
                statistic=TABLES[table],  # type: ignore[arg-type]
                level="pooled",
                weights=None,
            )
            assert estimate.value is not None
            found[aspect] = estimate.value
        found["average"] = float(np.mean(list(found.values())))
        for aspect, value in found.items():
            assert value == pytest.approx(float(row[aspect]), abs=5.1e-4), (row["metric"], aspect)
