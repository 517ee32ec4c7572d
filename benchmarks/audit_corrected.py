"""Corrected means as `audit` shows them: coverage beside the judge's own, and refusals.

    python benchmarks/audit_corrected.py [studies]

The twelve worlds of `corrected.py`, each study a table of 400 rows of which a random 50
are rated, read and audited as a user's file is. The intervals of 95 % must hold the
truth in at least 93 % of studies. The draw is random, so that a refusal, because rated
rows do not stand for the rest, is in vain: at most 10 %.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from corrected import TRUTH_TEXTS, Draw, worlds

import judgescope as js

ROWS: Final = 400
RATED: Final = 50
STUDIES: Final = 100
SEED: Final = 20261201


class AuditCoverage(NamedTuple):
    """How often the intervals of a world hold the truth, and how many are refused."""

    world: str
    held: int
    naive: int
    refused: int
    studies: int

    @property
    def shown(self) -> int:
        """In how many studies a corrected mean is shown."""
        return self.studies - self.refused


def table(rng: np.random.Generator, draw: Draw) -> pd.DataFrame:
    """A file of a user: all rows have a score, some have a rating."""
    ratings, scores = draw(rng, ROWS)
    human = np.full(ROWS, np.nan)
    rated = rng.permutation(ROWS)[:RATED]
    human[rated] = ratings[rated]
    return pd.DataFrame({"id": np.arange(ROWS), "human": human, "judge": scores})


def corrected_rate(frame: pd.DataFrame, ends: tuple[float, float]) -> dict[str, Any]:
    """What an audit of a table says of its mean: corrected, and uncorrected."""
    scale = f"{ends[0]:g}:{ends[1]:g}:1"
    found = js.audit(frame, human="human", judge="judge", scale=scale)
    [rate] = json.loads(found.to_json())["corrected"]
    return dict(rate)


def holds(number: dict[str, Any], truth: float) -> bool:
    """Whether an interval holds a number; one without ends does not."""
    low, high = number["ci_low"], number["ci_high"]
    return low is not None and high is not None and low <= truth <= high


def coverage(world: str, studies: int) -> AuditCoverage:
    """Return the counts of a world."""
    draw, ends = worlds()[world]
    rng = np.random.default_rng([SEED, *world.encode()])
    truth = float(draw(rng, TRUTH_TEXTS)[0].mean())
    held = naive = refused = 0
    for _ in range(studies):
        rate = corrected_rate(table(rng, draw), ends)
        if rate["corrected"]["value"] is None:
            refused += 1
            continue
        held += holds(rate["corrected"], truth)
        naive += holds(rate["uncorrected"], truth)
    return AuditCoverage(world, held, naive, refused, studies)


def lines(studies: int) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield "| world | corrected holds the truth | judge alone | refused in vain |"
    yield "| --- | --- | --- | --- |"
    every = [coverage(world, studies) for world in worlds()]
    total = AuditCoverage(
        "all",
        held=sum(each.held for each in every),
        naive=sum(each.naive for each in every),
        refused=sum(each.refused for each in every),
        studies=sum(each.studies for each in every),
    )
    for each in [*every, total]:
        shown = max(each.shown, 1)
        yield (
            f"| {each.world} | {each.held / shown:.3f} of {each.shown} "
            f"| {each.naive / shown:.2f} | {each.refused} of {each.studies} |"
        )


def main() -> None:
    """Print the table, of as many studies of each world as the command line says."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for line in lines(studies):
        print(line, flush=True)


if __name__ == "__main__":
    main()
