"""Reliability: Krippendorff's alpha of raters, with gaps, and the agreement of a
judge's draws.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from judgescope.statistics.arrays import CELLS, Codes, Floats, blocks, dot
from judgescope.statistics.classes import are_classes, class_codes
from judgescope.statistics.declared import (
    agreement,
    amount,
    declare,
    percent,
    undesired,
)
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
    whole_and_resamples,
)
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "alpha",
    alpha_ordinal=agreement(
        "Krippendorff α",
        "agreement of raters, ordinal",
        "Krippendorff 2011; Chaudhary et al. 2024",
    ),
    alpha_nominal=agreement(
        "Krippendorff α, nominal",
        "only equal ratings count as agreement",
        "Krippendorff 2011",
    ),
    alpha_interval=agreement(
        "Krippendorff α, interval",
        "agreement beyond chance; disagreement is the squared distance in points of "
        "the scale",
        "Krippendorff 2011",
    ),
    alpha_forms=agreement(
        "α over forms",
        "agreement of one model's ratings across prompt forms",
        "Chaudhary et al. 2024",
    ),
)
DECLARED += declare(
    "judge_alpha",
    alpha_pair=agreement(
        "α of the pair",
        "Krippendorff α of judge and median rating",
        "Chaudhary et al. 2024",
    ),
    alpha_joint=agreement(
        "α, joint",
        "Krippendorff α of all raters and the judge together",
        "Chaudhary et al. 2024",
    ),
    alpha_pairs_mean=agreement(
        "α, mean of pairs",
        "Krippendorff α of the judge and one rater, mean over raters",
    ),
)
DECLARED += declare(
    "repeatability",
    alpha_draws=agreement(
        "α over draws",
        "agreement of a judge's draws, each treated as a rater",
        "Krippendorff 2011",
    ),
    flip_rate=undesired("Flips", "share of texts with differing draws"),
    tied_modes=undesired(
        "Tied modes", "share of texts without a single most frequent rating"
    ),
    reliability=agreement(
        "Reliability", "reliability of one draw, ICC(1)", "Shrout, Fleiss 1979"
    ),
    draws_needed=amount(
        "Draws needed",
        "number of draws for 95 % of the maximum correlation",
        "Spearman 1910, Brown 1910",
        range="1 and above",
        less_is_better=True,
    ),
    attainable_share=percent(
        "Share of the maximum",
        "correlation with k draws divided by that with infinitely many",
        "Spearman 1910, Brown 1910",
    ),
)


Measurement = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    ratings: Floats,
    *,
    level: Measurement,
    domain: Sequence[float] | None,
    source: Codes,
    weights: Weights,
) -> Replicated:
    """1 - D_o / D_e, the disagreement within units over that of all ratings
    mixed.

    D_o = sum o_ck d_ck / n and D_e = sum n_c n_k d_ck / (n (n - 1)), o the
    coincidences, n_c their margins, n their sum, d the square of 1 (nominal), of c - k
    (interval) or of the number of ratings from c to k, both ends counted half
    (ordinal). ratings (raters, units), NaN = missing; domain: the ordered values of the
    scale, or None for any number (level interval only); source (units,), weights
    (resamples, sources) as in `correlations`. Range up to 1, 0 = chance. `n` counts the
    units used, `n_missing` those with fewer than 2 ratings, which are ignored; `n_tied`
    stays 0. Undefined where all ratings are equal or no unit is used. ValueError: a
    value off the domain, an unknown level, or one that needs a domain and has none.
    Krippendorff 2011, "Computing Krippendorff's alpha-reliability"; (Chaudhary et al.
    2024).

    >>> ratings = np.array([[1.0, 2.0], [1.0, 3.0]])
    >>> keys = {"level": "interval", "domain": [1, 2, 3], "weights": None}
    >>> result = krippendorff_alpha(ratings, source=np.arange(2), **keys)
    >>> round(result.estimate.value, 3)  # 1 - (2/4) / (22/12)
    0.727
    """
    if level not in get_args(Measurement):
        raise ValueError(f"level {level!r}: {get_args(Measurement)}")
    if domain is None and level != "interval":
        raise ValueError(f"level {level!r} needs the values of the scale")
    used = np.sum(~np.isnan(ratings), axis=0) >= 2
    sample = TargetSample.select(used, source, weights)
    if domain is None:
        values = _from_moments(ratings[:, used], sample)
    else:
        values = _from_counts(ratings[:, used], sample, level, domain)
    return sample.result(
        f"alpha_{level}",
        values,
        REASONS.no_variation if used.any() else REASONS.no_units,
    )


def _from_counts(
    ratings: Floats, sample: TargetSample, level: Measurement, domain: Sequence[float]
) -> Floats:
    """Alpha from o_ck of each source, every unit of m ratings weighing m:
    (rows,).
    """
    k = len(domain)
    n_units = ratings.shape[1]
    rows = sample.rows
    _, unit = given = np.nonzero(~np.isnan(ratings))
    cell = unit * k + class_codes(ratings[given], domain)
    counts = np.bincount(cell, minlength=n_units * k).reshape(n_units, k)
    share = counts / (counts.sum(axis=1, keepdims=True) - 1)
    table = np.zeros((rows.shape[1], k, k))
    order = np.argsort(sample.source, kind="stable")
    drawn, starts = np.unique(sample.source[order], return_index=True)
    for s, units in zip(drawn, np.split(order, starts[1:]), strict=False):
        pairs = dot(share[units].T, counts[units])
        # No rating is paired with itself.
        table[s] = pairs - np.diag(share[units].sum(axis=0))
    observed = rows.sums(table)
    parts = blocks(len(rows), k**2, CELLS)
    return np.concatenate([_alpha(observed[part], level, domain) for part in parts])


def _from_moments(ratings: Floats, sample: TargetSample) -> Floats:
    """Alpha at interval level of any numbers: (rows,), NaN where nothing varies.

    The squared differences of all pairs of m numbers sum to 2 (m sum x² - (sum x)²), so
    moments do.
    """
    m = np.sum(~np.isnan(ratings), axis=0).astype(np.float64)
    centred = ratings
    if ratings.size:
        centred = ratings - np.nanmean(ratings)
    total = np.nansum(centred, axis=0)
    squares = np.nansum(np.square(centred), axis=0)
    deviations = centred - total / m
    # Exact 0 for equal ratings.
    inner = np.nansum(np.square(deviations), axis=0)
    n, mean, square, within = sample.sums(m, total, squares, inner * m / (m - 1))
    tiny = 1e-12
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (n * square - np.square(mean)) / (n - 1)
        return np.where(mixed > tiny * square, 1 - within / mixed, np.nan)


def _alpha(observed: Floats, level: Measurement, domain: Sequence[float]) -> Floats:
    """Alpha of each coincidence matrix, NaN without two values: (rows, k, k) ->
    (rows,).
    """
    margin = observed.sum(axis=2)
    n = margin.sum(axis=1)
    if level == "nominal":
        distance = (1 - np.eye(len(domain)))[None]
    else:
        values = np.asarray(domain, dtype=np.float64)
        if level == "ordinal":
            position = np.cumsum(margin, axis=1) - margin / 2
        else:
            position = values[None]
        distance = np.square(position[:, :, None] - position[:, None, :])
    distance = np.broadcast_to(distance, observed.shape)
    within = np.einsum("rck,rck->r", observed, distance) * (n - 1)
    mixed = np.einsum("rc,rck,rk->r", margin, distance, margin)
    varies = np.sum(margin > 0.5, axis=1) > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, 1 - within / mixed, np.nan)


# --- draws of one judge ---------------------------------------------------------------


def _alpha_of_draws(
    draws: Floats,
    source: Codes,
    weights: Weights,
    scale: Sequence[float] | None,
    *,
    ordered: bool,
) -> Estimate:
    """Krippendorff's alpha with the draws as raters; interval without a scale."""
    level: Measurement = "ordinal" if ordered else "nominal"
    if scale is None:
        level = "interval"
    return krippendorff_alpha(
        draws, level=level, domain=scale, source=source, weights=weights
    ).estimate


def repeatability(
    draws: Floats,
    source: Codes,
    weights: Weights,
    *,
    scale: Sequence[float] | None,
    labels: bool = False,
    ordered: bool = True,
) -> dict[str, Estimate]:
    """Alpha over draws, flip rate, tied modes, reliability of one draw, and
    draws needed.

    draws (draws, targets), NaN = missing; source (targets,); weights as in
    `correlations`; scale: the judge's values, or None for any number. `n` counts
    targets with 2 draws or more, `n_missing` the others. `alpha_draws`: Krippendorff's
    alpha, the draws as raters, ordinal, or interval without a scale, nominal of labels
    that are not `ordered`. `flip_rate`: share of targets with two draws that differ.
    `tied_modes`: share of targets with two values that are equally frequent, and most.
    `reliability`: the intraclass correlation ICC(1), Shrout and Fleiss 1979.
    `draws_needed`: the least k whose mean has ENOUGH of the correlation with people
    that endless draws would have, sqrt(r_k) with r_k = k r / (1 + (k - 1) r), Spearman
    1910, Brown 1910. Undefined without a target with 2 draws; what compares variation
    between targets also where there is none; alpha also where a draw is off the scale.
    The reliability and the draws needed are of a mean: `labels` have none, and no such
    numbers.

    >>> draws = np.array([[1.0, 2.0], [1.0, 3.0]])
    >>> results = repeatability(draws, np.arange(2), None, scale=[1, 2, 3])
    >>> results["flip_rate"].value, results["tied_modes"].value
    (0.5, 0.5)
    """
    given = ~np.isnan(draws)
    count = given.sum(axis=0)
    used = count >= 2
    n = int(used.sum())
    missing = int(used.size - used.sum())
    names = ("alpha_draws", "flip_rate", "tied_modes", "reliability", "draws_needed")
    if n == 0:
        nothing = Estimate.undefined(REASONS.no_units, n_missing=missing)
        return dict.fromkeys(names, nothing)
    repeated = draws[:, used]
    sources = source[used]
    flips = np.nanmax(repeated, axis=0) > np.nanmin(repeated, axis=0)
    icc = _icc(repeated, sources, weights, missing).estimate
    if labels:
        icc = Estimate.undefined(
            "draws of labels have a majority, not a mean", n=n, n_missing=missing
        )
    alpha = Estimate.undefined(REASONS.off_judge_scale, n=n, n_missing=missing)
    if scale is None or are_classes(draws, scale):
        alpha = _alpha_of_draws(draws, source, weights, scale, ordered=ordered)
    flip_rate = clustered_mean(flips, sources, weights, missing)
    tied = clustered_mean(tied_modes(repeated), sources, weights, missing)
    estimates = [alpha, flip_rate.estimate, tied.estimate, icc, _needed(icc)]
    return dict(zip(names, estimates, strict=True))


def spearman_brown(reliability: float, draws: int) -> float:
    """sqrt(r_k): the share of the attainable correlation that the mean of k
    draws has.

    r_k = k r / (1 + (k - 1) r); the correlation of a mean with anything is that of its
    true score times the root of its reliability. NaN for a reliability of 0 or less.

    >>> [round(spearman_brown(0.5, draws) ** 2, 3) for draws in (1, 4)]
    [0.5, 0.8]
    """
    if not reliability > 0:
        return math.nan
    return math.sqrt(draws * reliability / (1 + (draws - 1) * reliability))


def tied_modes(draws: Floats) -> Floats:
    """1 for each target whose most frequent value is not the only one, else 0.

    draws (draws, targets), NaN = missing, at least one of each target. Shape
    (targets,).

    >>> tied_modes(np.array([[1.0, 1.0], [1.0, 2.0], [2.0, np.nan]])).tolist()
    [0.0, 1.0]
    """
    counts = np.zeros(draws.shape, dtype=np.int64)
    for draw in draws:
        counts += draws == draw
    modes = np.where(counts == counts.max(axis=0), draws, np.nan)
    return np.asarray(
        np.nanmax(modes, axis=0) > np.nanmin(modes, axis=0), dtype=np.float64
    )


def _icc(draws: Floats, source: Codes, weights: Weights, missing: int) -> Replicated:
    """ICC(1) = (B - W) / (B + (m - 1) W), B and W the mean squares between and
    within.

    m is the mean number of draws, (N - sum k²/N) / (targets - 1), where targets differ
    in it.
    """
    k = (~np.isnan(draws)).sum(axis=0).astype(np.float64)
    mean = np.nansum(draws, axis=0) / k
    centre = float(np.nanmean(draws))
    inner = np.nansum(np.square(draws - mean), axis=0)
    sample = TargetSample(source, whole_and_resamples(source, weights), missing)
    moments = (
        np.ones(k.size),
        k,
        k * k,
        k * (mean - centre),
        k * np.square(mean - centre),
        inner,
    )
    targets, total, squares, first, second, within = sample.sums(*moments)
    with np.errstate(invalid="ignore", divide="ignore"):
        between = (second - np.square(first) / total) / (targets - 1)
        inside = within / (total - targets)
        size = (total - squares / total) / (targets - 1)
        values = (between - inside) / (between + (size - 1) * inside)
    return sample.result("reliability", values, REASONS.no_variation)


def _needed(icc: Estimate) -> Estimate:
    """The least k with k r / (1 + (k - 1) r) >= ENOUGH², k = c (1 - r) / (r (1 -
    c)).
    """
    if icc.value is None or icc.value <= 0:
        reason = icc.note if icc.value is None else REASONS.unreliable
        return Estimate.undefined(reason, n=icc.n, n_missing=icc.n_missing)
    result = Estimate(_least_draws(icc.value), n=icc.n, n_missing=icc.n_missing)
    if icc.ci_low is None or icc.ci_high is None:
        return result.with_note(icc.note)
    if icc.ci_low <= 0:
        return result.with_note(
            "no interval: the interval of the reliability includes 0"
        )
    of = f"from the interval of the reliability: {icc.method}"
    return replace(
        result,
        ci_low=_least_draws(icc.ci_high),
        ci_high=_least_draws(icc.ci_low),
        method=of,
    )


def _least_draws(reliability: float) -> float:
    # Share of the attainable correlation that is enough.
    enough_reliability = 0.95
    c = enough_reliability**2
    return float(
        max(1, math.ceil(c * (1 - reliability) / (reliability * (1 - c)) - 1e-9))
    )
