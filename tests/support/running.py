"""Running the real workflow in tests."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from judgescope.core.cells import joined
from waiting import patience
from warm import client

HOME = Path(__file__).resolve().parents[2]
SHARED = HOME.parent / "shared" / "data"
COLD = {"JUDGESCOPE_COLD", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"}
"""Variables by which every program is started, as a user does, and none forked
(warm.py)."""
needs_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the public data is not there: ../shared/data"
)


def copy_project(to: Path) -> Path:
    """Copy what the workflow needs to run: a checkout without history, environment,
    results.
    """
    for name in ("Makefile", "config", "envs", "profiles", "scripts", "workflow"):
        source = HOME / name
        if source.is_dir():
            shutil.copytree(
                source, to / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    return to


def copy_demo(to: Path) -> None:
    """Copy what `make demo` has made, if it has: a run in `to` does only what has
    changed since.
    """
    for name in ("results/demo", "results/demo-llm", ".snakemake/metadata"):
        if (HOME / name).is_dir():
            shutil.copytree(HOME / name, to / name)


def environment(home: Path = HOME) -> dict[str, str]:
    """Return the environment of a user who works with the checkout at `home`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST")
    }
    return {**kept, "PYTHONPATH": str(home / "scripts"), "PYTHONDONTWRITEBYTECODE": ""}


def python(home: Path = HOME) -> str:
    """Return what runs the programs of the checkout at `home`; imports are spared for
    this one.
    """
    return forking(home) if home == HOME else sys.executable


def forking(home: Path, guard: Path | None = None) -> str:
    """Return what runs the programs of a checkout whose code stays as it is; imports
    are spared.
    """
    return sys.executable if COLD & os.environ.keys() else client(home, guard)


def run(
    *arguments: str,
    cwd: Path,
    home: Path = HOME,
    timeout: float | None = None,
    interpreter: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run `python <arguments>` as a user would, output and errors together."""
    if timeout is None:
        timeout = patience(1200)
    return subprocess.run(
        [interpreter or python(home), *arguments],
        cwd=cwd,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


def in_session(process: int) -> set[int]:
    """Return the processes that live in the session that a process began, from the
    system's list.

    A command that was started with `start_new_session` has what it starts in it, though
    not in one process group.
    """
    result = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):  # it has ended
            state, _, _, session = (
                (path / "stat").read_text().rpartition(")")[2].split()[:4]
            )
            if int(session) == process and state != "Z":
                result.add(int(path.name))
    return result


def kill_all(process: int) -> None:
    """Kill a command that began a session, and all that it started, at one moment: kill
    -9.

    All are stopped first: none notices that another has been killed, and cleans up.
    """
    while present := in_session(process):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for each in present:
                with suppress(ProcessLookupError):
                    os.kill(each, number)


def snakemake(
    *arguments: str, cwd: Path, home: Path = HOME, interpreter: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the workflow at `home` in the folder `cwd`."""
    profile = ["--workflow-profile", str(home / "profiles" / "default")]
    return run(
        "-m",
        "snakemake",
        "-s",
        str(home / "workflow" / "Snakefile"),
        *profile,
        *arguments,
        cwd=cwd,
        home=home,
        interpreter=interpreter,
    )


def cell(results: Path, kind: str, name: str, aspect: str = "") -> list[dict[str, Any]]:
    """Return the rows of a cell's file, `<dataset>/<model>/<set>/<judge>`, all or on an
    aspect.
    """
    rows: list[dict[str, Any]] = pq.read_table(
        results / kind / f"{name}.parquet"
    ).to_pylist()
    return [
        row for row in rows if aspect in ("", joined(row["aspect"], row["criterion"]))
    ]


def rows(results: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a result table."""
    rows: list[dict[str, Any]] = pq.read_table(
        results / "tables" / f"{table}.parquet"
    ).to_pylist()
    return rows


def outputs(results: Path) -> dict[str, bytes]:
    """Return the bytes of everything that a person gets: tables and report."""
    every = (*results.glob("tables/*"), *results.glob("report/**/*"))
    files = [path for path in every if path.is_file()]
    return {str(path.relative_to(results)): path.read_bytes() for path in sorted(files)}
