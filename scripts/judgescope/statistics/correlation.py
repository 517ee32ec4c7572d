"""Correlations of a judge's scores with people's ratings at three levels.

Over all targets, as the mean over sources of the value within each, and over systems,
of their mean scores. `coefficients` has the formulas.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import (
    Codes,
    Floats,
    place_within,
    quotient,
)
from judgescope.statistics.coefficients import (
    Coefficient,
    centred,
    counted,
    over_rows,
    signs,
    within_rows,
)
from judgescope.statistics.declared import correlation, declare
from judgescope.statistics.intervals import deletions
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
    mean_rows,
    with_interval,
)
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import Weights

DECLARED: Final = declare(
    "correlation",
    pearson=correlation("Pearson r", "linear correlation", "Pearson 1895"),
    spearman=correlation(
        "Spearman ρ", "correlation of ranks", "Spearman 1904", ties="midranks"
    ),
    kendall_b=correlation(
        "Kendall τ-b",
        "pairs in the same order, ties counted",
        "Kendall 1945",
        ties="tau-b",
    ),
)

CorrelationLevel = Literal["pooled", "by_source", "by_system"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
LEVELS: tuple[CorrelationLevel, ...] = get_args(CorrelationLevel)

FEWEST_SYSTEMS = 3
SAME_MEAN = 1e-9
"""System means nearer than this (as a share of the largest deviation in the data) are
tied: round-off must not break a tie."""

CoefficientResults = dict[Coefficient, Replicated]


class _Pairs(NamedTuple):
    """The targets that have both values; all (pairs,). `planned` counts the sources
    asked for.
    """

    x: Floats
    y: Floats
    system: Codes
    sample: TargetSample
    planned: int


def correlations(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    weights: Weights,
    statistics: Collection[Coefficient] = COEFFICIENTS,
    levels: Collection[CorrelationLevel] = LEVELS,
) -> Mapping[tuple[Coefficient, CorrelationLevel], Replicated]:
    """The correlations of a judge's scores x with people's ratings y, and their
    replicates.

    x, y (targets,), NaN = missing: a target without both counts in `n_missing`. source
    and system (targets,) are codes from 0; weights (sources, sources) are `deletions`,
    None gives no interval (a bootstrap's give rows alone). Range [-1, 1]. Level
    `pooled`: over all targets (n: targets). `by_source`: mean over sources of the value
    within each (n: sources with a value; the note counts the others and gives the mean
    with zeros in their place). `by_system`: over systems, of their mean scores (n:
    systems, at least 3). `n_tied` counts the targets whose x is shared with another
    target of the group used: all targets, the same source (of those with a value), or
    the system means. Undefined where the judge or the ratings are constant or fewer
    than 2 pairs exist. ValueError for arrays of unequal length or infinite values. Ties
    are exact equality of the values given. Kendall 1945 (tau-b); (Kartáč et al. 2025),
    meta-evaluation at three levels.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> y = np.array([1.0, 3.0, 2.0])
    >>> ones = np.zeros(3, dtype=np.int64)
    >>> results = correlations(x, y, ones, ones, weights=None, levels=["pooled"])
    >>> round(results["kendall_b", "pooled"].estimate.value, 3)  # (2 - 1) / 3
    0.333
    """
    if not x.shape == y.shape == source.shape == system.shape:
        raise ValueError(
            f"lengths differ: {x.shape} {y.shape} {source.shape} {system.shape}"
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite score or rating: a missing value is NaN")
    complete = ~(np.isnan(x) | np.isnan(y))
    sample = TargetSample.select(complete, source, weights)
    planned = np.unique(source).size
    pairs = _Pairs(x[complete], y[complete], system[complete], sample, planned)
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}
    results: dict[tuple[Coefficient, CorrelationLevel], Replicated] = {}
    for level in levels:
        for statistic, result in at_level[level](pairs, statistics).items():
            results[statistic, level] = result
    return results


def leaving_out(
    x: Floats, y: Floats, source: Codes, n_sources: int
) -> tuple[Floats, str]:
    """Pooled Spearman's rho and that without each source, and why it is undefined.

    x, y, source (targets,), NaN = missing; shape (1 + n_sources,); "" where it is
    defined. The rows of `correlations` with the weights `deletions(n_sources)`.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> y = np.array([1.0, 3.0, 2.0])
    >>> rows, why = leaving_out(x, y, np.arange(3), 3)
    >>> rows.round(6).tolist(), why
    ([0.5, -1.0, 1.0, 1.0], '')
    """
    both = ~(np.isnan(x) | np.isnan(y))
    sources = source[both]
    if why := why_undefined(x[both], y[both]):
        return np.full(1 + n_sources, np.nan), why
    sample = TargetSample.select(both, source, deletions(n_sources))
    pairs = _Pairs(x[both], y[both], sources, sample, planned=n_sources)
    return _pooled(pairs, ["spearman"])["spearman"].rows, ""


def why_undefined(x: Floats, y: Floats, slack: float = 0.0) -> str:
    """Why x and y have no correlation, or "" where they have one.

    >>> why_undefined(np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    'constant judge'
    """
    if x.size < 2:
        return REASONS.few_pairs
    if np.ptp(x) <= slack:
        return REASONS.constant_judge
    if np.ptp(y) <= slack:
        return REASONS.constant_ratings
    return ""


def _pooled(pairs: _Pairs, statistics: Collection[Coefficient]) -> CoefficientResults:
    sample = pairs.sample
    if why := why_undefined(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why))
    used, source = np.unique(sample.source, return_inverse=True)
    rows = sample.rows.columns(used)
    values = over_rows(pairs.x, pairs.y, source, rows, statistics)
    tied = shared(pairs.x)
    return {
        name: sample.result(name, values[name], "", n_tied=tied) for name in statistics
    }


def _by_source(
    pairs: _Pairs, statistics: Collection[Coefficient]
) -> CoefficientResults:
    sample = pairs.sample
    planned = pairs.planned
    if why := why_undefined(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why, n=0))
    n_sources = sample.rows.shape[1]
    x = one_row_per_source(pairs.x, sample.source, n_sources)
    y = one_row_per_source(pairs.y, sample.source, n_sources)
    group = sample.source * pairs.x.size + np.unique(pairs.x, return_inverse=True)[1]
    results: CoefficientResults = {}
    for name, values in within_rows(x, y, statistics).items():
        defined = ~np.isnan(values)
        n = int(defined.sum())
        if n == 0:
            results[name] = sample.undefined(REASONS.no_source, n=0)
            continue
        tied = shared(group[defined[sample.source]])
        value = float(values[defined].mean())
        result = Estimate(value, n=n, n_missing=sample.n_missing, n_tied=tied)
        rows = mean_rows(values, sample.rows)
        scale = scale_of(name)
        mean = Replicated(result, rows, defined.astype(np.float64), scale, scale.ends)
        results[name] = with_interval(mean)
        if n < planned:
            zeros = f"zero-filled {values[defined].sum() / planned:.3f}"
            lacking = f"{planned - n} of {planned} sources undefined, {zeros}"
            results[name] = results[name].with_note(lacking)
    return results


def _by_system(
    pairs: _Pairs, statistics: Collection[Coefficient]
) -> CoefficientResults:
    sample = pairs.sample
    systems, system = np.unique(pairs.system, return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        return dict.fromkeys(
            statistics, sample.undefined(REASONS.few_systems, n=systems.size)
        )
    x = _system_means(centred(pairs.x), system, sample)
    y = _system_means(centred(pairs.y), system, sample)
    values = within_rows(x, y, statistics, SAME_MEAN)
    few_systems = np.sum(~np.isnan(x), axis=1) < FEWEST_SYSTEMS
    shared = int(np.sum(np.sum(signs(x[0, :, None], x[0], SAME_MEAN) == 0, axis=1) > 1))
    why = why_undefined(x[0], y[0], SAME_MEAN)
    return {
        name: sample.result(
            name,
            np.where(few_systems, np.nan, values[name]),
            why,
            n=systems.size,
            n_tied=shared,
        )
        for name in statistics
    }


def shared(values: NDArray[Any]) -> int:
    """How many values occur more than once, counting every occurrence.

    >>> shared(np.array([1, 1, 2, 3, 3, 3]))
    5
    """
    counts = np.unique(values, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def one_row_per_source(values: Floats, source: Codes, n_sources: int) -> Floats:
    """(sources, most targets of a source), filled from the left, NaN where there
    is none.

    >>> one_row_per_source(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2).tolist()
    [[1.0, 3.0], [2.0, nan]]
    """
    column = place_within(source)
    rows = np.full((n_sources, int(column.max(initial=-1)) + 1), np.nan)
    rows[source, column] = values
    return rows


def _system_means(values: Floats, system: Codes, sample: TargetSample) -> Floats:
    """The mean of each system in each resample, (rows, systems), NaN without a
    target.
    """
    source = sample.source
    rows = sample.rows
    shape = (rows.shape[1], int(system.max()) + 1)
    sums = rows.sums(counted(source, system, shape, values))
    return quotient(sums, rows.sums(counted(source, system, shape)))
