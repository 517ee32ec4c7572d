"""Processor time and memory of a statistics job by the number of texts, as ratios.

    python benchmarks/many_texts.py [TEXTS ...]

Five judges and ten systems, one aspect. Each job runs in a process of its own, whose
peak of memory is measured; data are made before the clock starts.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorded_tables import SEED, Shape, dataset

import judgescope as js
from judgescope.methods import agreement, comparison, criteria

TEXTS = (10_000, 100_000)
SYSTEMS, JUDGES = 10, 5
TABLES = {"criteria": criteria, "comparison": comparison, "agreement": agreement}
NO_SOURCES = "js.agreement without sources"
WORK = (*TABLES, NO_SOURCES)
GOAL_RATIO = 12.0
"""Of processor time, for ten times the texts."""
GOAL_MEMORY = 2.0
"""GB of a statistics job."""


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


def measured(name: str, texts: int) -> tuple[float, float]:
    """Return what `measure` prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name, str(texts)],
        capture_output=True,
        text=True,
        check=True,
    )
    spent, memory = json.loads(done.stdout.splitlines()[-1])
    return spent, memory


def lines(sizes: list[int]) -> Iterator[str]:
    """Yield a line for each work and size."""
    for name in WORK:
        before = None
        for texts in sizes:
            spent, memory = measured(name, texts)
            line = f"{name}, {texts:,} texts: {spent:.1f} CPU s, {memory:.2f} GB"
            if before:
                step = np.log10(texts / before[0])
                ratio = (spent / before[1]) ** (1 / step)
                line += (
                    f"; x {ratio:.1f} for ten times the texts, "
                    f"{ratio / GOAL_RATIO:.2f} "
                    f"of the goal; memory {memory / GOAL_MEMORY:.2f} of the goal"
                )
            before = texts, spent
            yield line


def main() -> None:
    """Print a line per figure."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--measure"]:
        measure(arguments[1], int(arguments[2]))
        return
    for line in lines(list(map(int, arguments)) or list(TEXTS)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
