"""`init` of HealthBench's form: criteria with points; all texts are written here."""

import json
from pathlib import Path
from typing import Any

import pytest

from init_setup import card, init
from judgescope.core.errors import UserError, UserErrors

CRITERIA = {"Says what to do.": 5, "Frightens the reader.": -3}


def export(**change: Any) -> list[dict[str, Any]]:
    """Return six answers of our own, with a row for each criterion."""
    rows = []
    for number in range(6):
        for criterion, points in CRITERIA.items():
            rows.append(
                {
                    "prompt": [{"role": "user", "content": f"Kettle {number}?"}],
                    "prompt_id": f"p{number}",
                    "completion": f"Let kettle {number} cool for ten minutes.",
                    "rubric": criterion,
                    "points": points,
                    "binary_labels": [number % 2 == 0, number % 3 == 0],
                    "anonymized_physician_ids": ["a", "b"],
                    "grader": number % 2 == 0,
                }
            )
    rows[-1].update(change)
    return rows


def written(folder: Path, rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps(row) for row in rows]
    (folder / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_criteria_of_an_export_are_a_rubric_with_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, export())
    assert init("answers.jsonl", "--yes") == 0
    study = card("studies", "answers")
    assert study["methods"] == ["labels", "rubrics"]
    assert study["rubrics"]["points"] == {"criterion-1": 5, "criterion-2": -3}


def test_an_export_without_points_states_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = export()
    for row in rows:
        del row["points"]
    written(tmp_path, rows)
    assert init("answers.jsonl", "--yes") == 0
    study = card("studies", "answers")
    assert study["methods"] == ["labels", "rubrics"] and "rubrics" not in study


@pytest.mark.parametrize("points", [4, None, "many"])
def test_a_criterion_with_two_numbers_of_points_is_an_error(
    points: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, export(points=points))
    with pytest.raises((UserError, UserErrors)) as caught:
        init("answers.jsonl", "--yes")
    for part in ("row 12, points", "one number of points", "-3"):
        assert part in str(caught.value)
