"""Recorded scores of a plain table, read by columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace

from judgescope.core.cells import pack
from judgescope.engines.computing import JoinsFile
from judgescope.engines.recorded_joins import Join, read_joins
from judgescope.engines.subject_files import SubjectFiles
from judgescope.parsing.judgment import Scale
from judgescope.schema.tables import read_table, tuples_of
from judgescope.scoring.computed import ComputeSpec, ValuesScale
from judgescope.scoring.recorded_columns import compute_by_columns
from judgescope.scoring.specs import Unread

FIVE = Scale(1, 5, 1)
WORDS = Scale(0, 1, 1, labels=("no", "yes"), words=(("no", 0), ("yes", 1)))
SCORES = {"item": "id", "system": "by", "scores": {"*": "score"}}
COLUMNS: dict[str, list[object]] = {"score": [3, "NA", 9, 3]}
"""Of the rows of texts d, b, c and a: the second has no score, the third one that is
outside of five points."""
TARGETS = pa.array(["a", "b", "c", "d"])
ORDER = np.array([3, 1, 2, 0])
CLARITY = ("systems", "gpt", "clarity")


def model(**rows: Any) -> dict[str, Any]:
    card = {"model": "gpt", "engine": "recorded", "dataset": "news"}
    missing = {"missing": ["NA"]}
    return {**card, "files": {"data": "t.csv"}, "rows": {**SCORES, **missing, **rows}}


@pytest.fixture
def spec(tmp_path: Path) -> ComputeSpec:
    return ComputeSpec(
        code="0",
        versions={},
        dataset="news",
        engine="unused",
        model=model(),
        judges={"gpt": {"judge": "gpt", "model": "gpt"}},
        scales={"clarity": {"min": 1, "max": 5, "step": 1}},
        cells=pack([CLARITY]),
        seed=1,
        folder="",
        data="",
        subjects=SubjectFiles(items="", targets={}),
        read=[ValuesScale(cells=pack([CLARITY]), scale=FIVE)],
        judgments=str(tmp_path / "judgments" / "{}.parquet"),
        scores=str(tmp_path / "scores" / "{}.parquet"),
        hashes=str(tmp_path / "hashes.json"),
        joined=JoinsFile(path=str(tmp_path / "joined.json"), selected=False),
    )


def read(spec: ComputeSpec, **columns: list[object]) -> bool:
    return compute_by_columns(spec, {**COLUMNS, **columns}, TARGETS, ORDER)


def test_each_text_has_the_score_of_its_row(spec: ComputeSpec, tmp_path: Path) -> None:
    assert read(spec)
    scores = read_table("scores", tmp_path / "scores/systems/gpt.parquet")
    names = ["target", "value", "n_draws", "n_missing", "estimator"]
    assert tuples_of(scores, names) == [
        ("a", 3.0, 1, 0, "mean"),
        ("b", None, 1, 1, "mean"),
        ("c", None, 1, 1, "mean"),
        ("d", 3.0, 1, 0, "mean"),
    ]
    cells = tuples_of(scores, ["dataset", "perturbation", "judge", "aspect"])
    assert set(cells) == {("news", "systems", "gpt", "clarity")}
    assert scores["criterion"].null_count == scores["target_b"].null_count == 4


def test_each_text_has_the_judgment_of_its_row(
    spec: ComputeSpec, tmp_path: Path
) -> None:
    assert read(spec)
    judgments = read_table("judgments", tmp_path / "judgments/systems/gpt.parquet")
    names = ["target", "value", "status", "rule", "label", "parser"]
    assert tuples_of(judgments, names) == [
        ("a", 3.0, "ok", "number", None, "computed"),
        ("b", None, "not_applicable", "no_value", None, "computed"),
        ("c", None, "out_of_range", "number.outside", None, "computed"),
        ("d", 3.0, "ok", "number", None, "computed"),
    ]
    cells = tuples_of(judgments, ["judge", "kind", "aspect", "draw"])
    assert set(cells) == {("gpt", "rate", "clarity", 0)}
    hashes = json.loads((tmp_path / "hashes.json").read_text(encoding="utf-8"))
    assert sorted(hashes) == ["judgments/systems/gpt", "scores/systems/gpt"]


@pytest.mark.parametrize(
    ("cells", "n_scored", "poor"),
    [([3, "NA", 9, 3], 2, True), ([1, 2, 3, 4], 4, False)],
)
def test_the_texts_with_a_score_are_counted(
    spec: ComputeSpec, tmp_path: Path, cells: list[object], n_scored: int, poor: bool
) -> None:
    assert read(spec, score=cells)
    [join] = read_joins(tmp_path / "joined.json")
    assert join == Join(
        model="gpt",
        judge="gpt",
        aspect="clarity",
        rows=4,
        rows_joined=4,
        texts=4,
        texts_joined=4,
        texts_scored=n_scored,
        poor=poor,
    )


def test_labels_have_a_majority_and_no_mean(spec: ComputeSpec, tmp_path: Path) -> None:
    labelled = replace(
        spec,
        scales={"clarity": {"labels": ["no", "yes"]}},
        read=[ValuesScale(cells=pack([CLARITY]), scale=WORDS)],
        joined=None,
    )
    assert read(labelled, score=["yes", "no", "NA", "no"])
    scores = read_table("scores", tmp_path / "scores/systems/gpt.parquet")
    assert tuples_of(scores, ["target", "value", "estimator"]) == [
        ("a", 0.0, "majority"),
        ("b", 0.0, "majority"),
        ("c", None, "majority"),
        ("d", 1.0, "majority"),
    ]
    judgments = read_table("judgments", tmp_path / "judgments/systems/gpt.parquet")
    assert judgments["label"].to_pylist() == ["no", "no", None, "yes"]
    assert not (tmp_path / "joined.json").exists()


def test_a_judge_on_two_aspects_has_a_single_file(
    spec: ComputeSpec, tmp_path: Path
) -> None:
    style = ("systems", "gpt", "style")
    both = replace(
        spec,
        model=model(scores={"clarity": "score", "style": "score_2"}),
        scales={**spec.scales, "style": {"min": 1, "max": 5, "step": 1}},
        cells=pack([CLARITY, style]),
        read=[ValuesScale(cells=pack([CLARITY, style]), scale=FIVE)],
    )
    assert read(both, score_2=[5, 4, 2, 1])
    scores = read_table("scores", tmp_path / "scores/systems/gpt.parquet")
    values = tuples_of(scores, ["aspect", "value"])
    assert values[:4] == [(CLARITY[2], value) for value in (3.0, None, None, 3.0)]
    assert values[4:] == [("style", value) for value in (1.0, 4.0, 2.0, 5.0)]
    assert [join.aspect for join in read_joins(tmp_path / "joined.json")] == [
        "clarity",
        "style",
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"unread": Unread(policy="worst", seed=1)},
        {"model": model(repeated="mean")},
        {"model": model(scores={"clarity": "elsewhere"})},
        {"model": {**model(), "files": {"data": "t.csv", "more": "u.csv"}}},
        {"judges": {"gpt": {"judge": "gpt", "model": "gpt", "draws": 2}}},
        {"judges": {"gpt": {"judge": "gpt", "model": "gpt", "share": 0.5}}},
        {"joined": JoinsFile(path="never", selected=True)},
        {"cells": pack([("typos", "gpt", "clarity")])},
        {"cells": pack([("systems", "gpt", "clarity.terse")])},
    ],
)
def test_what_is_not_plain_is_not_written(
    spec: ComputeSpec, tmp_path: Path, changes: dict[str, Any]
) -> None:
    changed = replace(spec, **changes)
    cells = changed.cells
    scales = {"clarity": spec.scales["clarity"], "clarity.terse": {"min": 1, "max": 5}}
    read_cells = [ValuesScale(cells=cells, scale=FIVE)]
    assert not read(replace(changed, scales=scales, read=read_cells))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cells", [["four", 1, 2, 3], ["NA", "NA", 9, "NA"]])
def test_a_cell_that_is_no_score_or_a_column_without_any_is_left_to_the_jobs(
    spec: ComputeSpec, tmp_path: Path, cells: list[object]
) -> None:
    assert not read(spec, score=cells)
    assert list(tmp_path.iterdir()) == []
