"""Extensions: no room needs one, and a study without it is planned as without it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgescope.core import paths
from judgescope.core.errors import UserError
from judgescope.core.extensions import FOLDER, extension_modules
from judgescope.plan.extending import study_extensions
from judgescope.plan.loading import load_plan
from judgescope.schema.cards import EXTENSION_KEYS
from judgescope.schema.loading import load_yaml
from planned_specs import shipped_studies
from running import HOME, environment

NAMES = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
TRAIN = ["studies/distill", "studies/distill-paper"]
"""The shipped studies that need the extension distill."""
QUICK = ["config", "studies/perspectives"]
"""Studies with most kinds of jobs."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with its cards, without extensions."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("config", "envs", "scripts", "workflow"):
        shutil.copytree(HOME / name, folder / name)
    for name in NAMES:
        shutil.rmtree(folder / "scripts/judgescope/extensions" / name)
    return folder


def planned(folder: Path, studies: list[str]) -> dict[str, str]:
    """Study -> the hash of its jobs, planned by the package in a folder."""
    program = HOME / "tests" / "support" / "planned_specs.py"
    completed = subprocess.run(
        [sys.executable, str(program), str(folder / "scripts"), *studies],
        capture_output=True,
        text=True,
        env=environment(folder),
        cwd=folder,
    )
    assert completed.returncode == 0, completed.stderr
    return dict(line.split() for line in completed.stdout.splitlines())


def test_every_extension_has_commands() -> None:
    assert [module.__name__ for module in extension_modules("commands")] == [
        f"judgescope.extensions.{name}.commands" for name in NAMES
    ]
    assert FOLDER.parent == paths.PACKAGE


def test_a_study_with_the_key_of_a_missing_extension_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("judgescope.plan.checks.study.study_extensions", list)
    card = load_yaml(HOME / "config" / "studies" / "distill.yaml")[0]
    with pytest.raises(UserError, match="lacks the extension") as raised:
        load_plan(card, HOME, source="distill.yaml")
    assert raised.value.where == "distill.yaml, key distill"


def test_the_keys_of_extensions_are_those_that_they_read() -> None:
    assert [each.key for each in study_extensions()] == [*EXTENSION_KEYS]


@pytest.mark.heavy
def test_studies_are_planned_as_before_if_all_extensions_are_taken_away(
    copied: Path,
) -> None:
    assert planned(copied, QUICK) == planned(HOME, QUICK)


@pytest.mark.simulation
def test_every_shipped_study_is_planned_as_before_without_each_extension(
    copied: Path,
) -> None:
    current = planned(HOME, shipped_studies())
    others = [name for name in current if name not in TRAIN]
    assert planned(copied, others) == {name: current[name] for name in others}
    to = copied / "scripts/judgescope/extensions/distill"
    shutil.copytree(FOLDER / "distill", to)
    assert planned(copied, TRAIN) == {name: current[name] for name in TRAIN}
    shutil.rmtree(to)


@pytest.mark.heavy
def test_a_command_goes_with_its_folder(copied: Path) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "judgescope", "--help"],
        capture_output=True,
        text=True,
        env={**environment(copied), "PYTHONPATH": str(copied / "scripts")},
    )
    assert completed.returncode == 0, completed.stderr
    assert "rate-plan" in completed.stdout
    assert not [name for name in NAMES if f" {name} " in completed.stdout]
