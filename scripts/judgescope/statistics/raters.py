"""A judge as one more rater, and raters' agreement.

Each rater in turn is compared with the others, and the judge with the same others on
the same texts. A difference of 0: the judge does as well as one more person would.
"""

import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np

from judgescope.statistics.arrays import (
    Codes,
    Flags,
    Floats,
    decimal_mean,
)
from judgescope.statistics.declared import (
    ValueRange,
    declare,
    percent,
    signed_amount,
)
from judgescope.statistics.intervals import (
    PLAIN,
    t_quantile,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import (
    NO_SIZES,
    Replicated,
    fewest_varied,
    with_interval,
)
from judgescope.statistics.result import Estimate, clauses

DECLARED = declare(
    "raters",
    as_rater=signed_amount(
        "{} as one more rater",
        "agreement of the judge with the other raters minus that of a rater; 0: equal",
        keeps_kind=True,
    ),
    as_rater_share=percent(
        "{}, relative to a rater",
        "agreement of the judge with the other raters divided by that of a rater",
        range=ValueRange.ANY,
    ),
)


Name = TypeVar("Name", bound=Hashable)
StatisticFunction = Callable[[Floats, Floats], Mapping[Name, Replicated]]
"""(x, y) -> the statistics of x with y, (targets,) both, NaN = missing."""
GoldRule = Literal["mean", "median", "majority_else_mean"]
"""What stands for several ratings of a text; see GOLD."""
Against = GoldRule | Literal["each"] | Callable[[Floats], Floats]
"""What a rater is compared with: the gold value of the others' ratings, each other in
turn, or a function of theirs.

A function takes the others' ratings, (raters, targets), and returns a value each,
(targets,).
"""
SHUFFLES: Final = 20
FEWEST_SOURCES = 10
"""A rater with fewer texts or sources is not compared as a person."""


class RaterVerdict(StrEnum):
    """What a judge is beside one more rater."""

    AS_GOOD = "as good as one more rater"
    WORSE = "worse than a rater"
    UNDECIDED = "undecided"


class UndecidedGap(NamedTuple):
    """What would decide whether a judge is as good as one more rater.

    The note of the difference has both numbers, since a row of a table has one value.

    >>> UndecidedGap(0.05, 90).note
    'undecided: ±0.05 needs about 90 sources'
    >>> UndecidedGap.of("undecided: ±0.05 needs about 90 sources")
    UndecidedGap(margin=0.05, sources=90)
    >>> UndecidedGap.of("worse than a rater") is None
    True
    """

    margin: float
    sources: int
    """Of how many sources the interval would have the margin as its half width."""

    @property
    def note(self) -> str:
        """The note of the difference."""
        return (
            f"{RaterVerdict.UNDECIDED}: ±{self.margin:g} needs about {self.sources} "
            "sources"
        )

    @classmethod
    def of(cls, note: str) -> "UndecidedGap | None":
        """The numbers in a note that begins with `undecided`; None of any other."""
        pattern = rf"{RaterVerdict.UNDECIDED}: ±(\S+) needs about (\d+) sources"
        numbers = re.fullmatch(pattern, note)
        if numbers is None:
            return None
        return cls(float(numbers[1]), int(numbers[2]))


IF_LOST: Final = "not shown if every lost reply had the worst score"
"""What stands for `AS_GOOD` where it does not hold with lost judgments at the worst
end."""


class RaterDifference(NamedTuple):
    """`as_rater` = mean_r (A_r - B_r), and `as_rater_share` = sum A_r / sum B_r.

    `ceiling` is mean_r B_r: how well one rater agrees with the others.
    """

    difference: Replicated
    share: Estimate
    ceiling: Replicated


class _Sides(NamedTuple):
    """The difference of judge and raters, and the statistic of both, (1 + sources,)
    each.
    """

    counted: Estimate
    a: Floats = NO_SIZES
    b: Floats = NO_SIZES
    sizes: Floats = NO_SIZES
    varied: int | None = None


def as_rater(
    statistics: StatisticFunction[Name],
    judge: Floats,
    tables: Sequence[Floats],
    *,
    against: Against,
) -> dict[Name, RaterDifference]:
    """mean_r (A_r - B_r) and sum A_r / sum B_r of every statistic s.

    For correlations (`mean`, or another rule of GOLD): g is this value of the others on
    the texts that have the judge's x, r's H_r and g; A_r = s(x, g), B_r = s(H_r, g).
    For classes (`each`): means over r' ≠ r of s(x, H_r') and of s(H_r, H_r'), on the
    texts that have all three; a function of the others' ratings stands instead of their
    mean. Raters weigh by their texts. judge (targets,), tables: ratings, (raters,
    targets) each, NaN = missing; of several (shuffles of the same ratings) the mean is
    taken, deletion by deletion. A rater of whom one side is undefined is left out, and
    the note counts those left. The judge as used, the mean of its draws, is compared
    with one rater. Undefined with one rater; of statistics without deletions there is
    the difference alone. See docs/methods.md, "Agreement".

    >>> from judgescope.statistics.correlation import correlations
    >>> def pearson(x, y):
    ...     zero = np.zeros(x.size, dtype=np.int64)
    ...     results = correlations(x, y, zero, zero, weights=None, levels=["pooled"])
    ...     return {"pearson": results["pearson", "pooled"]}
    ...
    >>> raters = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    >>> judge = np.array([1.0, 2.0, 3.0])
    >>> result = as_rater(pearson, judge, [raters], against="mean")["pearson"]
    >>> round(result.difference.estimate.value, 3)  # (.5 + 1) / 2 - .5
    0.25
    """
    by_table: dict[Name, list[_Sides]] = {}
    for ratings in tables:
        for name, sides in _sides(statistics, judge, ratings, against).items():
            by_table.setdefault(name, []).append(sides)
    return {name: _mean_of_tables(sides) for name, sides in by_table.items()}


def _sides(
    statistics: StatisticFunction[Name],
    judge: Floats,
    ratings: Floats,
    against: Against,
) -> dict[Name, _Sides]:
    """Both sides of every statistic on one table of ratings, or why it is
    undefined.
    """
    if len(ratings) < 2:
        nothing = _Sides(
            Estimate.undefined(
                "one rater: no other rater to compare with", n=len(ratings)
            )
        )
        gold = ratings[0] if len(ratings) else judge
        names = statistics(judge, gold)
        return dict.fromkeys(names, nothing)
    pairs: dict[Name, list[_ComparedRater]] = {}
    for rater, gold in _compared(ratings, against):
        all_three = ~(np.isnan(judge) | np.isnan(rater) | np.isnan(gold))
        x = np.where(all_three, judge, np.nan)
        h = np.where(all_three, rater, np.nan)
        g = np.where(all_three, gold, np.nan)
        of_rater = statistics(h, g)
        for name, of_judge in statistics(x, g).items():
            pair = _ComparedRater(float(all_three.sum()), of_judge, of_rater[name])
            pairs.setdefault(name, []).append(pair)
    return {name: _weighted(of_name) for name, of_name in pairs.items()}


def _compared(ratings: Floats, against: Against) -> Iterator[tuple[Floats, Floats]]:
    """Yield each rater's ratings and the ratings that they are compared with."""
    for number, rater in enumerate(ratings):
        others = np.delete(ratings, number, axis=0)
        if against == "each":
            for gold in others:
                yield rater, gold
        else:
            value = GOLD[against] if isinstance(against, str) else against
            yield rater, value(others)


def mean_rating(ratings: Floats) -> Floats:
    """sum of a target's ratings / their number; NaN without any. (raters, n) ->
    (n,).

    >>> mean_rating(np.array([[1.0, 4.0], [2.0, np.nan]])).tolist()
    [1.5, 4.0]
    """
    given = np.isfinite(ratings).sum(axis=0)
    return decimal_mean(np.nansum(ratings, axis=0), given)


def lower_median(ratings: Floats) -> Floats:
    """The middle rating of each target, of two the lower; NaN without any.

    ratings (raters, targets), NaN = missing; shape (targets,).

    >>> lower_median(np.array([[1.0, 4.0], [2.0, 5.0], [5.0, np.nan]]))
    array([2., 4.])
    """
    ordered = np.sort(ratings, axis=0)  # NaN last
    given = np.isfinite(ratings).sum(axis=0)
    middle = np.maximum((given - 1) // 2, 0)
    return np.asarray(np.take_along_axis(ordered, middle[None, :], axis=0)[0])


def majority_rating(ratings: Floats) -> Floats:
    """The rating that more than half of a target's raters gave, NaN if none is.

    ratings (raters, targets), NaN = missing; shape (targets,). Raters who did not rate
    a target do not count there.

    >>> majority_rating(np.array([[3.0, 3.0], [3.0, 4.0], [5.0, np.nan]]))
    array([ 3., nan])
    """
    given = np.isfinite(ratings).sum(axis=0)
    middle = lower_median(ratings)  # a value of more than half is always the median
    return np.where(2 * (ratings == middle).sum(axis=0) > given, middle, np.nan)


def majority_else_mean(ratings: Floats) -> Floats:
    """Each target's `majority_rating`, the mean of its ratings where none is.

    >>> majority_else_mean(np.array([[3.0, 3.0], [3.0, 4.0], [5.0, np.nan]]))
    array([3. , 3.5])
    """
    majority = majority_rating(ratings)
    return np.where(np.isnan(majority), mean_rating(ratings), majority)


GOLD: Final[dict[GoldRule, Callable[[Floats], Floats]]] = {
    "mean": mean_rating,
    "median": lower_median,
    "majority_else_mean": majority_else_mean,
}
"""Rule -> the function from ratings (raters, targets) to the gold value of each
target."""
GOLD_NAMES: Final[dict[GoldRule, str]] = {
    "mean": "mean",
    "median": "lower median",
    "majority_else_mean": "majority, else mean",
}
"""Rule -> how the column `method` calls the value."""


class _ComparedRater(NamedTuple):
    """The statistic of the judge and of a rater, on the same texts."""

    texts: float
    judge: Replicated
    rater: Replicated

    @property
    def undefined(self) -> Estimate | None:
        """The undefined side, None where both have a value."""
        for side in (self.judge.estimate, self.rater.estimate):
            if side.value is None:
                return side
        return None


def _weighted(pairs: Sequence[_ComparedRater]) -> _Sides:
    """The means over raters, weighing by texts, where both sides are defined."""
    known = [pair for pair in pairs if pair.undefined is None]
    if not known:
        assert pairs[0].undefined is not None
        return _Sides(pairs[0].undefined)
    texts = np.array([pair.texts for pair in known])
    weights = texts / texts.sum()
    judges = [pair.judge for pair in known]
    raters = [pair.rater for pair in known]
    a = np.einsum("r,rd->d", weights, np.stack([judge.rows for judge in judges]))
    b = np.einsum("r,rd->d", weights, np.stack([rater.rows for rater in raters]))
    lost = len(pairs) - len(known)
    difference = Estimate(
        float(a[0] - b[0]),
        n=_mean_count([judge.estimate.n for judge in judges]),
        n_missing=_mean_count([judge.estimate.n_missing for judge in judges]),
        note=f"undefined for {lost} of {len(pairs)}" if lost else "",
    )
    sizes = np.sum([judge.sizes for judge in judges], axis=0)
    varied = fewest_varied([*judges, *raters])
    return _Sides(difference, a, b, sizes, varied)


def _mean_count(counts: Sequence[int]) -> int:
    return round(float(np.mean(counts)))


def _mean_of_tables(tables: Sequence[_Sides]) -> RaterDifference:
    """The mean over tables of ratings, which are of one size; undefined where
    none is.
    """
    known = []
    for sides in tables:
        if sides.counted.value is not None:
            known.append(sides)
    if not known:
        nothing = tables[0].counted
        why = Estimate.undefined(nothing.note, n=nothing.n, n_missing=nothing.n_missing)
        undefined = Replicated(why, np.array([np.nan]))
        return RaterDifference(undefined, why, undefined)
    a = np.mean([sides.a for sides in known], axis=0)
    b = np.mean([sides.b for sides in known], axis=0)
    sizes = np.mean([sides.sizes for sides in known], axis=0)
    shuffles = ""
    if len(tables) > 1:
        shuffles = f"mean of {len(tables)} shuffles of ratings"
    value = replace(known[0].counted, value=float(a[0] - b[0]), method=shuffles)
    varied = known[0].varied
    # The ends of a difference of two correlations, which hold that of two shares.
    ends = (-2.0, 2.0)
    difference = with_interval(Replicated(value, a - b, sizes, PLAIN, ends, varied))
    of_raters = replace(value, value=float(b[0]))
    ceiling = with_interval(Replicated(of_raters, b, sizes, PLAIN, None, varied))
    below = ceiling.jackknifed
    share = Estimate.undefined(
        "the raters' own agreement is not significantly above 0",
        n=value.n,
        n_missing=value.n_missing,
    )
    if isinstance(below, str) or below.interval()[0] <= 0:
        return RaterDifference(difference, share, ceiling)
    if bounds := fieller(a, b, sizes):
        how = f"Fieller, jackknife over {below.sources} sources"
        low, high = bounds
        share = replace(value, value=float(a[0] / b[0]), ci_low=low, ci_high=high)
        share = replace(share, method=clauses(value.method, how))
    return RaterDifference(difference, share, ceiling)


def fieller(a: Floats, b: Floats, sizes: Floats) -> tuple[float, float] | None:
    """The values ρ with |a - ρ b| <= t(n - 1) SE(a - ρ b), None if not an
    interval.

    a, b (1 + sources,): two values and their deletions; SE² = V_aa - 2ρ V_ab + ρ² V_bb
    from the jackknife covariance over the n sources of sizes (sources,) above 0.
    Fieller 1954.

    >>> a = np.append(1.0, np.linspace(0.9, 1.1, 10))
    >>> low, high = fieller(a, np.append(2.0, np.full(10, 2.0)), np.ones(10))
    >>> round(low, 2), round(high, 2)
    (0.28, 0.72)
    """
    used = sizes > 0
    n = int(used.sum())
    deleted = np.stack([a[1:][used], b[1:][used]])
    if n < FEWEST_SOURCES or not np.isfinite(deleted).all():
        return None
    deviations = deleted - np.stack([[row.mean()] for row in deleted])
    covariance = (n - 1) / n * np.einsum("is,js->ij", deviations, deviations)
    (aa, ab), (_, bb) = covariance
    t = t_quantile(n - 1)
    first = float(a[0] ** 2 - t**2 * aa)
    middle = float(a[0] * b[0] - t**2 * ab)
    second = float(b[0] ** 2 - t**2 * bb)
    if second <= 0:
        # b may be 0: the values are then two rays, or all numbers.
        return None
    root = math.sqrt(max(0.0, middle**2 - first * second))
    return (middle - root) / second, (middle + root) / second


def decided(difference: Replicated, margin: float) -> str:
    """AS_GOOD, WORSE or UNDECIDED of a difference and -margin, and the sources
    it takes.

    As good where the lower end is above -margin, worse where the upper end is below it.
    Undecided: with the sources at which a half width is the margin; the error falls
    with the root of them. "" without an interval. Beating one rater is never "better
    than people".

    >>> rows = np.append(0.1, np.linspace(0.08, 0.12, 10))
    >>> difference = with_interval(Replicated(Estimate(0.1), rows, np.ones(10)))
    >>> print(decided(difference, margin=0.1))
    as good as one more rater
    """
    known = difference.jackknifed
    estimate = difference.estimate
    if isinstance(known, str) or estimate.ci_low is None or estimate.ci_high is None:
        return ""
    if estimate.ci_low > -margin:
        return RaterVerdict.AS_GOOD
    if estimate.ci_high < -margin:
        return RaterVerdict.WORSE
    lo, hi = known.interval()
    needed = max(
        known.sources + 1, math.ceil(known.sources * ((hi - lo) / 2 / margin) ** 2)
    )
    return UndecidedGap(margin, needed).note


def are_slots(ratings: Floats) -> bool:
    """Whether columns are not persons: over 95 % of texts have ordered ratings.

    Texts whose ratings are all equal do not count. ratings (raters, texts), NaN =
    missing.

    >>> are_slots(np.array([[1.0, 2.0], [2.0, 3.0]]))
    True
    >>> are_slots(np.array([[1.0, 3.0], [2.0, 2.0]]))
    False
    """
    with np.errstate(invalid="ignore"):
        rises, falls = np.zeros((2, ratings.shape[1]), dtype=bool)
        last = np.full(ratings.shape[1], np.nan)
        for rated in ratings:
            rises |= rated > last
            falls |= rated < last
            last = np.where(np.isnan(rated), last, rated)
    # Of the texts whose ratings differ.
    most_persons = 0.95
    varied = int((rises | falls).sum())
    in_order = max(int((rises & ~falls).sum()), int((falls & ~rises).sum()))
    return varied > 0 and in_order > most_persons * varied


def few_texts(ratings: Floats, source: Codes) -> Flags:
    """Which raters have fewer than 30 texts or 10 sources: (raters,).

    >>> ratings = np.ones((2, 30))
    >>> ratings[1, 0] = np.nan
    >>> few_texts(ratings, np.arange(30)).tolist()
    [False, True]
    """
    given = ~np.isnan(ratings)
    sources = np.array([np.unique(source[rated]).size for rated in given], np.int64)
    fewest_texts = 30
    few: Flags = given.sum(axis=1) < fewest_texts
    return few | (sources < FEWEST_SOURCES)


def rating_tables(
    ratings: Floats,
    source: Codes,
    slots: bool | None,
    shuffle: Callable[[], np.random.Generator],
) -> list[Floats]:
    """The tables for `as_rater`: the ratings, or SHUFFLES if columns are not
    persons.

    slots: whether all columns are places; None: where `are_slots` says so. Raters of
    few texts are (`few_texts`). ratings (raters, texts), source (texts,); `shuffle`
    returns the study's stream. A text's own ratings fill its first slots in random
    order, so that there are no more slots than a text has ratings.

    >>> ratings = np.ones((2, 30))
    >>> len(rating_tables(ratings, np.arange(30), False, np.random.default_rng))
    1
    >>> len(rating_tables(ratings, np.arange(30), True, np.random.default_rng))
    20
    """
    loose = few_texts(ratings, source)
    if slots or (slots is None and are_slots(ratings)):
        loose = np.ones_like(loose)
    if not loose.any() or len(ratings) < 2:
        return [ratings]
    rng = shuffle()
    of_slots = ratings[loose]
    tables = []
    for _ in range(SHUFFLES):
        keys = np.where(np.isnan(of_slots), np.inf, rng.random(of_slots.shape))
        moved = np.take_along_axis(of_slots, np.argsort(keys, axis=0), axis=0)
        filled = ~np.isnan(moved).all(axis=1)
        tables.append(np.concatenate([ratings[~loose], moved[filled]]))
    return tables


def _compared_with(against: Against) -> str:
    """The words for what a rater is compared with."""
    if not isinstance(against, str):
        return "the others' label"
    if against == "each":
        return "every other"
    return f"the {GOLD_NAMES[against]} of the others"


def ceilings(
    statistics: StatisticFunction[Name], ratings: Floats, *, against: Against
) -> dict[Name, Estimate]:
    """The mean over raters of the statistic that each would reach in a judge's
    place.

    `statistics` are as in `as_rater`; ratings (raters, targets), NaN = missing. Each
    rater is compared with the gold value of the others (such as their `mean`, for
    correlations), or with every other rater (`each`, for classes, which a mean leaves),
    or with the label that a function makes of theirs. Deletions are averaged row by
    row, as `mean_over` does; `n` and `n_missing` are the mean counts. A statistic that
    is undefined for a rater leaves the rater out, and the note counts those left;
    undefined where none is left. One rater: nothing.

    >>> from judgescope.statistics.labels import on_labels
    >>> def accuracy_of(x, y):
    ...     results = on_labels(y, x, 2, np.arange(x.size), None)
    ...     return {"accuracy": results["label_accuracy"]}
    ...
    >>> ratings = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> round(ceilings(accuracy_of, ratings, against="each")["accuracy"].value, 3)
    0.667
    """
    by_name: dict[Name, list[Replicated]] = {}
    for rater, gold in _compared(ratings, against):
        for name, result in statistics(rater, gold).items():
            by_name.setdefault(name, []).append(result)
    compared_with = _compared_with(against)
    averages: dict[Name, Estimate] = {}
    for name, results in by_name.items():
        averages[name] = _mean_of_raters(results, compared_with)
    return averages


def _mean_of_raters(results: Sequence[Replicated], compared_with: str) -> Estimate:
    """The mean of the raters' values that are defined."""
    known = []
    for result in results:
        if result.estimate.value is not None:
            known.append(result)
    if not known:
        return results[0].estimate
    mean = mean_over(known, averaged="raters").estimate
    interval = mean.method.removeprefix("mean over raters")
    mean = replace(
        mean,
        n=_mean_count([result.estimate.n for result in known]),
        n_missing=_mean_count([result.estimate.n_missing for result in known]),
        method=f"each rater against {compared_with}{interval}",
    )
    lost = len(results) - len(known)
    if lost:
        return mean.with_note(f"undefined for {lost} of {len(results)}")
    return mean
