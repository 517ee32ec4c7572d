"""The targets of the Makefile: what `make` alone says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from running import HOME
from waiting import patience

MAKEFILE = (HOME / "Makefile").read_text(encoding="utf-8")


def made(*arguments: str) -> str:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=HOME,
        capture_output=True,
        text=True,
        check=True,
        timeout=patience(60),
    ).stdout


@pytest.mark.heavy
def test_make_alone_lists_every_target_with_a_line() -> None:
    listed = dict(line.split(maxsplit=1) for line in made().splitlines())
    lines = re.findall(r"^\.PHONY:(.*)", MAKEFILE, re.MULTILINE)
    targets = {
        name for line in lines for name in line.split() if not name.startswith(".")
    }
    assert listed.keys() == targets and len(targets) > 20
    assert made("help") == made()


def test_the_lanes_of_the_makefile_are_markers() -> None:
    """A lane leaves out what another one runs: a name that no test has would leave out
    nothing.
    """
    lanes = re.findall(r"^(?:APART|SLOWER) := (.*)", MAKEFILE, re.MULTILINE)
    named = {name for lane in lanes for name in lane.split(" or ")}
    declared = (HOME / "pyproject.toml").read_text(encoding="utf-8")
    matches = set(re.findall(r'^  "(\w+)(?:\(\w+\))?: ', declared, re.MULTILINE))
    no_lanes = {"independent", "xdist_group"}
    assert named == matches - no_lanes and len(named) == 7


@pytest.mark.heavy
def test_the_demo_goes_on_without_a_language_model_that_cannot_be_installed(
    tmp_path: Path,
) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / "envs").mkdir()
    for name in ("Makefile", "envs/llama.txt"):
        shutil.copy2(HOME / name, tmp_path / name)
    mark = tmp_path / ".venv" / "llama"
    line = ["-C", str(tmp_path), "-o", ".venv/core", ".venv/try-llama"]
    lines = made(*line, "LLAMA=false").splitlines()
    assert len(lines) == 1 and lines[0].startswith("no language model in the demo")
    assert not mark.exists()
    assert made(*line, "LLAMA=true") == "" and mark.exists()


def test_the_public_workflow_calls_the_lanes_of_ci() -> None:
    """A lane that runs before a change lands also runs where others see it; SLURM needs
    a machine that a hosted runner is not.
    """
    workflow = (HOME / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    lists = re.findall(r"target: \[(.*)\]", workflow)
    called = {name for each in lists for name in each.split(", ")}
    for line in re.findall(r"run: make ([a-z -]+)$", workflow, re.MULTILINE):
        called |= set(line.split())
    lanes = (HOME / ".ci" / "run").read_text(encoding="utf-8")
    in_ci = set(re.findall(r"\bmake ([a-z-]+)", lanes)) - {"test-slurm"}
    assert called == in_ci and len(called) > 5
