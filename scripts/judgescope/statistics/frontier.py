"""What to buy: the best judge or jury for a price, with the winner's curse taken out.

Whoever is best of several candidates on some texts looks better than it is: the same
texts chose it. So a choice is made on some sources and its number is taken from others:

    nested   = number of Σ_folds (sums of a left-out fifth of the sources, of the
               candidate that is best on the other four), mean of 20 splits
    optimism = number of the winner on all sources - nested

The numbers that decide agreement are functions of sums over sources (`Offers`), so that
leaving sources out is a subtraction. An interval is that of a choice made on one half
of the sources and measured on the other: a choice has no jackknife. (docs/methods.md,
"What to buy"; Cawley, Talbot 2010, "On Over-fitting in Model Selection and Subsequent
Selection Bias in Performance Evaluation"; Andrews et al. 2024, "Inference on Winners")
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import comb, nan
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.coefficients import midranks
from judgescope.statistics.declared import amount, declare, signed_amount, spent
from judgescope.statistics.intervals import holm
from judgescope.statistics.nulls import half_credits
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import LEVEL
from judgescope.statistics.within_sources import ROUND_OFF, centred

DECLARED: Final = declare(
    "frontier",
    nested=signed_amount(
        "{} of the choice",
        "the best candidate for this price is chosen on four fifths of the sources and "
        "measured on the fifth that did not choose; mean of 20 splits",
        "Cawley, Talbot 2010",
        keeps_kind=True,
    ),
    optimism=signed_amount(
        "Optimism of {}",
        "number of the winner on the texts that chose it, minus that of the choice",
        "Cawley, Talbot 2010",
        keeps_kind=True,
    ),
    other_half=signed_amount(
        "{} on the other half",
        "the candidate that is best for this price on one half of the sources, "
        "measured on the other half",
        keeps_kind=True,
    ),
    gain=signed_amount(
        "Gain in {}",
        "that candidate minus the cheapest one, both on the other half of the sources; "
        "the note says whether to buy it",
        keeps_kind=True,
    ),
    calls_per_judgment=spent(
        "Calls per judgment", "replies bought for one readable judgment"
    ),
    budget=amount("Budget", "US$ that 1,000 judgments may cost", complete=True),
    candidates=amount(
        "Candidates",
        "judges, juries and cascades that are compared; the note counts the judges "
        "that are none",
        complete=True,
    ),
)
FEWEST_SOURCES: Final = 20
"""With fewer sources no choice is nested, and there is no frontier."""
FOLDS: Final = 5
SPLITS: Final = 20
GAIN_MARGIN: Final = 0.02
"""Less than this is not worth a higher price."""
MOST_BUDGETS: Final = 8
MOST_CASCADING: Final = 18
"""With more judges there would be more than 500 cascades, and there are none."""
MOST_JURIES: Final = 500
"""No size of jury of which there would be more in all."""


# --- numbers as functions of sums -----------------------------------------------------


def products_of(x: Floats, y: Floats, source: Codes, n_sources: int) -> Floats:
    """Σ a b, Σ a², Σ b² of each source, of the normal scores of `within_sources`.

    x, y, source (texts,), NaN = missing; (n_sources, 3).

    >>> x = np.array([1.0, 2.0, 2.0, 1.0])
    >>> products_of(x, x, np.array([0, 0, 1, 1]), 2).round(2).tolist()
    [[0.55, 0.55, 0.55], [0.55, 0.55, 0.55]]
    """
    return np.stack(centred(x, y, source, n_sources).products(), axis=-1)


def correlation_of(sums: Floats) -> Floats:
    """Σ a b / √(Σ a² Σ b²) of sums (..., 3): (...,), as `within_sources`.

    0 where the judge does not vary, NaN where people do not.

    >>> correlation_of(np.array([[1.0, 2.0, 2.0], [0.0, 0.0, 2.0]]))
    array([0.5, 0. ])
    """
    products, judge, people = np.moveaxis(sums, -1, 0)
    varied = (judge > ROUND_OFF) & (people > ROUND_OFF)
    spread = np.sqrt(np.where(varied, judge * people, 1.0))
    r = np.where(varied, np.clip(products / spread, -1, 1), 0.0)
    return np.where(people > ROUND_OFF, r, np.nan)


def ranks_of(x: Floats, y: Floats, source: Codes, n_sources: int) -> Floats:
    """n, Σ a, Σ b, Σ a b, Σ a², Σ b² of each source, a and b ranks over all texts minus
    their mean; (n_sources, 6), from x, y, source (texts,), NaN = missing.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> float(rank_correlation_of(ranks_of(x, -x, np.arange(3), 3).sum(axis=0)))
    -1.0
    """
    both = ~(np.isnan(x) | np.isnan(y))
    a, b = (midranks(values[both]) - (both.sum() + 1) / 2 for values in (x, y))
    columns = (np.ones(a.size), a, b, a * b, a * a, b * b)
    sums = []
    for column in columns:
        sums.append(np.bincount(source[both], weights=column, minlength=n_sources))
    return np.stack(sums, axis=-1)


def rank_correlation_of(sums: Floats) -> Floats:
    """Pearson's r of the ranks in sums (..., 6) of `ranks_of`: (...,).

    Of all sources Spearman's ρ; of some, their ranks among all texts are kept.

    >>> bool(np.isnan(rank_correlation_of(np.zeros(6))))
    True
    """
    n, a, b, products, judge, people = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    parts = (products - a * b / n, judge - a * a / n, people - b * b / n)
    return correlation_of(np.stack(parts, axis=-1))


def hits_of(
    gold: Floats, given: Floats, labels: int, source: Codes, n_sources: int
) -> Floats:
    """Right labels, then texts, of each label of people's: (n_sources, 2 labels).

    gold, given, source (texts,): codes of labels; a text without people's label counts
    for nothing, one without a label of the judge is not right.

    >>> gold, given = np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, np.nan])
    >>> hits_of(gold, given, 2, np.array([0, 0, 0]), 1).tolist()
    [[1.0, 1.0, 1.0, 2.0]]
    """
    sums = []
    for right in (gold == given, np.ones(gold.size, dtype=bool)):
        for label in range(labels):
            kept = right & (gold == label)
            sums.append(np.bincount(source[kept], minlength=n_sources))
    return np.stack(sums, axis=-1).astype(np.float64)


def balanced_accuracy_of(sums: Floats) -> Floats:
    """The mean over people's labels of right / texts; sums (..., 2 labels): (...,).

    NaN where people use fewer than two labels.

    >>> float(balanced_accuracy_of(np.array([1.0, 1.0, 1.0, 2.0])))
    0.75
    """
    right, texts = np.split(sums, 2, axis=-1)
    used = texts > 0
    recalls = np.where(used, right / np.maximum(texts, 1), 0.0)
    number = used.sum(axis=-1)
    mean = recalls.sum(axis=-1) / np.maximum(number, 1)
    return np.where(number > 1, mean, np.nan)


def credits_of(better: Floats, worse: Floats, source: Codes, n_sources: int) -> Floats:
    """The mean half credit of each source's pairs, and 1 where it has any: (sources,
    2); better, worse, source (pairs,), as `half_credits`.

    >>> credits_of(np.array([1.0, 0.0]), np.zeros(2), np.array([0, 0]), 1).tolist()
    [[0.75, 1.0]]
    """
    means, pairs = half_credits(better, worse, source, n_sources)
    return np.stack([np.where(pairs > 0, means, 0.0), pairs > 0], axis=-1)


def credit_of(sums: Floats) -> Floats:
    """The mean over sources of their half credit; sums (..., 2): (...,).

    >>> float(credit_of(np.array([1.5, 2.0])))
    0.75
    """
    return quotient(sums[..., 0], sums[..., 1])


# --- candidates -----------------------------------------------------------------------


def largest_juries(judges: int) -> int:
    """The size of the largest juries that are candidates: at most 5, and at most 500
    juries in all; below 2: none.

    >>> [largest_juries(n) for n in (2, 6, 10, 14, 32, 33)]
    [5, 5, 4, 3, 2, 1]
    """
    juries = 0
    largest_jury = 5
    for size in range(2, largest_jury + 1):
        juries += comb(judges, size)
        if juries > MOST_JURIES:
            return size - 1
    return largest_jury


def juries_of(
    families: Sequence[str], *, odd: bool = False
) -> Iterator[tuple[int, ...]]:
    """Yield the juries of judges of different families, small ones first.

    `families` of the judges, in their order; `odd`: only odd sizes, for labels, of
    which an even jury may have no majority. Verga et al. 2024, "Replacing Judges with
    Juries".

    >>> list(juries_of(["a", "a", "b"]))
    [(0, 2), (1, 2)]
    """
    for size in range(2, largest_juries(len(families)) + 1):
        if odd and size % 2 == 0:
            continue
        for members in combinations(range(len(families)), size):
            if len({families[member] for member in members}) == size:
                yield members


def thresholds_of(confidence: Floats) -> list[float]:
    """At most three thresholds of a cascade, the highest first: quartiles of c.

    confidence (cases,), NaN = none. They follow from the confidence alone; one that
    accepts every case is left out.

    >>> thresholds_of(np.array([0.6, 0.7, 0.8, 1.0])), thresholds_of(np.ones(9))
    ([0.8, 0.7], [])
    """
    known = confidence[~np.isnan(confidence)]
    everything = -np.inf
    if known.size == confidence.size:
        everything = known.min(initial=np.inf)
    higher = known[known > everything]
    if not higher.size:
        return []
    cuts = np.quantile(known, [0.75, 0.5, 0.25], method="inverted_cdf")
    kept = {float(cut) for cut in cuts if cut > everything}
    # Where most cases have the lowest confidence, the next higher one is the threshold.
    return sorted(kept or {float(higher.min())}, reverse=True)


def cascaded(
    first: Floats, second: Floats, confidence: Floats, threshold: float
) -> tuple[Floats, float]:
    """The first judge's values where its confidence reaches the threshold, else the
    second's; and the share of cases that is passed on.

    first, second, confidence (cases,); a case without a value of the first is no case,
    one without a confidence is passed on. Chen et al. 2023, "FrugalGPT".

    >>> first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> values, passed = cascaded(first, second, np.array([0.9, 0.6]), 0.8)
    >>> values.tolist(), passed
    ([1.0, 1.0], 0.5)
    """
    cases = ~np.isnan(first)
    accepted = cases & (confidence >= threshold)
    passed = 1 - accepted.sum() / max(1, cases.sum())
    return np.where(accepted, first, second), float(passed)


@dataclass(frozen=True, eq=False)
class Offers:
    """What can be bought: candidates with a price and sums by source.

    price (candidates,); sums (candidates, sources, aspects, parts); number: sums (...,
    parts) -> (...,). The quality of a candidate is the mean of its numbers over the
    aspects; larger is better.
    """

    price: Floats
    sums: Floats
    number: Callable[[Floats], Floats]

    @property
    def sources(self) -> Codes:
        """The sources that count for some aspect."""
        return np.flatnonzero(self.sums.any(axis=(0, 2, 3)))

    def quality(self, totals: Floats) -> Floats:
        """The quality of sums (..., aspects, parts): (...,), NaN where undefined."""
        return np.asarray(self.number(totals).mean(axis=-1))

    def values(self, sources: Codes | Flags) -> Floats:
        """The quality of each candidate on some sources; (candidates,)."""
        return self.quality(self.sums[:, sources].sum(axis=1))


def best_within(price: Floats, values: Floats, budget: float) -> int:
    """The candidate of the highest value with price <= budget; the cheapest of equal
    ones, and the first of these.

    price, values (candidates,), NaN = undefined, which is never best. ValueError where
    nothing with a value is affordable.

    >>> best_within(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7, 0.9]), budget=2.0)
    1
    """
    known = (price <= budget) & ~np.isnan(values)
    if not known.any():
        raise ValueError(f"no candidate with a value costs at most {budget}")
    highest = values[known].max()
    best = np.flatnonzero(known & (values >= highest - ROUND_OFF))
    return int(best[np.argmin(price[best])])


def budgets_of(price: Floats, limit: int = MOST_BUDGETS) -> list[float]:
    """The budgets for which there is a choice: all prices, or `limit` quantiles.

    They follow from the prices alone. A budget at which the best candidate changes is
    chosen by the texts: the winner's curse would come back by it.

    >>> budgets_of(np.array([3.0, 1.0, 1.0])), budgets_of(np.arange(100.0), limit=3)
    ([1.0, 3.0], [0.0, 49.0, 99.0])
    """
    different = np.unique(price)
    if different.size > limit:
        places = np.linspace(0, 1, limit)
        different = np.unique(np.quantile(different, places, method="inverted_cdf"))
    return [float(each) for each in different]


# --- the winner's curse ---------------------------------------------------------------


def folds_of(
    rng: np.random.Generator, sources: Codes, n_sources: int, folds: int = FOLDS
) -> Codes:
    """A fold for each of some sources, as many in each as can be; -1 for the others.

    (n_sources,).

    >>> folds = folds_of(np.random.default_rng(1), np.array([0, 1, 3, 4]), 5, folds=2)
    >>> np.sort(folds).tolist()
    [-1, 0, 0, 1, 1]
    """
    fold = np.full(n_sources, -1)
    fold[rng.permutation(sources)] = np.arange(sources.size) % folds
    return fold


def nested_values(
    offers: Offers,
    budgets: Sequence[float],
    rng: np.random.Generator,
    splits: int = SPLITS,
) -> Floats:
    """The quality of the choice for each budget, on sources that did not choose.

    In each split the sources fall into five folds. For each fold the best candidate
    within the budget is chosen on the other four; its sums of the fold are added over
    folds, and the quality is that of the totals. (budgets,), the mean of the splits.

    >>> sums = np.ones((2, 10, 1, 2))
    >>> sums[0, :, 0, 0] = 0.5  # half credit .5 in all sources, and 1
    >>> offers = Offers(np.array([1.0, 2.0]), sums, credit_of)
    >>> nested_values(offers, [1.0, 2.0], np.random.default_rng(1)).round(6)
    array([0.5, 1. ])
    """
    n_sources = offers.sums.shape[1]
    every = offers.sums.sum(axis=1)
    values = np.empty((splits, len(budgets)))
    for split in range(splits):
        fold = folds_of(rng, offers.sources, n_sources)
        totals = np.zeros((len(budgets), *every.shape[1:]))
        for number in range(FOLDS):
            held = offers.sums[:, fold == number].sum(axis=1)
            others = offers.quality(every - held)
            for at, budget in enumerate(budgets):
                totals[at] += held[best_within(offers.price, others, budget)]
        values[split] = offers.quality(totals)
    return np.asarray(values.mean(axis=0))


def first_half(rng: np.random.Generator, sources: Codes, n_sources: int) -> Flags:
    """Half of some sources, drawn: the one that chooses; (n_sources,).

    >>> half = first_half(np.random.default_rng(1), np.arange(6), 8)
    >>> int(half.sum()), half[6:].tolist()
    (3, [False, False])
    """
    return np.asarray(folds_of(rng, sources, n_sources, folds=2) == 0)


# --- the sentence ---------------------------------------------------------------------


class Advice(StrEnum):
    """What the gain over the cheapest candidate says about a dearer one."""

    DO_NOT_BUY = "do not buy"
    ADDS = "adds"
    NOT_SHOWN = "not shown"
    CHEAPEST = "the cheapest is the choice"


def advised(gain: Estimate, p_holm: float, margin: float = GAIN_MARGIN) -> Advice:
    """Whether a gain is worth its price: by the interval of the other half alone.

    DO_NOT_BUY where its upper end is below `margin`; ADDS where its lower end is above
    0 and p_holm, one-sided and corrected over the budgets, at most .025; NOT_SHOWN
    else, and without an interval.

    >>> advised(Estimate(0.005, -0.005, 0.015), p_holm=0.2).value
    'do not buy'
    """
    if gain.ci_low is None or gain.ci_high is None:
        return Advice.NOT_SHOWN
    if gain.ci_high < margin:
        return Advice.DO_NOT_BUY
    if gain.ci_low > 0 and p_holm <= LEVEL:
        return Advice.ADDS
    return Advice.NOT_SHOWN


# --- the choice for each price --------------------------------------------------------


class Choice(NamedTuple):
    """The choice for a budget: the winner on all sources, and what it is worth.

    Candidates are numbers: `winner`, `on_half` (the choice of one half) and `cheapest`.
    `value` is the winner's quality on the sources that chose it, `nested` that of the
    choice on others; `other_half` and `gain` (over the cheapest, None where that is the
    choice) are measured on the half that did not choose; p_holm is the gain's, over
    all budgets.
    """

    winner: int
    budget: float
    value: float
    nested: float
    on_half: int
    cheapest: int
    other_half: Replicated
    gain: Replicated | None
    p_holm: float
    advice: Advice

    @property
    def optimism(self) -> float:
        """How much better the winner looks than the choice is; round-off is 0."""
        return round(self.value - self.nested, 12) + 0.0


def choices(
    offers: Offers,
    number: Callable[[int, Flags], Replicated],
    gain: Callable[[int, int, Flags], Replicated],
    rng: np.random.Generator,
) -> list[Choice]:
    """The choice for each budget (`budgets_of`), the lowest first.

    number(candidate, sources): its quality on some sources; gain(one, other, sources):
    the difference of two; sources (sources,). Of several cheapest candidates the best
    on the choosing half is the one to beat. No choice with fewer than two candidates or
    20 sources. See docs/methods.md, "What to buy".

    >>> sums = np.ones((2, 20, 1, 2))
    >>> sums[1, :, 0, 0] = np.tile([0.5, 0.7], 10)  # dearer, and worse
    >>> offers = Offers(np.array([1.0, 2.0]), sums, credit_of)
    >>> def number(candidate, sources):
    ...     value = offers.values(sources)[candidate]
    ...     return Replicated(Estimate(float(value)), np.array([value]))
    >>> made = choices(offers, number, None, np.random.default_rng(1))
    >>> [(choice.budget, choice.winner, choice.advice.value) for choice in made]
    [(1.0, 0, 'the cheapest is the choice'), (2.0, 0, 'the cheapest is the choice')]
    """
    price = offers.price
    sources = offers.sources
    if price.size < 2 or sources.size < FEWEST_SOURCES:
        return []
    values = offers.values(sources)
    half = first_half(rng, sources, offers.sums.shape[1])
    first = offers.values(half)
    budgets = budgets_of(price)
    winners = [best_within(price, values, budget) for budget in budgets]
    nested = nested_values(offers, budgets, rng)
    cheapest = best_within(price, first, float(price.min()))
    on_half = [best_within(price, first, budget) for budget in budgets]
    gains = []
    for chosen in on_half:
        gains.append(None if chosen == cheapest else gain(chosen, cheapest, ~half))
    adjusted = holm([nan if each is None else _p_of(each) for each in gains])
    made = []
    for at, winner in enumerate(winners):
        over = gains[at]
        p_holm = float(adjusted[at])
        advice = Advice.CHEAPEST
        if over is not None:
            advice = advised(over.estimate, p_holm)
        choice = Choice(
            winner,
            budgets[at],
            float(values[winner]),
            float(nested[at]),
            on_half[at],
            cheapest,
            number(on_half[at], ~half),
            over,
            p_holm,
            advice,
        )
        made.append(choice)
    return made


def _p_of(gain: Replicated) -> float:
    """One-sided p of a gain above 0, NaN where there is no test."""
    if gain.estimate.value is None:
        return nan
    p = gain.p_above(0.0)
    return nan if p is None else p
