"""How often intervals of labels and preferences hold the truth, and how often McNemar's
test errs.

    python benchmarks/labels.py [studies]

Labels are drawn in sources of three texts: their base rate is .5 or .9, a source shares
a part of its difficulty, and the judge finds .9 of the positives and .7 of the
negatives, or all but one in twenty. Preferences are votes on all pairs of four systems,
each pair in both orders, one a source, three people beside the judge, with ties and a
liking for the first place. The truth is the mean over large studies. A study without an
interval counts for neither, and is counted beside. Under the null hypothesis of the
test both judges are as often right, and share the difficulty of a source.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.statistics.intervals import deletions
from judgescope.statistics.labels import on_labels
from judgescope.statistics.preferences import (
    Comparisons,
    agreement_of_people,
    majority,
    mcnemar,
    strengths,
    vote_agreement,
)
from judgescope.statistics.resampling import Replicated

SIZES = (10, 20, 40, 100)
TEXTS = 3
STUDIES = 400
TRUTH_SOURCES, TRUTH_STUDIES = 1000, 20
SEED = 20261126
WORLDS = {
    "half positive, a middling judge": (0.5, 0.9, 0.7),
    "nine of ten positive, a middling judge": (0.9, 0.9, 0.7),
    "nine of ten positive, a good judge": (0.9, 0.95, 0.95),
}
"""Base rate, and the judge's chances to find positives and negatives."""
LABELS = (
    "tpr", "tnr", "precision", "npv", "label_accuracy", "f1", "balanced_accuracy",
    "mcc", "ac1", "kappa_nominal",
)  # fmt: skip
SPREAD = 0.8
"""The standard deviation of a source's difficulty, in log odds."""
SYSTEMS = np.array([0.6, 0.2, -0.2, -0.6])
TIES, FIRST = 0.6, 0.3
Rows = dict[str, Replicated]


def labelled(rng: np.random.Generator, sources: int, world: str, weights: Any) -> Rows:
    """Return the statistics of one study of labels."""
    base, positives, negatives = WORLDS[world]
    source = np.repeat(np.arange(sources), TEXTS)
    gold = rng.random(source.size) < base
    chance = np.where(gold, positives, negatives)
    right = rng.random(source.size) < shifted(
        chance, SPREAD * rng.normal(size=sources)[source]
    )
    labels = [side.astype(np.float64) for side in (gold, gold == right)]
    told = on_labels(labels[0], labels[1], 2, source, weights)
    return {name: told[name] for name in LABELS}


def shifted(chance: Any, by: Any) -> Any:
    """Return chances whose log odds are moved."""
    return 1 / (1 + (1 - chance) / chance * np.exp(-by))


def voted(rng: np.random.Generator, sources: int, world: str, weights: Any) -> Rows:
    """Return the statistics of one study of preferences."""
    pairs = [*combinations(range(SYSTEMS.size), 2)]
    first, second = np.array([pairs[s % len(pairs)] for s in range(sources)]).T
    gap = SYSTEMS[first] - SYSTEMS[second] + 0.6 * rng.normal(size=sources)
    orders = [choices(rng, gap + FIRST * shown) for shown in (1, -1)]
    people = np.stack([choices(rng, gap) for _ in range(3)])
    source, shown = np.arange(sources), np.ones(sources, np.int64)
    agreed = vote_agreement(majority(np.stack(orders)), people, source, weights)
    among = agreement_of_people(people, source, weights)
    told = {f"{name}, judge with people": one for name, one in agreed.items()}
    told |= {f"{name}, people": one for name, one in among.items()}
    both = (np.tile(first, 2), np.tile(second, 2), np.concatenate(orders))
    fitted = strengths(
        Comparisons(*both, np.concatenate([shown, -shown]), np.tile(source, 2)),
        4,
        weights,
    )
    told |= {"strength of the best": fitted.systems[0], "strength_ties": fitted.ties}
    if fitted.position is not None:
        told["strength_position"] = fitted.position
    return told


def choices(rng: np.random.Generator, gap: Any) -> Any:
    """Return a vote on each pair, whose log odds are `gap`."""
    odds = np.stack([np.exp(gap / 2), np.full(gap.shape, TIES), np.exp(-gap / 2)])
    drawn = rng.random(gap.size) * odds.sum(axis=0)
    return np.where(
        drawn < odds[0], 1.0, np.where(drawn < odds[0] + odds[1], 0.0, -1.0)
    )


class Coverage(NamedTuple):
    """The share of intervals that hold the truth, and of studies without one."""

    statistic: str
    held: float
    without: float


Draw = Callable[[np.random.Generator, int, str, Any], Rows]


def coverage(draw: Draw, world: str, sources: int, studies: int) -> Iterator[Coverage]:
    """Yield the coverage of each statistic of a world at a number of sources."""
    rng = np.random.default_rng([SEED, sources, *world.encode()])
    large = [draw(rng, TRUTH_SOURCES, world, None) for _ in range(TRUTH_STUDIES)]
    real = {
        name: float(np.mean([one[name].rows[0] for one in large])) for name in large[0]
    }
    held, given = dict.fromkeys(real, 0), dict.fromkeys(real, 0)
    for _ in range(studies):
        for name, one in draw(rng, sources, world, deletions(sources)).items():
            low, high = one.estimate.ci_low, one.estimate.ci_high
            if low is not None and high is not None:
                given[name] += 1
                held[name] += low <= real[name] <= high
    for name in real:
        yield Coverage(
            name, held[name] / max(1, given[name]), 1 - given[name] / studies
        )


def false_alarms(sources: int, studies: int, *, texts: int = TEXTS) -> float:
    """Return the share of studies in which McNemar's p is at most .05, both judges
    being alike.
    """
    rng = np.random.default_rng([SEED, sources, texts])
    source = np.repeat(np.arange(sources), texts)
    alarms = 0
    for _ in range(studies):
        chance = shifted(0.8, rng.normal(size=sources))[source]
        first, second = ((rng.random(source.size) < chance) * 1.0 for _ in range(2))
        alarms += (mcnemar(first, second, source).value or 0) <= 0.05
    return alarms / studies


def chance_alarms(base: float, sources: int, studies: int) -> float:
    """Return how often balanced accuracy has a p of at most .025 above 1/2, by a judge
    of chance.

    Labels and verdicts are drawn apart, each alike within sources; studies without a p
    count.
    """
    rng = np.random.default_rng([SEED, sources, round(100 * base)])
    source, weights, alarms = (
        np.repeat(np.arange(sources), TEXTS),
        deletions(sources),
        0,
    )
    for _ in range(studies):
        gold, verdict = (
            (rng.random(source.size) < shifted(base, rng.normal(size=sources)[source]))
            * 1.0
            for _ in range(2)
        )
        p = on_labels(gold, verdict, 2, source, weights)["balanced_accuracy"].p_above(
            0.5
        )
        alarms += p is not None and p <= 0.025
    return alarms / studies


def table(studies: int, sizes: Sequence[int] = ()) -> Iterator[str]:
    """Yield the lines of the table, in Markdown; `sizes` are SIZES by default."""
    sizes = sizes or SIZES
    yield f"| world | statistic | {' | '.join(f'{n} sources' for n in sizes)} |"
    yield f"|---|---|{'---|' * len(sizes)}"
    worlds: list[tuple[Draw, str]] = [(labelled, world) for world in WORLDS]
    for draw, world in [*worlds, (voted, "preferences")]:
        columns = [[*coverage(draw, world, n, studies)] for n in sizes]
        for each in zip(*columns, strict=True):
            cells = [
                f"{one.held:.2f}"
                + (f" ({one.without:.0%})" if one.without >= 0.005 else "")
                if one.without < 1
                else "-"
                for one in each
            ]
            yield f"| {world} | {each[0].statistic} | {' | '.join(cells)} |"
    for base in (0.5, 0.9):
        cells = [f"{chance_alarms(base, n, 10 * studies):.3f}" for n in sizes]
        name = f"a judge of chance, base rate {base:g}"
        yield f"| {name} | balanced_accuracy > ½, p ≤ .025 | {' | '.join(cells)} |"
    for texts in (1, TEXTS):
        alarms = [f"{false_alarms(n, 10 * studies, texts=texts):.3f}" for n in sizes]
        yield (
            f"| no difference, {texts} a source | p_mcnemar ≤ .05 | "
            f"{' | '.join(alarms)} |"
        )


def main() -> None:
    """Print the table, line by line."""
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES):
        print(line, flush=True)


if __name__ == "__main__":
    main()
