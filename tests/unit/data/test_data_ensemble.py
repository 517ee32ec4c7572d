"""Formats of (Kartáč et al. 2025): votes on sentences, ratings from 0 to 100, marked errors."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from data_samples import card, faults, jsonl, values
from judgescope.core.errors import UserError
from judgescope.data import read_dataset
from judgescope.data.specs import IngestFiles, IngestSpec
from judgescope.jobs.ingest import main as ingest
from judgescope.schema.tables import read_table
from study import Study

Row = dict[str, Any]


def written(path: Path, rows: list[Row]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


# --- qags_mturk_jsonl ---

SHARE = {"min": 0, "max": 1}


def qags(**keys: Any) -> Any:
    own = {"format": "qags_mturk_jsonl", "files": "x.jsonl", "aspects": {"consistency": SHARE}}
    return card(**own | keys)


def sentence(text: str, votes: str) -> Row:
    """Return a sentence with a vote of worker 7, 8, … for every letter: y or n."""
    said = {"y": "yes", "n": "no"}
    answers = [
        {"worker_id": number, "response": said.get(vote, vote)}
        for number, vote in enumerate(votes, start=7)
    ]
    return {"sentence": text, "responses": answers}


def summary(*sentences: Row, article: str = "An article.") -> Row:
    return {"article": article, "summary_sentences": list(sentences)}


def test_qags_is_the_share_of_sentences_that_most_accept(tmp_path: Path) -> None:
    rows = [
        summary(sentence("One.", "yyn"), sentence("Two.", "nny"), sentence("Three. ", "yyy")),
        summary(sentence("Four.", "nnn")),
    ]
    jsonl(tmp_path / "x.jsonl", rows)
    rated = read_dataset(qags(), tmp_path, tmp_path)
    assert [one.item for one in rated.items] == ["mine-001", "mine-002"]  # of one article, too
    assert [one.source for one in rated.items] == ["An article."] * 2
    assert [one.text for one in rated.outputs] == ["One. Two. Three.", "Four."]
    assert values(rated) == {
        ("mine-001:system", "consistency", "mean"): 2 / 3,
        ("mine-002:system", "consistency", "mean"): 0.0,
    }
    assert rated.items[0].meta["sentences"][1] == {
        "sentence": "Two.",
        "votes": {"7": "no", "8": "no", "9": "yes"},
    }
    assert rated.problems == []


def test_qags_rates_one_sentence_too_as_the_half_xsum_has_them(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [summary(sentence("One.", "ynyyn"))])
    whole = {"consistency": SHARE | {"step": 1}}
    assert [*values(read_dataset(qags(aspects=whole), tmp_path, tmp_path)).values()] == [1.0]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (summary(sentence("One.", "yy"), sentence("Two.", "yn")), ["no majority", "sentence 2"]),
        (summary(sentence("One.", "")), ["no majority", "0 yes of 0"]),
        (summary(sentence("One.", "y?y")), ["not an answer", "'?'", "no, yes", "sentence 1"]),
        (summary(sentence(" ", "yyy")), ["a sentence is empty", "sentence 1"]),
        (summary(), ["a summary has no sentence"]),
        (summary("One."), ["`sentence`", "sentence 1"]),  # type: ignore[arg-type]
        (summary(sentence("One.", "yyy"), article=""), ["a source is empty"]),
        ({"article": "An article."}, ["no such column or key: `summary_sentences[*]`"]),
        ({"summary_sentences": [sentence("One.", "yyy")]}, ["no such column or key: `article`"]),
    ],
)
def test_qags_faults_are_named(tmp_path: Path, row: Row, parts: list[str]) -> None:
    jsonl(tmp_path / "x.jsonl", [summary(sentence("Good.", "yyy")), row])
    text = faults(qags(), tmp_path)
    assert all(part in text for part in [*parts, "x.jsonl, row 2"]), text
    assert "\n\n" not in text  # one fault, one message


def test_qags_workers_answer_once_and_one_thing(tmp_path: Path) -> None:
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
    aspects = {"simplicity": HUNDRED, "meaning-preservation": HUNDRED | {"column": "meaning"}}
    return card(format="simplicity_da_csv", files=files, aspects=aspects)


def simplified(system: str, simple: object, meaning: object, **keys: object) -> Row:
    texts = {"sent_id": 4, "sys_name": system, "orig_sent": "It is so.", "simp_sent": system}
    return {**texts, "simplicity": simple, "meaning": meaning, **keys}


def rating(system: str, rater: int, value: object, **keys: object) -> Row:
    row = simplified(system, value, None, rater_id=rater) | keys
    return {name: cell for name, cell in row.items() if name != "meaning"}


MEANS = [simplified("A", 50.5, 33.33333333), simplified("B", 1, 2)]
RATINGS = [rating("A", 8, 51), rating("A", 11, 50), rating("B", 8, 1)]


def test_simplicity_has_raters_where_they_are_told_and_else_means(tmp_path: Path) -> None:
    written(tmp_path / "means.csv", MEANS)
    written(tmp_path / "ratings.csv", RATINGS)
    rated = read_dataset(simplicity(), tmp_path, tmp_path)
    assert [(one.item, one.source) for one in rated.items] == [("4", "It is so.")]
    assert values(rated) == {
        ("4:a", "meaning-preservation", "mean"): 33.33333333,  # on no grid
        ("4:a", "simplicity", "rater-11"): 50,
        ("4:a", "simplicity", "rater-8"): 51,
        ("4:b", "meaning-preservation", "mean"): 2,
        ("4:b", "simplicity", "rater-8"): 1,
    }
    assert rated.systems == {"a": "A", "b": "B"} and rated.problems == []


def test_simplicity_does_with_means_alone(tmp_path: Path) -> None:
    written(tmp_path / "means.csv", MEANS)
    found = values(read_dataset(simplicity("means.csv"), tmp_path, tmp_path))
    assert found["4:a", "simplicity", "mean"] == 50.5 and len(found) == 4


def test_means_of_other_ratings_are_told(tmp_path: Path) -> None:
    written(tmp_path / "means.csv", [simplified("A", 50.6, 30), *MEANS[1:]])
    written(tmp_path / "ratings.csv", [*RATINGS, rating("B", 9, "")])
    means, missing = read_dataset(simplicity(), tmp_path, tmp_path).problems
    assert means.startswith("means of simplicity") and means.endswith(": 1")
    assert missing.startswith("1 rating of simplicity") and "ratings.csv, row 5" in missing


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (rating("A", 8, 50), ["a rater rated the same text twice", "rater-8"]),
        (rating("A", 12, 101), ["outside the scale", "101", "aspect simplicity"]),
        (rating("A", 12, 50.5), ["outside the scale", "in steps of 1"]),
        (rating("C", 12, 50), ["the role `data` has no such text", "4, C"]),
        (rating("A", 12, 50, simp_sent="B"), ["the role `data` has different sentences here"]),
        (rating("A", 12, 50, rater_id=""), ["invalid id (rater)"]),
    ],
)
def test_simplicity_faults_are_named(tmp_path: Path, row: Row, parts: list[str]) -> None:
    written(tmp_path / "means.csv", MEANS)
    written(tmp_path / "ratings.csv", [*RATINGS, row])
    text = faults(simplicity(), tmp_path)
    assert all(part in text for part in [*parts, "ratings.csv, row 5"]), text
    assert "\n\n" not in text


def test_simplicity_faults_of_means_are_named(tmp_path: Path) -> None:
    written(tmp_path / "means.csv", [simplified("A", 120, ""), simplified("A", 1, "much")])
    text = faults(simplicity("means.csv"), tmp_path)
    for part in ("outside the scale", "two texts of the same system", "not a number"):
        assert text.count(part) == 1, part


# --- rotowire_gsml_csv ---


def rotowire(**keys: Any) -> Any:
    own = {"format": "rotowire_gsml_csv", "files": {"games": "g.csv", "spans": "s.csv"}}
    return card(**own | {"ratings": "none"} | keys)


def game(name: str = "S1", text: str = "The  Hawks ( 3 - 1 )\nwon on Friday .") -> Row:
    tidy = "The Hawks (3-1) won on Friday."
    texts = {"GENERATED_TEXT": text, "DETOKENIZED_GENERATED_TEXT": tidy}
    return {"TEXT_ID": name, "HOME_NAME": "Hawks", **texts}


def error(first: object, last: object, tokens: str, **keys: object) -> Row:
    row = {"TEXT_ID": "S1.txt", "TOKENS": tokens, "DOC_TOKEN_START": first, "DOC_TOKEN_END": last}
    return {**row, "TYPE": "NAME", "CORRECTION": "", "COMMENT": "", **keys}


def test_rotowire_has_reports_and_the_places_of_their_errors(tmp_path: Path) -> None:
    written(tmp_path / "g.csv", [game("S2"), game()])
    spans = [
        error(8, 10, "won on Friday", COMMENT="they lost"),
        error(2, 2, "Hawks", CORRECTION="Bulls"),
        error(3, 7, "", TYPE="NUMBER"),  # the file need not repeat the tokens
    ]
    written(tmp_path / "s.csv", spans)
    rated = read_dataset(rotowire(), tmp_path, tmp_path)
    assert [(one.target, one.text) for one in rated.outputs] == [
        (f"{name}:system", game()["GENERATED_TEXT"]) for name in ("s1", "s2")
    ]
    assert rated.items[0].meta == {"HOME_NAME": "Hawks", "id": "S1"} and rated.ratings == []
    assert [tuple(one) for one in rated.spans] == [
        ("s1:system", 5, 10, "NAME", "Hawks", "Bulls", None),
        ("s1:system", 11, 20, "NUMBER", "( 3 - 1 )", None, None),
        ("s1:system", 21, 34, "NAME", "won on Friday", None, "they lost"),
    ]
    assert all(game()["GENERATED_TEXT"][one.start : one.end] == one.text for one in rated.spans)
    kept = rated.keep(item=lambda one: one.item == "s2")
    assert kept.spans == [] and len(kept.outputs) == 1


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (error(2, 2, "Hawk"), ["different tokens are at this position of S1", "'Hawk'", "Hawks"]),
        (error(0, 2, ""), ["token numbers out of range", "0 to 2", "1 to 11"]),
        (error(3, 2, ""), ["token numbers out of range", "3 to 2"]),
        (error(11, 12, ""), ["token numbers out of range"]),
        (error("two", 2, ""), ["`DOC_TOKEN_START` is not a token number", "two"]),
        (error(2, "", ""), ["`DOC_TOKEN_END` is not a token number"]),
        (error(2, 2, "", TYPE=" "), ["a category is empty"]),
        (error(1, 1, "The"), ["duplicate error"]),
        (error(2, 2, "", TEXT_ID="S3.txt"), ["unknown report", "S3", "S1"]),
    ],
)
def test_rotowire_faults_are_named(tmp_path: Path, row: Row, parts: list[str]) -> None:
    written(tmp_path / "g.csv", [game()])
    written(tmp_path / "s.csv", [error(1, 1, "The"), row])
    text = faults(rotowire(), tmp_path)
    assert all(part in text for part in [*parts, "s.csv, row 3"]), text
    assert "\n\n" not in text


def test_rotowire_reports_come_before_their_errors(tmp_path: Path) -> None:
    written(tmp_path / "g.csv", [game(text="")])
    written(tmp_path / "s.csv", [error(1, 1, "The")])
    text = faults(rotowire(), tmp_path)
    assert "a text is empty" in text and "tokens" not in text


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"ratings": "human"}, "add `ratings: none`"),
        ({"files": {"games": "g.csv"}}, "needs the role `spans`"),
        ({"files": "g.csv"}, "needs the role `games`"),
        ({"rewrite_references": {"model": "m", "form": "f"}}, "this format has none"),
    ],
)
def test_a_card_says_what_marked_texts_need(keys: Row, what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        rotowire(**keys)


def test_marked_errors_become_a_table(tmp_path: Path) -> None:
    written(tmp_path / "g.csv", [game()])
    written(tmp_path / "s.csv", [error(2, 2, "Hawks", CORRECTION="Bulls")])
    names = ("items", "systems", "original", "ratings", "spans")
    output = {name: str(tmp_path / "out" / f"{name}.parquet") for name in names}
    ingest(
        IngestSpec(
            code="",
            versions={},
            dataset=rotowire().model_dump(mode="json", exclude={"rewrite_references"}),
            folder=str(tmp_path),
            data=str(tmp_path),
            seed=1,
            output=IngestFiles(**output, report=str(tmp_path / "report.json")),
        )
    )
    assert read_table("gold_spans", output["spans"]).to_pylist() == [
        {
            **{"dataset": "mine", "target": "s1:system", "start": 5, "end": 10},
            **{"category": "NAME", "text": "Hawks", "correction": "Bulls", "comment": None},
        }
    ]
    assert json.loads((tmp_path / "report.json").read_text())["spans"] == 1
    assert read_table("ratings", output["ratings"]).num_rows == 0


@pytest.mark.slow
def test_a_study_keeps_marked_errors_beside_its_texts(tmp_path: Path) -> None:
    written(tmp_path / "g.csv", [game()])
    written(tmp_path / "s.csv", [error(2, 2, "Hawks")])
    own = rotowire(files={"games": "{data}/g.csv", "spans": "{data}/s.csv"})
    told = {"study": "s", "seed": 1, "data": ".", "datasets": ["mine", "demo-news"]}
    study = Study(tmp_path, told, judges=["rules"], methods=["agreement"])
    card = own.model_dump(mode="json", exclude_defaults=True)
    study.card("datasets", "mine", **card | {"dataset": "mine"})
    study.write()
    wanted = [f"results/s/{kind}/mine.parquet" for kind in ("items", "spans")]
    wanted += ["results/s/items/demo-news.parquet"]
    done = study.snakemake("--", *wanted)
    assert done.returncode == 0, done.stdout[-3000:]
    spans = (tmp_path / "results" / "s" / "spans").iterdir()
    assert {one.stem: read_table("gold_spans", one).num_rows for one in spans} == {
        "mine": 1,
        "demo-news": 0,
    }
