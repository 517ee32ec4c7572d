import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_samples import card, jsonl
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.files import RoleFiles, resolve, sha256_of, verify
from judgescope.data.rows import pick, read_rows


def message(error: pytest.ExceptionInfo[Any]) -> str:
    return str(error.value)


def rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    return list(read_rows(path))


# --- where files are ---


def test_a_path_is_relative_to_the_card_or_the_data_folder_or_absolute(
    tmp_path: Path,
) -> None:
    folder, data = tmp_path / "cards", tmp_path / "data"
    for location in (folder, data, tmp_path):
        location.mkdir(exist_ok=True)
        (location / "x.csv").touch()
    files = {
        "a": "x.csv",
        "b": "{data}/x.csv",
        "c": str(tmp_path / "x.csv"),
        "d": "../x.csv",
    }
    by_role = {role: resolve(files, role, folder, data) for role in files}
    assert by_role["a"] == [(folder / "x.csv", {})]
    assert by_role["b"] == [(data / "x.csv", {})]
    assert by_role["c"] == [(tmp_path / "x.csv", {})]
    assert by_role["d"][0][0].samefile(tmp_path / "x.csv")


def test_a_path_has_no_way_back_unless_a_link_makes_it_another_file(
    tmp_path: Path,
) -> None:
    cards, away = tmp_path / "config", tmp_path / "away" / "cards"
    for folder in (cards, away):
        folder.mkdir(parents=True)
        jsonl(folder.parent / "rows.jsonl", [{"from": folder.name}])
    (tmp_path / "linked").symlink_to(away)
    files = {"data": "../rows.jsonl", "any": "../{name}.jsonl"}
    for role in files:
        assert resolve(files, role, cards, tmp_path)[0][0] == tmp_path / "rows.jsonl"
        [(path, _)] = resolve(files, role, tmp_path / "linked", tmp_path)
        assert path.resolve() == tmp_path / "away" / "rows.jsonl"


def test_a_pattern_gives_its_files_sorted_with_their_fields(tmp_path: Path) -> None:
    for name in (
        "m2_fluency_rts.jsonl",
        "m1_fluency_rts.jsonl",
        "a_b_c_rts.jsonl",
        "m1.jsonl",
    ):
        (tmp_path / name).touch()
    result = resolve(
        {"data": "{data}/{system}_{aspect}_rts.jsonl"}, "data", Path("x"), tmp_path
    )
    assert [(path.name, fields) for path, fields in result] == [
        ("a_b_c_rts.jsonl", {"system": "a_b", "aspect": "c"}),
        ("m1_fluency_rts.jsonl", {"system": "m1", "aspect": "fluency"}),
        ("m2_fluency_rts.jsonl", {"system": "m2", "aspect": "fluency"}),
    ]


def test_a_pattern_reaches_into_folders_and_a_field_twice_means_the_same(
    tmp_path: Path,
) -> None:
    for name in ("m1/m1.[x].csv", "m1/m2.[x].csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    result = resolve({"data": "{system}/{system}.[x].csv"}, "data", tmp_path, tmp_path)
    assert [(path.name, fields) for path, fields in result] == [
        ("m1.[x].csv", {"system": "m1"})
    ]


def test_braces_in_a_folder_of_the_machine_are_no_fields(tmp_path: Path) -> None:
    folder = tmp_path / "{odd}"
    folder.mkdir()
    (folder / "x.csv").touch()
    assert resolve({"data": "x.csv"}, "data", folder, tmp_path) == [
        (folder / "x.csv", {})
    ]


def test_a_missing_file_is_named_with_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "outputs.jsonl").touch()
    with pytest.raises(UserError) as error:
        resolve({"data": "output.jsonl"}, "data", tmp_path, tmp_path, where="x.yaml")
    text = message(error)
    assert f"no such file or folder: {tmp_path / 'output.jsonl'}" in text
    assert "x.yaml, key files.data" in text
    assert "nearest: outputs.jsonl" in text


def test_a_missing_folder_is_named_rather_than_the_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "summeval").mkdir()
    with pytest.raises(UserError) as error:
        resolve({"data": "{data}/sumeval/a/b.json"}, "data", Path("."), tmp_path)
    text = message(error)
    assert f"no such file or folder: {tmp_path / 'sumeval'}" in text
    assert "nearest: summeval" in text and f"check that {tmp_path}" in text


def test_a_pattern_without_a_file_and_an_unknown_role_are_errors(
    tmp_path: Path,
) -> None:
    (tmp_path / "m1_x.csv").touch()
    with pytest.raises(UserError, match="matches this pattern") as error:
        resolve({"data": "{system}_y.csv"}, "data", tmp_path, tmp_path)
    assert "m1_x.csv" in message(error)
    with pytest.raises(UserError, match="unknown role") as error:
        resolve({"items": "x"}, "item", tmp_path, tmp_path)
    assert "nearest: items" in message(error)


# --- their hashes ---


def test_a_single_file_has_a_separate_hash_and_several_the_hash_of_their_list(
    tmp_path: Path,
) -> None:
    digests = {}
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name)
        digests[name] = hashlib.sha256(name.encode()).hexdigest()
    assert sha256_of([(tmp_path / "a.csv", {})]) == digests["a.csv"]
    lines = "".join(f"{name} {digest}\n" for name, digest in digests.items())
    values: RoleFiles = [(tmp_path / "b.csv", {}), (tmp_path / "a.csv", {})]
    assert sha256_of(values) == hashlib.sha256(lines.encode()).hexdigest()


def test_verify_returns_hashes_and_names_every_wrong_one(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    right = hashlib.sha256(b"[]").hexdigest()
    files = {"pc": "x.json", "tc": "x.json"}
    good = card(format="usr_json", files=files, sha256={"pc": right})
    assert verify(good, tmp_path, tmp_path) == {"pc": right, "tc": right}
    bad = card(format="usr_json", files=files, sha256={"pc": "0" * 64, "tc": "1" * 64})
    with pytest.raises(UserErrors) as error:
        verify(bad, tmp_path, tmp_path, where="mine.yaml")
    text = message(error)
    assert "mine.yaml, key sha256.pc" in text and "mine.yaml, key sha256.tc" in text
    assert right in text and "0" * 64 in text


# --- rows ---

CONTENT = [{"a": "x", "b": "1"}, {"a": "y\nz", "b": "2"}]


def test_every_kind_of_file_gives_the_same_rows(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", CONTENT)
    (tmp_path / "x.json").write_text(json.dumps(CONTENT))
    (tmp_path / "x.csv").write_text('a,b\nx,1\n"y\nz",2\n')
    (tmp_path / "x.tsv").write_text('a\tb\nx\t1\n"y\nz"\t2\n')
    pq.write_table(pa.Table.from_pylist(CONTENT), tmp_path / "x.parquet")
    for name in ("x.jsonl", "x.json", "x.parquet"):
        assert rows(tmp_path / name) == [(1, CONTENT[0]), (2, CONTENT[1])]
    for name in ("x.csv", "x.tsv"):  # as a spreadsheet counts them
        assert rows(tmp_path / name) == [(2, CONTENT[0]), (3, CONTENT[1])]


OPEN = {4: '"I am an unclosed quotation'}


@pytest.mark.parametrize(
    ("name", "last_cells", "row"),
    [
        ("x.csv", OPEN, "row 5 (begins in line 5)"),
        ("x.csv", OPEN | {7: '"I am another'}, "row 5 (begins in line 5)"),
        ("x.csv", {4: '"a word" is quoted'}, "row 5 (begins in line 5)"),
        ("x.csv", {0: '"b'}, "row 1 (begins in line 1)"),
        ("x.tsv", OPEN, "row 5 (begins in line 5)"),
        ("x.tsv", OPEN | {5: 'the end"'}, "row 5 (ends in line 6)"),
        ("x.tsv", OPEN | {8: 'the end"'}, "row 5 (ends in line 9)"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_quotation_mark_that_is_not_closed_swallows_no_rows(
    name: str, last_cells: dict[int, str], row: str, ending: str, tmp_path: Path
) -> None:
    sign = "," if name == "x.csv" else "\t"
    lines = [
        f"{number}{sign}{last_cells.get(number, 'b')}{ending}" for number in range(10)
    ]
    (tmp_path / name).write_text("".join(lines), newline="")
    with pytest.raises(UserError, match="does not end with one") as error:
        rows(tmp_path / name)
    assert f"{name}, {row}" in message(error) and "twice" in message(error)


def test_a_quoted_cell_may_have_line_breaks_tabs_and_quotation_marks(
    tmp_path: Path,
) -> None:
    table = 'name\tgoals\tclub\n"""Ann"" Lee"\t2\tOslo'
    quoted = table.replace('"', '""')
    (tmp_path / "x.tsv").write_text(f'a\tb\n"{quoted}"\t1\n')
    assert rows(tmp_path / "x.tsv") == [(2, {"a": table, "b": "1"})]


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("store_schema", [True, False])
def test_a_parquet_file_gives_what_was_written(
    dictionary: bool, store_schema: bool, tmp_path: Path
) -> None:
    """Texts with a dictionary, with more than one holds, and within lists; in groups of
    rows.
    """
    words = ["a", None, "b"] * 300
    columns = {
        "text": pa.array(words),
        "category": pa.array(words).dictionary_encode(),
        "large": pa.array(words, pa.large_string()),
        "long": pa.array(
            [f"{number % 2 or number} " * 2000 for number in range(len(words))]
        ),
        "number": pa.array([1.5, None, 2] * 300),
        "list": pa.array([[word, "c"] for word in words]),
        "object": pa.array([{"a": word, "b": [{"c": word}]} for word in words]),
        "map": pa.array(
            [[("key", word)] for word in words], pa.map_(pa.string(), pa.string())
        ),
        "bytes": pa.array([b"abcd"] * len(words), pa.binary(4)),
    }
    table, path = pa.table(columns), tmp_path / "x.parquet"
    options = {"use_dictionary": dictionary, "store_schema": store_schema}
    pq.write_table(table, path, row_group_size=500, **options)
    assert list(read_rows(path)) == list(enumerate(table.to_pylist(), start=1))


def test_blank_lines_byte_order_marks_and_long_or_odd_cells_are_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": "u\xe2\x80\xa8v"}\r\n\r\n{"a": 2}\r\n')
    assert rows(path) == [(1, {"a": "u\u2028v"}), (3, {"a": 2})]
    long = "x" * 200_000
    path = tmp_path / "x.csv"
    path.write_text(f"\ufeffa,b\nu\u2028v,{long}\n", encoding="utf-8")
    assert rows(path) == [(2, {"a": "u\u2028v", "b": long})]


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_another_encoding_is_named_with_line_and_byte(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"x.{ending}"
    path.write_bytes("first\nséc".encode("latin-1"))
    with pytest.raises(UserError) as error:
        rows(path)
    text = message(error)
    assert (
        f"{path}, line 2, byte offset 7" in text
        and r"b'\xe9'" in text
        and "UTF-8" in text
    )


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n\n{"a": }\n')
    with pytest.raises(UserError, match="invalid JSON") as error:
        rows(path)
    assert f"{path}, line 3, column 7" in message(error)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("x.json", '{"a": 1}', ["list of objects", "'dict'"]),
        ("x.json", "[1]", ["a row must be a JSON object", "row 1"]),
        ("x.json", '[{"a": 1},\n {"a"}]', ["invalid JSON", "line 2, column 6"]),
        (
            "x.csv",
            "a,b\n1,2\n1\n",
            ["numbers of cells", "row 3", "allowed: 2", "do:      quote"],
        ),
        ("x.csv", "a,a\n1,2\n", ["duplicate column", "row 1", "'a'", "do:      give"]),
        (
            "x.jsonl",
            '[{"a": 1}]',
            ["line 1", "not a list", "a name that ends in .json"],
        ),
        (
            "x.jsonl",
            '[\n{"a": 1}\n]',
            ["line 1", "not a list", "a name that ends in .json"],
        ),
        ("x.parquet", "PAR", ["not a Parquet file"]),
        ("x.ods", "", ["unsupported file type", "'.ods'", "save it as .xlsx or CSV"]),
        ("x.xlsx", "", ["not an .xlsx file", "save it as"]),
        ("x.txt", "", ["unsupported file type", "'.txt'", ".csv"]),
    ],
)
def test_what_is_not_rows_is_stated(
    tmp_path: Path, name: str, content: str, parts: list[str]
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError) as error:
        rows(tmp_path / name)
    assert all(part in message(error) for part in [*parts, name])


# --- values ---

ROW = {
    "plain": 1,
    "a.b": 2,
    "F1 [mean]": 3,
    "scores": {"coherence": 4},
    "raters": [{"fluency": 5}, {"fluency": 6}],
    "texts": ["x", "y"],
    "nothing": None,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("plain", 1),
        ("a.b", 2),
        ("F1 [mean]", 3),
        ("scores.coherence", 4),
        ("raters[1].fluency", 6),
        ("raters[*].fluency", [5, 6]),
        ("texts[*]", ["x", "y"]),
        ("nothing.at.all", None),
        ("nothing[*]", []),
    ],
)
def test_pick_finds_columns_and_paths(path: str, expected: object) -> None:
    assert pick(ROW, path, "x.json, row 1") == expected


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("plan", ["`plan`", "nearest: plain", "x.json, row 1"]),
        ("scores.coherance", ["`scores.coherance`", "nearest: coherence"]),
        ("raters[2].fluency", ["`raters[2].fluency`", "2 entries", "got:     2"]),
        ("plain[*]", ["`plain[*]` needs a list", "got:     1"]),
        ("plain.x", ["`plain.x`", "the value is not an object"]),
        ("not a [path", ["`not a [path`"]),
    ],
)
def test_pick_says_what_is_missing(path: str, parts: list[str]) -> None:
    with pytest.raises(UserError) as error:
        pick(ROW, path, "x.json, row 1")
    assert all(part in message(error) for part in parts)
