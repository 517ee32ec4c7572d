"""Means that audit corrects by the rated rows of a file, and where it refuses to."""

import json
from pathlib import Path
from typing import Any

import pytest

from audit_setup import Rows, made, passed, two, write
from judgescope.cli.main import main


def audited(rows: Rows, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    write(rows, Path("mine.csv"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", ["judgescope", "audit", "mine.csv", *words])
        with pytest.raises(SystemExit):
            main()
    return capsys.readouterr().out


def corrected(rows: Rows, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    content = json.loads(audited(rows, capsys, "--json"))
    result: list[dict[str, Any]] = content["corrected"]
    return result


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def partly(rows: list[dict[str, Any]], rated: int, *people: str) -> Rows:
    """Return rows of which the first are rated."""
    for row in rows[rated:]:
        row.update(dict.fromkeys(people, ""))
    return rows


def test_the_pass_rate_of_a_lenient_judge_is_corrected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = partly(passed(240), 100, "human_1", "human_2")
    kept = [{key: row[key] for key in row if key != "gpt_score"} for row in rows]
    [rate] = corrected(kept, capsys)
    value = rate["corrected"]["value"]
    # 60 % are good; the judge passes half of the others, too.
    assert abs(value - 0.6) < 0.1 and rate["uncorrected"]["value"] > value + 0.1
    assert rate["corrected"]["n"] == 100 and rate["system"] is None
    assert "random sample" in rate["corrected"]["note"]
    text = " ".join(audited(kept, capsys).split())
    assert "corrected by people:" in text and "uncorrected" in text


def test_rated_rows_that_differ_from_the_rest_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = two(100)
    for row in rows:
        if row["judge"] > 3:
            row["human"] = ""
    [rate] = corrected(rows, capsys)
    assert rate["corrected"]["value"] is None and rate["uncorrected"] is None
    assert "outside the range of rated ones" in rate["corrected"]["note"]
    text = " ".join(audited(rows, capsys).split())
    assert "not corrected:" in text and "uncorrected " not in text


def test_each_system_has_a_separate_mean(capsys: pytest.CaptureFixture[str]) -> None:
    rows = partly(made(300), 150, "Quality (Anna)", "Quality (Ben)")
    rates = corrected(rows, capsys)
    assert [rate["system"] for rate in rates] == [f"s{at}" for at in range(5)]
    hidden = json.loads(audited(rows, capsys, "--json", "--no-texts"))
    assert {rate["system"] for rate in hidden["corrected"]} == {None}
    assert "of s1" not in audited(rows, capsys, "--no-texts")


def test_a_file_with_all_texts_rated_has_nothing_to_correct(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert corrected(made(60), capsys) == []
    assert "corrected" not in audited(made(60), capsys)
