"""Processor time and rows of the table of comparisons for many judges and aspects.

    python benchmarks/many_judges.py [--write docs/scale.md]

20 judges, 6 controls and 20 aspects on 90 texts, then as many as are compared in full.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorded_tables import SEED, Shape, dataset, write_part

from judgescope.methods import comparison
from judgescope.methods.compared_judges import MANY_JUDGES

JUDGES, CONTROLS, ASPECTS, SOURCES, SYSTEMS = 20, 6, 20, 15, 6
BEFORE = "205 s"
"""At revision 051c760e, another run on other data: 13,000 permutations for each of nine
tests of 325 pairs."""
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
    """Print the table, and write it where that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    texts = SOURCES * SYSTEMS
    few = min(MANY_JUDGES, JUDGES)
    lines = [
        "| comparison | before | now | rows | of the goal |",
        "|---|---|---|---|---|",
    ]
    for judges, aspects, before in ((JUDGES, ASPECTS, BEFORE), (few, 1, "")):
        spent, rows = compared(judges, aspects)
        goal = f"{spent / GOAL:.2f} of {GOAL:.0f} s" if before else ""
        work = (
            f"{judges} judges, {CONTROLS} controls, {texts} texts, aspects: {aspects}"
        )
        lines.append(f"| {work} | {before} | {spent:.1f} s | {rows:,} | {goal} |")
        print(lines[-1], flush=True)
    if options.write:
        write_part(options.write, "many_judges", "".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
