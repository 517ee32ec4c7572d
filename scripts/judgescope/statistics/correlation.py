"""Pearson's r, Spearman's rho and Kendall's tau-b of arrays and of all their resamples
at once.

All three are one coefficient, sum a b / sqrt(sum a² sum b²) (Daniels 1944): `a` are
deviations from the mean (Pearson), deviations of midranks from their mean (Spearman) or
the signs of all differences (Kendall; a sign of 0 is a tie, which gives tau-b). A
resample repeats whole sources, so it is a row of weights, and no loop runs over
resamples: where values are discrete, a table of counts per source times the weights
holds all that ranks need, in whole numbers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import (
    CELLS,
    Codes,
    Floats,
    Weights,
    blocks,
    dot,
    place_within,
    quotient,
)
from judgescope.statistics.declared import correlation, declare, scale_of
from judgescope.statistics.intervals import deletions
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

Statistic = Literal["pearson", "spearman", "kendall_b"]

Weighing = tuple[NDArray[Any], Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]]
"""People's values y, and an antisymmetric function g(y_i, y_j) with integer values."""

RANKED = {"spearman", "kendall_b"}
TINY_VARIANCE = 1e-20
"""Of data within [-1, 1]: below it a variance may be round-off of constant data."""


def centred(values: Floats) -> Floats:
    """Return (v - mean v) / max |v - mean v|, (n,): in [-1, 1] sums lose least to
    round-off.
    """
    shifted: Floats = values - values.mean()
    return shifted / (np.abs(shifted).max() or 1.0)


def counted(
    source: Codes, code: Codes, shape: tuple[int, int], values: Floats | None = None
) -> Floats:
    """Return (sources, codes): the number of targets of each, or the sum of their
    values.
    """
    cells = np.bincount(
        source * shape[1] + code, weights=values, minlength=shape[0] * shape[1]
    )
    return cells.reshape(shape).astype(np.float64)


def midranks(values: Floats) -> Floats:
    """Return the rank of each value among all, 1 the lowest, in their shape; equal ones
    share.

    Equal values share the mean of their ranks; NaN has no rank.
    """
    ordered = np.sort(values[~np.isnan(values)])
    below, not_above = (
        np.searchsorted(ordered, values, side) for side in ("left", "right")
    )
    return np.where(np.isnan(values), np.nan, (below + not_above + 1) / 2)


def signs(
    left: NDArray[Any], right: NDArray[Any], slack: float = 0
) -> NDArray[np.int8]:
    """Return sign(left - right), 0 where they differ by no more than `slack` and for
    NaN.
    """
    more, less = left > right + slack, left + slack < right
    return more.view(np.int8) - less.view(np.int8)


def within_rows(
    x: Floats, y: Floats, statistics: Collection[Statistic], slack: float = 0.0
) -> dict[Statistic, Floats]:
    """Return the coefficients of each row of x with that row of y: (rows, k) -> (rows,)
    each.

    NaN is not an observation (in x and y alike); differences up to `slack` are ties. A
    row is NaN where a side does not vary.
    """
    coefficients: dict[Statistic, list[Floats]] = {
        "pearson": [],
        "spearman": [],
        "kendall_b": [],
    }
    for part in blocks(len(x), x.shape[1], CELLS):
        used = ~np.isnan(x[part]).all(axis=0)
        p, q = x[part][:, used], y[part][:, used]
        if "pearson" in statistics:
            a, b = (_deviations(v, slack).T for v in (p, q))
            coefficients["pearson"].append(_of_deviations(a, b))
        if RANKED & set(statistics):
            a, b, *sums = _compared(
                np.ascontiguousarray(p.T), np.ascontiguousarray(q.T), slack
            )
            coefficients["spearman"].append(_of_deviations(a, b))
            coefficients["kendall_b"].append(ratio(*sums))
    return {name: np.concatenate(coefficients[name]) for name in statistics}


def _compared(x: Floats, y: Floats, slack: float) -> tuple[Floats, ...]:
    """Return what all pairs of a column say: (k, columns) twice -> (k, columns) twice,
    (columns,).

    First the sums of the signs of each value's differences from the others, twice its
    midrank's deviation from the mean rank; then the sums of sx sy, sx² and sy² over
    pairs.
    """
    a, b = np.zeros(x.shape, np.int32), np.zeros(x.shape, np.int32)
    both, own, other = np.zeros((3, x.shape[1]), np.int32)
    for lag in range(1, len(x)):
        sx, sy = (signs(v[lag:], v[:-lag], slack) for v in (x, y))
        for sums, sign in ((a, sx), (b, sy)):
            sums[lag:] += sign
            sums[:-lag] -= sign
        for total, product in ((both, sx * sy), (own, sx * sx), (other, sy * sy)):
            total += product.sum(axis=0, dtype=np.int32)
    return tuple(v.astype(np.float64) for v in (a, b, both, own, other))


def _deviations(values: Floats, slack: float) -> Floats:
    """Return the deviations from each row's mean, 0 where a value is NaN or its row
    constant.
    """
    given = ~np.isnan(values)
    n = np.maximum(given.sum(axis=1, keepdims=True), 1)
    deviation = values - np.sum(values, axis=1, where=given, keepdims=True) / n
    lowest = np.min(values, axis=1, where=given, initial=np.inf)
    varies = np.max(values, axis=1, where=given, initial=-np.inf) > lowest + slack
    return np.where(given & varies[:, None], deviation, 0.0)


def _of_deviations(a: Floats, b: Floats) -> Floats:
    """Return the coefficient of each column: (k, columns) twice -> (columns,)."""
    return ratio(*(np.einsum("kc,kc->c", p, q) for p, q in ((a, b), (a, a), (b, b))))


def ratio(ab: Floats, aa: Floats, bb: Floats) -> Floats:
    """Return ab / sqrt(aa bb), (rows,) each, cut to [-1, 1]; NaN where a side does not
    vary.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.clip(ab / (np.sqrt(aa) * np.sqrt(bb)), -1.0, 1.0))


def over_rows(
    x: Floats, y: Floats, source: Codes, rows: Floats, statistics: Collection[Statistic]
) -> dict[Statistic, Floats]:
    """Return the coefficients of all targets in each row of weights: (rows, sources) ->
    (rows,).

    x, y, source (targets,), nothing missing; no source without a target. A row is NaN
    where a side does not vary in it.
    """
    coefficients: dict[Statistic, Floats] = {}
    if "pearson" in statistics:
        coefficients["pearson"] = _pearson(x, y, source, rows)
    if not RANKED & set(statistics):
        return coefficients
    (xs, cx), (ys, cy) = (
        np.unique(x, return_inverse=True),
        np.unique(y, return_inverse=True),
    )
    if xs.size * ys.size <= x.size:
        shape = (rows.shape[1], xs.size, ys.size)
        table = counted(
            source, cx * ys.size + cy, (shape[0], xs.size * ys.size)
        ).reshape(shape)
        return coefficients | _of_counts(table, rows, statistics)
    if "spearman" in statistics:
        coefficients["spearman"] = _spearman(cx, cy, source, rows)
    if "kendall_b" in statistics:
        coefficients["kendall_b"] = _kendall(cx, cy, source, rows)
    return coefficients


def _less(code: Codes, weight: Floats) -> Floats:
    """Return the weight below each target minus the weight above it; both
    (targets,).
    """
    counts = np.bincount(code, weights=weight).astype(np.float64)
    return _below_less_above(counts, 0)[code]


def _pearson(x: Floats, y: Floats, source: Codes, rows: Floats) -> Floats:
    """Return Pearson's r in each row: moments within plus moments between the sources.

    Taking both about their own means (Chan, Golub & LeVeque 1983) cannot give a
    negative variance.
    """
    n = np.bincount(source)
    data = np.stack([centred(x), centred(y)])
    mean = np.stack([np.bincount(source, weights=v) / n for v in data])
    inner = data - mean[:, source]
    terms = ((0, 1), (0, 0), (1, 1))
    within = [np.bincount(source, weights=inner[i] * inner[j]) for i, j in terms]
    values = []
    for block in blocks(len(rows), n.size, CELLS):
        part = rows[block]
        weight = part * n
        total = np.maximum(weight.sum(axis=1), 1)
        outer = [m - (dot(weight, m) / total)[:, None] for m in mean]
        ab, aa, bb = (
            dot(part, w) + np.einsum("rs,rs,rs->r", weight, outer[i], outer[j])
            for w, (i, j) in zip(within, terms, strict=True)
        )
        result = ratio(ab, aa, bb)
        doubtful = np.flatnonzero(np.minimum(aa, bb) <= TINY_VARIANCE * total)
        for (
            row
        ) in doubtful:  # round-off looks like this, and so may data: look at the data
            drawn = part[row, source] > 0
            constant = not drawn.any() or np.ptp(x[drawn]) == 0 or np.ptp(y[drawn]) == 0
            result[row] = np.nan if constant else result[row]
        values.append(result)
    return np.concatenate(values)


def _of_counts(
    table: Floats, rows: Floats, statistics: Collection[Statistic]
) -> dict[Statistic, Floats]:
    """Return rho and tau-b in each row from the counts (sources, values of x, values of
    y).

    tau-b is sum sx sy / sqrt(sum sx² sum sy²) over pairs of targets i and j, sx =
    sign(x_i - x_j). Copies of a target are tied with themselves in both x and y, as
    they are in a resample that is written out, and add nothing to any of the three
    sums. All sums are of whole numbers.
    """
    values: dict[Statistic, list[Floats]] = {
        name: [] for name in statistics if name in RANKED
    }
    for part in blocks(len(rows), table[0].size, CELLS):
        counts = dot(rows[part], table)
        nx, ny = counts.sum(axis=2), counts.sum(axis=1)
        if "spearman" in values:
            a, b = (_below_less_above(n, 1) for n in (nx, ny))
            across = np.einsum("rij,rj->ri", counts, b)
            sums = (
                np.einsum("ri,ri->r", *p)
                for p in ((across, a), (nx * a, a), (ny * b, b))
            )
            values["spearman"].append(ratio(*sums))
        if "kendall_b" in values:
            against = _below_less_above(_below_less_above(counts, 1), 2)
            every = np.square(nx.sum(axis=1))
            untied = (every - np.einsum("ri,ri->r", n, n) for n in (nx, ny))
            values["kendall_b"].append(
                ratio(np.einsum("rij,rij->r", counts, against), *untied)
            )
    return {name: np.concatenate(each) for name, each in values.items()}


def _below_less_above(counts: Floats, axis: int) -> Floats:
    """Return for each value the number below it minus the number above it, along an
    axis.
    """
    upto: Floats = np.cumsum(counts, axis=axis)
    result: Floats = 2 * upto - counts - counts.sum(axis=axis, keepdims=True)
    return result


def _spearman(cx: Codes, cy: Codes, source: Codes, rows: Floats) -> Floats:
    """Return Spearman's rho in each row: Pearson's r of the midranks within that
    resample.

    Twice a midrank's deviation from the mean rank is the weight below minus the weight
    above. All sums are of whole numbers, the same in any order.
    """
    places = []
    for code in (cx, cy):
        order = np.argsort(code, kind="stable")
        below, not_above = (
            np.searchsorted(code[order], code, side) for side in ("left", "right")
        )
        places.append((order, below, not_above))
    values = []
    for part in blocks(len(rows), cx.size, CELLS):
        weight = rows[part].take(source, axis=1)
        deviations = []
        for order, below, not_above in places:
            upto = np.zeros((len(weight), order.size + 1))
            np.cumsum(weight.take(order, axis=1), axis=1, out=upto[:, 1:])
            ranks = upto.take(below, axis=1) + upto.take(not_above, axis=1)
            deviations.append(ranks - upto[:, -1:])
        a, b = deviations
        sums = (
            np.einsum("rt,rt,rt->r", weight, p, q) for p, q in ((a, b), (a, a), (b, b))
        )
        values.append(ratio(*sums))
    return np.concatenate(values)


def _kendall(cx: Codes, cy: Codes, source: Codes, rows: Floats) -> Floats:
    """Return tau-b in each row, as `_of_counts`, for values of which most differ."""
    everything = np.square(dot(rows, np.bincount(source)))
    untied = [everything - tied(code, source, rows) for code in (cx, cy)]
    small = np.min_scalar_type(cx.size)
    x, y, concordance = cx.astype(small), cy.astype(small), np.zeros(len(rows))
    for part, [[sums]] in sign_products([(x, x)], [(y, signs)], source):
        sums[:, len(sums) :] *= (
            2  # what stands below the diagonal mirrors what stands above it
        )
        concordance += np.einsum(
            "rs,rs->r", dot(rows[:, part], sums), rows[:, part.start :]
        )
    return ratio(concordance, *untied)


def tied(code: Codes, source: Codes, rows: Floats, power: int = 2) -> Floats:
    """Return the sum over values of (their weight) to a power: 2, the weight of all
    tied pairs.

    Weights are whole numbers, so their sums are the same in any order.
    """
    once = np.bincount(code)[code] == 1
    several, code = np.unique(code[~once], return_inverse=True)
    weight = dot(rows, counted(source[~once], code, (rows.shape[1], several.size)))
    tied_sum = np.einsum(",".join(["rv"] * power) + "->r", *[weight] * power)
    powers = (
        rows if rows.max(initial=0) <= 1 else rows**power
    )  # 0 and 1 are their own powers
    return np.asarray(
        tied_sum + dot(powers, np.bincount(source[once], minlength=rows.shape[1]))
    )


def sign_products(
    pairs: Sequence[tuple[Codes, Codes]], weighings: Sequence[Weighing], unit: Codes
) -> Iterator[tuple[slice, list[list[Floats]]]]:
    """Yield the sums of sign(v_i - w_j) g(y_i, y_j) for each (y, g), and each (v, w) of
    `pairs`.

    They run over the targets i of one unit (a source) and j of another, no unit being
    empty; v, w, y and unit (targets,). Units come in groups, yielded as a slice, of
    about 8 CELLS / n targets: against all n targets that is 8 CELLS signs, which take a
    byte each. Shape of each sum: (units of the group, all units from the first of them
    on).
    """
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    ends, begin = np.append(starts[1:], order.size), 0
    longest = int((ends - starts).max())
    while begin < starts.size:
        first = starts[begin]
        end = int(np.searchsorted(ends, first + 8 * CELLS // order.size, side="right"))
        part = slice(begin, max(begin + 1, end))
        group, later = order[first : ends[part][-1]], order[first:]
        inside = list(zip(starts[part] - first, ends[part] - first, strict=True))
        people = [g(y[group, None], y[later]) for y, g in weighings]
        small = [
            np.min_scalar_type(-1 - longest * int(max(g.max(), -g.min())))
            for g in people
        ]
        sums: list[list[Floats]] = [[] for _ in weighings]
        for v, w in pairs:
            ordered = signs(v[group, None], w[later])
            for each, g, dtype in zip(sums, people, small, strict=True):
                agree = ordered * g
                by_unit = np.stack(
                    [agree[a:b].sum(axis=0, dtype=dtype) for a, b in inside]
                )
                of_units = np.add.reduceat(
                    by_unit, starts[begin:] - first, axis=1, dtype=np.int64
                )
                each.append(of_units.astype(np.float64))
        yield part, sums
        begin = part.stop


ORDER: Final = 1
DECLARED: Final = declare(
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


# --- correlations at three levels -----------------------------------------------------


Level = Literal["pooled", "by_source", "by_system"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
LEVELS: tuple[Level, ...] = get_args(Level)

FEWEST_SYSTEMS = 3
SAME_MEAN = 1e-9
"""System means nearer than this (as a share of the largest deviation in the data) are
tied: round-off must not break a tie."""

Found = dict[Statistic, Replicated]


class _Pairs(NamedTuple):
    """The targets that have both values; all (pairs,). `planned` counts the sources
    asked for.
    """

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
    """Return the correlations of a judge's scores x with people's ratings y, and their
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
    """
    if not x.shape == y.shape == source.shape == system.shape:
        raise ValueError(
            f"lengths differ: {x.shape} {y.shape} {source.shape} {system.shape}"
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite score or rating: a missing value is NaN")
    complete = ~(np.isnan(x) | np.isnan(y))
    sample, planned = Sample.select(complete, source, weights), np.unique(source).size
    pairs = _Pairs(x[complete], y[complete], system[complete], sample, planned)
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}
    return {
        (statistic, level): result
        for level in levels
        for statistic, result in at_level[level](pairs, statistics).items()
    }


def leaving_out(
    x: Floats, y: Floats, source: Codes, n_sources: int
) -> tuple[Floats, str]:
    """Return pooled Spearman's rho and that without each source, and why it is
    undefined, or "".

    x, y, source (targets,), NaN = missing; shape (1 + n_sources,). The rows of
    `correlations` with the weights `deletions(n_sources)`, to the bit. Where no source
    has two targets these are not made: with a_i = sum_j sign(x_i - x_j), twice a
    midrank's deviation, and s_i = sign(x_i - x_k), t_i the same of y, the sum without
    target k is sum_i (a_i - s_i)(b_i - t_i) - a_k b_k, of whole numbers.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    rows, sources = np.full(1 + n_sources, np.nan), source[both]
    if why := why_undefined(x[both], y[both]):
        return rows, why
    if np.bincount(sources).max() > 1:
        sample = Sample.select(both, source, deletions(n_sources))
        pairs = _Pairs(x[both], y[both], sources, sample, planned=n_sources)
        return _pooled(pairs, ["spearman"])["spearman"].rows, ""
    codes = [np.unique(v[both], return_inverse=True)[1] for v in (x, y)]
    n, (a, b) = sources.size, (_less(code, np.ones(sources.size)) for code in codes)
    cx, cy = (code.astype(np.min_scalar_type(n)) for code in codes)
    agreeing = [
        (signs(cx[part, None], cx) * signs(cy[part, None], cy)).sum(
            axis=1, dtype=np.int64
        )
        for part in blocks(n, n, CELLS)
    ]
    untied = [n - np.bincount(code)[code] for code in codes]
    sums = []
    for p, q, of_p, of_q, products in (
        (a, b, *codes, np.concatenate(agreeing)),
        (a, a, codes[0], codes[0], untied[0]),
        (b, b, codes[1], codes[1], untied[1]),
    ):
        whole = np.sum(p * q)
        without = whole + _less(of_q, p) + _less(of_p, q) + products - p * q
        sums.append(np.append(whole, without))
    values = ratio(*sums)
    rows[:] = values[0]
    rows[1 + sources] = values[1:]
    return rows, ""


def why_undefined(x: Floats, y: Floats, slack: float = 0.0) -> str:
    """Return why x and y have no correlation, or "" where they have one."""
    if x.size < 2:
        return FEW_PAIRS
    if np.ptp(x) <= slack:
        return CONSTANT_JUDGE
    return CONSTANT_RATINGS if np.ptp(y) <= slack else ""


def _pooled(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample = pairs.sample
    if why := why_undefined(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why))
    used, source = np.unique(sample.source, return_inverse=True)
    rows = sample.rows
    if used.size < rows.shape[1]:  # a copy of thousands of sources takes seconds
        rows = rows[:, used]
    values = over_rows(pairs.x, pairs.y, source, rows, statistics)
    tied = shared(pairs.x)
    return {
        name: sample.result(name, values[name], "", n_tied=tied) for name in statistics
    }


def _by_source(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample, planned = pairs.sample, pairs.planned
    if why := why_undefined(pairs.x, pairs.y):
        return dict.fromkeys(statistics, sample.undefined(why, n=0))
    n_sources = sample.rows.shape[1]
    x, y = (one_row_per_source(v, sample.source, n_sources) for v in (pairs.x, pairs.y))
    group = sample.source * pairs.x.size + np.unique(pairs.x, return_inverse=True)[1]
    results: Found = {}
    for name, values in within_rows(x, y, statistics).items():
        defined = ~np.isnan(values)
        n = int(defined.sum())
        if n == 0:
            results[name] = sample.undefined(NO_SOURCE, n=0)
            continue
        tied = shared(group[defined[sample.source]])
        value = float(values[defined].mean())
        result = Estimate(value, n=n, n_missing=sample.n_missing, n_tied=tied)
        rows, scale = mean_rows(values, sample.rows), scale_of(name)
        mean = Replicated(result, rows, defined.astype(np.float64), scale, scale.ends)
        results[name] = with_interval(mean)
        if n < planned:
            zeros = f"zero-filled {values[defined].sum() / planned:.3f}"
            lacking = f"{planned - n} of {planned} sources undefined, {zeros}"
            results[name] = results[name].with_note(lacking)
    return results


def _by_system(pairs: _Pairs, statistics: Collection[Statistic]) -> Found:
    sample = pairs.sample
    systems, system = np.unique(pairs.system, return_inverse=True)
    if systems.size < FEWEST_SYSTEMS:
        return dict.fromkeys(statistics, sample.undefined(FEW_SYSTEMS, n=systems.size))
    x, y = (_system_means(centred(v), system, sample) for v in (pairs.x, pairs.y))
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
    """Return how many values occur more than once, counting every occurrence."""
    counts = np.unique(values, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def one_row_per_source(values: Floats, source: Codes, n_sources: int) -> Floats:
    """Return (sources, most targets of a source), filled from the left, NaN where there
    is none.
    """
    place = place_within(source)
    rows = np.full((n_sources, int(place.max(initial=-1)) + 1), np.nan)
    rows[source, place] = values
    return rows


def _system_means(values: Floats, system: Codes, sample: Sample) -> Floats:
    """Return the mean of each system in each resample, (rows, systems), NaN without a
    target.
    """
    source, rows = sample.source, sample.rows
    shape = (rows.shape[1], int(system.max()) + 1)
    sums = dot(rows, counted(source, system, shape, values))
    return quotient(sums, dot(rows, counted(source, system, shape)))
