"""Which sources to rate next, and means that stay unbiased although they were chosen.

Sources are drawn with known chances, higher where the judge's error is likely large; a
rating counts by the inverse of its chance. See docs/methods.md, "Which sources to rate
next", after active statistical inference: Zrnic, Candès 2024, arXiv 2403.03208.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Codes, Flags, Floats, quotient
from judgescope.statistics.corrected import ERRS_SELDOM, errs_seldom
from judgescope.statistics.intervals import TOLERANCE, Bounds
from judgescope.statistics.result import Estimate

FEWEST_DRAWN: Final = 10
"""With fewer rated sources there is no interval."""
FEWEST_TO_PREDICT: Final = 20
"""With fewer rated sources the judge's errors are not predicted: all chances are
equal."""
LEAST_SAVING: Final = 0.05
"""Below this expected share of saved ratings the draw is random."""


def draw_chances(error: Floats, n: int) -> Floats:
    """π_s = min(1, n ((1 - η) u_s / Σ u + η / N)), η = .2: chances that sum to about n.

    error (N,): the predicted size u of each source's error, 0 or more; equal chances
    where all are 0. ValueError for n outside 1 to N. Zrnic, Candès 2024.

    >>> draw_chances(np.array([1.0, 3.0]), 1).tolist()
    [0.3, 0.7]
    """
    size = error.size
    if not 1 <= n <= size:
        raise ValueError(f"{n} of {size} sources cannot be drawn")
    total = float(error.sum())
    share = error / total if total > 0 else np.full(size, 1 / size)
    # The share η of every chance that is equal for all sources, so that none is
    # small.
    uniform = 0.2
    # Rounded as it is stored, so that no later computation sees another chance.
    chances = np.minimum(1.0, n * ((1 - uniform) * share + uniform / size))
    return np.asarray(np.round(chances, 9), np.float64)


class DrawnRound(NamedTuple):
    """One draw of sources: chances (N,), which were drawn (N,), and how many were
    planned.
    """

    chances: Floats
    drawn: Flags
    planned: int


def draw(rng: np.random.Generator, chances: Floats, planned: int) -> DrawnRound:
    """A draw of each source by its own chance; so about as many as planned.

    >>> draw(np.random.default_rng(1), np.array([1.0, 1.0]), 2).drawn.tolist()
    [True, True]
    """
    return DrawnRound(chances, rng.random(chances.size) < chances, planned)


def round_weights(rounds: Sequence[DrawnRound]) -> Floats:
    """w_s = Σ_r (n_r / Σ n) ξ_s / π_s over rounds r: mean 1 over all sources.

    n_r: as planned; ξ: 1 if drawn. Every round draws from all sources, so that a source
    may be drawn again, without a new rating. ValueError without a round.

    >>> once = DrawnRound(np.array([0.5, 0.5]), np.array([True, False]), 1)
    >>> round_weights([once, once]).tolist()
    [2.0, 0.0]
    """
    if not rounds:
        raise ValueError("no round was drawn")
    total = sum(each_round.planned for each_round in rounds)
    weights = np.zeros(rounds[0].chances.size)
    for each_round in rounds:
        weights += (
            each_round.planned
            / total
            * np.where(each_round.drawn, 1 / each_round.chances, 0.0)
        )
    return weights


def fitted(judged: Floats, rated: Floats, weights: Floats) -> Floats:
    """p = d + λ f of all sources, the weighted least squares of y on f; λ at least 0.

    judged, rated, weights (N,); only sources with a weight and a rating count. λ = 0
    below 10 of them, where f is constant, and where it errs too seldom to tell how
    often (`errs_seldom`).

    >>> fitted(np.arange(12.0), 2 * np.arange(12.0), np.ones(12)).tolist()[:3]
    [0.0, 2.0, 4.0]
    """
    used = (weights > 0) & np.isfinite(rated) & np.isfinite(judged)
    w = weights[used]
    f = judged[used]
    y = rated[used]
    middle = float(np.sum(w * f) / w.sum())
    level = float(np.sum(w * y) / w.sum())
    spread = float(np.sum(w * (f - middle) ** 2))
    slope = 0.0
    varies = spread > TOLERANCE * max(1.0, middle**2) * f.size
    if f.size >= FEWEST_DRAWN and varies and not errs_seldom(f, y):
        slope = max(0.0, float(np.sum(w * (f - middle) * (y - level))) / spread)
    return level + slope * (judged - middle)


def active_mean(
    judged: Floats,
    rated: Floats,
    rounds: Sequence[DrawnRound],
    ends: Bounds,
    *,
    looks: int = 1,
) -> Estimate:
    """θ = mean g, g_s = p_s + w_s (y_s - p_s), se² = var(g)/N; θ ± t(m - 2) se at
    level 1 - .05/looks.

    judged (N,): a score of every source; rated (N,): ratings, NaN where none; p as in
    `fitted`, w as in `round_weights`; m: the drawn sources that are rated, whose
    residuals count m/(m - 2) times in se² since two numbers were fitted to them. Drawn
    sources without a rating are counted (`n_missing`) and taken to be like the others.
    Undefined without a rated source; no interval below 10 of them, or below 10 with
    another than the most frequent rating; the judge is not used where it errs on fewer
    than 10 (`errs_seldom`). `ends`: those of ratings, or of differences.
    Zrnic, Candès 2024.

    >>> rng = np.random.default_rng(5)
    >>> truth = rng.normal(3, 1, 500)
    >>> scores = truth + 1 + 0.3 * rng.normal(size=500)
    >>> once = draw(rng, draw_chances(np.ones(500), 60), 60)
    >>> found = active_mean(scores, truth, [once], (-9.0, 9.0))
    >>> off = np.array([found.value, scores.mean()]) - truth.mean()
    >>> np.abs(off).round(1).tolist()
    [0.1, 1.0]
    """
    known = np.isfinite(judged)
    weights = round_weights(rounds)
    drawn = known & (weights > 0)
    used = drawn & np.isfinite(rated)
    m = int(used.sum())
    missing = int(drawn.sum()) - m
    if not m:
        return Estimate.undefined("no drawn source is rated", n_missing=missing)
    weights = np.where(used, weights, 0.0)
    predicted = fitted(judged, rated, weights)
    error = np.where(used, rated - predicted, 0.0)
    added = weights * error
    value = float((predicted + added)[known].mean())
    low, middle, high = np.clip([value, value, value], *ends).tolist()
    how = f"active inference, {m} rated of {int(known.sum())} sources"
    estimate = Estimate(middle, n=m, n_missing=missing, method=how)
    if missing:
        note = f"{missing} drawn sources have no rating: taken to be like the others"
        estimate = estimate.with_note(note)
    informative = _informative(rated[used])
    if min(m, informative) < FEWEST_DRAWN:
        few = f"{m} rated" if m < FEWEST_DRAWN else f"{informative} informative"
        return estimate.with_note(f"no interval: {few} sources")
    if errs_seldom(judged[used], rated[used]):
        estimate = estimate.with_note(f"judge not used: {ERRS_SELDOM}")
    freedom = m - 2
    g = (predicted + added * math.sqrt(m / freedom))[known]
    standard_error = math.sqrt(float(g.var(ddof=1)) / g.size)
    half = _t(freedom, looks) * standard_error
    low, high = np.clip([value - half, value + half], *ends).tolist()
    level = f"t({freedom})"
    if looks > 1:
        level = f"t({freedom}) at level 1 − .05/{looks}"
    method = f"{how}; {level}"
    return replace(estimate, ci_low=low, ci_high=high, method=method)


def _informative(rated: Floats) -> int:
    """How many ratings differ from the most frequent one, all where none is twice."""
    _, counts = np.unique(np.round(rated, 9), return_counts=True)
    mode_count = int(counts.max(initial=0))
    if mode_count > 1:
        return rated.size - mode_count
    return rated.size


def _t(freedom: int, looks: int) -> float:
    from scipy.special import stdtrit  # here: asking and parsing load no scipy

    return float(stdtrit(freedom, 1 - 0.05 / looks / 2))


# --- how large the judge's error will be ----------------------------------------------


def source_errors(judged: Floats, rated: Floats, weights: Floats) -> Floats:
    """e_s² of each rated source, NaN of others: the variance over systems of y - p, or
    with one system its square.

    judged, rated (N, systems), weights (N,). The variance (ddof 1): differences of
    systems are estimated first, and an error that all systems share does not change
    them. Sources of fewer than two rated systems are left out where there are two.

    >>> judged = np.tile(np.arange(12.0)[:, None], 2)
    >>> float(source_errors(judged, judged, np.ones(12)).max())
    0.0
    """
    residuals = np.full(rated.shape, np.nan)
    for at in range(rated.shape[1]):
        some = np.isfinite(rated[:, at]) & np.isfinite(judged[:, at]) & (weights > 0)
        if some.any():
            predicted = fitted(judged[:, at], rated[:, at], weights)
            residuals[:, at] = rated[:, at] - predicted
    if rated.shape[1] == 1:
        return np.asarray(residuals[:, 0] ** 2)
    counts = np.isfinite(residuals).sum(axis=1)
    centred = residuals - quotient(np.nansum(residuals, axis=1), counts)[:, None]
    squares = np.nansum(centred**2, axis=1)
    return np.where(counts > 1, squares / np.maximum(counts - 1, 1), np.nan)


def predicted_errors(features: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """u_s = √(mean over features of the mean e² of the source's bin), of all sources;
    and of rated ones that without their own error.

    features (N, k): known of every source, such as the judge's mean score; squares
    (N,): e² of rated sources, NaN elsewhere. Bins: thirds of each feature, ties whole.
    A bin's mean is that of its sources and 5 of average error. ValueError without a
    rated source.

    >>> features = np.arange(60.0)[:, None]
    >>> squares = np.where(np.arange(60) < 20, 9.0, 1.0)
    >>> errors, _ = predicted_errors(features, squares)
    >>> bool(errors[0] > errors[-1])
    True
    """
    rated = np.isfinite(squares)
    if not rated.any():
        raise ValueError("no source is rated")
    n = int(rated.sum())
    total = float(squares[rated].sum())
    rated_squares = np.where(rated, squares, 0.0)
    predicted = np.zeros(squares.size)
    without = np.zeros(squares.size)
    # So many sources of mean error count beside those of a bin.
    shrunk = 5
    for feature in features.T:
        bins = _thirds(feature)
        counts = np.bincount(bins, weights=rated)[bins]
        sums = np.bincount(bins, weights=rated_squares)[bins]
        predicted += (sums + shrunk * total / n) / (counts + shrunk)
        mean_of_others = (total - rated_squares) / max(1, n - 1)
        fewer = np.maximum(counts - 1, 0)
        without += (sums - rated_squares + shrunk * mean_of_others) / (fewer + shrunk)
    k = max(1, features.shape[1])
    if not features.shape[1]:
        predicted += total / n
        without += (total - rated_squares) / max(1, n - 1)
    # A source that is not rated has no error of its own in the prediction.
    without = np.where(rated, np.maximum(without, 0), predicted)
    return np.sqrt(predicted / k), np.sqrt(without / k)


def _thirds(feature: Floats) -> Codes:
    """The third of each value, 0 to 2; equal values in one, missing ones in the
    first.
    """
    known = feature[np.isfinite(feature)]
    if not known.size:
        return np.zeros(feature.size, np.int64)
    cuts = np.quantile(known, [1 / 3, 2 / 3], method="inverted_cdf")
    filled = np.where(np.isfinite(feature), feature, known.min())
    return np.searchsorted(np.unique(cuts), filled, side="left")


def expected_saving(without: Floats, squares: Floats, n: int) -> float:
    """1 - R, R = mean(e²/π) n / (N mean e²) over rated sources: the share of ratings
    that the draw saves against a random one of equal width.

    without (N,): u of each source, predicted without its own error; squares (N,): e²,
    NaN where not rated. Negative where the draw would cost ratings; 0 where e² is 0
    throughout.

    >>> squares = np.repeat([9.0, 1.0], 30)
    >>> round(expected_saving(np.sqrt(squares), squares, 6), 3)
    0.19
    """
    rated = np.isfinite(squares)
    mean = float(squares[rated].mean())
    if mean <= 0:
        return 0.0
    chances = draw_chances(without, n)
    ratio = float((squares[rated] / chances[rated]).mean()) * n / squares.size
    return 1 - ratio / mean
