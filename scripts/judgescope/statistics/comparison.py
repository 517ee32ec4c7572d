"""Comparisons of judges: differences, groups, ranks, detectable gaps, paired
permutation tests.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Literal, NamedTuple

import numpy as np

from judgescope.statistics import correlation
from judgescope.statistics.arrays import (
    CELLS,
    Codes,
    Flags,
    Floats,
    blocks,
    dot,
    quotient,
)
from judgescope.statistics.classes import confusion_counts, kappas
from judgescope.statistics.correlation import (
    STATISTICS,
    Level,
    Statistic,
    counted,
    within_rows,
)
from judgescope.statistics.declared import amount, declare, p_value, signed_amount
from judgescope.statistics.intervals import CONFIDENCE, PLAIN
from judgescope.statistics.resampling import (
    Replicated,
    fewest_varied,
    with_interval,
    with_percentiles,
)
from judgescope.statistics.result import NO_SOURCE, UNDEFINED_JUDGE, Estimate
from judgescope.statistics.within_sources import Centred, of_sums
from judgescope.statistics.within_sources import centred as centred_within

DECLARED: Final = declare(
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


POWER: Final = 0.8
LEVEL_OF_TESTS: Final = 0.05
"""Judges whose p, after Holm's correction, is at most this share no letter."""
NOT_SMOOTH: Final = "a rank is not smooth"
"""Why a rank's interval is a bootstrap's."""


def difference(
    first: Replicated, second: Replicated, *, why: str = UNDEFINED_JUDGE
) -> Replicated:
    """Return the first value minus the second, plain, with its interval of the paired
    deletions.

    Each deletes a source from both, so what they share cancels. `n` is the smaller of
    both, `n_missing` the larger. Undefined, with the note `why`, where one of them is.
    """
    a, b = first.estimate, second.estimate
    n, missing = min(a.n, b.n), max(a.n_missing, b.n_missing)
    if a.value is None or b.value is None:
        return Replicated(
            Estimate.undefined(why, n=n, n_missing=missing), first.rows * np.nan
        )
    result = Estimate(a.value - b.value, n=n, n_missing=missing)
    rough = next(
        (each.scale for each in (first, second) if each.scale.kind == "rough"), PLAIN
    )
    sizes = np.maximum(first.sizes, second.sizes)
    varied = fewest_varied([first, second])
    rows = first.rows - second.rows
    return with_interval(Replicated(result, rows, sizes, rough, None, varied))


def on_shared_sources(
    first: Replicated, second: Replicated
) -> tuple[Replicated, Replicated]:
    """Return two means over sources as means over the sources in which both have a
    value.

    A source's value is n m - (n - 1) m_s of the mean m over n sources and that without
    it, m_s.
    """
    if first.estimate.value is None or second.estimate.value is None:
        return first, second
    both = (first.sizes > 0) & (second.sizes > 0)
    if np.array_equal(first.sizes > 0, second.sizes > 0):
        return first, second
    k, means = int(both.sum()), list[Replicated]()
    for one in (first, second):
        n = int((one.sizes > 0).sum())
        values = n * one.rows[0] - (n - 1) * np.nan_to_num(
            one.rows[1:]
        )  # NaN if n is 1
        total = values[both].sum()
        rows = np.full(one.rows.size, quotient(total, k))
        rows[1:][both] = quotient(total - values[both], k - 1)
        nothing = Estimate.undefined(NO_SOURCE, n_missing=one.estimate.n_missing)
        estimate = replace(one.estimate, value=float(rows[0]), n=k) if k else nothing
        means.append(
            one._replace(estimate=estimate, rows=rows, sizes=both.astype(np.float64))
        )
    return means[0], means[1]


def letters(order: Sequence[int], different: Flags) -> list[str]:
    """Return a letter display: judges that share a letter are not shown to differ.

    order: the judges, best first; different (judges, judges): which pairs differ
    significantly. Insert and absorb: a pair that differs splits every group that holds
    both, and a group within another is dropped. Letters go from the best group on.
    Shape (judges,), by judge; a judge that is not in `order` has none. Piepho 2004, "An
    Algorithm for a Letter-Based Representation of All-Pairwise Comparisons".
    """
    groups = [frozenset(order)] if len(order) else []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            if different[i, j]:
                split = [g - {out} for g in groups if {i, j} <= g for out in (i, j)]
                groups = list(
                    dict.fromkeys([g for g in groups if not {i, j} <= g] + split)
                )
                groups = [g for g in groups if not any(g < h for h in groups)]
    rank = {judge: place for place, judge in enumerate(order)}
    groups.sort(key=lambda group: sorted(rank[judge] for judge in group))
    result = [""] * len(different)
    for at, group in enumerate(groups):
        for judge in group:
            result[judge] += letter(at)
    return result


def letter(number: int) -> str:
    """Return a, b, …, z, then (aa), (ab), …: each a letter of its own."""
    if number < 26:
        return chr(ord("a") + number)
    return f"({letter(number // 26 - 1)}{chr(ord('a') + number % 26)})"


def ranks(rows: Floats, n_sources: int) -> list[Estimate]:
    """Return each judge's rank, 1 the best, and the interval of its rank over the
    resamples.

    rows (judges, 1 + resamples), the values and bootstrap replicates (`source_weights`)
    of one statistic, higher being better: a rank has no jackknife, as it jumps. Equal
    values share the mean of their ranks; undefined ones rank behind all others, and a
    judge that is undefined has none. An end of the interval is a rank that some
    resample has. `n` counts the judges that are ranked.
    """
    defined = ~np.isnan(rows[:, 0])
    n = int(defined.sum())
    values = np.where(np.isnan(rows[defined]), -np.inf, rows[defined])
    placed = np.array([correlation.midranks(-column) for column in values.T]).T
    estimates = [Estimate.undefined(UNDEFINED_JUDGE, n=n)] * len(rows)
    for judge, places in zip(np.flatnonzero(defined), placed, strict=True):
        rank = Estimate(float(places[0]), n=n)
        if places.size > 1:
            rank = with_percentiles(
                rank, places[1:], n_sources, NOT_SMOOTH, between=False
            )
        estimates[judge] = rank
    return estimates


PairedP = Mapping[tuple[str, str], float]
"""Two judges -> p of their difference, after Holm's correction."""


def grouped_ranks(
    names: Sequence[str], rows: Floats, n_sources: int, p: PairedP
) -> list[Estimate]:
    """The judges' `ranks`, with the letters of `letters` in their notes.

    names (judges,); rows (judges, 1 + resamples), n_sources as in `ranks`; p of the
    pairs that were tested. An undefined judge has no letter.

    >>> rows = np.array([[0.5], [0.1]])
    >>> [one.note for one in grouped_ranks(["a", "b"], rows, 12, {("a", "b"): 0.01})]
    ['group a', 'group b']
    """
    different = np.zeros((len(names), len(names)), dtype=bool)
    for (judge, other), p_holm in p.items():
        i, j = names.index(judge), names.index(other)
        different[i, j] = different[j, i] = p_holm <= LEVEL_OF_TESTS
    known = np.flatnonzero(~np.isnan(rows[:, 0])).tolist()
    groups = letters(sorted(known, key=lambda at: (-rows[at, 0], names[at])), different)
    return [
        rank.with_note(f"group {group}" if group else "")
        for rank, group in zip(ranks(rows, n_sources), groups, strict=True)
    ]


def detectable(first: Replicated, second: Replicated) -> float | None:
    """Return the least true difference that a two-sided test at .05 would show with
    power .8.

    (z_.975 + z_.8) SE, of the jackknife of the difference: the estimate's error is
    taken as normal and no larger where the true difference is another. None without an
    interval.
    """
    from scipy.special import ndtri  # here: asking and parsing load no scipy

    result = difference(first, second).jackknifed
    if isinstance(result, str):
        return None
    return float((ndtri((1 + CONFIDENCE) / 2) + ndtri(POWER)) * result.error)


def sources_needed(n_sources: int, detectable: float, wished: float) -> int:
    """Return how many sources would make the detectable difference `wished`: n (d /
    wished)².

    The error falls with the root of the number of sources, of the kind that are there;
    rounded up. ValueError for a wish that is not above 0.
    """
    if wished <= 0:
        raise ValueError(f"the requested difference must be above 0, not {wished}")
    return math.ceil(n_sources * (detectable / wished) ** 2 - 1e-9)


# --- paired permutation tests ---------------------------------------------------------


Permute = Literal["inputs", "systems", "both"]
Flips = Flags
"""Which units are swapped in each permutation: (permutations, units)."""
Both = tuple[Floats, Floats]
"""The same quantity of the first and of the second judge in each permutation: (rows,)
each."""
PERMUTATIONS = 1000
NEAR = 1e-10
"""Differences nearer than this are equal: round-off must not make a permutation less
extreme."""
ROUND_OFF = 1e-14
"""Of values within [-1, 1]: a mean square deviation below it may be round-off of equal
values."""


def permuted(permute: Permute, permutations: int) -> str:
    """The words for a permutation test in the column `method`."""
    return f"PERM-{permute.upper()}, {permutations} permutations, two-sided"


class PairedTest(NamedTuple):
    """The difference of two judges, its p-values (`permutation_tests`), and its
    targets.
    """

    difference: float
    p: float
    p_greater: float
    n: int


class _Data(NamedTuple):
    """Both judges' scores, people's ratings, and where each target belongs; all
    (targets,).
    """

    x1: Floats
    x2: Floats
    y: Floats
    source: Codes
    system: Codes
    unit: Codes


def flips_of(
    rng: np.random.Generator, units: int, permutations: int = PERMUTATIONS
) -> Flips:
    """Return which units are swapped in each permutation, even chances: (permutations,
    units).
    """
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
    """Return p = (k + 1) / (B + 1) for each statistic of x1 minus that of x2, at one
    level.

    k of B permutations are at least as extreme; p is two-sided, p_greater that of x1
    being no better. Under the null hypothesis the two judges' scores may be swapped:
    all of a source (PERM-INPUTS), all of a system (PERM-SYSTEMS), or of any target
    (PERM-BOTH).

    x1, x2, y (targets,), NaN = missing: targets without all three are left out; source
    and system (targets,) are codes; flips (permutations, units), units being the codes
    of sources or systems, or targets. Scores on different scales cannot be swapped, so
    both judges are standardised first except by_source with `inputs`, where no
    coefficient mixes the scores of both. NaN where a judge has no value, or by_system
    with fewer than 3 systems. Deutsch, Dror, Roth 2021, "A Statistical Analysis of
    Summarization Evaluation Metrics", section 4.
    """
    complete = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(y))
    unit = {"inputs": source, "systems": system, "both": np.arange(y.size)}[permute]
    data = _Data(
        x1[complete],
        x2[complete],
        y[complete],
        source[complete],
        system[complete],
        unit[complete],
    )
    if standardise and (level, permute) != ("by_source", "inputs"):
        data = data._replace(x1=_standardised(data.x1), x2=_standardised(data.x2))
    n = int(complete.sum())
    systems = np.unique(data.system).size
    if n == 0 or (level == "by_system" and systems < correlation.FEWEST_SYSTEMS):
        return dict.fromkeys(statistics, _test(np.full(1, np.nan), n))
    swapped = np.vstack([np.zeros((1, flips.shape[1]), dtype=bool), flips])
    at_level = {"pooled": _pooled, "by_source": _by_source, "by_system": _by_system}
    both = at_level[level](data, swapped, statistics)
    return {name: _test(both[name][0] - both[name][1], n) for name in statistics}


def kappa_test(
    x1: Floats,
    x2: Floats,
    gold: Floats,
    classes: Sequence[float],
    unit: Codes,
    flips: Flips,
) -> PairedTest:
    """Return the test of the linear kappa of x1 with gold classes minus that of x2,
    pooled.

    As `permutation_tests`, with nothing standardised: both judges give classes of one
    scale. x1, x2, gold (targets,), NaN = missing; unit (targets,), the code of what is
    swapped together. ValueError for other values.
    """
    complete = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(gold))
    swapped = np.vstack([np.zeros((1, flips.shape[1]), dtype=bool), flips])
    first, second = (
        confusion_counts(
            gold[complete], x[complete], classes, unit[complete], flips.shape[1]
        )
        for x in (x1, x2)
    )
    moved = dot(swapped.astype(np.float64), second - first)
    differences = kappas(first.sum(axis=0) + moved) - kappas(second.sum(axis=0) - moved)
    return _test(differences, int(complete.sum()))


def within_sources_test(
    x1: Floats, x2: Floats, y: Floats, source: Codes, unit: Codes, flips: Flips
) -> PairedTest:
    """The test of `normal_scores` of x1 minus that of x2, on texts that count for both.

    These have both scores and a rating, and a source with two such texts; each judge
    is ranked among them. A permutation swaps the judges' normal scores, minus the mean
    of their source, of every text of a unit: ranks are those of the data. Where a unit
    is not a source, what a permutation puts together is centred by source again. Both
    judges' normal scores are on one scale, so that nothing is standardised.

    x1, x2, y (texts,), NaN = missing; source (texts,), codes; unit (texts,), the codes
    of what is swapped together: columns of flips (permutations, units). NaN where one
    of the correlations is undefined. Deutsch, Dror, Roth 2021, section 4; methods.md
    18.

    >>> y = np.array([1.0, 2.0, 3.0] * 2)
    >>> source = np.array([0, 0, 0, 1, 1, 1])
    >>> swaps = np.array([[True, False], [False, True], [True, True]])
    >>> test = within_sources_test(y, -y, y, source, source, swaps)
    >>> round(test.difference, 3), test.p
    (2.0, 0.5)
    """
    both = ~(np.isnan(x1) | np.isnan(x2))
    n_sources = int(source.max(initial=-1)) + 1
    first = centred_within(np.where(both, x1, np.nan), y, source, n_sources)
    second = centred_within(np.where(both, x2, np.nan), y, source, n_sources)
    counting = first.counting
    n = int(counting.sum())
    if any(correlation.why_undefined(x[counting], y[counting]) for x in (x1, x2)):
        return _test(np.full(1, np.nan), n)
    used, code = np.unique(unit[counting], return_inverse=True)
    swapped = np.vstack([np.zeros((1, used.size), dtype=bool), flips[:, used]])

    a1, a2, b = first.judge, second.judge, first.people
    gaps = [
        np.bincount(code, weights=quantity, minlength=used.size)
        for quantity in ((a2 - a1) * b, a2 * a2 - a1 * a1)
    ]
    products, squares = dot(swapped.astype(np.float64), np.stack(gaps, axis=1)).T
    off_centre = np.zeros(len(swapped))
    if not np.array_equal(unit[counting], first.source):
        off_centre = _squared_means(first, a2 - a1, code, swapped)
    people = np.full(len(swapped), np.sum(b * b))
    own = of_sums(
        np.sum(a1 * b) + products, np.sum(a1 * a1) + squares - off_centre, people
    )
    other = of_sums(
        np.sum(a2 * b) - products, np.sum(a2 * a2) - squares - off_centre, people
    )
    return _test(own - other, n)


def _squared_means(
    scores: Centred, added: Floats, unit: Codes, swapped: Flips
) -> Floats:
    """Σ k m² over sources, (rows,): m the mean of what a permutation adds to k texts.

    added, unit (n,), as the texts of `scores`; swapped (rows, units).
    """
    order = np.argsort(scores.source, kind="stable")
    _, starts, k = np.unique(
        scores.source[order], return_index=True, return_counts=True
    )
    parts = []
    for block in blocks(len(swapped), order.size, CELLS):
        moved = swapped[block][:, unit[order]] * added[order]
        sums = np.add.reduceat(moved, starts, axis=1)
        parts.append(np.sum(sums * sums / k, axis=1))
    return np.concatenate(parts)


def mean_test(first: Floats, second: Floats, source: Codes, flips: Flips) -> PairedTest:
    """Return the test of mean(first) - mean(second), the values of a source swapped
    together.

    first, second and source (values,), nothing missing; flips (permutations, sources).
    """
    gaps = np.bincount(source, weights=first - second, minlength=flips.shape[1])
    signs = np.vstack([np.ones((1, flips.shape[1])), np.where(flips, -1.0, 1.0)])
    return _test(dot(signs, gaps) / max(first.size, 1), first.size)


def balanced_accuracy_test(
    gold: Floats, first: Floats, second: Floats, labels: int, unit: Codes, flips: Flips
) -> PairedTest:
    """The test of balanced_accuracy of the first judge's labels minus the second's.

    A permutation swaps the judges' labels of every text of a unit. gold, first, second
    (texts,): codes of labels, NaN = missing, which leaves the text out; unit (texts,),
    the codes of what is swapped together: columns of flips (permutations, units). NaN
    where no text has all three, or people use one of two labels.

    >>> gold = np.array([0.0, 1.0, 0.0, 1.0])
    >>> every = np.array([[True, False], [False, True], [True, True]])
    >>> unit = np.array([0, 0, 1, 1])
    >>> balanced_accuracy_test(gold, gold, 1 - gold, 2, unit, every)[:2]
    (1.0, 0.5)
    """
    complete = ~np.isnan(gold + first + second)
    people = gold[complete]
    used, code, texts = np.unique(people, return_inverse=True, return_counts=True)
    n = people.size
    if n == 0 or (labels == 2 and used.size < 2):
        return _test(np.full(1, np.nan), n)
    # The mean of hits weighed so is the mean of the labels' shares.
    weight = n / (used.size * texts[code])
    hits = [weight * (labels_of[complete] == people) for labels_of in (first, second)]
    return mean_test(hits[0], hits[1], unit[complete], flips)


def _standardised(values: Floats) -> Floats:
    spread = values.std() if values.size else 0.0
    return (values - values.mean()) / spread if spread > 0 else values * 0.0


def _test(differences: Floats, n: int) -> PairedTest:
    """Return the test of differences[0] against the others; an undefined one is as
    extreme.
    """
    observed, others = differences[0], differences[1:]
    if np.isnan(observed):
        return PairedTest(float("nan"), float("nan"), float("nan"), n)
    lost = np.isnan(others)
    more = lost | (np.abs(others) >= abs(observed) - NEAR)
    greater = lost | (others >= observed - NEAR)
    k, k_greater = int(more.sum()), int(greater.sum())
    size = others.size + 1
    return PairedTest(float(observed), (k + 1) / size, (k_greater + 1) / size, n)


def _pooled(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> dict[Statistic, Both]:
    used, unit = np.unique(data.unit, return_inverse=True)
    scores, flips = (data.x1, data.x2, data.y), swapped[:, used]
    ranked = [name for name in statistics if name in correlation.RANKED]
    both = rank_coefficients(*scores, unit, flips, ranked) if ranked else {}
    return both | (
        {"pearson": pearson(*scores, unit, flips)} if "pearson" in statistics else {}
    )


def _by_system(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> dict[Statistic, Both]:
    """Swap what each unit adds to its systems' means."""
    systems, code = np.unique(data.system, return_inverse=True)
    used, unit = np.unique(data.unit, return_inverse=True)
    n = np.bincount(code).astype(np.float64)
    people = np.bincount(code, weights=data.y) / n
    slack = correlation.SAME_MEAN * max(1.0, float(np.ptp(people)))
    added = counted(unit, code, (used.size, systems.size), data.x2 - data.x1)
    moved = dot(swapped[:, used], added)
    first, second = (
        within_rows(means, np.broadcast_to(people, means.shape), statistics, slack)
        for x, sums in ((data.x1, moved), (data.x2, -moved))
        for means in [(np.bincount(code, weights=x) + sums) / n]
    )
    return {name: (first[name], second[name]) for name in statistics}


def _by_source(
    data: _Data, swapped: Flips, statistics: Collection[Statistic]
) -> dict[Statistic, Both]:
    """Average over the sources that have a value; where whole sources are swapped, so
    are these.
    """
    x1, x2, people = (_table(v, data.source) for v in (data.x1, data.x2, data.y))
    if not np.array_equal(data.unit, data.source):
        unit = np.nan_to_num(_table(data.unit.astype(np.float64), data.source)).astype(
            np.int64
        )
        first = _each_source(x1, x2, people, unit, swapped, statistics)
        second = _each_source(x2, x1, people, unit, swapped, statistics)
        return {name: (first[name], second[name]) for name in statistics}
    own, other = (within_rows(x, people, statistics) for x in (x1, x2))
    taken = swapped[:, np.unique(data.source)].astype(np.float64)
    both: dict[Statistic, Both] = {}
    for name in statistics:
        defined = ~(np.isnan(own[name]) | np.isnan(other[name]))
        a, b, n = own[name][defined], other[name][defined], defined.sum()
        moved = dot(taken[:, defined], b - a)
        both[name] = quotient(a.sum() + moved, n), quotient(b.sum() - moved, n)
    return both


def _each_source(
    x1: Floats,
    x2: Floats,
    people: Floats,
    unit: Codes,
    swapped: Flips,
    statistics: Collection[Statistic],
) -> dict[Statistic, Floats]:
    """Return the first judge's means, from every source of every permutation: (rows,)
    each.
    """
    means: dict[Statistic, list[Floats]] = {name: [] for name in statistics}
    for block in blocks(len(swapped), people.size, CELLS):
        part = swapped[block]
        scores = np.where(part[:, unit], x2, x1).reshape(-1, people.shape[1])
        values = within_rows(scores, np.tile(people, (len(part), 1)), statistics)
        for name, flat in values.items():
            rows = flat.reshape(len(part), -1)
            means[name].append(
                quotient(np.nansum(rows, axis=1), np.sum(~np.isnan(rows), axis=1))
            )
    return {name: np.concatenate(rows) for name, rows in means.items()}


def _table(values: Floats, source: Codes) -> Floats:
    """Return (sources, most targets of a source), filled from the left, NaN where there
    is none.
    """
    used, code = np.unique(source, return_inverse=True)
    return correlation.one_row_per_source(values, code, used.size)


def rank_coefficients(
    x1: Floats,
    x2: Floats,
    y: Floats,
    unit: Codes,
    flips: Flips,
    statistics: Collection[Statistic],
) -> dict[Statistic, Both]:
    """Return Spearman's rho and tau-b of both judges in each permutation, NaN without
    variation.

    A permutation takes, for each unit (a source, a system or a target), the scores of
    one judge or of the other: the first judge's coefficient rests on what is taken, the
    second's on the rest. No permutation is written out: it is a row of weights of each
    unit's targets with either judge's score. x1, x2, y and unit (targets,), nothing
    missing; flips (rows, units), True where the unit's scores are swapped; every unit
    has a target.
    """
    n, sides = float(y.size), np.append(unit, unit + flips.shape[1])
    taken = flips.astype(np.float64)
    weights = np.hstack([1 - taken, taken]), np.hstack([taken, 1 - taken])
    values, code = np.unique(np.append(x1, x2), return_inverse=True)
    people, code_of_y, counts = np.unique(y, return_inverse=True, return_counts=True)
    # Counts of pairs of values are cheaper than pairs of targets.
    if flips.size * values.size * people.size < 8 * y.size**2:
        of = partial(correlation.over_rows, np.append(x1, x2), np.append(y, y), sides)
        own, others = (of(rows, statistics) for rows in weights)
        return {name: (own[name], others[name]) for name in statistics}
    twice_deviations = 2 * np.cumsum(counts) - counts - y.size
    deviations = twice_deviations[code_of_y]
    how: dict[Statistic, tuple[correlation.Weighing, int, int, int]] = {
        # the sum over pairs and its divisor, the power of ties and its divisor: the sum
        # of (2 midrank - n - 1)² is (n³ - sum w³) / 3
        "spearman": (
            (deviations.astype(np.min_scalar_type(-2 * y.size)), np.subtract),
            2,
            3,
            3,
        ),
        "kendall_b": (
            (code_of_y.astype(np.min_scalar_type(y.size)), correlation.signs),
            1,
            2,
            1,
        ),
    }
    a, b = np.split(code.astype(np.min_scalar_type(code.size)), 2)
    sums = _products(a, b, [how[name][0] for name in statistics], unit, taken)
    both: dict[Statistic, Both] = {}
    for name, across in zip(statistics, sums, strict=True):
        _, halves, power, parts = how[name]
        other = np.asarray(
            (n**power - float((counts.astype(np.float64) ** power).sum())) / parts
        )
        first, second = (
            correlation.ratio(
                ab / halves,
                (n**power - correlation.tied(code, sides, rows, power)) / parts,
                other,
            )
            for ab, rows in zip(across, weights, strict=True)
        )
        both[name] = first, second
    return both


def _products(
    a: Codes,
    b: Codes,
    weighings: Sequence[correlation.Weighing],
    unit: Codes,
    flips: Floats,
) -> list[Both]:
    """Return sum sign(a_i - a_j) g(y_i, y_j) over pairs, for each (y, g) of
    `weighings`.

    Of each judge in each permutation. With f = 1 where a unit is swapped and M_ab the
    sums over targets i of one unit and j of another of sign(a_i - b_j) g(y_i, y_j):
    1'M_11 1 - 2 f'M_11 1 + 2 f'M_21 1 + f'Q f for the first judge, the same with 1 and
    2 exchanged for the second, Q = M_11 + M_22 - M_12 - M_21. g is antisymmetric and
    whole.
    """
    squares = np.zeros((len(weighings), len(flips)))
    sums = np.zeros((len(weighings), 2, 2, flips.shape[1]))  # M_ab 1, by unit
    pairs = [(v, w) for v in (a, b) for w in (a, b)]
    for part, matrices in correlation.sign_products(pairs, weighings, unit):
        inside = part.stop - part.start
        for square, total, each in zip(squares, sums, matrices, strict=True):
            m = np.array(each).reshape(2, 2, inside, -1)
            total[:, :, part] += m.sum(axis=3)
            total[:, :, part.stop :] += (
                m[:, :, :, inside:].sum(axis=2).transpose(1, 0, 2)
            )
            q = m[0, 0] + m[1, 1] - m[0, 1] - m[1, 0]
            q[:, inside:] *= (
                2  # what stands below the diagonal mirrors what stands above it
            )
            square += np.einsum(
                "rs,rs->r", dot(flips[:, part], q), flips[:, part.start :]
            )
    return [
        (
            m[0, 0].sum() + 2 * dot(flips, m[1, 0] - m[0, 0]) + square,
            m[1, 1].sum() + 2 * dot(flips, m[0, 1] - m[1, 1]) + square,
        )
        for m, square in zip(sums, squares, strict=True)
    ]


def pearson(x1: Floats, x2: Floats, y: Floats, unit: Codes, flips: Flips) -> Both:
    """Return Pearson's r of both judges in each permutation, NaN without variation.

    What a unit adds to sum a b and sum a² moves from one judge to the other; a and b
    are centred over both judges. Arguments as in `rank_coefficients`.
    """
    (a1, a2), b = (
        np.split(correlation.centred(np.append(x1, x2)), 2),
        correlation.centred(y),
    )
    own, other = ([a, a * a, a * b] for a in (a1, a2))
    gaps = [
        np.bincount(unit, weights=q - p, minlength=flips.shape[1])
        for p, q in zip(own, other, strict=True)
    ]
    moved = dot(flips.astype(np.float64), np.array(gaps).T).T
    both = []
    for moments, sign in ((own, 1), (other, -1)):
        a, squares, across = (
            np.sum(v) + sign * gap for v, gap in zip(moments, moved, strict=True)
        )
        varies = squares - a * a / b.size
        varies = np.where(varies > ROUND_OFF * b.size, varies, np.nan)
        both.append(
            correlation.ratio(across - a * b.mean(), varies, dot(b - b.mean(), b))
        )
    return both[0], both[1]
