"""What is reported with a judge's confidence: its reliability diagram in numbers, tests
of gap and slope, and how far people agree with each other. (docs/guide/confidence.md)
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.declared import amount, declare, percent, undesired
from judgescope.statistics.intervals import holm
from judgescope.statistics.resampling import Replicated

DECLARED: Final = declare(
    "diagram",
    bin_confidence=percent(
        "Stated chance",
        "mean stated chance of being right in a bin of the reliability diagram",
        "Naeini et al. 2015",
        complete=True,
    ),
    bin_right=percent(
        "Right in the bin",
        "share of right verdicts in a bin of the reliability diagram",
        "Naeini et al. 2015",
    ),
    confidence_share=percent(
        "Confidences",
        "share of verdicts whose stated chance is in a tenth of 0 to 1",
        complete=True,
    ),
    confidence_from=percent(
        "Threshold",
        "lowest confidence from which on at most 10 % of verdicts are wrong, with a "
        "chance of 95 %",
        "Angelopoulos et al. 2021",
        complete=True,
    ),
    rater_split=amount(
        "People's split",
        "mean of h (1 - h), h the share of raters who give people's verdict: the least "
        "Brier score that a calibrated judge could have against one rater",
        "this project",
    ),
    rater_error=undesired(
        "A person's error",
        "share of raters' verdicts that differ from that of the other raters",
        "this project",
    ),
)


def p_values(gap: Replicated, slope: Replicated) -> dict[str, float]:
    """Return the two-sided p of a gap of 0 and a slope of 1, after Holm over both; one
    without an interval is not tested.

    >>> from judgescope.statistics import confidence
    >>> from judgescope.statistics.intervals import deletions
    >>> c = np.full(60, 0.9)
    >>> z = np.tile([1.0, 0.0], 30)  # half are right where nine of ten should be
    >>> stated = confidence.Stated(c, z, np.arange(60))
    >>> gap = confidence.confidence_gap(stated, deletions(60))
    >>> slope = confidence.confidence_slope(stated, None)  # c is constant: undefined
    >>> p_values(gap, slope)["p_confidence_gap"] < 0.001
    True
    """
    raw = dict[str, float]()
    for name, result, null in (
        ("p_confidence_gap", gap, 0.0),
        ("p_confidence_slope", slope, 1.0),
    ):
        p = result.p_two_sided(null)
        if p is not None:
            raw[name] = p
    return dict(zip(raw, map(float, holm([*raw.values()])), strict=True))


class PeopleSplit(NamedTuple):
    """How far people agree with each other, (texts,) each, of texts with two ratings
    or more: the chance variance h (1 - h) of their verdict, h the share of raters who
    give it, and the share of raters who differ from the verdict of the others.
    """

    variance: Floats
    error: Floats
    source: Codes


def people_split(
    ratings: Floats, source: Codes, truth: Callable[[Floats], Floats]
) -> PeopleSplit:
    """Return people's split on each text; ratings (raters, texts), NaN = missing.

    >>> ratings = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, np.nan]])
    >>> split = people_split(ratings, np.arange(2), lambda votes: votes[0])
    >>> split.variance.round(3).tolist()
    [0.222, 0.25]
    """
    given = ~np.isnan(ratings)
    several = given.sum(axis=0) > 1
    ratings = ratings[:, several]
    given = given[:, several]
    verdict = truth(ratings)
    agree = np.where(given, ratings == verdict, False).sum(axis=0)
    share = np.where(np.isnan(verdict), np.nan, agree / given.sum(axis=0))
    errors = np.full(ratings.shape, np.nan)
    for rater in range(len(ratings)):
        others = truth(np.delete(ratings, rater, axis=0))
        known = given[rater] & ~np.isnan(others)
        errors[rater] = np.where(known, ratings[rater] != others, np.nan)
    counts = (~np.isnan(errors)).sum(axis=0)
    means = np.nansum(errors, axis=0) / np.maximum(counts, 1)
    error = np.where(counts > 0, means, np.nan)
    return PeopleSplit(share * (1 - share), error, source[several])
