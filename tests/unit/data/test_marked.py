"""Errors that people marked in the texts of a table: offsets in a role of their own,
a list in the text's row (as RAGTruth has them), marks in the text (as MQM has them).
"""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from data_samples import card, faults, jsonl
from judgescope.data.marked import unmarked
from judgescope.data.rated import DatasetContent
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset
from study import Study

COLUMNS = {"item": "id", "source": "article", "system": "by", "text": "out"}
TEXT = "The Hawks won on Friday."
Place = tuple[str, int, int, str]


def dataset(spans: dict[str, Any] | None, **keys: Any) -> Dataset:
    """Return a card of a table with marked errors."""
    columns = COLUMNS | ({} if spans is None else {"spans": spans})
    base = {"format": "table", "files": "x.jsonl", "ratings": "none"}
    return card(**{**base, "columns": columns, **keys})


def text(
    item: str = "a", system: str = "m", out: str = TEXT, **k: Any
) -> dict[str, Any]:
    return {"id": item, "article": f"About {item}.", "by": system, "out": out, **k}


def places(rated: DatasetContent) -> list[Place]:
    collected = []
    for span in rated.spans:
        assert rated_text(rated, span.target)[span.start : span.end] == span.text
        collected.append((span.target, span.start, span.end, span.category))
    return collected


def rated_text(rated: DatasetContent, target: str) -> str:
    return next(output.text for output in rated.outputs if output.target == target)


BESIDE = {"data": "x.jsonl", "spans": "s.jsonl"}
KEYS = {"category": "kind", "annotator": "who", "comment": "why", "correction": "fix"}


def error(start: object = 4, end: object = 9, **k: Any) -> dict[str, Any]:
    base = {"id": "a", "by": "m", "start": start, "end": end, "kind": "NAME"}
    return {**base, "who": "Ana", "why": "", "fix": None, **k}


def test_offsets_in_a_role_of_their_own(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [text(), text("b"), text("a", "n", "Nothing wrong.")])
    errors = [
        error(),
        error(who="Bo"),
        error(17, 23, who="Bo", fix="Monday", why="the report says so"),
        error(0, 3, id="b", kind="WORD"),
    ]
    jsonl(tmp_path / "s.jsonl", errors)
    rated = read_dataset(dataset(KEYS, files=BESIDE), tmp_path, tmp_path)
    assert places(rated) == [
        ("a:m", 4, 9, "NAME"),
        ("a:m", 17, 23, "NAME"),
        ("b:m", 0, 3, "WORD"),
    ]
    day = rated.spans[1]
    assert (day.text, day.correction, day.comment) == (
        "Friday",
        "Monday",
        "the report says so",
    )
    assert rated.problems == [
        "errors marked by 2 annotators",
        "1 mark equal to another one of the text, counted once",
    ]


def test_a_list_in_the_row_of_the_text(tmp_path: Path) -> None:
    label = {"start": 4, "end": 9, "text": "Hawks", "label_type": "Evident Conflict"}
    rows = [text(labels=[label]), text("b", labels=[]), text("c", labels=None)]
    jsonl(tmp_path / "x.jsonl", rows)
    spans = {"listed": "labels", "category": "label_type"}
    rated = read_dataset(dataset(spans), tmp_path, tmp_path)
    assert places(rated) == [("a:m", 4, 9, "Evident Conflict")]
    assert len(rated.outputs) == 3 and rated.problems == []


def test_marks_in_the_text_that_is_judged(tmp_path: Path) -> None:
    marked = "The <v>Hawks</v> won on <v>Friday</v>."
    jsonl(tmp_path / "x.jsonl", [text(out=marked), text("b")])
    rated = read_dataset(dataset({"marked": "out"}), tmp_path, tmp_path)
    assert [output.text for output in rated.outputs] == [TEXT, TEXT]
    assert places(rated) == [("a:m", 4, 9, "error"), ("a:m", 17, 23, "error")]


def test_marks_of_several_annotators_in_separate_rows(tmp_path: Path) -> None:
    """A row of MQM has the text again, with one error of one rater."""
    jsonl(tmp_path / "x.jsonl", [text()])
    rows = [
        {"id": "a", "by": "m", "target": "The <v>Hawks</v> won on Friday.", "r": "1"},
        {"id": "a", "by": "m", "target": "The Hawks won on <v>Friday</v>.", "r": "2"},
        {"id": "a", "by": "m", "target": TEXT, "r": "3"},
    ]
    jsonl(tmp_path / "s.jsonl", rows)
    spans = {"marked": "target", "annotator": "r"}
    rated = read_dataset(dataset(spans, files=BESIDE), tmp_path, tmp_path)
    assert places(rated) == [("a:m", 4, 9, "error"), ("a:m", 17, 23, "error")]
    assert rated.problems == ["errors marked by 3 annotators"]


def test_a_source_that_repeats_the_marks_is_left_alone(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [text(out="A [b] c.", article="[x]")])
    spans = {"marked": "out", "marks": ["[", "]"]}
    rated = read_dataset(dataset(spans), tmp_path, tmp_path)
    assert places(rated) == [("a:m", 2, 3, "error")]
    assert rated.items[0].source == "[x]"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"end": 90}, "an error lies outside its text"),
        ({"start": 9}, "an error lies outside its text"),
        ({"start": -1}, "an error lies outside its text"),
        ({"start": "four"}, "`start` is not a position"),
        ({"end": 9.5}, "`end` is not a position"),
        ({"by": "other"}, "an error in an unknown text"),
        ({"id": ""}, "invalid id (item)"),
    ],
)
def test_faulty_offsets_are_named(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    jsonl(tmp_path / "x.jsonl", [text()])
    jsonl(tmp_path / "s.jsonl", [error(17, 23), error() | changed])
    message = faults(dataset(KEYS, files=BESIDE), tmp_path)
    assert words in message and "s.jsonl, row 2" in message


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("many", "must be a list of objects"),
        (["Hawks"], "must be an object"),
        ([{"start": 4}], "end"),
        ([{"start": 4, "end": 400}], "outside its text"),
    ],
)
def test_faulty_lists_are_named(labels: object, words: str, tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [text("b", labels=[]), text(labels=labels)])
    message = faults(dataset({"listed": "labels"}), tmp_path)
    assert words in message and "x.jsonl, row 2" in message


@pytest.mark.parametrize(
    "marked", ["a <v>b", "a b</v>", "<v>a <v>b</v></v>", "</v>a<v>b", "<v>a</v> b</v>"]
)
def test_a_mark_without_its_counterpart(marked: str, tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [text("b"), text(out=marked)])
    message = faults(dataset({"marked": "out"}), tmp_path)
    assert "no counterpart" in message and "x.jsonl, row 2" in message


def test_marks_in_another_text(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [text()])
    row = {"id": "a", "by": "m", "target": "The <v>Bulls</v> won on Friday."}
    jsonl(tmp_path / "s.jsonl", [row])
    spans = {"marked": "target"}
    message = faults(dataset(spans, files=BESIDE), tmp_path)
    assert "differs from the text that is judged" in message and TEXT in message


@pytest.mark.parametrize("count", range(4))
def test_marks_are_taken_out(count: int) -> None:
    made = unmarked("x" + "<<ab>>y" * count, ("<<", ">>"))
    assert made.text == "x" + "aby" * count
    assert [made.text[start:end] for start, end in made.places] == ["ab"] * count


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"ratings": "people"}, "add `ratings: none`"),
        ({"columns": COLUMNS | {"spans": {}}}, "give one"),
        ({"columns": COLUMNS | {"spans": {"listed": "a", "marked": "out"}}}, "map one"),
        ({"columns": COLUMNS | {"spans": {"marked": "other"}}}, "the same column"),
        ({"columns": COLUMNS, "files": BESIDE}, "needs `columns.spans`"),
        (
            {"columns": COLUMNS | {"spans": {"listed": "a"}}, "files": BESIDE},
            "give one",
        ),
        (
            {"columns": COLUMNS | {"spans": {}, "item": None}, "files": BESIDE},
            "joined by `columns.item`",
        ),
        (
            {"columns": COLUMNS | {"spans": {}, "text": None}, "files": BESIDE},
            "map `columns.text`",
        ),
        (
            {"columns": COLUMNS | {"spans": {"marked": "out", "marks": ["*", "*"]}}},
            "two different marks",
        ),
    ],
)
def test_a_card_says_what_marked_errors_need(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as error:
        dataset({}, **keys)
    assert words in str(error.value)


@pytest.mark.slow
def test_a_study_keeps_the_marks_beside_its_texts(tmp_path: Path) -> None:
    label = {"start": 4, "end": 9}
    rows = [text(f"i{number}", labels=[label]) for number in range(4)]
    jsonl(tmp_path / "x.jsonl", rows)
    keys = {"study": "s", "seed": 1, "datasets": ["mine"], "judges": ["rules"]}
    study = Study(tmp_path, keys, methods=["agreement"])
    made = dataset({"listed": "labels"}, files={"data": "../../x.jsonl"})
    card_keys = made.model_dump(mode="json", exclude_defaults=True, exclude={"dataset"})
    study.card("datasets", "mine", **card_keys)
    study.write()
    done = study.snakemake("--", "results/s/spans/mine.parquet")
    assert done.returncode == 0, done.stdout[-3000:]
    table = pq.read_table(tmp_path / "results/s/spans/mine.parquet").to_pylist()
    assert [(row["start"], row["end"], row["text"]) for row in table] == [
        (4, 9, "Hawks")
    ] * 4
