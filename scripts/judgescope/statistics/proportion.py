"""Intervals of single proportions whose cases come in sources, and how many cases a bar needs."""

from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import Floats

CONFIDENCE: Final = 0.95
FEWEST_CLUSTERS: Final = 5
"""Below so many sources in its denominator a proportion has no interval."""
MOST_CASES: Final = 10_000
POWER: Final = 0.8
NEAR_BAR: Final = 0.01
"""An estimate so near to its bar needs more than MOST_CASES."""


class Proportion(NamedTuple):
    """A proportion p, the size of the simple random sample that says as much, and its sources."""

    value: float
    n_eff: float
    deff: float
    sources: int

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Return `clopper_pearson` at n_eff; None below FEWEST_CLUSTERS sources."""
        if self.sources < FEWEST_CLUSTERS:
            return None
        return clopper_pearson(self.value, self.n_eff, confidence)

    def p_above(self, null: float) -> float | None:
        """Return P(X >= p n_eff) under `null`: at most (1 - c)/2 where the lower end reaches it."""
        if self.sources < FEWEST_CLUSTERS:
            return None
        return binomial_tail(self.value, self.n_eff, null)


def t_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Return the (1 + c)/2 quantile of Student's t."""
    from scipy.special import stdtrit  # here only: what merely asks or parses imports no scipy

    return float(stdtrit(freedom, (1 + confidence) / 2))


def clopper_pearson(value: float, n: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact interval of x = value * n hits in n cases, neither of them whole.

    lo = B((1 - c)/2; x, n - x + 1), hi = B((1 + c)/2; x + 1, n - x), B the quantile of the beta
    distribution; lo is 0 at x = 0, hi is 1 at x = n. Range [0, 1]. Clopper, Pearson 1934.
    """
    from scipy.special import betaincinv  # here only: what merely asks or parses imports no scipy

    x, tail = value * n, (1 - confidence) / 2
    lo = float(betaincinv(x, n - x + 1, tail)) if value > 0 else 0.0
    hi = float(betaincinv(x + 1, n - x, 1 - tail)) if value < 1 else 1.0
    return lo, hi


def binomial_tail(value: float, n: float, null: float) -> float:
    """Return P(X >= value * n), X binomial of n cases and chance `null`, in the beta's terms."""
    from scipy.special import betainc  # here only: what merely asks or parses imports no scipy

    if value <= 0 or null >= 1:
        return 1.0
    return float(betainc(value * n, n * (1 - value) + 1, max(null, 0.0)))


def korn_graubard(hits: Floats, cases: Floats) -> Proportion | None:
    """Return p = sum hits / sum cases, and n_eff, the cases over their design effect.

    hits and cases (sources,): each case a hit of 0 to 1. With k the sources that have cases, A all
    cases and e_s = hits_s - p cases_s: v = k/(k - 1) sum e_s² / A², deff = max(1, v A / (p(1 - p)))
    and n_eff = A/deff (t_A-1 / t_k-1)², at most A; k where p is 0 or 1. None without a case. Korn,
    Graubard 1998, "Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data".
    """
    used = cases > 0
    k, total = int(used.sum()), float(cases.sum())
    if k == 0:
        return None
    p = min(1.0, max(0.0, float(hits[used].sum()) / total))
    return of_residuals(p, (hits - p * cases)[used], total)


def of_residuals(p: float, residual: Floats, total: float) -> Proportion:
    """Return a proportion of `total` cases from e_s of `korn_graubard`, (sources,)."""
    k = residual.size
    if p in (0.0, 1.0) or k < 2 or total <= 1:
        return Proportion(p, float(min(k, total)), total / min(k, total), k)
    variance = k / (k - 1) * float(np.sum(np.square(residual))) / total**2
    deff = max(1.0, variance * total / (p * (1 - p)))
    shrunk = (t_quantile(total - 1) / t_quantile(k - 1)) ** 2
    return Proportion(p, min(total, total / deff * shrunk), deff, k)


def cases_needed(estimate: float, bar: float) -> int | None:
    """Return the least m such that m cases, and any more, show `estimate` at least `bar`.

    P(lo(X, m) >= bar) >= POWER for X ~ Bin(m, estimate), lo as in `clopper_pearson`. Cases of one
    source are not independent: times their deff. None, more than MOST_CASES, where the estimate is
    below the bar or within NEAR_BAR of it. ValueError for a bar outside (0, 1).
    """
    from scipy.special import bdtr, betaincinv

    if not 0 < bar < 1:
        raise ValueError(f"a bar for a proportion must be between 0 and 1, not {bar}")
    if estimate - bar < NEAR_BAR:
        return None
    m = np.arange(1, MOST_CASES + 1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.zeros_like(m), m + 1  # the least x with lo(x, m) >= bar; m + 1: there is none
    while (low < high).any():
        middle = (low + high) // 2
        x = np.clip(middle, 1, m)
        reaches = (middle > 0) & ((middle > m) | (betaincinv(x, m - x + 1, tail) >= bar))
        high = np.where(reaches, middle, high)
        low = np.where(reaches, low, np.minimum(middle + 1, high))
    power = np.where(high > m, 0.0, 1 - bdtr(np.maximum(high - 1, 0), m, min(estimate, 1.0)))
    short = np.flatnonzero(power < POWER)
    least = int(short[-1]) + 2 if short.size else 1
    return least if least <= MOST_CASES else None
