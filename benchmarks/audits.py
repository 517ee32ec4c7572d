"""Processor time of `judgescope audit`, beside a process that only imports what an
audit needs; with --from-nothing also the time from an empty folder to a verdict, with
--large the time and memory of tables with many cells.

    python benchmarks/audits.py [--from-nothing] [--large]

Each figure is the median of RUNS processes, taken in turns, so that a loaded machine
slows all alike: the ratios hold on any machine. `--from-nothing` makes an environment,
installs this checkout's base with the packages of pip's cache or index, and audits.
"""

import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from audit_setup import made, write

HOME = Path(__file__).resolve().parents[1]
RUNS = 5
SIZES = [(200, 1.0), (5_000, 2.0)]
"""Rows of a table, and the limit of the audit's processor seconds."""
COMPARED = 200
"""The rows of the audit that is compared with the imports."""
MOST_TIMES = 2.2
"""The limit of that ratio."""
MOST_FROM_NOTHING = 20.0
"""The limit of the seconds from nothing to a verdict."""
LARGE = [8_333, 83_333, 833_333]
"""Rows of tables with seven judges: twelve cells each."""
MOST_MEMORY = 2.0
"""The limit of an audit's memory in GB."""
MOST_GROWTH = 12.0
"""The limit of the ratio of seconds where a table has ten times as many cells."""
IMPORTS = "import numpy, scipy.special, pyarrow.parquet, pydantic, yaml, msgspec"


class Used(NamedTuple):
    """What a process used."""

    seconds: float
    """Of processors."""
    memory: float
    """The most GB at a time."""


def used(words: Sequence[str], folder: Path) -> Used:
    """Run a program; return what it used."""
    environment = os.environ | {"PYTHONPATH": str(HOME / "scripts")}
    # Else each process compiles the modules again, which no installed program does.
    environment["PYTHONDONTWRITEBYTECODE"] = ""
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {process.returncode}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6)


def medians(
    commands: Mapping[str, Sequence[str]], folder: Path, runs: int
) -> dict[str, float]:
    """Return each command's median processor seconds; a first run compiles."""
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for run in range(runs + 1):
        for name, words in commands.items():
            seconds = used(words, folder).seconds
            if run:
                spent[name].append(seconds)
    return {name: statistics.median(values) for name, values in spent.items()}


def audits(folder: Path) -> None:
    """Print what audits of the sizes use, and what the imports alone use."""
    commands = {"imports": [sys.executable, "-c", IMPORTS]}
    for rows, _ in SIZES:
        write(made(rows), folder / f"{rows}.csv")
        audit = [sys.executable, "-m", "judgescope", "audit", f"{rows}.csv"]
        commands[str(rows)] = audit
    found = medians(commands, folder, RUNS)
    floor = found["imports"]
    print(f"imports alone: {floor:.2f} CPU s")
    for rows, limit in SIZES:
        seconds = found[str(rows)]
        print(
            f"audit of {rows:,} rows: {seconds:.2f} CPU s, {seconds / limit:.2f} of "
            f"the limit {limit:g} s"
        )
    times = found[str(COMPARED)] / floor
    print(
        f"audit of {COMPARED} rows: {times:.2f} times the imports, "
        f"{times / MOST_TIMES:.2f} of the limit {MOST_TIMES:g}"
    )


def from_nothing(folder: Path) -> None:
    """Print the seconds of an environment, an installation and an audit."""
    write(made(COMPARED), folder / "ratings.csv")
    programs = folder / "env" / "bin"
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", str(HOME)]
    steps = {
        "environment": [sys.executable, "-m", "venv", str(folder / "env")],
        "installation": pip,
        "audit": [str(programs / "judgescope"), "audit", "ratings.csv"],
    }
    total = 0.0
    for name, words in steps.items():
        start = time.perf_counter()
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        total += seconds
        print(f"{name}: {seconds:.1f} s")
    print(
        f"from nothing to a verdict: {total:.1f} s, {total / MOST_FROM_NOTHING:.2f} of "
        f"the limit {MOST_FROM_NOTHING:g} s"
    )


def write_wide(rows: int, file: Path) -> int:
    """Write texts of four systems, two raters and seven judges; return its cells."""
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, rows)
    columns: dict[str, Sequence[object]] = {
        "id": [f"q{at // 4}" for at in range(rows)],
        "system": [f"s{at % 4}" for at in range(rows)],
        "answer": [f"answer {at} {'word ' * (at * 7 % 9)}" for at in range(rows)],
    }
    for number in (1, 2):
        near = quality + rng.integers(-1, 2, rows)
        columns[f"human_{number}"] = np.clip(near, 1, 5).tolist()
    for judge in ("gpt", "claude", "llama", "mistral", "gemini", "qwen", "deepseek"):
        near = quality + rng.integers(-2, 3, rows)
        columns[f"{judge}_score"] = np.clip(near, 1, 5).tolist()
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return rows * len(columns)


def large(folder: Path) -> None:
    """Print the time and memory of tables with many cells, and of a thousand cells."""
    before: Used | None = None
    for rows in LARGE:
        cells = write_wide(rows, folder / "large.csv")
        audit = [sys.executable, "-m", "judgescope", "audit", "large.csv"]
        spent = used(audit, folder)
        print(
            f"audit of {cells:,} cells: {spent.seconds:.1f} CPU s, "
            f"{1e6 * spent.seconds / cells:.0f} ms per 1,000; {spent.memory:.2f} GB, "
            f"{spent.memory / MOST_MEMORY:.2f} of the limit {MOST_MEMORY:g} GB"
        )
        if before is not None:
            growth = spent.seconds / before.seconds
            print(
                f"ten times the cells: {growth:.1f} times the seconds, "
                f"{growth / MOST_GROWTH:.2f} of the limit {MOST_GROWTH:g}"
            )
        before = spent


def main() -> None:
    """Print a line per figure."""
    with tempfile.TemporaryDirectory() as folder:
        audits(Path(folder))
        if "--from-nothing" in sys.argv[1:]:
            from_nothing(Path(folder))
        if "--large" in sys.argv[1:]:
            large(Path(folder))


if __name__ == "__main__":
    main()
