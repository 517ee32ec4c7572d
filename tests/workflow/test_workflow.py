"""The real Snakefile: what a user's mistakes answer, and what a run leaves."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import running
from guides import cards_of
from report_setup import text_of_pages
from running import HOME, outputs, rows, snakemake
from study import Study
from waiting import patience

pytestmark = pytest.mark.slow

MISTAKES: dict[
    str, tuple[dict[str, Any], tuple[str, str, dict[str, Any]] | None, list[str]]
] = {
    "unknown key": (
        {"jugdes": []},
        None,
        ["unknown key", "key jugdes", "nearest: judges"],
    ),
    "unknown judge": (
        {"judges": ["rouge-11"]},
        None,
        ["unknown judge card", "'rouge-11'", "nearest: rouge-1", "key judges"],
    ),
    "unknown aspect": (
        {"aspects": ["naturalnes"]},
        None,
        ["has this aspect", "nearest: naturalness"],
    ),
    "unknown method": (
        {"methods": ["agrement"]},
        None,
        ["unknown value", "nearest: agreement"],
    ),
    "a perturbation that nothing needs": (
        {"methods": ["agreement"]},
        None,
        [
            "no method of the study uses this perturbation",
            "key perturbations",
            "add the method",
        ],
    ),
    "missing file": (
        {},
        (
            "datasets",
            "demo-dialogue",
            {"files": {"items": "nowhere.jsonl", "data": "n.jsonl"}},
        ),
        ["no such file", "'n.jsonl'", "demo-dialogue.yaml, key files.data"],
    ),
    "wrong sha256": (
        {},
        (
            "datasets",
            "demo-dialogue",
            {
                "files": {
                    role: str(HOME / "config" / "demo" / f"dialogue_{name}.jsonl")
                    for role, name in (("items", "items"), ("data", "outputs"))
                },
                "sha256": {"items": "0" * 64},
            },
        ),
        ["checksum differs from the card's", "key sha256.items", "0" * 64],
    ),
    "scale that no aspect has": (
        {},
        ("judges", "random", {"scale": {"min": 0, "max": 7, "step": 1}}),
        ["a scale with these ends", "0 to 7", "1 to 5", "key scale"],
    ),
    "scale of an aspect that is none": (
        {},
        (
            "datasets",
            "demo-dialogue",
            {"aspects": {"naturallness": {"min": 1, "max": 5}}},
        ),
        ["unknown aspect card", "nearest: naturalness"],
    ),
    "wrong form": (
        {},
        ("judges", "random", {"form": "randomm"}),
        ["unknown form", "nearest: random", "key form"],
    ),
    "wrong rule": (
        {},
        ("perturbations", "reordering", {"rule": "reorder_sentence"}),
        ["unknown rule", "nearest: reorder_sentences"],
    ),
    "wrong k": (
        {},
        ("perturbations", "reordering", {"degrees": {"minor": {"k": 1}}}),
        ["invalid value of k", "degrees.minor"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_single_clear_message_and_nothing_is_run(
    mistake: str, tmp_path: Path
) -> None:
    keys, card, parts = MISTAKES[mistake]
    study = Study(tmp_path, **keys)
    if card is not None:
        kind, name, changes = card
        study.change(kind, name, **changes)
    study.write()
    done = study.snakemake()
    assert done.returncode != 0
    missing = [part for part in parts if part not in re.sub(r"  +", " ", done.stdout)]
    assert not missing, f"{missing} not in:\n{done.stdout}"
    assert done.stdout.count("the study cannot run") == 1
    assert "Traceback" not in done.stdout
    assert not list(tmp_path.glob("results/**/*.parquet"))


def test_check_says_what_a_run_would_do_and_runs_nothing_else(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.write()
    done = study.snakemake("check", "-q", "rules")
    assert done.returncode == 0, done.stdout
    # 5 judges x (systems, original, 2 perturbations of 2 degrees), and the two controls
    # that the study does not name, on the systems' texts
    assert re.search(r"demo-dialogue +32 cells", done.stdout)
    assert "requests to models: 0" in done.stdout
    made = {path.name for path in (tmp_path / "results/small").iterdir()}
    assert made == {"items", "logs", "preflight.json", "ratings", "spans", "targets"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Run the small study once."""
    study = Study(tmp_path_factory.mktemp("small"))
    study.write()
    done = study.snakemake()
    assert done.returncode == 0, done.stdout
    return study


def test_a_cell_can_be_asked_for_by_name(small: Study) -> None:
    """Of computed judges the folder of their model has a name, of others each cell."""
    model = "results/small/scores/demo-dialogue/lexical"
    done = small.snakemake("-n", "--", model)
    assert "Nothing to be done" in done.stdout
    assert (small.folder / model / "reordering.minor/rules.parquet").is_file()


def test_texts_of_every_perturbation_lie_beside_the_report(small: Study) -> None:
    report = small.out / "report"
    assert 'href="../texts.html#demo-dialogue"' in text_of_pages(report)
    texts = (report / "texts.html").read_text(encoding="utf-8")
    assert re.findall(r'id="demo-dialogue\.(\S+)"', texts) == [
        *(
            "random-typos.minor",
            "random-typos.major",
            "reordering.minor",
            "reordering.major",
        )
    ]
    assert (
        texts.count("<li><p class=") == 4 * 10 + 2 * 3
    )  # four texts have only one sentence
    assert (
        "4 impossible" in texts and "k = all" in texts and "by the rule typos" in texts
    )


def test_a_second_run_does_nothing(small: Study) -> None:
    before = outputs(small.out)
    done = small.snakemake()
    assert "Nothing to be done" in done.stdout
    assert outputs(small.out) == before


def test_without_ratings_controls_are_not_applicable(tmp_path: Path) -> None:
    judges = ["constant-top", "shuffled", "most-frequent"]
    study = Study(tmp_path)
    study.write(judges=judges)
    done = study.make("discernment")
    assert done.returncode == 0, done.stdout
    rows = study.rows("discernment")
    for judge in ("shuffled", "most-frequent"):
        mine = [row for row in rows if row["judge"] == judge]
        assert mine and {row["note"] for row in mine} == {
            "not applicable: needs ratings"
        }
        assert {row["value"] for row in mine} == {None}
    constant = [row for row in rows if row["judge"] == "constant-top"]
    p_values = [row for row in constant if row["statistic"] == "p_wilcoxon"]
    assert len(p_values) == 8 and {row["value"] for row in p_values} == {1.0}
    assert {row["value"] for row in constant if row["statistic"] == "D_exact"} == {0.0}


@pytest.mark.long(25)
def test_interrupted_run_goes_on_and_ends_the_same(
    small: Study, tmp_path: Path
) -> None:
    expected = outputs(small.out)
    Study(tmp_path).write()
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-s",
        str(HOME / "workflow" / "Snakefile"),
    ]
    command += ["--workflow-profile", str(HOME / "profiles" / "default")]
    process = subprocess.Popen(
        [*command, "--configfile", "study.yaml"],
        cwd=tmp_path,
        env=running.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        if len(list(tmp_path.glob("results/small/scores/*/*/*/*.parquet"))) >= 5:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=patience(120)) != 0
    assert not (tmp_path / "results" / "small" / "report" / "index.html").exists()
    done = snakemake("--configfile", "study.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert outputs(tmp_path / "results" / "small") == expected


@pytest.mark.long(17)
def test_a_bare_snakemake_comes_to_rest_and_names_the_study_by_its_location(
    tmp_path: Path,
) -> None:
    project = running.copy_project(tmp_path / "project")
    small: dict[str, Any] = {"judges": ["rules"], "methods": ["discernment"]}
    study = Study(project).write(
        **small, perturbations=["reordering"], aspects=["naturalness"]
    )
    study.rename(project / "config" / "config.yaml")
    how: dict[str, Any] = {
        "cwd": project,
        "home": project,
        "interpreter": running.forking(project),
    }
    first, second = (running.run("-m", "snakemake", **how) for _ in range(2))
    assert first.returncode == 0, first.stdout[-4000:]
    assert "Nothing to be done" in second.stdout
    results = project / "results" / "small"
    assert "judgescope run config/config.yaml" in text_of_pages(results / "report")
    every = [
        path
        for path in results.rglob("*")
        if path.is_file() and path.suffix != ".parquet"
    ]
    for path in every:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert str(tmp_path) not in text and "source-cache" not in text, path


def test_no_path_of_the_machine_and_no_clock_in_tables_and_report(small: Study) -> None:
    result = outputs(small.out)
    for name, content in result.items():
        text = content.decode("utf-8", "replace")
        assert str(HOME) not in text and str(small.folder) not in text, name


@pytest.fixture
def own_data(tmp_path: Path) -> Path:
    """The cards of docs/guide/own-data.md, with a table of 24 summaries."""
    cards = cards_of("own-data")
    assert len(cards) == 2
    for name, card in cards.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(card, encoding="utf-8")
    lines = ["article_id,article,gold,model,summary,rater_1,rater_2,rater_3"]
    for k in range(12):
        words = (
            f'"The council, in its session {k}, approved the new library after a '
            'long debate."'
        )
        for m, text in enumerate(
            ("The council approved the library.", "A libary libary was good")
        ):
            ratings = f"{5 - 2 * m},{4 - m + k % 2},{'' if k == 3 else 5 - 3 * m}"
            lines.append(
                f"a{k},{words},The council approved library {k}.,m{m},{text},{ratings}"
            )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text(
        "\n".join(lines) + "\n", encoding="utf-8"
    )
    return tmp_path


def test_own_data_in_five_minutes(own_data: Path) -> None:
    done = running.run(
        "-m", "judgescope", "run", "config/studies/mine.yaml", cwd=own_data
    )
    assert done.returncode == 0, done.stdout
    assert "report: results/mine/report/index.html" in done.stdout
    agreement = rows(own_data / "results" / "mine", "agreement")
    rules = [
        r for r in agreement if (r["judge"], r["statistic"]) == ("rules", "spearman")
    ]
    pooled = next(row for row in rules if row["level"] == "pooled")
    assert pooled["n"] == 24 and pooled["value"] > 0.5
    alpha = next(row for row in agreement if row["statistic"] == "alpha_ordinal")
    assert alpha["judge"] == "human" and alpha["value"] > 0.5


def test_a_mistake_in_the_data_is_reported_once_and_nothing_else(
    own_data: Path,
) -> None:
    data = own_data / "data" / "mine.csv"
    data.write_text(
        data.read_text(encoding="utf-8").replace(",3,3,2\n", ",3,3,9\n", 1), "utf-8"
    )
    done = running.run(
        "-m", "judgescope", "run", "config/studies/mine.yaml", cwd=own_data
    )
    assert done.returncode == 1
    assert done.stdout.count("a rating is outside the scale") == 1
    assert "mine.csv, row 3, aspect fluency" in done.stdout and "1 to 5" in done.stdout
    assert done.stdout.rstrip().endswith("failed jobs: 1")
    assert not re.search("Traceback|RuleException|printf", done.stdout)
    assert not list(own_data.glob("results/**/replies/**/*.parquet"))


@pytest.mark.long(17)
def test_an_interrupt_of_the_command_is_no_failure(tmp_path: Path) -> None:
    Study(tmp_path).write()
    process = subprocess.Popen(
        [sys.executable, "-m", "judgescope", "run", "study.yaml"],
        cwd=tmp_path,
        env=running.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    for _ in range(600):
        if list(tmp_path.glob("results/small/scores/**/*.parquet")):
            break
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    result, _ = process.communicate(timeout=patience(60))
    assert process.returncode != 0
    assert "same command" in result
    assert "failed" not in result and "Traceback" not in result
    again = running.run(
        "-m", "judgescope", "run", "study.yaml", "--until=collect", cwd=tmp_path
    )
    assert again.returncode == 0, again.stdout
    assert "made: results/small/collected" in again.stdout
    assert "report: " not in again.stdout


def test_the_value_of_an_option_is_no_study(tmp_path: Path) -> None:
    done = running.run(
        "-m", "judgescope", "run", "--workflow-profile", "mine", cwd=tmp_path
    )
    assert (
        done.returncode == 2 and "'mine' is not the YAML file of a study" in done.stdout
    )
    assert not list(tmp_path.iterdir())
