"""Pearson, Spearman and Kendall tau-b between a judge and people, at three levels."""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import Codes, Floats, Weights, dot
from judgescope.statistics.coefficients import (
    Statistic,
    centred,
    counted,
    over_rows,
    signs,
    within_rows,
)
from judgescope.statistics.declared import correlation, declare, scale_of
from judgescope.statistics.resampling import (
    Replicated,
    mean_rows,
    replicated,
    sizes_of,
    whole_and_resamples,
    with_interval,
)
from judgescope.statistics.result import (
    CONSTANT_JUDGE,
    CONSTANT_RATINGS,
    FEW_PAIRS,
    FEW_SYSTEMS,
    NO_SOURCE,
    Estimate,
)

DECLARED: Final = declare(
    correlation("pearson", "Pearson r", "linear correlation", "Pearson 1895"),
    correlation("spearman", "Spearman ρ", "correlation of ranks", "Spearman 1904", ties="midranks"),
    correlation(
        "kendall_b",
        "Kendall τ-b",
        "pairs in the same order, ties counted",
        "Kendall 1945",
        ties="tau-b",
    ),
)


Level = Literal["pooled", "by_source", "by_system"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
LEVELS: tuple[Level, ...] = get_args(Level)

FEWEST_SYSTEMS = 3
SAME_MEAN = 1e-9
"""System means nearer than this (as a share of the largest deviation in the data) are tied:
round-off must not break a tie."""

Found = dict[Statistic, Replicated]


class _Pairs(NamedTuple):
    """The targets that have both values; all (pairs,). `planned` counts the sources asked for."""

    x: Floats
    y: Floats
    source: Codes
    system: Codes
    planned: int
    n_missing: int


def correlations(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    weights: Weights,
    statistics: Collection[Statistic] = STATISTICS,
    levels: Collection[Level] = LEVELS,
) -> Mapping[tuple[Statistic, Level], Replicated]:
    """Return the correlations of a judge's scores x with people's ratings y, and their replicates.

    x, y (targets,), NaN = missing: a target without both counts in `n_missing`. source and system
    (targets,) are codes from 0; weights (sources, sources) are `deletions`, None gives no interval
    (a bootstrap's give rows alone). Range [-1, 1]. Level `pooled`: over all targets (n: targets).
    `by_source`: mean over sources of the value within each (n: sources with a value; the note
    counts the others and gives the mean with zeros in their place). `by_system`: over systems, of
    their mean scores (n: systems, at least 3). `n_tied` counts the targets whose x is shared with
    another target of the group used: all targets, the same source (of those with a value), or the
    system means.
    Undefined where the judge or the ratings are constant or fewer than 2 pairs exist. ValueError
    for arrays of unequal length or infinite values. Ties are exact equality of the values given.
    Kendall 1945 (tau-b); (Kartáč et al. 2025), meta-evaluation at three levels.
    """
    pairs = _complete(x, y, source, system)
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}
    return {
        (statistic, level): result
        for level in levels
        for statistic, result in at_level[level](pairs, statistics, weights).items()
    }


def _complete(x: Floats, y: Floats, source: Codes, system: Codes) -> _Pairs:
    if not x.shape == y.shape == source.shape == system.shape:
        raise ValueError(f"lengths differ: {x.shape} {y.shape} {source.shape} {system.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite score or rating: a missing value is NaN")
    complete = ~(np.isnan(x) | np.isnan(y))
    planned, missing = np.unique(source).size, int(np.sum(~complete))
    return _Pairs(x[complete], y[complete], source[complete], system[complete], planned, missing)


def _why(x: Floats, y: Floats, slack: float = 0.0) -> str:
    """Return why x and y have no correlation, or "" where they have one."""
    if x.size < 2:
        return FEW_PAIRS
    if np.ptp(x) <= slack:
        return CONSTANT_JUDGE
    return CONSTANT_RATINGS if np.ptp(y) <= slack else ""


def _undefined(statistics: Collection[Statistic], nothing: Estimate, weights: Weights) -> Found:
    rows = np.full(1 + (0 if weights is None else len(weights)), np.nan)
    return {statistic: Replicated(nothing, rows) for statistic in statistics}


def _pooled(pairs: _Pairs, statistics: Collection[Statistic], weights: Weights) -> Found:
    why, missing = _why(pairs.x, pairs.y), pairs.n_missing
    if why:
        nothing = Estimate.undefined(why, n=pairs.x.size, n_missing=missing)
        return _undefined(statistics, nothing, weights)
    used, source = np.unique(pairs.source, return_inverse=True)
    whole = whole_and_resamples(pairs.source, weights)
    values = over_rows(pairs.x, pairs.y, source, whole[:, used], statistics)
    tied = _shared(pairs.x)
    return {
        statistic: replicated(
            values[statistic],
            why,
            sizes=sizes_of(pairs.source, whole),
            scale=scale_of(statistic),
            n=pairs.x.size,
            n_missing=missing,
            n_tied=tied,
        )
        for statistic in statistics
    }


def _by_source(pairs: _Pairs, statistics: Collection[Statistic], weights: Weights) -> Found:
    why, missing = _why(pairs.x, pairs.y), pairs.n_missing
    if why:
        return _undefined(statistics, Estimate.undefined(why, n_missing=missing), weights)
    n_sources = whole_and_resamples(pairs.source, weights).shape[1]
    x, y = (one_row_per_source(v, pairs.source, n_sources) for v in (pairs.x, pairs.y))
    each = within_rows(x, y, statistics)
    group = pairs.source * pairs.x.size + np.unique(pairs.x, return_inverse=True)[1]
    return {
        statistic: _mean_over_sources(statistic, each[statistic], pairs, group, weights)
        for statistic in statistics
    }


def _mean_over_sources(
    statistic: Statistic, values: Floats, pairs: _Pairs, group: Codes, weights: Weights
) -> Replicated:
    defined = ~np.isnan(values)
    n = int(defined.sum())
    rows = mean_rows(values, weights)
    if n == 0:
        return Replicated(Estimate.undefined(NO_SOURCE, n_missing=pairs.n_missing), rows)
    tied = _shared(group[defined[pairs.source]])
    result = Estimate(float(values[defined].mean()), n=n, n_missing=pairs.n_missing, n_tied=tied)
    scale = scale_of(statistic)
    mean = with_interval(Replicated(result, rows, defined.astype(np.float64), scale, scale.ends))
    if n < pairs.planned:
        zeros = f"zero-filled {values[defined].sum() / pairs.planned:.3f}"
        lacking = f"{pairs.planned - n} of {pairs.planned} sources undefined, {zeros}"
        mean = mean._replace(estimate=mean.estimate.with_note(lacking))
    return mean


def _by_system(pairs: _Pairs, statistics: Collection[Statistic], weights: Weights) -> Found:
    systems, system = np.unique(pairs.system, return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        few = Estimate.undefined(FEW_SYSTEMS, n=systems.size, n_missing=pairs.n_missing)
        return _undefined(statistics, few, weights)
    rows = whole_and_resamples(pairs.source, weights)
    x, y = (_system_means(centred(v), pairs.source, system, rows) for v in (pairs.x, pairs.y))
    values = within_rows(x, y, statistics, SAME_MEAN)
    few_systems = np.sum(~np.isnan(x), axis=1) < FEWEST_SYSTEMS
    shared = int(np.sum(np.sum(signs(x[0, :, None], x[0], SAME_MEAN) == 0, axis=1) > 1))
    return {
        statistic: replicated(
            np.where(few_systems, np.nan, values[statistic]),
            _why(x[0], y[0], SAME_MEAN),
            sizes=sizes_of(pairs.source, rows),
            scale=scale_of(statistic),
            n=systems.size,
            n_missing=pairs.n_missing,
            n_tied=shared,
        )
        for statistic in statistics
    }


def _shared(values: NDArray[Any]) -> int:
    """Return how many values occur more than once, counting every occurrence."""
    counts = np.unique(values, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def one_row_per_source(values: Floats, source: Codes, n_sources: int) -> Floats:
    """Return (sources, most targets of a source), filled from the left, NaN where there is none."""
    counts = np.bincount(source, minlength=n_sources)
    order = np.argsort(source, kind="stable")
    place = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.full((n_sources, int(counts.max(initial=0))), np.nan)
    rows[source[order], place] = values[order]
    return rows


def _system_means(values: Floats, source: Codes, system: Codes, rows: Floats) -> Floats:
    """Return the mean of each system in each resample, (rows, systems), NaN without a target."""
    shape = (rows.shape[1], int(system.max()) + 1)
    with np.errstate(invalid="ignore"):
        sums = dot(rows, counted(source, system, shape, values))
        return sums / dot(rows, counted(source, system, shape))
