"""Worlds of benchmarks/verdicts.py for perturbations, hints, criterion confusion and
stated bars.

python benchmarks/effects.py                  # 1,000 studies per rule, some minutes
python benchmarks/effects.py --studies 20 misses_a_quarter
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.methods.claims.base import CRITERIA, Claim, mean_of_sources
from judgescope.methods.claims.perturbations import CriteriaDrops
from judgescope.methods.robustness import HintPairs
from judgescope.statistics.discernment import discernment
from judgescope.statistics.intervals import CORRELATION, deletions, holm
from judgescope.statistics.means import net_share, share
from judgescope.statistics.result import Estimate
from judgescope.statistics.signed_rank import log_p
from judgescope.statistics.verdict import (
    LEVEL,
    NOTICING,
    Outcome,
    missed,
    of_hint,
    of_perturbation,
    on_bar,
    verdicts,
)

Floats = NDArray[np.float64]
ITEMS, ASPECTS, CELLS = 24, 4, 7


class Rule(NamedTuple):
    """One world, whether the claim is true in it, and how often it may be made where it
    is not.
    """

    world: Callable[[np.random.Generator], bool]
    true: bool = False
    level: float = LEVEL


def perturbation(rng: np.random.Generator, drop: float, wanted: Outcome) -> bool:
    """Return whether any of seven cells has an outcome; scores 1-5 on four alike
    aspects.
    """
    logs, shares = [], []
    for _ in range(CELLS):
        common = rng.normal(size=(ITEMS, 1))
        noise = [
            0.7 * common + 0.7 * rng.normal(size=(ITEMS, ASPECTS)) for _ in range(2)
        ]
        d = np.round(noise[0] + drop).astype(np.int64) - np.round(noise[1]).astype(
            np.int64
        )
        each = np.array([log_p(column, "exact") for column in d.T])
        uniform = np.full(ASPECTS, 1 / ASPECTS)
        logs.append(-float(discernment(each, each, uniform).d_exact) * np.log(20))
        shares.append([net_share(column, range(ITEMS)) for column in d.T])
    adjusted = holm(np.minimum(logs, 0.0), log=True)
    told = [
        of_perturbation(float(np.exp(p)), float(np.exp(q)), (1.0, 1.0), missed(own))
        for p, q, own in zip(logs, adjusted, shares, strict=True)
    ]
    return any(outcome is wanted for outcome, _ in told)


def noticed_by_nobody(rng: np.random.Generator) -> bool:
    """A judge that notices none of seven perturbations is said to notice one (Holm,
    .05).
    """
    return perturbation(rng, 0.0, Outcome.NOTICED)


def noticed_half_a_point(rng: np.random.Generator) -> bool:
    """A perturbation that takes a point off is noticed in one of seven cells, 24
    items.
    """
    return perturbation(rng, 1.0, Outcome.NOTICED)


def misses(rng: np.random.Generator, lower: float, higher: float, items: int) -> bool:
    """Return whether a perturbation that so many items show is called a miss, on one
    aspect.
    """
    d = rng.choice([1, -1, 0], items, p=[lower, higher, 1 - lower - higher])
    return missed([net_share(d, range(items))])


def misses_a_quarter(rng: np.random.Generator) -> bool:
    """A perturbation that lowers 25 % of 24 scores, and raises none, is called a
    miss.
    """
    return misses(rng, 0.25, 0.0, 24)


def misses_a_net_quarter(rng: np.random.Generator) -> bool:
    """A perturbation that lowers 45 % of 40 scores and raises 20 % is called a miss."""
    return misses(rng, 0.45, 0.2, 40)


def misses_nothing_shown(rng: np.random.Generator) -> bool:
    """A perturbation that moves 5 % of 24 scores, up or down, is called a miss."""
    return misses(rng, 0.025, 0.025, 24)


def hinted(
    rng: np.random.Generator,
    moved: float,
    back: float,
    sources: int,
    texts: int,
    spread: float,
) -> Outcome:
    """Return what is said of a hint; each source has chances of its own, `spread`
    around these.
    """
    factor = rng.gamma(1 / spread, spread, sources) if spread else np.ones(sources)
    chances = np.minimum(np.repeat(factor, texts) * moved, 1 - back)
    draws = rng.random(sources * texts)
    moves = (draws < chances).astype(float) - (draws > 1 - back)
    pairs = HintPairs(moves, np.repeat(np.arange(sources), texts), 0)
    effect = pairs.effect()
    return of_hint(effect, effect, effect)[0]


def withstands_a_twentieth(rng: np.random.Generator) -> bool:
    """A hint that moves 5 % of 100 scores, and no score moves by itself, is
    withstood.
    """
    return hinted(rng, 0.05, 0.0, 100, 1, 0) is Outcome.WITHSTANDS


def withstands_with_flips(rng: np.random.Generator) -> bool:
    """The same with 10 % that move by themselves, of 400 texts of 100 sources that
    differ.
    """
    return hinted(rng, 0.15, 0.1, 100, 4, 0.3) is Outcome.WITHSTANDS


def swayed_a_twentieth(rng: np.random.Generator) -> bool:
    """A hint that moves 5 % of 100 scores is said to sway."""
    return hinted(rng, 0.05, 0.0, 100, 1, 0) is Outcome.SWAYED


def swayed_few(rng: np.random.Generator) -> bool:
    """A hint that moves 7 % of 59 scores, 2 % of which move by themselves, is said to
    sway.
    """
    return hinted(rng, 0.07, 0.02, 59, 1, 0) is Outcome.SWAYED


def swayed_sources(rng: np.random.Generator) -> bool:
    """A hint that moves 5 % of 400 texts, of 100 sources that differ, is said to
    sway.
    """
    return hinted(rng, 0.05, 0.0, 100, 4, 0.5) is Outcome.SWAYED


def withstands(rng: np.random.Generator) -> bool:
    """A hint that moves nothing is withstood; 1 % of 100 scores move by themselves."""
    return hinted(rng, 0.01, 0.01, 100, 1, 0) is Outcome.WITHSTANDS


def swayed(rng: np.random.Generator) -> bool:
    """A hint that moves 20 % of 100 scores sways."""
    return hinted(rng, 0.2, 0.0, 100, 1, 0) is Outcome.SWAYED


def apart(rng: np.random.Generator, drops: Floats, wanted: NDArray[np.bool_]) -> bool:
    """Return whether a judge with these mean drops is said to keep criteria apart, 40
    items.
    """
    common = rng.normal(size=(40, 1))
    values = drops + 0.7 * common + rng.normal(size=(40, drops.size))
    nulls = CriteriaDrops(values, wanted, ~wanted).nulls(np.zeros_like(values)).p
    where = ("judge", CRITERIA, "confusion_auc", "", "", Estimate(0.5), nulls)
    [verdict] = verdicts([Claim(*where).evidence])
    return verdict.outcome is Outcome.BETTER


def apart_two(rng: np.random.Generator) -> bool:
    """Two cells, one wanted, that drop alike: AUC is 0 or 1 (criterion confusion)."""
    return apart(rng, np.full(2, 0.5), np.array([True, False]))


def apart_twelve(rng: np.random.Generator) -> bool:
    """Twelve cells, six wanted, that drop alike."""
    return apart(rng, np.full(12, 0.5), np.arange(12) < 6)


def apart_crossed(rng: np.random.Generator) -> bool:
    """KeyTable cells half above and half below the others, as large on average: AUC
    .5.
    """
    return apart(
        rng, np.array([1.2, 0.2, 1.2, 0.2, 0.7, 0.7, 0.7, 0.7]), np.arange(8) < 4
    )


def apart_shown(rng: np.random.Generator) -> bool:
    """KeyTable cells drop by .9, others by .3."""
    return apart(rng, np.where(np.arange(12) < 6, 0.9, 0.3), np.arange(12) < 6)


def bar(rng: np.random.Generator, truth: float, wanted: Outcome) -> bool:
    """Return what is said of a bar of .8 for a share; 5 cases of 24 sources that
    differ.
    """
    chance = rng.beta(8 * truth, 8 * (1 - truth), 24)
    hits = rng.binomial(5, chance).astype(float)
    found = share(hits, np.full(24, 5.0), np.arange(24), deletions(24)).estimate
    return on_bar(found, 0.8) is wanted


def bar_met_at_it(rng: np.random.Generator) -> bool:
    """A share that lies at the bar is said to meet it."""
    return bar(rng, 0.8, Outcome.MEETS)


def bar_missed_at_it(rng: np.random.Generator) -> bool:
    """A share that lies at the bar is said to miss it."""
    return bar(rng, 0.8, Outcome.MISSES)


def bar_met(rng: np.random.Generator) -> bool:
    """A share of .93 meets a bar of .8."""
    return bar(rng, 0.93, Outcome.MEETS)


def correlated(rng: np.random.Generator, wanted: Outcome, at: float = 0.407) -> bool:
    """Return what is said of a bar for Spearman by source that is its expectation, 24
    sources.

    .407: 400,000 sources of 5 texts whose latent ratings correlate by .5.
    """
    x, y = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], (24, 5)).transpose(
        2, 0, 1
    )
    ranks = [one.argsort(axis=1).argsort(axis=1) - 2.0 for one in (x, y)]
    found = mean_of_sources(
        (ranks[0] * ranks[1]).sum(axis=1) / 10, CORRELATION
    ).estimate
    return on_bar(found, at) is wanted


def correlation_met_at_it(rng: np.random.Generator) -> bool:
    """A correlation that lies at the bar is said to meet it."""
    return correlated(rng, Outcome.MEETS)


def correlation_missed_at_it(rng: np.random.Generator) -> bool:
    """A correlation that lies at the bar is said to miss it."""
    return correlated(rng, Outcome.MISSES)


FALSE = (
    *(
        misses_a_quarter,
        misses_a_net_quarter,
        withstands_a_twentieth,
        withstands_with_flips,
    ),
    *(
        swayed_a_twentieth,
        swayed_few,
        swayed_sources,
        apart_two,
        apart_twelve,
        apart_crossed,
    ),
    *(bar_met_at_it, bar_missed_at_it, correlation_met_at_it, correlation_missed_at_it),
)
TRUE = (
    noticed_half_a_point,
    misses_nothing_shown,
    withstands,
    swayed,
    apart_shown,
    bar_met,
)
RULES: dict[str, Rule] = {
    "noticed_by_nobody": Rule(noticed_by_nobody, level=NOTICING.level),
    **{one.__name__: Rule(one) for one in FALSE},
    **{one.__name__: Rule(one, true=True) for one in TRUE},
}
