"""Numbers that claims rest on: a value, that without each source, and the tests of both."""

from dataclasses import dataclass, replace
from math import nan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.jackknife import PLAIN, SLACK, Bounds, Jackknife, Scale, jackknife
from judgescope.statistics.raters import decided
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

Floats = NDArray[np.float64]
DIFFERENCE: Final = Scale("plain", -2.0, 2.0)
"""Of the difference of two correlations."""
GAP: Final = Scale("plain", -1.0, 1.0)
"""Of the difference of two shares."""


@dataclass(frozen=True, eq=False)
class Number:
    """An estimate with its interval, its deletions and what they test.

    rows (1 + sources,): the value, then that without each source; sizes (sources,): 0 where a
    source cannot change it.
    """

    estimate: Estimate
    rows: Floats
    sizes: Floats
    jackknifed: Jackknife | str

    def p_above(self, null: float) -> float:
        """Return the one-sided p of a truth above the null, NaN where deletions say nothing.

        One half where every source has the null's value: that speaks for neither side.
        """
        found = self.jackknifed
        if isinstance(found, str):
            return nan
        if found.error == 0 and found.proportion is None and abs(found.value - null) <= SLACK:
            return 0.5
        return found.p_above(null)

    @property
    def replicated(self) -> Replicated:
        """Return the same for functions that combine numbers."""
        return Replicated(self.estimate, self.rows, self.sizes, PLAIN)

    def less(self, other: "Number", scale: Scale = PLAIN) -> "Number":
        """Return the paired difference; both delete the same sources."""
        sizes = np.minimum(self.sizes, other.sizes)
        n = self.estimate.n
        return number(self.rows - other.rows, sizes, scale, n=n)


def number(
    rows: Floats,
    sizes: Floats,
    scale: Scale,
    *,
    n: int,
    n_missing: int = 0,
    n_tied: int = 0,
    method: str = "",
    why: str = "undefined",
    ends: Bounds | None = None,
) -> Number:
    """Return the number whose value is rows[0]; `why` is the reason where that is NaN.

    `ends` bound what one source may have, by default what `scale` allows.
    """
    if np.isnan(rows[0]):
        nothing = Estimate.undefined(why, n=n, n_missing=n_missing, method=method)
        return Number(nothing, rows, sizes, why)
    found = jackknife(rows, np.asarray(sizes, float), scale, ends or scale.ends)
    told = Estimate(float(rows[0]), n=n, n_missing=n_missing, n_tied=n_tied, method=method)
    if isinstance(found, str):
        return Number(told.with_note(found), rows, sizes, found)
    lo, hi = found.interval()
    how = "; ".join(filter(None, [method, f"{found.how} over {found.sources} sources"]))
    return Number(replace(told, lo=lo, hi=hi, method=how), rows, sizes, found)


def compared_with_raters(gap: Replicated, margin: float) -> tuple[Estimate, float]:
    """Return a difference from one more rater, noted with what it says, and p of being worse."""
    p = gap.p_above(-margin)
    return gap.estimate.with_note(decided(gap, margin)), nan if p is None else p


def mean_of_sources(
    values: Floats,
    scale: Scale,
    *,
    n_missing: int = 0,
    n_tied: int = 0,
    method: str = "",
    why: str = "",
) -> Number:
    """Return the mean of one value per source, (sources,), NaN where there is none."""
    used = ~np.isnan(values)
    n, total = int(used.sum()), float(values[used].sum())
    rows = np.full(1 + values.size, nan)
    if n:
        rows[:] = total / n
    if n > 1:
        rows[1:][used] = (total - values[used]) / (n - 1)
    return number(
        rows,
        used.astype(float),
        scale,
        n=n,
        n_missing=n_missing,
        n_tied=n_tied,
        method=method,
        why=why,
    )
