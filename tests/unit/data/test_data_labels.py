"""Ratings in words: labels, their translations, and words that are none."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from data_samples import faults, jsonl, table, values
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset, RatingScale

COLUMNS = {"item": "id", "source": "q", "text": "a", "ratings": {"right": ["r1", "r2"]}}
WORDS = {
    "labels": ["fail", "partly right", "pass"],
    "read_as": {"yes": "pass", "0": "fail"},
}


def rated(folder: Path, *pairs: tuple[Any, Any], **aspect: Any) -> Dataset:
    """Return the card of rows with two ratings each."""
    rows = [
        {
            "id": f"i{at}",
            "q": f"question {at}",
            "a": f"answer {at}",
            "r1": each,
            "r2": other,
        }
        for at, (each, other) in enumerate(pairs)
    ]
    jsonl(folder / "x.jsonl", rows)
    return table("x.jsonl", COLUMNS, aspects={"right": {**WORDS, **aspect}})


def test_words_are_labels_whatever_their_case_blanks_and_plural(tmp_path: Path) -> None:
    card = rated(
        tmp_path,
        ("Pass", " partly\tRIGHT "),
        ("YES", "fails"),
        (0, ""),
        ("passes", None),
    )
    result = values(read_dataset(card, tmp_path, tmp_path))
    assert {
        (target[:2], rater): value for (target, _, rater), value in result.items()
    } == {
        ("i0", "r1"): 2.0,
        ("i0", "r2"): 1.0,
        ("i1", "r1"): 2.0,
        ("i1", "r2"): 0.0,
        ("i2", "r1"): 0.0,
        ("i3", "r1"): 2.0,
    }


def test_a_word_that_no_label_is_has_a_single_error_with_its_rows_and_the_nearest(
    tmp_path: Path,
) -> None:
    message = faults(
        rated(tmp_path, ("pas", "fail"), ("pass", "fail"), ("pas", "fail")), tmp_path
    )
    assert message.count("not one of the card's labels") == 1
    for part in (
        "x.jsonl, rows 1, 3, aspect right",
        "'pas'",
        "nearest: pass",
        "read_as",
    ):
        assert part in message
    assert "allowed: 0, fail, partly right, pass, yes" in message


@pytest.mark.parametrize("number", [1, "1", 2.0, "0.5", "100%"])
def test_a_number_is_no_label(tmp_path: Path, number: Any) -> None:
    message = faults(rated(tmp_path, (number, "pass")), tmp_path)
    assert "a rating is a number, but the card gives labels" in message
    assert "x.jsonl, row 1, aspect right" in message


def test_numbers_instead_of_labels_are_a_single_error_with_all_rows(
    tmp_path: Path,
) -> None:
    message = faults(rated(tmp_path, (1, 5), (2, "pass"), (3, 4)), tmp_path)
    assert message.count("a rating is a number") == 1 and "rows 1, 2, 3" in message
    assert "map each number to a label" in message


def test_truth_values_are_read_as_words(tmp_path: Path) -> None:
    card = rated(tmp_path, (True, False), read_as={"true": "pass", "False": "fail"})
    assert sorted(values(read_dataset(card, tmp_path, tmp_path)).values()) == [0.0, 2.0]


def test_the_dump_of_a_scale_has_no_key_that_its_card_leaves_out() -> None:
    points = RatingScale(min=1, max=5, step=1)
    assert points.model_dump() == {"min": 1, "max": 5, "step": 1, "labels": []}
    for labels in (
        RatingScale(labels=["fail", "pass"]),
        RatingScale(labels=["a", "b", "c"], ordered=False),
    ):
        assert not {"min", "max", "step"} & labels.model_dump().keys()
        assert RatingScale(**labels.model_dump()) == labels
        assert RatingScale(**labels.model_dump()).categorical
    assert RatingScale(labels=["fail", "pass"]).values() == [0, 1]


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"labels": ["pass"]}, "at least two"),
        ({"labels": ["pass", "fail"], "min": 0}, "max, step missing"),
        ({}, "max and min missing"),
        ({"min": 0, "max": 1, "ordered": False}, "labels without numbers"),
        ({"labels": ["Pass", " pass"]}, "two values have the label"),
        ({"labels": ["a", "b"], "best": "min"}, "the best one last"),
    ],
)
def test_a_scale_that_is_neither_numbers_nor_labels_is_refused(
    keys: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        RatingScale(**keys)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"read_as": {"ok": "pas"}}, "nearest: 'pass'"),
        ({"read_as": {"fail": "pass"}}, "maps the label 'fail' to another label"),
        ({"read_as": {"ok": "pass", "OK ": "fail"}}, "has a word twice .*: ok"),
    ],
)
def test_a_translation_into_no_label_is_refused(
    keys: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        table(
            "x.jsonl", COLUMNS, aspects={"right": {"labels": ["fail", "pass"], **keys}}
        )


def test_labels_have_no_mean_rater() -> None:
    with pytest.raises(ValidationError, match="`raters: mean` is for numbers"):
        table("x.jsonl", COLUMNS, aspects={"right": WORDS}, raters="mean")
