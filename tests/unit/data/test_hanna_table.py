"""The shipped table of HANNA's numbers: whole, without texts, made by the script."""

import csv
from pathlib import Path

import pytest

import hanna_table
from running import HOME, SHARED

TABLE = HOME / "config" / "demo" / "hanna.csv"
SOURCE = SHARED / "hanna" / "hanna_metric_scores_llm.csv"
MOST_BYTES = 200_000


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_every_story_and_no_text() -> None:
    result = rows()
    assert TABLE.stat().st_size <= MOST_BYTES
    assert len(result) == 1056
    places = {(row["prompt"], row["system"]) for row in result}
    assert len(places) == 1056
    assert len({row["system"] for row in result}) == 11
    assert max(len(cell) for row in result for cell in row.values()) <= 14
    for row in result:
        for name, cell in row.items():
            if name != "system":
                assert cell == "" or float(cell) >= 1


def test_only_unread_scores_are_empty() -> None:
    empty = {"beluga_13b": 0, "chatgpt": 0, "llama_13b": 0}
    for row in rows():
        for name, cell in row.items():
            if cell == "":
                empty[name.partition("_judge_")[2]] += 1
    assert empty == {"beluga_13b": 0, "chatgpt": 3, "llama_13b": 25}


def test_the_licence_and_the_citation_lie_beside_it() -> None:
    page = TABLE.with_suffix(".md").read_text("utf-8")
    assert "Please cite: Chhun" in page and "unread draws" in page
    licence = TABLE.with_name("hanna.LICENSE").read_text("utf-8")
    assert licence.startswith("MIT License\n\nCopyright (c) 2022 dig-team\n")
    assert len(licence) == 1065  # characters of the repository's file
    card = (HOME / "config/datasets/hanna.yaml").read_text("utf-8")
    assert "282f27536a5d" in card and "282f27536a5d" in page


@pytest.mark.skipif(not SOURCE.is_file(), reason="HANNA's file is not there")
def test_the_script_makes_the_table_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hanna_table, "OUTPUT", tmp_path / "again.csv")
    hanna_table.main(SOURCE)
    assert (tmp_path / "again.csv").read_bytes() == TABLE.read_bytes()


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("Model\nHuman\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="not the file whose hash"):
        hanna_table.main(other)
