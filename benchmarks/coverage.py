"""How often 95 % intervals hold the truth: percentiles of a bootstrap, and jackknife-t.

    python benchmarks/coverage.py [studies]

Studies are drawn with a seed: sources of five texts, from five systems where a level
needs them, whose quality, ratings and scores share a part by source; ratings are 1 to
5, skewed (nine of ten texts get the top), or degenerate (one in fifty does not). The
truth is the mean of the statistic over many sources more. A study without an interval
counts for neither, and is counted beside.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.classes import on_classes
from judgescope.statistics.comparison import difference
from judgescope.statistics.confusion import confusion, mean_drops
from judgescope.statistics.correlation import correlations
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import mean_over
from judgescope.statistics.order import ordered_accuracy, ordered_pairs, places_of
from judgescope.statistics.registry import scale_of
from judgescope.statistics.reliability import krippendorff_alpha
from judgescope.statistics.resampling import (
    Replicated,
    percentile_interval,
    replicated,
    source_weights,
    whole_and_resamples,
)
from judgescope.statistics.within_sources import within_sources

SIZES = (10, 20, 30, 50, 100)
TEXTS = 5
RESAMPLES = 200
STUDIES = 200
TRUTH_SOURCES, TRUTH_STUDIES = 400, 40
SEED = 20261123
SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]
TASTE = np.array([0.3, -0.4, 0.3, -0.2, 0.0])
"""What judges see in systems and people do not: by system, too, the truth lies below
1."""
CUTS = {"1-5": None, "skewed": 0.1, "degenerate": 0.02}


class Study(NamedTuple):
    """Two judges' scores on two aspects, (2, 2, texts), people's (2, texts), and the
    sources.
    """

    judges: Any
    people: Any
    source: Any
    system: Any


def drawn(rng: np.random.Generator, n_sources: int, ratings: str) -> Study:
    """Return one study of so many sources."""
    source, system = (
        np.repeat(np.arange(n_sources), TEXTS),
        np.tile(np.arange(TEXTS), n_sources),
    )
    shared = 0.6 * rng.normal(size=(2, n_sources))[:, source] + 0.3 * (system - 2)
    quality = shared + rng.normal(size=(2, source.size))
    people = quality + 0.7 * rng.normal(size=quality.shape)
    noise = (
        rng.normal(size=(2, *quality.shape))
        + 0.5 * rng.normal(size=(2, 2, n_sources))[..., source]
    )
    judges = quality * np.array([0.9, 0.6])[:, None, None] + TASTE[system] + noise
    return Study(graded(judges, ratings), graded(people, ratings), source, system)


def graded(values: Any, ratings: str) -> Any:
    """Return ratings 1 to 5 of values of mean 0; of a skewed kind few lie below the
    top.
    """
    below = CUTS[ratings]
    if below is None:
        return np.clip(np.round(3 + values), 1, 5)
    top = {0.1: -1.8, 0.02: -2.9}[below]  # about so many lie below it
    return np.where(values > top, 5.0, np.where(values > top - 0.8, 4.0, 3.0))


def _correlation(statistic: str, level: str) -> Callable[[Study, Any], Replicated]:
    def found(study: Study, weights: Any) -> Replicated:
        return correlated(study, weights, 0, 0, statistic, level)

    return found


def correlated(
    study: Study, weights: Any, judge: int, aspect: int, statistic: Any, level: Any
) -> Replicated:
    """Return a correlation of a judge with people on an aspect."""
    told = correlations(
        study.judges[judge, aspect],
        study.people[aspect],
        study.source,
        study.system,
        weights=weights,
        statistics=[statistic],
        levels=[level],
    )
    return told[statistic, level]


def _kappa(study: Study, weights: Any) -> Replicated:
    told = on_classes(study.people[0], study.judges[0, 0], SCALE, study.source, weights)
    return told["kappa_linear"]


def _alpha(study: Study, weights: Any) -> Replicated:
    ratings = np.stack([study.people[0], study.judges[0, 0]])
    keys: dict[str, Any] = {"domain": SCALE, "source": study.source, "weights": weights}
    return krippendorff_alpha(ratings, level="ordinal", **keys)


def _half(study: Study, weights: Any) -> Replicated:
    pairs = ordered_pairs(study.source, places_of(study.people[0], study.source))
    return ordered_accuracy(study.judges[0, 0], pairs, study.source, weights)[
        "accuracy_adjacent_half"
    ]


def _auc(study: Study, weights: Any) -> Replicated:
    """Return P(wanted > unwanted drop) of ten cells of items with drops of .5 to .9,
    and ten of 0 to .4, each with the noise of a judge's scores.
    """
    n = int(study.source.max()) + 1
    size = np.concatenate([np.linspace(0.5, 0.9, 10), np.linspace(0, 0.7, 10)])
    own = study.judges[0].reshape(-1, n, TEXTS)
    noise = (
        np.concatenate([own - own.mean()] * 2).reshape(-1, n, TEXTS).transpose(1, 0, 2)
    )
    drops = size + np.roll(noise.reshape(n, -1), 3, axis=0)[:, :20]
    rows = mean_drops(drops, whole_and_resamples(np.arange(n), weights))
    wanted = np.arange(20) < 10
    values = confusion(rows, wanted, ~wanted).auc
    return replicated(
        values, "", sizes=np.ones(n), scale=scale_of("confusion_auc"), n=n
    )


def _difference(study: Study, weights: Any) -> Replicated:
    first, second = (
        correlated(study, weights, judge, 0, "pearson", "pooled") for judge in (0, 1)
    )
    return difference(first, second)


def _aspects(study: Study, weights: Any) -> Replicated:
    each = [
        correlated(study, weights, 0, aspect, "spearman", "by_source")
        for aspect in (0, 1)
    ]
    return mean_over(each, averaged="aspects")


def _within(study: Study, weights: Any) -> Replicated:
    n = int(study.source.max()) + 1
    return within_sources(study.judges[0, 0], study.people[0], study.source, n)


DELETED_ALONE = "rank correlation, within sources"
"""It has no bootstrap: sources are only deleted."""
STATISTICS: dict[str, Callable[[Study, Any], Replicated]] = {
    "Pearson, pooled": _correlation("pearson", "pooled"),
    "Spearman, pooled": _correlation("spearman", "pooled"),
    "Spearman, by source": _correlation("spearman", "by_source"),
    DELETED_ALONE: _within,
    "Pearson, by system": _correlation("pearson", "by_system"),
    "linear κ": _kappa,
    "α, ordinal": _alpha,
    "half credit": _half,
    "AUC": _auc,
    "difference of Pearson": _difference,
    "mean over aspects": _aspects,
}


class Coverage(NamedTuple):
    """The share of intervals that hold the truth, by both methods, and of studies
    without any.
    """

    statistic: str
    ratings: str
    sources: int
    percentile: float
    jackknife: float
    without: float


def truth(rng: np.random.Generator, statistic: str, ratings: str) -> float:
    """Return the mean of a statistic over large studies."""
    values = [
        STATISTICS[statistic](drawn(rng, TRUTH_SOURCES, ratings), None).rows[0]
        for _ in range(TRUTH_STUDIES)
    ]
    return float(np.nanmean(values))


def coverage(
    statistic: str, ratings: str, sizes: Sequence[int], studies: int
) -> Iterator[Coverage]:
    """Yield the coverage of one statistic at each number of sources."""
    rng = np.random.default_rng([SEED, *(statistic + ratings).encode()])
    compute, real = STATISTICS[statistic], truth(rng, statistic, ratings)
    for n in sizes:
        held, given, without = np.zeros(2), np.zeros(2), 0
        for _ in range(studies):
            study = drawn(rng, n, ratings)
            one = compute(study, deletions(n)).estimate
            weights = source_weights(rng, n, RESAMPLES)
            resampled = statistic != DELETED_ALONE
            ends = [
                percentile_interval(compute(study, weights).rows[1:])
                if resampled
                else None,
                None if one.ci_low is None else (one.ci_low, one.ci_high),
            ]
            without += ends[1] is None
            for at, bounds in enumerate(ends):
                if bounds is not None and bounds[1] is not None:
                    given[at] += 1
                    held[at] += bounds[0] <= real <= bounds[1]
        before, after = held / np.maximum(given, 1)
        yield Coverage(
            statistic, ratings, n, float(before), float(after), without / studies
        )


def head(sizes: Sequence[int]) -> str:
    """Return the first lines of a table in Markdown."""
    names = " | ".join(f"{n} sources" for n in sizes)
    return f"| statistic | ratings | {names} |\n|---|---|{'---|' * len(sizes)}"


def line(found: Sequence[Coverage]) -> str:
    """Return the line of one statistic: percentile / jackknife-t (studies without an
    interval).
    """
    cells = [
        f"{'–' if one.statistic == DELETED_ALONE else f'{one.percentile:.2f}'} / "
        + (f"{one.jackknife:.2f}" if one.without < 0.995 else "–")
        + (f" ({one.without:.0%})" if one.without >= 0.005 else "")
        for one in found
    ]
    return f"| {' | '.join([found[0].statistic, found[0].ratings, *cells])} |"


def main() -> None:
    """Print the table, line by line."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    cases = [(name, "1-5") for name in STATISTICS]
    cases += [
        (name, ratings)
        for ratings in ("skewed", "degenerate")
        for name in ("Pearson, pooled", "linear κ", "half credit")
    ]
    print(head(SIZES))
    for case in cases:
        print(line([*coverage(*case, SIZES, studies)]), flush=True)


if __name__ == "__main__":
    main()
