"""Correlations, draws and drops at their edges: counts, notes, rows and methods beside
a value.
"""

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

from deleted import jackknife_t
from judgescope.statistics.accuracy import soft_pairwise_accuracy
from judgescope.statistics.coefficients import Coefficient, over_rows
from judgescope.statistics.correlation import COEFFICIENTS, correlations
from judgescope.statistics.discernment import log_harmonic_mean
from judgescope.statistics.ensemble import error_correlation
from judgescope.statistics.intervals import deletions
from judgescope.statistics.reliability import repeatability, spearman_brown
from judgescope.statistics.resampling import whole_and_resamples
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.signed_rank import mean_drop, rank_biserial

NAN = float("nan")
Floats = NDArray[np.float64]


def test_systems_count_what_is_missing_and_say_which_side_is_constant() -> None:
    x, y = np.array([1.0, 2, 3, 4, NAN, 6]), np.array([1.0, 3, 2, 4, 5, 5])
    source, system = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])

    def by_system(x: Floats, y: Floats) -> Estimate:
        result = correlations(
            x,
            y,
            source,
            system,
            statistics=["pearson"],
            levels=["by_system"],
            weights=None,
        )
        return result["pearson", "by_system"].estimate

    result = by_system(x, y)
    # means of x 2.5, 2, 4.5 and of y 2.5, 3, 3.5
    assert result.value == pytest.approx(
        np.corrcoef([2.5, 2, 4.5], [2.5, 3, 3.5])[0, 1]
    )
    assert (result.n, result.n_missing, result.n_tied) == (3, 1, 0)
    each = correlations(x, y, source, system, levels=["by_source"], weights=None)
    # a source of two targets has 1, the other is 1, 3, 2 against 1, 2, 3: r = tau = .5,
    # (1 + .5)/2
    inner = each["pearson", "by_source"].estimate
    assert inner.value == pytest.approx(0.75)
    assert (inner.n, inner.n_missing) == (2, 1)
    # equal but for round-off: the means of .1, .2, .3 in another order
    third = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert by_system(third, np.arange(6.0)).note == REASONS.constant_judge
    assert (
        by_system(np.array([1.0, 2, 3, 1, 2, 4]), third).note
        == REASONS.constant_ratings
    )


def test_what_is_undefined_has_a_row_for_every_resample() -> None:
    weights = np.ones((7, 2), dtype=np.int64)
    values = np.array([0, 0, 1])
    for given, size in ((weights, 8), (None, 1)):
        result = correlations(np.ones(3), np.arange(3.0), values, values, weights=given)
        assert {each.rows.size for each in result.values()} == {size}
        assert all(np.isnan(each.rows).all() for each in result.values())


def test_errors_say_what_they_are_on_before_how_their_interval_was_made() -> None:
    x, y = np.array([1.0, 2, 4, 3]), np.array([2.0, 1, 4, 4])
    ratings, source = np.array([1.0, 2, 3, 3]), np.arange(4)
    estimate = error_correlation(
        x, y, ratings, source, one_scale=True, weights=None
    ).estimate
    # errors 0 0 1 0 and 1 -1 1 1
    assert estimate.value == pytest.approx(
        np.corrcoef([0, 0, 1, 0], [1, -1, 1, 1])[0, 1]
    )
    assert estimate.method == "errors: score - mean rating" and estimate.n == 4
    rng = np.random.default_rng(2)
    x, y, ratings = rng.normal(size=(3, 30))
    many = error_correlation(
        x, y, ratings, np.arange(30), one_scale=True, weights=deletions(30)
    )
    assert (
        many.estimate.method
        == "errors: score - mean rating; jackknife-t on atanh over 30 sources"
    )


def test_too_few_systems_are_counted_with_what_is_missing() -> None:
    x, y = np.array([1.0, 2, NAN]), np.array([1.0, 2, 3])
    location = np.arange(3)
    result = soft_pairwise_accuracy(
        x, y, np.zeros(3, dtype=np.int64), location, weights=None
    )
    assert result.estimate == Estimate.undefined(REASONS.few_systems, n=2, n_missing=1)
    assert result.rows.size == 1 and np.isnan(result.rows).all()


def test_systems_that_share_no_source_are_no_pair() -> None:
    # two sources with two systems each: the first pair is ordered otherwise by y, p .25
    # and .75, the second alike; the third pair has no source
    source, system = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    x, y = np.array([2.0, 1, 1, 2]), np.array([1.0, 2, 1, 2])
    estimate = soft_pairwise_accuracy(x, y, source, system, weights=None).estimate
    assert estimate.value == pytest.approx((0.5 + 1) / 2) and estimate.n == 3


def test_a_harmonic_mean_of_certain_chances_is_no_more_than_certain() -> None:
    # 1 / (.5 / 1 + .5 / 1) and 1 / (.25 / .1 + .75 / .5) = 1 / 4
    assert log_harmonic_mean([0.0, 1e-12], [0.5, 0.5]) == 0
    assert log_harmonic_mean(np.log([0.1, 0.5]), [0.25, 0.75]) == pytest.approx(
        np.log(1 / 4)
    )


def test_draws_have_the_intervals_of_written_out_deletions() -> None:
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(12), 2)
    draws = np.round(rng.normal(3, 1, 24) + rng.normal(0, 0.5, (3, 24)), 1)
    draws[0, 0] = NAN
    result = repeatability(draws, source, deletions(12), scale=None)
    each = [
        repeatability(draws[:, source != s], source[source != s], None, scale=None)
        for s in range(12)
    ]
    for name in ("alpha_draws", "reliability"):
        deleted = [entry[name].value or 0 for entry in each]
        value = result[name].value
        assert value is not None
        assert (result[name].ci_low, result[name].ci_high) == pytest.approx(
            jackknife_t(value, deleted)
        )
        assert (
            result[name].n == 24
            and result[name].method == "jackknife-t over 12 sources"
        )
    r = result["reliability"]
    assert (
        r.value is not None
        and r.ci_low is not None
        and r.ci_high is not None
        and r.ci_low > 0
    )

    def needed(
        reliability: float,
    ) -> int:  # the least k whose mean has .95 of the attainable
        return next(
            k for k in range(1, 10_000) if spearman_brown(reliability, k) >= 0.95 - 1e-9
        )

    k = result["draws_needed"]
    assert (k.value, k.ci_low, k.ci_high) == (
        needed(r.value),
        needed(r.ci_high),
        needed(r.ci_low),
    )


def test_draws_needed_have_no_interval_where_none_may_be_enough() -> None:
    rng = np.random.default_rng(5)
    draws = rng.normal(3, 1, 12) + rng.normal(0, 1.5, (2, 12))
    result = repeatability(draws, np.arange(12), deletions(12), scale=None)
    assert (result["reliability"].value or 0) > 0 > (result["reliability"].ci_low or 1)
    k = result["draws_needed"]
    assert (
        k.value is not None
        and (k.ci_low, k.ci_high) == (None, None)
        and "includes 0" in k.note
    )


def test_without_two_draws_of_a_text_every_name_says_so() -> None:
    result = repeatability(np.ones((1, 2)), np.arange(2), None, scale=[1, 2])
    assert [*result] == [
        "alpha_draws",
        "flip_rate",
        "tied_modes",
        "reliability",
        "draws_needed",
    ]
    assert {*result.values()} == {Estimate.undefined(REASONS.no_units, n_missing=2)}


def test_effect_sizes_of_drops_name_their_method_and_what_they_are_means_of() -> None:
    result = rank_biserial(np.array([3, -1, 0, 2]))
    # ranks 3, -1 and 2 without the zero: (5 - 1) / 6
    assert result.value == pytest.approx(4 / 6) and (result.n, result.n_tied) == (3, 1)
    assert result.method == "matched-pairs rank-biserial, zeros dropped"
    weights = np.array([[1, 1], [2, 0]])
    drop = mean_drop([3.0, 2.0], [1.0, 1.0], [0, 1], weights)
    assert (drop.value, drop.n, drop.method) == (1.5, 2, "mean drop")


@pytest.mark.parametrize("statistic", COEFFICIENTS)
def test_memory_grows_with_sources_and_not_with_their_square(
    statistic: Coefficient,
) -> None:
    x: Floats = np.arange(6000.0) % 5
    y: Floats = np.floor(np.roll(x, 1) / 2)
    source = np.arange(6000) // 2
    tracemalloc.start()
    try:
        over_rows(x, y, source, whole_and_resamples(source, None), [statistic])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3000**2  # bytes: an eighth of a number for each two sources
