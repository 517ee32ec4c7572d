"""What an audit says of a column with a judge's confidence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit_setup import Rows, write
from judgescope.cli.main import main

Page = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Page:
    """Return what audits rows: its JSON, and its page in the terminal as one line."""
    monkeypatch.chdir(tmp_path)

    def run(rows: Rows) -> tuple[dict[str, Any], str]:
        write(rows, Path("mine.csv"))
        printed = []
        for words in (["--json"], []):
            words = ["judgescope", "audit", "mine.csv", *words]
            monkeypatch.setattr("sys.argv", words)
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == 0
            printed.append(capsys.readouterr().out)
        return json.loads(printed[0]), " ".join(printed[1].split())

    return run


def judged(gap: float, *, n: int = 200, unit: int = 1) -> list[dict[str, Any]]:
    """Return verdicts whose confidence is `gap` above their chance of being right."""
    rng = np.random.default_rng(7)
    rows = []
    for at in range(n):
        human = ("fail", "pass")[rng.integers(2)]
        chance = float(rng.uniform(0.55, 0.9 - max(gap, 0)))
        is_right = rng.random() < chance
        other = {"fail": "pass", "pass": "fail"}[human]
        row: dict[str, Any] = {"id": at, "human": human}
        row["judge"] = human if is_right else other
        row["judge_confidence"] = round(unit * (chance + gap), 3)
        rows.append(row)
    return rows


def test_an_over_confident_judge_is_called_so(page: Page) -> None:
    rows = judged(0.2)
    content, text = page(rows)
    [column] = content["confidences"]
    [result] = column["calibrations"]
    right = np.mean([row["human"] == row["judge"] for row in rows])
    stated = np.mean([row["judge_confidence"] for row in rows])
    assert result["gap"]["value"] == pytest.approx(stated - right)
    assert result["gap"]["ci_low"] > 0 and result["shown"] == "over-confident"
    assert result["gap"]["n"] == 200 and column["why_none"] == ""
    assert "confidence of judge, Overall (column judge_confidence): it is over-" in text
    assert result["error"]["value"] > 2 * result["if_calibrated"]["value"]
    assert "where it states 8" in text and "it is right in" in text


def test_a_calibrated_judge_is_not(page: Page) -> None:
    content, text = page(judged(0.0))
    [result] = content["confidences"][0]["calibrations"]
    assert result["shown"] == "not shown to be wrong"
    assert "not shown to be over- or under-" in text


def test_verdicts_that_may_be_accepted_are_named(page: Page) -> None:
    rng = np.random.default_rng(3)
    rows = []
    for at in range(240):
        human = ("fail", "pass")[rng.integers(2)]
        is_sure = at % 2 == 0
        is_right = rng.random() < (0.99 if is_sure else 0.6)
        row: dict[str, Any] = {"id": at, "human": human}
        row["judge"] = human if is_right else {"fail": "pass", "pass": "fail"}[human]
        row["judge_confidence"] = 0.95 if is_sure else 0.55
        rows.append(row)
    content, text = page(rows)
    [result] = content["confidences"][0]["calibrations"]
    assert (result["accept_from"], result["accepted_share"]) == (0.95, 0.5)
    assert "from 0.95 on at most 10 % of its verdicts are wrong (95 % sure)" in text
    unsure, text = page(
        [
            {**row, "judge_confidence": 0.7 + at / 1000}
            for at, row in enumerate(judged(0.1))
        ]
    )
    [result] = unsure["confidences"][0]["calibrations"]
    assert result["accept_from"] is None and result["why_none_accepted"] in text


def test_two_judges_keep_their_confidences(page: Page) -> None:
    rows = []
    for first, second in zip(judged(0.2), judged(0.0), strict=True):
        row = {name: first[name] for name in ("id", "human")}
        row["gpt"] = first["judge"]
        row["gpt_mini"] = (
            first["judge"] if second["human"] == second["judge"] else "fail"
        )
        row["gpt_confidence"] = first["judge_confidence"]
        rows.append(row)
    content, _ = page(rows)
    [column] = content["confidences"]
    assert column["judge"] == "gpt"
    assert [calibration["judge"] for calibration in column["calibrations"]] == ["gpt"]


def test_per_cent_are_shares(page: Page) -> None:
    shares = page(judged(0.2))[0]["confidences"][0]["calibrations"][0]
    per_cent = page(judged(0.2, unit=100))[0]["confidences"][0]["calibrations"][0]
    assert per_cent["gap"]["value"] == pytest.approx(shares["gap"]["value"], abs=1e-3)


def test_the_chance_of_a_label_is_not_that_of_the_verdict(page: Page) -> None:
    rows = judged(0.1)
    for row in rows:
        if row["judge"] == "fail":
            row["judge_confidence"] = round(1 - row["judge_confidence"], 3)
    [result] = page(rows)[0]["confidences"][0]["calibrations"]
    [plain] = page(judged(0.1))[0]["confidences"][0]["calibrations"]
    assert result["label"] == "pass" and plain["label"] == ""
    assert result["gap"]["value"] == pytest.approx(plain["gap"]["value"], abs=1e-6)


def test_scores_are_neither_right_nor_wrong(page: Page) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for at in range(60):
        human = int(rng.integers(1, 6))
        row: dict[str, Any] = {"id": at, "human": human}
        row["gpt4"] = int(np.clip(human + rng.integers(-1, 2), 1, 5))
        row["gpt4_confidence"] = round(float(rng.uniform(0.5, 1)), 2)
        rows.append(row)
    content, text = page(rows)
    [column] = content["confidences"]
    assert column["calibrations"] == [] and "no label or choice" in column["why_none"]
    assert column["why_none"] in text
