"""Programs as judges through the real workflow: what was scored is never scored
again.
"""

import json
import subprocess
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import running
from asking import ASKED, DEMO
from report_setup import text_of_pages
from study import Study

pytestmark = pytest.mark.slow
TEXTS = 120
COUNTING = """
import json, os, sys
lines = [json.loads(line) for line in sys.stdin]
with open(os.environ["SEEN"], "a") as file:
    print("started", file=file)
    for one in lines: print(json.dumps(one), file=file)
for one in lines: print(json.dumps({"id": one["id"], "score": len(one["text"])}))
"""


class Counting(Study):
    """A study with a program that writes down what it was given."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, ASKED, study="small", judges=["counted"])
        self.seen = folder / "seen.jsonl"
        monkeypatch.setenv("SEEN", str(self.seen))
        self.program()
        self.model()
        self.card("judges", "counted", model="counting")
        self.write()

    def program(self, text: str = COUNTING) -> None:
        (self.folder / "count.py").write_text(textwrap.dedent(text), encoding="utf-8")

    def model(self, **keys: Any) -> None:
        fields: dict[str, Any] = {
            "engine": "command",
            "argv": ["{python}", "{program}"],
        }
        fields |= {"files": {"program": "../../count.py"}, "env": ["SEEN"]}
        self.card("models", "counting", **fields | keys)

    def score(self, *wanted: str) -> subprocess.CompletedProcess[str]:
        """Make some files of the results, by default the scores of the judge and
        nothing else.
        """
        files = wanted or ("scores/demo-dialogue/counting.json",)
        return self.snakemake("--", *(f"results/small/{name}" for name in files))

    def given(self) -> list[dict[str, Any]]:
        """Return what the program has been given since the last time."""
        lines = self.seen.read_text("utf-8").splitlines() if self.seen.exists() else []
        self.seen.write_text("", encoding="utf-8")
        return [json.loads(line) for line in lines if line != "started"]

    def cell(
        self, folder: str, name: str, aspect: str = "naturalness"
    ) -> list[dict[str, Any]]:
        return running.cell(
            self.folder / "results/small", folder, f"demo-dialogue/{name}", aspect
        )


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(tmp_path, monkeypatch)


def texts() -> dict[str, str]:
    lines = (DEMO / "dialogue_outputs.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {f"{row['item']}:{row['system']}": row["response"] for row in rows}


def test_from_cards_to_report_and_then_nothing_is_scored_again(study: Counting) -> None:
    done = study.run()
    assert done.returncode == 0, done.stdout
    given = study.given()
    assert len(given) == TEXTS and {row["aspect"]["id"] for row in given} == {
        "naturalness"
    }
    assert given[0]["scale"] == {"min": 1, "max": 5, "step": 1, "labels": []}
    assert all(row["source"] for row in given) and "references" not in given[0]
    scores = {
        row["target"]: row["value"]
        for row in study.cell("scores", "counting/systems/counted")
    }
    assert scores == {target: len(text) for target, text in texts().items()}
    pages = text_of_pages(study.folder / "results/small/report")
    assert "counting" in pages and str(study.folder) not in pages
    before = study.cell("replies", "counting/systems/counted")
    subprocess.run(["rm", "-r", str(study.folder / "results")], check=True)
    study.model(batch=7, workers=2, timeout=60, variant=None)
    assert study.score().returncode == 0
    assert (
        study.given() == []
        and study.cell("replies", "counting/systems/counted") == before
    )
    study.program(
        COUNTING.replace('len(one["text"])', "1")
    )  # a changed program is another one
    assert study.score().returncode == 0
    assert len(study.given()) == TEXTS
    assert {
        row["value"] for row in study.cell("scores", "counting/systems/counted")
    } == {1.0}


def test_perturbed_texts_and_only_what_the_program_sees(study: Counting) -> None:
    study.model(inputs=["references"])
    study.write(
        aspects=["naturalness", "groundedness"],
        perturbations=["word-deletions"],
        methods=["discernment"],
    )
    done = study.score("tables/discernment.parquet", "tables/discernment.csv")
    assert done.returncode == 0, done.stdout
    given = study.given()
    shown = {
        "id",
        "form",
        "references",
        "text",
        "seed",
        "draw",
    }  # and neither aspect nor source
    assert all(set(entry) == shown for entry in given)
    # 24 originals and two degrees of a perturbation, not twice for two aspects
    assert 60 < len(given) <= 3 * 24
    lines = (DEMO / "dialogue_items.jsonl").read_text("utf-8").splitlines()
    kept = ("reference", "reference_2")
    references = [{json.loads(line)[name] for name in kept} for line in lines]
    for record in given:  # the reference that a text was made from is not shown
        [complete] = [each for each in references if each > set(record["references"])]
        assert (
            len(complete) == len(record["references"]) + 1
            and record["text"] not in record["references"]
        )
    rows = running.rows(study.folder / "results" / "small", "discernment")
    by_degree = {
        row["degree"]: row["value"] for row in rows if row["statistic"] == "D_exact"
    }
    assert by_degree and all(
        value > 1 for value in by_degree.values()
    )  # shorter texts, lower scores


@pytest.mark.long(5)
def test_a_crash_keeps_what_came_and_the_next_run_asks_for_the_rest(
    study: Counting,
) -> None:
    crash = 'if len(seen) == 50: sys.exit("out of memory")'
    study.program(
        f"""
        import json, os, sys
        seen = []
        for line in sys.stdin:
            seen.append(line)
            {crash}
            open(os.environ["SEEN"], "a").write(line)
            print(json.dumps({{"id": json.loads(line)["id"], "text": "Rating: 4"}}))
        """
    )
    study.card("judges", "counted", model="counting", parser="score")
    done = study.score()
    assert done.returncode == 1
    message = (
        f"the program exited with code 1; not answered: {TEXTS - 49} of {TEXTS}, "
        "first count"
    )
    assert message in done.stdout and "its last output: out of memory" in done.stdout
    assert "run again for the rest" in done.stdout and "Traceback" not in done.stdout
    first = study.given()
    assert len(first) == 49
    done = study.score()
    assert done.returncode == 1 and len(study.given()) == 49
    done = study.score()
    assert done.returncode == 0, done.stdout
    assert len(study.given()) == TEXTS - 98
    assert {
        row["value"] for row in study.cell("scores", "counting/systems/counted")
    } == {4.0}


def test_what_cannot_be_scored_is_counted(study: Counting) -> None:
    study.program(
        """
        import json, sys
        for number, line in enumerate(sys.stdin):
            told = [{"score": 3}, {"score": float("nan")}, {"error": "no"}, {"text": \
"much"}]
            print(json.dumps({"id": json.loads(line)["id"], **told[number % 4]}))
        """
    )
    fields = {"scale": {"min": 1, "max": 5, "step": 1}}
    study.card("judges", "counted", model="counting", **fields)
    assert study.score().returncode == 0
    judged = Counter(
        row["status"] for row in study.cell("judgments", "counting/systems/counted")
    )
    quarter = TEXTS // 4
    assert judged == {
        "ok": quarter,
        "empty": quarter,
        "error": quarter,
        "unparsed": quarter,
    }
    result = study.judgescope("replies", "retry")
    assert f"counting: {quarter} refused requests will be sent again" in result.stdout


@pytest.mark.parametrize(
    ("model", "judge", "parts"),
    [
        ({"argv": ["no-such-program"]}, {}, ["program not found", "key argv"]),
        ({"env": ["NOT_SET_HERE"]}, {}, ["variable", "is not set", "NOT_SET_HERE"]),
        ({"files": {"program": "no.py"}}, {}, ["no such file", "key files.program"]),
        ({"sha256": {"program": "0" * 64}}, {}, ["checksum differs from the card's"]),
        (
            {},
            {"use_reference": True},
            ["is not for programs", "`inputs` of models/counting"],
        ),
    ],
)
def test_a_mistake_is_reported_before_anything_is_run(
    study: Counting, model: dict[str, Any], judge: dict[str, Any], parts: list[str]
) -> None:
    study.model(**model)
    study.card("judges", "counted", model="counting", **judge)
    done = study.run()
    assert done.returncode != 0
    assert not [part for part in parts if part not in done.stdout], done.stdout
    assert "Traceback" not in done.stdout
    assert not list(study.folder.glob("results/**/*.parquet")) and study.given() == []


def test_scores_that_a_study_uses_are_not_cleared_out(study: Counting) -> None:
    assert study.score().returncode == 0
    study.given()
    prune = ("-m", "judgescope", "replies", "prune", "study.yaml", "--yes")
    done = running.run(*prune, cwd=study.folder)
    assert done.returncode == 0, done.stdout
    subprocess.run(["rm", "-r", str(study.folder / "results")], check=True)
    assert study.score().returncode == 0
    assert study.given() == []


def test_a_program_cannot_write_texts(study: Counting) -> None:
    made = {
        "level": "sentence",
        "method": "llm",
        "model": "counting",
        "form": "wrong-fact",
    }
    study.card("perturbations", "lie", name="A lie", **made)
    study.write(perturbations=["lie"], methods=["discernment"])
    assert "this model cannot write" in study.run().stdout


def test_the_shipped_program_scores_as_it_says(study: Counting) -> None:
    study.write(judges=["word-variety"], aspects=["naturalness", "groundedness"])
    aspects = ("naturalness", "groundedness")
    done = study.score("scores/demo-dialogue/word-variety.json")
    assert done.returncode == 0, done.stdout
    for aspect in aspects:
        rows = study.cell("scores", "word-variety/systems/word-variety", aspect)
        scores = {row["target"]: row["value"] for row in rows}
        assert len(scores) == TEXTS and all(0 < value <= 1 for value in scores.values())
        short = next(text for text in texts().items() if len(text[1].split()) < 20)
        words = "".join(
            letter if letter.isalnum() else " " for letter in short[1].lower()
        ).split()
        assert scores[short[0]] == pytest.approx(len(set(words)) / len(words))
    [journal] = study.folder.glob("cache/replies/word-variety/*.jsonl")
    lines = journal.read_bytes().splitlines()
    assert len(lines) - 1 <= TEXTS  # not once for each aspect; the last line closes


def test_the_variety_of_long_texts_is_the_mean_over_windows() -> None:
    words = ["a", "b", "a", "a", "c"] * 10  # every window of five has three words
    lines = [{"id": "long", "text": " ".join(words)}, {"id": "none", "text": " ... "}]
    done = subprocess.run(
        ["python3", str(running.HOME / "config" / "programs" / "word_variety.py"), "5"],
        input="\n".join(map(json.dumps, lines)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    long, none = map(json.loads, done.stdout.splitlines())
    assert long == {"id": "long", "score": pytest.approx(0.6)}
    assert none == {"id": "none", "error": "there are no words"}
