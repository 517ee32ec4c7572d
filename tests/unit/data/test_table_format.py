"""The format of tables: items, texts and raters in columns of files."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_samples import (
    FIVE,
    card,
    jsonl,
    table,
    values,
)
from judgescope.data.select import read_dataset
from judgescope.schema.loading import validate_card

# --- table ---

ITEMS = [
    {
        "id": 1,
        "article": "One.",
        "fact": "F.",
        "ref": "r1",
        "ref2": None,
        "faults": {"a": "x"},
    },
    {"id": 2, "article": "Two.", "fact": "", "ref": "r2", "ref2": "r3", "faults": {}},
]
COLUMNS = {
    "item": "id",
    "source": ["article", "fact"],
    "references": ["ref", "ref2"],
    "meta": "faults",
    "system": "by",
    "text": "said",
}


def test_a_table_joins_items_and_texts(tmp_path: Path) -> None:
    jsonl(tmp_path / "items.jsonl", ITEMS)
    (tmp_path / "texts.csv").write_text("said,id,by,fluency\nhello,2,A,4\nhi,1,A,3.0\n")
    files = {"items": "items.jsonl", "data": "texts.csv"}
    rated = read_dataset(table(files, COLUMNS, ratings="planned"), tmp_path, tmp_path)
    assert [(item.source, item.references) for item in rated.items] == [
        ("One.\n\nF.", ("r1",)),
        ("Two.", ("r2", "r3")),
    ]
    assert rated.items[0].meta == {"id": "1", "faults": {"a": "x"}}
    assert [(output.target, output.row) for output in rated.outputs] == [
        ("1:a", 3),
        ("2:a", 2),
    ]
    assert values(rated) == {
        ("1:a", "fluency", "planned"): 3.0,
        ("2:a", "fluency", "planned"): 4.0,
    }


def test_an_item_without_texts_is_noted(tmp_path: Path) -> None:
    jsonl(tmp_path / "items.jsonl", ITEMS)
    (tmp_path / "texts.csv").write_text("said,id,by,fluency\nhello,2,A,4\n")
    files = {"items": "items.jsonl", "data": "texts.csv"}
    rated = read_dataset(table(files, COLUMNS), tmp_path, tmp_path)
    assert rated.problems == ["1 item without any output: 1"]


def test_a_table_alone_forms_items_by_equal_source(tmp_path: Path) -> None:
    rows = [
        {"src": "A", "by": "m1"},
        {"src": "B", "by": "m1"},
        {"src": "A", "by": "m2"},
    ]
    pq.write_table(
        pa.Table.from_pylist([{**row, "out": "text", "fluency": 2} for row in rows]),
        tmp_path / "x.parquet",
    )
    columns = {"source": "src", "system": "by", "text": "out"}
    rated = read_dataset(table("x.parquet", columns), tmp_path, tmp_path)
    assert [(item.item, item.source) for item in rated.items] == [
        ("mine-001", "A"),
        ("mine-002", "B"),
    ]
    targets = ["mine-001:m1", "mine-001:m2", "mine-002:m1"]
    assert [output.target for output in rated.outputs] == targets


def test_a_table_without_systems_has_one(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,out,fluency\nA,t,1\n")
    rated = read_dataset(
        table("x.csv", {"source": "src", "text": "out"}), tmp_path, tmp_path
    )
    assert [output.target for output in rated.outputs] == ["mine-001:system"]


def test_the_same_data_is_read_alike_from_every_kind_of_file(tmp_path: Path) -> None:
    row = {"id": "a", "src": "A", "out": "t", "fluency": "3"}
    jsonl(tmp_path / "x.jsonl", [row])
    (tmp_path / "x.json").write_text(json.dumps([row]))
    (tmp_path / "x.csv").write_text("id,src,out,fluency\na,A,t,3\n")
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "x.parquet")
    columns = {"item": "id", "source": "src", "text": "out"}
    read = [
        read_dataset(table(f"x.{end}", columns), tmp_path, tmp_path)
        for end in ("jsonl", "json", "csv", "parquet")
    ]
    assert all(
        (each.items, each.ratings) == (read[0].items, read[0].ratings) for each in read
    )
    assert values(read[0]) == {("a:system", "fluency", "rater-1"): 3.0}


@pytest.mark.parametrize(
    ("cells", "ratings", "raters"),
    [
        ({"x": 4}, "x", {"rater-1": 4.0}),
        ({"x": [4, 5]}, "x", {"rater-1": 4.0, "rater-2": 5.0}),
        ({"x": "[4, 5]"}, "x", {"rater-1": 4.0, "rater-2": 5.0}),
        ({"Ann": 4, "Ben": 5}, ["Ann", "Ben"], {"ann": 4.0, "ben": 5.0}),
        (
            {"x": {"y": [{"z": 4}, {"z": 2}]}},
            "x.y[*].z",
            {"rater-1": 4.0, "rater-2": 2.0},
        ),
        ({"A b": 4, "a B": 5}, ["A b", "a B"], None),
    ],
)
def test_raters_are_columns_or_entries_of_a_list(
    tmp_path: Path, cells: dict[str, Any], ratings: Any, raters: dict[str, float] | None
) -> None:
    jsonl(tmp_path / "x.jsonl", [{"src": "A", "out": "t", **cells}])
    columns = {"source": "src", "text": "out", "ratings": {"fluency": ratings}}
    rated = read_dataset(table("x.jsonl", columns), tmp_path, tmp_path)
    by_rater = {rating.rater: rating.value for rating in rated.ratings}
    if raters is None:  # two names that share an id stay two raters
        assert len(by_rater) == 2 and all(name.startswith("a-b-") for name in by_rater)
    else:
        assert by_rater == raters


def test_a_mean_lies_between_the_values_of_the_grid(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,out,fluency\nA,t,3.5\n")
    columns = {"source": "src", "text": "out"}
    rated = read_dataset(table("x.csv", columns, raters="mean"), tmp_path, tmp_path)
    assert values(rated) == {("mine-001:system", "fluency", "mean"): 3.5}


def test_missing_ratings_are_counted_and_have_no_row(tmp_path: Path) -> None:
    cells: list[Any] = [None, "", "nan", float("nan"), "N/A", -1, 5]
    rows = [
        {"src": str(index), "out": "t", "fluency": cell}
        for index, cell in enumerate(cells)
    ]
    jsonl(tmp_path / "x.jsonl", rows)
    columns = {"source": "src", "text": "out"}
    dataset = table("x.jsonl", columns, missing=["N/A", "-1"])
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert values(rated) == {("mine-007:system", "fluency", "rater-1"): 5.0}
    assert rated.problems == [
        "6 ratings of fluency missing: x.jsonl, rows 1, 2, 3, 4, 5, … (6 in all)"
    ]


def test_a_dataset_that_nobody_rated_needs_no_rating_columns(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("src,out\nA,t\n")
    columns = {"source": "src", "text": "out"}
    rated = read_dataset(table("x.csv", columns, ratings="none"), tmp_path, tmp_path)
    assert rated.ratings == [] and len(rated.outputs) == 1


def test_a_system_called_original_is_not_taken_for_the_originals(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.csv").write_text("src,by,out,fluency\nA,Original,t,1\n")
    columns = {"source": "src", "system": "by", "text": "out"}
    rated = read_dataset(table("x.csv", columns), tmp_path, tmp_path)
    assert rated.outputs[0].system.startswith("original-")
    assert list(rated.systems.values()) == ["Original"]


def test_the_order_of_rows_changes_nothing_but_row_numbers(tmp_path: Path) -> None:
    rows = [
        {"id": item, "src": item, "by": system, "out": f"{item}{system}", "fluency": 2}
        for item in ("M 1", "m-1", "b")
        for system in ("x", "y")
    ]
    columns = {"item": "id", "source": "src", "system": "by", "text": "out"}
    collected = []
    for order in (rows, rows[::-1]):
        jsonl(tmp_path / "x.jsonl", order)
        rated = read_dataset(table("x.jsonl", columns), tmp_path, tmp_path)
        collected.append(
            (rated.items, [output[:4] for output in rated.outputs], rated.ratings)
        )
    assert collected[0] == collected[1]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"columns": {"text": "t"}}, "map one"),
        (
            {"columns": {"text": "t", "source": "s", "ratings": {"x": "x"}}},
            "`ratings` names x",
        ),
        ({"files": {"items": "i"}}, "`files` needs the role `data`"),
        ({"files": {"data": "d", "items": "i"}}, "map it"),
        ({"files": {"data": "d", "more": "m"}}, "not more"),
        ({"sha256": {"items": "0" * 64}}, "`files` has no such role"),
        (
            {"select": {"original": "none", "min_characters": 3}},
            "choose another `original`",
        ),
    ],
)
def test_a_card_that_contradicts_itself_is_refused(
    keys: dict[str, Any], message: str
) -> None:
    base = {
        "files": "x.csv",
        "columns": {"source": "s", "text": "t"},
        "aspects": {"a": FIVE},
    }
    with pytest.raises(ValueError, match=message):
        card(format="table", **base | keys)


def test_a_table_may_have_ratings_and_no_texts(tmp_path: Path) -> None:
    rows = [
        {"id": f"i{at}", "by": by, "fluency": at} for at in (1, 2) for by in ("a", "b")
    ]
    (tmp_path / "t.jsonl").write_text(
        "\n".join(map(json.dumps, rows)), encoding="utf-8"
    )
    card = validate_card(
        "dataset",
        {
            **{
                "dataset": "t",
                "name": "T",
                "task": "text",
                "format": "table",
                "files": "t.jsonl",
            },
            "columns": {"item": "id", "system": "by"},
            "aspects": {"fluency": {"min": 1, "max": 5, "step": 1}},
            **{"licence": "x", "citation": "x"},
        },
        "t.yaml",
    )
    assert not card.has_texts
    rated = read_dataset(card, tmp_path, tmp_path)
    assert [(output.target, output.text) for output in rated.outputs][:2] == [
        ("i1:a", ""),
        ("i1:b", ""),
    ]
    assert [rating.value for rating in rated.ratings] == [1, 1, 2, 2]
