"""Processor time and memory of a statistics job by the number of texts, as ratios.

    python benchmarks/many_texts.py [TEXTS ...] [--write docs/scale.md]

Five judges and ten systems, one aspect (two for criteria). Each job runs in a process
of its own, whose peak of memory is measured; data are made before the clock starts.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorded_tables import SEED, Shape, dataset, write_part

import judgescope as js
from judgescope.methods import agreement, comparison, criteria

TEXTS = (10_000, 100_000)
SYSTEMS, JUDGES = 10, 5
TABLES = {"criteria": criteria, "comparison": comparison, "agreement": agreement}
NO_SOURCES = "`js.agreement` without sources"
BEFORE = {
    "criteria": "1.0 s, 0.23 GB; 37 s, 2.9 GB",
    "comparison": "7.5 s, 0.28 GB; 112 s, 3.0 GB",
    "agreement": "2.9 s, 0.23 GB; not finished",
    NO_SOURCES: "8 s, 2.4 GB; 80 GB, estimated",
}
"""At 10,000 and 100,000 texts, at revision 051c760e: other runs, on other data."""
GOAL_RATIO = 12.0
"""Of processor time, for ten times the texts."""
GOAL_MEMORY = 2.0
"""GB of a statistics job."""


class Measured(NamedTuple):
    """What some work took."""

    texts: int
    seconds: float
    """Of a processor."""
    memory: float
    """Peak of the process, GB."""

    def __str__(self) -> str:
        """Show the figures."""
        return f"{self.seconds:.1f} s, {self.memory:.2f} GB"


def without_sources(texts: int) -> Callable[[], object]:
    """Return the work of the Python function on scores and ratings alone."""
    rng = np.random.default_rng(SEED)
    quality = rng.normal(size=texts)
    scores = quality + rng.normal(size=texts)
    people = np.clip(np.round(3 + quality + rng.normal(size=texts)), 1, 5)
    return lambda: js.agreement(scores, people)


def table(name: str, texts: int) -> Callable[[], object]:
    """Return the work of a table's job."""
    aspects = 2 if name == "criteria" else 1
    shape = Shape(texts // SYSTEMS, SYSTEMS, JUDGES, aspects)
    study = dataset(np.random.default_rng(SEED), shape, name)
    return lambda: list(TABLES[name].rows(study))


def measure(name: str, texts: int) -> None:
    """Print the seconds of some work and the peak of memory in GB, as JSON."""
    work = without_sources(texts) if name == NO_SOURCES else table(name, texts)
    start = time.process_time()
    work()
    spent = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([spent, memory]))


def measured(name: str, texts: int) -> Measured:
    """Return what `measure` prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name, str(texts)],
        capture_output=True,
        text=True,
        check=True,
    )
    spent, memory = json.loads(done.stdout.splitlines()[-1])
    return Measured(texts, spent, memory)


def ratio(few: Measured, many: Measured) -> float:
    """Return by how much processor time grows for ten times the texts."""
    step = float(np.log10(many.texts / few.texts))
    return float((many.seconds / few.seconds) ** (1 / step))


def row(name: str, found: Sequence[Measured]) -> str:
    """Return a row of the table: work, before, now, growth, share of the goals."""
    growth = ratio(found[0], found[-1])
    now = "; ".join(map(str, found))
    goals = (
        f"{growth / GOAL_RATIO:.2f} of x {GOAL_RATIO:.0f}, "
        f"{found[-1].memory / GOAL_MEMORY:.2f} of {GOAL_MEMORY:.0f} GB"
    )
    return f"| {name} | {BEFORE[name]} | {now} | x {growth:.1f} | {goals} |"


def main() -> None:
    """Print the table, and write it where that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=int, nargs="*")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--measure", nargs=2)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], int(options.measure[1]))
        return
    sizes = options.texts or TEXTS
    shown = " and ".join(f"{texts:,}" for texts in sizes)
    lines = [
        f"| work on {shown} texts | before, 10,000 and 100,000 texts | now | growth "
        "for ten times the texts | of the goals |",
        "|---|---|---|---|---|",
    ]
    for name in BEFORE:
        lines.append(row(name, [measured(name, texts) for texts in sizes]))
        print(lines[-1], flush=True)
    if options.write:
        write_part(options.write, "many_texts", "".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
