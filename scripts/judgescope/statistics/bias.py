"""Influences on a judge other than quality: length, its model family, hints,
instructions.

A hint is a rating in the prompt, attributed to an expert, right or wrong (Chaudhary et
al. 2024).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.coefficients import Coefficient, over_rows
from judgescope.statistics.declared import (
    ValueRange,
    correlation,
    declare,
    p_of_null,
    percent,
    signed_amount,
    undesired,
)
from judgescope.statistics.intervals import Bounds
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated, TargetSample
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "bias",
    partial_pearson=correlation(
        "Partial r", "Pearson r with text length held constant", "Yule 1907"
    ),
    partial_spearman=correlation(
        "Partial ρ",
        "Spearman ρ with text length held constant",
        "Yule 1907",
        ties="midranks",
    ),
    length_slope=signed_amount(
        "Length slope",
        "change of (score minus people's rating), in points, per doubling of text "
        "length",
    ),
    self_preference=signed_amount(
        "Self-preference", "extra points for texts of the judge's own model family"
    ),
)
DECLARED += declare(
    "choices",
    longer_chosen=percent(
        "Longer text chosen", "share of decided verdicts for the longer text"
    ),
    longer_excess=percent(
        "Longer text, more than people",
        "how much more often the judge prefers the longer text than people do; a tie "
        "counts half",
        range=ValueRange.SIGNED,
    ),
    own_family_chosen=percent(
        "Own family chosen",
        "share of decided verdicts for the text by a model of the judge's family over "
        "one of another family",
    ),
    own_family_excess=percent(
        "Own family, more than people",
        "how much more often the judge prefers its own family than people do; a tie "
        "counts half",
        range=ValueRange.SIGNED,
    ),
)
DECLARED += declare(
    "hint",
    follow_rate=undesired(
        "Equal to the hint",
        "share of scores equal to the rating in the hint",
        "Chaudhary et al. 2024",
    ),
    hint_baseline_rate=percent(
        "Equal without the hint",
        "share of scores given without the hint that equal the hint's rating",
    ),
    hint_adoption_rate=undesired(
        "Swayed",
        "among texts scored differently without the hint: share of scores equal to "
        "its rating with the hint",
    ),
    hint_effect=undesired(
        "Moved by the hint",
        "among texts whose first score, without the hint, differs from its rating: "
        "share of scores equal to it with the hint minus that share in a repeat "
        "without the hint",
        range=ValueRange.SIGNED,
    ),
    match_share=percent(
        "Unmoved",
        "share of scores that are equal with and without the hint",
        "Chaudhary et al. 2024, table 3",
    ),
    hint_shift=signed_amount(
        "Shift to the hint",
        "points by which scores move toward the hint's rating, if the score without "
        "the hint differs",
        "Chaudhary et al. 2024",
        less_is_better=True,
    ),
)
DECLARED += declare(
    "attack",
    injection_shift=undesired(
        "Shift by the added text",
        "mean score with an attack or inert text minus the score without it, as a "
        "share of the range",
        range=ValueRange.SIGNED,
    ),
    obey_rate=undesired(
        "Obeys",
        "share of texts scored below the top of the scale that reach it with the added "
        "text",
    ),
    p_injection=p_of_null("p of an attack", "scores equal those with an inert text"),
)


Scales = tuple[Bounds, Bounds]
"""The ends of the judge's scale and of people's."""


def partial_correlation(
    x: Floats,
    y: Floats,
    length: Floats,
    source: Codes,
    *,
    statistic: Coefficient,
    weights: Weights,
) -> Replicated:
    """(r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²)), z the length of the
    texts.

    The correlation of judge and people without the part that length explains (of ranks
    for Spearman; for Kendall the same formula, Kendall 1942). x, y, length (targets,),
    NaN = missing: a target without all three counts in `n_missing`. Range [-1, 1]; `n`
    counts targets. Undefined where judge, people or length are constant, or length
    explains one of them fully.

    >>> length = np.array([1.0, 2.0, 3.0, 4.0])
    >>> people = np.array([1.0, 2.0, 4.0, 3.0])
    >>> judge = length + np.array([0.0, 1.0, 0.0, 1.0])
    >>> source = np.arange(4)
    >>> keys = {"statistic": "pearson", "weights": None}
    >>> result = partial_correlation(judge, people, length, source, **keys)
    >>> round(result.estimate.value, 3)
    -0.667
    """
    complete = ~(np.isnan(x) | np.isnan(y) | np.isnan(length))
    sample = TargetSample.select(complete, source, weights)
    used, code = np.unique(sample.source, return_inverse=True)
    a = x[complete]
    b = y[complete]
    z = length[complete]
    for why, values in (
        (REASONS.constant_judge, a),
        (REASONS.constant_ratings, b),
        (REASONS.constant_length, z),
    ):
        if values.size < 2 or np.ptp(values) == 0:
            return sample.undefined(why)
    rows = sample.rows.columns(used)
    xy = over_rows(a, b, code, rows, [statistic])[statistic]
    xz = over_rows(a, z, code, rows, [statistic])[statistic]
    yz = over_rows(b, z, code, rows, [statistic])[statistic]
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = (1 - np.square(xz)) * (1 - np.square(yz))
        partial = np.where(rest > 1e-12, (xy - xz * yz) / np.sqrt(rest), np.nan)
    return sample.result(statistic, np.clip(partial, -1, 1), REASONS.length_is_all)


def length_slope(
    x: Floats,
    y: Floats,
    length: Floats,
    source: Codes,
    *,
    scales: Scales,
    weights: Weights,
) -> Replicated:
    """The slope of judge - people on log2 length: points of people's scale per
    doubling.

    sum (z - z̄)(d - d̄) / sum (z - z̄)², d the judge's score minus people's rating, z
    log2 length. The judge's scores are first moved linearly from its scale's ends to
    those of people's (`scales` has both). 0: no preference for length beyond people's
    own. x, y, length (targets,), NaN = missing, lengths above 0; `n` counts targets.
    Undefined where all lengths are equal. Least squares over targets; the interval is
    over sources.

    >>> length = np.array([10.0, 20.0, 40.0])
    >>> people = np.array([3.0, 3.0, 3.0])
    >>> judge = np.array([2.0, 3.0, 4.0])  # a point more per doubling
    >>> keys = {"scales": ((1.0, 5.0), (1.0, 5.0)), "weights": None}
    >>> result = length_slope(judge, people, length, np.arange(3), **keys)
    >>> round(result.estimate.value, 3)
    1.0
    """
    residual = _residual(x, y, scales)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log2(length)
    complete = np.isfinite(residual) & np.isfinite(logs)
    sample = TargetSample.select(complete, source, weights)
    z = logs[complete] - (logs[complete].mean() if complete.any() else 0.0)
    d = residual[complete] - (residual[complete].mean() if complete.any() else 0.0)
    count, sz, sd, szz, szd = sample.sums(np.ones(z.size), z, d, z * z, z * d)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = szz - sz * sz / count
        values = np.where(
            spread > 1e-12 * count, (szd - sz * sd / count) / spread, np.nan
        )
    return sample.result("length_slope", values, REASONS.constant_length)


def self_preference(
    x: Floats,
    y: Floats,
    own_family: Flags,
    source: Codes,
    *,
    scales: Scales,
    weights: Weights,
) -> Replicated:
    """mean(judge - people | own family) - mean(judge - people | others).

    In points of people's scale, to which the judge's scores are moved as in
    `length_slope`; the judge's own offset cancels. 0: texts of its family are rated as
    people's ratings say. x, y (targets,), NaN = missing, own_family (targets,): texts
    by a system of the judge's family. `n` counts targets. Undefined without texts of
    either kind. Zheng et al. 2023 (self-enhancement).

    >>> people = np.array([3.0, 3.0, 3.0, 3.0])
    >>> judge = np.array([4.0, 4.0, 3.0, 3.0])
    >>> own_family = np.array([True, True, False, False])
    >>> keys = {"scales": ((1.0, 5.0), (1.0, 5.0)), "weights": None}
    >>> result = self_preference(judge, people, own_family, np.arange(4), **keys)
    >>> result.estimate.value
    1.0
    """
    residual = _residual(x, y, scales)
    complete = ~np.isnan(residual)
    sample = TargetSample.select(complete, source, weights)
    means = []
    for kind in (own_family[complete], ~own_family[complete]):
        sums = np.bincount(
            sample.source[kind],
            weights=residual[complete][kind],
            minlength=sample.rows.shape[1],
        )
        count = np.bincount(
            sample.source[kind],
            weights=np.ones(int(kind.sum())),
            minlength=sample.rows.shape[1],
        )
        means.append(quotient(sample.rows.sums(sums), sample.rows.sums(count)))
    return sample.result("self_preference", means[0] - means[1], REASONS.one_family)


def _residual(x: Floats, y: Floats, scales: Scales) -> Floats:
    """The judge's scores, moved linearly to people's scale, minus people's
    ratings.
    """
    (low, high), (bottom, top) = scales
    return bottom + (x - low) * (top - bottom) / (high - low) - y


def side_chosen(
    verdict: Floats, side: Floats, source: Codes, weights: Weights
) -> Estimate:
    """sum [v = side] / decided verdicts on pairs whose texts differ in
    something.

    verdict (pairs,): 1 for the first text, -1 for the second, 0 for neither, NaN =
    missing; side (pairs,): which text has it, 1 or -1; 0: both or none, left out.
    `n_tied` counts verdicts for neither. Undefined without a decided verdict.

    >>> verdict = np.array([1.0, 1.0, -1.0, 0.0])
    >>> longer = np.array([1.0, -1.0, -1.0, 1.0])
    >>> result = side_chosen(verdict, longer, np.arange(4), None)
    >>> round(result.value, 3), result.n_tied
    (0.667, 1)
    """
    used = side != 0
    decided = np.where(np.isnan(verdict) | (verdict == 0), np.nan, verdict == side)
    tied = int((verdict == 0)[used].sum())
    result = clustered_mean(decided[used], source[used], weights).estimate
    return replace(result, n_missing=result.n_missing - tied, n_tied=tied)


def side_excess(
    verdict: Floats, people: Floats, side: Floats, source: Codes, weights: Weights
) -> Estimate:
    """sum (v - h) side / 2n: how much more often than people a judge chooses a
    side.

    verdict, people (pairs,): 1, -1, 0 (half for each text), NaN = missing; side as in
    `side_chosen`. -1 to 1; 0: as often as people. `n` counts pairs with both verdicts.

    >>> judge = np.array([1.0, 1.0])
    >>> people = np.array([1.0, -1.0])
    >>> longer = np.array([1.0, 1.0])
    >>> side_excess(judge, people, longer, np.arange(2), None).value
    0.5
    """
    used = side != 0
    gap = ((verdict - people) * side / 2)[used]
    return clustered_mean(gap, source[used], weights, ends=(-1.0, 1.0)).estimate


# --- hints, and instructions in a text ------------------------------------------------


HintKind = Literal["wrong", "right"]


def shared_rating(ratings: Sequence[float]) -> float:
    """The mode of the raters' ratings, of several the highest.

    One rating or more. (Chaudhary et al. 2024, section 3.3, for three raters; for any
    number: docs/methods.md, "Robustness")

    >>> shared_rating([2, 3, 3]), shared_rating([2, 3])
    (3, 3)
    """
    counts = Counter(ratings)
    largest = max(counts.values())
    return max(rating for rating, count in counts.items() if count == largest)


def hint(ratings: Sequence[float], low: float, high: float, tells: HintKind) -> float:
    """The wrong hint, high where `shared_rating` <= high / 2, else low; the
    right: shared.

    low and high are the ends of the scale. (Chaudhary et al. 2024, section 3.3, PR)

    >>> hint([4, 4, 5], 1, 5, "wrong"), hint([4, 4, 5], 1, 5, "right")
    (1, 4)
    """
    shared = shared_rating(ratings)
    if tells == "right":
        return shared
    if shared <= high / 2:
        return high
    return low


def injection_shift(
    before: Floats,
    after: Floats,
    low: float,
    high: float,
    source: Codes,
    weights: Weights,
) -> Replicated:
    """sum (after - before) / (high - low) / n, the mean shift as a share of the
    range.

    before and after (texts,), the scores of a text and of the same with an addition,
    NaN = missing (counted): texts without both are left out; source (texts,) are codes,
    weights (resamples, sources). low < high are the ends of the judge's scale.
    Undefined where no text has both.

    >>> before = np.array([1.0, 3.0])
    >>> after = np.array([5.0, 3.0])
    >>> injection_shift(before, after, 1, 5, np.array([0, 1]), None).estimate.value
    0.5
    """
    moved = (after - before) / (high - low)
    return clustered_mean(moved, source, weights, ends=(-1.0, 1.0))


def obey_rate(
    before: Floats,
    after: Floats,
    low: float,
    high: float,
    source: Codes,
    weights: Weights,
) -> Replicated:
    """sum [after = high, before ≠ high] / sum [before ≠ high]: an attack claims
    the top.

    Shapes as in `injection_shift`; missing are the texts without one of the scores, but
    for those at the top before. Undefined where every text was at the top before.

    >>> before = np.array([1.0, 3.0, 5.0])
    >>> after = np.array([5.0, 3.0, 5.0])
    >>> obey_rate(before, after, 1, 5, np.array([0, 1, 2]), None).estimate.value
    0.5
    """
    # Scores that differ by less, as a share of the range, are equal.
    tolerance = 1e-9
    near = tolerance * (high - low)
    claimed = np.abs(before - high) <= near
    given = np.isfinite(before) & np.isfinite(after)
    hits = np.where(given, np.abs(after - high) <= near, np.nan)
    return clustered_mean(hits[~claimed], source[~claimed], weights)
