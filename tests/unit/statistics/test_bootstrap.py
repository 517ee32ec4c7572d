"""Bootstrap intervals over sources, of percentiles."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from judgescope.statistics.intervals import (
    bounds_of_alike,
)
from judgescope.statistics.resampling import (
    percentile_interval,
    source_weights,
    whole_and_resamples,
    with_percentiles,
)
from judgescope.statistics.result import Estimate
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
    # a multinomial count of n draws over n cells: mean 1, variance 1 - 1/n, covariance
    # -1/n
    assert weights.mean(axis=0) == pytest.approx(np.ones(8), abs=0.02)
    expected = np.eye(8) - 1 / 8
    assert np.cov(weights.T) == pytest.approx(expected, abs=0.03)


def test_vector_of_indices_is_the_stream_of_this_numpy() -> None:
    vector = next(v for v in load("bootstrap") if v["id"] == "pcg64_indices")
    i = vector["inputs"]
    drawn = np.random.default_rng(i["seed"]).integers(0, i["n"], size=(i["B"], i["n"]))
    assert drawn.tolist() == vector["expected"]


def test_vector_of_a_percentile_interval() -> None:
    vector = next(
        v for v in load("bootstrap") if v["id"] == "multinomial_weights_percentile"
    )
    values, expected = np.array(vector["inputs"]["values"]), vector["expected"]
    rng = np.random.default_rng(vector["inputs"]["seed"])
    weights = source_weights(rng, values.size, vector["inputs"]["B"])
    bounds = percentile_interval(weights @ values / values.size)
    assert bounds == pytest.approx((expected["lo"], expected["hi"]), rel=1e-12)


def test_all_resamples_give_the_exact_bootstrap() -> None:
    vector = next(v for v in load("bootstrap") if v["id"] == "exact_bootstrap_mean")
    values, expected = np.array(vector["inputs"]["values"]), vector["expected"]
    drawn = list(product(range(values.size), repeat=values.size))
    means = (
        np.stack([np.bincount(row, minlength=values.size) for row in drawn]) @ values
    )
    bounds = percentile_interval(means / values.size)
    assert bounds == pytest.approx((expected["lo"], expected["hi"]), rel=1e-12)
    assert (means / values.size).std() == pytest.approx(
        expected["se_closed_form"], rel=1e-12
    )


def test_standard_error_of_a_mean_is_the_closed_form() -> None:
    weights = source_weights(np.random.default_rng(8), VALUES.size, 100_000)
    means = weights @ VALUES / VALUES.size
    assert means.std() == pytest.approx(VALUES.std() / VALUES.size**0.5, rel=0.01)


def test_percentiles_leave_undefined_replicates_out() -> None:
    replicates = np.append(np.arange(101.0), np.nan)
    assert percentile_interval(replicates) == pytest.approx((2.5, 97.5))
    assert percentile_interval(np.array([np.nan])) is None


def test_rows_are_the_data_and_then_the_resamples() -> None:
    weights = source_weights(np.random.default_rng(1), 3, 4)
    rows = whole_and_resamples(np.array([0, 2]), weights)
    written_out = rows.block(slice(None))
    assert written_out[0].tolist() == [1, 1, 1]
    assert np.array_equal(written_out[1:], weights)
    of_all = whole_and_resamples(np.array([0, 2]), None)
    assert of_all.block(slice(None)).tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("code", [3, -1])
def test_a_source_without_a_weight_is_an_error(code: int) -> None:
    weights = source_weights(np.random.default_rng(1), 3, 4)
    with pytest.raises(ValueError, match="source code"):
        whole_and_resamples(np.array([code]), weights)


def test_ranks_have_ends_that_are_ranks() -> None:
    drawn = np.repeat([3.0, 5.0, 5.5, 6.0], [30, 920, 30, 20])
    few = np.array([1.0, 2.0, 2.0, 3.0])
    assert percentile_interval(few) == pytest.approx((1.075, 2.925))
    assert percentile_interval(few, between=False) == (1, 3)
    assert percentile_interval(drawn, between=False) == (3, 5.5)
    estimate = with_percentiles(Estimate(5.0), drawn, 30, "it jumps", between=False)
    assert (estimate.ci_low, estimate.ci_high) == (3, 5.5)


def test_percentiles_say_how_they_were_made_and_why() -> None:
    estimate = with_percentiles(
        Estimate(0.5, method="exact"), np.linspace(0, 1, 1001), 20, "it jumps"
    )
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx((0.025, 0.975))
    text = "exact; bootstrap over 20 sources, 1001 resamples, percentile: it jumps"
    assert (estimate.method, estimate.note) == (text, "")


def test_no_percentiles_below_ten_sources_and_the_note_says_so() -> None:
    assert (
        with_percentiles(Estimate(0.5), np.linspace(0, 1, 99), 10, "").ci_low
        is not None
    )
    estimate = with_percentiles(Estimate(0.5), np.linspace(0, 1, 99), 9, "")
    assert (estimate.value, estimate.ci_low, estimate.ci_high) == (0.5, None, None)
    assert estimate.note == "no interval: 9 sources"


def test_undefined_replicates_are_reported() -> None:
    half = np.where(np.arange(100) % 2, np.nan, np.linspace(0, 2, 100))
    assert (
        with_percentiles(Estimate(1.0), half, 30, "").note
        == "undefined in 50% of the resamples"
    )
    none = with_percentiles(Estimate(1.0), np.full(9, np.nan), 30, "")
    assert (none.ci_low, none.note) == (
        None,
        "no interval: undefined in every resample",
    )


def test_percentiles_without_width_say_why() -> None:
    estimate = with_percentiles(Estimate(2.0), np.full(100, 2.0), 30, "")
    assert (estimate.ci_low, estimate.ci_high) == (2, 2)
    assert estimate.note == "no width: 100% of the resamples of 30 sources are equal"
    nearly = with_percentiles(Estimate(2.0), np.append(np.full(99, 2.0), 3.0), 30, "")
    assert nearly.note == "no width: 99% of the resamples of 30 sources are equal"


def test_share_of_sources_all_alike_has_the_clopper_pearson_interval() -> None:
    assert bounds_of_alike(0.0, (0, 1), 10) == pytest.approx((0, 0.3085), abs=1e-4)
    exact = binomtest(24, 24).proportion_ci(0.95, "exact")
    assert bounds_of_alike(1.0, (0, 1), 24) == pytest.approx((exact.low, exact.high))
    assert bounds_of_alike(3.0, (1, 5), 1) == pytest.approx((1.05, 4.95))
    with pytest.raises(ValueError, match="cannot be 2"):
        bounds_of_alike(2.0, (0, 1), 10)
