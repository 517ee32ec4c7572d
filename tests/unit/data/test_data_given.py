"""The format dualeval_json: texts of known rating, and chains of texts, provided by a
dataset.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from data_samples import DATASETS, FIVE, card, faults
from judgescope.core.errors import UserError, UserErrors
from judgescope.data.dualeval import given
from judgescope.data.files import resolve
from judgescope.data.select import read_dataset
from judgescope.schema.loading import read_card

ASPECTS: dict[str, Any] = {
    "fluency": FIVE,
    "clear": {"min": 0, "max": 1, "step": 1, "column": "C"},
}
BOTH = {"global": "g.json", "local": "l.json"}


def benchmark(**keys: Any) -> Any:
    fields = {"files": BOTH, "aspects": ASPECTS, "select": {"original": "none"}}
    return card(**{"format": "dualeval_json", "ratings": "none", **fields, **keys})


def rated(
    source: str = "One.", target: str = "A text.", rating: Any = 1
) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "rating": rating,
        "more": "is not looked at",
    }


GLOBAL: dict[str, Any] = {
    "fluency": [
        rated(),
        rated("Two.\n", "Another.", 5),
        rated(target="A third.", rating=4.0),
    ],
    "C": [rated(rating=0)],
}
LOCAL: dict[str, Any] = {
    "fluency": {
        "Three.": ["Best.", "Good.", "Bad."],
        "One. ": ["Best.", {"target": "Bad."}],
    },
    "C": {"One.": ["Best.", "Bad."]},
}


def write(folder: Path, rated_: Any = GLOBAL, ordered: Any = LOCAL) -> Path:
    for name, content in (("g", rated_), ("l", ordered)):
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def texts(folder: Path, role: str, aspect: str) -> list[tuple[Any, ...]]:
    own_part = benchmark()
    result = resolve(own_part.files, role, folder, folder)
    return [tuple(each)[:4] for each in given(own_part, result, role, aspect)]


def test_an_item_is_a_source_of_either_role(tmp_path: Path) -> None:
    dataset = read_dataset(benchmark(), write(tmp_path), tmp_path)
    assert {item.item: item.source for item in dataset.items} == {
        "mine-001": "One.",
        "mine-002": "Two.",
        "mine-003": "Three.",
    }
    assert all(item.references == () for item in dataset.items)
    assert not (dataset.outputs or dataset.ratings or dataset.systems)
    assert dataset.problems == ["texts with a rating: 4, in a chain: 7"]


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("dialogue", ["Source", "Fact"]),
        ("summarization", ["Source", "Context"]),
    ],
)
def test_addition_is_a_part_of_the_source(
    tmp_path: Path, task: str, names: list[str]
) -> None:
    facts = {"addition": " A fact.\n"}
    rated_ = {"fluency": [rated() | facts, rated("Two.", "Another.")], "C": [rated()]}
    ordered = {
        "fluency": {"Three.": [{"target": "Best."} | facts, "Bad."]},
        "C": {"One.": ["Best.", "Bad."]},
    }
    own_part = benchmark(task=task)
    dataset = read_dataset(own_part, write(tmp_path, rated_, ordered), tmp_path)
    parts = {item.item: [(*part,) for part in item.parts] for item in dataset.items}
    only, more = names
    assert parts == {
        "mine-001": [(only, "One."), (more, "A fact.")],
        "mine-002": [(only, "Two.")],
        "mine-003": [(only, "Three."), (more, "A fact.")],
    }
    assert dataset.items[0].source == "One.\n\nA fact."


def test_capitals_of_an_aspect_do_not_matter(tmp_path: Path) -> None:
    write(tmp_path, {"Fluency": GLOBAL["fluency"], "c": GLOBAL["C"]})
    assert [text[1] for text in texts(tmp_path, "global", "clear")] == ["A text."]
    assert len(texts(tmp_path, "global", "fluency")) == 3
    dataset = read_dataset(benchmark(), tmp_path, tmp_path)
    assert not [line for line in dataset.problems if "does not list" in line]


def test_texts_of_a_single_source_have_a_single_addition(tmp_path: Path) -> None:
    two = [rated() | {"addition": fact} for fact in ("A fact.", "Another.")]
    write(tmp_path, GLOBAL | {"fluency": two})
    assert "differ in `addition`" in faults(benchmark(), tmp_path)


def test_a_role_gives_the_texts_of_an_aspect_with_what_is_known_of_them(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    assert texts(tmp_path, "global", "fluency") == [
        ("One.", "A text.", 0, 1.0),
        ("Two.", "Another.", 0, 5.0),
        ("One.", "A third.", 0, 4.0),
    ]
    assert texts(tmp_path, "global", "clear") == [("One.", "A text.", 0, 0.0)]
    assert texts(tmp_path, "local", "fluency") == [
        *(
            ("Three.", text, step, None)
            for step, text in enumerate(["Best.", "Good.", "Bad."])
        ),
        *(("One.", text, step, None) for step, text in enumerate(["Best.", "Bad."])),
    ]


@pytest.mark.parametrize("role", BOTH)
def test_a_single_role_is_enough(tmp_path: Path, role: str) -> None:
    own_part = benchmark(files={role: BOTH[role]})
    assert len(read_dataset(own_part, write(tmp_path), tmp_path).items) == 2


def test_a_role_may_have_a_file_for_each_aspect(tmp_path: Path) -> None:
    for column, entries in GLOBAL.items():
        (tmp_path / f"g-{column}.json").write_text(
            json.dumps({column: entries}), "utf-8"
        )
    own_part = benchmark(files={"global": "g-{aspect}.json"})
    assert len(read_dataset(own_part, tmp_path, tmp_path).items) == 2
    (tmp_path / "g-more.json").write_text(json.dumps({"C": [rated(rating=1)]}), "utf-8")
    text = faults(own_part, tmp_path)
    assert "two files of a role" in text and "g-more.json" in text


def test_what_is_no_error_is_reported(tmp_path: Path) -> None:
    ordered = LOCAL | {"C": {"One.": ["Same.", "Same.", "Bad."]}, "depth": {}}
    rest = {"C": [rated(rating=None), rated(rating=1)]}
    dataset = read_dataset(
        benchmark(), write(tmp_path, GLOBAL | rest, ordered), tmp_path
    )
    assert dataset.problems == [
        "texts of clear equal to the one before them (local): 1",
        "texts with a rating: 4, in a chain: 8",
        "aspects that the card does not list (local): depth",
        "1 rating of clear missing: g.json, row 1",
    ]
    assert len(texts(tmp_path, "global", "clear")) == 1


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        (rated(rating=6), ["outside the scale", "got:     6", "1 to 5 in steps of 1"]),
        (rated(rating=2.5), ["outside the scale", "got:     2.5"]),
        (rated(rating="good"), ["a rating is not a number", "'good'"]),
        (rated(rating=True), ["a rating is not a number"]),
        (rated(target=" \n"), ["a target is empty"]),
        (rated(source=""), ["a source is empty"]),
        (rated() | {"source": ["One."]}, ["a source is not a string"]),
        (rated() | {"target": None}, ["a target is empty"]),
        (rated(target="a\ud800b"), ["lone surrogate"]),
        (
            {"source": "One.", "rating": 1},
            ["no such column or key: `target`", "source"],
        ),
        ({"target": "A text.", "rating": 1}, ["no such column or key: `source`"]),
        ({"source": "One.", "target": "A text."}, ["no such column or key: `rating`"]),
        ("A text.", ["must be an object"]),
    ],
)
def test_every_fault_of_a_rated_text_is_named(
    tmp_path: Path, entry: Any, parts: list[str]
) -> None:
    write(tmp_path, GLOBAL | {"fluency": [rated(), entry]})
    text = faults(benchmark(), tmp_path)
    assert f"{tmp_path / 'g.json'}, row 2, aspect fluency" in text
    assert all(part in text for part in parts), text
    assert "\n\n" not in text  # one fault, one message


@pytest.mark.parametrize(
    ("row", "location", "parts"),
    [
        (
            {"Four.": ["Best."]},
            "row 3",
            ["a list of texts that starts with the reference", "2 or more"],
        ),
        (
            {"Four.": "Best."},
            "row 3",
            ["a list of texts that starts with the reference"],
        ),
        ({"Four.": ["Best.", ""]}, "row 3", ["a target is empty", "fluency, text 2"]),
        (
            {"Four.": ["Best.", 3]},
            "row 3",
            ["a target is not a string", "fluency, text 2"],
        ),
        (
            {"Four.": [{"text": "x"}, "Bad."]},
            "row 3",
            ["key: `target`", "fluency, text 1"],
        ),
        ({" ": ["Best.", "Bad."]}, "row 3", ["a source is empty"]),
        (
            {"Three. ": ["Best.", "Bad."]},
            "row 3",
            ["two sources differ only in white space"],
        ),
    ],
)
def test_every_fault_of_a_row_is_named(
    tmp_path: Path, row: dict[str, Any], location: str, parts: list[str]
) -> None:
    write(tmp_path, ordered=LOCAL | {"fluency": LOCAL["fluency"] | row})
    text = faults(benchmark(), tmp_path)
    assert f"{tmp_path / 'l.json'}, {location}, aspect fluency" in text
    assert all(part in text for part in parts), text
    assert "\n\n" not in text


@pytest.mark.parametrize(
    ("rated_", "ordered", "parts"),
    [
        (
            {"fluency": GLOBAL["fluency"], "clarity": []},
            LOCAL,
            ["no texts", "(global)", "clarity"],
        ),
        (
            GLOBAL,
            {"fluency": LOCAL["fluency"]},
            ["(local)", "aspects.clear", "allowed: fluency"],
        ),
        (GLOBAL | {"fluency": []}, LOCAL, ["a list of objects", "aspect fluency"]),
        (GLOBAL, LOCAL | {"C": []}, ["an object with sources as keys", "aspect C"]),
    ],
)
def test_an_aspect_without_texts_is_named_beside_the_known_aspects(
    tmp_path: Path, rated_: Any, ordered: Any, parts: list[str]
) -> None:
    text = faults(benchmark(), write(tmp_path, rated_, ordered))
    assert all(part in text for part in parts), text
    assert "row" not in text.split("\n")[1]  # the place is the file


def test_all_faults_are_detected_in_a_single_pass(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"fluency": [rated(rating=9), rated(target="")]},
        {"C": {"One.": ["Best."]}},
    )
    assert len(faults(benchmark(), tmp_path).split("\n\n")) == 5


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[]", "not a JSON object"),
        ("{", "invalid JSON"),
        ('{"C": [], "C": []}', "duplicate key"),
    ],
)
def test_a_file_that_is_none_is_an_error(
    tmp_path: Path, content: str, what: str
) -> None:
    with pytest.raises((UserError, UserErrors), match=what) as caught:
        read_dataset(benchmark(), write(tmp_path, content), tmp_path)
    assert "g.json" in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"files": "g.json"}, "has the roles global and local, not data"),
        ({"files": {}}, "needs the role global or local"),
        ({"ratings": "people"}, "add `ratings: none`"),
        ({"aspects": {"fluency": {"min": 1, "max": 5}}}, "add `step` to its scale"),
        (
            {"rewrite_references": {"model": "m", "form": "f"}, "select": {}},
            "this format has none",
        ),
    ],
)
def test_a_card_says_what_such_texts_need(keys: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        benchmark(**keys)


# --- the benchmarks that Hu et al. (2025) publish; their files were not run here ---

WRITTEN = {
    "summeval": ["Coherence", "Consistency", "Fluency", "Relevance"],
    "topical-chat": [
        "Understandability",
        "Naturalness",
        "Context Maintenance",
        "Interestingness",
        "Knowledge Use",
    ],
}
"""Dataset -> its aspects as the files write them."""


@pytest.mark.parametrize("name", WRITTEN)
def test_the_published_layout_is_read(name: str, tmp_path: Path) -> None:
    dataset = read_card("dataset", DATASETS / f"dualeval-{name}.yaml")
    dialogue = name == "topical-chat"
    more = {"addition": "A fact."} if dialogue else {}
    contents: dict[str, dict[str, Any]] = {"global": {}, "local": {}}
    for aspect in WRITTEN[name]:
        top = 2 if aspect in {"Understandability", "Knowledge Use"} else 3
        texts = [
            {"source": "One.", "target": f"Text {rating}.", "rating": rating} | more
            for rating in range(1, top + 1)
        ]
        contents["global"][aspect] = texts
        chain = [{"source": "One.", "target": f"Step {k}."} | more for k in range(4)]
        contents["local"][aspect] = {"One.": chain}
    for role, content in contents.items():
        path = tmp_path / dataset.files[role].removeprefix("{data}/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
        assert path.name in {Path(each.path).name for each in dataset.source.files}
    made = read_dataset(dataset, tmp_path, tmp_path, "Conversation")
    [item] = made.items
    expected = [("Conversation", "One."), ("Fact", "A fact.")]
    assert [tuple(part) for part in item.parts] == expected[: 1 + dialogue]
    for aspect in dataset.aspects:
        files = resolve(dataset.files, "global", tmp_path, tmp_path)
        ratings = [entry.rating for entry in given(dataset, files, "global", aspect)]
        values = dataset.aspects[aspect].values()
        assert ratings == values[: len(ratings)]
