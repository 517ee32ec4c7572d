"""Extras: what they install, and the command that adds one."""

import argparse
import ast
import json
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from judgescope.cli.main import command_line
from judgescope.core import extras
from judgescope.core.extras import (
    COME_ALONG,
    EXTRAS,
    IN_BASE,
    PURPOSES,
    install_command,
    missing_package,
)
from judgescope.core.paths import HOME

PROJECT = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
PACKAGES = {
    "snakemake_executor_plugin_slurm": "snakemake-executor-plugin-slurm",
    "spellchecker": "pyspellchecker",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""Import -> its package, where the names differ."""
COME_WITH = {
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
    "requests": "huggingface-hub",
    "yarl": "aiohttp",
}
"""Import -> the package that requires its package."""
ELSEWHERE = {
    "peft": "train",
    "tokenizers": "train",
    "torch": "train",
    "transformers": "train",
    "vllm": "vllm",
}
"""Import -> the lock file of the environment that has its package."""


def package_of(imported: str) -> str:
    return canonicalize_name(PACKAGES.get(imported, imported))


def names_of(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


LOCKS = {"batch": "batch", "llama": "llama", "slurm": "slurm"}
"""Extra -> the lock file of its own; of the others core.txt."""


def requirements_of(extra: str) -> list[str]:
    """Return what an extra installs; what it takes from other extras is among it."""
    asked: list[str] = []
    for text in OPTIONAL[extra] if extra else PROJECT["dependencies"]:
        requirement = Requirement(text)
        if requirement.name == "judgescope":
            for other in sorted(requirement.extras):
                asked += requirements_of(other)
        else:
            asked.append(text)
    return asked


def locked(lock: str) -> dict[str, str]:
    pins: dict[str, str] = {}
    for line in (HOME / f"envs/{lock}.txt").read_text("utf-8").splitlines():
        name, equals, rest = line.partition("==")
        if equals and not line.startswith((" ", "#")):
            pins[canonicalize_name(name)] = rest.split()[0]
    return pins


@pytest.mark.parametrize("extra", ["", *OPTIONAL])
def test_each_extra_is_a_part_of_the_lock_file(extra: str) -> None:
    pins = locked(LOCKS.get(extra, "core"))
    if extra == "all":
        pins |= locked("batch")
    asked = requirements_of(extra)
    assert asked
    for text in asked:
        requirement = Requirement(text)
        version = pins[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), text


@pytest.mark.parametrize("imported", EXTRAS)
def test_the_extra_that_an_error_names_has_the_package(imported: str) -> None:
    assert package_of(imported) in names_of(OPTIONAL[EXTRAS[imported]])


@pytest.mark.parametrize("extra", OPTIONAL)
def test_no_package_of_an_extra_is_forgotten(extra: str) -> None:
    known = {package_of(imported) for imported in EXTRAS}
    assert names_of(requirements_of(extra)) <= known


def test_the_extras_are_these_and_contain_each_other() -> None:
    names = {extra: names_of(requirements_of(extra)) for extra in OPTIONAL}
    assert names.keys() == {*PURPOSES, "all"} == {*EXTRAS.values(), "all"}
    assert names["formats"] | names["notebook"] < names["workflow"]
    assert names["all"] == names["workflow"] | names["batch"]


def test_no_newer_python_is_forbidden() -> None:
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_base_has_no_package_of_an_extra() -> None:
    known = {package_of(imported) for imported in EXTRAS}
    assert not names_of(PROJECT["dependencies"]) & known


def installed(monkeypatch: pytest.MonkeyPatch, record: str | None) -> None:
    """Let the installation have this record of where it is from."""
    result: Any = SimpleNamespace(read_text=lambda name: record)
    monkeypatch.setattr(extras, "distribution", lambda name: result)


@pytest.mark.parametrize(
    ("record", "command"),
    [
        (
            {"url": "file:///a%20b/judgescope-1-py3-none-any.whl", "archive_info": {}},
            "pip install '/a b/judgescope-1-py3-none-any.whl[workflow]'",
        ),
        (
            {"url": "file:///src", "dir_info": {"editable": True}},
            "pip install -e '/src[workflow]'",
        ),
        (
            {"url": "file:///src", "dir_info": {}},
            "pip install '/src[workflow]'",
        ),
    ],
)
def test_the_command_names_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, record: dict[str, Any], command: str
) -> None:
    installed(monkeypatch, json.dumps(record))
    assert install_command("workflow") == command


def test_an_installation_of_unknown_origin_names_no_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed(monkeypatch, None)
    assert "from where you installed judgescope" in install_command("notebook")

    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", absent)
    assert "from where you installed judgescope" in install_command("notebook")


def test_a_published_package_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "PUBLISHED", True)
    assert install_command("workflow") == "pip install 'judgescope[workflow]'"


@pytest.mark.parametrize(
    ("imported", "command", "what", "extra"),
    [
        ("snakemake", "run", "running a study needs Snakemake", "workflow"),
        ("rapidfuzz.fuzz", "run", "running a study needs Snakemake", "workflow"),
        ("orjson", "show", "`judgescope show` needs Snakemake", "workflow"),
        ("pandas", "export", "`judgescope export` needs Snakemake", "workflow"),
        ("pandas", None, "a table as a DataFrame needs the package", "notebook"),
        ("python_calamine", "audit", "reading a spreadsheet needs", "formats"),
        ("openai", "batch", "sending a batch needs", "batch"),
    ],
)
def test_a_missing_package_names_its_extra(
    monkeypatch: pytest.MonkeyPatch,
    imported: str,
    command: str | None,
    what: str,
    extra: str,
) -> None:
    installed(monkeypatch, None)
    error = missing_package(ModuleNotFoundError(name=imported), command)
    assert error is not None
    assert error.what.startswith(what) and "\n" not in error.what
    assert imported.partition(".")[0] in error.where
    assert f"judgescope[{extra}]" in error.todo


def test_the_commands_of_the_base_are_commands() -> None:
    parser = command_line()
    known = {action.dest for action in subcommands(parser)}
    assert {*IN_BASE} < known


def subcommands(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the commands of a command line."""
    collected: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            collected += action._get_subactions()
    return collected


@pytest.mark.parametrize("name", [None, "judgescope.nothing", "numpy"])
def test_the_absence_of_other_modules_is_a_fault_of_the_program(
    name: str | None,
) -> None:
    assert missing_package(ModuleNotFoundError(name=name)) is None


def test_every_import_of_the_library_is_known() -> None:
    """A package of no extra would end in a traceback where it is not installed."""
    base = names_of(PROJECT["dependencies"])
    unknown = {
        name
        for path in sorted((HOME / "scripts" / "judgescope").rglob("*.py"))
        for name in imports_of(path)
        if package_of(name) not in base
        and name not in {*EXTRAS, *COME_WITH, *ELSEWHERE}
    }
    assert not unknown
    every = base.union(*(names_of(requirements_of(extra)) for extra in OPTIONAL))
    assert {*COME_WITH.values()} <= every
    late = {name for name in COME_WITH if COME_WITH[name] not in base}
    assert late == {*COME_ALONG}
    for name, lock in ELSEWHERE.items():
        assert f"\n{name}==" in (HOME / f"envs/{lock}.txt").read_text("utf-8")


def imports_of(path: Path) -> set[str]:
    """Return the roots of what a file imports, but Python's own and judgescope."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    roots = {name.partition(".")[0] for name in names}
    return roots - sys.stdlib_module_names - {"judgescope"}
