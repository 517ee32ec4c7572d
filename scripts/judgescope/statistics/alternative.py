"""The alternative-annotator test: may a judge take a rater's place?"""

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.multiple import benjamini_yekutieli
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, mean_rows, with_interval
from judgescope.statistics.result import FEW_RATERS, FEW_SOURCES, Estimate

Floats = NDArray[np.float64]
Closeness = Literal["accuracy", "rmse"]
FEWEST_RATERS: Final = 3
FEWEST_SOURCES: Final = 3
LEVEL: Final = 0.05


def alternative_annotator(
    judge: Floats,
    ratings: Floats,
    source: NDArray[np.int64],
    *,
    weights: NDArray[np.int64] | None,
    closeness: Closeness,
    epsilon: float = 0.1,
) -> tuple[Estimate, Estimate]:
    """Return the winning rate and the average advantage probability of a judge.

    Each rater in turn is left out. On each of the rater's targets judge and rater are compared in
    how close they are to the other raters: by the share of them who gave the same (`accuracy`), or
    by minus the root of the mean squared difference (`rmse`). W_j is the share of targets on which
    the judge is at least as close, V_j that on which the rater is. The judge wins against rater j
    if a one-sided t-test rejects V_j - W_j >= epsilon (epsilon: what the judge may be worse, for
    being cheaper); p-values are adjusted by Benjamini-Yekutieli at LEVEL. The winning rate is the
    share of raters it wins against, the advantage probability the mean of W_j.

    judge (targets,), ratings (raters, targets), NaN = missing: targets where judge or rater or all
    others are missing are left out. `n` counts raters (winning rate) or pairs of target and rater
    (advantage); `n_missing` the pairs left out. Targets of one source are not independent, so the
    test takes sources as its units, weighing each by its targets; the paper's took targets.
    Undefined below 3 raters or 3 sources. Calderon, Reichart, Dror 2025, "The Alternative Annotator
    Test", equations 1-4.
    """
    if len(ratings) < FEWEST_RATERS:
        nothing = Estimate.undefined(FEW_RATERS, n=len(ratings))
        return nothing, nothing
    n_sources = int(source.max(initial=-1)) + 1 if weights is None else weights.shape[1]
    p_values, advantages, compared = [], [], 0
    for rater in range(len(ratings)):
        others = np.delete(ratings, rater, axis=0)
        own, its = (_closeness(v, others, closeness) for v in (ratings[rater], judge))
        known = ~(np.isnan(own) | np.isnan(its))
        compared += int(known.sum())
        wins, losses = (its >= own)[known].astype(float), (own >= its)[known].astype(float)
        count, won, lost = (
            np.bincount(source[known], weights=v, minlength=n_sources).astype(np.float64)
            for v in (np.ones(wins.size), wins, losses)
        )
        p_values.append(_p_worse(count, lost - won, epsilon))
        advantages.append((won, count))
    missing = ratings.size - compared
    p = np.array(p_values)
    if np.isnan(p).any():
        few = Estimate.undefined(FEW_SOURCES, n=len(ratings), n_missing=missing)
        return few, few
    rate = Estimate(
        float(np.mean(benjamini_yekutieli(p) <= LEVEL)),
        n=len(ratings),
        method=f"epsilon {epsilon:g}, t-test over sources, Benjamini-Yekutieli",
    )
    return rate, _advantage(advantages, weights, compared, missing)


def _closeness(values: Floats, others: Floats, closeness: Closeness) -> Floats:
    """Return how close each value is to the others' ratings, NaN without value or others."""
    given = ~np.isnan(others)
    count = np.where(np.isnan(values), 0, given.sum(axis=0)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        if closeness == "accuracy":
            return np.asarray(np.sum((others == values) & given, axis=0) / count)
        squares = np.sum(np.square(others - values), axis=0, where=given)
        return np.asarray(-np.sqrt(squares / count))


def _p_worse(count: Floats, difference: Floats, epsilon: float) -> float:
    """Return the p-value that the rater's share is not epsilon above the judge's.

    count and difference (sources,): targets, and on how many more the rater was as close. The mean
    of all targets is a ratio of sums over sources, with its linearised standard error.
    """
    from scipy.special import stdtr  # here only: what merely asks or parses imports no scipy

    used = count > 0
    k, n = int(used.sum()), float(count.sum())
    if k < FEWEST_SOURCES:
        return float("nan")
    mean = float(difference.sum()) / n
    residual = (difference - mean * count)[used]
    error = float(np.sqrt(k / (k - 1) * np.sum(np.square(residual)))) / n
    if error == 0:
        return float(mean >= epsilon)
    return float(stdtr(k - 1, (mean - epsilon) / error))


def _advantage(
    advantages: list[tuple[Floats, Floats]],
    weights: NDArray[np.int64] | None,
    compared: int,
    missing: int,
) -> Estimate:
    """Return the mean over raters of sum w won / sum w count, with its interval."""
    rows = []
    for won, count in advantages:
        share = np.divide(won, count, out=np.full_like(won, np.nan), where=count > 0)
        w = None if weights is None else weights * count
        value = won.sum() / count.sum()
        rows.append(np.append(value, [] if w is None else mean_rows(share, w)[1:]))
    values = np.mean(rows, axis=0)
    found = Estimate(float(values[0]), n=compared, n_missing=missing)
    sizes = np.sum([count for _, count in advantages], axis=0)
    scale = scale_of("alt_test_advantage")
    return with_interval(Replicated(found, values, sizes, scale)).estimate
