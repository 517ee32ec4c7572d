from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student

from metajudge.statistics.estimate import NO_VARIATION, Estimate
from metajudge.statistics.means import share
from metajudge.statistics.resampling import (
    BESIDE,
    bounds_of_alike,
    mean_rows,
    percentile_interval,
    replicated,
    source_weights,
    whole_and_resamples,
    with_interval,
    with_mean_interval,
)
from vectors import load

VALUES = np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.6])


@given(n=st.integers(1, 40), resamples=st.integers(0, 20), seed=st.integers(0, 2**32))
def test_each_resample_draws_as_many_sources_as_there_are(
    n: int, resamples: int, seed: int
) -> None:
    weights = source_weights(np.random.default_rng(seed), n, resamples)
    assert weights.shape == (resamples, n)
    assert weights.min(initial=0) >= 0
    assert (weights.sum(axis=1) == n).all()


def test_the_same_generator_gives_the_same_weights() -> None:
    first, second = (source_weights(np.random.default_rng(3), 12) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, source_weights(np.random.default_rng(4), 12))


def test_weights_are_spread_as_drawing_with_replacement_is() -> None:
    weights = source_weights(np.random.default_rng(5), 8, 50_000)
    # a multinomial count of n draws over n cells: mean 1, variance 1 - 1/n, covariance -1/n
    assert weights.mean(axis=0) == pytest.approx(np.ones(8), abs=0.02)
    expected = np.eye(8) - 1 / 8
    assert np.cov(weights.T) == pytest.approx(expected, abs=0.03)


def test_vector_of_indices_is_the_stream_of_this_numpy() -> None:
    vector = next(v for v in load("bootstrap") if v["id"] == "pcg64_indices")
    i = vector["inputs"]
    drawn = np.random.default_rng(i["seed"]).integers(0, i["n"], size=(i["B"], i["n"]))
    assert drawn.tolist() == vector["expected"]


def test_vector_of_a_percentile_interval() -> None:
    vector = next(v for v in load("bootstrap") if v["id"] == "multinomial_weights_percentile")
    values, expected = np.array(vector["inputs"]["values"]), vector["expected"]
    rng = np.random.default_rng(vector["inputs"]["seed"])
    weights = source_weights(rng, values.size, vector["inputs"]["B"])
    bounds = percentile_interval(weights @ values / values.size)
    assert bounds == pytest.approx((expected["lo"], expected["hi"]), rel=1e-12)


def test_all_resamples_give_the_exact_bootstrap() -> None:
    vector = next(v for v in load("bootstrap") if v["id"] == "exact_bootstrap_mean")
    values, expected = np.array(vector["inputs"]["values"]), vector["expected"]
    drawn = list(product(range(values.size), repeat=values.size))
    means = np.stack([np.bincount(row, minlength=values.size) for row in drawn]) @ values
    bounds = percentile_interval(means / values.size)
    assert bounds == pytest.approx((expected["lo"], expected["hi"]), rel=1e-12)
    assert (means / values.size).std() == pytest.approx(expected["se_closed_form"], rel=1e-12)


def test_standard_error_of_a_mean_is_the_closed_form() -> None:
    weights = source_weights(np.random.default_rng(8), VALUES.size, 100_000)
    means = weights @ VALUES / VALUES.size
    assert means.std() == pytest.approx(VALUES.std() / VALUES.size**0.5, rel=0.01)


def test_percentiles_leave_undefined_replicates_out() -> None:
    replicates = np.append(np.arange(101.0), np.nan)
    assert percentile_interval(replicates) == pytest.approx((2.5, 97.5))
    assert percentile_interval(replicates, confidence=0.5) == pytest.approx((25, 75))
    assert percentile_interval(np.array([np.nan])) is None


def test_rows_are_the_whole_and_then_the_resamples() -> None:
    weights = source_weights(np.random.default_rng(1), 3, 4)
    rows = whole_and_resamples(np.array([0, 2]), weights)
    assert rows[0].tolist() == [1, 1, 1]
    assert np.array_equal(rows[1:], weights)
    assert whole_and_resamples(np.array([0, 2]), None).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("code", [3, -1])
def test_a_source_without_a_weight_is_an_error(code: int) -> None:
    weights = source_weights(np.random.default_rng(1), 3, 4)
    with pytest.raises(ValueError, match="source code"):
        whole_and_resamples(np.array([code]), weights)


def test_interval_says_how_it_was_made() -> None:
    found = with_interval(Estimate(0.5, method="exact"), np.linspace(0, 1, 1001), 20)
    assert (found.lo, found.hi) == pytest.approx((0.025, 0.975))
    assert found.method.startswith("exact; bootstrap over 20 sources, 1001 resamples, percentile; ")
    assert found.note == ""


def test_no_interval_below_ten_sources_and_the_note_says_so() -> None:
    assert with_interval(Estimate(0.5), np.linspace(0, 1, 99), 10).lo is not None
    found = with_interval(Estimate(0.5), np.linspace(0, 1, 99), 9)
    assert (found.value, found.lo, found.hi) == (0.5, None, None)
    assert found.note == "no interval: 9 sources"


def test_undefined_replicates_are_told() -> None:
    half = np.where(np.arange(100) % 2, np.nan, np.linspace(0, 2, 100))
    assert with_interval(Estimate(1.0), half, 30).note == "undefined in 50% of resamples"
    none = with_interval(Estimate(1.0), np.full(9, np.nan), 30)
    assert (none.lo, none.note) == (None, "no interval: undefined in every resample")


def test_where_all_sources_are_alike_a_share_has_the_interval_of_clopper_and_pearson() -> None:
    assert bounds_of_alike(0.0, (0, 1), 10) == pytest.approx((0, 0.3085), abs=1e-4)
    exact = binomtest(24, 24).proportion_ci(0.95, "exact")
    assert bounds_of_alike(1.0, (0, 1), 24) == pytest.approx((exact.low, exact.high))
    assert bounds_of_alike(3.0, (1, 5), 1) == pytest.approx((1.05, 4.95))
    with pytest.raises(ValueError, match="cannot be 2"):
        bounds_of_alike(2.0, (0, 1), 10)


@pytest.mark.parametrize("probability", [0.0, 0.02, 0.05, 0.2, 0.98])
def test_the_interval_of_a_share_holds_the_truth_near_the_ends_too(probability: float) -> None:
    """With 24 sources; percentiles alone hold .02 in 4 studies of 10, as most find no one."""
    rng = np.random.default_rng(24)
    held = 0
    for _ in range(300):
        hits = (rng.random(24) < probability).astype(float)
        found = share(hits, np.ones(24), np.arange(24), source_weights(rng, 24, 200))
        assert found.lo is not None and found.hi is not None and found.lo < found.hi
        held += found.lo <= probability <= found.hi
    assert held >= 260


def test_an_interval_without_width_says_why() -> None:
    found = with_interval(Estimate(2.0), np.full(100, 2.0), 30)
    assert (found.lo, found.hi) == (2, 2)
    assert found.note == "no width: 100% of the resamples of 30 sources are equal"
    nearly = with_interval(Estimate(2.0), np.append(np.full(99, 2.0), 3.0), 30, alike=(0, 4))
    assert nearly.note == "no width: 99% of the resamples of 30 sources are equal"
    alike = with_interval(Estimate(2.0), np.full(100, 2.0), 30, alike=(0, 4))
    assert (alike.lo, alike.hi, alike.note) == (0, 4, "")
    assert alike.method == "all 30 sources alike: exact bound on the share of others"


def test_a_value_beside_its_interval_says_so() -> None:
    found = with_interval(Estimate(1.0), np.linspace(2, 3, 99), 30)
    assert found.note == BESIDE


def test_means_of_equal_values_rest_on_their_bounds() -> None:
    weights = source_weights(np.random.default_rng(2), 24)
    rows = mean_rows(np.ones(24), weights)[1:]
    bounded = with_mean_interval(Estimate(1.0), np.ones(24), rows, bounds=(-1.0, 1.0))
    assert (bounded.lo, bounded.hi) == pytest.approx((2 * 0.025 ** (1 / 24) - 1, 1))
    assert "no width" in with_mean_interval(Estimate(1.0), np.ones(24), rows).note


def test_an_undefined_value_stays_undefined() -> None:
    found = replicated(np.array([np.nan, 0.1]), NO_VARIATION, n_sources=50, n=7).estimate
    assert (found.value, found.lo, found.n, found.note) == (None, None, 7, NO_VARIATION)


def test_few_sources_get_a_t_interval_within_the_bounds() -> None:
    values = np.append(np.linspace(0.0, 1.0, 12), np.nan)
    weights = source_weights(np.random.default_rng(2), values.size)
    mean = float(np.nanmean(values))
    found = with_mean_interval(Estimate(mean), values, mean_rows(values, weights)[1:])
    half = student.ppf(0.975, 11) * np.nanstd(values, ddof=1) / 12**0.5
    assert (found.lo, found.hi) == pytest.approx((mean - half, mean + half))
    assert found.method == "t over 12 sources"
    cut = with_mean_interval(Estimate(mean), values, mean_rows(values, weights)[1:], (0.4, 0.6))
    assert (cut.lo, cut.hi) == (0.4, 0.6)


def test_many_sources_get_percentiles_of_weighted_means() -> None:
    values = np.append(np.random.default_rng(0).normal(size=30), np.nan)
    weights = source_weights(np.random.default_rng(2), values.size)
    found = with_mean_interval(
        Estimate(float(np.nanmean(values))), values, mean_rows(values, weights)[1:]
    )
    replicates = np.array([np.nanmean(np.repeat(values, row)) for row in weights])
    assert (found.lo, found.hi) == pytest.approx(percentile_interval(replicates), rel=1e-12)
    assert found.method == "bootstrap over 30 sources, 1000 resamples, percentile"


def test_no_weights_or_very_few_sources_give_no_mean_interval() -> None:
    assert with_mean_interval(Estimate(0.1), np.ones(40), np.empty(0)) == Estimate(0.1)
    weights = source_weights(np.random.default_rng(2), 9)
    found = with_mean_interval(Estimate(1.0), np.ones(9), mean_rows(np.ones(9), weights)[1:])
    assert (found.lo, found.note) == (None, "no interval: 9 sources")
