"""Paired permutation tests: would two judges differ so if nobody knew whose scores are whose?"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.coefficients import (
    CELLS,
    Codes,
    Floats,
    Statistic,
    counted,
    over_rows,
    within_rows,
)
from judgescope.statistics.correlation import FEWEST_SYSTEMS, SAME_MEAN, STATISTICS, Level
from judgescope.statistics.dot import dot
from judgescope.statistics.kappa import confusion_counts, kappas
from judgescope.statistics.swapped import Both, pearson, rank_coefficients

Permute = Literal["inputs", "systems", "both"]
Flips = NDArray[np.bool_]
PERMUTATIONS = 1000
NEAR = 1e-10
"""Differences nearer than this are equal: round-off must not make a permutation less extreme."""


class PairedTest(NamedTuple):
    """The difference of two judges, how surely it is none, and the targets that it rests on."""

    difference: float
    p: float
    p_greater: float
    n: int


class _Data(NamedTuple):
    """Both judges' scores, people's ratings, and where each target belongs; all (targets,)."""

    x1: Floats
    x2: Floats
    y: Floats
    source: Codes
    system: Codes
    unit: Codes


def flips_of(rng: np.random.Generator, units: int, permutations: int = PERMUTATIONS) -> Flips:
    """Return random assignments, one a row, each unit swapped or not: (permutations, units)."""
    return rng.random((permutations, units)) < 0.5


def permutation_tests(
    x1: Floats,
    x2: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    flips: Flips,
    *,
    level: Level,
    permute: Permute = "inputs",
    statistics: Collection[Statistic] = STATISTICS,
    standardise: bool = True,
) -> Mapping[Statistic, PairedTest]:
    """Return, for each statistic at one level, that of x1 minus that of x2 and its p-values.

    Under the null hypothesis the two judges' scores may be swapped: all of a source (PERM-INPUTS),
    all of a system (PERM-SYSTEMS), or of any target (PERM-BOTH). p = (k + 1) / (B + 1), k
    permutations of B being at least as extreme. p is two-sided, p_greater that of x1 being no
    better.

    x1, x2, y (targets,), NaN = missing: targets without all three are left out; source and system
    (targets,) are codes; flips (permutations, units), units being the codes of sources or systems,
    or targets. Scores on different scales cannot be swapped, so both judges are standardised first
    at the levels that mix sources (not by_source, where each value belongs to one source).
    NaN where a judge has no value, or by_system with fewer than 3 systems. Deutsch,
    Dror, Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics", section 4.
    """
    there = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(y))
    unit = {"inputs": source, "systems": system, "both": np.arange(y.size)}[permute]
    data = _Data(x1[there], x2[there], y[there], source[there], system[there], unit[there])
    if standardise and level != "by_source":
        data = data._replace(x1=_standardised(data.x1), x2=_standardised(data.x2))
    n = int(there.sum())
    if n == 0 or (level == "by_system" and np.unique(data.system).size < FEWEST_SYSTEMS):
        return dict.fromkeys(statistics, _test(np.full(1, np.nan), n))
    swapped = np.vstack([np.zeros((1, flips.shape[1]), dtype=bool), flips])
    found = _both(data, swapped, level, statistics)
    return {name: _test(found[name][0] - found[name][1], n) for name in statistics}


def kappa_test(
    x1: Floats,
    x2: Floats,
    gold: Floats,
    classes: Sequence[float],
    unit: Codes,
    flips: Flips,
) -> PairedTest:
    """Return the test of the linear kappa of x1 with gold classes minus that of x2, pooled.

    As `permutation_tests`, with nothing standardised: both judges give classes of one scale. x1,
    x2, gold (targets,), NaN = missing; unit (targets,), the code of what is swapped together.
    ValueError for a value that is no class.
    """
    there = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(gold))
    swapped = np.vstack([np.zeros((1, flips.shape[1]), dtype=bool), flips])
    first, second = (
        confusion_counts(gold[there], x[there], classes, unit[there], flips.shape[1])
        for x in (x1, x2)
    )
    moved = dot(swapped.astype(np.float64), second - first)
    own = kappas(first.sum(axis=0) + moved) - kappas(second.sum(axis=0) - moved)
    return _test(own, int(there.sum()))


def mean_test(first: Floats, second: Floats, source: Codes, flips: Flips) -> PairedTest:
    """Return the test of mean(first) - mean(second), the values of a source swapped together.

    first, second and source (values,), nothing missing; flips (permutations, sources).
    """
    gaps = np.bincount(source, weights=first - second, minlength=flips.shape[1])
    signs = np.vstack([np.ones((1, flips.shape[1])), np.where(flips, -1.0, 1.0)])
    found = dot(signs, gaps) / max(first.size, 1)
    return _test(found, first.size)


def _standardised(values: Floats) -> Floats:
    spread = values.std() if values.size else 0.0
    return (values - values.mean()) / spread if spread > 0 else values * 0.0


def _test(differences: Floats, n: int) -> PairedTest:
    """Return the test of differences[0] against the others; an undefined one is as extreme."""
    observed, others = differences[0], differences[1:]
    if np.isnan(observed):
        return PairedTest(float("nan"), float("nan"), float("nan"), n)
    lost = np.isnan(others)
    more = lost | (np.abs(others) >= abs(observed) - NEAR)
    greater = lost | (others >= observed - NEAR)
    k, k_greater = int(more.sum()), int(greater.sum())
    size = others.size + 1
    return PairedTest(float(observed), (k + 1) / size, (k_greater + 1) / size, n)


def _both(
    data: _Data, swapped: Flips, level: Level, statistics: Collection[Statistic]
) -> Mapping[Statistic, Both]:
    """Return the statistics of both judges' scores after each permutation: (rows,) each."""
    if level == "pooled" and _many_values(data):
        return _pooled_of_many(data, swapped, statistics)
    first = _at_level(data, swapped, level, statistics)
    second = _at_level(data._replace(x1=data.x2, x2=data.x1), swapped, level, statistics)
    return {name: (first[name], second[name]) for name in statistics}


def _at_level(
    data: _Data, swapped: Flips, level: Level, statistics: Collection[Statistic]
) -> Mapping[Statistic, Floats]:
    """Return the statistics of the first judge's scores after each permutation: (rows,) each."""
    if level == "by_system":
        return _by_system(data, swapped, statistics)
    if level == "pooled":
        return _pooled(data, swapped, statistics)
    if data.unit is data.source or np.array_equal(data.unit, data.source):
        return _by_source_swapped(data, swapped, statistics)
    return _by_source(data, swapped, statistics)


def _many_values(data: _Data) -> bool:
    """Return whether counts of each pair of values would be a larger table than the data."""
    x, y = (np.unique(v).size for v in (np.append(data.x1, data.x2), data.y))
    return x * y > 2 * data.y.size


def _pooled_of_many(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> Mapping[Statistic, Both]:
    used, unit = np.unique(data.unit, return_inverse=True)
    flips, four = swapped[:, used], (data.x1, data.x2, data.y, unit)
    found: dict[Statistic, Both] = {}
    ranked = [name for name in statistics if name != "pearson"]
    if ranked:
        found |= rank_coefficients(*four, flips, ranked)
    if "pearson" in statistics:
        found["pearson"] = pearson(*four, flips)
    return found


def _pooled(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> Mapping[Statistic, Floats]:
    """Take both judges' scores as one set of data, of which each row holds every target once."""
    used, code = np.unique(data.unit, return_inverse=True)
    taken = swapped[:, used].astype(np.float64)
    rows = np.hstack([1 - taken, taken])
    x, y = np.append(data.x1, data.x2), np.append(data.y, data.y)
    return over_rows(x, y, np.append(code, code + used.size), rows, statistics)


def _by_system(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> Mapping[Statistic, Floats]:
    """Swap what each unit adds to its systems' means."""
    systems, code = np.unique(data.system, return_inverse=True)
    used, unit = np.unique(data.unit, return_inverse=True)
    n = np.bincount(code).astype(np.float64)
    added = counted(unit, code, (used.size, systems.size), data.x2 - data.x1)
    means = (np.bincount(code, weights=data.x1) + dot(swapped[:, used], added)) / n
    people = np.bincount(code, weights=data.y) / n
    slack = SAME_MEAN * max(1.0, float(np.ptp(people)))
    return within_rows(means, np.broadcast_to(people, means.shape), statistics, slack)


def _by_source_swapped(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> Mapping[Statistic, Floats]:
    """Where whole sources are swapped, so are their values."""
    people = _table(data.y, data.source)
    values = [within_rows(_table(x, data.source), people, statistics) for x in (data.x1, data.x2)]
    taken = swapped[:, np.unique(data.source)]
    found = {}
    for name in statistics:
        a, b = values[0][name], values[1][name]
        both = ~(np.isnan(a) | np.isnan(b))
        with np.errstate(invalid="ignore"):
            found[name] = np.where(taken[:, both], b[both], a[both]).sum(axis=1) / both.sum()
    return found


def _by_source(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> Mapping[Statistic, Floats]:
    """Compute every source of every permutation; the mean is over those that have a value."""
    first, second, people = (_table(v, data.source) for v in (data.x1, data.x2, data.y))
    place = np.nan_to_num(_table(data.unit.astype(np.float64), data.source)).astype(np.int64)
    step = max(1, CELLS // people.size)
    blocks = []
    for start in range(0, len(swapped), step):
        part = swapped[start : start + step]
        scores = np.where(part[:, place], second, first).reshape(-1, people.shape[1])
        values = within_rows(scores, np.tile(people, (len(part), 1)), statistics)
        blocks.append({name: _known_mean(v.reshape(len(part), -1)) for name, v in values.items()})
    return {name: np.concatenate([block[name] for block in blocks]) for name in statistics}


def _known_mean(values: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=1) / np.sum(~np.isnan(values), axis=1))


def _table(values: Floats, source: Codes) -> Floats:
    """Return (sources, most targets of a source), filled from the left, NaN where there is none."""
    used, code, counts = np.unique(source, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    place = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((used.size, int(counts.max(initial=0))), np.nan)
    table[code[order], place] = values[order]
    return table
