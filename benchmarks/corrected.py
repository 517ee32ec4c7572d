"""How often intervals of corrected means hold the truth, beside those of the judge
alone.

    python benchmarks/corrected.py [studies]

Twelve worlds: four kinds of ratings, three judges each. Points are 1 to 5, most at the
middle or most at the top; of labels, half or nine of ten texts pass. A good judge errs
little but is half a point too kind (of labels: it misses a third of the bad texts), a
crooked one puts middling texts at the bottom (of labels: it fails half of the good
ones), a poor one hardly follows people. People rate 20, 50 or 100 of 400 sources. The
truth is the mean of a large draw. A study without an interval counts for neither, and
is counted beside. `saved` is the share of ratings that the judge saves, 1 - 1/worth, as
the median over studies.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.corrected import (
    RatedTexts,
    corrected_mean,
    difference_of,
    rating_worth,
    sample_of,
    uncorrected_mean,
)
from judgescope.statistics.recalibrated import recalibrated

SIZES = (20, 50, 100)
SOURCES = 400
STUDIES = 2000
TRUTH_TEXTS = 1_000_000
SEED = 20261130
Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]
"""Ratings and scores of so many texts."""


def points(
    rng: np.random.Generator, size: int, *, middle: float, judge: str
) -> tuple[Any, Any]:
    """Return ratings and scores from 1 to 5 about a middle."""
    quality = rng.normal(middle, 1.0, size)
    ratings = np.clip(np.round(quality), 1, 5)
    error = {"good": 0.5, "crooked": 0.4, "poor": 2.0}[judge]
    seen = quality + error * rng.normal(size=size)
    scores = np.clip(np.round(seen + 0.5), 1, 5)
    if judge == "crooked":
        scores = np.where(scores == 3, 1, scores)
    return ratings, scores


def labels(
    rng: np.random.Generator, size: int, *, base: float, judge: str
) -> tuple[Any, Any]:
    """Return labels, 1 or 0, of people and of a judge."""
    ratings = (rng.random(size) < base) * 1.0
    positives, negatives = {
        "good": (0.95, 0.67), "crooked": (0.5, 0.95), "poor": (0.6, 0.5),
    }[judge]  # fmt: skip
    passed = np.where(ratings == 1, positives, 1 - negatives)
    return ratings, (rng.random(size) < passed) * 1.0


def worlds() -> dict[str, tuple[Draw, tuple[float, float]]]:
    """Return name -> how texts are drawn, and the ends of the ratings."""
    made: dict[str, tuple[Draw, tuple[float, float]]] = {}
    for judge in ("good", "crooked", "poor"):
        for name, middle in (
            ("points about the middle", 3.0),
            ("most at the top", 5.0),
        ):
            draw = partial(points, middle=middle, judge=judge)
            made[f"{name}, {judge} judge"] = draw, (1.0, 5.0)
        for name, base in (("half pass", 0.5), ("nine of ten pass", 0.9)):
            draw = partial(labels, base=base, judge=judge)
            made[f"{name}, {judge} judge"] = draw, (0.0, 1.0)
    return made


class Coverage(NamedTuple):
    """The shares of intervals that hold the truth, the judge's bias, and what the judge
    saves.
    """

    held: float
    naive: float
    without: float
    bias: float
    saved: float


def coverage(world: str, rated: int, studies: int, *, gap: bool = False) -> Coverage:
    """Return the coverage in a world; `gap`: of a difference of two systems, of which
    the judge prefers the second by a point (of labels: passes a tenth more of it).
    """
    draw, ends = worlds()[world]
    rng = np.random.default_rng([SEED, rated, gap, *world.encode()])
    many = draw(rng, TRUTH_TEXTS)
    truth = 0.0 if gap else float(many[0].mean())
    bias = float(many[1].mean()) - float(many[0].mean())
    two_values = ends == (0.0, 1.0)
    span = ends[1] - ends[0]
    held = naive = given = 0
    saved = []
    for _ in range(studies):
        if gap:
            pair = [_texts(rng, draw, rated, ends, liked) for liked in (False, True)]
            sample = difference_of(*map(recalibrated, pair))
            raw = difference_of(*pair)
            bounds = -span, span
        else:
            texts = _texts(rng, draw, rated, ends, liked=False)
            sample = sample_of(recalibrated(texts))
            raw = sample_of(texts)
            bounds = ends
        found = corrected_mean(sample, bounds, two_values=two_values).estimate
        alone = uncorrected_mean(raw, bounds)
        naive += (alone.ci_low or 0) <= truth <= (alone.ci_high or 0)
        saved.append(1 - 1 / (rating_worth(sample).value or 1.0))
        if found.ci_low is not None and found.ci_high is not None:
            given += 1
            held += found.ci_low <= truth <= found.ci_high
    return Coverage(
        held / max(1, given), naive / studies, 1 - given / studies, bias,
        float(np.median(saved)),
    )  # fmt: skip


def _texts(
    rng: np.random.Generator,
    draw: Draw,
    rated: int,
    ends: tuple[float, float],
    liked: bool,
) -> RatedTexts:
    ratings, scores = draw(rng, SOURCES)
    ratings = np.where(np.arange(SOURCES) < rated, ratings, np.nan)
    if liked:
        raised = rng.random(SOURCES) < 0.1 if ends == (0.0, 1.0) else True
        step = ends[1] if ends == (0.0, 1.0) else 1.0
        scores = np.where(raised, np.minimum(scores + step, ends[1]), scores)
    return RatedTexts(scores, ratings, np.arange(SOURCES))


def table(studies: int, sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """Yield the lines of the table, in Markdown: corrected / judge alone, saved."""
    yield f"| world | bias | {' | '.join(f'{n} rated' for n in sizes)} |"
    yield f"|---|---|{'---|' * len(sizes)}"
    for gap in (False, True):
        for world in worlds():
            found = [coverage(world, n, studies, gap=gap) for n in sizes]
            cells = []
            for one in found:
                without = f" ({one.without:.0%} none)" if one.without >= 0.005 else ""
                cells.append(
                    f"{one.held:.3f} / {one.naive:.2f}{without}, saved {one.saved:.0%}"
                )
            what = "difference, " if gap else ""
            bias = "" if gap else f"{found[0].bias:+.2f}"
            yield f"| {what}{world} | {bias} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table as it grows."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for line in table(studies, SIZES):
        print(line, flush=True)


if __name__ == "__main__":
    main()
