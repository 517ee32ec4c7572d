"""The format of the confusion paper's texts, on texts in the layout of the authors'
program (the file itself was not run here).
"""

from pathlib import Path
from typing import Any

import pytest

from confusion_texts import CARDS, NAMES, contents, written
from data_samples import DATASETS, card, faults
from judgescope.core.errors import UserError
from judgescope.data.confusion import SOURCES
from judgescope.data.files import resolve
from judgescope.data.pairs import perturbed_texts
from judgescope.data.select import read_dataset
from judgescope.schema.loading import read_card


@pytest.mark.parametrize("role", NAMES)
def test_a_card_reads_its_list(role: str, tmp_path: Path) -> None:
    written(tmp_path, contents())
    dataset = CARDS[role]
    rated = read_dataset(dataset, tmp_path, tmp_path)
    assert [(item.item, item.source, item.references) for item in rated.items] == [
        (f"{NAMES[role]}-001", "Source 0.", ("Text 0.",)),
        (f"{NAMES[role]}-002", "Source 1.", ("Text 1.",)),
    ]
    assert rated.items[0].parts[0].name == SOURCES[role][1]
    assert rated.problems == [] and not dataset.has_systems
    files = {role: resolve(dataset.files, role, tmp_path, tmp_path)}
    texts = perturbed_texts(dataset, files, "Source")
    assert len(texts) == 18 * 2
    assert {(text.perturbation, text.text) for text in texts} >= {
        ("contradiction_negate", "negation of 1."),
        ("fluency_repeat", "repetition of 0."),
    }


def test_all_cards_have_the_perturbations_of_the_paper() -> None:
    table = read_card(
        "expectations", DATASETS.parent / "expectations" / "table-21.yaml"
    )
    for dataset in CARDS.values():
        assert dataset.perturbed.keys() == table.perturbations.keys()
        for name, texts in dataset.perturbed.items():
            path = DATASETS.parent / "perturbations" / f"{name}.yaml"
            made = read_card("perturbation", path)
            assert (texts.name, texts.level) == (made.name, made.level)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content.pop("news"), "no list of items `news`"),
        (lambda content: content.update(news={}), "no list of items `news`"),
        (lambda content: content["news"][1].pop("new_ref"), "new_ref"),
        (lambda content: content["news"][1].pop("inform_abbr"), "inform_abbr"),
        (lambda content: content["news"].append("text"), "an item must be an object"),
    ],
)
def test_a_layout_that_changed(change: Any, words: str, tmp_path: Path) -> None:
    content = contents()
    change(content)
    written(tmp_path, content)
    with pytest.raises(Exception) as error:
        read_dataset(CARDS["news"], tmp_path, tmp_path)
    assert words in str(error.value) and "data_all.json" in str(error.value)


def test_a_dataset_has_a_single_list(tmp_path: Path) -> None:
    written(tmp_path, contents())
    files = dict.fromkeys(("news", "dial"), "confusion/data_all.json")
    dataset = card(format="confusion_json", files=files, ratings="none")
    with pytest.raises(UserError, match="one of the lists"):
        read_dataset(dataset, tmp_path, tmp_path)


def test_faults_name_the_list(tmp_path: Path) -> None:
    content = contents()
    content["para"][0]["grammar_typo"] = ""
    written(tmp_path, content)
    assert "a perturbed text is empty" in faults(CARDS["para"], tmp_path)
