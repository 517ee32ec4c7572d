"""Cells and recorded rows that cannot be used: as in `bad_data`."""

import json
from typing import Any

import pyarrow as pa

from bad_data import DATASET, RECORDED, SCORES, THIRD, jsonl, parquet, row, twice
from bad_study import BASE, Case


def recorded(*rows: object, **keys: object) -> dict[str, Any]:
    """Plant recorded rows and other keys of their card."""
    text = "".join(
        row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows
    )
    return {SCORES: text, RECORDED: keys}


def scored(
    item: object = "a", system: object = "x", score: object = 4
) -> dict[str, object]:
    """Return a recorded row."""
    return {"id": item, "by": system, "score": score}


CELLS: list[Case] = [
    *(
        (
            f"a rating {result}",
            row(f"b,Another.,Gold.,x,More.,{cell},1"),
            [what, "mine.csv, row 4, aspect clarity", f"got:     '{cell}'"],
        )
        for result, cell, what in [
            ("above the scale", "6", "outside the scale"),
            ("below the scale", "0", "outside the scale"),
            ("between two steps", "2.5", "outside the scale"),
            ("that is infinite", "inf", "outside the scale"),
            ("that is less than infinite", "-Infinity", "outside the scale"),
            ("that is far too much", "1e999", "outside the scale"),
            ("in words", "good", "not a number"),
            ("with a decimal comma", "4;5", "not a number"),
            ("of two", "4 5", "not a number"),
            ("with its scale", "4/5", "not a number"),
            ("in percent", "80%", "not a number"),
            ("in hexadecimals", "0x4", "not a number"),
            ("with a line", "4_0", "not a number"),
            ("that is a formula", "=A1+1", "not a number"),
            ("that is a date", "4-May", "not a number"),
        ]
    ),
    (
        "a rating that is a truth value",
        jsonl(ann=True),
        ["not a number", "mine.jsonl, row 2, aspect clarity", "True"],
    ),
    (
        "a rating of brackets",
        jsonl(ann="[" * 100_000),
        ["not a number", "mine.jsonl, row 2"],
    ),
    (
        "a rating of a long list",
        jsonl(ann=f"[{'9' * 5000}]"),
        ["not a number", "mine.jsonl, row 2"],
    ),
    (
        "a rating that is an object",
        jsonl(ann={"value": 4}),
        ["not a number", "mine.jsonl, row 2"],
    ),
    (
        "ratings in a list in a list",
        jsonl(ann=[[4]]),
        ["not a number", "mine.jsonl, row 2"],
    ),
    (
        "a rating of 300 digits",
        jsonl(ann=10**300),
        ["outside the scale", "mine.jsonl, row 2"],
    ),
    (
        "a rating of 400 digits",
        jsonl(ann=10**400),
        ["outside the scale", "mine.jsonl, row 2", "aspect clarity"],
    ),
    (
        "a rating that is a surrogate",
        jsonl(ann="\ud800"),
        ["not a number", "mine.jsonl, row 2"],
    ),
    (
        "an id twice",
        row("b,Another article.,Another short gold text.,x,More of x.,1,1\n" + THIRD),
        ["two texts of the same system", "mine.csv, rows 4, 5", "'b, x'"],
    ),
    (
        "an item with two sources",
        row("a,A shorter article.,Its short gold text.,z,T.,1,1"),
        ["differ in their source", "mine.csv, rows 2, 4", "'a'"],
    ),
    (
        "an item with two golds",
        row("a,A long article.,Its gold.,z,T.,1,1"),
        ["differ in their references", "mine.csv, rows 2, 4"],
    ),
    (
        "an item without an id",
        row(",Another.,Gold.,x,More.,1,1"),
        ["invalid id (item)", "mine.csv, row 4"],
    ),
    (
        "a text of nobody",
        row("b,Another.,Gold.,,More.,1,1"),
        ["invalid id (system)", "mine.csv, row 4"],
    ),
    (
        "a truth value for an id",
        jsonl(id=True),
        ["invalid id (item)", "mine.jsonl, row 2", "True"],
    ),
    (
        "an object for an id",
        jsonl(id={"n": 1}),
        ["invalid id (item)", "mine.jsonl, row 2"],
    ),
    (
        "an id that is not a number",
        jsonl(id=float("nan")),
        ["invalid id (item)", "mine.jsonl, row 2"],
    ),
    (
        "an empty text",
        row("b,Another.,Gold.,x, ,1,1"),
        ["a text is empty", "mine.csv, row 4"],
    ),
    (
        "an empty source",
        row("b,,Gold.,x,More.,1,1"),
        ["a source is empty", "mine.csv, row 4"],
    ),
    (
        "an empty gold",
        row("b,Another.,,x,More.,1,1"),
        ["no reference", "mine.csv, row 4", "'b'"],
    ),
    (
        "a number for a text",
        jsonl(summary=7),
        ["a text is not a string", "mine.jsonl, row 2", "7"],
    ),
    (
        "a list for a source",
        jsonl(article=["A.", "B."]),
        ["a source is not a string", "mine.jsonl, row 2"],
    ),
    (
        "half a character",
        jsonl(summary="a\ud800b"),
        ["half a character", "mine.jsonl, row 2"],
    ),
    (
        "Parquet with bytes",
        parquet(summary=pa.array([b"\xff\xfe"])),
        ["a text is not a string", "mine.parquet, row 1"],
    ),
    (
        "Parquet with dates",
        parquet(summary=pa.array([0], pa.timestamp("us"))),
        ["a text is not a string", "mine.parquet, row 1"],
    ),
    (
        "Parquet with a far date",
        parquet(summary=pa.array([2**62], pa.timestamp("us"))),
        ["cannot be read", "mine.parquet, column summary"],
    ),
    (
        "Parquet with ratings in decimals outside the scale",
        parquet(ann=pa.array([7], pa.decimal128(3, 1))),
        ["outside the scale", "mine.parquet, row 1", "aspect clarity"],
    ),
    (
        "Parquet with ratings in durations",
        parquet(ann=pa.array([4], pa.duration("s"))),
        ["not a number", "mine.parquet, row 1"],
    ),
    (
        "Parquet with nothing",
        parquet(summary=pa.nulls(1)),
        ["a text is empty", "mine.parquet, row 1"],
    ),
    (
        "Parquet with a column twice",
        twice(),
        ["duplicate column", "mine.parquet", "'summary'"],
    ),
    (
        "Parquet without a column",
        {
            **parquet(),
            DATASET: {
                "files": "../../mine.parquet",
                "columns": BASE[DATASET]["columns"] | {"text": "txt"},
            },
        },
        ["no such column or key: `txt`", "mine.parquet, row 1"],
    ),
    (
        "more items than there are",
        {DATASET: {"select": {"n": 99}}},
        ["only 2 items", "mine.yaml, key select.n", "99", "1 to 2"],
    ),
    (
        "a system that wrote nothing",
        {DATASET: {"select": {"drop_systems": ["z"]}}},
        [
            "unknown system",
            "mine.yaml, key select.drop_systems",
            "'z'",
            "allowed: x, y",
        ],
    ),
    (
        "the originals of nobody",
        {DATASET: {"select": {"original": "system", "original_system": "Y2"}}},
        ["unknown system", "mine.yaml, key select.original_system", "'Y2'"],
    ),
    (
        "the family of nobody",
        {DATASET: {"families": {"z": "gpt"}}},
        ["unknown system", "mine.yaml, key families", "'z'"],
    ),
    (
        "the references of nobody",
        {DATASET: {"reference_systems": ["z"]}},
        ["unknown system", "mine.yaml, key reference_systems"],
    ),
    (
        "items that are all too short",
        {DATASET: {"select": {"min_characters": 10_000}}},
        ["only 0 items", "mine.yaml, key select.n", "10000 characters"],
    ),
]
ROWS: list[Case] = [
    (
        "no scores",
        {SCORES: None},
        ["no such file or folder", "scores.jsonl", "recall.yaml, key files.data"],
    ),
    (
        "scores of another hash",
        {RECORDED: {"sha256": "0" * 64}},
        ["recall.yaml, key sha256.data"],
    ),
    (
        "an unknown ending of scores",
        {RECORDED: {"files": "../../scores.txt"}, "scores.txt": "4"},
        ["unsupported file type", "scores.txt"],
    ),
    (
        "a torn line of scores",
        recorded(scored(), '{"id": "a", "by'),
        ["scores.jsonl, line 2", "invalid JSON"],
    ),
    (
        "latin-1 scores",
        {SCORES: b'{"id": "\xe9"}\n'},
        ["scores.jsonl, line 1", "UTF-8"],
    ),
    (
        "two scores of one text",
        recorded(scored(), scored(score=3)),
        [
            "two recorded rows describe the same text",
            "scores.jsonl, row 1 and",
            "scores.jsonl, row 2",
        ],
    ),
    (
        "scores of ids that only look alike",
        recorded(scored("A!"), scored("b.")),
        [
            "no recorded row matches",
            "scores.jsonl, row 1",
            "recalled, aspect clarity",
            "'A!'",
            "item 'a'",
        ],
    ),
    *(
        (
            f"a score in words: {cell}",
            recorded(scored(), scored("b", score=cell)),
            [
                "a recorded score is not a number",
                "scores.jsonl, row 2",
                f"got:     '{cell}'",
            ],
        )
        for cell in ("4,5", "80%", "NaN", "Infinity")
    ),
    (
        "scores in a column of a near name",
        recorded({"id": "a", "by": "x", "scores": 4}),
        ["no such column or key: `score`", "scores.jsonl, row 1", "nearest: scores"],
    ),
    (
        "scores without a system",
        recorded({"id": "a", "score": 4}),
        ["no such column or key: `by`", "scores.jsonl, row 1"],
    ),
    (
        "a score that is an object",
        recorded(scored(score={"n": 4})),
        ["neither a string nor a number", "scores.jsonl, row 1"],
    ),
    (
        "a score that is a truth value",
        recorded(scored(score=True)),
        ["neither a string nor a number", "scores.jsonl, row 1", "True"],
    ),
    (
        "a score in a list in a list",
        recorded(scored(score=[[4]])),
        ["neither a string nor a number", "scores.jsonl, row 1"],
    ),
    (
        "a row that fits two targets",
        recorded(
            {"id": "a", "score": 4}, rows={"item": "id", "scores": {"clarity": "score"}}
        ),
        ["matches two targets", "scores.jsonl, row 1", "a:x and a:y"],
    ),
    (
        "texts in no column of scores",
        recorded(
            {"out": "What x wrote.", "score": 4},
            rows={"text": "text", "scores": {"*": "score"}},
        ),
        ["no such column or key: `text`", "scores.jsonl, row 1", "out"],
    ),
    (
        "scores of another dataset",
        recorded(dataset="demo-news"),
        ["study.yaml, key judges", "recall (recorded for demo-news)", "allowed: mine"],
    ),
]
