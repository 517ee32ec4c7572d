"""Spearman's rho and tau-b without each source, in whole numbers.

Both rest on pairs of targets: with X_ij = sign(x_i - x_j) and Y_ij = sign(y_i - y_j),
tau-b has the sum of X_ij Y_ij, and rho that of A_i B_i, A_i = sum_j X_ij and B_i =
sum_j Y_ij, twice the deviations of midranks. Without the targets of a source s

    sum_ij X_ij Y_ij - 2 sum_{j in s} Q_jj + sum_{j,k in s} X_jk Y_jk
    sum_i A_i B_i - sum_{j in s} (sum_i A_i Y_ij + sum_i B_i X_ij)
        + sum_{j,k in s} Q_jk - sum_{i in s} (A_i - a_i) (B_i - b_i)

remain, with Q_jk = sum_i X_ij Y_ik, a_i = sum_{j in s} X_ij, b_i = sum_{j in s} Y_ij.
Q_jk counts the targets in four quadrants of a point, which takes log n steps. So a
source of m targets takes m² log n steps, not the n of a row that is written out.
"""

from typing import NamedTuple

import numpy as np

from judgescope.statistics.arrays import CELLS, Codes, Floats, blocks


class SumsWithout(NamedTuple):
    """Sums over pairs of targets, of all and without each source: (1 + sources,)."""

    products_of_ranks: Codes
    """sum A_i B_i."""
    products_of_signs: Codes
    """sum X_ij Y_ij."""


class PairsWithin(NamedTuple):
    """All pairs j, k of targets of one source, j = k too: (pairs,) each."""

    j: Codes
    k: Codes

    @classmethod
    def of(cls, source: Codes, largest: int) -> "PairsWithin":
        """The pairs of targets whose source has the same code, (targets,).

        Sources with more than `largest` targets have none here.

        >>> pairs = PairsWithin.of(np.array([1, 0, 1]), largest=2)
        >>> list(zip(pairs.j.tolist(), pairs.k.tolist()))
        [(1, 1), (0, 0), (0, 2), (2, 0), (2, 2)]
        """
        order = np.argsort(source, kind="stable")
        is_small = np.bincount(source)[source[order]] <= largest
        order = order[is_small]
        start, size = np.unique(source[order], return_index=True, return_counts=True)[
            1:
        ]
        size_of_target = np.repeat(size, size)
        first = np.repeat(np.arange(order.size), size_of_target)
        before = np.cumsum(size_of_target) - size_of_target
        offset = np.arange(first.size) - before[first]
        start_of_target = np.repeat(start, size)
        return cls(order[first], order[start_of_target[first] + offset])


def sums_without(
    cx: Codes,
    cy: Codes,
    source: Codes,
    n_sources: int,
    *,
    largest: int,
    ranks: bool = True,
) -> SumsWithout:
    """The sums of the module's first lines; cx, cy: codes of x and y, (targets,).

    source (targets,), codes below n_sources. Sums without a source of more than
    `largest` targets are not computed: what stands in their place means nothing. The
    same holds for sums of A_i B_i without `ranks`: tau-b needs Q_jj alone.

    >>> x = np.array([0, 1, 2])
    >>> y = np.array([0, 2, 1])
    >>> sums = sums_without(x, y, np.arange(3), 3, largest=1)
    >>> sums.products_of_signs.tolist()  # of three pairs two agree; each counts twice
    [2, -2, 2, 2]
    >>> sums.products_of_ranks.tolist()  # -2·-2 + 0·2 + 2·0
    [4, -2, 2, 2]
    """
    quadrants = Quadrants(cx, cy)
    a = _below_minus_above(cx, np.ones(cx.size, np.int64))
    b = _below_minus_above(cy, np.ones(cy.size, np.int64))
    pairs = PairsWithin.of(source, largest)
    owner = source[pairs.j]
    signs_x = np.sign(cx[pairs.j] - cx[pairs.k])
    signs_y = np.sign(cy[pairs.j] - cy[pairs.k])
    with_all = quadrants.products(cx, cy)
    inside = _sum_by(owner, signs_x * signs_y, n_sources)
    signs = with_all.sum() - 2 * _sum_by(source, with_all, n_sources) + inside

    of_ranks = np.sum(a * b)
    without = np.full(n_sources, of_ranks)
    if ranks:
        own_x = _sum_by(pairs.j, signs_x, cx.size)
        own_y = _sum_by(pairs.j, signs_y, cy.size)
        # sum_i A_i Y_ij: A above target j in y minus A below it, with the sign of y_i.
        across = -_below_minus_above(cy, a) - _below_minus_above(cx, b)
        without -= _sum_by(source, across, n_sources)
        without -= _sum_by(source, (a - own_x) * (b - own_y), n_sources)
        for part in blocks(pairs.j.size, 1, CELLS):
            products = quadrants.products(cx[pairs.j[part]], cy[pairs.k[part]])
            without += _sum_by(owner[part], products, n_sources)
    return SumsWithout(np.append(of_ranks, without), np.append(with_all.sum(), signs))


def powers_without(code: Codes, source: Codes, n_sources: int, power: int) -> Codes:
    """sum over values of (how often each occurs)^power, of all and without each source.

    code and source (targets,); shape (1 + n_sources,).

    >>> powers_without(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, power=2).tolist()
    [5, 2, 1]
    """
    every = np.bincount(code)
    n_codes = every.size
    cell, of_cell = np.unique(source * n_codes + code, return_counts=True)
    before = every[cell % n_codes]
    lost = before**power - (before - of_cell) ** power
    total = np.sum(every**power)
    return np.append(total, total - _sum_by(cell // n_codes, lost, n_sources))


class Quadrants:
    """Counts of targets in the quadrants of points: a wavelet matrix of y in x's order.

    Level by level, from the highest bit of a code of y to the lowest, targets are
    partitioned by that bit; `_zeros` has the number of zeros before each place.
    """

    def __init__(self, cx: Codes, cy: Codes, n_codes: int = 0) -> None:
        """Codes of x and y, (targets,); n_codes: how many codes of x can be asked."""
        self.n = cx.size
        self._up_to_x = np.append(0, np.cumsum(np.bincount(cx, minlength=n_codes)))
        self._up_to_y = np.append(0, np.cumsum(np.bincount(cy)))
        self._bits = (self._up_to_y.size - 1).bit_length()
        self._zeros: list[Codes] = []
        y = cy[np.argsort(cx, kind="stable")]
        small = np.min_scalar_type(self.n + 1)
        for bit in reversed(range(self._bits)):
            is_zero = (y >> bit) & 1 == 0
            self._zeros.append(np.append(0, np.cumsum(is_zero)).astype(small))
            y = np.concatenate([y[is_zero], y[~is_zero]])

    def both_below(self, x: Codes, y: Codes) -> Codes:
        """How many targets have a code of x below x and one of y below y: (points,).

        >>> codes = np.array([0, 1, 2])
        >>> Quadrants(codes, codes).both_below(np.array([2]), np.array([1])).tolist()
        [1]
        """
        start = np.zeros(x.size, np.int64)
        stop = self._up_to_x[x]
        count = np.zeros(x.size, np.int64)
        for level, zeros in enumerate(self._zeros):
            before_start = zeros[start].astype(np.int64)
            before_stop = zeros[stop].astype(np.int64)
            is_one = (y >> (self._bits - 1 - level)) & 1 == 1
            count += np.where(is_one, before_stop - before_start, 0)
            every = int(zeros[-1])
            start = np.where(is_one, every + start - before_start, before_start)
            stop = np.where(is_one, every + stop - before_stop, before_stop)
        return count

    def products(self, x: Codes, y: Codes) -> Codes:
        """sum_i sign(x_i - x) sign(y_i - y) over all targets i: (points,).

        >>> codes = np.array([0, 1, 2])
        >>> Quadrants(codes, codes[::-1]).products(codes, codes[::-1]).tolist()
        [-2, -2, -2]
        """
        result = np.full(x.size, self.n)
        result -= self._up_to_x[x] + self._up_to_x[x + 1]
        result -= self._up_to_y[y] + self._up_to_y[y + 1]
        for more_x in (0, 1):
            for more_y in (0, 1):
                result += self.both_below(x + more_x, y + more_y)
        return result


def net_weight_below(code: Codes, weight: Codes, n_codes: int) -> Codes:
    """The whole weight of targets below each code minus that above it: (n_codes,).

    code and weight (targets,).

    >>> net_weight_below(np.array([0, 1, 1]), np.array([1, 1, 1]), 2).tolist()
    [-2, 1]
    """
    counts = np.zeros(n_codes, np.int64)
    np.add.at(counts, code, weight)
    up_to = np.cumsum(counts)
    return np.asarray(2 * up_to - counts - up_to[-1:])


def _below_minus_above(code: Codes, weight: Codes) -> Codes:
    """The weight below each target minus that above it: A_i if each weighs 1."""
    return net_weight_below(code, weight, int(code.max(initial=-1)) + 1)[code]


def _sum_by(group: Codes, values: Codes, n_groups: int) -> Codes:
    """The exact sum of whole numbers of each group: (n_groups,)."""
    sums = np.zeros(n_groups, np.int64)
    np.add.at(sums, group, values)
    return sums


def sizes_without(source: Codes, n_sources: int) -> Floats:
    """How many targets there are, of all and without each source: (1 + sources,).

    >>> sizes_without(np.array([0, 1, 1]), 2).tolist()
    [3.0, 2.0, 1.0]
    """
    sizes = np.bincount(source, minlength=n_sources)
    return np.append(source.size, source.size - sizes).astype(np.float64)
