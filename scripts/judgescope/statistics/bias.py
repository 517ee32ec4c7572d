"""Biases of a judge: toward length, and toward texts by models of its own family."""

from dataclasses import replace
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot
from judgescope.statistics.coefficients import Statistic, over_rows
from judgescope.statistics.declared import (
    SIGNED,
    correlation,
    declare,
    percent,
    signed_amount,
)
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated, Sample
from judgescope.statistics.result import (
    CONSTANT_JUDGE,
    CONSTANT_LENGTH,
    CONSTANT_RATINGS,
    LENGTH_IS_ALL,
    ONE_FAMILY,
    Estimate,
)

YULE = "Yule 1907"
ORDER: Final = 6
DECLARED: Final = declare(
    correlation("partial_pearson", "Partial r", "Pearson r given length", YULE),
    correlation("partial_spearman", "Partial ρ", "Spearman ρ given length", YULE, ties="midranks"),
    signed_amount(
        "length_slope", "Length slope", "points above people's ratings per doubling of length"
    ),
    signed_amount(
        "self_preference", "Self-preference", "extra points for texts of its own model family"
    ),
    percent(
        "longer_chosen", "Longer text chosen", "of decided verdicts on texts that differ in length"
    ),
    percent(
        "longer_excess",
        "Longer text, more than people",
        "how much more often than people it prefers the longer text; a tie counts half",
        range=SIGNED,
    ),
    percent(
        "own_family_chosen",
        "Own family chosen",
        "of decided verdicts on a text by a model of its family and one of another",
    ),
    percent(
        "own_family_excess",
        "Own family, more than people",
        "how much more often than people it prefers its own family; a tie counts half",
        range=SIGNED,
    ),
)


def partial_correlation(
    x: Floats,
    y: Floats,
    length: Floats,
    source: Codes,
    *,
    statistic: Statistic,
    weights: Weights,
) -> Replicated:
    """Return (r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²)), z the length of the texts.

    The correlation of judge and people without the part that length explains (of ranks for
    Spearman; for Kendall the same formula, Kendall 1942). x, y, length (targets,), NaN = missing: a
    target without all three counts in `n_missing`. Range [-1, 1]; `n` counts targets. Undefined
    where judge, people or length are constant, or length explains one of them fully.
    """
    complete = ~(np.isnan(x) | np.isnan(y) | np.isnan(length))
    sample = Sample.of(complete, source, weights)
    used, code = np.unique(sample.source, return_inverse=True)
    a, b, z = x[complete], y[complete], length[complete]
    for why, values in ((CONSTANT_JUDGE, a), (CONSTANT_RATINGS, b), (CONSTANT_LENGTH, z)):
        if values.size < 2 or np.ptp(values) == 0:
            return sample.undefined(why)
    xy, xz, yz = (
        over_rows(p, q, code, sample.rows[:, used], [statistic])[statistic]
        for p, q in ((a, b), (a, z), (b, z))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = (1 - np.square(xz)) * (1 - np.square(yz))
        partial = np.where(rest > 1e-12, (xy - xz * yz) / np.sqrt(rest), np.nan)
    return sample.result(statistic, np.clip(partial, -1, 1), LENGTH_IS_ALL)


def length_slope(
    x: Floats,
    y: Floats,
    length: Floats,
    source: Codes,
    *,
    judge_scale: tuple[float, float],
    people_scale: tuple[float, float],
    weights: Weights,
) -> Replicated:
    """Return the slope of judge - people on log2 length: points of people's scale per doubling.

    sum (z - z̄)(d - d̄) / sum (z - z̄)², d the judge's score less people's rating, z log2 length.
    The judge's scores are first moved linearly from its scale's ends to those of people's. 0: no
    preference for length beyond people's own. x, y, length (targets,), NaN = missing, lengths
    above 0; `n` counts targets. Undefined where all lengths are equal. Least squares over targets;
    the interval is over sources.
    """
    residual = _residual(x, y, judge_scale, people_scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log2(length)
    complete = np.isfinite(residual) & np.isfinite(logs)
    sample = Sample.of(complete, source, weights)
    z, d = (v[complete] - (v[complete].mean() if complete.any() else 0.0) for v in (logs, residual))
    count, sz, sd, szz, szd = sample.sums(np.ones(z.size), z, d, z * z, z * d)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = szz - sz * sz / count
        values = np.where(spread > 1e-12 * count, (szd - sz * sd / count) / spread, np.nan)
    return sample.result("length_slope", values, CONSTANT_LENGTH)


def self_preference(
    x: Floats,
    y: Floats,
    own_family: Flags,
    source: Codes,
    *,
    judge_scale: tuple[float, float],
    people_scale: tuple[float, float],
    weights: Weights,
) -> Replicated:
    """Return mean(judge - people | own family) - mean(judge - people | others).

    In points of people's scale, to which the judge's scores are moved as in `length_slope`; the
    judge's own offset cancels. 0: texts of its family are rated as people's ratings say. x, y
    (targets,), NaN = missing, own_family (targets,): texts by a system of the judge's family. `n`
    counts targets. Undefined without texts of either kind. Zheng et al. 2023 (self-enhancement).
    """
    residual = _residual(x, y, judge_scale, people_scale)
    complete = ~np.isnan(residual)
    sample = Sample.of(complete, source, weights)
    means = []
    for kind in (own_family[complete], ~own_family[complete]):
        sums, count = (
            np.bincount(sample.source[kind], weights=v, minlength=sample.rows.shape[1])
            for v in (residual[complete][kind], np.ones(int(kind.sum())))
        )
        with np.errstate(invalid="ignore"):
            means.append(dot(sample.rows, sums) / dot(sample.rows, count))
    return sample.result("self_preference", means[0] - means[1], ONE_FAMILY)


def _residual(
    x: Floats,
    y: Floats,
    judge_scale: tuple[float, float],
    people_scale: tuple[float, float],
) -> Floats:
    """Return the judge's scores, moved linearly to people's scale, less people's ratings."""
    low, high = judge_scale
    bottom, top = people_scale
    return bottom + (x - low) * (top - bottom) / (high - low) - y


def side_chosen(verdict: Floats, side: Floats, source: Codes, weights: Weights) -> Estimate:
    """Return sum [v = side] / decided verdicts on pairs whose texts differ in something.

    verdict (pairs,): 1 for the first text, -1 for the second, 0 for neither, NaN = missing; side
    (pairs,): which text has it, 1 or -1; 0: both or none, left out. `n_tied` counts verdicts for
    neither. Undefined without a decided verdict.
    """
    used = side != 0
    decided = np.where(verdict == 0, np.nan, (verdict == side).astype(np.float64))
    decided[np.isnan(verdict)] = np.nan
    tied = int((verdict == 0)[used].sum())
    result = clustered_mean(decided[used], source[used], weights).estimate
    return replace(result, n_missing=result.n_missing - tied, n_tied=tied)


def side_excess(
    verdict: Floats, people: Floats, side: Floats, source: Codes, weights: Weights
) -> Estimate:
    """Return sum (v - h) side / 2n: how much more often than people a judge chooses a side.

    verdict, people (pairs,): 1, -1, 0 (half for each text), NaN = missing; side as in
    `side_chosen`. -1 to 1; 0: as often as people. `n` counts pairs with both verdicts.
    """
    used = side != 0
    gap = ((verdict - people) * side / 2)[used]
    return clustered_mean(gap, source[used], weights, ends=(-1.0, 1.0)).estimate
