"""The jobs that write computed scores, and recorded replies, cell by cell."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from judgescope.core.cells import pack
from judgescope.engines.base import Answer
from judgescope.engines.computing import EngineSpec, Part, ReplaySpec
from judgescope.engines.subject_files import SubjectFiles
from judgescope.parsing.judgment import Scale
from judgescope.schema.cards import Judge
from judgescope.schema.tables import read_table, tuples_of
from judgescope.scoring import computed
from judgescope.scoring.computed import (
    ComputeSpec,
    ValuesScale,
    compute,
    replay,
    scales_of,
)
from judgescope.scoring.specs import Unread

FIVE = Scale(1, 5, 1)
COMMON: dict[str, Any] = {
    "code": "0",
    "versions": {},
    "dataset": "news",
    "engine": "unused",
    "model": {},
    "judges": {},
    "scales": {},
    "cells": [],
    "seed": 1,
    "folder": "",
    "data": "",
    "subjects": SubjectFiles(items="", targets={}),
}


def part(perturbation: str, aspect: str, texts: list[tuple[str, int, str]]) -> Part:
    """Answers of a judge, each a (target, draw, text), as part of a cell."""
    rows = []
    answers = []
    for target, draw, text in texts:
        row = {"judge": "rule", "kind": "rate", "target": target, "draw": draw}
        rows.append({**row, "aspect": aspect.partition(".")[0], "key": f"{draw}"})
        answers.append(Answer(text))
    judge = Judge(judge="rule", model="rule", draws=2)
    return Part(perturbation, judge, aspect, rows, answers)


CELLS = [
    [
        part("systems", "clarity", [("a", 0, "4"), ("a", 1, "5"), ("b", 0, "2.5")]),
        part("systems", "length", [("a", 0, "2.5")]),
    ],
    [part("typos", "clarity", [("a", 0, "1")])],
]


@pytest.fixture(autouse=True)
def two_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    def cells_of(spec: EngineSpec) -> Iterator[list[Part]]:
        yield from CELLS

    monkeypatch.setattr(computed, "cells_of", cells_of)


@pytest.fixture
def spec(tmp_path: Path) -> ComputeSpec:
    """Clarity has five points, length any value."""
    rated = [("systems", "rule", "clarity"), ("typos", "rule", "clarity")]
    return ComputeSpec(
        **COMMON,
        read=[
            ValuesScale(cells=pack(rated), scale=FIVE),
            ValuesScale(cells=pack([("systems", "rule", "length")]), scale=None),
        ],
        judgments=str(tmp_path / "judgments" / "{}.parquet"),
        scores=str(tmp_path / "scores" / "{}.parquet"),
        hashes=str(tmp_path / "hashes.json"),
    )


def test_each_cell_on_an_aspect_has_its_scale(spec: ComputeSpec) -> None:
    assert scales_of(spec) == {
        ("systems", "rule", "clarity"): FIVE,
        ("typos", "rule", "clarity"): FIVE,
        ("systems", "rule", "length"): None,
    }


def test_the_parts_of_a_cell_are_scored_and_written_together(
    spec: ComputeSpec, tmp_path: Path
) -> None:
    """2.5 lies between the points of clarity, and is a length."""
    compute(spec)
    names = ["dataset", "perturbation", "judge", "aspect", "target", "value", "n_draws"]
    scores = read_table("scores", tmp_path / "scores/systems/rule.parquet")
    assert tuples_of(scores, names) == [
        ("news", "systems", "rule", "clarity", "a", 4.5, 2),
        ("news", "systems", "rule", "clarity", "b", None, 1),
        ("news", "systems", "rule", "length", "a", 2.5, 1),
    ]
    judgments = read_table("judgments", tmp_path / "judgments/systems/rule.parquet")
    assert tuples_of(judgments, ["judge", "target", "draw", "value", "status"]) == [
        ("rule", "a", 0, 4.0, "ok"),
        ("rule", "a", 1, 5.0, "ok"),
        ("rule", "b", 0, None, "off_grid"),
        ("rule", "a", 0, 2.5, "ok"),
    ]
    other = read_table("scores", tmp_path / "scores/typos/rule.parquet")
    assert tuples_of(other, names) == [
        ("news", "typos", "rule", "clarity", "a", 1.0, 1)
    ]
    hashes = json.loads((tmp_path / "hashes.json").read_text(encoding="utf-8"))
    assert sorted(hashes) == [
        "judgments/systems/rule",
        "judgments/typos/rule",
        "scores/systems/rule",
        "scores/typos/rule",
    ]


def test_a_score_between_points_counts_as_the_policy_says(
    spec: ComputeSpec, tmp_path: Path
) -> None:
    compute(replace(spec, unread=Unread(policy="worst", seed=1)))
    scores = read_table("scores", tmp_path / "scores/systems/rule.parquet")
    assert tuples_of(scores, ["target", "value", "n_missing"])[1] == ("b", 1.0, 1)


def test_an_aspect_in_a_criterion_is_scored_under_its_plain_name(
    spec: ComputeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = ("systems", "rule", "clarity.terse")
    worded = [part(cell[0], cell[2], [("a", 0, "3")])]
    monkeypatch.setattr(computed, "cells_of", lambda _: iter([worded]))
    compute(replace(spec, read=[ValuesScale(cells=pack([cell]), scale=FIVE)]))
    scores = read_table("scores", tmp_path / "scores/systems/rule.parquet")
    assert tuples_of(scores, ["aspect", "value"]) == [("clarity", 3.0)]


@pytest.mark.parametrize("hashes", [None, "hashes.json"])
def test_recorded_replies_are_written_as_requested_ones(
    tmp_path: Path, hashes: str | None
) -> None:
    replay(
        ReplaySpec(
            **COMMON,
            replies=str(tmp_path / "replies" / "{}.parquet"),
            hashes=str(tmp_path / hashes) if hashes else None,
        )
    )
    names = ["aspect", "target", "draw", "key", "text", "finish", "status"]
    replies = read_table("answers", tmp_path / "replies/systems/rule.parquet")
    assert tuples_of(replies, names) == [
        ("clarity", "a", 0, "0", "4", "stop", "ok"),
        ("clarity", "a", 1, "1", "5", "stop", "ok"),
        ("clarity", "b", 0, "0", "2.5", "stop", "ok"),
        ("length", "a", 0, "0", "2.5", "stop", "ok"),
    ]
    other = read_table("answers", tmp_path / "replies/typos/rule.parquet")
    assert tuples_of(other, names) == [("clarity", "a", 0, "0", "1", "stop", "ok")]
    written = tmp_path / "hashes.json"
    assert written.exists() == (hashes is not None)
    if hashes is not None:
        keys = sorted(json.loads(written.read_text(encoding="utf-8")))
        assert keys == ["systems/rule", "typos/rule"]
