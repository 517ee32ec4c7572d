"""The demo study, run as shipped: what a new user gets."""

import json
import math
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest
from msgspec import structs

import trusting
from enclosed import (
    FORKED,
    OUTSIDE,
    TRY,
    UNREACHABLE,
    enclosed,
    python_refuses,
    watched,
)
from judgescope.methods import verdicts
from judgescope.methods.claims.base import VERDICT
from judgescope.methods.evaluate import evaluation_data
from judgescope.methods.score_tables import ScoreTables
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import results
from judgescope.report.cells import figures
from judgescope.report.claims import GOOD
from judgescope.report.rows import ReportRows
from judgescope.report.words import THIN
from judgescope.schema.loading import load_yaml
from judgescope.schema.tables import read_table, table_of
from judgescope.statistics.registry import statistic
from judgescope.statistics.within_sources import within_sources
from report_setup import Page
from running import HOME, environment, outputs, rows, run
from waiting import patience

DEMO = HOME / "config" / "demo"


def lines(name: str) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for line in (DEMO / name).read_text(encoding="utf-8").splitlines()
    ]


@pytest.mark.parametrize("task", ["news", "dialogue"])
def test_demo_data_is_what_its_cards_say(task: str) -> None:
    items, written = lines(f"{task}_items.jsonl"), lines(f"{task}_outputs.jsonl")
    assert len(items) == 24
    assert Counter(row["item"] for row in written) == dict.fromkeys(
        [i["item"] for i in items], 5
    )
    ratings = [value for row in written for value in list(row.values())[3:]]
    assert len(ratings) == 480 and set(ratings) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("task", "text", "left_out"),
    [
        ("news", "summary", ()),
        ("dialogue", "response", ()),
        ("dialogue", "response", ("curt", "rough")),
    ],
)
def test_length_gives_no_aspect_of_the_demo_away(
    task: str, text: str, left_out: tuple[str, ...]
) -> None:
    written = [
        row for row in lines(f"{task}_outputs.jsonl") if row["system"] not in left_out
    ]
    items = sorted({str(row["item"]) for row in written})
    source = np.array([items.index(str(row["item"])) for row in written])
    lengths = np.array([float(len(str(row[text]))) for row in written])
    rated = [*written[0]][3:]
    for aspect in rated if not left_out else ["groundedness"]:
        ratings = np.array([float(str(row[aspect])) for row in written])
        value = within_sources(lengths, ratings, source, len(items)).estimate.value
        assert value is not None and abs(value) <= 0.15, (aspect, value)


def test_the_model_of_the_demo_scores_few_texts() -> None:
    """Three responses to each dialogue, and another dialogue's in place of the best."""
    card = load_yaml(HOME / "config" / "judges" / "smollm2.yaml")[0]
    assert math.ceil(card["share"] * 24) * 4 <= 64


@pytest.mark.slow
def test_the_command_says_where_the_report_is_and_who_judged(demo: Path) -> None:
    text = (demo.parent / "done.txt").read_text(encoding="utf-8")
    assert "results/demo/report/index.html" in text and "rouge-1" in text


@pytest.mark.slow
def test_every_table_has_rows(demo: Path) -> None:
    tables = sorted((demo / "results" / "demo" / "tables").glob("*.csv"))
    assert [path.stem for path in tables if not rows(path.parents[1], path.stem)] == []
    assert len(tables) > 8


@pytest.mark.slow
def test_the_time_and_memory_of_large_jobs_are_kept_separately_from_results(
    demo: Path,
) -> None:
    out = demo / "results" / "demo"
    measured = {
        path.relative_to(out / "benchmarks").with_suffix("").as_posix()
        for path in out.glob("benchmarks/**/*.tsv")
    }
    assert {"ask/demo-news/lexical", "statistics/comparison/demo-dialogue"} <= measured
    text = (demo.parent / "done.txt").read_text(encoding="utf-8")
    match = re.search(r"^most memory of a job: (\d+) MB \((\S+)\)$", text, re.M)
    assert match is not None and int(match[1]) > 0 and match[2] in measured
    assert not any("benchmarks" in path for path in outputs(out))


@pytest.mark.slow
def test_show_without_a_table_repeats_the_main_results(demo: Path) -> None:
    done = run("-m", "judgescope", "show", "config/config.yaml", cwd=demo, home=demo)
    assert done.returncode == 0, done.stdout
    head, _, tables = done.stdout.partition(
        "\ntables (add a name to the command to print one):\n"
    )
    assert "rouge-l" in head and "report: results/demo/report/index.html" in head
    assert "agreement " in tables and "cost " in tables


@pytest.mark.slow
def test_a_third_of_the_planned_faults_is_missed_by_every_lexical_judge(
    demo: Path,
) -> None:
    table = [
        row
        for row in rows(demo / "results" / "demo", "faults")
        if row["statistic"] == "miss_rate" and row["criterion"] == "all"
    ]
    assert {row["dataset"] for row in table} == {"demo-news", "demo-dialogue"}
    assert all(row["value"] >= 1 / 3 and row["n"] == 44 for row in table)


@pytest.mark.slow
def test_every_number_has_n_and_a_signature_or_a_reason(demo: Path) -> None:
    for table in (
        "agreement",
        "discernment",
        "faults",
        "perturbations",
        "coverage",
        "cost",
    ):
        result = rows(demo / "results" / "demo", table)
        assert result
        for row in result:
            assert f"stat:{row['statistic']}" in row["signature"]
            assert "seed:20261120" in row["signature"]
            assert row["note"] if row["value"] is None else row["n"] > 0


@pytest.mark.slow
def test_every_statistic_is_listed_and_lies_in_its_range(demo: Path) -> None:
    ends = {
        "-1 to 1": (-1, 1),
        "0 to 1": (0, 1),
        "up to 1": (-inf, 1),
        "0 and above": (0, inf),
    }
    for path in sorted((demo / "results" / "demo" / "tables").glob("*.csv")):
        for row in rows(demo / "results" / "demo", path.stem):
            least, limit = ends.get(statistic(row["statistic"]).range, (-inf, inf))
            for value in (
                row[name]
                for name in ("value", "ci_low", "ci_high")
                if row[name] is not None
            ):
                assert least - 1e-9 <= value <= limit + 1e-9, row


@pytest.mark.slow
def test_what_the_report_says_of_judges_is_what_its_tables_say(demo: Path) -> None:
    assert min(trusting.held(demo, "config/config.yaml").values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["demo-news", "demo-dialogue"])
def test_a_judge_that_is_minus_the_length_holds_no_claim(
    demo: Path, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo)
    plan = load_plan(
        load_yaml(Path("config/config.yaml"))[0], demo, source="config.yaml"
    )
    study = evaluation_data(results.statistics(plan, "verdicts", dataset))
    scores = study.scores.table()
    longer = scores.filter(pc.field("judge") == "length").to_pylist()
    brevity = [row | {"judge": "brevity", "value": -row["value"]} for row in longer]
    rows = [*scores.to_pylist(), *brevity]
    study = replace(study, scores=ScoreTables.of_table(table_of("scores", rows)))
    study.spec.judges["brevity"] = structs.replace(
        study.spec.judges["length"], engine="command"
    )
    content: dict[bool, set[str]] = {True: set(), False: set()}
    for row in verdicts.rows(study):
        if row["statistic"] == VERDICT:
            mine, outcome = row["judge"] == "brevity", row["note"].partition("; ")[0]
            content[mine] |= {row["form"] or ""} if mine or outcome in GOOD else set()
            assert not (mine and outcome in GOOD), row
    assert content[True] >= {"agreement", "perturbation", "sequence"} and content[False]


@pytest.mark.slow
def test_every_interval_in_the_guide_to_the_report_is_one_of_the_demo(
    demo: Path,
) -> None:
    known = set()
    for path in (demo / "results" / "demo" / "tables").glob("*.parquet"):
        for row in ReportRows.of_table(read_table("results", str(path))):
            known.add(figures(row).replace(THIN, " "))
    guide = " ".join((HOME / "docs" / "reading.md").read_text(encoding="utf-8").split())
    number = r"[−<>]*\d+(?:\.\d+)?(?: %)?"
    quoted = set(re.findall(rf"{number} \[{number}, {number}\]", guide))
    assert len(quoted) >= 5 and quoted - known == set()


@pytest.mark.slow
def test_planned_ratings_are_never_people(demo: Path) -> None:
    human = [
        row
        for row in rows(demo / "results" / "demo", "agreement")
        if row["judge"] == "human" and row["dataset"] != "demo-hanna"
    ]
    assert human and all(row["value"] is None for row in human)
    assert {row["note"] for row in human} == {"ratings are planned, not people's"}


@pytest.mark.slow
def test_the_report_leads_to_every_judges_card_and_each_card_back(demo: Path) -> None:
    folder = (demo / "results" / "demo" / "report").resolve()
    pages = [
        folder / "index.html",
        *(folder / "sections").glob("*.html"),
        *(folder / "judges").glob("*.html"),
    ]
    assert max(path.stat().st_size for path in pages[1:]) < 1_500_000
    assert pages[0].stat().st_size < 500_000
    parsed = {path: Page(path.read_text("utf-8")) for path in pages}
    ids = {
        path: {result.get("id") for _, result in page.elements}
        for path, page in parsed.items()
    }
    leads: dict[Path, set[Path]] = {}
    for path, page in parsed.items():
        for tag in page.named("a"):
            name, _, location = (tag["href"] or "").partition("#")
            to = (path.parent / name).resolve() if name else path
            leads.setdefault(path, set()).add(to)
            assert to.is_file(), (path, tag)
            assert not location or to not in ids or location in ids[to], (path, tag)
    cards = {path for path in pages if path.parent.name == "judges"}
    controls = folder / "sections" / "limits.html"
    assert cards <= leads[pages[0]] | leads[controls] and controls in leads[pages[0]]
    assert len(cards & leads[pages[0]]) > len(cards) / 2
    assert all(pages[0] in leads[path] for path in pages[1:])
    assert folder / "judges" / "chrf.html" in pages


@pytest.mark.slow
@pytest.mark.long(55)
def test_again_and_after_a_move_the_same_bytes_and_nobody_is_spoken_to(
    demo: Path, tmp_path: Path
) -> None:
    """By the kernel, where it lets us, nobody else can be reached; Python tells who is
    tried.
    """
    before = outputs(demo / "results" / "demo")
    moved = tmp_path / "moved elsewhere"
    shutil.copytree(demo, moved)
    again = run("-m", "judgescope", "run", cwd=moved, home=moved)
    assert "no job ran" in again.stdout
    assert outputs(moved / "results" / "demo") == before
    (moved / "results").rename(moved / "first")
    tried = moved / "tried.txt"
    done = subprocess.run(
        enclosed(FORKED, str(moved), "-m", "judgescope", "run"),
        cwd=moved,
        env=environment(moved) | watched(tried, moved),
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(1200),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert not tried.exists(), tried.read_text("utf-8")
    assert outputs(moved / "results" / "demo") == before


@pytest.mark.heavy
def test_an_enclosed_program_reaches_nobody_else(tmp_path: Path) -> None:
    """By the kernel, where it lets us, and by Python: what the test above relies on."""
    alone = enclosed("-c", TRY)
    if alone[0] != sys.executable:
        assert (
            subprocess.run(
                enclosed("-c", OUTSIDE), check=False, timeout=patience(20)
            ).returncode
            == 0
        )
        assert (
            subprocess.run(alone, check=False, timeout=patience(20)).returncode
            in UNREACHABLE
        )
    assert python_refuses(tmp_path / "tried.txt")
