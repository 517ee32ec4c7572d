"""A judge among raters: as one more rater, in a rater's place (Alt-test), and raters'
agreement.

Each rater in turn is compared with the others, and the judge with the same others on
the same texts. A difference of 0: the judge does as well as one more person would.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np

from judgescope.statistics.arrays import (
    DIGITS,
    Codes,
    Flags,
    Floats,
    Weights,
    decimal_mean,
)
from judgescope.statistics.declared import (
    ANY,
    accuracy,
    declare,
    percent,
    scale_of,
    signed_amount,
)
from judgescope.statistics.intervals import (
    NOT_SMOOTH,
    PLAIN,
    benjamini_yekutieli,
    t_quantile,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import (
    NO_SIZES,
    Replicated,
    fewest_varied,
    mean_rows,
    with_interval,
)
from judgescope.statistics.result import (
    FEW_RATERS,
    FEW_SOURCES,
    FEW_TEXTS,
    Estimate,
    clauses,
)

ALT_TEST = "Calderon, Reichart, Dror 2025"
ORDER: Final = 5
DECLARED: Final = declare(
    alt_test_winrate=percent(
        "Alt-test winning rate",
        "share of raters whom the judge could replace",
        ALT_TEST,
        scaled=NOT_SMOOTH,
    ),
    alt_test_advantage=accuracy(
        "Alt-test advantage",
        "how often the judge is as close to the other raters as a rater is",
        ALT_TEST,
    ),
    as_rater=signed_amount(
        "{} as one more rater",
        "agreement of the judge with the other raters minus that of a rater; 0: equal",
        keeps_kind=True,
    ),
    as_rater_share=percent(
        "{}, relative to a rater",
        "agreement of the judge with the other raters divided by that of a rater",
        range=ANY,
    ),
)


Name = TypeVar("Name", bound=Hashable)
Statistics = Callable[[Floats, Floats], Mapping[Name, Replicated]]
"""(x, y) -> the statistics of x with y, (targets,) both, NaN = missing."""
DIFFERENCE: Final = (-2.0, 2.0)
"""The ends of a difference of two correlations, which holds that of two shares."""
GoldRule = Literal["mean", "median", "majority_else_mean"]
"""What stands for several ratings of a text; see GOLD."""
Against = GoldRule | Literal["each"] | Callable[[Floats], Floats]
"""What a rater is compared with: the gold value of the others' ratings, each other in
turn, or a function of theirs.

A function takes the others' ratings, (raters, targets), and returns a value each,
(targets,).
"""
Closeness = Literal["accuracy", "rmse"]
Unit = Literal["source", "text"]
"""The units that the alternative annotator test treats as independent."""
SHUFFLES: Final = 20
FEWEST_TEXTS, FEWEST_SOURCES = 30, 10
"""A rater with fewer texts or sources is not compared as a person."""
ALT_TEST_LEVEL: Final = 0.05
MONOTONE: Final = 0.95
"""If the ratings of a larger share of texts are in order, columns are slots, not
persons."""
ONE_RATER: Final = "one rater: no other rater to compare with"
NOT_SHOWN: Final = "the raters' own agreement is not significantly above 0"
AS_GOOD, WORSE, UNDECIDED = (
    "as good as one more rater",
    "worse than a rater",
    "undecided",
)


class AsRater(NamedTuple):
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
    statistics: Statistics[Name],
    judge: Floats,
    tables: Sequence[Floats],
    *,
    against: Against,
) -> dict[Name, AsRater]:
    """Return mean_r (A_r - B_r) and sum A_r / sum B_r of every statistic s.

    For correlations (`mean`, or another rule of GOLD): g is this value of the others on
    the texts that have the judge's x, r's H_r and g; A_r = s(x, g), B_r = s(H_r, g).
    For classes (`each`): means over r' ≠ r of s(x, H_r') and of s(H_r, H_r'), on the
    texts that have all three; a function of the others' ratings stands instead of their
    mean. Raters weigh by their texts. judge (targets,), tables: ratings, (raters,
    targets) each, NaN = missing; of several (shuffles of the same ratings) the mean is
    taken, deletion by deletion. A rater of whom one side is undefined is left out, and
    the note counts those left. The judge as used, the mean of its draws, is compared
    with one rater. Undefined with one rater; of statistics without deletions there is
    the difference alone. Methods.md 10.
    """
    by_table: dict[Name, list[_Sides]] = {}
    for ratings in tables:
        for name, sides in _sides(statistics, judge, ratings, against).items():
            by_table.setdefault(name, []).append(sides)
    return {name: _mean_of_tables(sides) for name, sides in by_table.items()}


def _sides(
    statistics: Statistics[Name], judge: Floats, ratings: Floats, against: Against
) -> dict[Name, _Sides]:
    """Return both sides of every statistic on one table of ratings, or why it is
    undefined.
    """
    if len(ratings) < 2:
        nothing = _Sides(Estimate.undefined(ONE_RATER, n=len(ratings)))
        gold = ratings[0] if len(ratings) else judge
        return dict.fromkeys(statistics(judge, gold), nothing)  # its names alone count
    pairs: dict[Name, list[tuple[float, Replicated, Replicated]]] = {}
    for rater, gold in _compared(ratings, against):
        all_three = ~(np.isnan(judge) | np.isnan(rater) | np.isnan(gold))
        x, h, g = (np.where(all_three, v, np.nan) for v in (judge, rater, gold))
        of_rater = statistics(h, g)
        for name, of_judge in statistics(x, g).items():
            pairs.setdefault(name, []).append(
                (float(all_three.sum()), of_judge, of_rater[name])
            )
    return {name: _weighted(of_name) for name, of_name in pairs.items()}


def _compared(ratings: Floats, against: Against) -> Iterator[tuple[Floats, Floats]]:
    """Yield each rater's ratings and the ratings that they are compared with."""
    for number, rater in enumerate(ratings):
        others = np.delete(ratings, number, axis=0)
        if against == "each":
            yield from ((rater, gold) for gold in others)
        else:
            value = GOLD[against] if isinstance(against, str) else against
            yield rater, value(others)


def mean_rating(ratings: Floats) -> Floats:
    """Return sum of a target's ratings / their number; NaN without any. (raters, n) ->
    (n,).
    """
    given = np.isfinite(ratings).sum(axis=0)
    return decimal_mean(np.nansum(ratings, axis=0), given)


def lower_median(ratings: Floats) -> Floats:
    """Return the middle rating of each target, of two the lower; NaN without any.

    ratings (raters, targets), NaN = missing; shape (targets,).

    >>> lower_median(np.array([[1.0, 4.0], [2.0, 5.0], [5.0, np.nan]]))
    array([2., 4.])
    """
    ordered = np.sort(ratings, axis=0)  # NaN last
    given = np.isfinite(ratings).sum(axis=0)
    middle = np.maximum((given - 1) // 2, 0)
    return np.asarray(np.take_along_axis(ordered, middle[None, :], axis=0)[0])


def majority_rating(ratings: Floats) -> Floats:
    """Return the rating that more than half of a target's raters gave, NaN if none is.

    ratings (raters, targets), NaN = missing; shape (targets,). Raters who did not rate
    a target do not count there.

    >>> majority_rating(np.array([[3.0, 3.0], [3.0, 4.0], [5.0, np.nan]]))
    array([ 3., nan])
    """
    given = np.isfinite(ratings).sum(axis=0)
    middle = lower_median(ratings)  # a value of more than half is always the median
    return np.where(2 * (ratings == middle).sum(axis=0) > given, middle, np.nan)


def majority_else_mean(ratings: Floats) -> Floats:
    """Return each target's `majority_rating`, the mean of its ratings where none is.

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


def _weighted(pairs: Sequence[tuple[float, Replicated, Replicated]]) -> _Sides:
    """Return the means over (texts, judge, rater), weighing by texts, where both are
    defined.
    """
    known = [
        pair for pair in pairs if None not in (side.estimate.value for side in pair[1:])
    ]
    if not known:
        sides = (side.estimate for side in pairs[0][1:])
        return _Sides(next(one for one in sides if one.value is None))
    weights, judges, raters = zip(*known, strict=True)
    w = np.array(weights)
    a, b = (
        np.einsum("r,rd->d", w / w.sum(), np.stack([one.rows for one in side]))
        for side in (judges, raters)
    )
    n, missing = (
        round(float(np.mean([getattr(judge.estimate, name) for judge in judges])))
        for name in ("n", "n_missing")
    )
    lost = len(pairs) - len(known)
    note = f"undefined for {lost} of {len(pairs)}" if lost else ""
    difference = Estimate(float(a[0] - b[0]), n=n, n_missing=missing, note=note)
    sizes = np.sum([judge.sizes for judge in judges], axis=0)
    varied = fewest_varied([*judges, *raters])
    return _Sides(difference, a, b, sizes, varied)


def _mean_of_tables(tables: Sequence[_Sides]) -> AsRater:
    """Return the mean over tables of ratings, which are of one size; undefined where
    none is.
    """
    known = [sides for sides in tables if sides.counted.value is not None]
    if not known:
        nothing = tables[0].counted
        why = Estimate.undefined(nothing.note, n=nothing.n, n_missing=nothing.n_missing)
        undefined = Replicated(why, np.array([np.nan]))
        return AsRater(undefined, why, undefined)
    a, b, sizes = (
        np.mean([getattr(sides, part) for sides in known], axis=0)
        for part in ("a", "b", "sizes")
    )
    shuffles = f"mean of {len(tables)} shuffles of ratings" if len(tables) > 1 else ""
    value = replace(known[0].counted, value=float(a[0] - b[0]), method=shuffles)
    varied = known[0].varied
    difference = with_interval(
        Replicated(value, a - b, sizes, PLAIN, DIFFERENCE, varied)
    )
    of_raters = replace(value, value=float(b[0]))
    ceiling = with_interval(Replicated(of_raters, b, sizes, PLAIN, None, varied))
    below = ceiling.jackknifed
    share = Estimate.undefined(NOT_SHOWN, n=value.n, n_missing=value.n_missing)
    if isinstance(below, str) or below.interval()[0] <= 0:
        return AsRater(difference, share, ceiling)
    if bounds := fieller(a, b, sizes):
        how = f"Fieller, jackknife over {below.sources} sources"
        low, high = bounds
        share = replace(value, value=float(a[0] / b[0]), ci_low=low, ci_high=high)
        share = replace(share, method=clauses(value.method, how))
    return AsRater(difference, share, ceiling)


def fieller(a: Floats, b: Floats, sizes: Floats) -> tuple[float, float] | None:
    """Return the values ρ with |a - ρ b| <= t(n - 1) SE(a - ρ b), None if not an
    interval.

    a, b (1 + sources,): two values and their deletions; SE² = V_aa - 2ρ V_ab + ρ² V_bb
    from the jackknife covariance over the n sources of sizes (sources,) above 0.
    Fieller 1954.
    """
    used = sizes > 0
    n = int(used.sum())
    if n < FEWEST_SOURCES or not np.isfinite([a[1:][used], b[1:][used]]).all():
        return None
    apart = np.stack([v[1:][used] - v[1:][used].mean() for v in (a, b)])
    (aa, ab), (_, bb) = (n - 1) / n * np.einsum("is,js->ij", apart, apart)
    t = t_quantile(n - 1)
    second = float(b[0] ** 2 - t**2 * bb)
    if second <= 0:
        return None
    middle, first = float(a[0] * b[0] - t**2 * ab), float(a[0] ** 2 - t**2 * aa)
    root = math.sqrt(max(0.0, middle**2 - first * second))
    return (middle - root) / second, (middle + root) / second


def decided(difference: Replicated, margin: float) -> str:
    """Return AS_GOOD, WORSE or UNDECIDED of a difference and -margin, and the sources
    it takes.

    As good where the lower end is above -margin, worse where the upper end is below it.
    Undecided: with the sources at which a half width is the margin; the error falls
    with the root of them. "" without an interval. Beating one rater is never "better
    than people".
    """
    known, one = difference.jackknifed, difference.estimate
    if isinstance(known, str) or one.ci_low is None or one.ci_high is None:
        return ""
    if one.ci_low > -margin:
        return AS_GOOD
    if one.ci_high < -margin:
        return WORSE
    lo, hi = known.interval()
    needed = max(
        known.sources + 1, math.ceil(known.sources * ((hi - lo) / 2 / margin) ** 2)
    )
    return f"{UNDECIDED}: ±{margin:g} needs about {needed} sources"


def are_slots(ratings: Floats) -> bool:
    """Return whether columns are not persons: over 95 % of texts have ordered ratings.

    Texts whose ratings are all equal do not count. ratings (raters, texts), NaN =
    missing.
    """
    with np.errstate(invalid="ignore"):
        rises, falls = np.zeros((2, ratings.shape[1]), dtype=bool)
        last = np.full(ratings.shape[1], np.nan)
        for own in ratings:
            rises |= own > last
            falls |= own < last
            last = np.where(np.isnan(own), last, own)
    varied = int((rises | falls).sum())
    in_order = max(int((rises & ~falls).sum()), int((falls & ~rises).sum()))
    return varied > 0 and in_order > MONOTONE * varied


def few_texts(ratings: Floats, source: Codes) -> Flags:
    """Return which raters have fewer than 30 texts or 10 sources: (raters,)."""
    given = ~np.isnan(ratings)
    sources = np.array([np.unique(source[own]).size for own in given], dtype=np.int64)
    few: Flags = given.sum(axis=1) < FEWEST_TEXTS
    return few | (sources < FEWEST_SOURCES)


def rating_tables(
    ratings: Floats,
    source: Codes,
    slots: bool | None,
    shuffle: Callable[[], np.random.Generator],
) -> list[Floats]:
    """Return the tables for `as_rater`: the ratings, or SHUFFLES if columns are not
    persons.

    slots: whether all columns are places; None: where `are_slots` says so. Raters of
    few texts are (`few_texts`). ratings (raters, texts), source (texts,); `shuffle`
    returns the study's stream. A text's own ratings fill its first slots in random
    order, so that there are no more slots than a text has ratings.
    """
    loose = few_texts(ratings, source)
    if slots or (slots is None and are_slots(ratings)):
        loose = np.ones_like(loose)
    if not loose.any() or len(ratings) < 2:
        return [ratings]
    rng, of_slots, tables = shuffle(), ratings[loose], []
    for _ in range(SHUFFLES):
        keys = np.where(np.isnan(of_slots), np.inf, rng.random(of_slots.shape))
        moved = np.take_along_axis(of_slots, np.argsort(keys, axis=0), axis=0)
        tables.append(
            np.concatenate([ratings[~loose], moved[~np.isnan(moved).all(axis=1)]])
        )
    return tables


def alternative_annotator(
    judge: Floats,
    ratings: Floats,
    source: Codes,
    *,
    weights: Weights,
    closeness: Closeness,
    epsilon: float = 0.1,
    unit: Unit = "source",
) -> tuple[Estimate, Estimate]:
    """Return the winning rate and the average advantage probability of a judge.

    Each rater in turn is left out. On each of the rater's targets judge and rater are
    compared in how close they are to the other raters: by the share of them who gave
    the same (`accuracy`), or by minus the root of the mean squared difference (`rmse`).
    W_j is the share of targets on which the judge is at least as close, V_j that on
    which the rater is. The judge wins against rater j if a one-sided t-test rejects V_j
    - W_j >= epsilon (epsilon: how much worse the judge may be, because it is cheaper);
    p-values are adjusted by Benjamini-Yekutieli at .05. The winning rate is the share
    of raters it wins against, the advantage probability the mean of W_j.

    judge (targets,), ratings (raters, targets), NaN = missing: targets where judge or
    rater or all others are missing are left out. `n` counts raters (winning rate) or
    pairs of target and rater (advantage); `n_missing` the pairs left out. Targets of
    one source are not independent, so the test takes sources as its units, weighing
    each by its targets; with `unit` "text" it takes targets, as in the paper. The
    interval of the advantage is over sources in either case. Undefined below 3 raters
    or 3 units. Calderon, Reichart, Dror 2025, "The Alternative Annotator Test",
    equations 1-4.
    """
    if len(ratings) < 3:
        nothing = Estimate.undefined(FEW_RATERS, n=len(ratings))
        return nothing, nothing
    n_sources = int(source.max(initial=-1)) + 1 if weights is None else weights.shape[1]
    tested = source if unit == "source" else np.arange(source.size)
    p_values, advantages, compared = [], [], 0
    for rater in range(len(ratings)):
        others = np.delete(ratings, rater, axis=0)
        own, its = (_closeness(v, others, closeness) for v in (ratings[rater], judge))
        known = ~(np.isnan(own) | np.isnan(its))
        compared += int(known.sum())
        wins, losses = (
            (its >= own)[known].astype(float),
            (own >= its)[known].astype(float),
        )
        cases = np.ones(wins.size)
        compared_by_unit, lost_by_unit = (
            _sums(tested[known], v) for v in (cases, losses - wins)
        )
        p_values.append(_p_worse(compared_by_unit, lost_by_unit, epsilon))
        won, count = (_sums(source[known], v, n_sources) for v in (wins, cases))
        advantages.append((won, count))
    missing = ratings.size - compared
    p = np.array(p_values)
    if np.isnan(p).any():
        why = FEW_SOURCES if unit == "source" else FEW_TEXTS
        few = Estimate.undefined(why, n=len(ratings), n_missing=missing)
        return few, few
    rate = Estimate(
        float(np.mean(benjamini_yekutieli(p) <= ALT_TEST_LEVEL)),
        n=len(ratings),
        method=f"epsilon {epsilon:g}, t-test over {unit}s, Benjamini-Yekutieli",
    )
    return rate, _advantage(advantages, weights, compared, missing)


def _sums(code: Codes, values: Floats, size: int = 0) -> Floats:
    return np.bincount(code, weights=values, minlength=size).astype(np.float64)


def _closeness(values: Floats, others: Floats, closeness: Closeness) -> Floats:
    """Return how close each value is to the others' ratings, NaN without value or
    others.
    """
    given = ~np.isnan(others)
    count = np.where(np.isnan(values), 0, given.sum(axis=0)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        if closeness == "accuracy":
            return np.asarray(np.sum((others == values) & given, axis=0) / count)
        squares = np.round(
            np.sum(np.square(others - values), axis=0, where=given), DIGITS
        )
        return np.asarray(-np.sqrt(squares / count))


def _p_worse(count: Floats, difference: Floats, epsilon: float) -> float:
    """Return the p-value that the rater's share is not epsilon above the judge's.

    count and difference (units,): targets, and on how many more the rater was as close.
    The mean of all targets is a ratio of sums over units, with its linearised standard
    error.
    """
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    used = count > 0
    k, n = int(used.sum()), float(count.sum())
    if k < 3:
        return float("nan")
    mean = float(difference.sum()) / n
    residual = (difference - mean * count)[used]
    error = float(np.sqrt(k / (k - 1) * np.sum(np.square(residual)))) / n
    if error == 0:
        return float(mean >= epsilon)
    return float(stdtr(k - 1, (mean - epsilon) / error))


def _advantage(
    advantages: list[tuple[Floats, Floats]],
    weights: Weights,
    compared: int,
    missing: int,
) -> Estimate:
    """Return the mean over raters of sum w won / sum w count, with its interval."""
    rows = []
    for won, count in advantages:
        share = np.divide(won, count, out=np.full_like(won, np.nan), where=count > 0)
        deleted = np.empty(0) if weights is None else mean_rows(share, weights * count)
        rows.append(np.append(won.sum() / count.sum(), deleted))
    values = np.mean(rows, axis=0)
    result = Estimate(float(values[0]), n=compared, n_missing=missing)
    sizes = np.sum([count for _, count in advantages], axis=0)
    scale = scale_of("alt_test_advantage")
    return with_interval(Replicated(result, values, sizes, scale)).estimate


def _compared_with(against: Against) -> str:
    """Return the words for what a rater is compared with."""
    if not isinstance(against, str):
        return "the others' label"
    if against == "each":
        return "every other"
    return f"the {GOLD_NAMES[against]} of the others"


def ceilings(
    statistics: Statistics[Name], ratings: Floats, *, against: Against
) -> dict[Name, Estimate]:
    """Return the mean over raters of the statistic that each would reach in a judge's
    place.

    `statistics` are as in `as_rater`; ratings (raters, targets), NaN = missing. Each
    rater is compared with the gold value of the others (such as their `mean`, for
    correlations), or with every other rater (`each`, for classes, which a mean leaves),
    or with the label that a function makes of theirs. Deletions are averaged row by
    row, as `mean_over` does; `n` and `n_missing` are the mean counts. A statistic that
    is undefined for a rater leaves the rater out, and the note counts those left;
    undefined where none is left. One rater: nothing.
    """
    by_name: dict[Name, list[Replicated]] = {}
    for rater, gold in _compared(ratings, against):
        for name, one in statistics(rater, gold).items():
            by_name.setdefault(name, []).append(one)
    which = _compared_with(against)
    averages: dict[Name, Estimate] = {}
    for name, each in by_name.items():
        known = [one for one in each if one.estimate.value is not None]
        if not known:
            averages[name] = each[0].estimate
            continue
        result = mean_over(known, averaged="raters").estimate
        n, n_missing = (
            round(float(np.mean([getattr(one.estimate, count) for one in known])))
            for count in ("n", "n_missing")
        )
        how = (
            "each rater against "
            f"{which}{result.method.removeprefix('mean over raters')}"
        )
        averages[name] = replace(result, n=n, n_missing=n_missing, method=how)
        if lost := len(each) - len(known):
            averages[name] = averages[name].with_note(
                f"undefined for {lost} of {len(each)}"
            )
    return averages
