"""A judge's confidence in bins of texts: calibration error, diagram, parts of Brier's.

With z = 1 where a verdict equals people's, c its stated chance of that, and c̄_b, z̄_b
their means over bin b, whose share of the texts is w_b:

    ece   = Σ w_b |c̄_b - z̄_b| over bins b of equal size
    brier = REL - RES + UNC, c being its bin's mean

These describe; gap and slope (`confidence`) decide. (docs/guide/confidence.md)
"""

from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import CELLS, Codes, Floats, blocks
from judgescope.statistics.confidence import Stated
from judgescope.statistics.declared import amount, declare, signed_amount, undesired
from judgescope.statistics.intervals import IntervalScale
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

DECLARED: Final = declare(
    "confidence",
    brier_reliability=signed_amount(
        "Brier score, reliability",
        "part of the Brier score that recalibration would remove, corrected for its "
        "bias; may be negative",
        "Ferro, Fricker 2012",
    ),
    brier_resolution=signed_amount(
        "Brier score, resolution",
        "part of the Brier score that telling right from wrong verdicts gains, "
        "corrected for its bias",
        "Ferro, Fricker 2012",
    ),
    brier_uncertainty=amount(
        "Brier score, uncertainty",
        "Brier score of a judge that always states its share of right verdicts",
        "Ferro, Fricker 2012",
    ),
    ece=undesired(
        "Calibration error",
        "mean distance of stated chance and share right over bins of equal size; "
        "biased upwards: compare the calibrated one",
        "Naeini et al. 2015",
        scaled=IntervalScale("rough"),
    ),
    ece_calibrated=undesired(
        "Calibration error if calibrated",
        "mean calibration error of verdicts that are right with the stated chances",
        "Vaicenavicius et al. 2019",
        scaled=IntervalScale("rough"),
    ),
)

FEWEST_IN_BIN: Final = 5
"""A smaller bin joins its neighbour."""
FEWEST_TEXTS: Final = 100
"""With fewer texts there are no bins: no diagram, no calibration error, no parts."""
CALIBRATED_DRAWS: Final = 1000


class Bin(NamedTuple):
    """Texts of nearly equal confidence: mean confidence, share right with its interval
    by source, and how many they are.
    """

    confidence: float
    right: Estimate
    texts: int


def bins_of(confidence: Floats) -> Codes:
    """The bin of each text: min(10, n // 10) of equal size, equal values together.

    A bin of fewer than 5 texts joins its neighbour. (n,), codes from 0 by confidence.

    >>> bins_of(np.repeat([0.5, 0.9], [10, 30])).tolist() == [0] * 10 + [1] * 30
    True
    """
    n = confidence.size
    most_bins = 10
    # There is a bin for so many texts, up to `most_bins`.
    per_bin = 10
    count = max(1, min(most_bins, n // per_bin))
    below = np.searchsorted(np.sort(confidence), confidence, side="left")
    wanted = below * count // max(n, 1)
    codes = np.unique(wanted, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(codes).tolist()
    joined: list[int] = []
    merged: list[int] = []
    for size in sizes:
        if merged and (size < FEWEST_IN_BIN or merged[-1] < FEWEST_IN_BIN):
            merged[-1] += size
        else:
            merged.append(size)
        joined.append(len(merged) - 1)
    return np.array(joined, dtype=np.int64)[codes]


class BrierParts(NamedTuple):
    """REL, RES and UNC of the Brier score of the bins' mean confidences.

    Corrected for the bias that a bin's few texts bring (Ferro, Fricker 2012): their sum
    REL - RES + UNC is that Brier score all the same.
    """

    reliability: float
    resolution: float
    uncertainty: float


def brier_parts(confidence: Floats, right: Floats) -> BrierParts:
    """REL = Σ w_b (c̄_b - z̄_b)² - A, RES = Σ w_b (z̄_b - z̄)² - A + C, UNC = z̄(1 - z̄) + C

    with A = Σ w_b z̄_b (1 - z̄_b)/(n_b - 1) and C = z̄(1 - z̄)/(N - 1); both (n,), n >= 10.

    >>> c = np.repeat([0.2, 0.8], 10)
    >>> z = np.tile([1.0, 0.0], 10)
    >>> parts = brier_parts(c, z)
    >>> total = parts.reliability - parts.resolution + parts.uncertainty
    >>> round(total, 12) == round(float(np.mean((c - z) ** 2)), 12)
    True
    """
    bins = bins_of(confidence)
    n = confidence.size
    sizes = np.bincount(bins)
    share = sizes / n
    mean_c = np.bincount(bins, weights=confidence) / sizes
    mean_z = np.bincount(bins, weights=right) / sizes
    z = float(right.mean())
    within = float(np.sum(share * mean_z * (1 - mean_z) / (sizes - 1)))
    between = z * (1 - z) / (n - 1)
    distance = float(np.sum(share * np.square(mean_c - mean_z)))
    spread = float(np.sum(share * np.square(mean_z - z)))
    return BrierParts(
        distance - within, spread - within + between, z * (1 - z) + between
    )


def ece(confidence: Floats, right: Floats) -> float:
    """Σ w_b |c̄_b - z̄_b| over the bins of `bins_of`; both (n,).

    Biased upwards: .10 at 100 texts and .05 at 400 of a calibrated judge. It never
    stands without `ece_calibrated`.

    >>> round(ece(np.full(10, 0.75), np.repeat([1.0, 0.0], 5)), 3)
    0.25
    """
    bins = bins_of(confidence)
    gaps = np.bincount(bins, weights=confidence - right)
    return float(np.abs(gaps).sum() / confidence.size)


def calibration_errors(stated: Stated, rng: np.random.Generator) -> dict[str, Estimate]:
    """The calibration error, and what a calibrated judge would have on such texts.

    Undefined below 100 texts, whose bins say nothing.

    >>> stated = Stated(np.full(99, 0.5), np.zeros(99), np.arange(99))
    >>> errors = calibration_errors(stated, np.random.default_rng(1))
    >>> errors["ece"].note
    'fewer than 100 texts with a confidence'
    """
    n = stated.texts
    if n < FEWEST_TEXTS:
        nothing = Estimate.undefined(
            "fewer than 100 texts with a confidence", n=n, n_missing=stated.missing
        )
        return {"ece": nothing, "ece_calibrated": nothing}
    observed = ece(stated.confidence, stated.right)
    expected = float(ece_calibrated(stated.confidence, rng).mean())
    note = "biased upwards: compare ece_calibrated"
    method = f"mean of {CALIBRATED_DRAWS} draws of a calibrated judge"
    missing = stated.missing
    return {
        "ece": Estimate(observed, n=n, n_missing=missing, note=note),
        "ece_calibrated": Estimate(expected, n=n, n_missing=missing, method=method),
    }


def ece_calibrated(confidence: Floats, rng: np.random.Generator) -> Floats:
    """The calibration errors of 1,000 draws z* ~ Bernoulli(c): a calibrated judge's.

    confidence (n,); shape (1000,).

    >>> draws = ece_calibrated(np.full(100, 0.5), np.random.default_rng(1))
    >>> bool(0.03 < draws.mean() < 0.05)  # the mean distance of 100 throws from 50
    True
    """
    bins = bins_of(confidence)
    n_bins = int(bins.max(initial=-1)) + 1
    expected = np.bincount(bins, weights=confidence)
    errors = []
    for part in blocks(CALIBRATED_DRAWS, confidence.size, CELLS):
        draws = rng.random((part.stop - part.start, confidence.size)) < confidence
        for drawn in draws:
            hits = np.bincount(bins[drawn], minlength=n_bins)
            errors.append(np.abs(expected - hits).sum() / confidence.size)
    return np.array(errors)


def diagram(stated: Stated, weights: Weights) -> list[Bin]:
    """The points of a reliability diagram; none below 100 texts.

    The interval of a bin's share is that of a proportion by source.

    >>> stated = Stated(np.full(100, 0.5), np.tile([1.0, 0.0], 50), np.arange(100))
    >>> [(each.confidence, each.right.value) for each in diagram(stated, None)]
    [(0.5, 0.5)]
    """
    if stated.texts < FEWEST_TEXTS:
        return []
    bins = bins_of(stated.confidence)
    points = []
    for code in range(int(bins.max()) + 1):
        members = bins == code
        right = clustered_mean(
            stated.right[members], stated.source[members], weights
        ).estimate
        mean = float(stated.confidence[members].mean())
        points.append(Bin(mean, right, int(members.sum())))
    return points


class _Pool(NamedTuple):
    """Neighbouring confidences at which the curve is flat."""

    hits: float
    texts: int
    values: int


def isotonic(confidence: Floats, right: Floats) -> tuple[Floats, Floats]:
    """The share right as a function of confidence that never falls (pool adjacent
    violators); both (n,).

    Returns the different confidences, ascending, and the curve at each. (Dimitriadis
    et al. 2021)

    >>> c = np.array([0.2, 0.4, 0.6, 0.8])
    >>> isotonic(c, np.array([0.0, 1.0, 0.0, 1.0]))[1].tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    values, codes, counts = np.unique(
        confidence, return_inverse=True, return_counts=True
    )
    hits = np.bincount(codes, weights=right)
    pools = list[_Pool]()
    for hit, count in zip(hits.tolist(), counts.tolist(), strict=True):
        pool = _Pool(hit, count, 1)
        # Products, not shares: of equal shares, quotients may differ by round-off.
        while pools and pools[-1].hits * pool.texts >= pool.hits * pools[-1].texts:
            before = pools.pop()
            pool = _Pool(
                before.hits + pool.hits,
                before.texts + pool.texts,
                before.values + pool.values,
            )
        pools.append(pool)
    steps = []
    for pool in pools:
        steps.append(np.full(pool.values, pool.hits / pool.texts))
    return values, np.concatenate(steps)
