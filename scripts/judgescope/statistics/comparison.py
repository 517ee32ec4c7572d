"""Comparisons of judges: differences, groups, ranks, and the least difference that would show."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from judgescope.statistics.arrays import Flags, Floats
from judgescope.statistics.coefficients import midranks
from judgescope.statistics.declared import amount, declare, signed_amount
from judgescope.statistics.jackknife import PLAIN
from judgescope.statistics.proportion import CONFIDENCE
from judgescope.statistics.resampling import Replicated, with_interval, with_percentiles
from judgescope.statistics.result import UNDEFINED_JUDGE, Estimate

DECLARED: Final = declare(
    amount(
        "rank",
        "Rank by {}",
        "1 is the best; judges sharing a letter do not differ significantly",
        "Piepho 2004 (letters)",
        range="1 and above",
        less_is_better=True,
    ),
    signed_amount(
        "difference",
        "Difference of {}",
        "first judge or wording minus the second, on shared targets",
        keeps_kind=True,
    ),
    amount(
        "detectable",
        "Detectable difference of {}",
        "smallest true difference detected with power .8",
        keeps_kind=True,
    ),
    amount("sources_needed", "Sources needed for {}", "to detect the requested difference"),
)


POWER: Final = 0.8
NOT_SMOOTH: Final = "a rank is not smooth"
"""Why a rank's interval is a bootstrap's."""


def difference(first: Replicated, second: Replicated, *, why: str = UNDEFINED_JUDGE) -> Replicated:
    """Return the first value minus the second, plain, with its interval of the paired deletions.

    Each deletes a source from both, so what they share cancels. `n` is the smaller of both,
    `n_missing` the larger. Undefined, with the note `why`, where one of them is.
    """
    a, b = first.estimate, second.estimate
    n, missing = min(a.n, b.n), max(a.n_missing, b.n_missing)
    if a.value is None or b.value is None:
        return Replicated(Estimate.undefined(why, n=n, n_missing=missing), first.rows * np.nan)
    result = Estimate(a.value - b.value, n=n, n_missing=missing)
    rough = next((each.scale for each in (first, second) if each.scale.kind == "rough"), PLAIN)
    sizes = np.maximum(first.sizes, second.sizes)
    return with_interval(Replicated(result, first.rows - second.rows, sizes, rough))


def letters(order: Sequence[int], different: Flags) -> list[str]:
    """Return a letter display: judges that share a letter are not shown to differ.

    order: the judges, best first; different (judges, judges): which pairs differ significantly.
    Insert and absorb: a pair that differs splits every group that holds both, and a group within
    another is dropped. Letters go from the best group on. Shape (judges,), by judge; a judge that
    is not in `order` has none. Piepho 2004, "An Algorithm for a Letter-Based Representation of
    All-Pairwise Comparisons".
    """
    groups = [frozenset(order)] if len(order) else []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            if different[i, j]:
                split = [g - {out} for g in groups if {i, j} <= g for out in (i, j)]
                groups = [g for g in groups if not {i, j} <= g] + split
                groups = [
                    g
                    for at, g in enumerate(groups)
                    if not any(g < h or (g == h and k < at) for k, h in enumerate(groups))
                ]
    rank = {judge: place for place, judge in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[judge] for judge in group))
    result = [""] * len(different)
    for at, group in enumerate(groups):
        for judge in group:
            result[judge] += letter(at)
    return result


def letter(number: int) -> str:
    """Return a, b, …, z, then (aa), (ab), …: each a letter of its own."""
    if number < 26:
        return chr(ord("a") + number)
    return f"({letter(number // 26 - 1)}{chr(ord('a') + number % 26)})"


def ranks(rows: Floats, n_sources: int) -> list[Estimate]:
    """Return each judge's rank, 1 the best, and the interval of its rank over the resamples.

    rows (judges, 1 + resamples), the values and bootstrap replicates (`source_weights`) of one
    statistic, higher being better: a rank has no jackknife, as it jumps.
    Equal values share the mean of their ranks; undefined ones rank behind all others, and a judge
    that is undefined has none. An end of the interval is a rank that some resample has. `n` counts
    the judges that are ranked.
    """
    defined = ~np.isnan(rows[:, 0])
    n = int(defined.sum())
    placed = midranks(-np.where(np.isnan(rows[defined]), -np.inf, rows[defined]).T).T
    estimates = [Estimate.undefined(UNDEFINED_JUDGE, n=n)] * len(rows)
    for judge, places in zip(np.flatnonzero(defined), placed, strict=True):
        rank = Estimate(float(places[0]), n=n)
        if places.size > 1:
            rank = with_percentiles(rank, places[1:], n_sources, NOT_SMOOTH, between=False)
        estimates[judge] = rank
    return estimates


def detectable(first: Replicated, second: Replicated) -> float | None:
    """Return the least true difference that a two-sided test at .05 would show with power .8.

    (z_.975 + z_.8) SE, of the jackknife of the difference: the estimate's error is taken as normal
    and no larger where the true difference is another. None without an interval.
    """
    from scipy.special import ndtri  # here only: what merely asks or parses imports no scipy

    result = difference(first, second).jackknifed
    if isinstance(result, str):
        return None
    return float((ndtri((1 + CONFIDENCE) / 2) + ndtri(POWER)) * result.error)


def sources_needed(n_sources: int, detectable: float, wished: float) -> int:
    """Return how many sources would make the detectable difference `wished`: n (d / wished)².

    The error falls with the root of the number of sources, of the kind that are there; rounded up.
    ValueError for a wish that is not above 0.
    """
    if wished <= 0:
        raise ValueError(f"the requested difference must be above 0, not {wished}")
    return math.ceil(n_sources * (detectable / wished) ** 2 - 1e-9)
