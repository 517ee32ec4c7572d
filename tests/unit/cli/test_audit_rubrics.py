"""What an audit says of criteria with points; all texts are written here."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgescope as js
from judgescope.cli.main import main

pytestmark = pytest.mark.heavy
POINTS = {"Says what to do.": 5, "Names a danger.": 3, "Frightens the reader.": -3}


def export(answers: int = 40) -> list[dict[str, Any]]:
    """Return answers of our own, a row for each criterion; the grader is lenient."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for number in range(answers):
        for criterion, points in POINTS.items():
            met = rng.random() < 0.6
            marks = [bool(met ^ (rng.random() < 0.1)) for _ in range(3)]
            rows.append(
                {
                    "prompt": [{"role": "user", "content": f"Kettle {number}?"}],
                    "prompt_id": f"p{number}",
                    "completion": f"Let kettle {number} cool for ten minutes.",
                    "rubric": criterion,
                    "points": points,
                    "binary_labels": marks[:2],
                    "anonymized_physician_ids": ["a", "b"],
                    "grader": marks[2] or bool(rng.random() < 0.3),
                }
            )
    return rows


def audited(
    rows: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *words: str,
) -> str:
    lines = [json.dumps(row) for row in rows]
    Path("answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = ["judgescope", "audit", "answers.jsonl", "--yes", *words]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_file_with_points_has_the_score_of_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = export()
    content = json.loads(audited(rows, capsys, monkeypatch, "--json"))
    [shown] = content["rubric_scores"]
    expected = js.rubrics(
        [float(row["grader"]) for row in rows],
        np.array([row["binary_labels"] for row in rows], dtype=float),
        response=[row["prompt_id"] for row in rows],
        criterion=[row["rubric"] for row in rows],
        points=[row["points"] for row in rows],
    )
    for key, by, statistic in (
        ("score", "judge", "rubric_score"),
        ("experts", "experts", "rubric_score"),
        ("error", "judge", "rubric_error"),
    ):
        number = expected.loc[(by, statistic, "")]
        for end in ("value", "ci_low", "ci_high"):
            assert shown[key][end] == pytest.approx(number[end], abs=1e-12)
    assert "score of the rubric, grader:" in audited(rows, capsys, monkeypatch)


def test_a_file_without_points_names_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = export()
    for row in rows:
        del row["points"]
    page = audited(rows, capsys, monkeypatch)
    assert "its criteria have no points; judgescope.rubrics has it" in page
    assert "score of the rubric" not in page


def test_criteria_that_are_rows_name_the_function(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than twelve criteria are no aspects."""
    monkeypatch.chdir(tmp_path)
    rows = export()
    for number, row in enumerate(rows):
        row["rubric"] = f"Says thing {number % 15}."
    page = audited(rows, capsys, monkeypatch)
    assert "each row is a criterion of its own; judgescope.rubrics has it" in page
