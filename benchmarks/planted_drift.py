"""Judges that drift: how often the gate says so at one look, and in vain over 300.

An anchor has a verdict to which the judge keeps but for flips of single draws. People
fail all anchors; the judge fails a share of them, its true negative rate. After the
fall some anchors that it failed are passed for good.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.gate import drift, level_of_look

SEED = 20261201
ANCHORS = 200
DRAWS = 10
FLIPS = 0.05
RATE = 0.9
LOOKS = 300


def baseline(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return the verdict to which the judge keeps on each anchor, and its draws."""
    kept = (rng.random(ANCHORS) >= RATE).astype(float)
    flips = rng.random((ANCHORS, DRAWS)) < FLIPS
    return kept, np.where(flips, 1 - kept[:, None], kept[:, None])


def alarms_after(fall: float, number: int, draws: int = DRAWS) -> bool:
    """Return whether one look alarms after a fall of the true negative rate."""
    rng = np.random.default_rng((SEED, number))
    kept, before = baseline(rng)
    turned = (kept == 0) & (rng.random(ANCHORS) < fall / RATE)
    kept = np.where(turned, 1.0, kept)
    new = np.where(rng.random(ANCHORS) < FLIPS, 1 - kept, kept)
    level = level_of_look(1, LOOKS)
    return drift(before[:, :draws], new, np.zeros(ANCHORS), level).alarm


def alarms_in_vain(number: int, looks: int = LOOKS) -> bool:
    """Return whether any of so many looks at a judge without drift alarms."""
    rng = np.random.default_rng((SEED, LOOKS, number))
    kept, before = baseline(rng)
    people = np.zeros(ANCHORS)
    for look in range(1, looks + 1):
        new = np.where(rng.random(ANCHORS) < FLIPS, 1 - kept, kept)
        if drift(before, new, people, level_of_look(look, LOOKS)).alarm:
            return True
    return False
