"""Comparisons of judges: differences, groups, ranks, detectable gaps."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from judgescope.statistics.arrays import (
    Flags,
    Floats,
    quotient,
)
from judgescope.statistics.declared import amount, declare, p_value, signed_amount
from judgescope.statistics.intervals import CONFIDENCE, PLAIN
from judgescope.statistics.resampling import (
    Replicated,
    fewest_varied,
    with_interval,
    with_percentiles,
)
from judgescope.statistics.result import REASONS, Estimate

DECLARED: Final = declare(
    "comparison",
    rank=amount(
        "Rank by {}",
        "1 is the best; judges sharing a letter do not differ significantly",
        "Piepho 2004 (letters)",
        range="1 and above",
        less_is_better=True,
    ),
    difference=signed_amount(
        "Difference of {}",
        "first judge or wording minus the second, on shared targets",
        keeps_kind=True,
    ),
    detectable=amount(
        "Detectable difference of {}",
        "smallest true difference detected with power .8",
        keeps_kind=True,
    ),
    sources_needed=amount(
        "Sources needed for {}",
        "number of sources needed to detect the requested difference",
    ),
    p=p_value(
        "p for {}", "paired permutation test, two-sided", "Deutsch, Dror, Roth 2021"
    ),
)


def difference(
    first: Replicated, second: Replicated, *, why: str = REASONS.undefined_judge
) -> Replicated:
    """The first value minus the second, plain, with its interval of the paired
    deletions.

    Each deletes a source from both, so what they share cancels. `n` is the smaller of
    both, `n_missing` the larger. Undefined, with the note `why`, where one of them is.

    >>> first = Replicated(Estimate(0.5, n=4), np.array([0.5]))
    >>> second = Replicated(Estimate(0.2, n=3), np.array([0.2]))
    >>> result = difference(first, second).estimate
    >>> round(result.value, 3), result.n
    (0.3, 3)
    """
    a = first.estimate
    b = second.estimate
    n = min(a.n, b.n)
    missing = max(a.n_missing, b.n_missing)
    if a.value is None or b.value is None:
        nothing = Estimate.undefined(why, n=n, n_missing=missing)
        return Replicated(nothing, first.rows * np.nan)
    # A difference of values without an interval has none, too.
    rough = []
    for each in (first, second):
        if each.scale.kind == "rough":
            rough.append(each.scale)
    return with_interval(
        Replicated(
            Estimate(a.value - b.value, n=n, n_missing=missing),
            first.rows - second.rows,
            sizes=np.maximum(first.sizes, second.sizes),
            scale=rough[0] if rough else PLAIN,
            varied=fewest_varied([first, second]),
        )
    )


def on_shared_sources(
    first: Replicated, second: Replicated
) -> tuple[Replicated, Replicated]:
    """Two means over sources as means over the sources in which both have a value.

    A source's value is n m - (n - 1) m_s of the mean m over n sources and that without
    it, m_s.

    >>> sizes = np.array([1.0, 1.0, 0.0])
    >>> rows = np.array([2.0, 3.0, 1.0, 2.0])
    >>> first = Replicated(Estimate(2.0), rows, sizes)  # the mean of 1 and 3
    >>> second = Replicated(Estimate(5.0), np.array([5.0, 5.0, 5.0, 5.0]), sizes[::-1])
    >>> [mean.estimate.value for mean in on_shared_sources(first, second)]  # of 3
    [3.0, 5.0]
    """
    if first.estimate.value is None or second.estimate.value is None:
        return first, second
    shared = (first.sizes > 0) & (second.sizes > 0)
    if np.array_equal(first.sizes > 0, second.sizes > 0):
        return first, second
    return _mean_on(first, shared), _mean_on(second, shared)


def _mean_on(mean: Replicated, chosen: Flags) -> Replicated:
    """A mean over sources as the mean over some of them; chosen (sources,)."""
    n = int((mean.sizes > 0).sum())
    # NaN if n is 1.
    values = n * mean.rows[0] - (n - 1) * np.nan_to_num(mean.rows[1:])
    k = int(chosen.sum())
    total = values[chosen].sum()
    rows = np.full(mean.rows.size, quotient(total, k))
    rows[1:][chosen] = quotient(total - values[chosen], k - 1)
    if k:
        estimate = replace(mean.estimate, value=float(rows[0]), n=k)
    else:
        missing = mean.estimate.n_missing
        estimate = Estimate.undefined(REASONS.no_source, n_missing=missing)
    return mean._replace(estimate=estimate, rows=rows, sizes=chosen.astype(np.float64))


def letters(order: Sequence[int], different: Flags) -> list[str]:
    """A letter display: judges that share a letter are not shown to differ.

    order: the judges, best first; different (judges, judges): which pairs differ
    significantly. Insert and absorb: a pair that differs splits every group that holds
    both, and a group within another is dropped. Letters go from the best group on.
    Shape (judges,), by judge; a judge that is not in `order` has none. Piepho 2004, "An
    Algorithm for a Letter-Based Representation of All-Pairwise Comparisons".

    >>> differ = np.zeros((3, 3), dtype=bool)
    >>> differ[0, 2] = differ[2, 0] = True
    >>> letters([0, 1, 2], differ)
    ['a', 'ab', 'b']
    """
    groups = []
    if len(order):
        groups = [frozenset(order)]
    for i, j in combinations(order, 2):
        if different[i, j]:
            groups = _absorbed(_split(groups, i, j))
    rank = {judge: number for number, judge in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[judge] for judge in group))
    display = [""] * len(different)
    for number, group in enumerate(groups):
        for judge in group:
            display[judge] += letter(number)
    return display


def _split(groups: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Groups of which none holds both judges: those that do are replaced by two."""
    kept = []
    halves = []
    for group in groups:
        if i in group and j in group:
            halves += [group - {i}, group - {j}]
        else:
            kept.append(group)
    return list(dict.fromkeys(kept + halves))


def _absorbed(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """The groups that are not within another group."""
    outer = []
    for group in groups:
        if not any(group < other for other in groups):
            outer.append(group)
    return outer


def letter(number: int) -> str:
    """The letters a, b, …, z, then (aa), (ab), …: each a letter of its own.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', '(aa)')
    """
    if number < 26:
        return chr(ord("a") + number)
    return f"({letter(number // 26 - 1)}{chr(ord('a') + number % 26)})"


def ranks(rows: Floats, n_sources: int) -> list[Estimate]:
    """Each judge's rank, 1 the best, and the interval of its rank over the
    resamples.

    rows (judges, 1 + resamples), the values and bootstrap replicates (`source_weights`)
    of one statistic, higher being better: a rank has no jackknife, as it jumps. Equal
    values share the mean of their ranks; undefined ones rank behind all others, and a
    judge that is undefined has none. An end of the interval is a rank that some
    resample has. `n` counts the judges that are ranked.

    >>> [rank.value for rank in ranks(np.array([[0.5], [0.9], [0.5]]), n_sources=12)]
    [2.5, 1.0, 2.5]
    """
    defined = ~np.isnan(rows[:, 0])
    n = int(defined.sum())
    values = np.where(np.isnan(rows[defined]), -np.inf, rows[defined])
    better = np.sum(values[None, :, :] > values[:, None, :], axis=1)
    equal = np.sum(values[None, :, :] == values[:, None, :], axis=1)
    ranked = better + (equal + 1) / 2
    estimates = [Estimate.undefined(REASONS.undefined_judge, n=n)] * len(rows)
    why_bootstrap = "a rank is not smooth"
    for judge, own_ranks in zip(np.flatnonzero(defined), ranked, strict=True):
        rank = Estimate(float(own_ranks[0]), n=n)
        if own_ranks.size > 1:
            rank = with_percentiles(
                rank, own_ranks[1:], n_sources, why_bootstrap, between=False
            )
        estimates[judge] = rank
    return estimates


PairedP = Mapping[tuple[str, str], float]
"""Two judges -> p of their difference, after Holm's correction."""


def grouped_ranks(
    names: Sequence[str],
    rows: Floats,
    n_sources: int,
    p: PairedP,
    *,
    level: float = 0.05,
) -> list[Estimate]:
    """The judges' `ranks`, with the letters of `letters` in their notes.

    names (judges,); rows (judges, 1 + resamples), n_sources as in `ranks`; p of the
    pairs that were tested: judges whose p is at most `level` share no letter. An
    undefined judge has no letter.

    >>> rows = np.array([[0.5], [0.1]])
    >>> ranked = grouped_ranks(["a", "b"], rows, 12, {("a", "b"): 0.01})
    >>> [rank.note for rank in ranked]
    ['group a', 'group b']
    """
    different = np.zeros((len(names), len(names)), dtype=bool)
    for (judge, other), p_holm in p.items():
        i = names.index(judge)
        j = names.index(other)
        different[i, j] = different[j, i] = p_holm <= level
    known = np.flatnonzero(~np.isnan(rows[:, 0])).tolist()
    order = sorted(known, key=lambda judge: (-rows[judge, 0], names[judge]))
    groups = letters(order, different)
    ranked = []
    for rank, group in zip(ranks(rows, n_sources), groups, strict=True):
        ranked.append(rank.with_note(f"group {group}" if group else ""))
    return ranked


def detectable(first: Replicated, second: Replicated) -> float | None:
    """The least true difference that a two-sided test at .05 would show with
    power .8.

    (z_.975 + z_.8) SE, of the jackknife of the difference: the estimate's error is
    taken as normal and no larger where the true difference is another. None without an
    interval.

    >>> rows = np.append(0.5, np.linspace(0.4, 0.6, 10))
    >>> first = Replicated(Estimate(0.5), rows, np.ones(10))
    >>> second = Replicated(Estimate(0.5), np.full(11, 0.5), np.ones(10))
    >>> round(detectable(first, second), 2)
    0.54
    """
    return detectable_by(difference(first, second))


def detectable_by(gap: Replicated) -> float | None:
    """`detectable` of a difference that is known.

    >>> rows = np.append(0.0, np.linspace(-0.1, 0.1, 10))
    >>> round(detectable_by(Replicated(Estimate(0.0), rows, np.ones(10))), 2)
    0.54
    """
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    result = gap.jackknifed
    if isinstance(result, str):
        return None
    power = 0.8
    return float((ndtri((1 + CONFIDENCE) / 2) + ndtri(power)) * result.error)


def sources_needed(n_sources: int, detectable: float, wished: float) -> int:
    """How many sources would make the detectable difference `wished`: n (d /
    wished)².

    The error falls with the root of the number of sources, of the kind that are there;
    rounded up. ValueError for a wish that is not above 0.

    >>> sources_needed(20, detectable=0.2, wished=0.1)  # four times as many
    80
    """
    if wished <= 0:
        raise ValueError(f"the requested difference must be above 0, not {wished}")
    return math.ceil(n_sources * (detectable / wished) ** 2 - 1e-9)
