"""Judges beside each other."""

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from deleted import jackknife_t
from judgescope.statistics import coefficients, permutation, source_rows
from judgescope.statistics.coefficients import Coefficient
from judgescope.statistics.comparison import (
    detectable,
    difference,
    letter,
    letters,
    on_shared_sources,
    ranks,
    sources_needed,
)
from judgescope.statistics.correlation import (
    COEFFICIENTS,
    LEVELS,
    CorrelationLevel,
    correlations,
)
from judgescope.statistics.intervals import NOT_SMOOTH, deletions
from judgescope.statistics.permutation import (
    PairedTest,
    Permute,
    flips_of,
    kappa_test,
    permutation_tests,
)
from judgescope.statistics.resampling import Replicated, mean_rows, whole_and_resamples
from judgescope.statistics.result import REASONS, Estimate
from vectors import load

NAN = float("nan")


def of(rows: Any, n: int = 9, missing: int = 0) -> Replicated:
    rows = np.array(rows, dtype=float)
    sizes = np.ones(rows.size - 1)
    if np.isnan(rows[0]):
        return Replicated(Estimate.undefined("constant judge"), rows, sizes)
    return Replicated(Estimate(float(rows[0]), n=n, n_missing=missing), rows, sizes)


# --- differences ---


def test_a_difference_has_the_interval_of_the_paired_deletions() -> None:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=31)
    each, other = (
        of(0.5 + shared, 90, 2),
        of(0.4 + shared + rng.normal(0, 0.001, 31), 95, 1),
    )
    result = difference(each, other)
    estimate, rows = result.estimate, each.rows - other.rows
    assert estimate.value == pytest.approx(rows[0])
    expected = jackknife_t(float(rows[0]), rows[1:].tolist())
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(expected)
    assert (estimate.n, estimate.n_missing) == (90, 2)
    assert (
        estimate.ci_low
        and estimate.ci_high
        and estimate.ci_high - estimate.ci_low < 0.05
    )  # alone each spans about 20
    back = difference(other, each).estimate
    assert (back.ci_low, back.ci_high) == pytest.approx(
        (-estimate.ci_high, -estimate.ci_low)
    )
    p = result.p_above(estimate.ci_low)
    assert p == pytest.approx(0.025)


def test_a_difference_of_what_is_not_smooth_has_no_interval() -> None:
    rows = np.random.default_rng(1).normal(size=31)
    least = of(rows)._replace(scale=NOT_SMOOTH)
    estimate = difference(least, of(rows / 2)).estimate
    assert (
        estimate.value is not None
        and estimate.ci_low is None
        and "not smooth" in estimate.note
    )


def test_an_undefined_judge_has_no_difference() -> None:
    assert (
        difference(of([NAN, 0.1]), of([0.5, 0.4])).estimate.note
        == REASONS.undefined_judge
    )
    assert difference(of([0.5]), of([0.4])).estimate.ci_low is None


# --- letters ---


def display(count: int, *pairs: tuple[int, int], order: Any = None) -> list[str]:
    table = np.zeros((count, count), dtype=bool)
    for i, j in pairs:
        table[i, j] = table[j, i] = True
    return letters(list(range(count)) if order is None else order, table)


def test_letters_by_hand() -> None:
    assert display(3) == ["a", "a", "a"]
    assert display(3, (0, 1), (0, 2), (1, 2)) == ["a", "b", "c"]
    assert display(3, (0, 2)) == ["a", "ab", "b"]
    assert display(4, (0, 2), (0, 3), (1, 3)) == ["a", "ab", "bc", "c"]
    assert display(3, (0, 2), order=[2, 1, 0]) == ["b", "ab", "a"]
    assert display(3, (0, 2), order=[0, 2]) == ["a", "", "b"]
    assert display(0) == []


@given(st.integers(2, 6), st.data())
def test_two_judges_share_a_letter_if_and_only_if_they_do_not_differ(
    count: int, choose: st.DataObject
) -> None:
    every = list(combinations(range(count), 2))
    pairs = choose.draw(st.lists(st.sampled_from(every), unique=True))
    order = choose.draw(st.permutations(range(count)))
    result = display(count, *pairs, order=order)
    for pair in every:
        assert bool(set(result[pair[0]]) & set(result[pair[1]])) == (pair not in pairs)
    assert "a" in result[order[0]]


def test_the_letters_suffice() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == [
        "a",
        "z",
        "(aa)",
        "(ab)",
        "(ba)",
    ]


# --- ranks ---


def test_ranks_and_how_far_they_move() -> None:
    rows = np.array([[0.9, *[0.9, 0.5] * 50], [0.6, *[0.6] * 100], [0.2, *[0.2] * 100]])
    first, second, third = ranks(rows, 30)
    assert [
        (estimate.value, estimate.ci_low, estimate.ci_high)
        for estimate in (first, second, third)
    ] == [
        (1, 1, 2),
        (2, 1, 2),
        (3, 3, 3),
    ]
    assert first.n == 3


def test_ties_share_a_rank_and_the_undefined_have_none() -> None:
    result = ranks(np.array([[0.5, 0.5], [NAN, 0.9], [0.5, NAN], [0.1, 0.2]]), 30)
    assert [each.value for each in result] == [1.5, None, 1.5, 3]
    assert result[1].note == REASONS.undefined_judge
    order = [3, 2, 1, 0]
    assert [
        rank.value for rank in ranks(np.zeros((4, 1)) + np.array(order)[:, None], 30)
    ] == [*(1, 2, 3, 4)]


# --- what could have been seen ---


@pytest.mark.simulation
def test_the_detectable_difference_is_seen_four_times_of_five() -> None:
    """Simulated studies in which one judge is better by what the formula calls
    detectable.
    """
    rng = np.random.default_rng(11)
    collected, gaps = [], []
    location = np.indices((60, 6))
    source, system = location[0].ravel(), location[1].ravel()

    def study(noise: float, other: float) -> Any:
        truth = rng.normal(0, 1, (60, 6))
        each = [
            truth + rng.normal(0, spread, truth.shape) for spread in (noise, other, 0.5)
        ]
        return [v.ravel() for v in each]

    for _ in range(25):
        x1, x2, y = study(0.9, 1.0)
        weights = deletions(60)
        entry, other = (
            correlations(
                x,
                y,
                source,
                system,
                weights=weights,
                statistics=["pearson"],
                levels=["pooled"],
            )["pearson", "pooled"]
            for x in (x1, x2)
        )
        collected.append(detectable(entry, other))
        gaps.append(entry.rows[0] - other.rows[0])
    least = np.mean([entry for entry in collected if entry is not None])
    # a noise of .9 against 1.0 gives a gap of some .04: widen it until it is the
    # detectable one
    better = 0.9
    while True:
        big = [study(better, 1.0) for _ in range(60)]
        gap = np.mean(
            [np.corrcoef(a, y)[0, 1] - np.corrcoef(b, y)[0, 1] for a, b, y in big]
        )
        if gap >= least:
            break
        better -= 0.01
    seen = 0
    for _ in range(200):
        x1, x2, y = study(better, 1.0)
        flips = flips_of(rng, 60, 199)
        test = permutation_tests(
            x1, x2, y, source, system, flips, level="pooled", statistics=["pearson"]
        )["pearson"]
        seen += test.p <= 0.05
    assert 0.7 < seen / 200 < 0.92


def test_sources_needed() -> None:
    assert sources_needed(100, 0.1, 0.05) == 400
    assert sources_needed(100, 0.1, 0.1) == 100
    assert sources_needed(10, 0.1, 0.07) == 21
    with pytest.raises(ValueError, match="above 0"):
        sources_needed(10, 0.1, 0)
    assert detectable(of([0.5]), of([0.4])) is None


PERMUTES: tuple[Permute, ...] = ("inputs", "systems", "both")
ORACLE: dict[Coefficient, Any] = {
    "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
    "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
    "kendall_b": lambda a, b: stats.kendalltau(a, b).statistic,
}


def data(seed: int, sources: int = 9, systems: int = 5, discrete: bool = True) -> Any:
    """Return x1, x2, y as (sources, systems) of ratings with ties, or of any
    numbers.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (sources, systems))
    noisy = [truth + rng.normal(0, noise, truth.shape) for noise in (0.8, 1.2, 0.6)]
    return [np.clip(np.round(v), 1, 5) for v in noisy] if discrete else noisy


def flat(*tables: Any) -> Any:
    source, system = (v.ravel() for v in np.indices(tables[0].shape))
    return [*(table.ravel() for table in tables), source, system]


def every_swap(units: int) -> Any:
    """Return all assignments but the one that swaps nothing: (k + 1) / (B + 1) is exact
    then.
    """
    return np.array(list(product((False, True), repeat=units)))[1:]


def compare(five: Any, flips: Any, **keys: Any) -> Mapping[Coefficient, PairedTest]:
    x1, x2, y, source, system = five
    return permutation_tests(x1, x2, y, source, system, flips, **keys)


def naive(x: Any, y: Any, statistic: Coefficient, level: CorrelationLevel) -> float:
    """Return scipy's coefficient of (sources, systems) tables at a level."""
    if level == "pooled":
        return float(ORACLE[statistic](x.ravel(), y.ravel()))
    if level == "by_system":
        return float(
            ORACLE[statistic](x.mean(axis=0).round(12), y.mean(axis=0).round(12))
        )
    with np.errstate(invalid="ignore"):
        each = [
            ORACLE[statistic](a, b) if np.ptp(a) > 0 and np.ptp(b) > 0 else NAN
            for a, b in zip(x, y, strict=True)
        ]
    return float(np.nanmean(each))


def z(values: Any) -> Any:
    return (values - values.mean()) / values.std()


@pytest.mark.simulation
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("permute", PERMUTES)
@pytest.mark.parametrize("discrete", [True, False])
def test_every_permutation_written_out_gives_the_same_p(
    level: CorrelationLevel, permute: Permute, discrete: bool
) -> None:
    x1, x2, y = data(1, discrete=discrete)
    units = {"inputs": 9, "systems": 5, "both": 45}[permute]
    flips = flips_of(np.random.default_rng(2), units, 60)
    result = compare(flat(x1, x2, y), flips, level=level, permute=permute)
    a, b = (x1, x2) if (level, permute) == ("by_source", "inputs") else (z(x1), z(x2))
    shapes = {"inputs": (-1, 9, 1), "systems": (-1, 1, 5), "both": (-1, 9, 5)}
    for statistic in COEFFICIENTS:
        observed = naive(a, y, statistic, level) - naive(b, y, statistic, level)
        if (
            level == "by_source"
        ):  # constant sources of either judge are left out of both
            varying = [
                s for s in range(9) if np.ptp(x1[s]) and np.ptp(x2[s]) and np.ptp(y[s])
            ]
            if permute == "inputs":
                observed = naive(a[varying], y[varying], statistic, level) - naive(
                    b[varying], y[varying], statistic, level
                )
        each = []
        for flip in flips.reshape(shapes[permute]):
            first, second = np.where(flip, b, a), np.where(flip, a, b)
            rows = (
                varying
                if level == "by_source" and permute == "inputs"
                else list(range(9))
            )
            each.append(
                naive(first[rows], y[rows], statistic, level)
                - naive(second[rows], y[rows], statistic, level)
            )
        test = result[statistic]
        assert test.difference == pytest.approx(observed, abs=1e-12)
        k = sum(abs(entry) >= abs(observed) - 1e-9 for entry in each)
        greater = sum(entry >= observed - 1e-9 for entry in each)
        assert (test.p, test.p_greater) == ((k + 1) / 61, (greater + 1) / 61)
        assert test.n == 45


def test_vector() -> None:
    [vector] = [
        v for v in load("wmt_style") if v["id"] == "perm_inputs.global_pearson.exact"
    ]
    x1, x2, y = (
        np.array(vector["inputs"][name], float).T for name in ("m1", "m2", "gold")
    )
    pearson = compare(
        flat(x1, x2, y),
        every_swap(6),
        level="pooled",
        statistics=["pearson"],
        standardise=False,
    )["pearson"]
    assert pearson.difference == pytest.approx(vector["expected"]["delta"], rel=1e-9)
    assert pearson.p_greater == pytest.approx(vector["expected"]["p_greater"], rel=1e-9)


def test_a_sample_comes_near_the_complete() -> None:
    five = flat(*data(3))
    complete = compare(five, every_swap(9), level="pooled")
    flips = flips_of(np.random.default_rng(0), 9, 4000)
    for name, test in compare(five, flips, level="pooled").items():
        assert test.p == pytest.approx(complete[name].p, abs=4 * 0.5 / 4000**0.5)


@pytest.mark.parametrize("level", LEVELS)
def test_the_other_way_round_is_the_same_with_the_other_sign(
    level: CorrelationLevel,
) -> None:
    x1, x2, y, source, system = flat(*data(4))
    flips = flips_of(np.random.default_rng(1), 9)
    ahead = permutation_tests(x1, x2, y, source, system, flips, level=level)
    back = permutation_tests(x2, x1, y, source, system, flips, level=level)
    for name in COEFFICIENTS:
        assert ahead[name].difference == -back[name].difference
        assert ahead[name].p == back[name].p


@pytest.mark.parametrize("level", LEVELS)
def test_order_and_scale_make_no_difference_and_missing_targets_go(
    level: CorrelationLevel,
) -> None:
    x1, x2, y, source, system = flat(*data(5))
    flips = flips_of(np.random.default_rng(1), 9)
    x1[3] = x2[7] = NAN
    result = permutation_tests(x1, x2, y, source, system, flips, level=level)
    order = np.random.default_rng(2).permutation(45)
    moved = compare(
        [v[order] for v in (3 * x1 - 1, x2, y, source, system)], flips, level=level
    )
    for name in COEFFICIENTS:
        assert moved[name].difference == pytest.approx(
            result[name].difference, abs=1e-12
        )
        assert (moved[name].p, moved[name].n) == (result[name].p, 43)


@pytest.mark.parametrize(
    ("permute", "units"), [("inputs", 9), ("systems", 5), ("both", 45)]
)
def test_a_scale_changes_no_test_of_values_by_source(
    permute: Permute, units: int
) -> None:
    x1, x2, y, source, system = flat(*data(5))
    flips = flips_of(np.random.default_rng(1), units)
    result, moved = (
        compare((x1, x, y, source, system), flips, level="by_source", permute=permute)
        for x in (x2, 20 * x2 + 50)
    )
    for name in COEFFICIENTS:
        assert moved[name].p == pytest.approx(result[name].p)


def means_by_source(*values: list[float]) -> list[Replicated]:
    means = []
    for own_part in np.array(values):
        defined = ~np.isnan(own_part)
        rows = mean_rows(own_part, whole_and_resamples(np.arange(4), deletions(4)))
        estimate = Estimate(float(rows[0]), n=int(defined.sum()))
        means.append(Replicated(estimate, rows, defined.astype(float)))
    return means


def test_a_difference_by_source_is_of_the_sources_that_both_have() -> None:
    means = means_by_source([0.2, 0.4, NAN, 0.9], [0.1, NAN, 0.6, 0.3])
    first, second = on_shared_sources(*means)
    assert first.estimate.value == pytest.approx(0.55) and first.estimate.n == 2
    assert second.rows == pytest.approx([0.2, 0.3, 0.2, 0.2, 0.1])
    assert on_shared_sources(means[0], means[0])[0] is means[0]


def test_one_or_no_source_may_be_all_that_two_judges_share() -> None:
    each, *_ = on_shared_sources(
        *means_by_source([0.5, NAN, NAN, NAN], [0.1, 0.2, 0.3, 0.4])
    )
    assert (each.estimate.value, each.estimate.n) == (0.5, 1)
    none, *_ = on_shared_sources(
        *means_by_source([0.5, NAN, NAN, NAN], [NAN, 0.2, 0.3, 0.4])
    )
    assert (none.estimate.value, none.estimate.n) == (None, 0)


def test_equal_judges_never_differ_and_a_constant_one_has_no_test() -> None:
    x1, _, y, source, system = flat(*data(6))
    flips = flips_of(np.random.default_rng(1), 9)
    same = permutation_tests(x1, x1, y, source, system, flips, level="pooled")
    assert all((test.difference, test.p) == (0, 1) for test in same.values())
    nothing = permutation_tests(
        x1, np.ones(45), y, source, system, flips, level="pooled"
    )
    assert all(np.isnan(test.p) for test in nothing.values())


@pytest.mark.simulation
@pytest.mark.parametrize("level", LEVELS)
def test_it_errs_as_often_as_it_says(level: CorrelationLevel) -> None:
    """600 studies of two equally good judges with 60 % ties: 5 % of p are at most
    .05.
    """
    rng = np.random.default_rng(7)
    p = []
    for _ in range(600):
        truth = rng.normal(3.8, 0.8, (20, 6))
        x1, x2, y = (
            np.clip(np.round(truth + rng.normal(0, 0.7, truth.shape)), 1, 5)
            for _ in "abc"
        )
        flips = flips_of(rng, 20, 199)
        test = compare(flat(x1, x2, y), flips, level=level, statistics=["kendall_b"])
        p.append(test["kendall_b"].p)
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(
        0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5
    )


@pytest.mark.simulation
@pytest.mark.parametrize("permute", PERMUTES)
def test_kappa_of_every_permutation_written_out_gives_the_same_p(
    permute: Permute,
) -> None:
    x1, x2, y = data(4)
    x1[0, 0] = NAN
    flips = flips_of(
        np.random.default_rng(5), {"inputs": 9, "systems": 5, "both": 45}[permute], 60
    )
    a, b, gold, source, system = flat(x1, x2, y)
    unit = {"inputs": source, "systems": system, "both": np.arange(45)}[permute]
    result = kappa_test(a, b, gold, [1, 2, 3, 4, 5], unit, flips)
    present = ~np.isnan(a)

    def kappa(x: Any) -> float:
        table = [gold[present].astype(int), x[present].astype(int)]
        return float(
            cohen_kappa_score(*table, labels=[1, 2, 3, 4, 5], weights="linear")
        )

    observed = kappa(a) - kappa(b)
    each = [
        kappa(np.where(flip[unit], b, a)) - kappa(np.where(flip[unit], a, b))
        for flip in flips
    ]
    k = sum(abs(entry) >= abs(observed) - 1e-9 for entry in each)
    assert result.difference == pytest.approx(observed, abs=1e-12)
    assert (result.p, result.n) == ((k + 1) / 61, 44)


def test_kappa_of_equal_judges_is_no_difference() -> None:
    x1, _, y = data(6)
    a, gold, source, _ = flat(x1, y)
    flips = flips_of(np.random.default_rng(7), 9, 99)
    result = kappa_test(a, a, gold, [1, 2, 3, 4, 5], source, flips)
    assert (result.difference, result.p) == (0, 1)


@pytest.mark.parametrize("cells", [40, 1_000_000])
def test_values_that_mostly_differ_give_what_writing_out_gives(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of 1 to 9 targets, some values shared; in one block and in many."""
    for module in (coefficients, permutation, source_rows):
        monkeypatch.setattr(module, "CELLS", cells)
    rng = np.random.default_rng(8)
    unit = np.repeat(np.arange(12), rng.integers(1, 10, 12))
    x1, x2, y = rng.normal(size=(3, unit.size)).round(1)
    y = np.round(y * 40)
    flips = np.vstack([np.zeros((1, 12), dtype=bool), flips_of(rng, 12, 30)])
    fields = {
        **permutation.rank_coefficients(x1, x2, y, unit, flips, COEFFICIENTS[1:]),
        "pearson": permutation.pearson(x1, x2, y, unit, flips),
    }
    assert set(fields) == set(COEFFICIENTS)
    for name, (first, second) in fields.items():
        for row, flip in enumerate(flips):
            mixed = np.where(flip[unit], x2, x1), np.where(flip[unit], x1, x2)
            expected = [ORACLE[name](each, y) for each in mixed]
            assert [first[row], second[row]] == pytest.approx(expected, abs=1e-12)


def test_a_judge_that_a_permutation_makes_constant_has_no_coefficient_there() -> None:
    unit = np.arange(4)
    x1, x2 = np.array([1.0, 2, 3, 4]), np.array([7.0, 7, 7, 7])
    y = np.array([2.0, 1, 4, 3])
    flips = np.array([[False] * 4, [True] * 4])
    ranks = permutation.rank_coefficients(
        x1, x2, y, unit, flips, ["spearman", "kendall_b"]
    )
    for first, second in [*ranks.values(), permutation.pearson(x1, x2, y, unit, flips)]:
        assert np.isnan(first).tolist() == [False, True]
        assert np.isnan(second).tolist() == [True, False]


@pytest.mark.parametrize("decimals", [0, 3])
def test_ranks_are_those_of_permutations_that_are_written_out(decimals: int) -> None:
    rng = np.random.default_rng(decimals)
    x1, x2, y = np.round(rng.normal(size=(3, 60)), decimals)
    unit, flips = np.arange(60) % 12, rng.random((20, 12)) < 0.5
    spearman = permutation.rank_coefficients(x1, x2, y, unit, flips, ["spearman"])[
        "spearman"
    ]
    for rows, taken in zip(spearman, (flips, ~flips), strict=True):
        written_out = np.where(taken[:, unit], x2, x1)
        by_pairs = coefficients.within_rows(
            written_out, np.tile(y, (20, 1)), ["spearman"]
        )
        assert np.array_equal(rows, by_pairs["spearman"])
