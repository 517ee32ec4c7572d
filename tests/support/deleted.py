"""An independent jackknife-t: values of data from which one source was really
deleted.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

MOVES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "plain": (lambda v: v, lambda v: v),
    "atanh": (math.atanh, math.tanh),
    "logit": (lambda v: math.log(v / (1 - v)), lambda v: 1 / (1 + math.exp(-v))),
}


def jackknife_t(
    value: float,
    deleted: Sequence[float],
    kind: str = "plain",
    ends: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Return v ± t(n - 1) SE on a scale, cut; SE² = (n - 1)/n sum (v_s - mean v_s)²."""
    present, back = MOVES[kind]
    moved = [present(float(v)) for v in deleted]
    n, centre = len(moved), math.fsum(moved) / len(moved)
    error = math.sqrt((n - 1) / n * math.fsum((v - centre) ** 2 for v in moved))
    half = float(stats.t.ppf(0.975, n - 1)) * error
    lo, hi = (back(present(value) + sign * half) for sign in (-1, 1))
    return max(lo, ends[0]), min(hi, ends[1])


def proportion(hits: Sequence[float], cases: Sequence[float]) -> tuple[float, float]:
    """Return Clopper-Pearson at the effective cases of Korn and Graubard, by scipy's
    beta.
    """
    collected = [
        (float(h), float(c)) for h, c in zip(hits, cases, strict=True) if c > 0
    ]
    k, total = len(collected), sum(c for _, c in collected)
    p = sum(h for h, _ in collected) / total
    if p in (0, 1):
        n = float(k)
    else:
        squares = math.fsum((h - p * c) ** 2 for h, c in collected)
        deff = max(1.0, k / (k - 1) * squares / total / (p * (1 - p)))
        shrunk = (stats.t.ppf(0.975, total - 1) / stats.t.ppf(0.975, k - 1)) ** 2
        n = min(total, total / deff * float(shrunk))
    lo = float(stats.beta.ppf(0.025, p * n, n - p * n + 1)) if p > 0 else 0.0
    hi = float(stats.beta.ppf(0.975, p * n + 1, n - p * n)) if p < 1 else 1.0
    return lo, hi


def by_source(values: np.ndarray, source: np.ndarray, n: int) -> list[float]:
    """Return the sum of values of each of n sources."""
    return [float(values[source == s].sum()) for s in range(n)]
