"""Pairwise accuracy: of texts, with calibrated ties, and of systems, with soft
p-values.
"""

from itertools import product
from typing import Final, NamedTuple

import numpy as np

from judgescope.statistics.arrays import (
    DIGITS,
    Codes,
    Flags,
    Floats,
    blocks,
    dot,
    quotient,
)
from judgescope.statistics.coefficients import counted
from judgescope.statistics.declared import (
    concordance,
    declare,
    p_of_null,
    signed_amount,
)
from judgescope.statistics.order import pairs_within
from judgescope.statistics.registry import scale_of
from judgescope.statistics.resampling import (
    Replicated,
    TargetSample,
    mean_rows,
    replicated,
    whole_and_resamples,
)
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.source_rows import DENSE_CELLS, SourceRows, Weights

DECLARED = declare(
    "accuracy",
    acc_eq=concordance(
        "acc_eq",
        "share of pairs of texts that the judge orders or ties as people do",
        "Deutsch, Foster, Freitag 2023",
        ties="calibrated",
    ),
    spa=concordance(
        "SPA",
        "1 minus the difference between the judge's and people's p-values, mean over "
        "pairs of systems",
        "Thompson et al. 2024",
        ties="half",
    ),
)

DECLARED += declare(
    "system_pairs",
    system_difference=signed_amount(
        "Mean score difference",
        "first system's score minus the second's, mean over sources",
    ),
    p_system_difference=p_of_null(
        "p, paired",
        "the first system is no better; sign flips of the differences by source",
        "Thompson et al. 2024",
        ties="half",
    ),
    p_system_rank_sum=p_of_null(
        "p, rank sum",
        "the first system is no better; Wilcoxon's rank sum of their scores",
        "Wilcoxon 1945",
        ties="half",
    ),
)


MOST_EPSILONS: Final = 256
"""Quantiles that are tried where there are more different distances."""


def acc_eq(
    x: Floats, y: Floats, source: Codes, *, weights: Weights, leave_one_out: bool = True
) -> tuple[Replicated, float | None]:
    """The mean over sources of the share of pairs that x orders, or ties, as y
    does.

    A pair of targets of one source is right if the sign of y_i - y_j is that of x_i -
    x_j, where a distance |x_i - x_j| <= epsilon is a tie. The second value is the
    epsilon that is best over all sources, the smallest of equals; the accuracy of a
    source is taken at the one that is best over the others (`leave_one_out`), else at
    the best of all, which flatters. A threshold is not smooth, so the interval takes
    each source's as given. Epsilons are the distances between scores that occur, or
    MOST_EPSILONS quantiles of them.

    x, y, source (targets,), NaN = missing: a target without both counts in `n_missing`.
    Range [0, 1]; `n` counts sources with a pair; `n_tied` the pairs that are tied in x
    as they are. Undefined without a pair, and with one source if it is to be left out.
    Deutsch, Foster, Freitag 2023, "Ties Matter".

    >>> people = np.array([1.0, 2.0, 3.0, 3.0])
    >>> judge = np.array([1.0, 2.0, 3.0, 2.5])
    >>> source = np.array([0, 0, 1, 1])
    >>> keys = {"weights": None, "leave_one_out": False}
    >>> accuracy, epsilon = acc_eq(judge, people, source, **keys)
    >>> accuracy.estimate.value, epsilon  # a distance of .5 is a tie
    (1.0, 0.5)
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    missing = int(complete.size - complete.sum())
    rows = whole_and_resamples(source, weights)
    judge = x[complete]
    people = y[complete]
    sources = source[complete]
    i, j = pairs_within(sources)
    dx = judge[i] - judge[j]
    dy = people[i] - people[j]
    distance = np.round(np.abs(dx), DIGITS).astype(np.float64)
    agrees = np.sign(dx) == np.sign(dy)
    tied = dy == 0
    used, code = np.unique(sources[i], return_inverse=True)
    if used.size < 1 + leave_one_out:
        nothing = Estimate.undefined(REASONS.no_source, n=used.size, n_missing=missing)
        return Replicated(nothing, np.full(len(rows), np.nan)), None
    epsilons = _epsilons(distance)
    right = _right(code, distance, agrees, tied, epsilons, used.size)
    total = right.sum(axis=0)
    best = _best(total)
    chosen = np.full(used.size, best)
    if leave_one_out:
        # The threshold of a source is chosen without it: else each source would have
        # a say in the threshold that its own accuracy is taken at.
        chosen = _best(total - right)
    values = np.full(rows.shape[1], np.nan)
    values[used] = np.take_along_axis(right, chosen[:, None], axis=1)[:, 0]
    accuracy = replicated(
        mean_rows(values, rows),
        REASONS.no_source,
        sizes=np.isfinite(values),
        scale=scale_of("acc_eq"),
        n=used.size,
        n_missing=missing,
        n_tied=int((distance == 0).sum()),
        ends=(0.0, 1.0),
    )
    return accuracy, float(epsilons[best])


def _epsilons(distance: Floats) -> Floats:
    """The distances that are tried as ties, 0 among them."""
    epsilons = np.unique(np.append(distance, 0.0))
    if epsilons.size > MOST_EPSILONS:
        quantiles = np.linspace(0, 1, MOST_EPSILONS)
        epsilons = np.unique(np.quantile(epsilons, quantiles, method="lower"))
    return epsilons


def _right(
    source: Codes,
    distance: Floats,
    agrees: Flags,
    tied: Flags,
    epsilons: Floats,
    n_sources: int,
) -> Floats:
    """The share of right pairs of each source at each epsilon: (sources,
    epsilons).
    """
    # The first epsilon that makes the pair a tie.
    step = np.searchsorted(epsilons, distance)
    shape = n_sources, epsilons.size + 1
    ordered_right = agrees & ~tied
    ordered = counted(source[ordered_right], step[ordered_right], shape)
    now_tied = counted(source[tied], step[tied], shape)
    still_ordered = ordered.sum(axis=1, keepdims=True) - np.cumsum(ordered, axis=1)
    pairs = np.bincount(source, minlength=n_sources)[:, None]
    return np.asarray((still_ordered + np.cumsum(now_tied, axis=1))[:, :-1] / pairs)


def _best(total: Floats) -> Codes:
    """The first place of the largest along the last axis; round-off makes no
    difference.
    """
    largest = total.max(axis=-1, keepdims=True)
    result: Codes = np.argmax(total >= largest - 1e-9, axis=-1)
    return result


EXACT_SOURCES: Final = 12


def soft_pairwise_accuracy(
    x: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    *,
    weights: Weights,
    mid_p: bool = True,
) -> Replicated:
    """The mean over pairs of systems of 1 - |p_x - p_y|.

    p is the one-sided p-value that the first system of a pair is better: the share of
    all flips of the signs of its differences from the second, one per source, whose sum
    is as large as theirs; equal sums count half (`mid_p`), else whole, which makes p
    depend on which system comes first. Up to EXACT_SOURCES sources all flips are
    counted; with more, and in every resample, p is 1 - Phi(sum d / sqrt(sum d²)), to
    which the mid-p tends.

    x, y (targets,), NaN = missing: a target without both counts in `n_missing`, and a
    pair is compared on the sources that have both systems. Range [0, 1]; `n` counts
    systems, at least 3; `n_tied` the pairs that are equal in x. ValueError for
    `mid_p=False` with more sources than can be counted. Thompson et al. 2024,
    "Improving Statistical Significance in Human Evaluation".

    >>> people = np.array([1.0, 2.0, 3.0] * 2)
    >>> source = np.array([0, 0, 0, 1, 1, 1])
    >>> system = np.array([0, 1, 2] * 2)
    >>> one = soft_pairwise_accuracy(people, people, source, system, weights=None)
    >>> two = soft_pairwise_accuracy(-people, people, source, system, weights=None)
    >>> one.estimate.value, two.estimate.value  # p of a pair: 7/8 or 1/8
    (1.0, 0.25)
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    sample = TargetSample.select(complete, source, weights)
    systems, code = np.unique(system[complete], return_inverse=True)
    fewest_systems = 3
    if systems.size < fewest_systems:
        return sample.undefined(REASONS.few_systems, n=systems.size)
    used, at = np.unique(sample.source, return_inverse=True)
    shape = used.size, systems.size
    dx = _differences(_system_means(x[complete], at, code, shape))
    dy = _differences(_system_means(y[complete], at, code, shape))
    known = ~np.isnan(dx).all(axis=0)
    if not known.any():
        return sample.undefined(REASONS.no_source, n=systems.size)
    rows = sample.rows.columns(used)
    values = 1 - _mean_gap_of_p(rows, dx, dy, np.flatnonzero(known))
    if used.size <= EXACT_SOURCES:
        values[0] = 1 - np.abs(_flip_p(dx, mid_p) - _flip_p(dy, mid_p))[known].mean()
    elif not mid_p:
        raise ValueError(
            f"{used.size} sources: only up to {EXACT_SOURCES} without mid_p"
        )
    equal = int(np.sum(np.nansum(dx, axis=0) == 0))
    return sample.result(
        "spa", values, REASONS.few_systems, n=systems.size, n_tied=equal
    )


def _mean_gap_of_p(rows: SourceRows, dx: Floats, dy: Floats, pairs: Codes) -> Floats:
    """The mean over some pairs of |p_x - p_y|, of all sources and of each resample.

    dx, dy (sources, pairs): differences between the two systems of each pair.
    """
    gaps = np.zeros(len(rows))
    for part in blocks(pairs.size, len(dx), DENSE_CELLS):
        of_judge = _limit_p(rows, dx[:, pairs[part]])
        of_people = _limit_p(rows, dy[:, pairs[part]])
        gaps += np.abs(of_judge - of_people).sum(axis=1)
    return gaps / pairs.size


def _system_means(
    values: Floats, source: Codes, system: Codes, shape: tuple[int, int]
) -> Floats:
    """The mean of each source's texts of each system, NaN without one."""
    return quotient(
        counted(source, system, shape, values), counted(source, system, shape)
    )


def _differences(means: Floats) -> Floats:
    """(sources, pairs): the first system's mean minus the second's, NaN without
    both.
    """
    first, second = np.triu_indices(means.shape[1], 1)
    return np.asarray(means[:, first] - means[:, second])


def _limit_p(rows: SourceRows, difference: Floats) -> Floats:
    """1 - Phi(sum d / sqrt(sum d²)) of each row of weights and each pair: (rows,
    pairs).
    """
    from scipy.special import ndtr  # here: asking and parsing load no scipy

    d = np.nan_to_num(difference)
    sums = rows.sums(d)
    squares = rows.sums(np.square(d))
    z = np.divide(sums, np.sqrt(squares), out=np.zeros_like(sums), where=squares > 0)
    return np.asarray(ndtr(-z))


def _flip_p(difference: Floats, mid_p: bool = True) -> Floats:
    """The share of all flips of signs whose sum is as large as that of each
    pair.
    """
    flips = np.array(list(product((1.0, -1.0), repeat=len(difference))))
    d = np.nan_to_num(difference)
    sums = dot(flips, d)
    observed = d.sum(axis=0)
    near = 1e-9 * np.abs(d).sum(axis=0)
    above = sums > observed + near
    equal = np.abs(sums - observed) <= near
    part = 0.5 if mid_p else 1.0
    return np.asarray(np.mean(above + equal * part, axis=0))


class SystemPair(NamedTuple):
    """Two systems, by number, and the evidence on whether the first is better.

    difference: first minus second on each source that has both (sources,), with the
    sources' codes; paired: p of flipped signs, of `sources`; rank_sum: p of ranks of
    both systems' scores, of `sizes` sources each. Both p are one-sided; None without a
    source, or a source of each.
    """

    first: int
    second: int
    difference: Floats
    source: Codes
    paired: float | None
    rank_sum: float | None
    sizes: tuple[int, int]


def system_pairs(x: Floats, source: Codes, system: Codes) -> list[SystemPair]:
    """For every two systems one-sided p that the first is better: of signs, and
    of ranks.

    paired: as in `soft_pairwise_accuracy`, of the differences of the sources that have
    both; rank_sum: Wilcoxon's test, 1 - Phi((U - m n / 2) / s), U = sum over pairs of
    [x_a > x_b] + [x_a = x_b] / 2 and s² = m n (N + 1 - sum (t³ - t) / (N (N - 1))) / 12
    with ties of t scores, of all m sources of the first and n of the second: it ignores
    that sources are shared. Neither is corrected for the number of pairs. Equal scores
    throughout: p = .5.

    x (texts,), NaN = missing; a system's score of a source is its texts' mean. Thompson
    et al. 2024 (paired); Kocmi et al. 2022 (rank sum, of direct assessments).

    >>> scores = np.array([3.0, 1.0, 4.0, 2.0])
    >>> pair = system_pairs(scores, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))[0]
    >>> pair.difference.tolist(), pair.paired  # half of one flip in four
    ([2.0, 2.0], 0.125)
    """
    given = ~np.isnan(x)
    sources, at = np.unique(source[given], return_inverse=True)
    systems, code = np.unique(system[given], return_inverse=True)
    table = _system_means(x[given], at, code, (sources.size, systems.size))
    differences = _differences(table)
    if sources.size <= EXACT_SOURCES:
        paired = _flip_p(differences)
    else:
        rows = whole_and_resamples(np.arange(sources.size), None)
        paired = _limit_p(rows, differences)[0]
    pairs = []
    for number, (first, second) in enumerate(
        zip(*np.triu_indices(systems.size, 1), strict=True)
    ):
        both = ~np.isnan(differences[:, number])
        a = table[~np.isnan(table[:, first]), first]
        b = table[~np.isnan(table[:, second]), second]
        pairs.append(
            SystemPair(
                int(systems[first]),
                int(systems[second]),
                differences[both, number],
                sources[both],
                float(paired[number]) if both.any() else None,
                _rank_sum_p(a, b) if a.size and b.size else None,
                (a.size, b.size),
            )
        )
    return pairs


def _rank_sum_p(a: Floats, b: Floats) -> float:
    """The one-sided p that scores a are larger than scores b, by their ranks."""
    from scipy.stats import mannwhitneyu

    # What differs by round-off alone is a tie.
    both = np.round(np.concatenate([a, b]), 9)
    if np.ptp(both) == 0:
        return 0.5
    test = {"alternative": "greater", "method": "asymptotic", "use_continuity": False}
    return float(mannwhitneyu(both[: a.size], both[a.size :], **test).pvalue)
