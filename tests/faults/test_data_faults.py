import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from data_samples import card, dialogue, faults, jsonl, summeval_row, table
from judgescope.core.errors import UserError
from judgescope.data import rows
from judgescope.data.select import read_dataset

COLUMNS = {
    "item": "id",
    "source": "src",
    "references": "ref",
    "system": "by",
    "text": "out",
}
ROW = {"id": "i1", "src": "A source.", "ref": "r", "by": "m1", "out": "t", "fluency": 3}


def refusal_of(folder: Path, *rows: dict[str, Any], **keys: Any) -> str:
    """Return what is said of rows that differ from a good one as given."""
    numbered = [
        ROW | {"by": f"m{number}"} | row for number, row in enumerate(rows, start=1)
    ]
    jsonl(folder / "x.jsonl", numbered)
    return faults(table("x.jsonl", COLUMNS, **keys), folder)


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        ({"fluency": 7}, ["outside the scale", "got:     7", "1 to 5 in steps of 1"]),
        ({"fluency": 2.5}, ["outside the scale", "got:     2.5", "aspect fluency"]),
        ({"fluency": float("inf")}, ["outside the scale", "inf"]),
        ({"fluency": "good"}, ["a rating is not a number", "'good'", "aspect fluency"]),
        ({"fluency": "4,5"}, ["a rating is not a number", "'4,5'"]),
        ({"fluency": True}, ["a rating is not a number", "True"]),
        ({"fluency": {"x": 1}}, ["a rating is not a number"]),
        ({"out": "  \n"}, ["a text is empty"]),
        ({"out": None}, ["a text is empty"]),
        ({"out": 3}, ["a text is not a string", "got:     3"]),
        ({"out": "a\ud800b"}, ["lone surrogate"]),
        ({"id": "i2", "src": ""}, ["a source is empty"]),
        (
            {"src": "Another."},
            ["rows of the same item differ in their source", "'i1'", "rows 1, 2"],
        ),
        (
            {"ref": "Another."},
            ["rows of the same item differ in their references", "rows 1, 2"],
        ),
        ({"id": "i2", "ref": None}, ["this item has no reference", "'i2'"]),
        ({"id": ""}, ["invalid id (item)"]),
        ({"by": None}, ["invalid id (system)"]),
        ({"by": "m1"}, ["two texts of the same system", "i1, m1", "rows 1, 2"]),
    ],
)
def test_every_fault_is_named_with_its_row(
    tmp_path: Path, fault: dict[str, Any], parts: list[str]
) -> None:
    text = refusal_of(tmp_path, {}, fault)
    values = [f"{tmp_path / 'x.jsonl'}, row"]
    assert all(part in text for part in [*parts, *values, "2"]), text
    assert "\n\n" not in text  # one fault, one message


def test_a_slice_that_differs_within_a_source_is_refused(tmp_path: Path) -> None:
    """A slice of a study is a property of the source."""
    rows = [ROW | {"by": f"m{at}", "part": part} for at, part in enumerate("ab")]
    jsonl(tmp_path / "x.jsonl", rows)
    text = faults(table("x.jsonl", {**COLUMNS, "meta": ["part"]}), tmp_path)
    for part in ("rows of the same item differ in their meta", "'i1'", "rows 1, 2"):
        assert part in text
    assert "leave out a column whose values differ within a source" in " ".join(
        text.split()
    )


def test_all_faults_are_detected_in_a_single_pass(tmp_path: Path) -> None:
    text = refusal_of(
        tmp_path, {"fluency": 9}, {"out": ""}, {"fluency": "x"}, {"by": "m1"}, {}
    )
    assert len(text.split("\n\n")) == 4
    for row in ("row 1,", "row 2\n", "row 3,", "rows 1, 4\n"):
        assert row in text


def test_equal_faults_are_reported_once_with_their_rows(tmp_path: Path) -> None:
    text = refusal_of(tmp_path, *[{"fluency": 9}] * 7)
    assert text.count("outside the scale") == 1
    assert "rows 1, 2, 3, 4, 5, … (7 in all), aspect fluency" in text


def test_many_faults_of_a_kind_are_joined_and_many_kinds_are_cut(
    tmp_path: Path,
) -> None:
    text = refusal_of(tmp_path, *({"fluency": 10 + number} for number in range(30)))
    assert text.count("outside the scale") == 1 and "more problems" not in text
    assert (
        "rows 1, 2, 3, 4, 5, … (30 in all), aspect fluency" in text
        and "got:     10" in text
    )
    text = refusal_of(
        tmp_path, *({"out": [number]} for number in range(30)), {"fluency": 9}
    )
    assert (
        text.count("a text is not a string") == 1
        and text.count("outside the scale") == 1
    )
    text = refusal_of(tmp_path, *({"fluency": 10 + number} for number in range(20)))
    assert text.count("outside the scale") == 20


def test_a_mean_must_lie_in_the_range(tmp_path: Path) -> None:
    text = refusal_of(tmp_path, {"fluency": 5.5}, raters="mean")
    assert "outside the scale" in text and "allowed: 1 to 5\n" in f"{text}\n"


def test_every_column_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [ROW, ROW | {"by": "m2"}])
    columns = COLUMNS | {
        "source": "scr",
        "text": "outt",
        "ratings": {"fluency": "fluent"},
    }
    text = faults(table("x.jsonl", columns), tmp_path)
    assert text.count("no such column or key:") == 3
    assert all(f"nearest: {name}" in text for name in ("src", "out", "fluency"))
    assert text.count("rows 1, 2") >= 1


def test_texts_of_unknown_items_are_named(tmp_path: Path) -> None:
    jsonl(tmp_path / "items.jsonl", [{"id": "item-1", "src": "A", "ref": "r"}])
    jsonl(tmp_path / "x.jsonl", [{"id": "itm-1", "by": "m", "out": "t", "fluency": 1}])
    text = faults(table({"items": "items.jsonl", "data": "x.jsonl"}, COLUMNS), tmp_path)
    assert "unknown item" in text and "nearest: item-1" in text and "row 1" in text


def test_duplicates_over_two_files_name_both(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        jsonl(tmp_path / name, [ROW])
    text = faults(table("{part}.jsonl", COLUMNS), tmp_path)
    assert f"{tmp_path / 'a.jsonl'}, row 1; {tmp_path / 'b.jsonl'}, row 1" in text


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,src,ref,by,out,fluency\n")
    with pytest.raises(UserError, match="the data has no rows"):
        read_dataset(table("x.csv", COLUMNS), tmp_path, tmp_path)


def test_summeval_faults(tmp_path: Path) -> None:
    rows = [
        summeval_row("a", "M1"),
        summeval_row("a", "M1"),
        summeval_row("a", "M2", text="Another article."),
        summeval_row("b", "M1", references=[]),
        summeval_row("c", "M1", expert_annotations=[{"fluency": 6}]),
        summeval_row("d", "M1", expert_annotations=[{"fluentcy": 5}]),
    ]
    jsonl(tmp_path / "x.jsonl", rows)
    text = faults(card(format="summeval_jsonl", files="x.jsonl"), tmp_path)
    for part in (
        "two texts of the same system",
        "differ in their source",
        "this item has no reference",
        "outside the scale",
        "`expert_annotations[*].fluency`",
        "nearest: fluentcy",
    ):
        assert text.count(part) == 1, part


def test_usr_faults(tmp_path: Path) -> None:
    three = {"min": 1, "max": 3, "step": 1}
    entries: list[Any] = [
        dialogue("m", "m"),
        dialogue("m", context=" ", fact=""),
        dialogue("m", responses=[{"response": "r", "model": "m", "Natural": [3, 4]}]),
        dialogue("m", responses=["not an object"]),
    ]
    (tmp_path / "x.json").write_text(json.dumps(entries))
    aspects = {"natural": three | {"column": "Natural"}, "liked": three}
    text = faults(card(format="usr_json", files="x.json", aspects=aspects), tmp_path)
    for part in (
        "two texts of the same system",
        "a source is empty",
        "outside the scale",
        "`liked[*]`",
        "`response`",
    ):
        assert part in text, part


def test_unieval_faults(tmp_path: Path) -> None:
    rows = [
        {
            "source": "s",
            "system_id": "a",
            "system_output": "",
            "scores": {"fluency": 1},
        },
        {
            "source": "s",
            "system_id": "b",
            "system_output": "t",
            "scores": {"fluence": 1},
        },
        {
            "source": "s",
            "system_id": "c",
            "system_output": "t",
            "scores": {"fluency": 5.1},
        },
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    text = faults(card(format="unieval_json", files="x.json"), tmp_path)
    assert "a text is empty" in text and "row 1" in text
    assert "`scores.fluency`" in text and "nearest: fluence" in text and "row 2" in text
    assert "outside the scale" in text and "row 3" in text


LONG = "x" * 900_000
MANY = 640


def unfolding(kind: str) -> tuple[pa.Array, dict[str, Any]]:
    """Return a column of kilobytes on disk and half a gigabyte unfolded, and how it is
    written.
    """
    repeated = pa.DictionaryArray.from_arrays(
        pa.array([0] * MANY, pa.int32()), pa.array([LONG])
    )
    if kind == "beginnings":  # each text is the one before, and nothing more
        encoding = {
            "column_encoding": {"text": "DELTA_BYTE_ARRAY"},
            "use_dictionary": False,
        }
        return pa.array([LONG] * MANY), encoding
    if kind == "nothing":
        return pa.nulls(35_000_000, pa.bool_()), {}
    if kind == "list":
        return pa.ListArray.from_arrays(pa.array([0, MANY], pa.int32()), repeated), {}
    return repeated, {}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("dictionary", "its first rows alone have 5"),
        ("beginnings", "its first rows alone have 5"),
        ("nothing", "it declares 5"),
        ("list", ""),
    ],
)
def test_a_table_that_unfolds_into_gigabytes_is_refused_before_its_first_row(
    kind: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_UNFOLDED", 1 << 29)
    column, written = unfolding(kind)
    path, table = tmp_path / "x.parquet", pa.table({"text": column})
    pq.write_table(table, path, compression="zstd", store_schema=False, **written)
    del column, table
    assert path.stat().st_size < 1 << 20
    with pytest.raises(UserError, match="decompresses to too much") as error:
        next(rows.read_rows(path))
    assert reason in error.value.what
    assert error.value.where == str(path) and error.value.todo


WORDS = ["nan", "NaN", "None", "#NAME?", "null", "['a', 'b']", '["a", "b"]', "[]"]
WORDS += ["['a', nan]", "[None, 'a']", "[nan]", "[ None ]"]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("column", ["text", "source", "gold"])
def test_what_a_program_wrote_for_lack_of_a_text_is_reported_with_its_rows(
    tmp_path: Path, words: str, column: str
) -> None:
    good = {"id": "a", "source": "One.", "gold": "Two.", "text": "Three.", "fluency": 3}
    rows = [good, good | {"id": "b", column: words}, good | {"id": "c"}]
    columns = {"item": "id", "source": "source", "references": "gold", "text": "text"}
    card = table(str(jsonl(tmp_path / "x.jsonl", rows)), columns)
    if column == "gold" and words == "[]":
        assert "no reference" in faults(card, tmp_path)
        return
    problems = read_dataset(card, tmp_path, tmp_path).problems
    if column == "gold" and words == '["a", "b"]':  # references of which there are two
        assert problems == []
        return
    kind = "reference" if column == "gold" else column
    [line] = problems
    assert line.startswith(f"1 {kind}") and "x.jsonl, row 2" in line


def test_a_text_that_shows_nothing_is_empty(tmp_path: Path) -> None:
    row = {"id": "a", "source": "One.", "text": "\u200b\ufeff \u2060", "fluency": 3}
    columns = {"item": "id", "source": "source", "text": "text"}
    message = faults(table(str(jsonl(tmp_path / "x.jsonl", [row])), columns), tmp_path)
    assert "a text has no visible character" in message and "row 1" in message


@pytest.mark.parametrize(
    "words",
    [
        "Nancy",
        "None of them.",
        "[1] a footnote",
        "It is #1!",
        "[None of it]",
        "[nan is a bread]",
    ],
)
def test_words_are_words(tmp_path: Path, words: str) -> None:
    row = {"id": "a", "source": "One.", "text": words, "fluency": 3}
    columns = {"item": "id", "source": "source", "text": "text"}
    card = table(str(jsonl(tmp_path / "x.jsonl", [row])), columns)
    assert read_dataset(card, tmp_path, tmp_path).problems == []
