"""How many ratings a draw by predicted errors saves, and whether its intervals hold the
truth.

    python benchmarks/next_texts.py [studies]

Worlds: a judge whose error is equal everywhere, larger where its own score is low, or
much larger there, each with a good, a middling and a poor judge. Each study has 400
sources of one system: a first random round of 40 rated sources, then one of 40 more,
drawn by predicted errors or at random, each from all sources. `saved` is the share of
ratings of the second round that the draw saves: 1 minus the ratio of the variance that
ratings add. `right u` draws by the true size of the error. `expected` is what `next`
prints, `taken` the share of studies in which it is at least 5 %, so that the draw is
not random; coverage is that of what the command does. Three rounds: 20, 20 and 40.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.active import (
    LEAST_SAVING,
    DrawnRound,
    active_mean,
    draw,
    draw_chances,
    expected_saving,
    predicted_errors,
    source_errors,
)

SOURCES = 400
FIRST, SECOND = 40, 40
STUDIES = 1000
SEED = 20261201
ENDS = (-100.0, 100.0)
JUDGES = {"good": 0.4, "middling": 1.0, "poor": 2.5}
SHAPES = {"equal": (1.0, 1.0), "larger": (2.0, 0.6), "much larger": (3.0, 0.2)}
"""Shape -> the factors of the error of the lowest third of scores, and of others."""


class World(NamedTuple):
    """Scores and ratings of all sources, and the size of each one's error."""

    judged: Any
    rated: Any
    size: Any


def world(rng: np.random.Generator, shape: str, judge: str) -> World:
    """Draw the sources of a world; people's mean is 0."""
    judged = rng.normal(size=SOURCES)
    low, high = SHAPES[shape]
    size = JUDGES[judge] * np.where(judged < -0.43, low, high)
    return World(judged, judged + size * rng.normal(size=SOURCES), size)


def uniform(rng: np.random.Generator, n: int) -> DrawnRound:
    """Draw about n sources at random."""
    return draw(rng, draw_chances(np.ones(SOURCES), n), n)


def errors_of(made: World, rounds: list[DrawnRound]) -> tuple[Any, float]:
    """Return the predicted error of each source, and the expected saving."""
    seen = np.any([one.drawn for one in rounds], axis=0)
    rated = np.where(seen, made.rated, np.nan)
    squares = source_errors(made.judged[:, None], rated[:, None], seen * 1.0)
    predicted, without = predicted_errors(made.judged[:, None], squares)
    return predicted, expected_saving(without, squares, SECOND)


def added_variance(made: World, chances: Any) -> float:
    """Return what ratings drawn by these chances add to the variance, but for a
    factor.
    """
    return float(np.sum(made.size**2 / chances))


class Savings(NamedTuple):
    """Means over studies, and shares of them."""

    right: float
    predicted: float
    expected: float
    taken: float
    held: float
    held_three: float


def savings(shape: str, judge: str, studies: int) -> Savings:
    """Return the savings in a world, and the coverage of two and of three rounds."""
    rng = np.random.default_rng([SEED, *f"{shape} {judge}".encode()])
    found = np.zeros(6)
    for _ in range(studies):
        made = world(rng, shape, judge)
        first = uniform(rng, FIRST)
        predicted, expected = errors_of(made, [first])
        random = added_variance(made, draw_chances(np.ones(SOURCES), SECOND))
        taken = expected >= LEAST_SAVING
        chances = draw_chances(predicted, SECOND)
        used = chances if taken else draw_chances(np.ones(SOURCES), SECOND)
        rounds = [first, draw(rng, used, SECOND)]
        three = [uniform(rng, 20)]
        for n in (20, 40):
            errors, _ = errors_of(made, three)
            three.append(draw(rng, draw_chances(errors, n), n))
        found += (
            1 - added_variance(made, draw_chances(made.size, SECOND)) / random,
            1 - added_variance(made, used) / random,
            expected,
            taken,
            _held(made, rounds),
            _held(made, three),
        )
    return Savings(*(found / studies).tolist())


def _held(made: World, rounds: list[DrawnRound]) -> bool:
    """Return whether the interval holds the truth, 0."""
    seen = np.any([one.drawn for one in rounds], axis=0)
    rated = np.where(seen, made.rated, np.nan)
    estimate = active_mean(made.judged, rated, rounds, ENDS)
    if estimate.ci_low is None or estimate.ci_high is None:
        return False
    return estimate.ci_low <= 0 <= estimate.ci_high


def table(studies: int) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield (
        "| judge | its error where it scores low | saved, right u | saved | expected | "
        "taken | coverage, 2 rounds | 3 rounds |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for judge in JUDGES:
        for shape in SHAPES:
            one = savings(shape, judge, studies)
            yield (
                f"| {judge} | {shape} | {one.right:.0%} | {one.predicted:.0%} | "
                f"{one.expected:.0%} | {one.taken:.2f} | {one.held:.3f} | "
                f"{one.held_three:.3f} |"
            )


def main() -> None:
    """Print the table as it grows."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for line in table(studies):
        print(line, flush=True)


if __name__ == "__main__":
    main()
