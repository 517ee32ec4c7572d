"""Processor time and rows of the table of comparisons for many judges and aspects.

    python benchmarks/many_judges.py

20 judges, 6 controls and 20 aspects on 90 texts, then as many as are compared in full.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorded_tables import SEED, Shape, dataset

from judgescope.methods import comparison
from judgescope.methods.compared_judges import MANY_JUDGES

JUDGES, CONTROLS, ASPECTS, SOURCES, SYSTEMS = 20, 6, 20, 15, 6
GOAL = 20.0
"""Seconds of a processor."""


def compared(judges: int, aspects: int) -> tuple[float, int]:
    """Return the seconds of the table and its rows."""
    shape = Shape(SOURCES, SYSTEMS, judges, aspects, CONTROLS)
    study = dataset(np.random.default_rng(SEED), shape, "comparison")
    start = time.process_time()
    rows = len(list(comparison.rows(study)))
    return time.process_time() - start, rows


def main() -> None:
    """Print a line per figure."""
    texts = SOURCES * SYSTEMS
    spent, rows = compared(JUDGES, ASPECTS)
    print(
        f"comparison of {JUDGES} judges and {CONTROLS} controls x {ASPECTS} aspects, "
        f"{texts} texts: {spent:.1f} CPU s, {spent / GOAL:.2f} of the goal; "
        f"{rows:,} rows"
    )
    few = min(MANY_JUDGES, JUDGES)
    all_tests, rows = compared(few, 1)
    print(
        f"of {few} judges and {CONTROLS} controls, 1 aspect, with all tests: "
        f"{all_tests:.1f} CPU s; {rows:,} rows"
    )


if __name__ == "__main__":
    main()
