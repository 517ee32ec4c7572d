"""Perturbed texts that come with a dataset run through discernment and confusion, with
the numbers of the same texts made here.
"""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import confusion_texts
from data_samples import jsonl
from judgescope.core.errors import UserError
from study import Study, shipped

pytestmark = pytest.mark.slow

NAME = "demo-confusion-news"
RULES = ["sentence-exchange", "spelling-mistake", "sentence-deletion"]
KEYS: dict[str, Any] = {
    "study": "ready",
    "seed": 7,
    "datasets": [NAME],
    "judges": ["rules", "rouge-l-source", "length", "random"],
    "perturbations": RULES,
    "methods": ["discernment", "confusion"],
    "confusion": {"expectations": "table-21"},
}


def given(study: Study, source: Study, names: dict[str, str]) -> None:
    """Write the texts of a finished study as pairs, and the card that reads them;
    `names`: perturbation -> its name in the data.
    """
    items = pq.read_table(source.out / "items" / f"{NAME}.parquet").to_pylist()
    sources = {row["item"]: row["source"] for row in items}
    folder = source.out / "targets" / NAME
    original = pq.read_table(folder / "original.parquet").to_pylist()
    before = {row["item"]: row["text"] for row in original}
    rows = []
    for perturbation, name in names.items():
        [path] = folder.glob(f"{perturbation}.*.parquet")
        for row in pq.read_table(path).to_pylist():
            item = row["item"]
            rows.append(
                {
                    "id": item,
                    "article": sources[item],
                    "before": before[item],
                    "after": row["text"],
                    "kind": name,
                    "dose": path.name.split(".")[1],
                }
            )
    jsonl(study.folder / "pairs.jsonl", rows)
    perturbed = {}
    for perturbation, name in names.items():
        card = shipped("perturbations", perturbation)
        doses = {degree: degree for degree in card["degrees"]}
        perturbed[perturbation] = {
            "as": name,
            "level": card["level"],
            "name": card["name"],
            "degrees": doses,
        }
    columns = {
        "item": "id",
        "source": "article",
        "original": "before",
        "perturbed": "after",
        "perturbation": "kind",
        "degree": "dose",
    }
    study.change(
        "datasets",
        NAME,
        files={"pairs": "../../pairs.jsonl"},
        columns=columns,
        perturbed=perturbed,
    )


def numbers(study: Study, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table without signatures of what made them."""
    return [
        {key: value for key, value in row.items() if key not in {"signature", "code"}}
        for row in study.rows(table)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study in which rules make the texts."""
    study = Study(tmp_path_factory.mktemp("made"), KEYS)
    study.write()
    done = study.make("discernment", "confusion")
    assert done.returncode == 0, done.stdout[-4000:]
    return study


@pytest.mark.long(15)
def test_given_texts_have_the_numbers_of_made_texts(
    made: Study, tmp_path: Path
) -> None:
    study = Study(tmp_path, KEYS)
    given(study, made, {name: name.title() for name in RULES})
    study.write()
    done = study.make("discernment", "confusion")
    assert done.returncode == 0, done.stdout[-4000:]
    for table in ("discernment", "confusion"):
        assert numbers(study, table) == numbers(made, table)
    targets = study.out / "targets" / NAME
    [path] = targets.glob("spelling-mistake.*.parquet")
    for row in pq.read_table(path).to_pylist():
        assert row["status"] == "ok" and len(row["edits"]) == 1


@pytest.mark.long(15)
def test_a_card_of_the_same_id_is_for_other_datasets(
    made: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = KEYS | {
        "datasets": [NAME, "demo-confusion-dialogue"],
        "perturbations": ["sentence-deletion", "word-exchange"],
        "methods": ["discernment"],
    }
    keys.pop("confusion")
    study = Study(tmp_path, keys)
    given(study, made, dict.fromkeys(["sentence-deletion"], "cut"))
    study.write()
    done = study.make("discernment")
    assert done.returncode == 0, done.stdout[-4000:]
    of_study = {
        (row["dataset"], row["perturbation"])
        for row in study.rows("discernment")
        if row["perturbation"]
    }
    assert of_study >= {
        (dataset, name)
        for dataset in keys["datasets"]
        for name in keys["perturbations"]
    }
    checked = study.judgescope("check")
    assert "texts as given for sentence-deletion" in checked.stdout, checked.stdout


def test_a_perturbation_without_card_and_without_texts(
    made: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(tmp_path, KEYS, perturbations=["own-swap", "sentence-deletion"])
    given(study, made, {"sentence-deletion": "cut"})
    with pytest.raises(UserError, match="unknown perturbation card"):
        study.plan()


def test_a_perturbation_without_card_is_for_the_datasets_that_have_it(
    made: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = {"datasets": [NAME, "demo-confusion-dialogue"], "methods": ["discernment"]}
    study = Study(tmp_path, KEYS, **keys, perturbations=["cut", "word-exchange"])
    given(study, made, {"sentence-deletion": "cut"})
    card = shipped("datasets", NAME, study.folder)
    described = card["perturbed"].pop("sentence-deletion")
    study.amend("datasets", NAME, perturbed={"cut": described})
    plan = study.plan()
    assert dict(plan.perturbed("demo-confusion-dialogue")).keys() == {"word-exchange"}
    assert dict(plan.perturbed(NAME)).keys() == {"cut", "word-exchange"}
    assert plan.perturbations["cut"].name == described["name"]


@pytest.mark.long(30)
def test_the_published_texts_of_the_confusion_paper(tmp_path: Path) -> None:
    """The study that is shipped, on a small file in the authors' layout."""
    confusion_texts.written(tmp_path / "data", confusion_texts.contents(8))
    keys = shipped("studies", "confusion-published", data="data", criteria=["default"])
    study = Study(tmp_path, keys, judges=["rules", "length"])
    study.write()
    done = study.make("confusion")
    assert done.returncode == 0, done.stdout[-4000:]
    cells = [
        row
        for row in study.rows("confusion")
        if row["statistic"] == "delta" and row["judge"] == "rules"
    ]
    datasets = set(confusion_texts.NAMES.values())
    assert {row["dataset"] for row in cells} >= datasets
    assert {row["perturbation"] for row in cells} >= set(keys["perturbations"])
    assert {row["n"] for row in cells if row["dataset"] in datasets} == {8}
