"""Paired permutation tests of the difference of two judges.

Under the null hypothesis the scores of both judges may be swapped: of a source, of a
system, or of any text. Deutsch, Dror, Roth 2021.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from judgescope.statistics import coefficients, correlation
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
from judgescope.statistics.coefficients import Coefficient, counted, within_rows
from judgescope.statistics.correlation import COEFFICIENTS, CorrelationLevel
from judgescope.statistics.source_rows import DrawnRows
from judgescope.statistics.within_sources import Centred, of_sums
from judgescope.statistics.within_sources import centred as centred_within
from judgescope.statistics.without_sources import Quadrants, net_weight_below

Permute = Literal["inputs", "systems", "both"]


Flips = Flags
"""Which units are swapped in each permutation: (permutations, units)."""


Both = tuple[Floats, Floats]
"""The same quantity of the first and of the second judge in each permutation: (rows,)
each."""


PERMUTATIONS = 1000


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
    """Which units are swapped in each permutation, even chances: (permutations,
    units).

    >>> flips_of(np.random.default_rng(1), units=2, permutations=3).shape
    (3, 2)
    """
    flips = np.empty((permutations, units), dtype=bool)
    # In blocks, whose random numbers take eight times the space of flips.
    for part in blocks(permutations, units, CELLS):
        flips[part] = rng.random((part.stop - part.start, units)) < 0.5
    return flips


def permutation_tests(
    x1: Floats,
    x2: Floats,
    y: Floats,
    source: Codes,
    system: Codes,
    flips: Flips,
    *,
    level: CorrelationLevel,
    permute: Permute = "inputs",
    statistics: Collection[Coefficient] = COEFFICIENTS,
    standardise: bool = True,
) -> Mapping[Coefficient, PairedTest]:
    """p = (k + 1) / (B + 1) for each statistic of x1 minus that of x2, at one
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

    >>> people = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    >>> source = np.array([0, 0, 0, 1, 1, 1])
    >>> system = np.array([0, 1, 2, 0, 1, 2])
    >>> every = np.array([[True, False], [False, True], [True, True]])
    >>> data = (people, -people, people, source, system)
    >>> test = permutation_tests(*data, every, level="by_source")["pearson"]
    >>> round(test.difference, 6), test.p  # both sources swapped: as large
    (2.0, 0.5)
    """
    complete = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(y))
    units = {"inputs": source, "systems": system, "both": np.arange(y.size)}
    unit = units[permute]
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
    swapped = _with_data(flips)
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
    """The test of the linear kappa of x1 with gold classes minus that of x2, pooled.

    As `permutation_tests`, with nothing standardised: both judges give classes of one
    scale. x1, x2, gold (targets,), NaN = missing; unit (targets,), the code of what is
    swapped together. ValueError for other values.

    >>> people = np.array([1.0, 2.0, 1.0, 2.0])
    >>> every = np.array([[True, False], [False, True], [True, True]])
    >>> unit = np.array([0, 0, 1, 1])
    >>> test = kappa_test(people, 3 - people, people, [1, 2], unit, every)
    >>> test.difference, test.p
    (2.0, 0.5)
    """
    complete = ~(np.isnan(x1) | np.isnan(x2) | np.isnan(gold))
    people = gold[complete]
    units = unit[complete]
    n_units = flips.shape[1]
    first = confusion_counts(people, x1[complete], classes, units, n_units)
    second = confusion_counts(people, x2[complete], classes, units, n_units)
    moved = DrawnRows(_with_data(flips)).sums(second - first)
    differences = kappas(first.sum(axis=0) + moved) - kappas(second.sum(axis=0) - moved)
    return _test(differences, int(complete.sum()))


def _with_data(flips: Flips) -> Flips:
    """The permutations after a first one that swaps nothing, the data as they are."""
    return np.vstack([np.zeros((1, flips.shape[1]), dtype=bool), flips])


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
    of the correlations is undefined. Deutsch, Dror, Roth 2021, section 4;
    docs/methods.md, "Agreement".

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
    swapped = _with_data(flips[:, used])

    a1 = first.judge
    a2 = second.judge
    b = first.people
    # What a swap of a unit adds to the first judge's sums; it takes the same from the
    # second's.
    product_gaps = np.bincount(code, weights=(a2 - a1) * b, minlength=used.size)
    square_gaps = np.bincount(code, weights=a2 * a2 - a1 * a1, minlength=used.size)
    gaps = np.stack([product_gaps, square_gaps], axis=1)
    products, squares = DrawnRows(swapped).sums(gaps).T
    off_centre = np.zeros(len(swapped))
    if not np.array_equal(unit[counting], first.source):
        off_centre = _squared_means(first, a2 - a1, code, swapped)
    people = np.full(len(swapped), np.sum(b * b))
    first_products = np.sum(a1 * b) + products
    first_squares = np.sum(a1 * a1) + squares - off_centre
    of_first = of_sums(first_products, first_squares, people)
    second_products = np.sum(a2 * b) - products
    second_squares = np.sum(a2 * a2) - squares - off_centre
    of_second = of_sums(second_products, second_squares, people)
    return _test(of_first - of_second, n)


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
    """The test of mean(first) - mean(second), the values of a source swapped
    together.

    first, second and source (values,), nothing missing; flips (permutations, sources).

    >>> first = np.array([1.0, 1.0])
    >>> every = np.array([[True, False], [False, True], [True, True]])
    >>> test = mean_test(first, np.zeros(2), np.array([0, 1]), every)
    >>> test.difference, test.p, test.p_greater
    (1.0, 0.5, 0.25)
    """
    units = flips.shape[1]
    gaps = np.bincount(source, weights=first - second, minlength=units)
    signs = np.where(_with_data(flips), np.int8(-1), np.int8(1))
    differences = DrawnRows(signs).sums(gaps) / max(first.size, 1)
    return _test(differences, first.size)


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
    first_hits = weight * (first[complete] == people)
    second_hits = weight * (second[complete] == people)
    return mean_test(first_hits, second_hits, unit[complete], flips)


def _standardised(values: Floats) -> Floats:
    spread = values.std() if values.size else 0.0
    return (values - values.mean()) / spread if spread > 0 else values * 0.0


def _test(differences: Floats, n: int) -> PairedTest:
    """The test of differences[0] against the others; an undefined one is as extreme."""
    observed = differences[0]
    others = differences[1:]
    if np.isnan(observed):
        return PairedTest(float("nan"), float("nan"), float("nan"), n)
    # Round-off must not make a permutation less extreme.
    near = 1e-10
    lost = np.isnan(others)
    more = lost | (np.abs(others) >= abs(observed) - near)
    greater = lost | (others >= observed - near)
    k = int(more.sum())
    k_greater = int(greater.sum())
    size = others.size + 1
    return PairedTest(float(observed), (k + 1) / size, (k_greater + 1) / size, n)


def _pooled(
    data: _Data, swapped: Flips, statistics: Collection[Coefficient]
) -> dict[Coefficient, Both]:
    used, unit = np.unique(data.unit, return_inverse=True)
    flips = swapped[:, used]
    both: dict[Coefficient, Both] = {}
    ranked = [name for name in statistics if name in coefficients.RANKED]
    if ranked:
        both = rank_coefficients(data.x1, data.x2, data.y, unit, flips, ranked)
    if "pearson" in statistics:
        both["pearson"] = pearson(data.x1, data.x2, data.y, unit, flips)
    return both


def _by_system(
    data: _Data, swapped: Flips, statistics: Collection[Coefficient]
) -> dict[Coefficient, Both]:
    """Swap what each unit adds to its systems' means."""
    systems, code = np.unique(data.system, return_inverse=True)
    used, unit = np.unique(data.unit, return_inverse=True)
    n = np.bincount(code).astype(np.float64)
    people = np.bincount(code, weights=data.y) / n
    slack = correlation.SAME_MEAN * max(1.0, float(np.ptp(people)))
    added = counted(unit, code, (used.size, systems.size), data.x2 - data.x1)
    moved = DrawnRows(swapped[:, used]).sums(added)
    first_means = (np.bincount(code, weights=data.x1) + moved) / n
    second_means = (np.bincount(code, weights=data.x2) - moved) / n
    of_people = np.broadcast_to(people, first_means.shape)
    first = within_rows(first_means, of_people, statistics, slack)
    second = within_rows(second_means, of_people, statistics, slack)
    return {name: (first[name], second[name]) for name in statistics}


def _by_source(
    data: _Data, swapped: Flips, statistics: Collection[Coefficient]
) -> dict[Coefficient, Both]:
    """Average over the sources that have a value; where whole sources are swapped, so
    are these.
    """
    x1 = _table(data.x1, data.source)
    x2 = _table(data.x2, data.source)
    people = _table(data.y, data.source)
    if not np.array_equal(data.unit, data.source):
        units = _table(data.unit.astype(np.float64), data.source)
        unit = np.nan_to_num(units).astype(np.int64)
        first = _each_source(x1, x2, people, unit, swapped, statistics)
        second = _each_source(x2, x1, people, unit, swapped, statistics)
        return {name: (first[name], second[name]) for name in statistics}
    of_first = within_rows(x1, people, statistics)
    of_second = within_rows(x2, people, statistics)
    taken = DrawnRows(swapped).columns(np.unique(data.source))
    both: dict[Coefficient, Both] = {}
    for name in statistics:
        defined = ~(np.isnan(of_first[name]) | np.isnan(of_second[name]))
        a = of_first[name][defined]
        b = of_second[name][defined]
        n = defined.sum()
        moved = taken.columns(np.flatnonzero(defined)).sums(b - a)
        both[name] = quotient(a.sum() + moved, n), quotient(b.sum() - moved, n)
    return both


def _each_source(
    x1: Floats,
    x2: Floats,
    people: Floats,
    unit: Codes,
    swapped: Flips,
    statistics: Collection[Coefficient],
) -> dict[Coefficient, Floats]:
    """The first judge's means, from every source of every permutation: (rows,)
    each.
    """
    means: dict[Coefficient, list[Floats]] = {name: [] for name in statistics}
    for block in blocks(len(swapped), people.size, CELLS):
        part = swapped[block]
        scores = np.where(part[:, unit], x2, x1).reshape(-1, people.shape[1])
        values = within_rows(scores, np.tile(people, (len(part), 1)), statistics)
        for name, flat in values.items():
            rows = flat.reshape(len(part), -1)
            n = np.sum(~np.isnan(rows), axis=1)
            means[name].append(quotient(np.nansum(rows, axis=1), n))
    return {name: np.concatenate(rows) for name, rows in means.items()}


def _table(values: Floats, source: Codes) -> Floats:
    """(sources, most targets of a source), filled from the left, NaN where there
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
    statistics: Collection[Coefficient],
) -> dict[Coefficient, Both]:
    """Spearman's rho and tau-b of both judges in each permutation, NaN without
    variation.

    A permutation takes, for each unit (a source, a system or a target), the scores of
    one judge or of the other: the first judge's coefficient rests on what is taken, the
    second's on the rest. No permutation is written out: it is a row of weights of each
    unit's targets with either judge's score. x1, x2, y and unit (targets,), nothing
    missing; flips (rows, units), True where the unit's scores are swapped; every unit
    has a target.

    >>> people = np.array([1.0, 2.0, 3.0])
    >>> flips = np.array([[False, False, False], [True, True, True]])
    >>> data = (people, -people, people, np.arange(3))
    >>> first, second = rank_coefficients(*data, flips, ["kendall_b"])["kendall_b"]
    >>> first.tolist(), second.tolist()
    ([1.0, -1.0], [-1.0, 1.0])
    """
    n = float(y.size)
    sides = np.append(unit, unit + flips.shape[1])
    taken = flips.astype(np.float64)
    of_first = np.hstack([1 - taken, taken])
    of_second = np.hstack([taken, 1 - taken])
    values, code = np.unique(np.append(x1, x2), return_inverse=True)
    people, code_of_y, counts = np.unique(y, return_inverse=True, return_counts=True)
    # Counts of pairs of values are cheaper than pairs of targets.
    if flips.size * values.size * people.size < 8 * y.size**2:
        data = (np.append(x1, x2), np.append(y, y), sides)
        first = coefficients.over_rows(*data, DrawnRows(of_first), statistics)
        second = coefficients.over_rows(*data, DrawnRows(of_second), statistics)
        return {name: (first[name], second[name]) for name in statistics}
    sizes = counts.astype(np.float64)
    weighings = {
        "spearman": _weighing_of_rho(code_of_y, counts),
        "kendall_b": (code_of_y.astype(np.min_scalar_type(y.size)), coefficients.signs),
    }
    a, b = np.split(code.astype(np.min_scalar_type(code.size)), 2)
    chosen = [weighings[name] for name in statistics]
    margins = [
        _sums_by_unit(code, code_of_y, unit, flips.shape[1], name)
        for name in statistics
    ]
    sums = _products(a, b, chosen, margins, unit, taken)
    both: dict[Coefficient, Both] = {}
    for name, (products_first, products_second) in zip(statistics, sums, strict=True):
        # The sum of (2 midrank - n - 1)² is (n³ - sum w³) / 3, that of squared signs
        # n² - sum w²; w are the numbers of equal values.
        power, parts, halves = (3, 3, 2) if name == "spearman" else (2, 1, 1)
        of_people = np.asarray((n**power - float((sizes**power).sum())) / parts)
        of_judges = []
        for weights, products in (
            (of_first, products_first),
            (of_second, products_second),
        ):
            tied = coefficients.tied(code, sides, weights, power)
            squares = (n**power - tied) / parts
            of_judges.append(coefficients.ratio(products / halves, squares, of_people))
        both[name] = (of_judges[0], of_judges[1])
    return both


def _weighing_of_rho(code: Codes, counts: Codes) -> coefficients.Weighing:
    """Twice the deviations of people's midranks, and their difference.

    code (targets,): which of people's values; counts (values,): how often each is
    there.
    """
    deviations = (2 * np.cumsum(counts) - counts - code.size)[code]
    return deviations.astype(np.min_scalar_type(-2 * code.size)), np.subtract


def _sums_by_unit(
    code: Codes, code_of_y: Codes, unit: Codes, n_units: int, statistic: Coefficient
) -> Floats:
    """M_ab 1 of `_products`: (2, 2, units), in n log n steps.

    code (2 targets,): of both judges' scores among all of them; code_of_y (targets,).
    """
    n_codes = int(code.max()) + 1
    sums = np.zeros((2, 2, n_units), np.int64)
    deviations = np.zeros(code_of_y.size, np.int64)
    if statistic == "spearman":
        counts = np.bincount(code_of_y)
        deviations = (2 * np.cumsum(counts) - counts - code_of_y.size)[code_of_y]
    for number, others in enumerate(np.split(code, 2)):
        quadrants = Quadrants(others, code_of_y, n_codes)
        below_less_above = net_weight_below(others, np.ones_like(others), n_codes)
        weighted = net_weight_below(others, deviations, n_codes)
        for judge, codes in enumerate(np.split(code, 2)):
            if statistic == "spearman":
                each = deviations * below_less_above[codes] - weighted[codes]
            else:
                each = quadrants.products(codes, code_of_y)
            np.add.at(sums[judge, number], unit, each)
    return sums.astype(np.float64)


def _products(
    a: Codes,
    b: Codes,
    weighings: Sequence[coefficients.Weighing],
    margins: Sequence[Floats],
    unit: Codes,
    flips: Floats,
) -> list[Both]:
    """sum sign(a_i - a_j) g(y_i, y_j) over pairs, for each (y, g) of
    `weighings`.

    Of each judge in each permutation. With f = 1 where a unit is swapped and M_ab the
    sums over targets i of one unit and j of another of sign(a_i - b_j) g(y_i, y_j):
    1'M_11 1 - 2 f'M_11 1 + 2 f'M_21 1 + f'Q f for the first judge, the same with 1 and
    2 exchanged for the second, Q = M_11 + M_22 - M_12 - M_21. g is antisymmetric and
    whole. margins: M_ab 1 of each weighing, (2, 2, units).
    """
    squares = np.zeros((len(weighings), len(flips)))
    terms = [(a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)]
    for part, matrices in coefficients.sign_products(terms, weighings, unit):
        inside = part.stop - part.start
        for square, q in zip(squares, matrices, strict=True):
            # What stands below the diagonal mirrors what stands above it.
            q[:, inside:] *= 2
            moved = dot(flips[:, part], q)
            square += np.einsum("rs,rs->r", moved, flips[:, part.start :])
    both = []
    for m, square in zip(margins, squares, strict=True):
        first = m[0, 0].sum() + 2 * dot(flips, m[1, 0] - m[0, 0]) + square
        second = m[1, 1].sum() + 2 * dot(flips, m[0, 1] - m[1, 1]) + square
        both.append((first, second))
    return both


def pearson(x1: Floats, x2: Floats, y: Floats, unit: Codes, flips: Flips) -> Both:
    """Pearson's r of both judges in each permutation, NaN without variation.

    What a unit adds to sum a b and sum a² moves from one judge to the other; a and b
    are centred over both judges. Arguments as in `rank_coefficients`.

    >>> people = np.array([1.0, 2.0, 3.0])
    >>> flips = np.array([[False, False, False], [True, True, True]])
    >>> first, second = pearson(people, -people, people, np.arange(3), flips)
    >>> first.round(6).tolist(), second.round(6).tolist()
    ([1.0, -1.0], [-1.0, 1.0])
    """
    a1, a2 = np.split(coefficients.centred(np.append(x1, x2)), 2)
    b = coefficients.centred(y)
    moments_first = [a1, a1 * a1, a1 * b]
    moments_second = [a2, a2 * a2, a2 * b]
    gaps = []
    for first, second in zip(moments_first, moments_second, strict=True):
        gap = np.bincount(unit, weights=second - first, minlength=flips.shape[1])
        gaps.append(gap)
    moved = DrawnRows(flips).sums(np.array(gaps).T).T
    return (
        _of_moments(moments_first, moved, b),
        _of_moments(moments_second, -moved, b),
    )


def _of_moments(moments: Sequence[Floats], moved: Floats, b: Floats) -> Floats:
    """Pearson's r from a judge's a, a² and a b, and what permutations add to their
    sums: (targets,) each and (3, rows) -> (rows,).
    """
    a = np.sum(moments[0]) + moved[0]
    squares = np.sum(moments[1]) + moved[1]
    across = np.sum(moments[2]) + moved[2]
    varies = squares - a * a / b.size
    # Values lie in [-1, 1]: a smaller mean square may be round-off of equal values.
    varies = np.where(varies > 1e-14 * b.size, varies, np.nan)
    return coefficients.ratio(across - a * b.mean(), varies, dot(b - b.mean(), b))
