"""Lengths of texts that a table does not have: `columns.length`, `columns.lengths`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from csv_rows import read_lines, table_card
from judgescope.core.errors import UserErrors
from judgescope.data.rated import DatasetContent
from judgescope.data.tables import systems
from judgescope.schema.cards import Dataset

HEAD = ["id", "model", "n", "fluency"]
COLUMNS: dict[str, Any] = {"item": "id", "system": "model", "length": "n"}
ROWS = [["a", "x", "120", "1"], ["a", "y", "80.5", "2"], ["b", "x", "0", "3"]]
PAIRED: dict[str, Any] = {
    "item": "id",
    "systems": ["model_a", "model_b"],
    "lengths": ["n_a", "n_b"],
    "preferences": {"fluency": "winner"},
    "rater": "voter",
}
PAIRED_HEAD = ["id", "model_a", "model_b", "n_a", "n_b", "winner", "voter"]
PAIRED_ROWS = [
    ["a", "x", "y", "12", "34", "A", "anna"],
    ["a", "y", "x", "34", "12", "B", "ben"],
]


def card(columns: Mapping[str, Any], **keys: object) -> Dataset:
    return table_card(columns, {"fluency": {"min": -1, "max": 5, "step": 1}}, **keys)


def read(
    folder: Path,
    rows: list[list[str]],
    columns: Mapping[str, Any] = COLUMNS,
    head: list[str] = HEAD,
    **keys: object,
) -> DatasetContent:
    return read_lines(folder, card(columns, **keys), head, rows)


def lengths_of(rated: DatasetContent) -> dict[str, float | None]:
    return {output.target: output.length for output in rated.outputs}


def test_lengths_are_read_into_the_table_of_targets(tmp_path: Path) -> None:
    rated = read(tmp_path, ROWS)
    assert lengths_of(rated) == {"a:x": 120.0, "a:y": 80.5, "b:x": 0.0}
    table = systems("d", rated, {})
    assert table["length"].to_pylist() == [120.0, 80.5, 0.0]
    assert table["text"].to_pylist() == ["", "", ""]
    assert not rated.problems


def test_lengths_of_pairs_belong_to_their_systems(tmp_path: Path) -> None:
    rated = read(tmp_path, PAIRED_ROWS, PAIRED, PAIRED_HEAD)
    assert lengths_of(rated) == {"a:x": 12.0, "a:y": 34.0}


def test_a_text_has_the_same_length_in_all_its_rows(tmp_path: Path) -> None:
    rows = [PAIRED_ROWS[0], ["a", "y", "x", "34", "13", "B", "ben"]]
    with pytest.raises(UserErrors) as caught:
        read(tmp_path, rows, PAIRED, PAIRED_HEAD)
    [error] = caught.value.errors
    assert error.what == "rows of the same text differ in its length"
    assert "d.csv, rows 2, 3, column n_b" in error.where and error.got == "a, x"


def test_missing_lengths_are_counted(tmp_path: Path) -> None:
    rows = [*ROWS, ["b", "y", "", "4"], ["c", "x", "NaN", "4"], ["c", "y", "??", "4"]]
    rated = read(tmp_path, rows, missing=["??"])
    assert [*lengths_of(rated).values()] == [120.0, 80.5, 0.0, None, None, None]
    [notice] = rated.problems
    assert notice == (
        "3 texts without a length, left out of comparisons with length: "
        "d.csv, rows 5, 6, 7"
    )


def test_lengths_that_test_nothing_are_a_notice(tmp_path: Path) -> None:
    equal = read(tmp_path, [[*row[:2], "7", row[3]] for row in ROWS])
    assert equal.problems == ["all texts have the length 7: length is not tested"]
    none = read(tmp_path, [[*row[:2], "", row[3]] for row in ROWS])
    assert none.problems[-1] == "no text has a length: length is not tested"


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("-1", "a length is negative or infinite"),
        ("inf", "a length is negative or infinite"),
        ("1e999", "a length is negative or infinite"),
        ("12 words", "a length is not a number"),
        ("1_000", "a length is not a number"),
    ],
)
def test_what_is_not_a_length_is_an_error_with_row_and_column(
    tmp_path: Path, cell: str, what: str
) -> None:
    with pytest.raises(UserErrors) as caught:
        read(tmp_path, [*ROWS, ["b", "y", cell, "4"]])
    [error] = caught.value.errors
    assert error.what == what and error.got == cell
    assert "d.csv, row 5, column n" in error.where


def test_a_column_of_lengths_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UserErrors, match="no such column or key: `chars`"):
        read(tmp_path, ROWS, COLUMNS | {"length": "chars"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (COLUMNS | {"text": "t"}, "lengths of their own: remove `length`"),
        (PAIRED | {"texts": ["s", "t"]}, "lengths of their own: remove `lengths`"),
        (PAIRED | {"lengths": ["n_a"]}, "one column for each column of `systems`"),
        (COLUMNS | {"lengths": ["n"]}, "one column for each column of `systems`"),
        (PAIRED | {"lengths": [], "length": "n_a"}, "map `lengths`"),
    ],
)
def test_lengths_that_do_not_fit_the_other_columns(
    columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        card(columns)


def test_lengths_need_rows_of_texts() -> None:
    with pytest.raises(ValidationError, match="`length` needs the role `data`"):
        card(
            {"item": "id", "references": "r", "length": "n"},
            files={"items": "d.csv"},
            ratings="none",
        )


def test_a_card_says_whether_texts_have_lengths() -> None:
    plain = {"item": "id", "system": "model"}
    assert card(COLUMNS).has_lengths and not card(COLUMNS).has_texts
    assert card(plain | {"text": "t"}).has_lengths
    assert not card(plain).has_lengths
    assert "length" not in card(plain).model_dump()["columns"]
