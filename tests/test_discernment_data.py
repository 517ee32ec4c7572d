"""Datasets without systems and ratings, from shipped cards and self-written files to the tables."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from running import rows, snakemake, write_study
from test_data_originals import COLUMNS, xml

pytestmark = pytest.mark.slow

COUNT = 104
PEOPLE = ["Ana", "Bo", "Cem", "Dina"]
STORY = "story_cloze/cloze_test_val__spring2016 - cloze_test_ALL_val.csv"


def write_stories(folder: Path) -> None:
    with (folder / STORY).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(COUNT):
            who = PEOPLE[number % 4]
            start = [
                f"{who} went to town {number}.",
                "It was late.",
                "It rained.",
                "A shop was open.",
            ]
            ends = [f"{who} bought umbrella number {number}.", f"{who} hated dry weather {number}."]
            right = number % 2
            writer.writerow([f"story-{number}", *start, *(ends[right:] + ends[:right]), right + 1])


def write_answers(folder: Path) -> None:
    rows = []
    for number in range(COUNT):
        base = {"qid": f"q{number}", "question": f"Why {number}?", "context": "It was said."}
        long = f"Because {PEOPLE[number % 4]} had said so in letter {number}, " + "and again " * 15
        for reference in ("They said so.", long.strip() + "."):
            rows.append(base | {"reference": reference, "candidate": "Unknown", "score": 0})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "answer_equivalence" / "v1" / "train.jsonl").write_text(text, encoding="utf-8")


def write_translations(folder: Path) -> None:
    documents = [f"doc{number // 5}" for number in range(5 * COUNT)]
    words = "The mayor of the town said that the old bridge would be closed for repairs until May"
    english = [f"{words}, as report {number} has it." for number in range(len(documents))]
    german = [f"Die alte Brücke bleibt bis Mai zu, so Bericht {n}." for n in range(len(documents))]
    wmt = folder / "wmt22"
    for name, lines in (("ref.A.en", english), ("src.de", german)):
        path = wmt / f"generaltest2022.de-en.{name}"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (wmt / "wmttest2022.de-en.all.xml").write_text(xml(documents), encoding="utf-8")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study of discernment, and of agreement that has nothing to rate, whole."""
    folder = tmp_path_factory.mktemp("data")
    for place in ("story_cloze", "answer_equivalence/v1", "wmt22"):
        (folder / "public" / place).mkdir(parents=True)
    for write in (write_stories, write_answers, write_translations):
        write(folder / "public")
    study = write_study(
        folder,
        data="public",
        datasets=["story-cloze", "answer-equivalence", "wmt22-de-en"],
        aspects=[],
        judges=["rules", "length", "rouge-l"],
        perturbations=[
            *("random-deletions", "random-word-deletions", "reordering", "random-ending"),
            *("wrong-ending", "random-answer"),
        ],
        methods=["agreement", "discernment"],
    )
    done = snakemake("--configfile", str(study), cwd=folder)
    assert done.returncode == 0, done.stdout[-4000:]
    return folder / "results" / "small"


def targets(results: Path, dataset: str, name: str) -> list[dict[str, object]]:
    path = results / "targets" / dataset / f"{name}.parquet"
    found: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return found


def test_a_hundred_originals_are_damaged_in_every_planned_way(results: Path) -> None:
    made = {
        dataset: {path.stem for path in (results / "targets" / dataset).glob("*.*.parquet")}
        for dataset in ("story-cloze", "answer-equivalence", "wmt22-de-en")
    }
    ways = {name: {f"{name}.minor", f"{name}.major"} for name in ("random-deletions",)}
    assert made == {
        "story-cloze": {"random-deletions.single", "random-ending.single", "wrong-ending.single"},
        "answer-equivalence": ways["random-deletions"] | {"random-answer.single"},
        "wmt22-de-en": ways["random-deletions"]
        | {"random-word-deletions.minor", "random-word-deletions.major"},
    }
    for dataset, names in made.items():
        assert targets(results, dataset, "systems") == []
        for name in ("original", *names):
            texts = targets(results, dataset, name)
            assert len(texts) == 100 and {one["status"] for one in texts} == {"ok"}


def test_the_wrong_ending_is_that_of_the_same_story_in_the_file(results: Path) -> None:
    with (results.parents[1] / "public" / STORY).open(encoding="utf-8", newline="") as file:
        stories = {row["InputStoryid"]: row for row in csv.DictReader(file)}
    for one in targets(results, "story-cloze", "wrong-ending.single"):
        row = stories[str(one["item"])]
        assert one["text"] == row[f"RandomFifthSentenceQuiz{3 - int(row['AnswerRightEnding'])}"]


def test_joined_translations_are_long_enough(results: Path) -> None:
    texts = [str(one["text"]) for one in targets(results, "wmt22-de-en", "original")]
    assert min(map(len, texts)) > 300 and max(map(len, texts)) < 500
    assert all(text.count("as report") == 3 for text in texts)


def test_judges_discern_and_nothing_is_said_of_agreement(results: Path) -> None:
    found = {
        (row["dataset"], row["judge"], row["perturbation"], row["degree"]): row
        for row in rows(results, "discernment")
        if row["statistic"] == "D_exact" and row["perturbation"]
    }
    assert found["wmt22-de-en", "rules", "random-deletions", "major"]["value"] > 1
    assert found["answer-equivalence", "rules", "random-deletions", "major"]["value"] > 1
    lexical = found["story-cloze", "rouge-l", "wrong-ending", "single"]
    assert lexical["value"] is None  # there is one reference
    assert lexical["note"] == "not applicable: only_reference"
    assert rows(results, "agreement") == []
    assert (results / "report" / "index.html").stat().st_size > 1000
