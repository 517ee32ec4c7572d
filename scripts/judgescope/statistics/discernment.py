"""Discernment: one-sided signed-rank tests (original > perturbed), combined over
aspects.

Tests take exact integers: a round-off of 1e-16 between float means breaks ties and can
flip a decision (methods.md 1). Ranks are kept doubled, so that midranks are integers
too. Everything is in ln p and takes leading axes (resamples): p itself underflows from
n = 1,900.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgescope.statistics.arrays import Codes, Flags, Floats, Weights, dot, quotient
from judgescope.statistics.declared import (
    ANY,
    correlation,
    declare,
    p_value,
    scale_of,
    score,
    signed_amount,
)
from judgescope.statistics.intervals import NOT_SMOOTH, share_alike
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import (
    NO_WIDTH,
    Replicated,
    replicated,
    with_interval,
)
from judgescope.statistics.result import Estimate

PAPER = "Wang et al. 2024, section 3.3"
ZEROS = "zeros dropped, midranks"
WILSON = "Wilson 2019"
discernment_by = partial(score, ties=ZEROS)
hardest = partial(discernment_by, scaled=NOT_SMOOTH)
DECLARED: Final = declare(
    D=discernment_by(
        "D", "log p to the base 0.05, p combined over aspects as published", PAPER
    ),
    D_ew=discernment_by("D_ew", "as D, with aspects weighted", PAPER),
    D_hmp=discernment_by(
        "D_hmp", "log to the base 0.05 of the weighted harmonic mean of exact p", WILSON
    ),
    D_exact=discernment_by(
        "D_exact",
        "log to the base 0.05 of a combined exact p that holds its level",
        WILSON,
    ),
    D_ew_weight_effect=discernment_by(
        "D_ew uniform − D_ew",
        "D_ew with uniform weights (D − log_20 of the number of aspects) minus D_ew "
        "with experts' weights, asymptotic p; above 0: less discernment on the aspects "
        "that experts weight most",
        PAPER,
        range=ANY,
    ),
    D_avg=discernment_by(
        "D_avg", "average of D over perturbations, as published", PAPER
    ),
    D_avg_ew=discernment_by("D_avg_ew", "average of D_ew over perturbations", PAPER),
    D_avg_exact=discernment_by("D_avg_exact", "average of D_exact over perturbations"),
    D_min=hardest("D_min", "D of the hardest perturbation, as published", PAPER),
    D_min_ew=hardest("D_min_ew", "D_ew of the hardest perturbation", PAPER),
    D_min_exact=hardest("D_min_exact", "D_exact of the hardest perturbation"),
    rank_biserial=correlation(
        "Rank-biserial correlation",
        "effect size: 1 if every changed score drops, −1 if every one rises",
        "Kerby 2014",
        ties=ZEROS,
    ),
    mean_drop=signed_amount(
        "Mean drop",
        "mean score of originals minus perturbed texts, in points of the judge's scale",
    ),
    p_wilcoxon=p_value(
        "p", "exact one-sided Wilcoxon test", "Wilcoxon 1945", ties=ZEROS
    ),
    p_asymptotic=p_value(
        "p, as published",
        "one-sided Wilcoxon test as implemented in scipy",
        PAPER,
        ties=ZEROS,
    ),
)


WilcoxonMethod = Literal["exact", "asymptotic"]

EXACT_LIMIT = 1000
"""Most non-zero differences of a table that is tested exactly; its resamples may have
twice it."""

SMALL = 40
"""Most differences whose sign flips are counted in Python's integers, faster there than
arrays."""

DECIMALS = 9
"""Differences of continuous scores that agree to this many decimals are tied."""

ALL_ZERO = "all differences are zero"
TIES_ALONE = f"{NO_WIDTH} but for ties: all differences have one sign"
"""The note where deletions find no other evidence: only which differences tie moves the
score."""


def exact_differences(
    original: ArrayLike, perturbed: ArrayLike, unit: int | None
) -> Codes:
    """Return (original - perturbed) * unit as integers, one per pair; original,
    perturbed: (n,).

    `unit` is lcm(1..draws) if scores are means of integer ratings. It is None for
    continuous scores and if that lcm is too large: differences are then rounded to
    DECIMALS, which distinguishes means of up to 100 integers. Scores themselves are not
    rounded: 2/3 - 1/3 must tie with 1/3. Raises ValueError on NaN, on unequal lengths
    and on scores that are not multiples of 1/unit.
    """
    first, second = np.asarray(original, np.float64), np.asarray(perturbed, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"scores must be paired: got shapes {first.shape} and {second.shape}"
        )
    if not np.isfinite([first, second]).all():
        raise ValueError("scores must be finite: drop pairs with a missing score first")
    if unit is None:
        return np.asarray(np.rint((first - second) * 10**DECIMALS), np.int64)
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
    """Return twice the midrank of each group of `ties` equal |d|, groups ascending in
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


def signed_rank(
    d: ArrayLike, weights: Weights = None, source: ArrayLike | None = None
) -> SignedRank:
    """Return the signed ranks of exact differences d (n,), or those of every deletion.

    weights: (sources, sources), `deletions`; source: (n,) code of each pair's source, a
    column of weights. Only the ranks depend on the deletion, so |d| is sorted once.
    TypeError for d that are not integers, ValueError for weights without source, or the
    reverse. Wilcoxon 1945.
    """
    d = np.asarray(d)
    if d.size and not np.issubdtype(d.dtype, np.integer):
        raise TypeError(
            f"differences must be integers, got {d.dtype}: see exact_differences"
        )
    if (weights is None) != (source is None):
        raise ValueError("weights and source go together")
    times = (
        np.ones(d.size, np.int64)
        if weights is None
        else weights[..., np.asarray(source, int)]
    )
    zero = d == 0
    order = np.argsort(np.abs(d), kind="stable")[np.count_nonzero(zero) :]
    groups = np.flatnonzero(np.diff(np.abs(d[order]), prepend=0))
    times_sorted, up = times[..., order], d[order] > 0
    return SignedRank(
        np.add.reduceat(times_sorted * up, groups, axis=-1),
        np.add.reduceat(times_sorted * ~up, groups, axis=-1),
        times[..., zero].sum(axis=-1),
    )


def table_method(max_nonzero: int) -> WilcoxonMethod:
    """Return the method of a whole table from its largest number of non-zero
    differences.

    One method per table: a switch from cell to cell would let the score fall as
    evidence grows.
    """
    return "exact" if max_nonzero <= EXACT_LIMIT else "asymptotic"


def log_p(
    d: ArrayLike,
    method: WilcoxonMethod,
    weights: Weights = None,
    source: ArrayLike | None = None,
) -> Floats:
    """Return ln P(W+ >= w+) of exact differences d (n,), or of those that each deletion
    leaves.

    Zeros are dropped; ln p = 0 (p = 1) where all d are zero. weights and source as in
    `signed_rank`. Shape () or (sources,).

    `exact`: over all sign flips of the observed midranks, at most 2 * EXACT_LIMIT of
    them, else ValueError; never scipy's `exact`, which knows no ties (Wang et al. 2024,
    section 3.3.1). `asymptotic`: P(Z >= z), z = (W+ - W-) / sqrt(sum of squared
    midranks), which carries the tie correction: scipy's wilcoxon(alternative="greater",
    method="asymptotic", correction=False).
    """
    test = {"exact": _exact, "asymptotic": _asymptotic}[method]
    return test(signed_rank(d, weights, source))


@dataclass(frozen=True)
class AspectTests:
    """ln p of one set of pairs by both tests, of the data and each deletion: (1 +
    sources,).
    """

    asymptotic: Floats
    exact: Floats


def aspect_tests(
    d: ArrayLike, source: ArrayLike, weights: Codes, method: WilcoxonMethod
) -> AspectTests:
    """Return both tests of exact differences d (n,); `method` is that of the exact one.

    source and weights as in `signed_rank`.
    """
    asymptotic, exact = (
        np.append(log_p(d, name), log_p(d, name, weights, source))
        for name in ("asymptotic", method)
    )
    return AspectTests(asymptotic, exact)


def has_one_sign(d: Codes, source: Codes, n_sources: int) -> bool:
    """Return whether deletions have the same signs as the data: one, as often in every
    source.

    d, source (n,): exact differences and the codes of their sources.
    """
    times = np.bincount(source, minlength=n_sources)
    return bool(np.ptp(np.sign(d)) == np.ptp(times) == 0)


def score_replicated(
    name: str, counts: Estimate, rows: Floats, sizes: Codes, *, flat: bool
) -> Replicated:
    """Return rows[0] as a value with these counts and the interval of its deletions.

    rows (1 + sources,), sizes (sources,), as in `Replicated`. The interval of a `flat`
    score rests on ties alone (`has_one_sign`), if it has any width.
    """
    value = replace(counts, value=float(rows[0]))
    result = with_interval(
        Replicated(value, rows, sizes.astype(np.float64), scale_of(name))
    )
    estimate = result.estimate
    ties_alone = flat and estimate.ci_low is not None and NO_WIDTH not in estimate.note
    return result.with_note(TIES_ALONE) if ties_alone else result


def _asymptotic(ranked: SignedRank) -> Floats:
    from scipy.special import log_ndtr

    n, t = ranked.n_nonzero, ranked.ties
    loss = (t**3 - t).sum(axis=-1)
    spread = np.sqrt((2 * n * (n + 1) * (2 * n + 1) - loss) / 3)  # of doubled ranks
    z = (ranked.w_plus - ranked.w_minus) / np.where(spread > 0, spread, 1)
    return np.where(spread > 0, log_ndtr(-z), 0.0)


def _exact(ranked: SignedRank) -> Floats:
    """Return ln p of every deletion; those with the same ties and rank sum are done
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
    """Return ln P(S <= limit), S = sum of rank * Binomial(ties, 1/2), by counting sign
    flips.

    groups: (rank, ties), ascending. Only sums up to `limit` are counted and only
    positive numbers are added: the far tail keeps its relative precision.
    """
    if limit < 0:
        return -math.inf
    n = sum(t for _, t in groups)
    step = math.gcd(*(rank for rank, t in groups if t)) or 1
    within = [(rank // step, t) for rank, t in groups if t and rank <= limit]
    count = _count_integers if n <= SMALL else _count_floats
    return (count(within, limit // step) - n) * math.log(2)


def _count_integers(groups: list[tuple[int, int]], limit: int) -> float:
    """Return log2 of the number of sign flips with a sum <= limit, counted in one
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
    """Return log2 of the number of sign flips with a sum <= limit, from two tables of
    counts.
    """
    by_ties = sorted(groups, key=lambda group: group[1], reverse=True)
    first, second = (
        _count_table(by_ties[::2], limit),
        _count_table(by_ties[1::2], limit),
    )
    left = limit - np.arange(second.size)
    count = second @ np.cumsum(first)[np.minimum(left, first.size - 1)]
    return math.log2(count) + sum(t for _, t in groups) / 2


def _count_table(groups: list[tuple[int, int]], limit: int) -> Floats:
    """Return the ways to reach each sum 0..limit that can be reached, times
    2^(-differences/2).

    The factor keeps counts inside float64 up to 2,000 differences. Groups of five ties
    or more, most ties first, are multiplied out while that takes fewer terms than the
    table has; each difference left is one shifted addition, smallest rank first, from
    one buffer to the other.
    """
    size = min(limit, sum(rank * t for rank, t in groups)) + 1
    sums, ways, taken = np.zeros(1, np.int64), np.ones(1), 0
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
    """Return C(t, 0..t) * 2^(-t/2)."""
    k = np.arange(1, t + 1)
    return np.cumprod(np.concatenate([[2.0 ** (-t / 2)], (t + 1 - k) / k]))


def rank_biserial(
    d: ArrayLike, weights: Weights = None, source: ArrayLike | None = None
) -> Estimate:
    """Return the matched-pairs rank-biserial correlation (W+ - W-) / (W+ + W-), in [-1,
    1].

    d: (n,) exact differences; with weights (sources, sources) and source (n,), the
    interval over the sources of non-zero differences. n = those differences, n_tied =
    the others; undefined when all are zero. Unlike the discernment score it does not
    grow with n (Kerby 2014). Where all have one sign, q of all sources at least have it
    (`share_alike`); were the largest differences of all others of the other sign, the
    correlation would be 2q² - 1.
    """
    ranked, n = signed_rank(d), int(np.count_nonzero(d))
    method = "matched-pairs rank-biserial, zeros dropped"
    if not n:
        return replace(Estimate.undefined(ALL_ZERO, method=method), n_tied=np.size(d))
    value, tied = float(_biserial(ranked)), int(ranked.n_zero)
    if weights is None or source is None:
        return Estimate(value, n=n, n_tied=tied, method=method)
    rows = np.append(value, _biserial(signed_rank(d, weights, source)))
    sizes = np.bincount(
        np.asarray(source, int)[np.asarray(d) != 0], minlength=rows.size - 1
    )
    scale = scale_of("rank_biserial")
    result = replicated(
        rows, ALL_ZERO, sizes=sizes, scale=scale, n=n, n_tied=tied, method=method
    )
    known, one = result.jackknifed, result.estimate
    if isinstance(known, str) or abs(value) < 1:
        return one
    least = 2 * share_alike(known.sources) ** 2 - 1
    lo, hi = (least, 1.0) if value > 0 else (-1.0, -least)
    return replace(one, ci_low=lo, ci_high=hi, note="")


def _biserial(ranked: SignedRank) -> Floats:
    plus, minus = ranked.w_plus, ranked.w_minus
    return quotient(plus - minus, plus + minus)


def mean_drop(
    original: ArrayLike, perturbed: ArrayLike, source: ArrayLike, weights: Codes
) -> Estimate:
    """Return the mean of original - perturbed over pairs, in points of the scale.

    original, perturbed, source: (n,); weights: (sources, sources); interval over
    sources. n = pairs, n_tied = zero differences; undefined without pairs, ValueError
    on NaN.
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


LN_20 = math.log(20)
LN_TAIL = math.log(1e-18)
"""Below this harmonic mean p, Landau's tail equals it to the last digit of float64."""


class Discernment(NamedTuple):
    """D = log_0.05 of a combined p, each (...): `d` and `d_ew` as published, the others
    sound.
    """

    d: Floats
    d_ew: Floats
    d_hmp: Floats
    d_exact: Floats


def discernment_score(log_p: ArrayLike) -> Floats:
    """Return log_0.05 p of ln p (...): 1 at p = .05, 0 at p = 1. (Wang et al. 2024,
    3.3.3)
    """
    return np.asarray(0.0 - np.asarray(log_p, np.float64) / LN_20)


def discernment(
    log_p_asymptotic: ArrayLike, log_p_exact: ArrayLike, weights: ArrayLike
) -> Discernment:
    """Return D of 1/sum(1/p), 1/sum(w/p) (asymptotic p), of 1/sum(w/p) and Landau
    (exact p).

    log_p_*: (..., aspects), ln p of the asymptotic and of the exact test; weights:
    (aspects,), ValueError unless they sum to 1. Zero-weight aspects are dropped, except
    from `d`, which the paper leaves unweighted. `d` is not a harmonic mean: it lies
    log_20 M above that of equal weights (methods.md 1). `d_exact` is the p itself for
    one aspect, 0 when every p is 1. (Wang et al. 2024, sections 3.3.2 and 3.3.3; Wilson
    2019)
    """
    asymptotic = np.asarray(log_p_asymptotic, np.float64)
    exact = np.asarray(log_p_exact, np.float64)
    w = checked_weights(weights, asymptotic.shape[-1])
    used = w > 0
    n_used = int(used.sum())
    hmp = log_harmonic_mean(exact[..., used], w[used])
    all_one = (exact[..., used] == 0).all(axis=-1)
    landau = hmp if n_used == 1 else np.where(all_one, 0.0, log_landau(hmp, n_used))
    return Discernment(
        discernment_score(-np.logaddexp.reduce(-asymptotic, axis=-1)),
        discernment_score(log_harmonic_mean(asymptotic[..., used], w[used])),
        discernment_score(hmp),
        discernment_score(landau),
    )


def checked_weights(weights: ArrayLike, n_aspects: int) -> Floats:
    """Return the weights, (aspects,); ValueError unless >= 0, one per aspect, sum 1."""
    w = np.asarray(weights, np.float64)
    if w.shape != (n_aspects,):
        raise ValueError(
            f"aspect weights: got {w.size}, needed one per aspect ({n_aspects})"
        )
    if not (w >= 0).all() or abs(w.sum() - 1) > 1e-9:
        raise ValueError(
            f"aspect weights must be >= 0 and sum to 1: {w.tolist()} sum to {w.sum()}"
        )
    return w


def log_harmonic_mean(log_p: ArrayLike, weights: ArrayLike) -> Floats:
    """Return ln(1 / sum_j w_j / p_j); log_p: (..., aspects), weights: (aspects,), all
    positive.
    """
    inverse = np.logaddexp.reduce(np.log(weights) - np.asarray(log_p), axis=-1)
    return np.asarray(np.minimum(-inverse, 0.0))


def log_landau(log_hmp: ArrayLike, n_aspects: int) -> Floats:
    """Return ln p of a harmonic mean p H of L p-values: 1/H is Landau-distributed under
    the null.

    Location ln L + 1 - gamma - ln(2/pi), scale pi/2; p = H in the far tail, where the
    survival function of x is 1/x. log_hmp: (...). At L = 1 the p itself is exact, not
    this. Source: Wilson 2019.
    """
    # What scipy.stats.landau calls, to the bit; importing scipy.stats takes a second in
    # each job.
    from scipy.special._ufuncs import _landau_sf

    log_h = np.asarray(log_hmp, np.float64)
    location = math.log(n_aspects) + 1 - np.euler_gamma - math.log(2 / math.pi)
    x = (np.exp(-np.maximum(log_h, LN_TAIL)) - location) / (math.pi / 2)
    return np.where(log_h < LN_TAIL, log_h, np.log(_landau_sf(x, 0, 1)))


def average(
    d: ArrayLike, levels: Sequence[str], *, allow_missing: bool = False
) -> Floats:
    """Return D_avg = sum_i D_i / (levels n_i), n_i the perturbations of i's level.

    d: (..., perturbations), result: (...). Levels weigh the same, and perturbations
    within a level; each degree of a perturbation counts as one (Wang et al. 2024, DHP,
    section 3.3.3).

    A missing score (NaN) is a ValueError; with `allow_missing` its level is averaged
    over what is there, a level with nothing left is dropped, and D_avg is NaN when
    nothing is left at all.
    """
    values, given = _planned(d, allow_missing)
    names, level = np.unique(levels, return_inverse=True)
    member = (level[:, None] == np.arange(names.size)).astype(np.float64)
    count = dot(given, member)
    mean = dot(np.where(given, values, 0.0), member) / np.maximum(count, 1)
    n_levels = (count > 0).sum(axis=-1)
    return np.where(n_levels > 0, mean.sum(axis=-1) / np.maximum(n_levels, 1), np.nan)


def minimum(d: ArrayLike, *, allow_missing: bool = False) -> Floats:
    """Return D_min over the planned perturbations; d: (..., perturbations), result:
    (...).

    Missing scores (NaN) as in `average`.
    """
    values, _ = _planned(d, allow_missing)
    return np.asarray(np.fmin.reduce(values, axis=-1))


def _planned(d: ArrayLike, allow_missing: bool) -> tuple[Floats, Flags]:
    """Return the scores and which are there; ValueError when one is missing and may not
    be.
    """
    values = np.asarray(d, np.float64)
    given = ~np.isnan(values)
    if not allow_missing and not given.all():
        gaps = np.flatnonzero(~given.all(axis=tuple(range(given.ndim - 1)))).tolist()
        raise ValueError(
            f"planned perturbations without a score, at {gaps}: set allow_missing"
        )
    return values, given
