"""Texts whose errors people marked, as rotowire_gsml_csv has them."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from csv_rows import Row, write_csv
from data_samples import (
    card,
    faults,
)
from judgescope.data.select import read_dataset
from judgescope.data.specs import RatingFiles, ReadRatingsSpec
from judgescope.data.tables import read_ratings
from judgescope.schema.cards import FORMATS
from judgescope.schema.tables import read_table
from study import Study

# --- rotowire_gsml_csv ---


def rotowire(**keys: Any) -> Any:
    fields = {
        "format": "rotowire_gsml_csv",
        "files": {"games": "g.csv", "spans": "s.csv"},
    }
    return card(**fields | {"ratings": "none"} | keys)


def game(name: str = "S1", text: str = "The  Hawks ( 3 - 1 )\nwon on Friday .") -> Row:
    tidy = "The Hawks (3-1) won on Friday."
    texts = {"GENERATED_TEXT": text, "DETOKENIZED_GENERATED_TEXT": tidy}
    return {"TEXT_ID": name, "HOME_NAME": "Hawks", **texts}


def error(first: object, last: object, tokens: str, **keys: object) -> Row:
    row = {
        "TEXT_ID": "S1.txt",
        "TOKENS": tokens,
        "DOC_TOKEN_START": first,
        "DOC_TOKEN_END": last,
    }
    return {**row, "TYPE": "NAME", "CORRECTION": "", "COMMENT": "", **keys}


def test_rotowire_has_reports_and_the_places_of_their_errors(tmp_path: Path) -> None:
    write_csv(tmp_path / "g.csv", [game("S2"), game()])
    spans = [
        error(8, 10, "won on Friday", COMMENT="they lost"),
        error(2, 2, "Hawks", CORRECTION="Bulls"),
        error(3, 7, "", TYPE="NUMBER"),  # the file need not repeat the tokens
    ]
    write_csv(tmp_path / "s.csv", spans)
    rated = read_dataset(rotowire(), tmp_path, tmp_path)
    assert [(output.target, output.text) for output in rated.outputs] == [
        (f"{name}:system", game()["GENERATED_TEXT"]) for name in ("s1", "s2")
    ]
    assert (
        rated.items[0].meta == {"HOME_NAME": "Hawks", "id": "S1"}
        and rated.ratings == []
    )
    assert [tuple(span) for span in rated.spans] == [
        ("s1:system", 5, 10, "NAME", "Hawks", "Bulls", None),
        ("s1:system", 11, 20, "NUMBER", "( 3 - 1 )", None, None),
        ("s1:system", 21, 34, "NAME", "won on Friday", None, "they lost"),
    ]
    assert all(
        game()["GENERATED_TEXT"][span.start : span.end] == span.text
        for span in rated.spans
    )
    kept = rated.keep({"s2"})
    assert kept.spans == [] and len(kept.outputs) == 1


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        (
            error(2, 2, "Hawk"),
            ["S1 has different tokens at this position", "'Hawk'", "Hawks"],
        ),
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
    write_csv(tmp_path / "g.csv", [game()])
    write_csv(tmp_path / "s.csv", [error(1, 1, "The"), row])
    text = faults(rotowire(), tmp_path)
    assert all(part in text for part in [*parts, "s.csv, row 3"]), text
    assert "\n\n" not in text


def test_rotowire_reports_come_before_their_errors(tmp_path: Path) -> None:
    write_csv(tmp_path / "g.csv", [game(text="")])
    write_csv(tmp_path / "s.csv", [error(1, 1, "The")])
    text = faults(rotowire(), tmp_path)
    assert "a text is empty" in text and "tokens" not in text


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"ratings": "people"}, "add `ratings: none`"),
        ({"files": {"games": "g.csv"}}, "needs the role `spans`"),
        ({"files": "g.csv"}, "needs the role `games`"),
        ({"rewrite_references": {"model": "m", "form": "f"}}, "this format has none"),
    ],
)
def test_a_card_says_what_marked_texts_need(keys: Row, what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        rotowire(**keys)


def test_marked_errors_become_a_table(tmp_path: Path) -> None:
    write_csv(tmp_path / "g.csv", [game()])
    write_csv(tmp_path / "s.csv", [error(2, 2, "Hawks", CORRECTION="Bulls")])
    output = {
        name: str(tmp_path / "out" / f"{name}.parquet") for name in ("ratings", "spans")
    }
    read_ratings(
        ReadRatingsSpec(
            code="",
            versions={},
            dataset=rotowire().model_dump(mode="json", exclude={"rewrite_references"}),
            format=FORMATS.target(rotowire().format),
            folder=str(tmp_path),
            data=str(tmp_path),
            seed=1,
            part="Data",
            output=RatingFiles(**output, report=str(tmp_path / "report.json")),
        )
    )
    assert read_table("gold_spans", output["spans"]).to_pylist() == [
        {
            **{"dataset": "mine", "target": "s1:system", "start": 5, "end": 10},
            **{
                "category": "NAME",
                "text": "Hawks",
                "correction": "Bulls",
                "comment": None,
            },
        }
    ]
    assert json.loads((tmp_path / "report.json").read_text())["spans"] == 1
    assert read_table("ratings", output["ratings"]).num_rows == 0


@pytest.mark.slow
def test_a_study_keeps_marked_errors_beside_its_texts(tmp_path: Path) -> None:
    write_csv(tmp_path / "g.csv", [game()])
    write_csv(tmp_path / "s.csv", [error(2, 2, "Hawks")])
    own_part = rotowire(files={"games": "{data}/g.csv", "spans": "{data}/s.csv"})
    fields = {"study": "s", "seed": 1, "data": ".", "datasets": ["mine", "demo-news"]}
    study = Study(tmp_path, fields, judges=["rules"], methods=["agreement"])
    card = own_part.model_dump(mode="json", exclude_defaults=True)
    study.card("datasets", "mine", **card | {"dataset": "mine"})
    study.write()
    wanted = [f"results/s/{kind}/mine.parquet" for kind in ("items", "spans")]
    wanted += ["results/s/spans/demo-news.parquet"]
    done = study.snakemake("--", *wanted)
    assert done.returncode == 0, done.stdout[-3000:]
    spans = (tmp_path / "results" / "s" / "spans").iterdir()
    assert {span.stem: read_table("gold_spans", span).num_rows for span in spans} == {
        "mine": 1,
        "demo-news": 0,
    }
