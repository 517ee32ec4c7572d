"""Pearson's r, Spearman's rho and Kendall's tau-b of arrays and of all their resamples
at once.

All three are one coefficient, sum a b / sqrt(sum a² sum b²) (Daniels 1944): `a` are
deviations from the mean (Pearson), deviations of midranks from their mean (Spearman) or
the signs of all differences (Kendall; a sign of 0 is a tie, which gives tau-b). A
resample repeats whole sources, so it is a row of weights, and no loop runs over
resamples: where values are discrete, a table of counts per source times the weights
holds all that ranks need, in whole numbers.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.statistics.arrays import (
    CELLS,
    Codes,
    Floats,
    blocks,
    dot,
)
from judgescope.statistics.source_rows import DeletedRows, SourceRows
from judgescope.statistics.without_sources import (
    powers_without,
    sizes_without,
    sums_without,
)

Coefficient = Literal["pearson", "spearman", "kendall_b"]


Weighing = tuple[NDArray[Any], Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]]
"""People's values y, and an antisymmetric function g(y_i, y_j) with integer values."""


RANKED = {"spearman", "kendall_b"}


def centred(values: Floats) -> Floats:
    """(v - mean v) / max |v - mean v|, (n,): in [-1, 1] sums lose least to
    round-off.

    >>> centred(np.array([1.0, 2.0, 3.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    shifted: Floats = values - values.mean()
    return shifted / (np.abs(shifted).max() or 1.0)


def counted(
    source: Codes, code: Codes, shape: tuple[int, int], values: Floats | None = None
) -> Floats:
    """(sources, codes): the number of targets of each, or the sum of their
    values.

    >>> counted(np.array([0, 0, 1]), np.array([1, 1, 0]), (2, 2)).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    cells = np.bincount(
        source * shape[1] + code, weights=values, minlength=shape[0] * shape[1]
    )
    return cells.reshape(shape).astype(np.float64)


def midranks(values: Floats) -> Floats:
    """The rank of each value among all, 1 the lowest, in their shape.

    Equal values share the mean of their ranks; NaN has no rank.

    >>> midranks(np.array([5.0, 1.0, 5.0, np.nan])).tolist()
    [2.5, 1.0, 2.5, nan]
    """
    ordered = np.sort(values[~np.isnan(values)])
    below = np.searchsorted(ordered, values, "left")
    not_above = np.searchsorted(ordered, values, "right")
    ranks = (below + not_above + 1) / 2
    return np.where(np.isnan(values), np.nan, ranks)


def signs(
    left: NDArray[Any], right: NDArray[Any], slack: float = 0
) -> NDArray[np.int8]:
    """sign(left - right), 0 where they differ by no more than `slack` and for
    NaN.

    >>> signs(np.array([1.0, 2.0]), np.array([2.0, 2.0])).tolist()
    [-1, 0]
    """
    more = left > right + slack
    less = left + slack < right
    return more.view(np.int8) - less.view(np.int8)


def within_rows(
    x: Floats, y: Floats, statistics: Collection[Coefficient], slack: float = 0.0
) -> dict[Coefficient, Floats]:
    """The coefficients of each row of x with that row of y: (rows, k) -> (rows,)
    each.

    NaN is not an observation (in x and y alike); differences up to `slack` are ties. A
    row is NaN where a side does not vary.

    >>> x = np.array([[1.0, 2.0, 3.0]])
    >>> y = np.array([[1.0, 3.0, 2.0]])
    >>> values = within_rows(x, y, ["pearson", "spearman", "kendall_b"])
    >>> {name: each.round(3).tolist() for name, each in values.items()}
    {'pearson': [0.5], 'spearman': [0.5], 'kendall_b': [0.333]}
    """
    coefficients: dict[Coefficient, list[Floats]] = {
        "pearson": [],
        "spearman": [],
        "kendall_b": [],
    }
    for part in blocks(len(x), x.shape[1], CELLS):
        used = ~np.isnan(x[part]).all(axis=0)
        p = x[part][:, used]
        q = y[part][:, used]
        if "pearson" in statistics:
            a = _deviations(p, slack).T
            b = _deviations(q, slack).T
            coefficients["pearson"].append(_of_deviations(a, b))
        if RANKED & set(statistics):
            columns_x = np.ascontiguousarray(p.T)
            columns_y = np.ascontiguousarray(q.T)
            a, b, *sums = _compared(columns_x, columns_y, slack)
            coefficients["spearman"].append(_of_deviations(a, b))
            coefficients["kendall_b"].append(ratio(*sums))
    return {name: np.concatenate(coefficients[name]) for name in statistics}


def _compared(x: Floats, y: Floats, slack: float) -> tuple[Floats, ...]:
    """What all pairs of a column say: (k, columns) twice -> (k, columns) twice,
    (columns,) three times.

    First the sums of the signs of each value's differences from the others, twice its
    midrank's deviation from the mean rank; then the sums of sx sy, sx² and sy² over
    pairs.
    """
    columns = x.shape[1]
    deviations_x = np.zeros(x.shape, np.int32)
    deviations_y = np.zeros(x.shape, np.int32)
    products = np.zeros(columns, np.int32)
    squares_x = np.zeros(columns, np.int32)
    squares_y = np.zeros(columns, np.int32)
    for lag in range(1, len(x)):
        sx = signs(x[lag:], x[:-lag], slack)
        sy = signs(y[lag:], y[:-lag], slack)
        deviations_x[lag:] += sx
        deviations_x[:-lag] -= sx
        deviations_y[lag:] += sy
        deviations_y[:-lag] -= sy
        products += (sx * sy).sum(axis=0, dtype=np.int32)
        squares_x += (sx * sx).sum(axis=0, dtype=np.int32)
        squares_y += (sy * sy).sum(axis=0, dtype=np.int32)
    sums = (deviations_x, deviations_y, products, squares_x, squares_y)
    return tuple(each.astype(np.float64) for each in sums)


def _deviations(values: Floats, slack: float) -> Floats:
    """The deviations from each row's mean, 0 where a value is NaN or its row
    constant.
    """
    given = ~np.isnan(values)
    n = np.maximum(given.sum(axis=1, keepdims=True), 1)
    sums = np.sum(values, axis=1, where=given, keepdims=True)
    deviation = values - sums / n
    lowest = np.min(values, axis=1, where=given, initial=np.inf)
    highest = np.max(values, axis=1, where=given, initial=-np.inf)
    varies = highest > lowest + slack
    return np.where(given & varies[:, None], deviation, 0.0)


def _of_deviations(a: Floats, b: Floats) -> Floats:
    """The coefficient of each column: (k, columns) twice -> (columns,)."""
    products = np.einsum("kc,kc->c", a, b)
    squares_a = np.einsum("kc,kc->c", a, a)
    squares_b = np.einsum("kc,kc->c", b, b)
    return ratio(products, squares_a, squares_b)


def ratio(ab: Floats, aa: Floats, bb: Floats) -> Floats:
    """ab / sqrt(aa bb), (rows,) each, cut to [-1, 1]; NaN where a side does not
    vary.

    >>> ratio(np.array([1.0]), np.array([4.0]), np.array([1.0])).tolist()
    [0.5]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt(aa) * np.sqrt(bb)
        return np.asarray(np.clip(ab / size, -1.0, 1.0))


def over_rows(
    x: Floats,
    y: Floats,
    source: Codes,
    rows: SourceRows,
    statistics: Collection[Coefficient],
) -> dict[Coefficient, Floats]:
    """The coefficients of all targets in each row of weights: (rows, sources) ->
    (rows,).

    x, y, source (targets,), nothing missing; no source without a target. A row is NaN
    where a side does not vary in it. Of ranks all sums are of whole numbers: each way
    to take them has the same result.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> y = np.array([1.0, 3.0, 2.0])
    >>> rows = DeletedRows(np.empty(0, np.int64), 3)
    >>> values = over_rows(x, y, np.arange(3), rows, ["spearman"])
    >>> values["spearman"].round(6).tolist()  # 1 - 6 · 2 / (3 · 8)
    [0.5]
    """
    coefficients: dict[Coefficient, Floats] = {}
    if "pearson" in statistics:
        coefficients["pearson"] = _pearson(x, y, source, rows)
    if not RANKED & set(statistics):
        return coefficients
    xs, cx = np.unique(x, return_inverse=True)
    ys, cy = np.unique(y, return_inverse=True)
    n_cells = xs.size * ys.size
    # Counts of pairs of values are cheaper than targets where values are few.
    cheap = max(10 * CELLS, 64 * x.size)
    if n_cells <= x.size and rows.shape[1] * n_cells <= cheap:
        cells = cx * ys.size + cy
        shape = xs.size, ys.size
        return coefficients | _of_counts(source, cells, shape, rows, statistics)
    if isinstance(rows, DeletedRows):
        return coefficients | _ranks_without(cx, cy, source, rows, statistics)
    if "spearman" in statistics:
        coefficients["spearman"] = _spearman(cx, cy, source, rows)
    if "kendall_b" in statistics:
        coefficients["kendall_b"] = _kendall(cx, cy, source, rows)
    return coefficients


def below_minus_above(code: Codes, weight: Floats) -> Floats:
    """The weight below each target minus the weight above it; both (targets,).

    >>> below_minus_above(np.array([0, 1, 1]), np.ones(3)).tolist()
    [-2.0, 1.0, 1.0]
    """
    counts = np.bincount(code, weights=weight).astype(np.float64)
    return _below_less_above(counts, 0)[code]


def _pearson(x: Floats, y: Floats, source: Codes, rows: SourceRows) -> Floats:
    """Pearson's r in each row: moments within plus moments between the sources.

    Taking both about their own means (Chan, Golub & LeVeque 1983) cannot give a
    negative variance.
    """
    sizes = np.bincount(source).astype(np.float64)
    a = centred(x)
    b = centred(y)
    mean_a = np.bincount(source, weights=a) / sizes
    mean_b = np.bincount(source, weights=b) / sizes
    inner_a = a - mean_a[source]
    inner_b = b - mean_b[source]
    within = []
    for products in (inner_a * inner_b, inner_a * inner_a, inner_b * inner_b):
        within.append(np.bincount(source, weights=products).astype(np.float64))
    moments = _Moments(sizes, mean_a, mean_b, *within)
    if isinstance(rows, DeletedRows):
        values, unsure = _pearson_without(moments, rows)
    else:
        values = np.empty(len(rows))
        unsure = np.arange(len(rows))
    tiny = 1e-20  # of data in [-1, 1]: a variance below it may be round-off
    for part in blocks(unsure.size, sizes.size, CELLS):
        numbers = unsure[part]
        taken = rows.block(numbers)
        sums = _written_out(moments, taken)
        result = ratio(*sums[:3])
        total = sums[3]
        # Round-off of constant data looks like this, and so may data: look at the data.
        for row in np.flatnonzero(np.minimum(sums[1], sums[2]) <= tiny * total):
            drawn = taken[row, source] > 0
            if not drawn.any() or np.ptp(x[drawn]) == 0 or np.ptp(y[drawn]) == 0:
                result[row] = np.nan
        values[numbers] = result
    return values


class _Moments(NamedTuple):
    """What Pearson's r needs of each source, (sources,) each.

    The number of targets, their means, and sums of products of deviations from these.
    """

    n: Floats
    mean_a: Floats
    mean_b: Floats
    within_ab: Floats
    within_aa: Floats
    within_bb: Floats


def _written_out(moments: _Moments, taken: Floats) -> tuple[Floats, ...]:
    """sum a b, sum a², sum b² about the means of each row, and its number of targets.

    taken: rows written out, (rows, sources); (rows,) each.
    """
    n, mean_a, mean_b, *within = moments
    weight = taken * n
    total = np.maximum(weight.sum(axis=1), 1)
    outer_a = mean_a - (dot(weight, mean_a) / total)[:, None]
    outer_b = mean_b - (dot(weight, mean_b) / total)[:, None]
    sums = []
    for of_sources, (a, b) in zip(
        within,
        ((outer_a, outer_b), (outer_a, outer_a), (outer_b, outer_b)),
        strict=True,
    ):
        between = np.einsum("rs,rs,rs->r", weight, a, b)
        sums.append(dot(taken, of_sources) + between)
    return *sums, total


def _pearson_without(moments: _Moments, rows: DeletedRows) -> tuple[Floats, Codes]:
    """Pearson's r in each row, (rows,), and the numbers of rows that round-off spoils.

    sum a b - (sum a)(sum b) / n, of sums over all sources but one. Where one source has
    nearly all of a variance, little but round-off is left without it: at most two such
    sources a side.
    """
    n, mean_a, mean_b, within_ab, within_aa, within_bb = moments
    total = np.maximum(rows.sums(n), 1)
    a, b, ab, aa, bb = rows.sums(
        np.stack(
            [
                n * mean_a,
                n * mean_b,
                within_ab + n * mean_a * mean_b,
                within_aa + n * mean_a**2,
                within_bb + n * mean_b**2,
            ],
            axis=1,
        )
    ).T
    spread_a = aa - a * a / total
    spread_b = bb - b * b / total
    values = ratio(ab - a * b / total, spread_a, spread_b)
    # Of the variance of all data; the round-off of a sum is about 1e-15 of that.
    least = 0.01
    is_sure = (spread_a > least * aa[0]) & (spread_b > least * bb[0])
    return values, np.flatnonzero(~is_sure)


def _of_counts(
    source: Codes,
    cells: Codes,
    shape: tuple[int, int],
    rows: SourceRows,
    statistics: Collection[Coefficient],
) -> dict[Coefficient, Floats]:
    """rho and tau-b in each row from its counts (values of x, values of y).

    source and cells (targets,), a cell being a pair of values. tau-b is sum sx sy /
    sqrt(sum sx² sum sy²) over pairs of targets i and j, sx = sign(x_i - x_j). Copies of
    a target are tied with themselves in both x and y, as they are in a resample that is
    written out, and add nothing to any of the three sums. All sums are of whole
    numbers.
    """
    values: dict[Coefficient, list[Floats]] = {
        name: [] for name in statistics if name in RANKED
    }
    for _, of_rows in rows.counts(source, cells, shape[0] * shape[1]):
        counts = of_rows.reshape(-1, *shape)
        nx = counts.sum(axis=2)
        ny = counts.sum(axis=1)
        if "spearman" in values:
            a = _below_less_above(nx, 1)
            b = _below_less_above(ny, 1)
            across = np.einsum("rij,rj->ri", counts, b)
            products = np.einsum("ri,ri->r", across, a)
            squares_x = np.einsum("ri,ri->r", nx * a, a)
            squares_y = np.einsum("ri,ri->r", ny * b, b)
            values["spearman"].append(ratio(products, squares_x, squares_y))
        if "kendall_b" in values:
            against = _below_less_above(_below_less_above(counts, 1), 2)
            products = np.einsum("rij,rij->r", counts, against)
            every = np.square(nx.sum(axis=1))
            untied_x = every - np.einsum("ri,ri->r", nx, nx)
            untied_y = every - np.einsum("ri,ri->r", ny, ny)
            values["kendall_b"].append(ratio(products, untied_x, untied_y))
    return {name: np.concatenate(each) for name, each in values.items()}


def _below_less_above(counts: Floats, axis: int) -> Floats:
    """For each value the number below it minus the number above it, along an
    axis.
    """
    upto: Floats = np.cumsum(counts, axis=axis)
    result: Floats = 2 * upto - counts - counts.sum(axis=axis, keepdims=True)
    return result


_OfRows = Callable[[Codes, Codes, Codes, SourceRows], Floats]


def _ranks_without(
    cx: Codes,
    cy: Codes,
    source: Codes,
    rows: DeletedRows,
    statistics: Collection[Coefficient],
) -> dict[Coefficient, Floats]:
    """rho and tau-b in each row of deletions, of values of which most differ.

    sum (2 midrank - n - 1)² is (n³ - sum t³) / 3 and the sum of squared signs n² - sum
    t², t being how often each value occurs.
    """
    n_sources = rows.shape[1]
    # A source of m targets takes m² steps of log n, a row that is written out n steps.
    largest = max(1, math.isqrt(8 * cx.size))
    ranks = "spearman" in statistics
    sums = sums_without(cx, cy, source, n_sources, largest=largest, ranks=ranks)
    n = sizes_without(source, n_sources)
    # Row r leaves out source `left_out[r - 1]`: place 0 has the values of all.
    row_of = np.append(0, 1 + rows.left_out)
    large = np.flatnonzero(np.bincount(source, minlength=n_sources) > largest)
    written_out = DeletedRows(large, n_sources)
    values: dict[Coefficient, Floats] = {}
    cases: list[tuple[Coefficient, Codes, int, int, _OfRows]] = [
        ("spearman", sums.products_of_ranks, 3, 3, _spearman),
        ("kendall_b", sums.products_of_signs, 2, 1, _kendall),
    ]
    for name, products, power, unit, of_large in cases:
        if name not in statistics:
            continue
        squares = []
        for code in (cx, cy):
            tied_powers = powers_without(code, source, n_sources, power)
            squares.append((n**power - tied_powers) / unit)
        each = ratio(products.astype(np.float64), *squares)
        if large.size:
            each[1 + large] = of_large(cx, cy, source, written_out)[1:]
        values[name] = each[row_of]
    return values


def _spearman(cx: Codes, cy: Codes, source: Codes, rows: SourceRows) -> Floats:
    """Spearman's rho in each row: Pearson's r of the midranks within that resample.

    All sums are of whole numbers, the same in any order.
    """
    places_x = _Places.of(cx)
    places_y = _Places.of(cy)
    values = []
    for part in blocks(len(rows), cx.size, CELLS):
        weight = rows.block(part).take(source, axis=1)
        a = places_x.deviations(weight)
        b = places_y.deviations(weight)
        products = np.einsum("rt,rt,rt->r", weight, a, b)
        squares_x = np.einsum("rt,rt,rt->r", weight, a, a)
        squares_y = np.einsum("rt,rt,rt->r", weight, b, b)
        values.append(ratio(products, squares_x, squares_y))
    return np.concatenate(values)


class _Places(NamedTuple):
    """Where the values of all targets lie in their order, (targets,) each."""

    order: Codes
    below: Codes
    not_above: Codes

    @classmethod
    def of(cls, code: Codes) -> "_Places":
        """The places of codes of values, (targets,)."""
        order = np.argsort(code, kind="stable")
        below = np.searchsorted(code[order], code, "left")
        not_above = np.searchsorted(code[order], code, "right")
        return cls(order, below, not_above)

    def deviations(self, weight: Floats) -> Floats:
        """The weight below each target minus that above it: (rows, targets).

        That is twice a midrank's deviation from the mean rank.
        """
        upto = np.zeros((len(weight), self.order.size + 1))
        np.cumsum(weight.take(self.order, axis=1), axis=1, out=upto[:, 1:])
        ranks = upto.take(self.below, axis=1) + upto.take(self.not_above, axis=1)
        return np.asarray(ranks - upto[:, -1:])


def _kendall(cx: Codes, cy: Codes, source: Codes, rows: SourceRows) -> Floats:
    """tau-b in each row, as `_of_counts`, for values of which most differ."""
    written_out = rows.block(slice(None))
    every = np.square(dot(written_out, np.bincount(source)))
    untied_x = every - tied(cx, source, written_out)
    untied_y = every - tied(cy, source, written_out)
    small = np.min_scalar_type(cx.size)
    x = cx.astype(small)
    y = cy.astype(small)
    concordance = np.zeros(len(rows))
    for part, [sums] in sign_products([(x, x, 1)], [(y, signs)], source):
        # What stands below the diagonal mirrors what stands above it.
        sums[:, len(sums) :] *= 2
        taken = dot(written_out[:, part], sums)
        concordance += np.einsum("rs,rs->r", taken, written_out[:, part.start :])
    return ratio(concordance, untied_x, untied_y)


def tied(code: Codes, source: Codes, rows: Floats, power: int = 2) -> Floats:
    """The sum over values of (their weight)^power: for 2, the weight of tied pairs.

    code and source (targets,), rows (rows, sources) of weights; shape (rows,). Weights
    are whole numbers, so their sums are the same in any order.

    >>> codes = np.array([0, 0, 1])
    >>> tied(codes, np.arange(3), np.ones((1, 3))).tolist()  # 2² + 1²
    [5.0]
    """
    n_sources = rows.shape[1]
    once = np.bincount(code)[code] == 1
    several, repeated = np.unique(code[~once], return_inverse=True)
    counts = counted(source[~once], repeated, (n_sources, several.size))
    weight = dot(rows, counts)
    factors = [weight] * power
    of_repeated = np.einsum(",".join(["rv"] * power) + "->r", *factors)
    # 0 and 1 are their own powers.
    powers = rows if rows.max(initial=0) <= 1 else rows**power
    of_single = dot(powers, np.bincount(source[once], minlength=n_sources))
    return np.asarray(of_repeated + of_single)


SignTerm = tuple[Codes, Codes, int]
"""Codes v and w, and the factor of sign(v_i - w_j)."""


def sign_products(
    terms: Sequence[SignTerm], weighings: Sequence[Weighing], unit: Codes
) -> Iterator[tuple[slice, list[Floats]]]:
    """Yield the sums of s_ij g(y_i, y_j) for each (y, g), with s_ij the sum of c
    sign(v_i - w_j) over the terms (v, w, c).

    They run over the targets i of one unit (a source) and j of another, no unit being
    empty; v, w, y and unit (targets,). Units come in groups, yielded as a slice, of
    about 8 CELLS / n targets: against all n targets that is 8 CELLS signs, which take a
    byte each. Shape of each sum: (units of the group, all units from the first of them
    on).

    >>> codes = np.array([0, 1])
    >>> products = sign_products([(codes, codes, 1)], [(codes, signs)], codes)
    >>> [(part, [sums])] = products
    >>> sums.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    ends = np.append(starts[1:], order.size)
    longest = int((ends - starts).max())
    largest_sign = sum(abs(factor) for _, _, factor in terms)
    begin = 0
    while begin < starts.size:
        first = starts[begin]
        end = int(np.searchsorted(ends, first + 8 * CELLS // order.size, side="right"))
        part = slice(begin, max(begin + 1, end))
        group = order[first : ends[part][-1]]
        later = order[first:]
        ordered = np.zeros((group.size, later.size), np.int8)
        for v, w, factor in terms:
            ordered += signs(v[group, None], w[later]) * np.int8(factor)
        inside = list(zip(starts[part] - first, ends[part] - first, strict=True))
        sums = []
        for y, g in weighings:
            weight = g(y[group, None], y[later])
            largest = int(max(weight.max(), -weight.min())) * largest_sign
            # The smallest types that hold a product, and its sum over a unit's targets.
            agree = np.multiply(ordered, weight, dtype=np.min_scalar_type(-1 - largest))
            small = np.min_scalar_type(-1 - longest * largest)
            by_unit = []
            for start, stop in inside:
                by_unit.append(agree[start:stop].sum(axis=0, dtype=small))
            of_units = np.add.reduceat(
                np.stack(by_unit), starts[begin:] - first, axis=1, dtype=np.int64
            )
            sums.append(of_units.astype(np.float64))
        yield part, sums
        begin = part.stop
