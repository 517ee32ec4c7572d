"""Coverage of the deciding number's interval, and false alarms of its test.

    python benchmarks/coverage_within.py [studies]    # 300 a cell; two CPU minutes

A study has n sources with k texts each. Latent quality and the judge's latent score
have a part by source and a part by text, whose correlation is 0 or .5; the judge scores
1 to 5, people rate pass or fail (half pass), 1 to 5, or 95 % at the top. The truth is
the number of a large study of the same kind, so that it has the same ties.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.verdict import LEVEL
from judgescope.statistics.within_sources import within_sources

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
SEED = 20261129
STUDIES = 300
SOURCES = (20, 50, 100)
TEXTS = (2, 5, 16)
RATINGS = ("pass/fail", "1-5", "95 % at the top")
CORRELATIONS = (0.0, 0.5)
TRUTH_TEXTS = 200_000
SHARED = 0.6
"""Standard deviation of the part by source, of the judge as of people; the text's is
1."""


class Study(NamedTuple):
    """A judge's scores, people's ratings and the sources; (texts,) each."""

    judge: Floats
    people: Floats
    source: Codes


class Coverage(NamedTuple):
    """A cell: the share of intervals that hold the truth, and of tests that reject 0.

    `without`: the share of studies without an interval, which count for neither.
    """

    ratings: str
    texts: int
    sources: int
    correlation: float
    held: float
    rejects: float
    without: float


def drawn(
    rng: np.random.Generator, sources: int, texts: int, ratings: str, correlation: float
) -> Study:
    """Return one study; correlation: that of the texts' parts of judge and people."""
    source = np.repeat(np.arange(sources), texts)
    shared = SHARED * rng.normal(size=(2, sources))[:, source]
    quality = rng.normal(size=source.size)
    other = rng.normal(size=source.size)
    known = correlation * quality + np.sqrt(1 - correlation**2) * other
    judge = np.clip(np.round(3 + shared[0] + known), 1, 5)
    return Study(judge, rated(shared[1] + quality, ratings), source)


def rated(values: Floats, ratings: str) -> Floats:
    """Return people's ratings of latent values with mean 0."""
    if ratings == "1-5":
        return np.asarray(np.clip(np.round(3 + values), 1, 5))
    if ratings == "pass/fail":
        return (values > 0).astype(np.float64)
    # The normal quantile of .05, in standard deviations of the latent value.
    cut = -1.6449 * np.sqrt(1 + SHARED**2)
    return np.where(values > cut, 5.0, 4.0)


def truth(rng: np.random.Generator, texts: int, ratings: str, r: float) -> float:
    """Return the number of a large study."""
    sources = TRUTH_TEXTS // texts
    study = drawn(rng, sources, texts, ratings, r)
    value = within_sources(*study, sources).estimate.value
    assert value is not None
    return value


def coverage(studies: int) -> Iterator[Coverage]:
    """Yield every cell."""
    for ratings, texts, r in product(RATINGS, TEXTS, CORRELATIONS):
        names = f"{ratings} {texts} {r}".encode()
        rng = np.random.default_rng([SEED, *names])
        real = truth(rng, texts, ratings, r)
        for sources in SOURCES:
            held = rejects = given = 0
            for _ in range(studies):
                study = drawn(rng, sources, texts, ratings, r)
                result = within_sources(*study, sources)
                low = result.estimate.ci_low
                high = result.estimate.ci_high
                p = result.p_above(0.0)
                if low is None or high is None or p is None:
                    continue
                given += 1
                held += low <= real <= high
                rejects += p <= LEVEL
            of = max(1, given)
            without = 1 - given / studies
            yield Coverage(ratings, texts, sources, r, held / of, rejects / of, without)


def table(cells: list[Coverage]) -> list[str]:
    """Return a Markdown table: coverage at r = 0 / r = .5, and what it comes to."""
    names = " | ".join(f"{n} sources" for n in SOURCES)
    lines = [f"| ratings | texts per source | {names} |", f"|---|---|{'---|' * 3}"]
    for ratings, texts in product(RATINGS, TEXTS):
        parts = []
        for sources in SOURCES:
            of = [
                one
                for one in cells
                if (one.ratings, one.texts, one.sources) == (ratings, texts, sources)
            ]
            text = " / ".join(_share(one) for one in of)
            without = max(one.without for one in of)
            parts.append(text + (f" ({without:.0%})" if without >= 0.005 else ""))
        lines.append(f"| {ratings} | {texts} | {' | '.join(parts)} |")
    return lines


def _share(cell: Coverage) -> str:
    return f"{cell.held:.2f}" if cell.without < 0.9 else "–"


def summary(cells: list[Coverage]) -> str:
    """Return the mean and the least coverage, and how often the test rejects 0.

    Cells in which most studies have no interval are left out: the others are not a
    random part of them, as they have more sources with two ratings by luck.
    """
    known = [one for one in cells if one.without <= 0.5]
    held = [one.held for one in known]
    rejects = [one.rejects for one in known if one.correlation == 0]
    return (
        f"coverage: mean {np.mean(held):.3f}, from {min(held):.2f} to "
        f"{max(held):.2f}; p <= {LEVEL} at r = 0: mean {np.mean(rejects):.3f}, at most "
        f"{max(rejects):.3f}"
    )


def main() -> None:
    """Print the table and its summary."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    cells = [*coverage(studies)]
    print("\n".join(table(cells)))
    print(f"\n{summary(cells)}")


if __name__ == "__main__":
    main()
