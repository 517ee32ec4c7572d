"""A Python function as a judge through the real workflow."""

import json
from pathlib import Path

import pytest

import running
from asking import ASKED
from study import Study

pytestmark = pytest.mark.slow
TEXTS = 120
METRIC = """
from helper import length, note

def score(text, aspect, scale, meta=None):
    note(text)
    size = length(text)
    if size % 5 == 0:
        raise ValueError(f"a length of {size}")
    return {"score": size, "reason": f"{size} characters on {aspect['id']}"}
"""
HELPER = """
import os

def length(text):
    return len(text)

def note(text):
    with open(os.environ["SEEN"], "a") as file:
        print("called", file=file)
"""


class FunctionStudy(Study):
    """A study whose judge is a function that notes its calls."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, ASKED, study="small", judges=["measured"])
        self.seen = folder / "seen.txt"
        monkeypatch.setenv("SEEN", str(self.seen))
        (folder / "metric.py").write_text(METRIC, encoding="utf-8")
        (folder / "helper.py").write_text(HELPER, encoding="utf-8")
        files = {"helper": "../../helper.py"}
        self.model(files=files)
        self.card("judges", "measured", model="metric")
        self.write()

    def model(self, **keys: object) -> None:
        fields = {"engine": "python", "function": "../../metric.py:score"}
        self.card("models", "metric", **fields, env=["SEEN"], **keys)

    def calls(self) -> int:
        """Return how often the function was called since the last time."""
        count = len(self.seen.read_text().splitlines()) if self.seen.exists() else 0
        self.seen.write_text("")
        return count


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FunctionStudy:
    return FunctionStudy(tmp_path, monkeypatch)


def test_a_function_scores_every_text_once(study: FunctionStudy) -> None:
    wanted = "results/small/scores/demo-dialogue/metric.json"
    done = study.snakemake("--", wanted)
    assert done.returncode == 0, done.stdout
    assert study.calls() == TEXTS
    results = study.folder / "results/small"
    words = "demo-dialogue/metric/systems/measured"
    judgments = running.cell(results, "judgments", words, "naturalness")
    failed = [row for row in judgments if row["status"] == "error"]
    scored = [row for row in judgments if row["status"] == "ok"]
    assert len(scored) + len(failed) == TEXTS and len(failed) > 5
    assert (
        scored[0]["rationale"] == f"{scored[0]['value']:.0f} characters on naturalness"
    )
    replies = running.cell(results, "replies", words, "naturalness")
    texts = {row["text"] for row in replies if row["status"] == "error"}
    assert all(text.startswith("ValueError: a length of ") for text in texts)

    study.model(files={"helper": "../../helper.py"}, workers=2, timeout=60)
    assert study.snakemake("--", wanted).returncode == 0
    assert study.calls() == 0

    helper = study.folder / "helper.py"
    helper.write_text(HELPER.replace("len(text)", "7"), encoding="utf-8")
    assert study.snakemake("--", wanted).returncode == 0
    assert study.calls() == TEXTS


def test_check_names_what_it_runs_and_runs_nothing(study: FunctionStudy) -> None:
    metric = study.folder / "metric.py"
    metric.write_text(f"raise SystemExit('run')\n{METRIC}", encoding="utf-8")
    done = study.judgescope("check")
    assert done.returncode == 0, done.stdout
    assert "../../metric.py:score (model metric; it sees the variables SEEN)" in (
        done.stdout
    )
    assert study.calls() == 0

    study.model()
    done = study.judgescope("check")
    assert done.returncode == 1
    assert "imports a module that `files` does not name" in done.stdout
    assert "helper.py" in done.stdout


def test_a_function_that_compares_receives_both_texts(study: FunctionStudy) -> None:
    study.card("judges", "measured", model="metric", form="compare")
    done = study.judgescope("check")
    output = done.stdout
    assert (
        done.returncode == 1 and "needs a function with the argument text_b" in output
    )
    source = """
        def score(text, text_b):
            open("/dev/null").close()
            return "A" if len(text) > len(text_b) else "B"
    """
    (study.folder / "metric.py").write_text(
        "\n".join(line[8:] for line in source.splitlines()), encoding="utf-8"
    )
    study.model()
    done = study.snakemake("--", "results/small/scores/demo-dialogue/metric.json")
    assert done.returncode == 0, done.stdout
    cells = study.folder / "results/small"
    judgments = running.cell(
        cells, "judgments", "demo-dialogue/metric/systems/measured", "naturalness"
    )
    assert {row["value"] for row in judgments} == {1.0, -1.0}, json.dumps(judgments[:2])
