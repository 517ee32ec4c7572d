"""Pairwise accuracy with calibrated ties."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from deleted import jackknife_t
from judgescope.statistics.accuracy import (
    EXACT_SOURCES,
    MOST_EPSILONS,
    acc_eq,
    soft_pairwise_accuracy,
    system_pairs,
)
from judgescope.statistics.intervals import deletions
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import REASONS, Estimate
from vectors import load

NAN = float("nan")


def grid(values: Any) -> tuple[Any, Any]:
    """Return targets of (systems, sources) and the source of each."""
    table = np.array(values, dtype=float)
    return table.ravel(), np.tile(np.arange(table.shape[1]), table.shape[0])


def accuracy(
    x: Any, y: Any, *, leave_one_out: bool = False
) -> tuple[Estimate, float | None]:
    (a, source), (b, _) = grid(x), grid(y)
    result, epsilon = acc_eq(a, b, source, weights=None, leave_one_out=leave_one_out)
    return result.estimate, epsilon


@pytest.mark.parametrize("name", ["m1", "m2"])
def test_vectors(name: str) -> None:
    vector = next(v for v in load("wmt_style") if v["id"] == f"{name}.acc_eq_opt.item")
    result, epsilon = accuracy(vector["inputs"]["metric"], vector["inputs"]["gold"])
    assert result.value == pytest.approx(vector["expected"]["acc_eq"], rel=1e-9)
    assert epsilon == vector["expected"]["epsilon"]


def test_by_hand() -> None:
    # pairs of source 0: y 1<2 1<2 2=2, x 1<3 1<3 3=3: 3 of 3 right up to epsilon 1,
    # then 1; of source 1: y all equal, x 1 2 4: none right at 0, one at 1, two at 2,
    # all at 3
    x, y = [[1, 1], [3, 2], [3, 4]], [[1, 5], [2, 5], [2, 5]]
    result, epsilon = accuracy(x, y)
    assert result.value == pytest.approx((1 + 1 / 3) / 2) and epsilon == 1.0
    left_out, _ = accuracy(x, y, leave_one_out=True)
    # source 0 at the best epsilon of source 1 (3): 1/3; source 1 at that of source 0
    # (0): 0
    assert left_out.value == pytest.approx((1 / 3 + 0) / 2)
    assert result.n == 2 and result.n_tied == 1


def naive(x: Any, y: Any, source: Any, leave_one_out: bool) -> float:
    """Compute it pair by pair, for each epsilon."""
    result = (
        [*combinations(np.flatnonzero(source == s), 2)] for s in np.unique(source)
    )
    pairs = [np.array(each).T for each in result if each]
    epsilons = np.unique([0.0, *(d for i, j in pairs for d in np.abs(x[i] - x[j]))])

    def shares(i: Any, j: Any) -> Any:
        tied = np.abs(x[i] - x[j]) <= epsilons[:, None]
        return (np.where(tied, 0, np.sign(x[i] - x[j])) == np.sign(y[i] - y[j])).mean(
            axis=1
        )

    each = np.array([shares(i, j) for i, j in pairs])
    totals = each.sum(axis=0) - (each if leave_one_out else np.zeros_like(each))
    return float(
        np.mean(
            [
                own_part[int(t.argmax())]
                for own_part, t in zip(each, totals.round(9), strict=True)
            ]
        )
    )


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_it_equals_counting_pair_by_pair(seed: int, leave_one_out: bool) -> None:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 8, 40)
    x, y = rng.integers(1, 9, 40).astype(float), rng.integers(1, 5, 40).astype(float)
    result, _ = acc_eq(x, y, source, weights=None, leave_one_out=leave_one_out)
    assert result.estimate.value == pytest.approx(
        naive(x, y, source, leave_one_out), abs=1e-12
    )


def test_the_interval_takes_the_thresholds_as_given_and_is_that_of_a_mean() -> None:
    """A threshold is not smooth: each source's is the best over the others, as the data
    are.
    """
    rng = np.random.default_rng(3)
    source = np.repeat(np.arange(12), 5)
    x, y = rng.integers(1, 9, 60).astype(float), rng.integers(1, 5, 60).astype(float)
    each = []
    for s in range(12):
        rest, holds = source != s, source == s
        codes = np.unique(source[rest], return_inverse=True)[1]
        epsilon = acc_eq(x[rest], y[rest], codes, weights=None, leave_one_out=False)[1]
        assert epsilon is not None
        i, j = np.triu_indices(5, 1)
        dx, dy = (v[holds][i] - v[holds][j] for v in (x, y))
        each.append(
            float(
                np.mean(np.where(np.abs(dx) <= epsilon, 0, np.sign(dx)) == np.sign(dy))
            )
        )
    estimate = acc_eq(x, y, source, weights=deletions(12))[0].estimate
    value = float(np.mean(each))
    deleted = [float(np.mean(np.delete(each, s))) for s in range(12)]
    assert estimate.value == pytest.approx(value, abs=0.02)  # epsilons that only s has
    assert estimate.ci_low is not None and estimate.ci_high is not None
    expected = jackknife_t(value, deleted, "logit")
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(expected, abs=0.03)
    assert estimate.method == "jackknife-t on logit over 12 sources"


def test_missing_targets_and_single_texts_make_no_pair() -> None:
    x, y = [[1, 1, 1], [2, NAN, 2], [3, 3, 3]], [[1, 1, NAN], [2, 2, NAN], [3, NAN, 3]]
    result, _ = accuracy(x, y)
    assert (result.value, result.n, result.n_missing) == (1, 1, 4)
    nothing, epsilon = accuracy([[1, 2]], [[1, 2]])
    assert (nothing.value, nothing.note, epsilon) == (None, REASONS.no_source, None)
    assert accuracy([[1], [2]], [[1], [2]], leave_one_out=True)[0].value is None


def test_properties() -> None:
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(40), 6)
    y = rng.integers(1, 5, 240).astype(float)
    x = y + rng.normal(size=240)
    weights = deletions(40)
    estimate = acc_eq(x, y, source, weights=weights)[0].estimate
    assert (
        estimate.ci_low is not None
        and estimate.ci_high is not None
        and estimate.value is not None
    )
    assert estimate.ci_low < estimate.value < estimate.ci_high and estimate.n == 40
    order = rng.permutation(240)
    moved = acc_eq(x[order], y[order], source[order], weights=weights)[0].estimate
    assert moved.value == pytest.approx(estimate.value, abs=1e-12)
    doubled = acc_eq(2 * x, 10 * y, source, weights=weights)[0].estimate
    assert doubled.value == pytest.approx(estimate.value, abs=1e-12)
    perfect = acc_eq(y, y, source, weights=weights)[0].estimate
    assert (perfect.value, perfect.ci_high) == (1, 1)
    assert perfect.ci_low == pytest.approx(0.025 ** (1 / 40))


def test_many_distances_are_sampled() -> None:
    rng = np.random.default_rng(6)
    source = np.repeat(np.arange(30), 8)
    y = rng.normal(size=240).round(1)
    x = y + rng.normal(size=240) / 10
    assert np.unique(np.abs(np.subtract.outer(x[:8], x[:8]))).size * 30 > MOST_EPSILONS
    sampled = acc_eq(x, y, source, weights=None, leave_one_out=False)[0].estimate.value
    assert sampled is not None
    assert (
        naive(x, y, source, False) - 0.01
        <= sampled
        <= naive(x, y, source, False) + 1e-12
    )


def spa(x: Any, y: Any, *, weights: Any = None, mid_p: bool = True) -> Estimate:
    """Return the statistic of (systems, sources)."""
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    system, source = (v.ravel() for v in np.indices(x.shape))
    result = soft_pairwise_accuracy(
        x.ravel(), y.ravel(), source, system, weights=weights, mid_p=mid_p
    )
    return result.estimate


@pytest.mark.parametrize("name", ["m1.SPA", "m2.SPA"])
def test_soft_vectors(name: str) -> None:
    """They count equal sums whole."""
    [vector] = [v for v in load("wmt_style") if v["id"] == name]
    result = spa(vector["inputs"]["metric"], vector["inputs"]["gold"], mid_p=False)
    assert result.value == pytest.approx(vector["expected"], rel=1e-9)


def soft_pair_by_pair(x: Any, y: Any) -> float:
    flips = np.array(list(product((1, -1), repeat=x.shape[1])))

    def p(a: Any, b: Any) -> float:
        sums, observed = flips @ (a - b), float(np.sum(a - b))
        return float(np.mean(sums > observed) + np.mean(sums == observed) / 2)

    each = [
        1 - abs(p(x[i], x[j]) - p(y[i], y[j]))
        for i, j in combinations(range(len(x)), 2)
    ]
    return float(np.mean(each))


@pytest.mark.parametrize("seed", range(4))
def test_few_sources_are_counted_out_and_many_come_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(1, 6, (2, 4, EXACT_SOURCES)).astype(float)
    assert spa(x, y).value == pytest.approx(soft_pair_by_pair(x, y), abs=1e-12)
    x, y = rng.integers(1, 6, (2, 4, EXACT_SOURCES + 1)).astype(float)
    assert spa(x, y).value == pytest.approx(
        soft_pair_by_pair(x, y), abs=0.02
    )  # the normal limit


@pytest.mark.simulation
def test_the_normal_limit_is_near_at_the_sizes_of_benchmarks() -> None:
    """At 60 sources its error is no larger than that of 100,000 sampled flips."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(1, 6, (2, 5, 60)).astype(float)
    y[0] += 0.3
    flips = rng.choice([-1.0, 1.0], (100_000, 60))

    def p(values: Any, i: int, j: int) -> float:
        sums, observed = flips @ (values[i] - values[j]), np.sum(values[i] - values[j])
        return float(
            np.mean(sums > observed + 1e-9)
            + np.mean(np.abs(sums - observed) < 1e-9) / 2
        )

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
    result = spa(x, y)
    assert (result.value, result.n, result.n_missing) == (1, 3, 1)
    assert spa(y[:2], y[:2]).note == REASONS.few_systems


def test_each_replicate_is_the_statistic_of_the_resample() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(1, 6, (2, 4, 20)).astype(float)
    weights = source_weights(rng, 20, 10)
    system, source = (v.ravel() for v in np.indices(x.shape))
    rows = soft_pairwise_accuracy(
        x.ravel(), y.ravel(), source, system, weights=weights
    ).rows
    for weight, row in zip(weights, rows[1:], strict=True):
        drawn = np.repeat(np.arange(20), weight)
        assert row == pytest.approx(spa(x[:, drawn], y[:, drawn]).value, abs=1e-12)


def pairs_of(x: Any) -> Any:
    """Return the pairs of (systems, sources)."""
    x = np.array(x, dtype=float)
    system, source = (v.ravel() for v in np.indices(x.shape))
    return system_pairs(x.ravel(), source, system)


@pytest.mark.parametrize("sources", [5, EXACT_SOURCES, EXACT_SOURCES + 1, 40])
def test_the_p_values_of_pairs_are_those_of_which_spa_is_made(sources: int) -> None:
    x, y = np.random.default_rng(sources).integers(1, 6, (2, 4, sources)).astype(float)
    gaps = [
        abs(a.paired - b.paired) for a, b in zip(pairs_of(x), pairs_of(y), strict=True)
    ]
    assert spa(x, y).value == pytest.approx(1 - np.mean(gaps), abs=1e-12)


def test_paired_p_by_hand() -> None:
    """Differences 1, 1, 0: of eight flips two exceed none, two equal 2 with either sign
    of 0.
    """
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
        a, b = (x[each][~np.isnan(x[each])] for each in (pair.first, pair.second))
        pvalue = mannwhitneyu(
            a, b, alternative="greater", method="asymptotic", use_continuity=False
        ).pvalue
        assert pair.rank_sum == pytest.approx(pvalue, abs=1e-12)
        assert pair.sizes == (a.size, b.size)


def test_what_nobody_scores_has_no_p_and_equal_scores_have_a_half() -> None:
    nan = np.nan
    pairs = pairs_of([[1, 2, nan, nan], [nan, nan, 3, 4]])[0]
    assert pairs.paired is None and pairs.rank_sum is not None and pairs.sizes == (2, 2)
    [equal] = pairs_of([[3, 3, 3], [3, 3, 3]])
    assert (equal.paired, equal.rank_sum) == (0.5, 0.5)


@pytest.mark.simulation
def test_neither_test_finds_more_than_its_level_where_systems_are_equal() -> None:
    rng = np.random.default_rng(11)
    values = np.zeros(2)
    for _ in range(2000):
        quality = rng.normal(size=30)
        [pair] = pairs_of(
            np.clip(np.round(3 + quality + rng.normal(size=(2, 30))), 1, 5)
        )
        values += [pair.paired <= 0.05, pair.rank_sum <= 0.05]
    paired, rank_sum = values / 2000
    assert (
        0.035 < paired < 0.065 and rank_sum < paired
    )  # sources are shared: the second is mild
