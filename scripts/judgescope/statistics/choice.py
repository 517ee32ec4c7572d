"""Would the judge pick the right system? Which is best, how sure that is, and what a
wrong pick costs.

Tables (sources, systems) are complete: of a judge's scores, of people's ratings. Tastes
of raters for systems are not removed: a result is true to these raters. See
docs/methods.md, "What the systems really score".
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from judgescope.statistics.arrays import Flags, Floats, quotient
from judgescope.statistics.declared import (
    correlation,
    declare,
    percent,
    signed_amount,
)
from judgescope.statistics.intervals import PLAIN, TOLERANCE, IntervalScale, holm
from judgescope.statistics.resampling import Replicated, replicated

DECLARED = declare(
    "choice",
    p_best=percent(
        "Best in draws",
        "share of 10,000 draws of the systems' means, from a multivariate t about the "
        "estimates, in which the system has the best; no test",
    ),
    may_be_best=percent(
        "May be best",
        "1 if no other system is significantly better (one-sided .05, Holm over all "
        "ordered pairs), else 0",
    ),
)
DECLARED += declare(
    "pick",
    choice_gain=signed_amount(
        "Gain of the pick",
        "people's mean of the best system minus that of all systems, picked on one "
        "half of the sources and valued on the other, over 1,000 halves",
    ),
    choice_regret=signed_amount(
        "Regret of the pick",
        "gain of people's pick minus that of the judge's, on the same halves",
    ),
    system_pearson_true=correlation(
        "Systems, noise removed",
        "Pearson's correlation of the systems' means by judge and people, without the "
        "noise of few sources",
    ),
)


class SystemMeans(NamedTuple):
    """Estimated means of systems (systems,), their covariance (systems, systems), and
    the degrees of freedom of it.
    """

    means: Floats
    covariance: Floats
    freedom: int


def plain_means(values: Floats) -> SystemMeans:
    """The means of a complete table and cov / n; values (sources, systems), n >= 2.

    >>> plain_means(np.array([[1.0, 2.0], [3.0, 4.0]])).means.tolist()
    [2.0, 3.0]
    """
    covariance = np.atleast_2d(np.cov(values, rowvar=False)) / len(values)
    return SystemMeans(values.mean(axis=0), covariance, len(values) - 1)


def corrected_means(
    judged: Floats, rated: Floats, others: Floats, weights: Floats
) -> SystemMeans:
    """λ_j mean_U f_j + mean_L z_j, z = y - λ f; covariance λ_j λ_k cov_U(f_j, f_k)/N +
    cov_L(z_j, z_k)/n: that of the jackknife for these weights.

    judged, rated (n, systems), others (N, systems), weights λ (systems,); where all
    weights are 0 others may be empty.

    >>> judged = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0]])
    >>> corrected_means(judged, judged, judged + 2, np.ones(2)).means.tolist()
    [4.0, 5.0]
    """
    errors = plain_means(rated - weights * judged)
    if not weights.any():
        return errors
    scores = plain_means(weights * others)
    return SystemMeans(
        errors.means + scores.means,
        errors.covariance + scores.covariance,
        errors.freedom,
    )


def p_best(estimates: SystemMeans, rng: np.random.Generator) -> Floats:
    """The share of 10,000 draws θ + √(ν/χ²_ν) Σ^½ z in which each system is best.

    Shape (systems,), sum 1; a tie of draws goes to the first. No test.

    >>> estimates = SystemMeans(np.array([0.0, 9.0]), np.eye(2), 20)
    >>> p_best(estimates, np.random.default_rng(1)).tolist()
    [0.0, 1.0]
    """
    values, vectors = np.linalg.eigh(estimates.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    draw_count = 10_000
    normal = rng.normal(size=(draw_count, estimates.means.size)) @ root.T
    scale = np.sqrt(estimates.freedom / rng.chisquare(estimates.freedom, draw_count))
    best = np.argmax(estimates.means + normal * scale[:, None], axis=1)
    return np.bincount(best, minlength=estimates.means.size) / draw_count


def best_set(estimates: SystemMeans) -> Flags:
    """The systems that no other one is significantly above, by t = (θ_k - θ_j) / se.

    One-sided at .05, Holm over all ordered pairs; (systems,).

    >>> best_set(SystemMeans(np.array([0.0, 8.9, 9.0]), np.eye(3), 20)).tolist()
    [False, True, True]
    """
    from scipy.special import stdtr  # here: asking and parsing load no scipy

    means = estimates.means
    covariance = estimates.covariance
    variances = np.diag(covariance)
    error = np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 0))
    gaps = means[:, None] - means  # row k above column j
    same = error <= TOLERANCE
    t = quotient(gaps, np.where(same, 1.0, error))
    p = np.where(same, np.where(gaps > TOLERANCE, 0.0, 1.0), 0.0)
    p = np.where(same, p, stdtr(estimates.freedom, -t))
    np.fill_diagonal(p, np.nan)
    level = 0.05
    return np.asarray(~(holm(p) <= level).any(axis=0))


class Picks(NamedTuple):
    """The gains of the judge's and of people's pick, and their difference."""

    judge: Replicated
    people: Replicated
    regret: Replicated


def picks(judged: Floats, rated: Floats, rng: np.random.Generator) -> Picks:
    """mean over halves A, B of μ_B[best_A] - mean μ_B, μ people's means.

    judged, rated (sources, systems). best_A: of the judge's, or of people's means on A;
    of tied ones the mean. Jackknife-t over sources; without a source the others keep
    their halves, so that no source is in both. Undefined below 4 sources or 2 systems.

    >>> rated = np.tile([1.0, 2.0, 6.0], (12, 1))
    >>> made = picks(-rated, rated, np.random.default_rng(1))
    >>> made.judge.estimate.value, made.people.estimate.value
    (-2.0, 3.0)
    """
    n, m = rated.shape
    if n < 4 or m < 2:
        rows = np.full(n + 1, np.nan)
        nothing = replicated(rows, "too few", sizes=np.ones(n), scale=PLAIN, n=n)
        return Picks(nothing, nothing, nothing)
    halves = 1_000
    order = np.argsort(rng.random((halves, n)), axis=1)
    in_a = np.zeros((halves, n), bool)
    np.put_along_axis(in_a, order[:, : n // 2], values=True, axis=1)
    tables = judged - judged.mean(), rated - rated.mean()
    of_first = [in_a @ table for table in tables]
    of_second = ~in_a @ tables[1]
    rows = np.empty((2, n + 1))
    # Sums that differ by less, of their size, are equal but for rounding.
    tied = 1e-9
    for deleted in range(-1, n):
        mine = in_a[:, [deleted]] if deleted >= 0 else np.zeros((halves, 1), bool)
        other = ~mine if deleted >= 0 else mine
        second = of_second - other * tables[1][deleted]
        values = second / (n - n // 2 - other)
        gain = values - values.mean(axis=1, keepdims=True)
        for who, table in enumerate(tables):
            sums = of_first[who] - mine * table[deleted]
            top = sums.max(axis=1, keepdims=True)
            best = sums >= top - tied * np.maximum(1, np.abs(top))
            of_half = (gain * best).sum(axis=1) / best.sum(axis=1)
            rows[who, deleted + 1] = of_half.mean()
    made = []
    for each in (rows[0], rows[1], rows[1] - rows[0]):
        made.append(replicated(each, "undefined", sizes=np.ones(n), scale=PLAIN, n=n))
    return Picks(*made)


def system_pearson_true(judged: Floats, rated: Floats) -> Replicated:
    """C_xy / √(C_xx C_yy), C = S - E/n: S the covariance of the systems' means (ddof
    1), E = Σ R Rᵀ / ((n - 1)(m - 1)), R residuals after source and system means.

    judged, rated (n, m). Jackknife-t over sources on the uncut ratio; value and ends
    cut to ±1. Undefined below 4 systems or 10 sources, where a C without a source is
    not above 0, and where the systems' order is not settled: F = n S/E at most F.95(m -
    1, (n - 1)(m - 1)), of people or of the judge.

    >>> level = np.array([1.0, 2.0, 3.0, 5.0])
    >>> noise = np.random.default_rng(1).normal(size=(2, 40, 4))
    >>> judged, rated = level + noise[0], level + noise[1]
    >>> round(system_pearson_true(judged, rated).estimate.value, 2)
    1.0
    """
    n, m = rated.shape
    why = ""
    rows = np.full(n + 1, np.nan)
    # With fewer systems noise and order cannot be told apart.
    fewest_systems = 4
    if m < fewest_systems or n < 10:
        why = f"{n} sources of {m} systems: 10 of {fewest_systems} are needed"
    else:
        sizes = np.append(n, np.full(n, n - 1.0))
        xy, xx, yy = (
            _noise_removed(a, b, sizes)
            for a, b in ((judged, rated), (judged, judged), (rated, rated))
        )
        why = _unsettled(xx, yy, n, m)
        if not why and (min(xx.true.min(), yy.true.min()) <= 0):
            why = "no variance of the systems is left without the noise"
        if not why:
            rows = xy.true / np.sqrt(xx.true * yy.true)
    made = replicated(
        rows, why, sizes=np.ones(n), scale=IntervalScale("plain", -1, 1), n=n
    )
    value = made.estimate.value
    if value is not None and abs(value) > 1:
        cut = replace(made.estimate, value=float(np.clip(value, -1, 1)))
        made = made._replace(estimate=cut).with_note(f"{value:.3f}, cut to the range")
    return made


class _Parts(NamedTuple):
    """S and C of all sources and without each, (1 + n,), and E of all."""

    between: Floats
    true: Floats
    noise: float


def _noise_removed(a: Floats, b: Floats, sizes: Floats) -> _Parts:
    m = a.shape[1]
    a = a - a.mean()
    b = b - b.mean()
    totals_a = np.vstack([a.sum(axis=0), a.sum(axis=0) - a])
    totals_b = np.vstack([b.sum(axis=0), b.sum(axis=0) - b])
    of_source = a.sum(axis=1) * b.sum(axis=1)
    products = (a * b).sum(axis=1)
    cells = np.append(products.sum(), products.sum() - products)
    rows = np.append(of_source.sum(), of_source.sum() - of_source)
    columns = (totals_a * totals_b).sum(axis=1)
    grand = totals_a.sum(axis=1) * totals_b.sum(axis=1)
    residual = cells - rows / m - columns / sizes + grand / (sizes * m)
    noise = residual / ((sizes - 1) * (m - 1))
    between = (columns - grand / m) / (sizes**2 * (m - 1))
    return _Parts(between, between - noise / sizes, float(noise[0]))


def _unsettled(xx: _Parts, yy: _Parts, n: int, m: int) -> str:
    from scipy.special import fdtri  # here: asking and parsing load no scipy

    bound = float(fdtri(m - 1, (n - 1) * (m - 1), 0.95))
    for whose, parts in (("people's", yy), ("the judge's", xx)):
        if n * parts.between[0] <= bound * max(parts.noise, 0.0):
            return f"{whose} own order of the systems is not settled by {n} sources"
    return ""
