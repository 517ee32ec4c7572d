"""A package, installed in another folder, adds one thing of each kind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgescope.schema.tables import read_table
from running import HOME, environment
from waiting import patience

PACKAGE = HOME / "tests" / "addon"
STUDY = {
    "study": "stars",
    "datasets": ["reviews"],
    "judges": ["starry"],
    "perturbations": ["shouting"],
    "methods": ["agreement", "discernment", "star_gap"],
}
CARDS: dict[str, dict[str, Any]] = {
    "datasets/reviews": {
        "dataset": "reviews",
        "name": "Reviews",
        "task": "summarization",
        "format": "star_lines",
        "files": "reviews.jsonl",
        "aspects": {"fluency": {"min": 1, "max": 5, "step": 1, "column": "stars"}},
        "licence": "none",
        "citation": "none",
        "select": {"original": "first_reference"},
    },
    "models/starry": {"model": "starry", "engine": "stars", "name": "stars-1"},
    "judges/starry": {
        "judge": "starry",
        "model": "starry",
        "form": "score-only",
        "parser": "stars",
        "temperature": 0,
    },
    "perturbations/shouting": {
        "perturbation": "shouting",
        "name": "words in capitals",
        "level": "word",
        "method": "rule",
        "rule": "shout",
        "degrees": {"minor": {"k": 1}, "major": {"k": 4}},
    },
}


def install(folder: Path) -> Path:
    """Install the package into a folder of its own, without a network."""
    source = shutil.copytree(PACKAGE, folder / "source")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    home = folder / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", home, source],
        check=True,
        timeout=patience(600),
    )
    return home


def write_study(folder: Path) -> None:
    for name, card in CARDS.items():
        path = folder / "config" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(card), encoding="utf-8")
    rows = [
        {
            "doc": f"Document {number} about herons and weirs.",
            "best": f"Herons nest near weir number {number} all year.",
            "model": model,
            "text": f"{model} says: heron {number} nests {'very ' * estimate}low.",
            "stars": 1 + (number + estimate) % 5,
        }
        for number in range(6)
        for estimate, model in enumerate(("alpha", "beta", "gamma"))
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "config/datasets/reviews.jsonl").write_text(lines, encoding="utf-8")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")


def workflow(folder: Path, *targets: str, site: Path | None) -> tuple[int, str]:
    """Run the workflow, with the package or without it; return status and output."""
    paths = [str(HOME / "scripts"), *([str(site)] if site else [])]
    env = environment() | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "snakemake", *targets]
    command += ["--snakefile", str(HOME / "Snakefile")]
    command += ["--configfile", "study.yaml", "--cores", "2", "--quiet", "rules"]
    ended = subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=patience(1800),
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.long(60)
@pytest.mark.slow
def test_a_study_uses_everything_that_a_package_adds(tmp_path: Path) -> None:
    site, folder = install(tmp_path), tmp_path / "study"
    write_study(folder)
    status, output = workflow(folder, site=site)
    assert status == 0, output
    out = folder / "results" / "stars"

    rows = read_table("results", out / "tables" / "star_gap.parquet").to_pylist()
    [row] = [row for row in rows if row["judge"] == "starry"]
    assert (row["statistic"], row["n"]) == ("star_distance", 18)
    assert row["signature"].endswith("|with:judgescope-stars@1.0")
    sets = read_table("targets", out / "targets/reviews/shouting.minor.parquet")
    assert {len(text["edits"]) for text in sets.to_pylist()} == {1}
    pages = {path.stem: path.read_text("utf-8") for path in out.rglob("*.html")}
    assert any("Reviews: distance in stars" in page for page in pages.values())

    # The changed engine fails if it is asked anything, so all replies are stored ones.
    engine = site / "judgescope_stars" / "answering.py"
    loop = "        for request, draws in work:\n"
    code = engine.read_text("utf-8")
    assert loop in code
    engine.write_text(code.replace(loop, f"{loop}            assert not request\n"))
    status, output = workflow(folder, site=site)
    assert status == 0, output
    assert "(Rule: ask_cpu)" in output
    assert "(Rule: ingest)" not in output and "(Rule: perturb)" not in output

    status, output = workflow(folder, "check", site=site)
    assert status == 0, output
    [line] = [line for line in output.splitlines() if "add-on judgescope-stars" in line]
    for name in ("star_lines", "stars (engines)", "stars (parsers)", "shout"):
        assert name in line
    for name in ("star_gap (methods)", "star_distance", "star_gap (sections)"):
        assert name in line

    status, output = workflow(folder, "check", site=None)
    assert status != 0 and "key methods.2" in output and "'star_gap'" in output
    own_part = STUDY | {"methods": ["agreement", "discernment"]}
    (folder / "study.yaml").write_text(yaml.safe_dump(own_part), encoding="utf-8")
    status, output = workflow(folder, "check", site=None)
    assert status != 0 and "reviews.yaml" in output and "'star_lines'" in output
