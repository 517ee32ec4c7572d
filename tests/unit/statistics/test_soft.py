"""Soft pairwise accuracy."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from judgescope.statistics.accuracy import EXACT_SOURCES, soft_pairwise_accuracy, system_pairs
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import FEW_SYSTEMS, Estimate
from vectors import load


def spa(x: Any, y: Any, *, weights: Any = None, mid_p: bool = True) -> Estimate:
    """Return the statistic of (systems, sources)."""
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    system, source = (v.ravel() for v in np.indices(x.shape))
    found = soft_pairwise_accuracy(
        x.ravel(), y.ravel(), source, system, weights=weights, mid_p=mid_p
    )
    return found.estimate


@pytest.mark.parametrize("name", ["m1.SPA", "m2.SPA"])
def test_vectors(name: str) -> None:
    """They count equal sums whole."""
    [vector] = [v for v in load("wmt_style") if v["id"] == name]
    found = spa(vector["inputs"]["metric"], vector["inputs"]["gold"], mid_p=False)
    assert found.value == pytest.approx(vector["expected"], rel=1e-9)


def naive(x: Any, y: Any) -> float:
    flips = np.array(list(product((1, -1), repeat=x.shape[1])))

    def p(a: Any, b: Any) -> float:
        sums, observed = flips @ (a - b), float(np.sum(a - b))
        return float(np.mean(sums > observed) + np.mean(sums == observed) / 2)

    each = [1 - abs(p(x[i], x[j]) - p(y[i], y[j])) for i, j in combinations(range(len(x)), 2)]
    return float(np.mean(each))


@pytest.mark.parametrize("seed", range(4))
def test_few_sources_are_counted_out_and_many_come_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(1, 6, (2, 4, EXACT_SOURCES)).astype(float)
    assert spa(x, y).value == pytest.approx(naive(x, y), abs=1e-12)
    x, y = rng.integers(1, 6, (2, 4, EXACT_SOURCES + 1)).astype(float)
    assert spa(x, y).value == pytest.approx(naive(x, y), abs=0.02)  # the normal limit


@pytest.mark.simulation
def test_the_normal_limit_is_near_at_the_sizes_of_benchmarks() -> None:
    """At 60 sources its error is no larger than that of 100,000 sampled flips."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(1, 6, (2, 5, 60)).astype(float)
    y[0] += 0.3
    flips = rng.choice([-1.0, 1.0], (100_000, 60))

    def p(values: Any, i: int, j: int) -> float:
        sums, observed = flips @ (values[i] - values[j]), np.sum(values[i] - values[j])
        return float(np.mean(sums > observed + 1e-9) + np.mean(np.abs(sums - observed) < 1e-9) / 2)

    each = [1 - abs(p(x, i, j) - p(y, i, j)) for i, j in combinations(range(5), 2)]
    assert spa(x, y).value == pytest.approx(np.mean(each), abs=0.003)


def test_with_mid_p_the_order_of_systems_makes_no_difference() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(1, 4, (2, 5, 8)).astype(float)
    assert spa(x[::-1], y[::-1]).value == pytest.approx(spa(x, y).value, abs=1e-12)
    assert spa(x[::-1], y[::-1], mid_p=False).value != spa(x, y, mid_p=False).value


def test_the_extremes() -> None:
    y = np.array([[1, 1, 2, 1], [3, 2, 3, 3], [5, 5, 4, 5]] * 1, dtype=float)
    assert spa(y, y).value == spa(10 * y - 3, y).value == 1
    assert spa(-y, y).value == pytest.approx(1 / 16)  # p of 1/32 against 31/32
    tied = spa(np.ones_like(y), y)
    assert tied.n_tied == 3 and tied.value == pytest.approx(0.5 + 1 / 32)


def test_missing_targets_leave_their_source_out_of_the_pair() -> None:
    y = np.array([[1, 1, 2, 1, 2], [3, 2, 3, 3, 1], [5, 5, 4, 5, 5]], dtype=float)
    x = y.copy()
    x[0, 0] = np.nan
    found = spa(x, y)
    assert (found.value, found.n, found.n_missing) == (1, 3, 1)
    assert spa(y[:2], y[:2]).note == FEW_SYSTEMS


def test_each_replicate_is_the_statistic_of_the_resample() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(1, 6, (2, 4, 20)).astype(float)
    weights = source_weights(rng, 20, 10)
    system, source = (v.ravel() for v in np.indices(x.shape))
    rows = soft_pairwise_accuracy(x.ravel(), y.ravel(), source, system, weights=weights).rows
    for weight, found in zip(weights, rows[1:], strict=True):
        drawn = np.repeat(np.arange(20), weight)
        assert found == pytest.approx(spa(x[:, drawn], y[:, drawn]).value, abs=1e-12)


def pairs_of(x: Any) -> Any:
    """Return the pairs of (systems, sources)."""
    x = np.array(x, dtype=float)
    system, source = (v.ravel() for v in np.indices(x.shape))
    return system_pairs(x.ravel(), source, system)


@pytest.mark.parametrize("sources", [5, EXACT_SOURCES, EXACT_SOURCES + 1, 40])
def test_the_p_values_of_pairs_are_those_of_which_spa_is_made(sources: int) -> None:
    x, y = np.random.default_rng(sources).integers(1, 6, (2, 4, sources)).astype(float)
    gaps = [abs(a.paired - b.paired) for a, b in zip(pairs_of(x), pairs_of(y), strict=True)]
    assert spa(x, y).value == pytest.approx(1 - np.mean(gaps), abs=1e-12)


def test_paired_p_by_hand() -> None:
    """Differences 1, 1, 0: of eight flips two exceed none, two equal 2 with either sign of 0."""
    [pair] = pairs_of([[3, 3, 2], [2, 2, 2]])
    assert (pair.first, pair.second, pair.paired) == (0, 1, 2 / 8 / 2)
    [back] = pairs_of([[2, 2, 2], [3, 3, 2]])
    assert back.paired == 1 - pair.paired
    assert back.rank_sum == pytest.approx(1 - pair.rank_sum)


@pytest.mark.parametrize("seed", range(5))
def test_the_rank_sum_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 6, (3, 20)).astype(float)
    x[0, :4] = np.nan
    for pair in pairs_of(x):
        a, b = (x[one][~np.isnan(x[one])] for one in (pair.first, pair.second))
        told = mannwhitneyu(
            a, b, alternative="greater", method="asymptotic", use_continuity=False
        ).pvalue
        assert pair.rank_sum == pytest.approx(told, abs=1e-12)
        assert pair.sizes == (a.size, b.size)


def test_what_nobody_scores_has_no_p_and_equal_scores_have_a_half() -> None:
    nan = np.nan
    apart = pairs_of([[1, 2, nan, nan], [nan, nan, 3, 4]])[0]
    assert apart.paired is None and apart.rank_sum is not None and apart.sizes == (2, 2)
    [equal] = pairs_of([[3, 3, 3], [3, 3, 3]])
    assert (equal.paired, equal.rank_sum) == (0.5, 0.5)


@pytest.mark.simulation
def test_neither_test_finds_more_than_its_level_where_systems_are_equal() -> None:
    rng = np.random.default_rng(11)
    found = np.zeros(2)
    for _ in range(2000):
        quality = rng.normal(size=30)
        [pair] = pairs_of(np.clip(np.round(3 + quality + rng.normal(size=(2, 30))), 1, 5))
        found += [pair.paired <= 0.05, pair.rank_sum <= 0.05]
    paired, rank_sum = found / 2000
    assert 0.035 < paired < 0.065 and rank_sum < paired  # sources are shared: the second is mild
