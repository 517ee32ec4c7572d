"""Every benchmark, at a small size: none may rot. What it measures is asserted
nowhere.
"""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from browser import needs_browser
from data_samples import needs_real_data
from running import HOME
from waiting import patience

RUN = """
import importlib.util, json, sys
path, sizes, *sys.argv[1:] = sys.argv[1:]
sys.path.insert(0, path.rpartition("/")[0])
spec = importlib.util.spec_from_file_location("benchmark", path)
benchmark = importlib.util.module_from_spec(spec)
spec.loader.exec_module(benchmark)
for name, size in json.loads(sizes).items():
    assert hasattr(benchmark, name), name
    setattr(benchmark, name, size)
benchmark.main()
"""
FEW_ITEMS = dict.fromkeys(["cnn-dailymail", "samsum", "news-commentary", "webnlg"], 20)
FEW_JOBS = {
    "datasets": ["demo-dialogue"],
    "aspects": ["naturalness"],
    "judges": ["length"],
    "perturbations": [],
    "methods": ["agreement"],
}
SMALL: dict[str, tuple[dict[str, Any], list[str]]] = {
    "audit_corrected": ({}, ["1"]),
    "audits": (
        {"RUNS": 1, "SIZES": [[40, 1.0]], "COMPARED": 40, "LARGE": [40]},
        ["--large"],
    ),
    "corrected": ({"SIZES": [20]}, ["2"]),
    "coverage": ({"TRUTH_STUDIES": 2, "RESAMPLES": 20, "SIZES": [12]}, ["2"]),
    "buying": ({}, ["--studies", "5"]),
    "clients": ({"REQUESTS": 200, "OF_THE_CLIENT": 20, "CONNECTIONS": [4]}, []),
    "dag": ({"REPLIES": 200, "RUNS": 1, "DRAWN": (3, 6, 60)}, ["500"]),
    "estimates": (
        {"JUDGES": 3, "ASPECTS": 1, "SOURCES": 30, "SYSTEMS": 5, "WMT": [40, 4, 3]},
        [],
    ),
    "three_prices": ({}, []),
    "coverage_within": ({"TRUTH_TEXTS": 4_000}, ["3"]),
    "explore": (
        {"ITEMS": 15, "SYSTEMS": 4, "JUDGES": 5, "ASPECTS": 2, "COUNT": 600},
        [],
    ),
    "labels": ({"SIZES": [12], "TRUTH_SOURCES": 60, "TRUTH_STUDIES": 2}, ["2"]),
    "many_judges": (
        {"JUDGES": 11, "CONTROLS": 1, "ASPECTS": 1, "SOURCES": 12, "SYSTEMS": 3},
        [],
    ),
    "many_texts": ({}, ["200", "400"]),
    "memory": ({"ASPECTS": 2, "TEXTS": 20}, []),
    "next_texts": ({}, ["2"]),
    "nothing_to_do": ({"RUNS": 1, "STUDY": FEW_JOBS}, []),
    "parsing": ({"LONG": 2_000}, ["20"]),
    "planted_further": ({}, ["--studies", "2"]),
    "planted_judges": ({}, ["--studies", "1"]),
    "prefixes": ({"ITEMS": 1, "DRAWS": 1}, []),
    "priced": ({"WORDINGS": ["term"], "ITEMS": FEW_ITEMS}, []),
    "report_sizes": ({}, ["3", "2", "2"]),
    "slices": ({"TEXTS": 160}, ["2"]),
    "summeval_story": ({}, ["nowhere"]),
    "store": ({"REPLIES": 1_600}, []),
    "verdicts": ({}, ["--studies", "1"]),
}
"""Benchmark -> its sizes here, and its arguments."""
NEEDS = {"explore": [needs_browser], "prefixes": [needs_real_data]}
SERVED = {
    "planted_checks",
    "planted_confidence",
    "planted_controls",
    "planted_drift",
    "planted_people",
    "planted_rubrics",
    "planted_page",
    "planted_prompts",
    "planted_tallies",
    "planted_worlds",
    "effects",
    "reasons",
    "recorded_tables",
    "loopback",
    "sized",
}
"""What benchmarks share."""


def test_each_has_a_small_size() -> None:
    stems = {path.stem for path in (HOME / "benchmarks").glob("*.py")}
    assert stems == {*SMALL, *SERVED}


@pytest.mark.long(15)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NEEDS.get(name, [])) for name in SMALL]
)
def test_it_runs_and_prints_what_it_measures(name: str, tmp_path: Path) -> None:
    sizes, arguments = SMALL[name]
    path = HOME / "benchmarks" / f"{name}.py"
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(path), json.dumps(sizes), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=patience(900),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"\d", done.stdout), "it measured nothing"


PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "verdicts.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdicts_benchmark", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCHMARK = loaded()


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", [name for name, rule in BENCHMARK.RULES.items() if not rule.true]
)
def test_a_claim_that_is_not_true_is_rarely_made(name: str) -> None:
    """Of 20 studies 3 may be at a level of .025: more come in one of 700 tests."""
    level = BENCHMARK.RULES[name].level
    assert (
        BENCHMARK.simulated(name, 20) <= level + 4 * (level * (1 - level) / 20) ** 0.5
    )


@pytest.mark.parametrize(
    "name", [name for name, rule in BENCHMARK.RULES.items() if rule.true]
)
def test_a_claim_that_is_true_is_made(name: str) -> None:
    assert BENCHMARK.simulated(name, 20) > 0.2


@pytest.mark.simulation
def test_agreement_of_04_is_claimed_more_often_than_by_spearman() -> None:
    """The mean of Spearman by source reaches .61, and no test of it more than .70."""
    assert BENCHMARK.simulated("agreement_04", 400) > 0.7


def test_a_table_has_a_line_per_rule() -> None:
    assert len(BENCHMARK.table(["chance"], 2)) == 3
