"""A rubric run whole: from a table of HealthBench's form, through init, to the report.

All texts are written here.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow
CRITERIA = {
    "Says what to do.": 5,
    "Says when to worry.": 3,
    "Frightens the reader.": -4,
}
PROMPTS = 30


def write_export(file: Path) -> None:
    """Write two answers to each prompt; the grader guesses on the second criterion."""
    rng = np.random.default_rng(12)
    with file.open("w", encoding="utf-8") as lines:
        for prompt in range(PROMPTS):
            for answer in range(2):
                for at, (criterion, points) in enumerate(CRITERIA.items()):
                    truth = bool(rng.random() < 0.6)
                    experts = [truth ^ bool(rng.random() < 0.08) for _ in range(2)]
                    guess = bool(rng.random() < 0.6)
                    grader = guess if at == 1 else truth ^ bool(rng.random() < 0.08)
                    row = {
                        "prompt": [{"role": "user", "content": f"Kettle {prompt}?"}],
                        "prompt_id": f"p{prompt}",
                        "completion": f"Answer {answer}: let kettle {prompt} cool.",
                        "completion_id": f"c{prompt}-{answer}",
                        "rubric": criterion,
                        "points": points,
                        "binary_labels": experts,
                        "anonymized_physician_ids": ["a", "b"],
                        "grader": grader,
                    }
                    lines.write(json.dumps(row) + "\n")


def judgescope(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "judgescope", *words],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.long(20)
def test_a_table_of_criteria_becomes_a_report(tmp_path: Path) -> None:
    write_export(tmp_path / "kettles.jsonl")
    judgescope(tmp_path, "init", "kettles.jsonl", "--yes")
    judgescope(tmp_path, "run", "config/studies/kettles.yaml")
    out = tmp_path / "results/kettles"
    with (out / "tables/rubrics.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["judge"] == "grader"]
    p = {
        row["aspect"]: float(row["value"])
        for row in rows
        if row["statistic"] == "slice_p_holm_rubric_balanced_accuracy"
    }
    gaps = {
        row["aspect"]: float(row["value"])
        for row in rows
        if row["statistic"] == "slice_gap_rubric_balanced_accuracy"
    }
    assert p["criterion-2"] <= 0.05 and min(gaps, key=lambda name: gaps[name]) == (
        "criterion-2"
    )
    page = (out / "report/sections/rubrics.html").read_text("utf-8")
    assert "is worse on Criterion 2" in page and "Rubric score" in page
