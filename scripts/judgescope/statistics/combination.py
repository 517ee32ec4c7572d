"""Discernment scores: p-values combined over aspects, scores combined over perturbations.

Everything is in ln p and takes leading axes (resamples): p itself underflows from n = 1,900.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.statistics.dot import dot

LN_20 = math.log(20)
LN_TAIL = math.log(1e-18)
"""Below this harmonic mean p, Landau's tail equals it to the last digit of float64."""


class Discernment(NamedTuple):
    """D = log_0.05 of a combined p, each (...): `d` and `d_ew` as the paper, the rest sound."""

    d: NDArray[np.float64]
    d_ew: NDArray[np.float64]
    d_hmp: NDArray[np.float64]
    d_exact: NDArray[np.float64]


def score(log_p: ArrayLike) -> NDArray[np.float64]:
    """Return log_0.05 p from ln p: 1 at p = .05, 0 at p = 1. Source: paper 000, 3.3.3."""
    return np.asarray(0.0 - np.asarray(log_p, np.float64) / LN_20)


def discernment(log_p_scipy: ArrayLike, log_p_exact: ArrayLike, weights: ArrayLike) -> Discernment:
    """Return D of 1/sum(1/p), 1/sum(w/p) (asymptotic p), of 1/sum(w/p) and Landau (exact p).

    log_p_*: (..., aspects), ln p of the asymptotic and of the exact test; weights: (aspects,),
    ValueError unless they sum to 1. Zero-weight aspects are dropped, except from `d`, which the
    paper leaves unweighted. `d` is not a harmonic mean: it lies log_20 M above that of equal
    weights (methods.md 1). `d_exact` is the p itself for one aspect, 0 when every p is 1.
    Source: paper 000, 3.3.2 and 3.3.3; Wilson 2019.
    """
    asymptotic = np.asarray(log_p_scipy, np.float64)
    exact = np.asarray(log_p_exact, np.float64)
    w = checked_weights(weights, asymptotic.shape[-1])
    used = w > 0
    n_used = int(used.sum())
    hmp = log_harmonic_mean(exact[..., used], w[used])
    all_one = (exact[..., used] == 0).all(axis=-1)
    landau = hmp if n_used == 1 else np.where(all_one, 0.0, log_landau(hmp, n_used))
    return Discernment(
        score(-np.logaddexp.reduce(-asymptotic, axis=-1)),
        score(log_harmonic_mean(asymptotic[..., used], w[used])),
        score(hmp),
        score(landau),
    )


def checked_weights(weights: ArrayLike, n_aspects: int) -> NDArray[np.float64]:
    """Return the aspect weights as an array; ValueError unless >= 0, one per aspect, sum 1."""
    w = np.asarray(weights, np.float64)
    if w.shape != (n_aspects,):
        raise ValueError(f"aspect weights: got {w.size}, needed one per aspect ({n_aspects})")
    if not (w >= 0).all() or abs(w.sum() - 1) > 1e-9:
        raise ValueError(f"aspect weights must be >= 0 and sum to 1: {w.tolist()} sum to {w.sum()}")
    return w


def log_harmonic_mean(log_p: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """Return ln(1 / sum_j w_j / p_j); log_p: (..., aspects), weights: (aspects,), all positive."""
    inverse = np.logaddexp.reduce(np.log(weights) - np.asarray(log_p), axis=-1)
    return np.asarray(np.minimum(-inverse, 0.0))


def log_landau(log_hmp: ArrayLike, n_aspects: int) -> NDArray[np.float64]:
    """Return ln p of a harmonic mean p H of L p-values: 1/H is Landau-distributed under the null.

    Location ln L + 1 - gamma - ln(2/pi), scale pi/2; p = H in the far tail, where the survival
    function of x is 1/x. log_hmp: (...). At L = 1 the p itself is exact, not this. Source: Wilson
    2019.
    """
    # What scipy.stats.landau calls, to the bit; importing scipy.stats takes a second in each job.
    from scipy.special._ufuncs import _landau_sf

    log_h = np.asarray(log_hmp, np.float64)
    location = math.log(n_aspects) + 1 - np.euler_gamma - math.log(2 / math.pi)
    x = (np.exp(-np.maximum(log_h, LN_TAIL)) - location) / (math.pi / 2)
    return np.where(log_h < LN_TAIL, log_h, np.log(_landau_sf(x, 0, 1)))


def average(
    d: ArrayLike, levels: Sequence[str], *, allow_missing: bool = False
) -> NDArray[np.float64]:
    """Return D_avg = sum_i D_i / (levels n_i), n_i the perturbations of i's level.

    d: (..., perturbations), result: (...). Levels weigh the same, and perturbations within a level;
    each degree of a perturbation counts as one (Wang et al. 2024, DHP, section 3.3.3).

    A missing score (NaN) is a ValueError; with `allow_missing` its level is averaged over what
    is there, a level with nothing left is dropped, and D_avg is NaN when nothing is left at all.
    """
    values, there = _planned(d, allow_missing)
    names, level = np.unique(levels, return_inverse=True)
    member = (level[:, None] == np.arange(names.size)).astype(np.float64)
    count = dot(there, member)
    mean = dot(np.where(there, values, 0.0), member) / np.maximum(count, 1)
    n_levels = (count > 0).sum(axis=-1)
    return np.where(n_levels > 0, mean.sum(axis=-1) / np.maximum(n_levels, 1), np.nan)


def minimum(d: ArrayLike, *, allow_missing: bool = False) -> NDArray[np.float64]:
    """Return D_min over the planned perturbations; d: (..., perturbations), result: (...).

    Missing scores (NaN) as in `average`.
    """
    values, _ = _planned(d, allow_missing)
    return np.asarray(np.fmin.reduce(values, axis=-1))


def _planned(d: ArrayLike, allow_missing: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the scores and which are there; ValueError when one is missing and may not be."""
    values = np.asarray(d, np.float64)
    there = ~np.isnan(values)
    if not allow_missing and not there.all():
        gaps = np.flatnonzero(~there.all(axis=tuple(range(there.ndim - 1)))).tolist()
        raise ValueError(f"planned perturbations without a score, at {gaps}: set allow_missing")
    return values, there
