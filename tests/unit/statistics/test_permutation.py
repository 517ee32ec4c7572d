"""Paired permutation tests of two judges."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from judgescope.statistics import coefficients, permutation
from judgescope.statistics.coefficients import Statistic
from judgescope.statistics.correlation import LEVELS, STATISTICS, Level
from judgescope.statistics.permutation import (
    PairedTest,
    Permute,
    flips_of,
    kappa_test,
    permutation_tests,
)
from vectors import load

NAN = float("nan")
PERMUTES: tuple[Permute, ...] = ("inputs", "systems", "both")
ORACLE: dict[Statistic, Any] = {
    "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
    "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
    "kendall_b": lambda a, b: stats.kendalltau(a, b).statistic,
}


def data(seed: int, sources: int = 9, systems: int = 5, discrete: bool = True) -> Any:
    """Return x1, x2, y as (sources, systems) of ratings with ties, or of any numbers."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, (sources, systems))
    noisy = [truth + rng.normal(0, noise, truth.shape) for noise in (0.8, 1.2, 0.6)]
    return [np.clip(np.round(v), 1, 5) for v in noisy] if discrete else noisy


def flat(*tables: Any) -> Any:
    source, system = (v.ravel() for v in np.indices(tables[0].shape))
    return [*(table.ravel() for table in tables), source, system]


def every_swap(units: int) -> Any:
    """Return all assignments but the one that swaps nothing: (k + 1) / (B + 1) is exact then."""
    return np.array(list(product((False, True), repeat=units)))[1:]


def compare(five: Any, flips: Any, **keys: Any) -> Mapping[Statistic, PairedTest]:
    x1, x2, y, source, system = five
    return permutation_tests(x1, x2, y, source, system, flips, **keys)


def naive(x: Any, y: Any, statistic: Statistic, level: Level) -> float:
    """Return scipy's coefficient of (sources, systems) tables at a level."""
    if level == "pooled":
        return float(ORACLE[statistic](x.ravel(), y.ravel()))
    if level == "by_system":
        return float(ORACLE[statistic](x.mean(axis=0).round(12), y.mean(axis=0).round(12)))
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
    level: Level, permute: Permute, discrete: bool
) -> None:
    x1, x2, y = data(1, discrete=discrete)
    units = {"inputs": 9, "systems": 5, "both": 45}[permute]
    flips = flips_of(np.random.default_rng(2), units, 60)
    found = compare(flat(x1, x2, y), flips, level=level, permute=permute)
    a, b = (x1, x2) if level == "by_source" else (z(x1), z(x2))
    shapes = {"inputs": (-1, 9, 1), "systems": (-1, 1, 5), "both": (-1, 9, 5)}
    for statistic in STATISTICS:
        observed = naive(a, y, statistic, level) - naive(b, y, statistic, level)
        if level == "by_source":  # constant sources of either judge are left out of both
            varying = [s for s in range(9) if np.ptp(x1[s]) and np.ptp(x2[s]) and np.ptp(y[s])]
            if permute == "inputs":
                observed = naive(a[varying], y[varying], statistic, level) - naive(
                    b[varying], y[varying], statistic, level
                )
        each = []
        for flip in flips.reshape(shapes[permute]):
            first, second = np.where(flip, b, a), np.where(flip, a, b)
            rows = varying if level == "by_source" and permute == "inputs" else list(range(9))
            each.append(
                naive(first[rows], y[rows], statistic, level)
                - naive(second[rows], y[rows], statistic, level)
            )
        test = found[statistic]
        assert test.difference == pytest.approx(observed, abs=1e-12)
        k = sum(abs(one) >= abs(observed) - 1e-9 for one in each)
        greater = sum(one >= observed - 1e-9 for one in each)
        assert (test.p, test.p_greater) == ((k + 1) / 61, (greater + 1) / 61)
        assert test.n == 45


def test_vector() -> None:
    [vector] = [v for v in load("wmt_style") if v["id"] == "perm_inputs.global_pearson.exact"]
    x1, x2, y = (np.array(vector["inputs"][name], float).T for name in ("m1", "m2", "gold"))
    found = compare(
        flat(x1, x2, y),
        every_swap(6),
        level="pooled",
        statistics=["pearson"],
        standardise=False,
    )["pearson"]
    assert found.difference == pytest.approx(vector["expected"]["delta"], rel=1e-9)
    assert found.p_greater == pytest.approx(vector["expected"]["p_greater"], rel=1e-9)


def test_a_sample_comes_near_the_whole() -> None:
    five = flat(*data(3))
    whole = compare(five, every_swap(9), level="pooled")
    flips = flips_of(np.random.default_rng(0), 9, 4000)
    for name, test in compare(five, flips, level="pooled").items():
        assert test.p == pytest.approx(whole[name].p, abs=4 * 0.5 / 4000**0.5)


@pytest.mark.parametrize("level", LEVELS)
def test_the_other_way_round_is_the_same_with_the_other_sign(level: Level) -> None:
    x1, x2, y, source, system = flat(*data(4))
    flips = flips_of(np.random.default_rng(1), 9)
    ahead = permutation_tests(x1, x2, y, source, system, flips, level=level)
    back = permutation_tests(x2, x1, y, source, system, flips, level=level)
    for name in STATISTICS:
        assert ahead[name].difference == -back[name].difference
        assert ahead[name].p == back[name].p


@pytest.mark.parametrize("level", LEVELS)
def test_order_and_scale_make_no_difference_and_missing_targets_go(level: Level) -> None:
    x1, x2, y, source, system = flat(*data(5))
    flips = flips_of(np.random.default_rng(1), 9)
    x1[3] = x2[7] = NAN
    found = permutation_tests(x1, x2, y, source, system, flips, level=level)
    order = np.random.default_rng(2).permutation(45)
    moved = compare([v[order] for v in (3 * x1 - 1, x2, y, source, system)], flips, level=level)
    for name in STATISTICS:
        assert moved[name].difference == pytest.approx(found[name].difference, abs=1e-12)
        assert (moved[name].p, moved[name].n) == (found[name].p, 43)


def test_equal_judges_never_differ_and_a_constant_one_has_no_test() -> None:
    x1, _, y, source, system = flat(*data(6))
    flips = flips_of(np.random.default_rng(1), 9)
    same = permutation_tests(x1, x1, y, source, system, flips, level="pooled")
    assert all((test.difference, test.p) == (0, 1) for test in same.values())
    nothing = permutation_tests(x1, np.ones(45), y, source, system, flips, level="pooled")
    assert all(np.isnan(test.p) for test in nothing.values())


@pytest.mark.simulation
@pytest.mark.parametrize("level", LEVELS)
def test_it_errs_as_often_as_it_says(level: Level) -> None:
    """600 studies of two equally good judges with 60 % ties: 5 % of p are at most .05."""
    rng = np.random.default_rng(7)
    p = []
    for _ in range(600):
        truth = rng.normal(3.8, 0.8, (20, 6))
        x1, x2, y = (
            np.clip(np.round(truth + rng.normal(0, 0.7, truth.shape)), 1, 5) for _ in "abc"
        )
        flips = flips_of(rng, 20, 199)
        test = compare(flat(x1, x2, y), flips, level=level, statistics=["kendall_b"])
        p.append(test["kendall_b"].p)
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=3 * (0.05 * 0.95 / 600) ** 0.5)


@pytest.mark.simulation
@pytest.mark.parametrize("permute", PERMUTES)
def test_kappa_of_every_permutation_written_out_gives_the_same_p(permute: Permute) -> None:
    x1, x2, y = data(4)
    x1[0, 0] = NAN
    flips = flips_of(np.random.default_rng(5), {"inputs": 9, "systems": 5, "both": 45}[permute], 60)
    a, b, gold, source, system = flat(x1, x2, y)
    unit = {"inputs": source, "systems": system, "both": np.arange(45)}[permute]
    found = kappa_test(a, b, gold, [1, 2, 3, 4, 5], unit, flips)
    there = ~np.isnan(a)

    def kappa(x: Any) -> float:
        table = [gold[there].astype(int), x[there].astype(int)]
        return float(cohen_kappa_score(*table, labels=[1, 2, 3, 4, 5], weights="linear"))

    observed = kappa(a) - kappa(b)
    each = [kappa(np.where(flip[unit], b, a)) - kappa(np.where(flip[unit], a, b)) for flip in flips]
    k = sum(abs(one) >= abs(observed) - 1e-9 for one in each)
    assert found.difference == pytest.approx(observed, abs=1e-12)
    assert (found.p, found.n) == ((k + 1) / 61, 44)


def test_kappa_of_equal_judges_is_no_difference() -> None:
    x1, _, y = data(6)
    a, gold, source, _ = flat(x1, y)
    flips = flips_of(np.random.default_rng(7), 9, 99)
    found = kappa_test(a, a, gold, [1, 2, 3, 4, 5], source, flips)
    assert (found.difference, found.p) == (0, 1)


@pytest.mark.parametrize("cells", [40, 1_000_000])
def test_values_that_mostly_differ_give_what_writing_out_gives(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units of 1 to 9 targets, some values shared; in one block and in many."""
    for module in (coefficients, permutation):
        monkeypatch.setattr(module, "CELLS", cells)
    rng = np.random.default_rng(8)
    unit = np.repeat(np.arange(12), rng.integers(1, 10, 12))
    x1, x2, y = rng.normal(size=(3, unit.size)).round(1)
    y = np.round(y * 40)
    flips = np.vstack([np.zeros((1, 12), dtype=bool), flips_of(rng, 12, 30)])
    found = {
        **permutation.rank_coefficients(x1, x2, y, unit, flips, STATISTICS[1:]),
        "pearson": permutation.pearson(x1, x2, y, unit, flips),
    }
    assert set(found) == set(STATISTICS)
    for name, (first, second) in found.items():
        for row, flip in enumerate(flips):
            mixed = np.where(flip[unit], x2, x1), np.where(flip[unit], x1, x2)
            expected = [ORACLE[name](one, y) for one in mixed]
            assert [first[row], second[row]] == pytest.approx(expected, abs=1e-12)


def test_a_judge_that_a_permutation_makes_constant_has_no_coefficient_there() -> None:
    unit = np.arange(4)
    x1, x2 = np.array([1.0, 2, 3, 4]), np.array([7.0, 7, 7, 7])
    y = np.array([2.0, 1, 4, 3])
    flips = np.array([[False] * 4, [True] * 4])
    ranks = permutation.rank_coefficients(x1, x2, y, unit, flips, ["spearman", "kendall_b"])
    for first, second in [*ranks.values(), permutation.pearson(x1, x2, y, unit, flips)]:
        assert np.isnan(first).tolist() == [False, True]
        assert np.isnan(second).tolist() == [True, False]


@pytest.mark.parametrize("decimals", [0, 3])
def test_ranks_and_pairs_give_the_same_sums(decimals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(decimals)
    x1, x2, y = np.round(rng.normal(size=(3, 60)), decimals)
    unit, flips = np.arange(60) % 12, rng.random((20, 12)) < 0.5
    found = []
    for limit in (0, 1000):
        monkeypatch.setattr(permutation, "DEAR_PAIRS", limit)
        found.append(permutation.rank_coefficients(x1, x2, y, unit, flips, ["spearman"]))
    by_ranks, by_pairs = found
    assert np.array_equal(by_ranks["spearman"], by_pairs["spearman"])
