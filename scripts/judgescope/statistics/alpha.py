"""Krippendorff's alpha: agreement of any number of raters, with gaps, on one scale."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

import numpy as np

from judgescope.statistics.arrays import Codes, Floats, Weights, dot
from judgescope.statistics.declared import agreement, declare
from judgescope.statistics.kappa import class_codes
from judgescope.statistics.resampling import Replicated, Sample
from judgescope.statistics.result import NO_UNITS, NO_VARIATION

KRIPPENDORFF = "Krippendorff 2011"
PAPER = "Chaudhary et al. 2024"
ORDER: Final = 4
DECLARED: Final = declare(
    agreement(
        "alpha_ordinal",
        "Krippendorff α",
        "agreement of raters, ordinal",
        "Krippendorff 2011; Chaudhary et al. 2024",
    ),
    agreement(
        "alpha_nominal",
        "Krippendorff α, nominal",
        "only equal ratings count as agreement",
        KRIPPENDORFF,
    ),
    agreement(
        "alpha_interval",
        "Krippendorff α, interval",
        "distance of ratings in points of the scale",
        KRIPPENDORFF,
    ),
    agreement("alpha_pair", "α of the pair", "Krippendorff α of judge and median rating", PAPER),
    agreement(
        "alpha_forms", "α over forms", "agreement of one model's ratings across prompt forms", PAPER
    ),
    agreement("alpha_joint", "α, joint", "of all raters and the judge together", PAPER),
    agreement("alpha_pairs_mean", "α, mean of pairs", "of the judge and each rater alone"),
)


Measurement = Literal["nominal", "ordinal", "interval"]
TINY = 1e-12
CELLS = 1_000_000
"""Size of a temporary array: resamples are worked off in blocks of it."""


def krippendorff_alpha(
    ratings: Floats,
    *,
    level: Measurement,
    domain: Sequence[float] | None,
    source: Codes,
    weights: Weights,
) -> Replicated:
    """Return 1 - D_o / D_e, the disagreement within units over that of all ratings mixed.

    D_o = sum o_ck d_ck / n and D_e = sum n_c n_k d_ck / (n (n - 1)), o the coincidences, n_c their
    margins, n their sum, d the square of 1 (nominal), of c - k (interval) or of the number of
    ratings from c to k, both ends counted half (ordinal). ratings (raters, units), NaN = missing;
    domain: the ordered values of the scale, or None for any number (level interval only); source
    (units,), weights (resamples, sources) as in `correlations`. Range up to 1, 0 = chance. `n`
    counts the units used, `n_missing` those with fewer than 2 ratings, which are ignored; `n_tied`
    stays 0. Undefined where all ratings are equal or no unit is used. ValueError: a value off the
    domain, an unknown level, or one that needs a domain and has none. Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability"; (Chaudhary et al. 2024).
    """
    if level not in get_args(Measurement):
        raise ValueError(f"level {level!r}: {get_args(Measurement)}")
    if domain is None and level != "interval":
        raise ValueError(f"level {level!r} needs the values of the scale")
    used = np.sum(~np.isnan(ratings), axis=0) >= 2
    sample = Sample.of(used, source, weights)
    values = (
        _from_moments(ratings[:, used], sample)
        if domain is None
        else _from_counts(ratings[:, used], sample, level, domain)
    )
    return sample.result(f"alpha_{level}", values, NO_VARIATION if used.any() else NO_UNITS)


def _from_counts(
    ratings: Floats, sample: Sample, level: Measurement, domain: Sequence[float]
) -> Floats:
    rows = sample.rows
    table = _coincidences(_value_counts(ratings, domain), sample.source, rows.shape[1])
    step = max(1, CELLS // len(domain) ** 2)
    blocks = [rows[start : start + step] for start in range(0, len(rows), step)]
    return np.concatenate([_alpha(dot(b, table), level, domain) for b in blocks])


def _from_moments(ratings: Floats, sample: Sample) -> Floats:
    """Return alpha at interval level of any numbers: (rows,), NaN where nothing varies.

    The squared differences of all pairs of m numbers sum to 2 (m sum x² - (sum x)²), so moments do.
    """
    m = np.sum(~np.isnan(ratings), axis=0).astype(np.float64)
    centred = ratings - np.nanmean(ratings) if ratings.size else ratings
    total, squares = np.nansum(centred, axis=0), np.nansum(np.square(centred), axis=0)
    inner = np.nansum(np.square(centred - total / m), axis=0)  # exact 0 for equal ratings
    n, mean, square, within = sample.sums(m, total, squares, inner * m / (m - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        mixed = (n * square - np.square(mean)) / (n - 1)
        return np.where(mixed > TINY * square, 1 - within / mixed, np.nan)


def _value_counts(ratings: Floats, domain: Sequence[float]) -> Codes:
    """Return how often each unit was given each value of the domain: (units, values)."""
    _, unit = given = np.nonzero(~np.isnan(ratings))
    cell = unit * len(domain) + class_codes(ratings[given], domain)
    counts: Codes = np.bincount(cell, minlength=ratings.shape[1] * len(domain))
    return counts.reshape(ratings.shape[1], len(domain))


def _coincidences(counts: Codes, source: Codes, n_sources: int) -> Floats:
    """Return o_ck of each source, every unit of m ratings weighing m: (sources, values, values)."""
    share = counts / (counts.sum(axis=1, keepdims=True) - 1)
    table = np.zeros((n_sources, counts.shape[1], counts.shape[1]))
    order = np.argsort(source, kind="stable")
    drawn, starts = np.unique(source[order], return_index=True)
    for s, units in zip(drawn, np.split(order, starts[1:]), strict=False):
        pairs = dot(share[units].T, counts[units])
        table[s] = pairs - np.diag(share[units].sum(axis=0))  # no rating is paired with itself
    return table


def _alpha(observed: Floats, level: Measurement, domain: Sequence[float]) -> Floats:
    """Return alpha of each coincidence matrix, NaN without two values: (rows, k, k) -> (rows,)."""
    margin = observed.sum(axis=2)
    n = margin.sum(axis=1)
    distance = _squared_distances(margin, level, domain)
    within = np.einsum("rck,rck->r", observed, distance) * (n - 1)
    mixed = np.einsum("rc,rck,rk->r", margin, distance, margin)
    varies = np.sum(margin > 0.5, axis=1) > 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, 1 - within / mixed, np.nan)


def _squared_distances(margin: Floats, level: Measurement, domain: Sequence[float]) -> Floats:
    """Return d_ck for each row of margins: (rows, k) -> (rows, k, k)."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(domain)), (len(margin), len(domain), len(domain)))
    values = np.asarray(domain, dtype=np.float64)
    place = np.cumsum(margin, axis=1) - margin / 2 if level == "ordinal" else values[None]
    distance = np.square(place[:, :, None] - place[:, None, :])
    return np.broadcast_to(distance, (len(margin), *distance.shape[1:]))
