"""Perturbed texts that come with the data: role `pairs` of a table, key `perturbed`."""

import csv
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from data_samples import card, faults, jsonl
from judgescope.data.files import resolve
from judgescope.data.pairs import perturbed_texts
from judgescope.data.rated import PerturbedText
from judgescope.data.select import read_dataset
from judgescope.schema.cards import Dataset

COLUMNS = {
    "item": "id",
    "source": "article",
    "original": "before",
    "perturbed": "after",
    "perturbation": "kind",
    "degree": "dose",
}
PERTURBED = {
    "typos": {"as": "Typos", "level": "word", "degrees": {"1": "minor", "5": "major"}},
    "swapped": {"as": "sent swap", "level": "sentence"},
}


def pairs(**keys: Any) -> Dataset:
    """Return a card of a table of pairs, with changed keys."""
    base: dict[str, Any] = {
        "format": "table",
        "files": {"pairs": "x.jsonl"},
        "columns": COLUMNS,
        "perturbed": PERTURBED,
        "ratings": "none",
    }
    return card(**base | keys)


def row(
    item: str = "a",
    kind: str = "Typos",
    dose: object = "1",
    after: str = "Rian.",
    **k: Any,
) -> dict[str, Any]:
    """Return a row of a table of pairs."""
    base = {
        "id": item,
        "article": f"About {item}.",
        "before": f"Rain in {item}.",
        "after": after,
        "kind": kind,
        "dose": dose,
    }
    return base | k


ROWS = [
    row(),
    row(dose="5", after="Rian ni a."),
    row(kind="sent swap", dose="", after="In a: rain."),
    row("b", after="Rian in b."),
    row("b", kind="other", after="Not read."),
]


def test_a_row_is_a_perturbed_text_of_an_item(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", ROWS)
    dataset = pairs()
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.source, item.references) for item in rated.items] == [
        ("a", "About a.", ("Rain in a.",)),
        ("b", "About b.", ("Rain in b.",)),
    ]
    assert rated.outputs == [] and not dataset.has_systems
    assert rated.problems == [
        "1 text of perturbations that the card does not name: other"
    ]
    files = {"pairs": resolve(dataset.files, "pairs", tmp_path, tmp_path)}
    assert perturbed_texts(dataset, files, "Source") == [
        PerturbedText("a", "Typos", "1", "Rian."),
        PerturbedText("a", "Typos", "5", "Rian ni a."),
        PerturbedText("a", "sent swap", "", "In a: rain."),
        PerturbedText("b", "Typos", "1", "Rian in b."),
    ]


def test_a_single_perturbation_needs_no_column_and_items_no_id(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["article", "before", "after"])
        writer.writerow(["One.", "Good.", "Bad."])
        writer.writerow(["Two.", "Fine.", "Poor."])
    columns = {"source": "article", "original": "before", "perturbed": "after"}
    dataset = pairs(
        files={"pairs": "x.csv"},
        columns=columns,
        perturbed={"worse": {"level": "sentence"}},
    )
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [item.item for item in rated.items] == ["mine-001", "mine-002"]
    files = {"pairs": resolve(dataset.files, "pairs", tmp_path, tmp_path)}
    texts = perturbed_texts(dataset, files, "Source")
    assert [(text.item, text.text) for text in texts] == [
        ("mine-001", "Bad."),
        ("mine-002", "Poor."),
    ]
    assert dataset.perturbed["worse"].degree_of("") == "single"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"before": "Snow."}, "differ in their original (row 1)"),
        ({"article": "Another."}, "differ in their source"),
        ({"dose": "2"}, "unknown degree"),
        ({"dose": "1"}, "same perturbation and degree with different texts"),
        ({"after": " "}, "a perturbed text is empty"),
        ({"id": ""}, "invalid id (item)"),
    ],
)
def test_faults_of_pairs_have_their_rows(
    changed: dict[str, Any], words: str, tmp_path: Path
) -> None:
    rows = [dict(each) for each in ROWS]
    rows[1] |= changed
    jsonl(tmp_path / "x.jsonl", rows)
    message = faults(pairs(), tmp_path)
    assert words in message and "x.jsonl, row" in message


def test_a_perturbation_without_texts_names_those_of_the_data(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [ROWS[0], ROWS[4]])
    message = faults(pairs(), tmp_path)
    assert "no text of the perturbation swapped" in message
    assert "sent swap" in message and "Typos" in message and "other" in message
    assert "perturbed.swapped" in message


def test_a_column_that_is_missing(tmp_path: Path) -> None:
    jsonl(tmp_path / "x.jsonl", [{"id": "a", "article": "b", "text": "c"}])
    assert "before" in faults(pairs(), tmp_path)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"perturbed": {}}, "needs `perturbed`"),
        ({"files": {"items": "x.jsonl"}}, "needs a table with the role `pairs`"),
        ({"files": {"pairs": "x", "items": "y"}}, "roles pairs, not items"),
        ({"columns": COLUMNS | {"original": None}}, "needs `columns.original`"),
        ({"columns": COLUMNS | {"perturbation": None}}, "map `columns.perturbation`"),
        ({"columns": COLUMNS | {"degree": None}}, "need `columns.degree`"),
        ({"select": {"original": "none"}}, "leave out"),
        ({"ratings": "people"}, "add `ratings: none`"),
        (
            {"perturbed": PERTURBED | {"more": {"as": "Typos", "level": "word"}}},
            "the same name in the data",
        ),
        (
            {"perturbed": {"x": {"level": "word", "degrees": {"1": "a", "2": "a"}}}},
            "are the same degree",
        ),
        (
            {"perturbed": {"x": {"level": "word", "degrees": {"1": "attack"}}}},
            "is that of attacks",
        ),
    ],
)
def test_a_card_says_what_pairs_need(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as error:
        pairs(**keys)
    assert words in str(error.value)
