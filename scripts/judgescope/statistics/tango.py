"""Differences of paired proportions: Tango's score interval, at the number of pairs that count."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from judgescope.statistics.arrays import Floats
from judgescope.statistics.declared import SIGNED, declare, percent
from judgescope.statistics.jackknife import Bounds
from judgescope.statistics.proportion import CONFIDENCE, FEWEST_CLUSTERS, t_quantile
from judgescope.statistics.result import NOTHING, Estimate

DECLARED: Final = declare(
    percent(
        "net_share",
        "Net share noticed",
        "items scored lower after the perturbation minus items scored higher",
        "Tango 1998",
        range=SIGNED,
    ),
)

STEPS: Final = 60
"""Halvings of [-1, 1]: the ends are exact to 2e-18."""


def score_statistic(delta: float, b: float, c: float, n: float) -> float:
    """Return (b - c - n delta) / sqrt(n (2 q + delta (1 - delta))), q = P(c) given delta.

    b, c: pairs that differ one way and the other, of n (any real numbers, b + c <= n); q is the
    maximum likelihood estimate of the share of c where that of b is q + delta. ±inf where the
    variance is 0. Source: Tango 1998, equations 14 to 17.
    """
    linear = -b - c + (2 * n - b + c) * delta
    root = math.sqrt(max(linear * linear + 8 * n * c * delta * (1 - delta), 0.0))
    variance = 2 * (root - linear) / 4 + n * delta * (1 - delta)
    above = b - c - n * delta
    if variance > 0:
        return above / math.sqrt(variance)
    return math.copysign(math.inf, above) if above else 0.0


@lru_cache(maxsize=4096)
def tango(b: float, c: float, n: float) -> Bounds:
    """Return the interval of (b - c) / n: every delta with |score_statistic| < z.

    b, c >= 0, b + c <= n, n > 0 (ValueError otherwise); real numbers, as effective counts are.
    Range -1 to 1. With b = c = 0 its ends are ±z² / (n + z²). Source: Tango 1998.
    """
    if not (b >= 0 and c >= 0 and n > 0 and b + c <= n * (1 + 1e-12)):
        raise ValueError(f"b and c are counts of n pairs: got b {b}, c {c}, n {n}")
    z = _normal()
    return _end(lambda delta: score_statistic(delta, b, c, n) > z), _end(
        lambda delta: score_statistic(delta, b, c, n) > -z
    )


@lru_cache(maxsize=4096)
def tango_corrected_low(b: float, c: float, n: float) -> float:
    """Return the lower end of `tango` with one pair taken off b - c.

    Where few pairs differ and more of them one way, the plain end lies above the truth in up to
    4.1 % of studies (b of .07, c of .02, 59 pairs); this one in 2.1 % at most. Arguments as in
    `tango`.
    """
    z = _normal()

    def above(delta: float) -> bool:
        plain, excess = score_statistic(delta, b, c, n), b - c - n * delta
        return plain * (1 - 1 / excess) > z if excess > 1 else False

    return _end(above)


def _normal() -> float:
    from scipy.special import ndtri  # here only: what merely asks or parses imports no scipy

    return float(ndtri((1 + CONFIDENCE) / 2))


def _end(above: Callable[[float], bool]) -> float:
    """Return the end of the left part of [-1, 1] on which a condition holds, by halving."""
    low, high = -1.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if above(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def effective_pairs(d: ArrayLike, source: ArrayLike) -> float:
    """Return n_eff = n / deff · (t_{n-1} / t_{k-1})², at most n: pairs as independent ones.

    d (pairs,) of -1, 0 and 1; source (pairs,): equal for pairs that belong together; k sources.
    deff = max(1, v_c / v), v_c = k/(k-1) Σ_s (Σ_{i in s} (d_i - d̄))² / n², v the variance of a
    mean of independent pairs. All d equal: n_eff = k, as nothing is known of their likeness.
    Source: Korn and Graubard 1998, for a difference of two shares.
    """
    values = np.asarray(d, np.float64)
    n, codes = values.size, np.unique(np.asarray(source), return_inverse=True)[1]
    k = int(codes.max(initial=-1)) + 1
    if k == n or k < 2:
        return float(k)
    centred = values - values.mean()
    independent = float(centred @ centred) / n**2
    if independent == 0:
        return float(k)
    sums = np.bincount(codes, weights=centred)
    deff = max(1.0, k / (k - 1) * float(sums @ sums) / n**2 / independent)
    return min(float(n), n / deff * (t_quantile(n - 1) / t_quantile(k - 1)) ** 2)


def net_share(d: ArrayLike, source: ArrayLike, *, corrected: bool = False) -> Estimate:
    """Return p₊ - p₋ of the signs of d, with Tango's interval at the number of effective pairs.

    d (pairs,) any numbers; source (pairs,) as in `effective_pairs`. n = pairs, n_tied = those with
    d = 0; undefined without a pair, no interval below FEWEST_CLUSTERS sources. `corrected`: the
    lower end has `tango_corrected_low`.
    """
    signs: Floats = np.sign(np.asarray(d, np.float64))
    n, k = signs.size, np.unique(np.asarray(source)).size
    method = "Tango's score interval"
    if not n:
        return Estimate.undefined(NOTHING, method=method)
    up, down = float(np.mean(signs > 0)), float(np.mean(signs < 0))
    tied = int(np.count_nonzero(signs == 0))
    result = Estimate(up - down, n=n, n_tied=tied, method=method)
    if k < FEWEST_CLUSTERS:
        return result.with_note(f"no interval: {k} sources")
    pairs = effective_pairs(signs, source)
    lo, hi = tango(up * pairs, down * pairs, pairs)
    if corrected:
        lo = tango_corrected_low(up * pairs, down * pairs, pairs)
        method += ", continuity correction of the lower end"
    method += f"; {k} sources, {pairs:.4g} effective pairs"
    return Estimate(result.value, lo, hi, n=n, n_tied=tied, method=method)
