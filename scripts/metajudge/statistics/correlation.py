"""Pearson, Spearman and Kendall tau-b between a judge and people, at three levels.

All three are one coefficient, sum a b / sqrt(sum a² sum b²) (Daniels 1944): `a` are deviations
from the mean (Pearson), deviations of midranks from their mean (Spearman) or the signs of all
differences (Kendall; a sign of 0 is a tie, which gives tau-b). A resample repeats whole sources,
so it is a row of weights, and no loop runs over resamples.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from metajudge.statistics.estimate import (
    CONSTANT_JUDGE,
    CONSTANT_RATINGS,
    FEW_PAIRS,
    FEW_SYSTEMS,
    NO_SOURCE,
    Estimate,
)
from metajudge.statistics.resampling import (
    estimate_from_rows,
    whole_and_resamples,
    with_mean_interval,
)

Statistic = Literal["pearson", "spearman", "kendall_b"]
Level = Literal["pooled", "by_source", "by_system"]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FEWEST_SYSTEMS = 3
SAME_MEAN = 1e-9
"""System means nearer than this (as a share of the largest deviation in the data) are tied:
round-off must not break a tie."""
TINY_VARIANCE = 1e-20
"""Of data within [-1, 1]: below it a variance may be round-off of constant data."""
CELLS = 1_000_000
"""Size of a temporary array: resamples and pairs are worked off in blocks of it."""


class _Pairs(NamedTuple):
    """The targets that have both values; all (pairs,). `planned` counts the sources asked for."""

    x: Floats
    y: Floats
    source: Codes
    system: Codes
    planned: int
    n_missing: int


def correlate(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    statistic: Statistic,
    level: Level,
    weights: NDArray[np.int64] | None,
) -> Estimate:
    """Return the correlation of a judge's scores x with people's ratings y, with its interval.

    x, y (targets,), NaN = missing: a target without both counts in `n_missing`. source and system
    (targets,) are codes from 0; weights (resamples, sources) come from `source_weights`, None
    gives no interval. Range [-1, 1]. Level `pooled`: over all targets (n: targets). `by_source`:
    mean over sources of the value within each (n: sources with a value; the note counts the others
    and gives the mean with zeros in their place). `by_system`: over systems, of their mean scores
    (n: systems, at least 3). `n_tied` counts the targets whose x is shared with another target of
    the group used: all targets, the same source (of those with a value), or the system means.
    Undefined where the judge or the ratings are constant or fewer than 2 pairs exist. ValueError
    for arrays of unequal length, infinite values or unknown names. Ties are exact equality of the
    values given. Kendall 1945 (tau-b); ensemble paper, meta-evaluation at the three levels.
    """
    if statistic not in get_args(Statistic) or level not in get_args(Level):
        raise ValueError(f"{statistic!r} at {level!r}: {get_args(Statistic)} at {get_args(Level)}")
    pairs = _complete(x, y, source, system)
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}[level]
    return at_level(pairs, statistic, weights)


def _complete(x: Floats, y: Floats, source: Codes, system: Codes) -> _Pairs:
    if not x.shape == y.shape == source.shape == system.shape:
        raise ValueError(f"lengths differ: {x.shape} {y.shape} {source.shape} {system.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite score or rating: a missing value is NaN")
    there = ~(np.isnan(x) | np.isnan(y))
    planned, missing = np.unique(source).size, int(np.sum(~there))
    return _Pairs(x[there], y[there], source[there], system[there], planned, missing)


def _why(x: Floats, y: Floats, slack: float = 0.0) -> str:
    """Return why x and y have no correlation, or "" where they have one."""
    if x.size < 2:
        return FEW_PAIRS
    if np.ptp(x) <= slack:
        return CONSTANT_JUDGE
    return CONSTANT_RATINGS if np.ptp(y) <= slack else ""


def _pooled(pairs: _Pairs, statistic: Statistic, weights: NDArray[np.int64] | None) -> Estimate:
    used, source = np.unique(pairs.source, return_inverse=True)
    rows = whole_and_resamples(pairs.source, weights)[:, used]
    why = _why(pairs.x, pairs.y)
    values = np.array([np.nan]) if why else _KERNELS[statistic](pairs.x, pairs.y, source, rows)
    shared = _shared(pairs.x)
    return estimate_from_rows(
        values, why, n_sources=used.size, n=pairs.x.size, n_missing=pairs.n_missing, n_tied=shared
    )


def _by_source(pairs: _Pairs, statistic: Statistic, weights: NDArray[np.int64] | None) -> Estimate:
    missing, why = pairs.n_missing, _why(pairs.x, pairs.y)
    if why:
        return Estimate.undefined(why, n_missing=missing)
    n_sources = whole_and_resamples(pairs.source, weights).shape[1]
    x, y = (_one_row_per_source(v, pairs.source, n_sources) for v in (pairs.x, pairs.y))
    values = _within_rows(x, y, statistic)
    defined = ~np.isnan(values)
    n = int(defined.sum())
    if n == 0:
        return Estimate.undefined(NO_SOURCE, n_missing=missing)
    group = pairs.source * pairs.x.size + np.unique(pairs.x, return_inverse=True)[1]
    tied = _shared(group[defined[pairs.source]])
    found = Estimate(float(values[defined].mean()), n=n, n_missing=missing, n_tied=tied)
    found = with_mean_interval(found, values, weights, bounds=(-1.0, 1.0))
    if n == pairs.planned:
        return found
    zeros = f"zero-filled {values[defined].sum() / pairs.planned:.3f}"
    return found.with_note(f"{pairs.planned - n} of {pairs.planned} sources undefined, {zeros}")


def _by_system(pairs: _Pairs, statistic: Statistic, weights: NDArray[np.int64] | None) -> Estimate:
    systems, system = np.unique(pairs.system, return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        return Estimate.undefined(FEW_SYSTEMS, n=systems.size, n_missing=pairs.n_missing)
    rows = whole_and_resamples(pairs.source, weights)
    x, y = (_system_means(_centred(v), pairs.source, system, rows) for v in (pairs.x, pairs.y))
    values = _within_rows(x, y, statistic, SAME_MEAN)
    values[np.sum(~np.isnan(x), axis=1) < FEWEST_SYSTEMS] = np.nan
    return estimate_from_rows(
        values,
        _why(x[0], y[0], SAME_MEAN),
        n_sources=np.unique(pairs.source).size,
        n=systems.size,
        n_missing=pairs.n_missing,
        n_tied=int(np.sum(np.sum(_signs(x[0, :, None], x[0], SAME_MEAN) == 0, axis=1) > 1)),
    )


def _shared(values: NDArray[Any]) -> int:
    """Return how many values occur more than once, counting every occurrence."""
    counts = np.unique(values, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def _centred(values: Floats) -> Floats:
    """Return the values shifted and scaled into [-1, 1], where sums lose least to round-off."""
    shifted: Floats = values - values.mean()
    return shifted / (np.abs(shifted).max() or 1.0)


def _one_row_per_source(values: Floats, source: Codes, n_sources: int) -> Floats:
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
        sums: Floats = rows @ _table(source, system, shape, values)
        return sums / (rows @ _table(source, system, shape))


def _table(
    source: Codes, code: Codes, shape: tuple[int, int], values: Floats | None = None
) -> Floats:
    """Return (sources, codes): the number of targets of each, or the sum of their values."""
    cells = np.bincount(source * shape[1] + code, weights=values, minlength=shape[0] * shape[1])
    return cells.reshape(shape).astype(np.float64)


def _within_rows(x: Floats, y: Floats, statistic: Statistic, slack: float = 0.0) -> Floats:
    """Return the correlation of each row of x with that row of y: (rows, k) -> (rows,).

    NaN is no observation (in x and y alike); differences up to `slack` are ties.
    """

    def block(part: slice) -> Floats:
        used = ~np.isnan(x[part]).all(axis=0)
        a, b = (_spread(v[part][:, used], statistic, slack) for v in (x, y))
        ab, aa, bb = (_row_sums(p * q) for p, q in ((a, b), (a, a), (b, b)))
        return _ratio(ab, aa, bb)

    return np.concatenate([block(part) for part in _blocks(len(x), x.shape[1] ** 2)])


def _spread(values: Floats, statistic: Statistic, slack: float) -> NDArray[Any]:
    """Return the `a` of Daniels' coefficient, 0 where a value is NaN: (rows, k) -> (rows, k or k²).

    A midrank's deviation from the mean rank is half the sum of the signs of its differences.
    """
    if statistic != "pearson":
        signs = _signs(values[:, :, None], values[:, None, :], slack)
        whole = statistic == "kendall_b"
        return signs.reshape(len(values), -1) if whole else signs.sum(axis=2, dtype=np.float64)
    there = ~np.isnan(values)
    n = np.maximum(there.sum(axis=1, keepdims=True), 1)
    deviation = values - np.sum(values, axis=1, where=there, keepdims=True) / n
    lowest = np.min(values, axis=1, where=there, initial=np.inf)
    varies = np.max(values, axis=1, where=there, initial=-np.inf) > lowest + slack
    return np.where(there & varies[:, None], deviation, 0.0)


def _signs(left: NDArray[Any], right: NDArray[Any], slack: float = 0) -> NDArray[np.int8]:
    """Return sign(left - right), 0 where they differ by no more than `slack` and for NaN."""
    more, less = left > right + slack, left + slack < right
    return more.view(np.int8) - less.view(np.int8)


def _row_sums(values: NDArray[Any]) -> Floats:
    return np.asarray(values.sum(axis=1, dtype=np.float64))


def _ratio(ab: Floats, aa: Floats, bb: Floats) -> Floats:
    """Return ab / sqrt(aa bb), NaN where a side does not vary."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip(ab / (np.sqrt(aa) * np.sqrt(bb)), -1.0, 1.0))


def _blocks(length: int, width: int) -> Iterator[slice]:
    """Yield slices of 0..length, each of about CELLS / width."""
    step = max(1, CELLS // max(1, width))
    return (slice(start, start + step) for start in range(0, length, step))


def _pearson(x: Floats, y: Floats, source: Codes, rows: Floats) -> Floats:
    """Return Pearson's r in each resample: moments within plus moments between the sources.

    Taking both about their own means (Chan, Golub & LeVeque 1983) cannot give a negative variance.
    """
    n = np.bincount(source)
    data = np.stack([_centred(x), _centred(y)])
    mean = np.stack([np.bincount(source, weights=v) / n for v in data])
    inner = data - mean[:, source]
    terms = ((0, 1), (0, 0), (1, 1))
    within = [np.bincount(source, weights=inner[i] * inner[j]) for i, j in terms]

    def block(part: Floats) -> Floats:
        weight = part * n
        total = np.maximum(weight.sum(axis=1), 1)
        outer = [m - (weight @ m / total)[:, None] for m in mean]
        ab, aa, bb = (
            part @ w + np.einsum("rs,rs,rs->r", weight, outer[i], outer[j])
            for w, (i, j) in zip(within, terms, strict=True)
        )
        found = _ratio(ab, aa, bb)
        doubtful = np.flatnonzero(np.minimum(aa, bb) <= TINY_VARIANCE * total)
        for row in doubtful:  # round-off looks like this, and so may data: look at the data
            drawn = part[row, source] > 0
            found[row] = np.nan if _why(x[drawn], y[drawn]) else found[row]
        return found

    return np.concatenate([block(rows[part]) for part in _blocks(len(rows), n.size)])


def _spearman(x: Floats, y: Floats, source: Codes, rows: Floats) -> Floats:
    """Return Spearman's rho in each resample: Pearson's r of the midranks within that resample.

    Twice a midrank's deviation from the mean rank is the weight below minus the weight above. All
    sums are of whole numbers, the same in any order.
    """
    cx, cy, source, rows = _merged(x, y, source, rows, most=x.size // 2)
    places = [_places(code) for code in (cx, cy)]

    def block(part: Floats) -> Floats:
        weight = part.take(source, axis=1)
        a, b = (_deviations(weight, *place) for place in places)
        return _ratio(
            *(np.einsum("rt,rt,rt->r", weight, p, q) for p, q in ((a, b), (a, a), (b, b)))
        )

    return np.concatenate([block(rows[part]) for part in _blocks(len(rows), cx.size)])


def _places(code: Codes) -> tuple[Codes, Codes, Codes]:
    """Return the sorting order, and for each target how many stand below it and not above it."""
    order = np.argsort(code, kind="stable")
    ascending = code[order]
    return order, np.searchsorted(ascending, code), np.searchsorted(ascending, code, side="right")


def _deviations(weight: Floats, order: Codes, below: Codes, not_above: Codes) -> Floats:
    """Return twice the deviation of each target's midrank from the mean rank: (rows, targets)."""
    upto = np.zeros((len(weight), order.size + 1))
    np.cumsum(weight.take(order, axis=1), axis=1, out=upto[:, 1:])
    found: Floats = upto.take(below, axis=1) + upto.take(not_above, axis=1) - upto[:, -1:]
    return found


def _kendall_b(x: Floats, y: Floats, source: Codes, rows: Floats) -> Floats:
    """Return tau-b in each resample: w'Cw / sqrt(w'Aw · w'Bw).

    C, A and B (sources, sources) hold the sums over targets i of s and j of t of sx sy, sx² and
    sy², where sx = sign(x_i - x_j). Copies of a target are tied with themselves in both x and y,
    as they are in a resample that is written out, and add nothing to any of the three.
    """
    cx, cy, source, rows = _merged(x, y, source, rows, most=rows.shape[1] // 2)
    everything = np.square(rows @ np.bincount(source))
    untied = [everything - _tied(code, source, rows) for code in (cx, cy)]
    return _ratio(_concordance(cx, cy, source, rows), *untied)


def _merged(
    x: Floats, y: Floats, source: Codes, rows: Floats, most: int
) -> tuple[Codes, Codes, Codes, Floats]:
    """Return the data as ranks, with equal pairs as one target if at most `most` pairs differ.

    Such a target is its own source, drawn as often as the pairs that it stands for.
    """
    (_, cx), (ys, cy) = np.unique(x, return_inverse=True), np.unique(y, return_inverse=True)
    cells, cell = np.unique(cx * ys.size + cy, return_inverse=True)
    if cells.size > most:
        return cx, cy, source, rows
    rows = rows @ _table(source, cell, (rows.shape[1], cells.size))
    return cells // ys.size, cells % ys.size, np.arange(cells.size), rows


def _tied(code: Codes, source: Codes, rows: Floats) -> Floats:
    """Return the weight of all pairs tied in `code`, the sum over values of (its weight)²."""
    once = np.bincount(code)[code] == 1
    alone = np.square(rows) @ np.bincount(source[once], minlength=rows.shape[1])
    shared, code = np.unique(code[~once], return_inverse=True)
    weight = rows @ _table(source[~once], code, (rows.shape[1], shared.size))
    found: Floats = alone + np.einsum("rv,rv->r", weight, weight)
    return found


def _concordance(x: Codes, y: Codes, source: Codes, rows: Floats) -> Floats:
    """Return w'Cw of each row w, twice concordant minus discordant pairs. No source is empty."""
    order = np.argsort(source, kind="stable")
    small = np.min_scalar_type(order.size)
    x, y = x[order].astype(small), y[order].astype(small)
    starts = np.flatnonzero(np.diff(source[order], prepend=-1))
    ends = np.append(starts[1:], order.size)
    total = np.zeros(len(rows))
    for part in _blocks(starts.size, order.size * order.size // starts.size):
        first, last = starts[part][0], ends[part][-1]
        sx, sy = (_signs(v[first:last, None], v[first:]) for v in (x, y))
        sums = np.add.reduceat(sx * sy, starts[part.start :] - first, axis=1, dtype=np.int32)
        sums = np.add.reduceat(sums, starts[part] - first, axis=0).astype(np.float64)
        sums[:, len(sums) :] *= 2  # what stands below the diagonal mirrors what stands above it
        total += np.einsum("rs,rs->r", rows[:, part] @ sums, rows[:, part.start :])
    return total


_KERNELS: dict[Statistic, Callable[[Floats, Floats, Codes, Floats], Floats]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall_b": _kendall_b,
}
