"""Data that cannot be used: what is planted, and what the one error has to say."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bad_study import BASE, FOLDER, Case

CSV, SCORES = "mine.csv", "scores.jsonl"
DATASET, RECORDED = "config/datasets/mine.yaml", "config/models/recall.yaml"
HEADER, FIRST, SECOND, THIRD, _ = BASE[CSV].split("\n")
GOOD = {
    **{
        "id": "a",
        "article": "An article.",
        "gold": "Its gold.",
        "by": "x",
        "summary": "A text.",
    },
    **{"ann": 4, "bob": 5},
}


def file(name: str, content: object) -> dict[str, Any]:
    """Plant the data under another name."""
    return {DATASET: {"files": f"../../{name}"}, name: content}


def csv(*lines: str, end: str = "\n") -> dict[str, str]:
    """Plant a table with this header and these rows."""
    return {CSV: end.join([*lines, ""])}


def row(cells: str) -> dict[str, str]:
    """Plant a table whose third row, row 4 of a spreadsheet, is another."""
    return csv(HEADER, FIRST, SECOND, cells)


def jsonl(**cells: object) -> dict[str, Any]:
    """Plant a good row of JSON and one with these cells."""
    rows = [GOOD, GOOD | {"id": "b"} | cells]
    return file("mine.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def parquet(**columns: object) -> dict[str, Any]:
    """Plant a Parquet file of one row, with these columns of a row."""
    to = io.BytesIO()
    by_name = {
        name: each if isinstance(each, pa.Array) else [each]
        for name, each in GOOD.items()
    }
    pq.write_table(pa.table({**by_name, **columns}), to)
    return file("mine.parquet", to.getvalue())


def twice() -> dict[str, Any]:
    """Plant a Parquet file that has a column twice."""
    to = io.BytesIO()
    table = pa.table([[cell] for cell in (*GOOD.values(), "T.")], [*GOOD, "summary"])
    pq.write_table(table, to)
    return file("mine.parquet", to.getvalue())


FILES: list[Case] = [
    (
        "no file",
        {CSV: None},
        ["no such file or folder", "mine.csv", "mine.yaml, key files.data"],
    ),
    (
        "a file of a near name",
        file("mein.csv", None),
        ["no such file or folder", "'mein.csv'", "nearest: mine.csv"],
    ),
    (
        "no folder",
        {DATASET: {"files": "../../dta/mine.csv"}},
        ["no such file or folder", "'dta'", "key files.data"],
    ),
    (
        "a folder for a file",
        {CSV: FOLDER},
        ["mine.csv", "mine.yaml, key files.data", "this is a folder"],
    ),
    (
        "a pattern without a file",
        {DATASET: {"files": "../../mine-{part}.csv"}},
        ["matches this pattern", "mine-{part}.csv", "key files.data"],
    ),
    (
        "a role of another format",
        {DATASET: {"files": {"texts": "../../mine.csv"}}},
        ["mine.yaml", "role `data`"],
    ),
    (
        "an absolute path to nothing",
        {DATASET: {"files": "/nowhere/mine.csv"}},
        ["no such file or folder", "/nowhere", "key files.data"],
    ),
    (
        "a NUL in a text",
        {CSV: BASE[CSV].replace("long", "lo\0ng")},
        ["mine.csv, line 2, byte offset", "UTF-8", "x00"],
    ),
    (
        "a NUL in a path",
        {DATASET: {"files": "mine\0.csv"}},
        ["mine.yaml", "files.data"],
    ),
    (
        "a path of 5000 letters",
        {DATASET: {"files": "x" * 5000}},
        ["mine.yaml", "files.data"],
    ),
    ("an empty path", {DATASET: {"files": ""}}, ["mine.yaml", "files.data"]),
    (
        "another hash",
        {DATASET: {"sha256": "0" * 64}},
        [
            "checksum differs from the card's",
            "mine.yaml, key sha256.data",
            "allowed: " + "0" * 64,
        ],
    ),
    (
        "half a hash",
        {DATASET: {"sha256": "0" * 32}},
        ["mine.yaml", "key sha256.data", "the wrong format"],
    ),
    (
        "a hash in capitals",
        {DATASET: {"sha256": "A" * 64}},
        ["mine.yaml", "key sha256.data", "the wrong format"],
    ),
    (
        "a hash of another role",
        {DATASET: {"sha256": {"date": "0" * 64}}},
        ["mine.yaml", "`sha256` names date"],
    ),
    (
        "an unknown ending",
        file("mine.ods", b"PK\3\4"),
        ["unsupported file type", "mine.ods", "allowed: .csv"],
    ),
    (
        "a torn spreadsheet",
        file("mine.xlsx", b"PK\3\4"),
        ["not an .xlsx file", "mine.xlsx", "save it as"],
    ),
    ("no ending", file("mine", HEADER), ["unsupported file type", "mine"]),
    ("an empty file", {CSV: ""}, ["mine.csv", "no rows"]),
    ("a header alone", csv(HEADER), ["mine.csv", "no rows"]),
    ("an empty JSONL", file("mine.jsonl", "\n\n"), ["mine.jsonl", "no rows"]),
    ("an empty JSON", file("mine.json", ""), ["mine.json, line 1", "invalid JSON"]),
    ("a JSON of no rows", file("mine.json", "[]"), ["mine.json", "no rows"]),
    (
        "an empty Parquet",
        file("mine.parquet", b""),
        ["mine.parquet", "not a Parquet file"],
    ),
    (
        "a torn Parquet",
        {**(torn := parquet()), "mine.parquet": torn["mine.parquet"][:-9]},
        ["mine.parquet", "not a Parquet file"],
    ),
    (
        "text for a Parquet",
        file("mine.parquet", BASE[CSV]),
        ["mine.parquet", "not a Parquet file"],
    ),
    (
        "JSON for a CSV",
        {CSV: '{"id": "a"}\n{"id": "b"}\n'},
        ["none of the card's columns", "mine.csv, row 2"],
    ),
    (
        "a CSV for JSONL",
        file("mine.jsonl", BASE[CSV]),
        ["mine.jsonl, line 1", "invalid JSON"],
    ),
    (
        "a torn line of JSONL",
        file("mine.jsonl", json.dumps(GOOD) + '\n{"id": "b", "art'),
        ["mine.jsonl, line 2", "invalid JSON"],
    ),
    (
        "JSONL under the name of JSON",
        file("mine.json", (json.dumps(GOOD) + "\n") * 2),
        ["mine.json, line 2", "invalid JSON"],
    ),
    (
        "JSON under the name of JSONL",
        file("mine.jsonl", json.dumps([GOOD], indent=1)),
        ["mine.jsonl, line 1", "not a list", "a name that ends in .json"],
    ),
    (
        "an object for rows",
        file("mine.json", json.dumps({"rows": [GOOD]})),
        ["mine.json", "list of objects", "'dict'"],
    ),
    (
        "a number for a row",
        file("mine.jsonl", "7\n"),
        ["mine.jsonl, row 1", "JSON object", "7"],
    ),
    (
        "a nest of lists",
        file("mine.jsonl", "[" * 100_000 + "\n"),
        ["mine.jsonl, line 1"],
    ),
    (
        "a key twice in a row",
        file("mine.jsonl", '{"id": "a", ' + json.dumps(GOOD)[1:] + "\n"),
        ["mine.jsonl, line 1", "'id'", "duplicate key"],
    ),
    (
        "a number of 5000 digits",
        file("mine.jsonl", json.dumps(GOOD)[:-1] + ', "n": ' + "9" * 5000 + "}\n"),
        ["mine.jsonl, line 1"],
    ),
    (
        "semicolons",
        {CSV: BASE[CSV].replace(",", ";")},
        ["mine.csv, row 1", "separated by semicolons"],
    ),
    (
        "tabs",
        {CSV: BASE[CSV].replace(",", "\t")},
        ["mine.csv, row 1", "separated by tabs"],
    ),
    ("bars", {CSV: BASE[CSV].replace(",", "|")}, ["mine.csv, row 1", "separated by"]),
    (
        "commas under the name of tabs",
        file("mine.tsv", BASE[CSV]),
        ["mine.tsv, row 1", "separated by commas"],
    ),
    (
        "data in latin-1",
        {CSV: BASE[CSV].replace("long", "größere").encode("latin-1")},
        ["mine.csv, line 2, byte offset", "UTF-8", "iconv"],
    ),
    (
        "data in UTF-16",
        {CSV: BASE[CSV].encode("utf-16")},
        ["mine.csv, line 1, byte offset 0", "UTF-8"],
    ),
    (
        "UTF-16 without a mark",
        {CSV: BASE[CSV].encode("utf-16-le")},
        ["mine.csv, line 1, byte offset 1", "UTF-8"],
    ),
    (
        "a picture",
        {CSV: b"\x89PNG\r\n\x1a\n" + bytes(range(256))},
        ["mine.csv, line 1, byte offset 0", "UTF-8"],
    ),
    (
        "a row that is too short",
        row("b,Another article.,Gold"),
        ["mine.csv, row 4", "numbers of cells", "got:     3", "allowed: 7"],
    ),
    (
        "a row that is too long",
        row(THIRD + ",1"),
        ["mine.csv, row 4", "numbers of cells", "got:     8"],
    ),
    (
        "a quote that stays open",
        row('b,"Another article.,Gold,x,More of x.,1,1'),
        ["mine.csv, row 4 (begins in line 4)", "quotation mark"],
    ),
    (
        "a column twice",
        csv(HEADER.replace("bob", "ann"), FIRST),
        ["duplicate column", "mine.csv, row 1", "'ann'"],
    ),
    (
        "a column of a near name",
        csv(HEADER.replace("summary", "sumary"), FIRST),
        ["no such column or key: `summary`", "mine.csv, row 2", "nearest: sumary"],
    ),
    (
        "a column in capitals",
        csv(HEADER.replace("ann", "Ann"), FIRST),
        ["no such column or key: `ann`", "mine.csv, row 2"],
    ),
    (
        "a column with a blank",
        csv(HEADER.replace(",by", ", by"), FIRST),
        ["no such column or key: `by`", "mine.csv, row 2", "nearest:  by"],
    ),
    (
        "no header",
        csv(FIRST, SECOND),
        ["none of the card's columns", "mine.csv, row 2"],
    ),
]
