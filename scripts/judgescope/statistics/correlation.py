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
    spearman_leaving_out,
    within_rows,
)
from judgescope.statistics.declared import correlation, declare, scale_of
from judgescope.statistics.jackknife import deletions
from judgescope.statistics.resampling import (
    Replicated,
    Sample,
    mean_rows,
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

ORDER: Final = 1
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
    system: Codes
    sample: Sample
    planned: int


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
    pairs = _complete(x, y, source, system, weights)
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}
    return {
        (statistic, level): result
        for level in levels
        for statistic, result in at_level[level](pairs, statistics).items()
    }


def leaving_out(x: Floats, y: Floats, source: Codes, n_sources: int) -> tuple[Floats, str]:
    """Return pooled Spearman's rho and that without each source, and why it is undefined, or "".

    x, y, source (targets,), NaN = missing; shape (1 + n_sources,). The rows of `correlations` with
    the weights `deletions(n_sources)`, which are not made where no source has two targets.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    rows = np.full(1 + n_sources, np.nan)
    if why := _why(x[both], y[both]):
        return rows, why
    if np.bincount(source[both]).max() == 1:
        values = spearman_leaving_out(x[both], y[both])
        rows[:] = values[0]
        rows[1 + source[both]] = values[1:]
        return rows, ""
    result = correlations(
        x,
        y,
        source,
        np.zeros_like(source),
        weights=deletions(n_sources),
        statistics=["spearman"],
        levels=["pooled"],
    )["spearman", "pooled"]
    return result.rows, ""


def _complete(x: Floats, y: Floats, source: Codes, system: Codes, weights: Weights) -> _Pairs:
    if not x.shape == y.shape == source.shape == system.shape:
        raise ValueError(f"lengths differ: {x.shape} {y.shape} {source.shape} {system.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite score or rating: a missing value is NaN")
    complete = ~(np.isnan(x) | np.isnan(y))
    sample, planned = Sample.of(complete, source, weights), np.unique(source).size
    return _Pairs(x[complete], y[complete], system[complete], sample, planned)


def _why(x: Floats, y: Floats, slack: float = 0.0) -> str:
    """Return why x and y have no correlation, or "" where they have one."""
    if x.size < 2:
        return FEW_PAIRS
    if np.ptp(x) <= slack:
        return CONSTANT_JUDGE
    return CONSTANT_RATINGS if np.ptp(y) <= slack else ""


def _pooled(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample = pairs.sample
    if why := _why(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why))
    used, source = np.unique(sample.source, return_inverse=True)
    values = over_rows(pairs.x, pairs.y, source, sample.rows[:, used], statistics)
    tied = _shared(pairs.x)
    return {name: sample.result(name, values[name], "", n_tied=tied) for name in statistics}


def _by_source(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample = pairs.sample
    if why := _why(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why, n=0))
    n_sources = sample.rows.shape[1]
    x, y = (one_row_per_source(v, sample.source, n_sources) for v in (pairs.x, pairs.y))
    each = within_rows(x, y, statistics)
    group = sample.source * pairs.x.size + np.unique(pairs.x, return_inverse=True)[1]
    return {name: _mean_over_sources(name, each[name], pairs, group) for name in statistics}


def _mean_over_sources(
    statistic: Statistic, values: Floats, pairs: _Pairs, group: Codes
) -> Replicated:
    defined, sample = ~np.isnan(values), pairs.sample
    n = int(defined.sum())
    if n == 0:
        return sample.undefined(NO_SOURCE, n=0)
    tied = _shared(group[defined[sample.source]])
    value = float(values[defined].mean())
    result = Estimate(value, n=n, n_missing=sample.n_missing, n_tied=tied)
    rows, scale = mean_rows(values, sample.rows), scale_of(statistic)
    mean = with_interval(Replicated(result, rows, defined.astype(np.float64), scale, scale.ends))
    if n < pairs.planned:
        zeros = f"zero-filled {values[defined].sum() / pairs.planned:.3f}"
        lacking = f"{pairs.planned - n} of {pairs.planned} sources undefined, {zeros}"
        mean = mean.with_note(lacking)
    return mean


def _by_system(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample = pairs.sample
    systems, system = np.unique(pairs.system, return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        return dict.fromkeys(statistics, sample.undefined(FEW_SYSTEMS, n=systems.size))
    x, y = (_system_means(centred(v), system, sample) for v in (pairs.x, pairs.y))
    values = within_rows(x, y, statistics, SAME_MEAN)
    few_systems = np.sum(~np.isnan(x), axis=1) < FEWEST_SYSTEMS
    shared = int(np.sum(np.sum(signs(x[0, :, None], x[0], SAME_MEAN) == 0, axis=1) > 1))
    why = _why(x[0], y[0], SAME_MEAN)
    return {
        name: sample.result(
            name, np.where(few_systems, np.nan, values[name]), why, n=systems.size, n_tied=shared
        )
        for name in statistics
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


def _system_means(values: Floats, system: Codes, sample: Sample) -> Floats:
    """Return the mean of each system in each resample, (rows, systems), NaN without a target."""
    source, rows = sample.source, sample.rows
    shape = (rows.shape[1], int(system.max()) + 1)
    with np.errstate(invalid="ignore"):
        sums = dot(rows, counted(source, system, shape, values))
        return sums / dot(rows, counted(source, system, shape))
