"""Recorded comparisons of two texts: joined, ordered, and nothing lost without a
word.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.rated import NamesInData
from judgescope.engines.base import EngineInputs, Subject, request_key
from judgescope.engines.recorded import RecordedEngine
from judgescope.engines.recorded_joins import join_lines
from judgescope.schema.cards import Judge, RatingScale, RecordedModel

SUBJECTS = [
    Subject(
        f"{item}:{system}",
        item,
        system,
        "systems",
        f"Text {item}{system}",
        f"Source {item}",
    )
    for item in "ab"
    for system in "xyz"
]
NAMES = NamesInData(items={"a": "A", "b": "B"}, systems={"x": "X", "y": "Y", "z": "Z"})
BY_ID: dict[str, Any] = {
    "item": "id",
    "system": "one",
    "system_b": "two",
    "reply": "said",
}
JUDGE = Judge(judge="it", model="it")


def row(
    text: object, item: str = "A", entry: str = "X", two: str = "Y", **more: object
) -> Any:
    return {"id": item, "one": entry, "two": two, "said": text, **more}


def engine(
    folder: Path,
    rows: list[Any],
    names: dict[str, Any] = BY_ID,
    swapped: list[Any] | None = None,
) -> RecordedEngine:
    files = {"data": rows} | ({"swapped": swapped} if swapped else {})
    for role, content in files.items():
        (folder / f"{role}.jsonl").write_text(
            "\n".join(map(json.dumps, content)), "utf-8"
        )
    keys = {"model": "it", "engine": "recorded", "dataset": "d", "rows": names}
    card = RecordedModel.model_validate(
        keys | {"files": {role: f"{role}.jsonl" for role in files}}
    )
    preferences = {"overall": [("a:x", "a:y"), ("b:y", "b:x")]}
    inputs = EngineInputs(
        seed=0,
        dataset="d",
        folder=folder,
        data=folder,
        names=NAMES,
        preferences=preferences,
    )
    return RecordedEngine(card, inputs)


def verdicts_of(made: RecordedEngine, aspect: str = "overall") -> dict[str, str]:
    pairs, answers = made.compare(JUDGE, aspect, SUBJECTS)
    return {
        f"{a.target} {b.target}": draws[0].text
        for (a, b), draws in zip(pairs, answers, strict=True)
    }


def test_rows_are_joined_in_their_order_and_a_pair_without_a_row_is_counted(
    tmp_path: Path,
) -> None:
    made = engine(tmp_path, [row("A"), row("B", entry="Z", two="X")])
    result = verdicts_of(made)
    assert result == {"a:x a:y": "A", "a:z a:x": "B", "b:y b:x": "no_recorded_row"}
    [line] = join_lines(made.checked_joins())
    assert "2 of 2 rows match a pair, 2 of 3 pairs have a row" in line
    assert any("b:y b:x" in notice for notice in made.notices)


@pytest.mark.parametrize("way", ["column", "role", "one row"])
def test_either_way_to_say_the_order(tmp_path: Path, way: str) -> None:
    names, swapped = dict(BY_ID), None
    if way == "column":
        rows = [row("A", order="ab"), row("B", order="ba")]
        names["swapped"] = {"order": "ba"}
    elif way == "role":
        rows, swapped = [row("A")], [row("B")]
    else:
        rows, names["reply_swapped"] = [row("A", back="B")], "back"
    result = verdicts_of(engine(tmp_path, rows, names, swapped))
    assert [*result.items()][:2] == [("a:x a:y", "A"), ("a:y a:x", "B")]


def test_both_orders_under_a_single_name_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="same two texts in the same order") as caught:
        verdicts_of(engine(tmp_path, [row("A"), row("B")]))
    assert (
        "swapped" in caught.value.todo and "data.jsonl, row 1 and" in caught.value.where
    )


def test_labels_name_texts_as_shown_or_as_the_columns_do(tmp_path: Path) -> None:
    names = {
        **BY_ID,
        "swapped": {"order": "ba"},
        "labels": {
            "first": "left",
            "second": "right",
            "text": "one",
            "text_b": "two",
            "tie": "=",
        },
    }
    words = ["left", "ONE", "two", "="]
    for order, expected in (
        ("ab", ["A", "A", "B", "tie"]),
        ("ba", ["A", "B", "A", "tie"]),
    ):
        for word, letter in zip(words, expected, strict=True):
            made = engine(tmp_path, [row(word, order=order)], names)
            assert next(iter(verdicts_of(made).values())) == letter
    with pytest.raises(UserError, match="not among the labels") as caught:
        verdicts_of(engine(tmp_path, [row("both", order="ab")], names))
    assert caught.value.got == "both" and "left" in (caught.value.allowed or "")


def test_comparisons_join_by_text(tmp_path: Path) -> None:
    names = {"source": "s", "text": "t", "text_b": "u", "reply": "said"}
    rows = [{"s": "Source b", "t": "Text  bx", "u": "Text by", "said": "B"}]
    result = verdicts_of(engine(tmp_path, rows, names))
    assert result == {"b:x b:y": "B", "a:x a:y": "no_recorded_row"}


def test_comparisons_join_by_item_and_text(tmp_path: Path) -> None:
    names = {"item": "i", "text": "t", "text_b": "u", "reply": "said"}
    rows = [
        {"i": item, "t": "Same", "u": "Other", "said": message}
        for item, message in ("aA", "bB")
    ]
    texts = [
        Subject(f"{item}:{system}", item, system, "systems", text, f"Source {item}")
        for item in "ab"
        for system, text in (("x", "Same"), ("y", "Other"))
    ]
    pairs, answers = engine(tmp_path, rows, names).compare(JUDGE, "overall", texts)
    assert [text.item for text, _ in pairs] == ["a", "b"]
    assert [[each.text for each in answer] for answer in answers] == [["A"], ["B"]]


def test_a_row_that_fits_texts_of_two_sources_is_an_error(tmp_path: Path) -> None:
    names = {"text": "t", "text_b": "u", "reply": "said"}
    made = engine(tmp_path, [{"t": "Same", "u": "Other", "said": "A"}], names)
    texts = [
        Subject(f"{item}:{system}", item, system, "systems", text, f"Source {item}")
        for item in "ab"
        for system, text in (("x", "Same"), ("y", "Other"))
    ]
    with pytest.raises(UserError, match="two pairs"):
        made.compare(JUDGE, "overall", texts)


def test_no_row_of_the_datasets_texts_is_an_error(tmp_path: Path) -> None:
    made = engine(tmp_path, [row("A", item="C")])
    verdicts_of(made, "fluency")
    with pytest.raises(UserErrors, match="no recorded row"):
        made.checked_joins()


def test_a_dataset_without_two_texts_of_an_item_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no item has two texts"):
        engine(tmp_path, [row("A")]).compare(JUDGE, "overall", SUBJECTS[:1])


def test_the_key_of_a_comparison_holds_both_texts(tmp_path: Path) -> None:
    card, scale = engine(tmp_path, [row("A")]).card, RatingScale(min=0, max=1, step=1)

    def key(other: Subject | None) -> str:
        first = SUBJECTS[0]
        return request_key(
            card, JUDGE, "overall", scale, first, seed=0, dataset="d", other=other
        )

    assert len({key(None), key(SUBJECTS[1]), key(SUBJECTS[2])}) == 3
    first, other = SUBJECTS[:2]
    request = {
        **{
            "engine": "recorded",
            "model": card.model,
            "form": JUDGE.form,
            "dataset": "d",
        },
        **{"aspect": "overall", "files": card.sha256 or card.files},
        **{"rows": card.rows.model_dump(), "item": first.item, "source": first.source},
        **{"system": first.system, "text": first.text},
        **{"system_b": other.system, "text_b": other.text},
    }
    assert key(other) == hashlib.sha256(canonical(request).encode()).hexdigest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": None}, "map pairs of keys"),
        ({"reply": None, "scores": {"*": "s"}}, "need a `reply`"),
        ({"swapped": {"a": "1"}, "reply_swapped": "r"}, "the two orders"),
        ({"swapped": {"a": "1", "b": "2"}}, "one column"),
        ({"labels": {"first": "x", "tie": "X"}}, "two meanings"),
        ({"system_b": None}, "comparisons"),
    ],
)
def test_rows_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    names = {name: each for name, each in (BY_ID | change).items() if each is not None}
    names |= {} if "system_b" in names else {"labels": {"tie": "="}}
    keys = {"model": "it", "engine": "recorded", "dataset": "d", "files": "x.jsonl"}
    with pytest.raises(ValidationError, match=message):
        RecordedModel.model_validate({**keys, "rows": names})


def test_a_card_may_name_the_datasets_that_a_file_mixes() -> None:
    names = {**BY_ID, "dataset": "set", "datasets": {"d": "D 1"}}
    keys = {"model": "it", "engine": "recorded", "files": "x.jsonl", "rows": names}
    card = RecordedModel.model_validate(keys)
    assert card.judges("d") and not card.judges("e")
