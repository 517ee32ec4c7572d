"""Replicates: sources deleted one at a time, for intervals and tests, or resampled, for
ranks.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics import intervals
from judgescope.statistics.arrays import (
    Codes,
    Flags,
    Floats,
    blocks,
    quotient,
)
from judgescope.statistics.intervals import (
    PLAIN,
    TOLERANCE,
    Bounds,
    IntervalScale,
    Jackknife,
)
from judgescope.statistics.registry import scale_of
from judgescope.statistics.result import Estimate, clauses
from judgescope.statistics.source_rows import (
    DENSE_CELLS,
    DeletedRows,
    Deletions,
    DrawnRows,
    SourceRows,
    Weights,
)

RESAMPLES = 1000
NO_WIDTH: Final = "no width"
"""Begins the note of an interval whose ends are equal: no deletion shows another
value."""
NO_SIZES: Final = np.empty(0)


def source_weights(
    rng: np.random.Generator, n_sources: int, resamples: int = RESAMPLES
) -> NDArray[np.uint16]:
    """w[b, s] = how often source s is drawn in resample b; each row sums to
    n_sources.

    Drawing n sources with replacement is one multinomial draw of their counts (Efron
    1979). Shape (resamples, n_sources). Counts take 16 bits: 65,535 draws of one of n
    sources do not happen.

    >>> source_weights(np.random.default_rng(1), 3, resamples=2).sum(axis=1).tolist()
    [3, 3]
    """
    weights = np.empty((resamples, n_sources), np.uint16)
    chance = np.full(n_sources, 1 / n_sources)
    # One row at a time: numpy draws 64-bit counts.
    for row in weights:
        row[:] = rng.multinomial(n_sources, chance)
    return weights


def whole_and_resamples(source: Codes, weights: Weights) -> SourceRows:
    """The data as they are, then every row of weights; all data alone without them.

    A statistic of these rows gives its value and its replicates by the same arithmetic.
    source (targets,): ValueError for a code that has no column.

    >>> rows = whole_and_resamples(np.array([0, 1]), Deletions(2))
    >>> rows.block(slice(None)).tolist()
    [[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    """
    n_sources = int(source.max(initial=-1)) + 1 if weights is None else weights.shape[1]
    if source.size and not 0 <= source.min() <= source.max() < n_sources:
        raise ValueError(f"source code {source.max()} is outside 0..{n_sources - 1}")
    if weights is None:
        return DeletedRows(np.empty(0, np.int64), n_sources)
    if isinstance(weights, Deletions):
        return DeletedRows(np.arange(n_sources), n_sources)
    return DrawnRows.after_whole(weights)


def percentile_interval(replicates: Floats, *, between: bool = True) -> Bounds | None:
    """The 2.5 % and 97.5 % quantiles of the defined replicates, or None without
    any.

    Replicates that are NaN (the statistic is undefined in that resample) are left out.
    Without `between` the ends are replicates themselves, the least with so many at or
    below (inverted CDF): for ranks, of which there is none between two.

    >>> low, high = percentile_interval(np.arange(101.0))
    >>> round(low, 6), round(high, 6)
    (2.5, 97.5)
    """
    defined = replicates[np.isfinite(replicates)]
    if defined.size == 0:
        return None
    tail = (1 - intervals.CONFIDENCE) / 2
    how: Literal["linear", "inverted_cdf"] = "linear" if between else "inverted_cdf"
    lo, hi = np.quantile(defined, [tail, 1 - tail], method=how)
    return float(lo), float(hi)


class Replicated(NamedTuple):
    """An estimate, its value again and that without each source, (1 + sources,), or
    (1,).

    Rows of two judges of one dataset delete the same sources, so that the interval of
    their difference is that of the differences, row by row. sizes (sources,): how many
    targets of each source the value rests on, 0 where its deletion cannot change it.
    `scale` is that of its interval and tests; `ends` bound what one source may have,
    None where that is not known; `varied` counts the sources with two different
    ratings where others count as well (see `intervals.jackknife`). Of weights that are
    not deletions (a bootstrap's) there are rows alone, for ranks.
    """

    estimate: Estimate
    rows: Floats
    sizes: Floats = NO_SIZES
    scale: IntervalScale = PLAIN
    ends: Bounds | None = None
    varied: int | None = None

    def with_note(self, note: str) -> Self:
        """The same with `note` appended to the estimate's."""
        return self._replace(estimate=self.estimate.with_note(note))

    def with_method(self, method: str) -> Self:
        """The same with `method` before the estimate's own."""
        return self._replace(estimate=self.estimate.with_method(method))

    @property
    def jackknifed(self) -> Jackknife | str:
        """The jackknife of the value, or why there is none."""
        if self.estimate.value is None:
            return self.estimate.note
        if self.rows.size < 2 or self.rows.size != 1 + self.sizes.size:
            return "no source was deleted"
        return intervals.jackknife(
            self.rows, self.sizes, self.scale, self.ends, self.varied
        )

    def p_above(self, null: float) -> float | None:
        """The one-sided p-value of a truth above `null`, None where there is no
        interval.

        At most .025 where, and only where, the interval's lower end is at or above the
        null.
        """
        result = self.jackknifed
        if isinstance(result, str):
            return None
        return result.p_above(null)

    def p_two_sided(self, null: float) -> float | None:
        """The two-sided p-value of a truth other than `null`, None where there is no
        interval; 1 where the interval holds the null, so that both say the same.
        """
        low = self.estimate.ci_low
        high = self.estimate.ci_high
        p = self.p_above(null)
        if low is None or high is None or p is None:
            return None
        if low <= null <= high:
            return 1.0
        return 2 * min(p, 1 - p)


def replicated(
    rows: Floats,
    why_undefined: str,
    *,
    sizes: Floats | Codes,
    scale: IntervalScale,
    n: int,
    n_missing: int = 0,
    n_tied: int = 0,
    ends: Bounds | None = None,
    varied: int | None = None,
    method: str = "",
) -> Replicated:
    """The estimate whose value is rows[0], with the interval of its deletions
    rows[1:].

    A NaN value is undefined with the note `why_undefined`; without deletions there is
    no interval. sizes, scale, ends and varied as in `Replicated`.

    >>> replicated(np.array([np.nan]), "why", sizes=[], scale=PLAIN, n=0).estimate.note
    'why'
    """
    rows = np.asarray(rows, np.float64)
    sizes = np.asarray(sizes, np.float64)
    if np.isnan(rows[0]):
        nothing = Estimate.undefined(
            why_undefined, n=n, n_missing=n_missing, method=method
        )
        return Replicated(nothing, rows, sizes, scale, ends, varied)
    result = Estimate(
        float(rows[0]), n=n, n_missing=n_missing, n_tied=n_tied, method=method
    )
    return with_interval(Replicated(result, rows, sizes, scale, ends, varied))


class TargetSample(NamedTuple):
    """The targets on which a statistic rests, and the weights of their sources.

    source (n,): each target's source; rows (1 + deletions, sources) as
    `whole_and_resamples` has them; `n_missing` targets are left out.
    """

    source: Codes
    rows: SourceRows
    n_missing: int

    @classmethod
    def select(cls, complete: Flags, source: Codes, weights: Weights) -> Self:
        """The targets that are complete: complete, source (targets,)."""
        sources = source[complete]
        return cls(
            sources, whole_and_resamples(sources, weights), complete.size - sources.size
        )

    def sums(self, *quantities: Floats) -> Floats:
        """The weighted sum of each quantity (n,) in each row: (quantities,
        rows).
        """
        n_sources = self.rows.shape[1]
        by_source = []
        for v in quantities:
            by_source.append(np.bincount(self.source, weights=v, minlength=n_sources))
        return self.rows.sums(np.stack(by_source, axis=1)).T

    def undefined(self, why: str, *, n: int | None = None) -> Replicated:
        """The undefined result; `n` counts the targets unless given."""
        if n is None:
            n = self.source.size
        nothing = Estimate.undefined(why, n=n, n_missing=self.n_missing)
        return Replicated(nothing, np.full(len(self.rows), np.nan))

    def result(
        self,
        name: str,
        values: Floats,
        why: str,
        *,
        n: int | None = None,
        n_tied: int = 0,
    ) -> Replicated:
        """Statistic `name` from its values (rows,); `n` counts the targets
        unless given.

        A NaN value is undefined with the note `why`.
        """
        return replicated(
            values,
            why,
            sizes=np.bincount(self.source, minlength=self.rows.shape[1]),
            scale=scale_of(name),
            n=self.source.size if n is None else n,
            n_missing=self.n_missing,
            n_tied=n_tied,
        )


def fewest_varied(results: Sequence[Replicated]) -> int | None:
    """The smallest number of sources with two ratings; None if all sources count.

    >>> one = Replicated(Estimate(0.5), np.array([0.5]), varied=7)
    >>> fewest_varied([one, one._replace(varied=5), one._replace(varied=None)])
    5
    """
    numbers = [each.varied for each in results if each.varied is not None]
    return min(numbers, default=None)


def with_interval(result: Replicated, units: str = "sources") -> Replicated:
    """An estimate with the interval of its deletions; `units` names what was
    deleted.

    `method` names the interval. Where there is none, `note` says why; where it has no
    width, too.

    >>> rows = np.append(5.5, (55 - np.arange(1, 11)) / 9)  # the mean of 1 to 10
    >>> result = with_interval(Replicated(Estimate(5.5), rows, np.ones(10))).estimate
    >>> round(result.ci_low, 2), round(result.ci_high, 2), result.method
    (3.33, 7.67, 'jackknife-t over 10 sources')
    """
    value = result.estimate
    if (
        value.value is None
        or result.rows.size < 2
        or result.rows.size != 1 + result.sizes.size
    ):
        return result
    known = result.jackknifed
    if isinstance(known, str):
        return result.with_note(known.replace(" sources", f" {units}"))
    lo, hi = known.interval()
    method = clauses(value.method, f"{known.how} over {known.sources} {units}")
    estimate = replace(value, ci_low=lo, ci_high=hi, method=method)
    if hi - lo <= TOLERANCE * max(1.0, abs(value.value)):
        estimate = estimate.with_note(
            f"{NO_WIDTH}: all {known.sources} {units} are equal"
        )
    return result._replace(estimate=estimate)


def with_percentiles(
    estimate: Estimate,
    replicates: Floats,
    n_sources: int,
    why: str,
    *,
    units: str = "sources",
    between: bool = True,
) -> Estimate:
    """The estimate with the percentile interval of bootstrap replicates
    (resamples,).

    For what has no jackknife, as `why` says in `method`. None below FEWEST_SOURCES
    units or without a defined replicate; `note` then says so, and it says so when over
    5 % of them are undefined or all are equal. `between` as in `percentile_interval`.

    >>> result = with_percentiles(Estimate(50.0), np.arange(101.0), 12, "a rank")
    >>> round(result.ci_low, 6), round(result.ci_high, 6)
    (2.5, 97.5)
    """
    if estimate.value is None:
        return estimate
    if n_sources < intervals.FEWEST_SOURCES:
        return estimate.with_note(f"no interval: {n_sources} {units}")
    bounds = percentile_interval(replicates, between=between)
    if bounds is None:
        return estimate.with_note("no interval: undefined in every resample")
    how = (
        f"bootstrap over {n_sources} {units}, {len(replicates)} resamples, "
        f"percentile: {why}"
    )
    method = clauses(estimate.method, how)
    result = replace(estimate, ci_low=bounds[0], ci_high=bounds[1], method=method)
    lost = 1 - np.isfinite(replicates).mean()
    if lost > 0.05:
        result = result.with_note(f"undefined in {lost:.0%} of the resamples")
    if bounds[1] - bounds[0] > TOLERANCE * max(1.0, abs(estimate.value)):
        return result
    share = float(np.mean(np.abs(replicates - bounds[0]) <= TOLERANCE))
    return result.with_note(
        f"{NO_WIDTH}: {share:.0%} of the resamples of {n_sources} {units} are equal"
    )


def mean_rows(values: Floats, rows: SourceRows) -> Floats:
    """sum w v / sum w over the values that are defined, for each row of weights
    w.

    values (sources,), NaN where undefined; rows (rows, sources). Shape (rows,), NaN
    without a defined value.

    >>> rows = DrawnRows(np.array([[1, 1, 1], [2, 0, 1]]))
    >>> mean_rows(np.array([1.0, 3.0, np.nan]), rows).tolist()
    [2.0, 1.0]
    """
    used = np.flatnonzero(~np.isnan(values))
    chosen = rows.columns(used)
    numbers = values[used]
    counts = chosen.sums(np.ones(used.size))
    if isinstance(chosen, DeletedRows):
        return quotient(chosen.sums(numbers), counts)
    # One order in all rows: ranks rest on which judges' means are equal to the bit.
    sums = []
    for part in blocks(len(rows), used.size, DENSE_CELLS):
        sums.append(np.einsum("rs,s->r", chosen.block(part), numbers))
    return quotient(np.concatenate(sums), counts)


def few_not_modal(ratings: Floats, source: Codes) -> str:
    """A warning where fewer than 10 sources hold a rating other than the most
    frequent.

    ratings, source (targets,), NaN = missing. "" where there are enough, or no rating
    at all.

    >>> few_not_modal(np.array([3.0, 3.0, 4.0]), np.array([0, 1, 2]))
    'warning: only 1 sources have a rating other than the most frequent, 3'
    """
    given = ~np.isnan(ratings)
    values, counts = np.unique(ratings[given], return_counts=True)
    if not values.size:
        return ""
    other = np.unique(source[given][ratings[given] != values[counts.argmax()]]).size
    if other >= 10:
        return ""
    modal = values[counts.argmax()]
    return (
        f"warning: only {other} sources have a rating other than the most frequent, "
        f"{modal:.4g}"
    )
