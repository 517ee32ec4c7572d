"""The alternative annotator test: could a judge take a rater's place?

Calderon, Reichart, Dror 2025.
"""

from typing import Literal

import numpy as np

from judgescope.statistics.arrays import (
    DIGITS,
    Codes,
    Flags,
    Floats,
    quotient,
)
from judgescope.statistics.declared import (
    accuracy,
    declare,
    percent,
)
from judgescope.statistics.intervals import (
    NOT_SMOOTH,
    benjamini_yekutieli,
)
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    Replicated,
    whole_and_resamples,
    with_interval,
)
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import SourceRows, Weights

DECLARED = declare(
    "alt_test",
    alt_test_winrate=percent(
        "Alt-test winning rate",
        "share of raters whom the judge could replace",
        "Calderon, Reichart, Dror 2025",
        scaled=NOT_SMOOTH,
    ),
    alt_test_advantage=accuracy(
        "Alt-test advantage",
        "how often the judge is as close to the other raters as a rater is",
        "Calderon, Reichart, Dror 2025",
    ),
)

Closeness = Literal["accuracy", "rmse"]


Unit = Literal["source", "text"]
"""The units that the alternative annotator test treats as independent."""


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
    """The winning rate and the average advantage probability of a judge.

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

    >>> ratings = np.tile(np.array([1.0, 2.0, 1.0, 2.0]), (3, 1))
    >>> rate, advantage = alternative_annotator(
    ...     ratings[0], ratings, np.arange(4), weights=None, closeness="accuracy"
    ... )
    >>> rate.value, advantage.value  # the judge gives what all raters give
    (1.0, 1.0)
    """
    if len(ratings) < 3:
        nothing = Estimate.undefined(REASONS.few_raters, n=len(ratings))
        return nothing, nothing
    n_sources = int(source.max(initial=-1)) + 1 if weights is None else weights.shape[1]
    tested = source
    if unit != "source":
        tested = np.arange(source.size)
    p_values = []
    advantages = []
    compared = 0
    for rater in range(len(ratings)):
        known, wins, losses = _wins_and_losses(judge, ratings, rater, closeness)
        compared += wins.size
        cases = np.ones(wins.size)
        compared_by_unit = _sums(tested[known], cases)
        lost_by_unit = _sums(tested[known], losses - wins)
        p_values.append(_p_worse(compared_by_unit, lost_by_unit, epsilon))
        won = _sums(source[known], wins, n_sources)
        count = _sums(source[known], cases, n_sources)
        advantages.append((won, count))
    missing = ratings.size - compared
    p = np.array(p_values)
    if np.isnan(p).any():
        why = REASONS.few_sources if unit == "source" else REASONS.few_texts
        few = Estimate.undefined(why, n=len(ratings), n_missing=missing)
        return few, few
    level = 0.05
    rate = Estimate(
        float(np.mean(benjamini_yekutieli(p) <= level)),
        n=len(ratings),
        method=f"epsilon {epsilon:g}, t-test over {unit}s, Benjamini-Yekutieli",
    )
    rows = whole_and_resamples(source, weights)
    return rate, _advantage(advantages, rows, compared, missing)


def _wins_and_losses(
    judge: Floats, ratings: Floats, rater: int, closeness: Closeness
) -> tuple[Flags, Floats, Floats]:
    """Which targets judge and rater share, and on which of these the judge, and the
    rater, is at least as close to the other raters; a tie is both.
    """
    others = np.delete(ratings, rater, axis=0)
    of_rater = _closeness(ratings[rater], others, closeness)
    of_judge = _closeness(judge, others, closeness)
    known = ~(np.isnan(of_rater) | np.isnan(of_judge))
    wins = (of_judge >= of_rater)[known].astype(float)
    losses = (of_rater >= of_judge)[known].astype(float)
    return known, wins, losses


def _sums(code: Codes, values: Floats, size: int = 0) -> Floats:
    return np.bincount(code, weights=values, minlength=size).astype(np.float64)


def _closeness(values: Floats, others: Floats, closeness: Closeness) -> Floats:
    """How close each value is to the others' ratings, NaN without value or
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
    """The p-value that the rater's share is not epsilon above the judge's.

    count and difference (units,): targets, and on how many more the rater was as close.
    The mean of all targets is a ratio of sums over units, with its linearised standard
    error.
    """
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    used = count > 0
    k = int(used.sum())
    n = float(count.sum())
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
    rows: SourceRows,
    compared: int,
    missing: int,
) -> Estimate:
    """The mean over raters of sum w won / sum w count, with its interval."""
    by_rater = []
    for won, count in advantages:
        sums = rows.sums(np.stack([won, count], axis=1))
        by_rater.append(quotient(sums[:, 0], sums[:, 1]))
    values = np.mean(by_rater, axis=0)
    result = Estimate(float(values[0]), n=compared, n_missing=missing)
    sizes = np.sum([count for _, count in advantages], axis=0)
    scale = scale_of("alt_test_advantage")
    return with_interval(Replicated(result, values, sizes, scale)).estimate
