"""Rows of two texts or more, and people's choices between them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from csv_rows import read_lines, table_card
from judgescope.core.errors import UserErrors
from judgescope.data.rated import DatasetContent
from judgescope.schema.cards import Dataset

HEAD = ["id", "q", "model_a", "model_b", "answer_a", "answer_b", "winner", "voter"]
COLUMNS: dict[str, Any] = {
    **{"item": "id", "source": "q", "texts": ["answer_a", "answer_b"]},
    **{
        "systems": ["model_a", "model_b"],
        "preferences": {"overall": "winner"},
        "rater": "voter",
    },
}
ROWS = [
    ["1", "Why?", "gpt", "llama", "Because.", "Since.", "model_a", "anna"],
    ["1", "Why?", "gpt", "llama", "Because.", "Since.", "Tie", "ben"],
    ["2", "How?", "llama", "gpt", "So.", "Thus.", "B", "anna"],
    ["2", "How?", "gpt", "llama", "Thus.", "So.", "GPT", "ben"],
    ["2", "How?", "gpt", "llama", "Thus.", "So.", "", "cleo"],
]


def card(columns: Mapping[str, Any], **keys: object) -> Dataset:
    return table_card(columns, {"overall": {"min": -1, "max": 1, "step": 1}}, **keys)


def read(
    folder: Path,
    rows: list[list[str]],
    columns: Mapping[str, Any] = COLUMNS,
    head: Any = HEAD,
) -> DatasetContent:
    return read_lines(folder, card(columns), head, rows)


def test_choices_are_read_in_the_order_that_was_shown(tmp_path: Path) -> None:
    rated = read(tmp_path, ROWS)
    assert [output.target for output in rated.outputs] == [
        "1:gpt",
        "1:llama",
        "2:gpt",
        "2:llama",
    ]
    assert rated.ratings == []
    assert [
        (preference.target, preference.target_b, preference.rater, preference.value)
        for preference in rated.preferences
    ] == [
        ("1:gpt", "1:llama", "anna", 1),
        ("1:gpt", "1:llama", "ben", 0),
        ("2:gpt", "2:llama", "ben", 1),
        ("2:llama", "2:gpt", "anna", -1),
    ]
    assert any("1 rating of overall missing" in problem for problem in rated.problems)


def test_the_best_of_three_is_preferred_to_the_others(tmp_path: Path) -> None:
    columns = {
        **{
            "source": "q",
            "texts": ["x", "y", "z"],
            "preferences": {"overall": ["p", "r"]},
        },
        "choices": {"y": "middle", "tie": ["none", "all"]},
    }
    rated = read(
        tmp_path, [["Why?", "X.", "Y.", "Z.", "middle", "all"]], columns, list("qxyzpr")
    )
    assert {
        (
            preference.target[-1],
            preference.target_b[-1],
            preference.rater,
        ): preference.value
        for preference in rated.preferences
    } == {
        **{("x", "y", "p"): -1, ("y", "z", "p"): 1},
        **{("x", "y", "r"): 0, ("x", "z", "r"): 0, ("y", "z", "r"): 0},
    }


@pytest.mark.parametrize(
    ("row", "what", "got"),
    [
        (["3", "Q", "a", "b", "A.", "", "A", "x"], "fewer than two texts", "answer_a"),
        (["3", "Q", "a", "b", "A.", "B.", "left", "x"], "unknown choice", "left"),
        (["3", "Q", "2", "c", "A.", "B.", "2", "x"], "two texts", "2"),
        (
            ["1", "Why?", "gpt", "llama", "Other.", "Since.", "A", "x"],
            "two texts of the same",
            "1, gpt",
        ),
        (
            ["1", "Why?", "llama", "gpt", "Since.", "Because.", "A", "ben"],
            "twice",
            "ben: llama and gpt of 1",
        ),
        (
            ["3", "Q", "a", "a", "A.", "A.", "A", "x"],
            "two texts of the same system",
            None,
        ),
    ],
)
def test_each_fault_is_an_error_with_its_row(
    tmp_path: Path, row: list[str], what: str, got: str | None
) -> None:
    with pytest.raises(UserErrors) as caught:
        read(tmp_path, [*ROWS, row])
    [error] = caught.value.errors
    assert what in error.what and str(len(ROWS) + 2) in error.where
    assert got is None or error.got == got
    if what == "unknown choice":
        assert {"model_a", "a", "2", "tie"} <= {*(error.allowed or ())}


def test_texts_of_unknown_writers_have_a_name_each(tmp_path: Path) -> None:
    """A text keeps its name on either side; an item may have more than two."""
    columns = {key: value for key, value in COLUMNS.items() if key != "systems"}
    rows = [
        ["1", "Why?", "", "", "A.", "B.", "answer_a", "anna"],
        ["1", "Why?", "", "", "B.", "A.", "answer_a", "ben"],
        ["1", "Why?", "", "", "C.", "B.", "2", "anna"],
        ["2", "How?", "", "", "Same.", "Same.", "tie", "anna"],
    ]
    rated = read(tmp_path, rows, columns)
    texts = {output.target: output.text for output in rated.outputs}
    assert texts == {
        **{"1:answer_a": "A.", "1:answer_b": "B.", "1:answer_a-2": "C."},
        **{"2:answer_a": "Same.", "2:answer_b": "Same."},
    }
    assert [
        (preference.target[2:], preference.target_b[2:], preference.value)
        for preference in rated.preferences
    ] == [
        ("answer_a", "answer_b", 1),
        ("answer_a-2", "answer_b", -1),
        ("answer_b", "answer_a", 1),
        ("answer_a", "answer_b", 0),
    ]


def test_choices_between_systems_need_no_texts(tmp_path: Path) -> None:
    columns = {key: value for key, value in COLUMNS.items() if key != "texts"}
    given, plain = read(tmp_path, ROWS), read(tmp_path, ROWS, columns)
    assert plain.preferences == given.preferences and not card(columns).has_texts
    assert [output.target for output in plain.outputs] == [
        output.target for output in given.outputs
    ]
    named = read(
        tmp_path,
        [[*ROWS[0][:6], "left", "x"]],
        {**columns, "choices": {"model_a": "left"}},
    )
    assert [preference.value for preference in named.preferences] == [1]


def test_a_choice_of_a_text_that_is_not_in_the_row(tmp_path: Path) -> None:
    columns = {"source": "q", "texts": ["x", "y", "z"], "preferences": {"overall": "p"}}
    with pytest.raises(UserErrors) as caught:
        read(tmp_path, [["Why?", "X.", "Y.", "", "z"]], columns, list("qxyzp"))
    assert "not in the row" in caught.value.errors[0].what


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"texts": ["answer_a"]}, "two or more different columns"),
        ({"texts": [], "systems": []}, "need each other"),
        ({"texts": [], "systems": ["model_a"]}, "two or more different columns"),
        ({"text": "answer_a"}, "or `text` with its ratings"),
        ({"systems": ["model_a"]}, "one column for each"),
        ({"choices": {"answer_c": "C"}}, "not a column of `texts`"),
        ({"preferences": {"fluency": "winner"}}, "not one of `aspects`"),
        ({"preferences": {"overall": ["winner", "voter"]}}, "one column per aspect"),
    ],
)
def test_columns_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        card(COLUMNS | change)


def test_labels_of_an_aspect_on_which_people_chose_are_refused() -> None:
    with pytest.raises(
        ValidationError, match="people chose between texts, so overall cannot"
    ):
        card(COLUMNS, aspects={"overall": {"labels": ["lose", "win"]}})
