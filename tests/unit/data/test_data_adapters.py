import json
from pathlib import Path
from typing import Any

import pytest

from csv_rows import Row, write_csv
from data_samples import (
    card,
    dialogue,
    faults,
    jsonl,
    summeval_row,
    values,
)
from judgescope.core.errors import UserError
from judgescope.data.select import read_dataset
from judgescope.schema.loading import read_card
from running import HOME

THREE = {"min": 1, "max": 3, "step": 1}


# --- summeval_jsonl ---


def summeval(**keys: Any) -> Any:
    return card(format="summeval_jsonl", files="x.jsonl", **keys)


def test_summeval_has_items_systems_and_raters(tmp_path: Path) -> None:
    pairs = [("B", "M2"), ("B", "M1"), ("a", "M1")]
    jsonl(tmp_path / "x.jsonl", [summeval_row(*pair) for pair in pairs])
    rated = read_dataset(summeval(), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["a", "b"]
    assert rated.items[1].meta == {"id": "B"}
    assert rated.items[1].source == "The article of B."
    assert rated.items[1].references == (
        "First of B.",
        "Second of B. It has two sentences.",
    )
    assert [output.target for output in rated.outputs] == ["a:m1", "b:m1", "b:m2"]
    assert rated.outputs[2][3:6] == (
        "What M2 wrote of B.",
        1,
        str(tmp_path / "x.jsonl"),
    )
    assert rated.systems == {"m1": "M1", "m2": "M2"}
    assert len(rated.ratings) == 6
    assert values(rated)["b:m2", "fluency", "expert-2"] == 4.0


@pytest.mark.parametrize("kind", ["crowd", "turker"])
def test_summeval_has_crowd_ratings_too(tmp_path: Path, kind: str) -> None:
    jsonl(tmp_path / "x.jsonl", [summeval_row("a", "M1")])
    rated = read_dataset(summeval(raters=kind), tmp_path, tmp_path)
    assert values(rated) == {("a:m1", "fluency", f"{kind}-1"): 2.0}


def test_summeval_has_no_other_raters(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [])
    with pytest.raises(UserError, match="unknown raters") as error:
        read_dataset(summeval(raters="experts"), tmp_path, tmp_path)
    assert "nearest: expert" in str(error.value)


# --- usr_json ---


def usr(files: Any = "x.json", **keys: Any) -> Any:
    aspects = {"natural": THREE | {"column": "Natural"}}
    return card(format="usr_json", files=files, aspects=aspects, **keys)


def test_usr_joins_context_and_fact_and_names_raters(tmp_path: Path) -> None:
    entries = [dialogue("KV-MemNN", "Original Ground Truth"), dialogue("KV-MemNN")]
    (tmp_path / "x.json").write_text(json.dumps(entries))
    rated = read_dataset(usr(), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["mine-001", "mine-002"]
    assert rated.items[0].source == "hello \n hi there\n\na fact"
    assert rated.items[0].references == ()
    systems = ["kv-memnn", "original-ground-truth", "kv-memnn"]
    assert [output.system for output in rated.outputs] == systems
    assert rated.outputs[0].text == "KV-MemNN says so"
    assert values(rated)["mine-001:kv-memnn", "natural", "ann"] == 3.0
    assert values(rated)["mine-001:kv-memnn", "natural", "bob"] == 1.0


def test_usr_numbers_raters_that_their_names_do_not_tell_separately(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.json").write_text(
        json.dumps([dialogue("m", annotators=["ann", "ann"])])
    )
    rated = read_dataset(usr(), tmp_path, tmp_path)
    assert [rating.rater for rating in rated.ratings] == ["rater-1", "rater-2"]


@pytest.mark.parametrize(
    "files", ["{half}_usr.json", {"pc": "pc_usr.json", "tc": "tc_usr.json"}]
)
def test_usr_halves_are_pooled_and_distinguished(tmp_path: Path, files: Any) -> None:
    for half in ("tc", "pc"):
        (tmp_path / f"{half}_usr.json").write_text(json.dumps([dialogue("m")]))
    rated = read_dataset(usr(files), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["pc-001", "tc-001"]
    if isinstance(files, str):
        assert rated.items[0].meta == {"id": "pc-001", "half": "pc"}


# --- alttest_json ---

ANNOTATIONS: dict[str, Any] = {
    "ann": {
        "doc-1__M1__fluency": 1,
        "doc-1__M1__coherence": 3,
        "doc-2__M1__fluency": 2,
    },
    "bob": {"doc-2__M1__fluency": 3, "doc-3": 1},
}


def alttest(**keys: Any) -> Any:
    keys = {"aspects": {"fluency": THREE}} | keys
    return card(format="alttest_json", files="x.json", **keys)


def test_alttest_has_sources_and_what_was_rated_of_them(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(ANNOTATIONS))
    assert values(read_dataset(alttest(), tmp_path, tmp_path)) == {
        ("doc-1:m1__coherence", "fluency", "ann"): 3.0,
        ("doc-1:m1__fluency", "fluency", "ann"): 1.0,
        ("doc-2:m1__fluency", "fluency", "ann"): 2.0,
        ("doc-2:m1__fluency", "fluency", "bob"): 3.0,
        ("doc-3:system", "fluency", "bob"): 1.0,
    }


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        ({"ann": [1, 2]}, {}, "the name of each rater to an object {id: rating}"),
        ({"#item": {"a": 1}}, {}, "the name of each rater to an object {id: rating}"),
        ([], {}, "not a JSON object"),
        (
            ANNOTATIONS,
            {"aspects": {"fluency": THREE, "coherence": THREE}},
            "its card must have one aspect",
        ),
    ],
)
def test_alttest_of_another_shape_is_an_error(
    tmp_path: Path, content: Any, keys: dict[str, Any], message: str
) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match=message):
        read_dataset(alttest(**keys), tmp_path, tmp_path)


def test_alttest_names_the_entry_whose_rating_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"ann": {"a__1": 1, "b__1": 9}}))
    message = faults(alttest(), tmp_path)
    assert "outside the scale" in message and "row 2" in message


# --- unieval_json ---


def unieval() -> Any:
    return card(format="unieval_json", files="x.json", aspects={"fluency": THREE})


def entry(source: str, text: str, mean: float, **keys: str) -> dict[str, Any]:
    return {
        "source": source,
        "system_output": text,
        "scores": {"fluency": mean},
        **keys,
    }


def test_unieval_has_means_and_items_by_source_and_context(tmp_path: Path) -> None:
    rows = [
        entry("s \n\n", "one ", 2.3333333333, context="c", system_id="A"),
        entry("s \n\n", "two", 1.0, context="c", system_id="B"),
        entry("s \n\n", "three", 3.0, context="other", system_id="A"),
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    rated = read_dataset(unieval(), tmp_path, tmp_path)
    assert [(item.item, item.source) for item in rated.items] == [
        ("mine-001", "s\n\nc"),
        ("mine-002", "s\n\nother"),
    ]
    assert [output.text for output in rated.outputs] == ["one", "two", "three"]
    assert (
        values(rated)["mine-001:a", "fluency", "mean"] == 2.3333333333
    )  # on no grid, and exact


def test_the_card_of_all_systems_of_summeval_reads_the_published_form(
    tmp_path: Path,
) -> None:
    dataset = read_card("dataset", HOME / "config" / "datasets" / "summeval-16.yaml")
    names = ("coherence", "consistency", "fluency", "relevance")
    rows = [
        {
            **{
                "doc_id": f"d{item}",
                "system_id": f"M{system}",
                "source": f"Article {item}.",
            },
            **{
                "reference": f"Summary {item}.",
                "system_output": f"Text {item} {system}.",
            },
            "scores": dict.fromkeys([*names, "overall"], 1 + (item + system) % 13 / 3),
        }
        for item in range(3)
        for system in range(16)
    ]
    (tmp_path / "summeval").mkdir()
    (tmp_path / "summeval" / "summeval.json").write_text(json.dumps(rows))
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert (len(rated.items), len(rated.outputs), len(rated.systems)) == (3, 48, 16)
    assert {rating.rater for rating in rated.ratings} == {"mean"} and len(
        rated.ratings
    ) == 48 * 4
    assert [item.references for item in rated.items] == [
        (f"Summary {item}.",) for item in range(3)
    ]


def test_unieval_without_systems_numbers_the_texts_and_says_so(tmp_path: Path) -> None:
    rows = [entry("s", text, 1.0, reference="r") for text in ("one", "two")]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    rated = read_dataset(unieval(), tmp_path, tmp_path)
    assert [output.target for output in rated.outputs] == [
        "mine-001:text-1",
        "mine-001:text-2",
    ]
    assert rated.items[0].references == ("r",)
    [problem] = rated.problems
    assert "no system" in problem


# --- qags_mturk_jsonl ---

SHARE = {"min": 0, "max": 1}


def qags(**keys: Any) -> Any:
    fields = {
        "format": "qags_mturk_jsonl",
        "files": "x.jsonl",
        "aspects": {"consistency": SHARE},
    }
    return card(**fields | keys)


def sentence(text: str, votes: str) -> Row:
    """Return a sentence with a vote of worker 7, 8, … for every letter: y or n."""
    fields = {"y": "yes", "n": "no"}
    answers = [
        {"worker_id": number, "response": fields.get(vote, vote)}
        for number, vote in enumerate(votes, start=7)
    ]
    return {"sentence": text, "responses": answers}


def summary(*sentences: Row, article: str = "An article.") -> Row:
    return {"article": article, "summary_sentences": list(sentences)}


def test_qags_is_the_share_of_sentences_that_most_accept(tmp_path: Path) -> None:
    rows = [
        summary(
            sentence("One.", "yyn"), sentence("Two.", "nny"), sentence("Three. ", "yyy")
        ),
        summary(sentence("Four.", "nnn")),
    ]
    jsonl(tmp_path / "x.jsonl", rows)
    rated = read_dataset(qags(), tmp_path, tmp_path)
    assert [item.item for item in rated.items] == [
        "mine-001",
        "mine-002",
    ]  # of one article, too
    assert [item.source for item in rated.items] == ["An article."] * 2
    assert [output.text for output in rated.outputs] == ["One. Two. Three.", "Four."]
    assert values(rated) == {
        ("mine-001:system", "consistency", "mean"): 2 / 3,
        ("mine-002:system", "consistency", "mean"): 0.0,
    }
    assert rated.items[0].meta["sentences"][1] == {
        "sentence": "Two.",
        "votes": {"7": "no", "8": "no", "9": "yes"},
    }
    assert rated.problems == []


def test_qags_rates_a_single_sentence_too_as_the_half_xsum_has_them(
    tmp_path: Path,
) -> None:
    jsonl(tmp_path / "x.jsonl", [summary(sentence("One.", "ynyyn"))])
    aspects = {"consistency": SHARE | {"step": 1}}
    assert [
        *values(read_dataset(qags(aspects=aspects), tmp_path, tmp_path)).values()
    ] == [1.0]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (
            summary(sentence("One.", "yy"), sentence("Two.", "yn")),
            ["no majority", "sentence 2"],
        ),
        (summary(sentence("One.", "")), ["no majority", "0 yes of 0"]),
        (
            summary(sentence("One.", "y?y")),
            ["unknown answer", "'?'", "no, yes", "sentence 1"],
        ),
        (summary(sentence(" ", "yyy")), ["a sentence is empty", "sentence 1"]),
        (summary(), ["a summary has no sentence"]),
        (summary("One."), ["`sentence`", "sentence 1"]),  # type: ignore[arg-type]
        (summary(sentence("One.", "yyy"), article=""), ["a source is empty"]),
        ({"article": "An article."}, ["no such column or key: `summary_sentences[*]`"]),
        (
            {"summary_sentences": [sentence("One.", "yyy")]},
            ["no such column or key: `article`"],
        ),
    ],
)
def test_qags_faults_are_named(tmp_path: Path, row: Row, parts: list[str]) -> None:
    jsonl(tmp_path / "x.jsonl", [summary(sentence("Good.", "yyy")), row])
    text = faults(qags(), tmp_path)
    assert all(part in text for part in [*parts, "x.jsonl, row 2"]), text
    assert "\n\n" not in text  # one fault, one message


def test_qags_workers_answer_once_and_a_single_thing(tmp_path: Path) -> None:
    twice = sentence("One.", "yyy")
    twice["responses"][2]["worker_id"] = 7
    jsonl(tmp_path / "x.jsonl", [summary(twice)])
    assert "a worker answered twice" in faults(qags(), tmp_path)
    both = qags(aspects={"consistency": SHARE, "fluency": SHARE})
    with pytest.raises(UserError, match="QAGS has one question"):
        read_dataset(both, tmp_path, tmp_path)


# --- simplicity_da_csv ---

HUNDRED = {"min": 0, "max": 100, "step": 1}
BOTH = {"data": "means.csv", "ratings": "ratings.csv"}


def simplicity(files: Any = BOTH) -> Any:
    aspects = {
        "simplicity": HUNDRED,
        "meaning-preservation": HUNDRED | {"column": "meaning"},
    }
    return card(format="simplicity_da_csv", files=files, aspects=aspects)


def simplified(system: str, simple: object, meaning: object, **keys: object) -> Row:
    texts = {
        "sent_id": 4,
        "sys_name": system,
        "orig_sent": "It is so.",
        "simp_sent": system,
    }
    return {**texts, "simplicity": simple, "meaning": meaning, **keys}


def rating(system: str, rater: int, value: object, **keys: object) -> Row:
    row = simplified(system, value, None, rater_id=rater) | keys
    return {name: cell for name, cell in row.items() if name != "meaning"}


MEANS = [simplified("A", 50.5, 33.33333333), simplified("B", 1, 2)]
RATINGS = [rating("A", 8, 51), rating("A", 11, 50), rating("B", 8, 1)]


def test_simplicity_has_raters_where_they_are_reported_and_else_means(
    tmp_path: Path,
) -> None:
    write_csv(tmp_path / "means.csv", MEANS)
    write_csv(tmp_path / "ratings.csv", RATINGS)
    rated = read_dataset(simplicity(), tmp_path, tmp_path)
    assert [(item.item, item.source) for item in rated.items] == [("4", "It is so.")]
    assert values(rated) == {
        ("4:a", "meaning-preservation", "mean"): 33.33333333,  # on no grid
        ("4:a", "simplicity", "rater-11"): 50,
        ("4:a", "simplicity", "rater-8"): 51,
        ("4:b", "meaning-preservation", "mean"): 2,
        ("4:b", "simplicity", "rater-8"): 1,
    }
    assert rated.systems == {"a": "A", "b": "B"} and rated.problems == []


def test_simplicity_does_with_means_alone(tmp_path: Path) -> None:
    write_csv(tmp_path / "means.csv", MEANS)
    result = values(read_dataset(simplicity("means.csv"), tmp_path, tmp_path))
    assert result["4:a", "simplicity", "mean"] == 50.5 and len(result) == 4


def test_means_of_other_ratings_are_reported(tmp_path: Path) -> None:
    write_csv(tmp_path / "means.csv", [simplified("A", 50.6, 30), *MEANS[1:]])
    write_csv(tmp_path / "ratings.csv", [*RATINGS, rating("B", 9, "")])
    means, missing = read_dataset(simplicity(), tmp_path, tmp_path).problems
    assert means.startswith("means of simplicity") and means.endswith(": 1")
    assert (
        missing.startswith("1 rating of simplicity") and "ratings.csv, row 5" in missing
    )


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (rating("A", 8, 50), ["a rater rated the same text twice", "rater-8"]),
        (rating("A", 12, 101), ["outside the scale", "101", "aspect simplicity"]),
        (rating("A", 12, 50.5), ["outside the scale", "in steps of 1"]),
        (rating("C", 12, 50), ["the role `data` has no such text", "4, C"]),
        (
            rating("A", 12, 50, simp_sent="B"),
            ["the role `data` has different sentences here"],
        ),
        (rating("A", 12, 50, rater_id=""), ["invalid id (rater)"]),
    ],
)
def test_simplicity_faults_are_named(
    tmp_path: Path, row: Row, parts: list[str]
) -> None:
    write_csv(tmp_path / "means.csv", MEANS)
    write_csv(tmp_path / "ratings.csv", [*RATINGS, row])
    text = faults(simplicity(), tmp_path)
    assert all(part in text for part in [*parts, "ratings.csv, row 5"]), text
    assert "\n\n" not in text


def test_simplicity_faults_of_means_are_named(tmp_path: Path) -> None:
    write_csv(
        tmp_path / "means.csv", [simplified("A", 120, ""), simplified("A", 1, "much")]
    )
    text = faults(simplicity("means.csv"), tmp_path)
    for part in (
        "outside the scale",
        "two texts of the same system",
        "numbers the texts",
        "not a number",
    ):
        assert text.count(part) == 1, part
