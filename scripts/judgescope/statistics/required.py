"""Whether a statistic meets a bar that a study states, and how much more data would tell."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from judgescope.statistics.proportion import cases_needed, clopper_pearson
from judgescope.statistics.registry import statistic
from judgescope.statistics.result import Estimate
from judgescope.statistics.verdict import Outcome

MOST: Final = 10_000
"""Larger numbers are "more than 10,000": the bar is too near to the estimate to plan for."""
Z_INTERVAL, Z_POWER = 1.959964, 0.841621
"""Normal quantiles of .975 and .8."""
STEPS: Final = 60


def on_bar(found: Estimate, bar: float, *, most: bool = False) -> Outcome:
    """Return whether an estimate meets a bar: lo >= bar meets, hi < bar misses, else unknown.

    `most`: the bar is the most that is allowed: hi <= bar meets, lo > bar misses. Without an
    interval nobody can tell; without a value there is no claim.
    """
    if found.value is None:
        return Outcome.NO_CLAIM
    if found.lo is None or found.hi is None:
        return Outcome.CANNOT_TELL
    lo, hi, bar = (-found.hi, -found.lo, -bar) if most else (found.lo, found.hi, bar)
    if lo >= bar:
        return Outcome.MEETS
    return Outcome.MISSES if hi < bar else Outcome.CANNOT_TELL


@dataclass(frozen=True)
class Need:
    """How many more units would decide on a bar; None: more than MOST. `how` says which units."""

    more: int | None
    how: str


def is_proportion(name: str) -> bool:
    """Return whether a statistic is a share of cases that are right or wrong."""
    return statistic(name).scale.kind == "binomial" or name.startswith("accuracy_")


def more_needed(name: str, found: Estimate, bar: float, sources: int) -> Need | None:
    """Return how much more data decides on a bar with power .8, if the truth is the estimate.

    For shares: the least m such that m cases and any more put the lower end of Clopper-Pearson on
    the right side of the bar, times the design effect n / n_eff, less those there. For others, by
    the rule that errors fall with the root of the number of sources: k ((1.96 + .84) SE / |v -
    bar|)² sources, SE from the side of the interval that faces the bar. None without an interval.
    """
    if found.value is None or found.lo is None or found.hi is None:
        return None
    if is_proportion(name) and 0 < bar < 1:
        return _cases(found, bar)
    gap = abs(found.value - bar)
    side = found.value - found.lo if found.value >= bar else found.hi - found.value
    how = "sources like these, if errors fall with the root of their number"
    ratio = (1 + Z_POWER / Z_INTERVAL) * side / gap if gap > 0 else float("inf")
    total = sources * ratio**2
    more = None if total > MOST else max(1, ceil(total - sources))
    return Need(more, how)


def _cases(found: Estimate, bar: float) -> Need:
    assert found.value is not None
    above = found.value >= bar
    needed = cases_needed(*((found.value, bar) if above else (1 - found.value, 1 - bar)))
    how = "cases like these, by exact binomial limits"
    if needed is None:
        return Need(None, how)
    total = needed * max(1.0, found.n / effective_cases(found))
    return Need(None if total > MOST else max(1, ceil(total - found.n)), how)


def effective_cases(found: Estimate) -> float:
    """Return the n at which Clopper-Pearson has the estimate's own interval's width.

    At most found.n, at least 1; by halving, as the width falls with n.
    """
    assert found.value is not None and found.lo is not None and found.hi is not None
    low, high = 1.0, max(1.0, float(found.n))
    for _ in range(STEPS):
        middle = (low + high) / 2
        lo, hi = clopper_pearson(found.value, middle)
        if hi - lo > found.hi - found.lo:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def has_bar(name: str) -> bool:
    """Return whether a bar can be stated for a name of the registry: not for p-values."""
    try:
        return statistic(name).kind != "p_value"
    except KeyError:
        return False
