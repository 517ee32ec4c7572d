"""Datasets without systems and ratings, from shipped cards and self-written files to
the tables.
"""

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dhp import STORY, UNPINNED, without_pins, write_data
from running import rows, snakemake
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(20)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study of discernment, and of agreement that has nothing to rate, whole."""
    folder = tmp_path_factory.mktemp("data")
    write_data(folder / "public")
    maker = Study(folder)
    for name in UNPINNED:
        maker.change("datasets", name, **without_pins(name))
    study = maker.write(
        data="public",
        datasets=["story-cloze", "answer-equivalence", "wmt22-de-en"],
        aspects=[],
        judges=["rules", "length", "rouge-l"],
        perturbations=[
            *(
                "random-deletions",
                "random-word-deletions",
                "reordering",
                "random-ending",
            ),
            *("wrong-ending", "random-answer"),
        ],
        methods=["agreement", "discernment"],
    )
    done = snakemake("--configfile", str(study), cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:]
    return folder / "results" / "small"


def targets(results: Path, dataset: str, name: str) -> list[dict[str, object]]:
    path = results / "targets" / dataset / f"{name}.parquet"
    rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return rows


def test_a_hundred_originals_are_perturbed_in_every_planned_way(results: Path) -> None:
    made = {
        dataset: {
            path.stem for path in (results / "targets" / dataset).glob("*.*.parquet")
        }
        for dataset in ("story-cloze", "answer-equivalence", "wmt22-de-en")
    }
    ways = {name: {f"{name}.minor", f"{name}.major"} for name in ("random-deletions",)}
    assert made == {
        "story-cloze": {
            "random-deletions.single",
            "random-ending.single",
            "wrong-ending.single",
        },
        "answer-equivalence": ways["random-deletions"] | {"random-answer.single"},
        "wmt22-de-en": ways["random-deletions"]
        | {"random-word-deletions.minor", "random-word-deletions.major"},
    }
    for dataset, names in made.items():
        assert targets(results, dataset, "systems") == []
        for name in ("original", *names):
            texts = targets(results, dataset, name)
            assert len(texts) == 100 and {text["status"] for text in texts} == {"ok"}


def test_the_wrong_ending_is_that_of_the_same_story_in_the_file(results: Path) -> None:
    with (results.parents[1] / "public" / STORY).open(
        encoding="utf-8", newline=""
    ) as file:
        stories = {row["InputStoryid"]: row for row in csv.DictReader(file)}
    for target in targets(results, "story-cloze", "wrong-ending.single"):
        row = stories[str(target["item"])]
        assert (
            target["text"]
            == row[f"RandomFifthSentenceQuiz{3 - int(row['AnswerRightEnding'])}"]
        )


def test_joined_translations_are_long_enough(results: Path) -> None:
    texts = [
        str(target["text"]) for target in targets(results, "wmt22-de-en", "original")
    ]
    assert min(map(len, texts)) > 300 and max(map(len, texts)) < 500
    assert all(text.count("as report") == 3 for text in texts)


def test_judges_discern_and_nothing_is_stated_of_agreement(results: Path) -> None:
    by_key = {
        (row["dataset"], row["judge"], row["perturbation"], row["degree"]): row
        for row in rows(results, "discernment")
        if row["statistic"] == "D_exact" and row["perturbation"]
    }
    assert by_key["wmt22-de-en", "rules", "random-deletions", "major"]["value"] > 1
    assert (
        by_key["answer-equivalence", "rules", "random-deletions", "major"]["value"] > 1
    )
    lexical = by_key["story-cloze", "rouge-l", "wrong-ending", "single"]
    assert lexical["value"] is None  # there is one reference
    assert lexical["note"] == "not applicable: only_reference"
    assert rows(results, "agreement") == []
    assert (results / "report" / "index.html").stat().st_size > 1000
