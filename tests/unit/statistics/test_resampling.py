from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student

from deleted import jackknife_t
from judgescope.statistics.arrays import dot
from judgescope.statistics.jackknife import NOT_SMOOTH, PLAIN, Scale, bounds_of_alike, deletions
from judgescope.statistics.means import share
from judgescope.statistics.resampling import (
    Replicated,
    deleted_counts,
    few_not_modal,
    mean_rows,
    percentile_interval,
    replicated,
    source_weights,
    whole_and_resamples,
    with_interval,
    with_percentiles,
)
from judgescope.statistics.result import NO_VARIATION, Estimate
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


def test_ranks_have_ends_that_are_ranks() -> None:
    drawn = np.repeat([3.0, 5.0, 5.5, 6.0], [30, 920, 30, 20])
    few = np.array([1.0, 2.0, 2.0, 3.0])
    assert percentile_interval(few) == pytest.approx((1.075, 2.925))
    assert percentile_interval(few, between=False) == (1, 3)
    assert percentile_interval(drawn, between=False) == (3, 5.5)
    found = with_percentiles(Estimate(5.0), drawn, 30, "it jumps", between=False)
    assert (found.ci_low, found.ci_high) == (3, 5.5)


def test_percentiles_say_how_they_were_made_and_why() -> None:
    found = with_percentiles(Estimate(0.5, method="exact"), np.linspace(0, 1, 1001), 20, "it jumps")
    assert (found.ci_low, found.ci_high) == pytest.approx((0.025, 0.975))
    told = "exact; bootstrap over 20 sources, 1001 resamples, percentile: it jumps"
    assert (found.method, found.note) == (told, "")


def test_no_percentiles_below_ten_sources_and_the_note_says_so() -> None:
    assert with_percentiles(Estimate(0.5), np.linspace(0, 1, 99), 10, "").ci_low is not None
    found = with_percentiles(Estimate(0.5), np.linspace(0, 1, 99), 9, "")
    assert (found.value, found.ci_low, found.ci_high) == (0.5, None, None)
    assert found.note == "no interval: 9 sources"


def test_undefined_replicates_are_told() -> None:
    half = np.where(np.arange(100) % 2, np.nan, np.linspace(0, 2, 100))
    assert with_percentiles(Estimate(1.0), half, 30, "").note == "undefined in 50% of resamples"
    none = with_percentiles(Estimate(1.0), np.full(9, np.nan), 30, "")
    assert (none.ci_low, none.note) == (None, "no interval: undefined in every resample")


def test_percentiles_without_width_say_why() -> None:
    found = with_percentiles(Estimate(2.0), np.full(100, 2.0), 30, "")
    assert (found.ci_low, found.ci_high) == (2, 2)
    assert found.note == "no width: 100% of the resamples of 30 sources are equal"
    nearly = with_percentiles(Estimate(2.0), np.append(np.full(99, 2.0), 3.0), 30, "")
    assert nearly.note == "no width: 99% of the resamples of 30 sources are equal"


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
        found = share(hits, np.ones(24), np.arange(24), deletions(24)).estimate
        assert (
            found.ci_low is not None and found.ci_high is not None and found.ci_low < found.ci_high
        )
        held += found.ci_low <= probability <= found.ci_high
    assert held >= 280


def mean(values: list[float], scale: Scale = PLAIN, **more: tuple[float, float]) -> Replicated:
    own = np.array(values)
    rows = mean_rows(own, whole_and_resamples(np.arange(own.size), deletions(own.size)))
    sizes = (~np.isnan(own)).astype(float)
    return with_interval(Replicated(Estimate(float(rows[0])), rows, sizes, scale, **more))


def test_the_mean_of_sources_has_a_t_interval_cut_to_its_ends() -> None:
    values = [*np.linspace(0.0, 1.0, 12).tolist(), np.nan]
    found = mean(values).estimate
    half = student.ppf(0.975, 11) * np.nanstd(values, ddof=1) / 12**0.5
    assert (found.ci_low, found.ci_high) == pytest.approx((0.5 - half, 0.5 + half))
    assert found.method == "jackknife-t over 12 sources" and found.note == ""
    cut = mean(values, Scale("plain", 0.4, 0.6)).estimate
    assert (cut.ci_low, cut.ci_high) == (0.4, 0.6)


def test_many_sources_change_nothing_of_how_it_is_made() -> None:
    values = np.random.default_rng(0).normal(size=60).tolist()
    found = mean(values).estimate
    deleted = [float(np.mean(np.delete(values, s))) for s in range(60)]
    expected = jackknife_t(float(np.mean(values)), deleted)
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, rel=1e-9)
    assert found.method == "jackknife-t over 60 sources"


def test_no_deletions_or_very_few_sources_give_no_interval() -> None:
    plain = Replicated(Estimate(0.1), np.array([0.1]))
    assert with_interval(plain).estimate == Estimate(0.1) and plain.p_above(0) is None
    few = mean([1.0, 2.0] * 4).estimate
    assert (few.ci_low, few.note) == (None, "no interval: 8 sources")
    # a bootstrap's rows are for ranks: no source was deleted
    drawn = Replicated(Estimate(0.1), np.full(1001, 0.1), np.ones(24))
    assert with_interval(drawn) is drawn and drawn.p_above(0) is None


def test_means_of_equal_values_rest_on_their_bounds() -> None:
    bounded = mean([1.0] * 24, ends=(-1.0, 1.0)).estimate
    assert (bounded.ci_low, bounded.ci_high) == pytest.approx((2 * 0.025 ** (1 / 24) - 1, 1))
    flat = mean([1.0] * 24).estimate
    assert (flat.ci_low, flat.ci_high) == (1, 1) and flat.note.startswith("no width")


def test_an_undefined_value_stays_undefined() -> None:
    found = replicated(np.array([np.nan, 0.1]), NO_VARIATION, sizes=np.ones(1), scale=PLAIN, n=7)
    one = found.estimate
    assert (one.value, one.ci_low, one.n, one.note) == (None, None, 7, NO_VARIATION)
    assert found.p_above(0.0) is None


def test_what_is_not_smooth_has_no_interval() -> None:
    found = mean(np.linspace(0, 1, 20).tolist(), NOT_SMOOTH).estimate
    assert found.value is not None and found.ci_low is None and "not smooth" in found.note


def test_a_rare_other_rating_is_warned_of() -> None:
    source = np.repeat(np.arange(24), 2)
    ratings = np.full(48, 5.0)
    ratings[:19] = 4  # in 10 sources
    assert few_not_modal(ratings, source) == ""
    ratings[18] = np.nan
    assert few_not_modal(ratings, source).startswith("warning: 9 sources")
    assert few_not_modal(np.full(48, np.nan), source) == ""


def test_counts_without_each_source_are_those_of_the_weights_to_the_bit() -> None:
    rng = np.random.default_rng(4)
    weights, counts = deletions(30), rng.integers(0, 9, (30, 2, 3)).astype(float)
    rows = whole_and_resamples(np.arange(30), weights)
    np.testing.assert_array_equal(deleted_counts(rows, counts), dot(rows, counts))
    assert whole_and_resamples(np.arange(30), weights) is rows and not rows.flags.writeable
    assert deleted_counts(rows, counts + 0.5) is None
    drawn = source_weights(rng, 30, 30)
    others = whole_and_resamples(np.arange(30), drawn)
    assert deleted_counts(others, counts) is None and deleted_counts(rows, counts) is None
