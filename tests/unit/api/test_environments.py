"""The Pythons and versions that the library runs with: what is declared, and that it
works.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from running import HOME

PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
EXTRAS = PROJECT["optional-dependencies"]
NEEDED = [Requirement(line) for line in (*PROJECT["dependencies"], *EXTRAS["notebook"])]
"""What a notebook needs."""
LOWEST_PINS = dict(
    re.findall(
        r"^([\w-]+)==(\S+)$", (HOME / "tests" / "lowest.txt").read_text("utf-8"), re.M
    )
)
OTHERS = [minor for minor in (11, 12, 13) if minor != sys.version_info.minor]
WORKED_EXAMPLES = """
import doctest, sys, time
from importlib.metadata import version
started = time.perf_counter()
import judgescope
assert time.perf_counter() - started <= 1
from judgescope.api import measures
failed, tried = doctest.testmod(measures, optionflags=doctest.NORMALIZE_WHITESPACE)
assert not failed and tried > 20
assert judgescope.load and "snakemake" not in sys.modules
print({name: version(name) for name in sys.argv[1:]}, judgescope.__file__)
"""


def test_the_lowest_versions_are_those_that_the_project_declares() -> None:
    bounds = {each.name: each.specifier for each in NEEDED}
    assert bounds.keys() == LOWEST_PINS.keys() and "scipy" in bounds
    for name, pin in LOWEST_PINS.items():
        bound = str(bounds[name]).removeprefix(">=")
        assert pin in bounds[name] and pin in SpecifierSet(f"=={bound}.*"), name


def test_the_project_declares_what_the_environment_of_studies_is_locked_from() -> None:
    names = {
        Requirement(line).name
        for lock in ("core", "asking")
        for line in (HOME / "envs" / f"{lock}.in").read_text("utf-8").split("\n")
        if line and not line.startswith(("#", "-r"))
    }
    extra = {Requirement(line).name for line in EXTRAS["workflow"]}
    needed = {each.name for each in NEEDED}
    assert names == needed | extra | {"setuptools"}
    # A study needs what a notebook needs, and nothing of the base is named twice.
    assert needed & extra == {"pandas"}


def test_the_makefile_takes_the_pythons_that_the_project_names() -> None:
    """Later ones are allowed, but no test has run with them."""
    makefile = (HOME / "Makefile").read_text(encoding="utf-8")
    listed = re.search(r"for v in ([\d. ]+);", makefile)
    assert listed is not None
    allowed = SpecifierSet(PROJECT["requires-python"])
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert listed[1].split() == named == ["3.11", "3.12", "3.13"]
    assert all(f"{version}.5" in allowed for version in [*named, "3.20"])
    assert "3.10.5" not in allowed


def make(*words: str) -> str:
    """Return what make prints of this checkout."""
    command = ["make", "-s", "-C", str(HOME), *words]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def built(name: str) -> Path:
    """Return the interpreter of an environment, which make builds if it is missing or
    old.
    """
    make(f"{name}/ready")
    return HOME / name / "bin" / "python"


@pytest.mark.long(15)
def test_an_installed_library_runs_beside_the_lowest_versions(tmp_path: Path) -> None:
    """The environment has the library without the workflow's packages."""
    command = [built(".venv-lowest"), "-c", WORKED_EXAMPLES, *LOWEST_PINS]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert str(LOWEST_PINS) in ended.stdout and "site-packages" in ended.stdout


QUICK_TESTS = {
    "tables and commands": ["tests/unit/cli", "tests/unit/tables"],
    "the other units": [
        "tests/unit",
        "--ignore=tests/unit/cli",
        "--ignore=tests/unit/tables",
    ],
    "all else": ["tests", "--ignore=tests/unit"],
}
"""Parts of the tests, each for a process of its own, that take about as long."""


@pytest.mark.long(200)
@pytest.mark.parametrize("part", QUICK_TESTS)
@pytest.mark.parametrize("minor", OTHERS)
def test_another_python_passes_the_quick_tests(minor: int, part: str) -> None:
    """The lane is that of `make test-fast`, a part in one process: collecting takes a
    tenth of the time.

    So does rewriting assertions.
    """
    if (
        f"python3.{minor}"
        not in make("--eval", "pythons:; @echo $(PYTHONS)", "pythons").split()
    ):
        pytest.skip(f"Python 3.{minor} is not installed")
    makefile = (HOME / "Makefile").read_text("utf-8")
    separate, slower = re.findall(r"^(?:APART|SLOWER) := (.*)$", makefile, re.M)
    lane = ["--hypothesis-profile", "quick", "-m", f"not ({separate} or {slower})"]
    lane += ["-p", "no:xdist", "-p", "no:cacheprovider", "--assert=plain"]
    command = [str(built(f".venv-python3.{minor}")), "-m", "pytest", "-q", *lane]
    command += QUICK_TESTS[part]
    outside = {
        name: value for name, value in os.environ.items() if "PYTEST" not in name
    }
    ended = subprocess.run(
        command, cwd=HOME, env=outside, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
