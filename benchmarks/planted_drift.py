"""Judges that drift, or that rate too high or too low: how often it is said.

The gate says at one look that a judge drifted, and in vain over 300. An anchor has a
verdict to which the judge keeps but for flips of single draws. People fail all anchors;
the judge fails a share of them, its true negative rate. After the fall some anchors
that it failed are passed for good. A lenient or harsh judge adds points to the ratings
of one more rater.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from planted_checks import Check, named
from planted_worlds import JudgeSetup, answers_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.data.planted import PlantedDesign, simulated
from judgescope.methods.claims.base import p_above
from judgescope.statistics.corrected import RatedTexts, sample_of
from judgescope.statistics.gate import drift, level_of_look
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.raters import mean_rating

SEED = 20261201
FALLS = (0.05, 0.1, 0.2)
POINTS = (0.5, 1.0, 1.5)
STATED_FALL = 0.2
STATED_POINTS = 1.0
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


def bias_names(points: float, number: int) -> set[str]:
    """Return what the bias of a judge's mean says, who adds points to the ratings of
    one more rater: `lenient`, `harsh`; over two aspects.
    """
    name = f"bias-{points}-{number}"
    design = PlantedDesign()
    texts = simulated(design, SEED, name)
    rater = JudgeSetup("none")
    answers = answers_of(texts, name, [rater])
    items = sorted(set(texts.texts.items))
    source = np.array([items.index(item) for item in texts.texts.items])
    checks = []
    for aspect, draws in answers.draws[rater.name].items():
        judged = np.clip(draws[0] + points, 1.0, 5.0)
        people = mean_rating(texts.ratings[aspect])
        sample = sample_of(RatedTexts(judged, people, source))
        gaps = sample.judged - sample.rated
        weights = deletions(gaps.size)
        bias = clustered_mean(gaps, np.arange(gaps.size), weights, ends=(-4.0, 4.0))
        above = p_above(bias, 0.0)
        # Both signs are asked: each has half of the level.
        checks.append(Check("lenient", aspect, min(1.0, 2 * above)))
        checks.append(Check("harsh", aspect, min(1.0, 2 * (1 - above))))
    names: set[str] = named(checks)
    return names
