"""Names that differ only in blanks, case or Unicode form: an error, or one name if told
so.
"""

import json
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_samples import FIVE, dialogue, faults, jsonl, table, values
from data_samples import card as card_of
from judgescope.core.names import folded
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset

COLUMNS = {"item": "id", "source": "source", "system": "system", "text": "text"}
SPELLINGS = ["x ", "x\xa0", "\u200bx", "X", "ｘ", "x\ufeff", "x\t"]


def rows(*names: tuple[str, str]) -> list[dict[str, Any]]:
    """Return a row per (item, system)."""
    return [
        {
            "id": item,
            "source": "one",
            "system": system,
            "text": "a text",
            "fluency": 1 + at % 5,
        }
        for at, (item, system) in enumerate(names)
    ]


def dataset(folder: Path, *names: tuple[str, str], **keys: Any) -> Any:
    return table(str(jsonl(folder / "rows.jsonl", rows(*names))), COLUMNS, **keys)


def read(folder: Path, *names: tuple[str, str], **keys: Any) -> DatasetContent:
    return read_dataset(dataset(folder, *names, **keys), folder, folder)


@pytest.mark.parametrize("other", SPELLINGS)
@pytest.mark.parametrize("kind", ["item", "system"])
def test_two_spellings_are_an_error_with_both_and_their_rows(
    tmp_path: Path, other: str, kind: str
) -> None:
    pairs = [("a", "x"), ("b", "x"), ("a", other), ("b", other)]
    names = [pair[::-1] if kind == "item" else pair for pair in pairs]
    result = faults(dataset(tmp_path, *names), tmp_path)
    assert f"({kind})" in result
    assert repr(["x", other]) in result
    assert "rows 1, 3, 4" in result
    assert "same_names" in result


def test_forms_of_a_single_letter_are_a_single_name_and_shown_separately(
    tmp_path: Path,
) -> None:
    composed, decomposed = (unicodedata.normalize(form, "é") for form in ("NFC", "NFD"))
    result = faults(dataset(tmp_path, ("a", composed), ("a", decomposed)), tmp_path)
    assert f"['é', 'e{'⟨U+0301⟩'}']" in result


def test_a_card_may_say_that_they_are_one(tmp_path: Path) -> None:
    names = [("a", "x"), ("b", "x "), ("B", "y"), ("c", "X"), ("c", "Y")]
    rated = read(tmp_path, *names, same_names=True)
    assert set(rated.systems.values()) == {"x", "y"}
    assert [item.meta["id"] for item in rated.items] == ["a", "b", "c"]
    assert len(rated.outputs) == 5
    assert [
        problem
        for problem in rated.problems
        if "'x '" in problem and "row 2" in problem
    ]
    assert len(rated.problems) == 4  # B, x , X and Y


def test_a_card_may_say_that_they_are_several(tmp_path: Path) -> None:
    rated = read(tmp_path, ("a", "x"), ("a", "x "), same_names=False)
    assert set(rated.systems.values()) == {"x", "x "}
    assert rated.problems == []


def test_a_single_system_with_two_texts_of_an_item_is_still_an_error(
    tmp_path: Path,
) -> None:
    result = faults(
        dataset(tmp_path, ("a", "x"), ("a", "X"), same_names=True), tmp_path
    )
    assert "rows 1, 2" in result and "a, x" in result


def test_names_of_other_signs_stay_three(tmp_path: Path) -> None:
    rated = read(tmp_path, ("a", "C"), ("a", "C++"), ("a", "C#"))
    assert set(rated.systems.values()) == {"C", "C++", "C#"}


def test_raters_are_names_too(tmp_path: Path) -> None:
    entry = dialogue("m", annotators=["ann", "Ann"])
    path = tmp_path / "data.json"
    path.write_text(json.dumps([entry]), encoding="utf-8")
    keys = {"format": "usr_json", "aspects": {"fluency": {**FIVE, "column": "Natural"}}}
    result = faults(card_of(files=str(path), **keys), tmp_path)
    assert "(rater)" in result and "['ann', 'Ann']" in result
    for same, raters in ((False, {"ann", "ann-2"}), (True, {"rater-1", "rater-2"})):
        rated = read_dataset(
            card_of(files=str(path), same_names=same, **keys), tmp_path, tmp_path
        )
        assert len({rater for *_, rater in values(rated)}) == len(raters)


def test_sources_that_make_items_are_names_too(tmp_path: Path) -> None:
    columns = {"source": "source", "system": "system", "text": "text"}
    content = rows(("a", "x"), ("a", "y"))
    for row, end in zip(content, ("one", "one\xa0"), strict=True):
        row["source"] = "a long source " * 20 + end
    card = table(str(jsonl(tmp_path / "rows.jsonl", content)), columns)
    result = faults(card, tmp_path)
    assert (
        "(source)" in result and repr("one\xa0")[1:-1] in result and len(result) < 700
    )


def test_a_name_that_shows_nothing_is_no_name(tmp_path: Path) -> None:
    assert "invalid id (system)" in faults(
        dataset(tmp_path, ("a", "\u200b\ufeff")), tmp_path
    )


@given(st.text(max_size=30))
def test_what_names_have_in_common_is_detected_once(name: str) -> None:
    common = folded(name)
    assert folded(common) == common
    assert folded(f" {name.upper()}\u200b".lower()) == folded(name.upper().lower())
    assert common == "".join(common.split())


def test_many_rows_cost_little(tmp_path: Path) -> None:
    """100,000 names are distinguished in well under what reading their rows costs."""
    names = [f"Item {at} é" for at in range(100_000)]
    start = time.process_time()
    assert len(set(map(folded, names))) == len(names)
    assert time.process_time() - start < 5
