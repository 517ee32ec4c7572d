"""Ensembles: the mean of every subset of some judges, and how much their errors have in
common.
"""

from itertools import combinations
from math import fsum
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.bias import partial_correlation
from judgescope.statistics.correlation import correlations
from judgescope.statistics.declared import amount, correlation, declare, signed_amount
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import Replicated, replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights

DECLARED: Final = declare(
    "ensemble",
    error_correlation=correlation(
        "Error correlation",
        "Pearson r of two members' errors (score − people's mean rating); on other "
        "scales than people's, with that rating held constant",
    ),
    error_correlation_mean=correlation(
        "Error correlation, mean",
        "mean over all pairs of members of an ensemble",
        less_is_better=True,
    ),
    effective_judges=amount(
        "Effective judges",
        "independent judges whose mean would err as much as the ensemble's",
        "Kish 1965",
    ),
    subset_mean=correlation(
        "{}, mean of subsets",
        "mean agreement of all ensembles of k members",
        "Kartáč et al. 2025, appendix G.2",
    ),
    contribution=signed_amount(
        "Contribution to {}",
        "ensemble of all members minus the ensemble without the second judge, on "
        "shared targets",
        keeps_kind=True,
    ),
)


Subset = tuple[int, ...]
MOST_MEMBERS: Final = 8
"""More members would have more than 255 subsets."""


def subsets(n: int) -> list[Subset]:
    """The 2^n - 1 subsets of the members 0..n-1, small ones first, in the members'
    order.

    Of more than MOST_MEMBERS: each alone, all but one, and all. (Kartáč et al. 2025,
    appendix G.2)

    >>> subsets(2)
    [(0,), (1,), (0, 1)]
    """
    sizes = range(1, n + 1) if n <= MOST_MEMBERS else sorted({1, n - 1, n})
    members: list[Subset] = []
    for size in sizes:
        members += combinations(range(n), size)
    return members


def subset_scores(scores: Floats, subset: Subset, least: int) -> Floats:
    """sum s / m over those m of a subset's members that score a target.

    scores (members, targets), NaN = missing; (targets,), NaN where m < min(least,
    size). Sums are exact and means rounded to 9 decimals, as a derived judge's: no
    round-off breaks a tie.

    >>> scores = np.array([[1.0, 2.0], [3.0, np.nan]])
    >>> subset_scores(scores, (0, 1), least=2).tolist()
    [2.0, nan]
    """
    scores_of_subset = scores[list(subset)]
    given = (~np.isnan(scores_of_subset)).sum(axis=0)
    sums = np.array(
        [fsum(column) for column in np.nan_to_num(scores_of_subset).T.tolist()],
        dtype=np.float64,
    )
    means = np.round(sums / np.maximum(given, 1), 9)
    return np.where(given >= max(1, min(least, len(subset))), means, np.nan)


def error_correlation(
    x: Floats,
    y: Floats,
    ratings: Floats,
    source: Codes,
    *,
    weights: Weights,
    one_scale: bool,
) -> Replicated:
    """Pearson's r of two judges' errors: x - h and y - h, h people's mean
    rating.

    `one_scale` says that both score on people's scale. If not, a score is taken as a +
    b h + error (a judge's scale is a straight line in people's), which gives r_xy with
    h held constant: the same on any scale. Standardising scores and ratings would not
    do: z(x) - z(h) shrinks toward -h, and shares that with z(y) - z(h) even where the
    errors are independent. x, y, ratings (targets,), NaN = missing: a target without
    all three counts in `n_missing`. Range [-1, 1]; errors on people's scale are rounded
    to 9 decimals, so that round-off does not vary. Undefined where the errors of one do
    not vary. Both judges share the error in people's ratings, which adds to r. Yule
    1907 (partial correlation).

    >>> people = np.array([3.0, 3.0, 3.0])
    >>> first = np.array([4.0, 3.0, 2.0])
    >>> result = error_correlation(
    ...     first, first, people, np.arange(3), weights=None, one_scale=True
    ... )
    >>> round(result.estimate.value, 6)
    1.0
    """
    known = ratings[~np.isnan(x + y + ratings)]
    constant = bool(known.size) and np.ptp(known) == 0
    same_errors = "the errors of a member do not vary"
    if one_scale:
        why = same_errors
        how = "errors: score - mean rating"
        errors_x = np.round(x - ratings, 9)
        errors_y = np.round(y - ratings, 9)
        one_system = np.zeros_like(source)
        made = correlations(
            errors_x,
            errors_y,
            source,
            one_system,
            weights=weights,
            statistics=["pearson"],
            levels=["pooled"],
        )
        result = made["pearson", "pooled"]
    else:
        why = REASONS.constant_ratings if constant else same_errors
        how = "errors: residuals of a linear fit on the mean rating"
        result = partial_correlation(
            x, y, ratings, source, statistic="pearson", weights=weights
        )
    estimate = result.estimate
    if estimate.value is not None:
        return result.with_method(how)
    nothing = Estimate.undefined(
        REASONS.few_pairs if estimate.n < 2 else why,
        n=estimate.n,
        n_missing=estimate.n_missing,
        method=how,
    )
    return result._replace(estimate=nothing)


def effective_judges(mean: Replicated, k: int) -> Replicated:
    """K / (1 + (k - 1) r), the number of independent judges that k judges are
    worth.

    r is the mean correlation of the errors of every two (`mean_over`); `n` counts what
    it is a mean over. So many judges of uncorrelated errors would have a mean with as
    large an error, were all errors equally large. 1 where all err alike, k where errors
    are uncorrelated, more than k where they cancel out. Undefined where r is, and where
    1 + (k - 1) r is not above 0. Kish 1965 (the design effect of a cluster sample,
    whose clusters are here the members' scores of one text).

    >>> mean = Replicated(Estimate(0.5), np.array([0.5]))
    >>> effective_judges(mean, k=3).estimate.value  # 3 / (1 + 2 · .5)
    1.5
    """
    left = 1 + (k - 1) * mean.rows
    # As a share of the variance of one judge's errors: less is round-off.
    positive = left > 1e-9
    rows = np.where(positive, k / np.where(positive, left, 1), np.nan)
    estimate = mean.estimate
    cancelled = (
        "the errors cancel out: no number of independent judges has so small a mean "
        "error"
    )
    why = cancelled if estimate.value is not None else estimate.note
    return replicated(
        rows, why, sizes=mean.sizes, scale=scale_of("effective_judges"), n=estimate.n
    )
