"""Intervals, p-values and their correction for many tests; how many cases a bar needs.

Proportions whose cases come in sources have Clopper-Pearson limits at the effective
number of cases. All else has the jackknife-t on its scale, from deleting one source at
a time. The interval and the one-sided p of a claim come of the same t, so that they
never disagree: p is at most .025 where, and only where, the null lies at or below the
lower end.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgescope.statistics.arrays import Codes, Flags, Floats
from judgescope.statistics.source_rows import Deletions

CONFIDENCE: Final = 0.95
FEWEST_CLUSTERS: Final = 5
"""With fewer sources in its denominator, a proportion has no interval."""
MOST_CASES: Final = 10_000


def t_quantile(freedom: float) -> float:
    """The (1 + c)/2 quantile of Student's t.

    >>> round(t_quantile(9), 3)
    2.262
    """
    from scipy.special import stdtrit  # here: asking and parsing load no scipy

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def clopper_pearson(value: float, n: float) -> tuple[float, float]:
    """The exact interval of x = value * n hits in n cases, neither of them
    whole.

    lo = B((1 - c)/2; x, n - x + 1), hi = B((1 + c)/2; x + 1, n - x), B the quantile of
    the beta distribution; lo is 0 at x = 0, hi is 1 at x = n. Range [0, 1]. Clopper,
    Pearson 1934.

    >>> [round(end, 3) for end in clopper_pearson(0.5, 10)]
    [0.187, 0.813]
    """
    from scipy.special import betaincinv  # here: asking and parsing load no scipy

    x = value * n
    tail = (1 - CONFIDENCE) / 2
    lo = 0.0
    if value > 0:
        lo = float(betaincinv(x, n - x + 1, tail))
    hi = 1.0
    if value < 1:
        hi = float(betaincinv(x + 1, n - x, 1 - tail))
    return lo, hi


def cases_needed(estimate: float, bar: float) -> int | None:
    """The least m such that m cases, and any more, show `estimate` at least `bar`.

    P(lo(X, m) >= bar) >= .8 for X ~ Bin(m, estimate), lo as in `clopper_pearson`. Cases
    of one source are not independent: times their deff. None, more than MOST_CASES,
    where the estimate is below the bar or within .01 of it. ValueError for a bar
    outside (0, 1).

    >>> cases_needed(0.9, 0.8)
    113
    """
    from scipy.special import bdtr  # here: asking and parsing load no scipy

    if not 0 < bar < 1:
        raise ValueError(f"a bar for a proportion must be between 0 and 1, not {bar}")
    if estimate - bar < 0.01:
        return None
    m = np.arange(1, MOST_CASES + 1)
    hits = _hits_needed(m, bar)
    fewer = bdtr(np.maximum(hits - 1, 0), m, min(estimate, 1.0))
    power = np.where(hits > m, 0.0, 1 - fewer)
    short = np.flatnonzero(power < 0.8)
    least = 1
    if short.size:
        least = int(short[-1]) + 2
    return least if least <= MOST_CASES else None


def _hits_needed(m: Codes, bar: float) -> Codes:
    """The least x with lo(x, m) >= bar, m + 1 where there is none; m (n,)."""
    from scipy.special import betaincinv  # here: asking and parsing load no scipy

    tail = (1 - CONFIDENCE) / 2
    low = np.zeros_like(m)
    high = m + 1
    while (low < high).any():
        middle = (low + high) // 2
        x = np.clip(middle, 1, m)
        shown = betaincinv(x, m - x + 1, tail) >= bar
        reaches = (middle > 0) & ((middle > m) | shown)
        high = np.where(reaches, middle, high)
        low = np.where(reaches, low, np.minimum(middle + 1, high))
    return high


# --- from deleting one source at a time -----------------------------------------------


Bounds: TypeAlias = tuple[float, float]
FEWEST_SOURCES: Final = 10
"""With fewer sources that count, there is no interval (docs/methods.md, "Common to
every number")."""
LEAST_EVEN: Final = 8.0
"""(sum m)² / sum m² of the targets m of each source: below it few sources hold most
targets."""
TOLERANCE: Final = 1e-12
"""Numbers that differ by less are equal but for rounding."""
NO_INTERVAL: Final = "no interval"
TOO_FEW: Final = f"{NO_INTERVAL}: too few cases"
"""Of a statistic that rests on no source as far as an interval goes: its sizes are
0."""
ONE_SOURCE_DECIDES: Final = f"{NO_INTERVAL}: depends on source #"
"""The code of a source follows, without which the value is undefined; tables show its
name."""


class IntervalScale(NamedTuple):
    """The scale on which a statistic's error is taken, and the ends of its range.

    `atanh` and `logit` where value and deletions lie inside the ends, else plain and
    cut, or for `logit` as `binomial`: Clopper-Pearson at the effective number of cases
    (Korn, Graubard 1998). `rough` has no interval: the jackknife fails for a minimum, a
    rank or a mode.
    """

    kind: Literal["plain", "atanh", "logit", "binomial", "rough"]
    low: float = -math.inf
    high: float = math.inf

    @property
    def ends(self) -> Bounds:
        """The ends."""
        return self.low, self.high


PLAIN: Final = IntervalScale("plain")
CORRELATION: Final = IntervalScale("atanh", -1.0, 1.0)
ACCURACY: Final = IntervalScale("logit", 0.0, 1.0)
PROPORTION: Final = IntervalScale("binomial", 0.0, 1.0)
NOT_SMOOTH: Final = IntervalScale("rough")


def deletions(n_sources: int) -> Deletions:
    """The weights 1 - I: row s takes every source once but s. Shape (sources,
    sources), none of it written out.

    >>> deletions(2)[:].tolist()
    [[0, 1], [1, 0]]
    """
    return Deletions(n_sources)


def share_alike(n_sources: int) -> float:
    """q = ((1 - c)/2)^(1/n), the least share of sources that are as n drawn ones
    all are.

    From a smaller share n alike would be drawn less than one time in 40: the
    Clopper-Pearson bound for n of n.

    >>> round(share_alike(10), 3)
    0.692
    """
    return float(((1 - CONFIDENCE) / 2) ** (1 / n_sources))


def bounds_of_alike(value: float, ends: Bounds, n_sources: int) -> Bounds:
    """q v + (1 - q) a and q v + (1 - q) b, where n sources all have the mean v
    in [a, b].

    Sources that were not drawn, a share of at most 1 - q, may have either end: of
    shares 0 and 1 this is the interval of Clopper and Pearson, with sources for trials.
    ValueError for a value that is not within the ends.

    >>> [round(end, 3) for end in bounds_of_alike(1.0, (0.0, 1.0), 10)]
    [0.692, 1.0]
    """
    if not ends[0] - TOLERANCE <= value <= ends[1] + TOLERANCE:
        raise ValueError(f"a mean of values in {ends} cannot be {value}")
    q = share_alike(n_sources)
    return q * value + (1 - q) * ends[0], q * value + (1 - q) * ends[1]


@dataclass(frozen=True, slots=True)
class Jackknife:
    """The jackknife of a value: v ± t(n - 1) SE on its scale, or an exact bound.

    `error` is SE on `scale`; where it is 0 all sources are alike, and the interval
    bounds the sources that were not drawn, which lie within `scale`'s ends. `n_eff` is
    the size of the simple random sample that says as much of a proportion, None of all
    else. `evidence` is the number of sources that the degrees of freedom stand for, if
    that is not all of them.
    """

    value: float
    scale: IntervalScale
    sources: int
    error: float
    n_eff: float | None = None
    evidence: float | None = None

    @property
    def freedom(self) -> float:
        """The degrees of freedom of t: sources - 1, or evidence - 1."""
        return (self.sources if self.evidence is None else self.evidence) - 1

    @property
    def has_ends(self) -> bool:
        """Whether the values of sources that were not drawn are bounded."""
        if not math.isfinite(self.scale.low):
            return False
        return math.isfinite(self.scale.high)

    @property
    def how(self) -> str:
        """The name of the interval."""
        if self.n_eff is not None:
            return (
                f"Clopper-Pearson at {self.n_eff:.4g} effective cases (Korn-Graubard)"
            )
        if self.error == 0 and self.has_ends:
            return (
                "all sources equal: exact bound on the share of sources with "
                "another value"
            )
        scale = ""
        if self.scale.kind != "plain":
            scale = f" on {self.scale.kind}"
        if self.evidence is None:
            return f"jackknife-t{scale}"
        return f"jackknife-t ({self.freedom:.4g} degrees of freedom){scale}"

    def interval(self) -> Bounds:
        """Both ends, cut to those of the scale."""
        if self.n_eff is not None:
            return clopper_pearson(self.value, self.n_eff)
        if self.error == 0:
            if not self.has_ends:
                return self.value, self.value
            return bounds_of_alike(self.value, self.scale.ends, self.sources)
        half = t_quantile(self.freedom) * self.error
        middle = float(_to(self.scale, self.value))
        low = float(_back(self.scale, middle - half))
        high = float(_back(self.scale, middle + half))
        return max(low, self.scale.low), min(high, self.scale.high)

    def p_above(self, null: float) -> float:
        """The one-sided p-value of a truth above `null`.

        Of a proportion P(X >= value n_eff), X binomial of the chance `null`, in the
        beta's terms; of n alike ((null - a)/(v - a))^n, where the lower end reaches the
        null at .025.
        """
        # Here: asking and parsing load no scipy.
        from scipy.special import (
            betainc,
            stdtr,
        )

        value = self.value
        low = self.scale.low
        if self.n_eff is not None:
            if value <= 0 or null >= 1:
                return 1.0
            x = value * self.n_eff
            return float(betainc(x, self.n_eff * (1 - value) + 1, max(null, 0.0)))
        if null < low:
            return 0.0
        if null >= self.scale.high:
            return 1.0
        if self.error == 0:
            if (
                null >= value or not self.has_ends
            ):  # no width: nothing is said of other sources
                return 1.0
            return float((max(null, low) - low) / (value - low)) ** self.sources
        t = float(_to(self.scale, value) - _to(self.scale, null)) / self.error
        return float(stdtr(self.freedom, -t))


def jackknife(
    rows: Floats,
    sizes: Floats,
    scale: IntervalScale,
    ends: Bounds | None,
    varied: int | None = None,
) -> Jackknife | str:
    """The jackknife of rows[0], or the note that says why there is no interval.

    rows (1 + sources,): the value, then that without each source; sizes (sources,): the
    targets of each, 0 where its deletion can change nothing; `ends` bound what one
    source may have where all are alike, None where that is not known. SE² = (n - 1)/n
    sum (v_s - mean v_s)² over the n sources that count. `varied` is the number of
    sources with two different ratings, where sources without them count as well but say
    nothing of an order: t then has min(varied, (sum m)² / sum m²) - 1 degrees of
    freedom, and fewer than FEWEST_SOURCES varied sources have no interval
    (docs/methods.md, "Agreement"). ValueError for rows that do not fit the sizes.

    Of a proportion p = sum hits / sum cases, with k the sources that have cases, A all
    cases and e_s = hits_s - p cases_s: v = k/(k - 1) sum e_s² / A², deff = max(1, v A /
    (p(1 - p))) and n_eff = A/deff (t_A-1 / t_k-1)², at most A; k where p is 0 or 1.
    Korn, Graubard 1998, "Confidence Intervals for Proportions with Small Expected
    Number of Positive Counts Estimated from Survey Data".

    >>> rows = np.append(5.5, (55 - np.arange(1, 11)) / 9)  # the mean of 1 to 10
    >>> known = jackknife(rows, np.ones(10), PLAIN, None)
    >>> round(known.error, 3), [round(end, 2) for end in known.interval()]
    (0.957, [3.33, 7.67])
    """
    if rows.size != 1 + sizes.size:
        raise ValueError(
            f"{rows.size} rows are not one value and {sizes.size} deletions"
        )
    used = sizes > 0
    n = int(used.sum())
    m = sizes[used]
    value = float(rows[0])
    deleted = rows[1:][used]
    if reason := _refused(scale, n, m, deleted, used):
        return reason
    if varied is not None and varied < FEWEST_SOURCES:
        return f"{NO_INTERVAL}: {varied} sources have two different ratings"
    evidence = None
    if varied is not None:
        effective = min(float(varied), _effective_sources(m))
        if effective < n:
            evidence = effective
    least = min(value, deleted.min())
    greatest = max(value, deleted.max())
    inside = bool(scale.low + TOLERANCE < least and greatest < scale.high - TOLERANCE)
    if scale.kind == "binomial" or (scale.kind == "logit" and not inside):
        total = float(m.sum())
        p = min(1.0, max(0.0, value))
        residuals = (value - deleted) * (total - m)  # e_s
        return Jackknife(p, scale, n, 0.0, effective_cases(p, residuals, total))
    if np.ptp(deleted) <= TOLERANCE * max(1.0, abs(value)):
        low, high = ends or (scale.ends if scale.kind == "plain" else PLAIN.ends)
        alike = n if varied is None else min(n, varied)
        return Jackknife(value, IntervalScale("plain", low, high), alike, 0.0)
    used_scale = scale if inside else scale._replace(kind="plain")
    moved = _to(used_scale, deleted)
    squares = float(np.sum(np.square(moved - moved.mean())))
    error = math.sqrt((n - 1) / n * squares)
    return Jackknife(value, used_scale, n, error, evidence=evidence)


def _effective_sources(m: Floats) -> float:
    """(Σm)² / Σm²: how many equal sources are as even as sources of m targets."""
    return float(m.sum()) ** 2 / float(np.sum(np.square(m)))


def effective_cases(p: float, residuals: Floats, total: float) -> float:
    """n_eff of a proportion p of `total` cases from e_s of `jackknife`, (sources,).

    With p of 0 or 1, one source or one case, the lesser of sources and cases.

    >>> effective_cases(0.5, np.array([0.5, 0.5, -0.5, -0.5]), 4)
    3.0
    """
    k = residuals.size
    if p in (0.0, 1.0) or k < 2 or total <= 1:
        return float(min(k, total))
    squares = float(np.sum(np.square(residuals)))
    variance = k / (k - 1) * squares / total**2
    deff = max(1.0, variance * total / (p * (1 - p)))
    correction = (t_quantile(total - 1) / t_quantile(k - 1)) ** 2
    return min(total, total / deff * correction)


def _refused(
    scale: IntervalScale, n: int, m: Floats, deleted: Floats, used: Flags
) -> str:
    """Why there is no interval, "" where there may be one."""
    if scale.kind == "rough":
        return f"{NO_INTERVAL}: a minimum, rank or mode is not smooth"
    if n == 0:
        return TOO_FEW
    if n < (FEWEST_CLUSTERS if scale.kind == "binomial" else FEWEST_SOURCES):
        return f"{NO_INTERVAL}: {n} sources"
    lost = np.flatnonzero(used)[~np.isfinite(deleted)]
    if lost.size:
        more = f" and {lost.size - 1} more" if lost.size > 1 else ""
        return f"{ONE_SOURCE_DECIDES}{lost[0]}{more}"
    even = _effective_sources(m)
    if scale.kind != "binomial" and even < LEAST_EVEN:
        return (
            f"{NO_INTERVAL}: {n} sources count as {even:.1f}, because a few have "
            "most of the texts"
        )
    return ""


def _to(scale: IntervalScale, values: Floats | float) -> Floats:
    with np.errstate(divide="ignore"):
        if scale.kind == "atanh":
            return np.asarray(np.arctanh(values))
        if scale.kind == "logit":
            return np.asarray(np.log(values) - np.log1p(-np.asarray(values)))
    return np.asarray(values, dtype=np.float64)


def _back(scale: IntervalScale, value: float) -> float:
    if scale.kind == "atanh":
        return math.tanh(value)
    if scale.kind == "logit":
        if value > -700:
            return 1 / (1 + math.exp(-value))
        return 0.0
    return value


# --- p-values for many tests ----------------------------------------------------------


def holm(p: ArrayLike, *, log: bool = False) -> Floats:
    """max over j <= i of (m - j + 1) p_(j), at most 1, in the order and shape of p.

    All of p is one family; with `log`, p and the result are ln p. NaN (no test was
    made) stays NaN and does not count in m; ValueError outside [0, 1]. Holm 1979.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """

    def raised(ascending: Floats, ranks: Codes) -> Floats:
        return np.maximum.accumulate(_times(ascending, ranks[::-1], log))

    return _adjusted(p, raised, log=log)


def benjamini_hochberg(p: ArrayLike, *, log: bool = False) -> Floats:
    """min over j >= i of (m / j) p_(j), at most 1, in the order and shape of p.

    Arguments and NaN as in `holm`. Benjamini and Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """

    def raised(ascending: Floats, ranks: Codes) -> Floats:
        times = ranks.size / ranks
        return _least_from_the_right(_times(ascending, times, log))

    return _adjusted(p, raised, log=log)


def benjamini_yekutieli(p: ArrayLike, *, log: bool = False) -> Floats:
    """min over j >= i of (m c / j) p_(j), c = 1 + 1/2 + … + 1/m, at most 1.

    Arguments and NaN as in `holm`. Benjamini and Yekutieli 2001.

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(3).tolist()
    [0.055, 0.073, 0.073]
    """

    def raised(ascending: Floats, ranks: Codes) -> Floats:
        times = np.sum(1 / ranks) * ranks.size / ranks
        return _least_from_the_right(_times(ascending, times, log))

    return _adjusted(p, raised, log=log)


def _times(p: Floats, factors: NDArray[Any], log: bool) -> Floats:
    """p times factors, both (m,); with `log`, of ln p: logarithms would round p."""
    return np.asarray(p + np.log(factors) if log else p * factors)


def _least_from_the_right(values: Floats) -> Floats:
    least: Floats = np.minimum.accumulate(values[::-1])[::-1]
    return least


def _adjusted(
    p: ArrayLike, raised: Callable[[Floats, Codes], Floats], *, log: bool
) -> Floats:
    """p in its own order, after a correction of sorted values and their ranks."""
    values = np.array(p, np.float64)
    highest = 0.0 if log else 1.0
    if np.any(values > highest) or (not log and np.any(values < 0)):
        what = "ln p" if log else "p"
        raise ValueError(f"no {what}: {np.nanmin(values)}..{np.nanmax(values)}")
    tested = ~np.isnan(values)
    order = np.argsort(values[tested], kind="stable")
    ascending = values[tested][order]
    corrected = raised(ascending, np.arange(1, order.size + 1))
    restored = np.empty_like(ascending)
    restored[order] = np.minimum(corrected, highest)
    values[tested] = restored
    return values
