"""One-sided signed-rank tests (original > perturbed) and their effect sizes.

Tests take exact integers: a round-off of 1e-16 between float means breaks ties and can
flip a decision (docs/methods.md, "Discernment"). Ranks are kept doubled, so that
midranks are integers too. Everything is in ln p and takes leading axes (resamples): p
itself underflows from n = 1,900.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgescope.statistics.arrays import Codes, Floats, quotient
from judgescope.statistics.declared import (
    correlation,
    declare,
    p_value,
    signed_amount,
)
from judgescope.statistics.intervals import share_alike
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import replicated, whole_and_resamples
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

DECLARED = declare(
    "effects",
    rank_biserial=correlation(
        "Rank-biserial correlation",
        "effect size: 1 if every changed score drops, −1 if every one rises",
        "Kerby 2014",
        ties="zeros dropped, midranks",
    ),
    mean_drop=signed_amount(
        "Mean drop",
        "mean score of originals minus perturbed texts, in points of the judge's scale",
    ),
    p_wilcoxon=p_value(
        "p",
        "exact one-sided Wilcoxon test",
        "Wilcoxon 1945",
        ties="zeros dropped, midranks",
    ),
    p_asymptotic=p_value(
        "p, as published",
        "one-sided Wilcoxon test as implemented in scipy",
        "Wang et al. 2024, section 3.3",
        ties="zeros dropped, midranks",
    ),
)


WilcoxonMethod = Literal["exact", "asymptotic"]


EXACT_LIMIT = 1000
"""Most non-zero differences of a table that is tested exactly; its resamples may have
twice it."""


def exact_differences(
    original: ArrayLike, perturbed: ArrayLike, unit: int | None
) -> Codes:
    """(original - perturbed) * unit as integers, one per pair; original,
    perturbed: (n,).

    `unit` is lcm(1..draws) if scores are means of integer ratings. It is None for
    continuous scores and if that lcm is too large: differences are then rounded to 9
    decimals, which distinguishes means of up to 100 integers. Scores themselves are not
    rounded: 2/3 - 1/3 must tie with 1/3. Raises ValueError on NaN, on unequal lengths
    and on scores that are not multiples of 1/unit.

    >>> exact_differences([2 / 3, 1.0], [1 / 3, 2.0], unit=3).tolist()
    [1, -3]
    """
    first = np.asarray(original, np.float64)
    second = np.asarray(perturbed, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"scores must be paired: got shapes {first.shape} and {second.shape}"
        )
    if not np.isfinite([first, second]).all():
        raise ValueError("scores must be finite: drop pairs with a missing score first")
    if unit is None:
        return np.asarray(np.rint((first - second) * 10**9), np.int64)
    scores = np.array([first, second])
    exact = np.rint(scores * unit)
    off = (np.abs(scores * unit - exact) > 1e-3) | (np.abs(exact) > 2**42)
    if off.any():
        raise ValueError(
            f"score {scores[off][0]} is not exact in units of 1/{unit}: pass "
            "lcm(1..draws) or None"
        )
    return np.asarray(exact[0] - exact[1], np.int64)


def _doubled_midranks(ties: Codes) -> Codes:
    """Twice the midrank of each group of `ties` equal |d|, groups ascending in
    |d|.
    """
    return np.asarray(2 * np.cumsum(ties, axis=-1) - ties + 1)


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Signs and ties of the differences: counts per distinct non-zero |d|, ascending.

    positive, negative: (..., groups); n_zero: (...). A leading axis, if any, is that of
    deletions.
    """

    positive: Codes
    negative: Codes
    n_zero: Codes

    @property
    def ties(self) -> Codes:
        """Number of differences with this |d|, (..., groups)."""
        return self.positive + self.negative

    @property
    def ranks(self) -> Codes:
        """Twice the midrank of each group, zeros dropped, (..., groups)."""
        return _doubled_midranks(self.ties)

    @property
    def n_nonzero(self) -> Codes:
        """Number of non-zero differences, (...)."""
        return np.asarray(self.ties.sum(axis=-1))

    @property
    def w_plus(self) -> Codes:
        """Twice the rank sum of the positive differences, (...)."""
        return np.asarray((self.ranks * self.positive).sum(axis=-1))

    @property
    def w_minus(self) -> Codes:
        """Twice the rank sum of the negative differences, (...)."""
        return np.asarray((self.ranks * self.negative).sum(axis=-1))


def signed_rank(d: ArrayLike) -> SignedRank:
    """The signed ranks of exact differences d (n,).

    TypeError for d that are not integers. Wilcoxon 1945.

    >>> ranked = signed_rank(np.array([1, -1, 2, 0]))
    >>> int(ranked.w_plus), int(ranked.w_minus)  # twice 1.5 + 3, twice 1.5
    (9, 3)
    """
    code, n_groups = _signed_groups(d)
    counts = np.bincount(code, minlength=2 * n_groups + 1)
    return _of_counts(counts, n_groups)


def signed_ranks(
    d: ArrayLike, weights: Weights, source: ArrayLike
) -> Iterator[SignedRank]:
    """Yield the signed ranks of d, then those that each deletion leaves, in blocks.

    source: (n,) code of each pair's source, a column of weights, which are `deletions`.
    Only the ranks depend on the deletion, so |d| is sorted once. TypeError for d that
    are not integers.

    >>> d = np.array([1, -1, 2])
    >>> weights = 1 - np.eye(3, dtype=np.int64)
    >>> blocks_of_rows = list(signed_ranks(d, weights, [0, 1, 2]))
    >>> [ranked.w_plus.tolist() for ranked in blocks_of_rows]
    [[9, 4, 6, 3]]
    """
    code, n_groups = _signed_groups(d)
    sources = np.asarray(source, np.int64)
    rows = whole_and_resamples(sources, weights)
    for _, counts in rows.counts(sources, code, 2 * n_groups + 1):
        yield _of_counts(counts.astype(np.int64), n_groups)


def _signed_groups(d: ArrayLike) -> tuple[Codes, int]:
    """2 g or 2 g + 1 for |d| of group g, positive or negative; (n,). The last are 0."""
    d = np.asarray(d)
    if d.size and not np.issubdtype(d.dtype, np.integer):
        raise TypeError(
            f"differences must be integers, got {d.dtype}: see exact_differences"
        )
    sizes, group = np.unique(np.abs(d[d != 0]), return_inverse=True)
    code = np.full(d.size, 2 * sizes.size, np.int64)
    code[d != 0] = 2 * group + (d[d != 0] < 0)
    return code, sizes.size


def _of_counts(counts: Codes, n_groups: int) -> SignedRank:
    """The signed ranks of counts of the codes of `_signed_groups`, (..., codes)."""
    end = 2 * n_groups
    return SignedRank(counts[..., 0:end:2], counts[..., 1:end:2], counts[..., end])


def table_method(max_nonzero: int) -> WilcoxonMethod:
    """The method of a whole table from its largest number of non-zero
    differences.

    One method per table: a switch from cell to cell would let the score fall as
    evidence grows.

    >>> table_method(1000), table_method(1001)
    ('exact', 'asymptotic')
    """
    if max_nonzero <= EXACT_LIMIT:
        return "exact"
    return "asymptotic"


def log_p(
    d: ArrayLike,
    method: WilcoxonMethod,
    weights: Weights = None,
    source: ArrayLike | None = None,
) -> Floats:
    """ln P(W+ >= w+) of exact differences d (n,), or of those that each deletion
    leaves.

    Zeros are dropped; ln p = 0 (p = 1) where all d are zero. weights and source as in
    `signed_ranks`; ValueError for one without the other. Shape () or (sources,).

    `exact`: over all sign flips of the observed midranks, at most 2 * EXACT_LIMIT of
    them, else ValueError; never scipy's `exact`, which knows no ties (Wang et al. 2024,
    section 3.3.1). `asymptotic`: P(Z >= z), z = (W+ - W-) / sqrt(sum of squared
    midranks), which carries the tie correction: scipy's wilcoxon(alternative="greater",
    method="asymptotic", correction=False).

    >>> p = np.exp(log_p(np.array([1, 2, 3]), "exact"))
    >>> round(float(p), 6)  # one of eight flips is as large
    0.125
    """
    test = {"exact": _exact, "asymptotic": _asymptotic}[method]
    if (weights is None) != (source is None):
        raise ValueError("weights and source go together")
    if weights is None or source is None:
        return test(signed_rank(d))
    return np.concatenate([test(each) for each in signed_ranks(d, weights, source)])[1:]


@dataclass(frozen=True)
class AspectTests:
    """ln p of one set of pairs by both tests, of the data and each deletion: (1 +
    sources,).
    """

    asymptotic: Floats
    exact: Floats


def aspect_tests(
    d: ArrayLike, source: ArrayLike, weights: Weights, method: WilcoxonMethod
) -> AspectTests:
    """Both tests of exact differences d (n,); `method` is that of the exact one.

    source and weights as in `signed_ranks`.

    >>> source = np.array([0, 1, 2])
    >>> weights = 1 - np.eye(3, dtype=np.int64)
    >>> tests = aspect_tests(np.array([1, 2, 3]), source, weights, "exact")
    >>> np.exp(tests.exact).round(6).tolist()
    [0.125, 0.25, 0.25, 0.25]
    """
    asymptotic = np.append(
        log_p(d, "asymptotic"), log_p(d, "asymptotic", weights, source)
    )
    exact = np.append(log_p(d, method), log_p(d, method, weights, source))
    return AspectTests(asymptotic, exact)


def has_one_sign(d: Codes, source: Codes, n_sources: int) -> bool:
    """Whether deletions have the same signs as the data: one, as often in every
    source.

    d, source (n,): exact differences and the codes of their sources.

    >>> source = np.array([0, 1])
    >>> [has_one_sign(np.array([1, second]), source, 2) for second in (2, -2)]
    [True, False]
    """
    times = np.bincount(source, minlength=n_sources)
    return bool(np.ptp(np.sign(d)) == np.ptp(times) == 0)


def _asymptotic(ranked: SignedRank) -> Floats:
    from scipy.special import log_ndtr

    n = ranked.n_nonzero
    t = ranked.ties
    loss = (t**3 - t).sum(axis=-1)
    spread = np.sqrt((2 * n * (n + 1) * (2 * n + 1) - loss) / 3)  # of doubled ranks
    z = (ranked.w_plus - ranked.w_minus) / np.where(spread > 0, spread, 1)
    return np.where(spread > 0, log_ndtr(-z), 0.0)


def _exact(ranked: SignedRank) -> Floats:
    """ln p of every deletion; those with the same ties and rank sum are done
    once.
    """
    if ranked.n_nonzero.max(initial=0) > 2 * EXACT_LIMIT:
        raise ValueError(
            f"more than {2 * EXACT_LIMIT} non-zero differences: use 'asymptotic'"
        )
    cases = np.concatenate([ranked.ties, ranked.w_minus[..., None]], axis=-1)
    distinct, which = np.unique(np.atleast_2d(cases), axis=0, return_inverse=True)
    tails = []
    for (
        *ties,
        w_minus,
    ) in distinct.tolist():  # P(S <= w_minus), S the doubled rank sum, symmetric
        ranks = _doubled_midranks(np.array(ties, np.int64)).tolist()
        groups = list(zip(ranks, ties, strict=True))
        above = sum(rank * t for rank, t in groups) - w_minus - 1
        near = _log_cdf(groups, min(w_minus, above))
        tails.append(near if w_minus <= above else math.log1p(-math.exp(near)))
    return np.array(tails)[which].reshape(cases.shape[:-1])


def _log_cdf(groups: list[tuple[int, int]], limit: int) -> float:
    """ln P(S <= limit), S = sum of rank * Binomial(ties, 1/2), by counting sign
    flips.

    groups: (rank, ties), ascending. Only sums up to `limit` are counted and only
    positive numbers are added: the far tail keeps its relative precision.
    """
    if limit < 0:
        return -math.inf
    n = sum(t for _, t in groups)
    step = math.gcd(*(rank for rank, t in groups if t)) or 1
    within = []
    for rank, t in groups:
        if t and rank <= limit:
            within.append((rank // step, t))
    # Of few differences Python's integers are faster than arrays.
    count = _count_integers if n <= 40 else _count_floats
    return (count(within, limit // step) - n) * math.log(2)


def _count_integers(groups: list[tuple[int, int]], limit: int) -> float:
    """log2 of the number of sign flips with a sum <= limit, counted in one
    integer.

    Its digits in base 2^bits are the ways to reach each sum; a factor (1 + x^rank) is a
    shift.
    """
    bits = sum(t for _, t in groups) + 2
    ways = 1
    for rank, t in groups:
        for _ in range(t):
            ways += ways << rank * bits
    reached = ways & ((1 << bits * (limit + 1)) - 1)
    digit_sum = reached % ((1 << bits) - 1)
    return math.log2(digit_sum)


def _count_floats(groups: list[tuple[int, int]], limit: int) -> float:
    """log2 of the number of sign flips with a sum <= limit, from two tables of
    counts.
    """
    by_ties = sorted(groups, key=lambda group: group[1], reverse=True)
    first = _count_table(by_ties[::2], limit)
    second = _count_table(by_ties[1::2], limit)
    left = limit - np.arange(second.size)
    upto = np.cumsum(first)[np.minimum(left, first.size - 1)]
    differences = sum(t for _, t in groups)
    return math.log2(second @ upto) + differences / 2


def _count_table(groups: list[tuple[int, int]], limit: int) -> Floats:
    """The ways to reach each sum 0..limit that can be reached, times
    2^(-differences/2).

    The factor keeps counts inside float64 up to 2,000 differences. Groups of five ties
    or more, most ties first, are multiplied out while that takes fewer terms than the
    table has; each difference left is one shifted addition, smallest rank first, from
    one buffer to the other.
    """
    size = min(limit, sum(rank * t for rank, t in groups)) + 1
    sums = np.zeros(1, np.int64)
    ways = np.ones(1)
    taken = 0
    for rank, t in groups:
        if t < 5 or sums.size * (t + 1) > size:
            break
        sums = (sums[:, None] + rank * np.arange(t + 1)).ravel()
        ways = (ways[:, None] * _binomials(t)).ravel()[sums <= limit]
        sums = sums[sums <= limit]
        taken += 1
    table = np.asarray(np.bincount(sums, ways, size), np.float64)
    buffer = np.zeros(size)
    top = int(sums.max())
    for rank, t in sorted(groups[taken:]):
        for _ in range(t):
            top = min(top + rank, limit)
            buffer[:rank] = table[:rank]
            np.add(
                table[rank : top + 1],
                table[: top + 1 - rank],
                out=buffer[rank : top + 1],
            )
            table, buffer = buffer, table
        table *= 2.0 ** (-t / 2)
    return table


@lru_cache(maxsize=2 * EXACT_LIMIT)
def _binomials(t: int) -> Floats:
    """C(t, 0..t) * 2^(-t/2)."""
    k = np.arange(1, t + 1)
    return np.cumprod(np.concatenate([[2.0 ** (-t / 2)], (t + 1 - k) / k]))


def rank_biserial(
    d: ArrayLike, weights: Weights = None, source: ArrayLike | None = None
) -> Estimate:
    """The matched-pairs rank-biserial correlation (W+ - W-) / (W+ + W-), in [-1,
    1].

    d: (n,) exact differences; with weights (sources, sources) and source (n,), the
    interval over the sources of non-zero differences. n = those differences, n_tied =
    the others; undefined when all are zero. Unlike the discernment score it does not
    grow with n (Kerby 2014). Where all have one sign, q of all sources at least have it
    (`share_alike`); were the largest differences of all others of the other sign, the
    correlation would be 2q² - 1.

    >>> rank_biserial(np.array([1, -1, 2])).value  # (4.5 - 1.5) / 6
    0.5
    """
    ranked = signed_rank(d)
    n = int(np.count_nonzero(d))
    method = "matched-pairs rank-biserial, zeros dropped"
    all_zero = "all differences are zero"
    if not n:
        return replace(Estimate.undefined(all_zero, method=method), n_tied=np.size(d))
    value = float(_biserial(ranked))
    tied = int(ranked.n_zero)
    if weights is None or source is None:
        return Estimate(value, n=n, n_tied=tied, method=method)
    parts = [_biserial(each) for each in signed_ranks(d, weights, source)]
    rows = np.concatenate(parts)
    sizes = np.bincount(
        np.asarray(source, int)[np.asarray(d) != 0], minlength=rows.size - 1
    )
    scale = scale_of("rank_biserial")
    result = replicated(
        rows, all_zero, sizes=sizes, scale=scale, n=n, n_tied=tied, method=method
    )
    known = result.jackknifed
    estimate = result.estimate
    if isinstance(known, str) or abs(value) < 1:
        return estimate
    least = 2 * share_alike(known.sources) ** 2 - 1
    lo, hi = (least, 1.0) if value > 0 else (-1.0, -least)
    return replace(estimate, ci_low=lo, ci_high=hi, note="")


def _biserial(ranked: SignedRank) -> Floats:
    plus = ranked.w_plus
    minus = ranked.w_minus
    return quotient(plus - minus, plus + minus)


def mean_drop(
    original: ArrayLike, perturbed: ArrayLike, source: ArrayLike, weights: Weights
) -> Estimate:
    """The mean of original - perturbed over pairs, in points of the scale.

    original, perturbed, source: (n,); weights: (sources, sources); interval over
    sources. n = pairs, n_tied = zero differences; undefined without pairs, ValueError
    on NaN.

    >>> weights = 1 - np.eye(2, dtype=np.int64)
    >>> mean_drop([3.0, 5.0], [1.0, 5.0], [0, 1], weights).value
    1.0
    """
    d = exact_differences(original, perturbed, None)
    if d.size == 0:
        return Estimate.undefined("no pairs", method="mean drop")
    drop = np.asarray(original, np.float64) - np.asarray(perturbed, np.float64)
    codes = np.asarray(source, np.int64)
    mean = clustered_mean(
        drop, codes, weights, averaged="mean drop", ends=None
    ).estimate
    return replace(mean, n_tied=int(np.count_nonzero(d == 0)))
