"""Correlations, draws and drops at their edges: counts, notes, rows and methods beside a value."""

import numpy as np
import pytest
from numpy.typing import NDArray

from metajudge.statistics.combination import log_harmonic_mean
from metajudge.statistics.correlation import correlations
from metajudge.statistics.ensemble import ON_ONE_SCALE, error_correlation
from metajudge.statistics.estimate import (
    CONSTANT_JUDGE,
    CONSTANT_RATINGS,
    FEW_SYSTEMS,
    NO_UNITS,
    Estimate,
)
from metajudge.statistics.repeatability import repeatability
from metajudge.statistics.resampling import percentile_interval, source_weights
from metajudge.statistics.soft import soft_pairwise_accuracy
from metajudge.statistics.wilcoxon import mean_drop, rank_biserial

NAN = float("nan")
Floats = NDArray[np.float64]


def test_systems_count_what_is_missing_and_say_which_side_is_constant() -> None:
    x, y = np.array([1.0, 2, 3, 4, NAN, 6]), np.array([1.0, 3, 2, 4, 5, 5])
    source, system = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])

    def by_system(x: Floats, y: Floats) -> Estimate:
        found = correlations(
            x, y, source, system, statistics=["pearson"], levels=["by_system"], weights=None
        )
        return found["pearson", "by_system"].estimate

    found = by_system(x, y)
    # means of x 2.5, 2, 4.5 and of y 2.5, 3, 3.5
    assert found.value == pytest.approx(np.corrcoef([2.5, 2, 4.5], [2.5, 3, 3.5])[0, 1])
    assert (found.n, found.n_missing, found.n_tied) == (3, 1, 0)
    each = correlations(x, y, source, system, levels=["by_source"], weights=None)
    # a source of two targets has 1, the other is 1, 3, 2 against 1, 2, 3: r = tau = .5, (1 + .5)/2
    inner = each["pearson", "by_source"].estimate
    assert inner.value == pytest.approx(0.75)
    assert (inner.n, inner.n_missing) == (2, 1)
    # equal but for round-off: the means of .1, .2, .3 in another order
    third = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert by_system(third, np.arange(6.0)).note == CONSTANT_JUDGE
    assert by_system(np.array([1.0, 2, 3, 1, 2, 4]), third).note == CONSTANT_RATINGS


def test_what_is_undefined_has_a_row_for_every_resample() -> None:
    weights = np.ones((7, 2), dtype=np.int64)
    place = np.array([0, 0, 1])
    for given, size in ((weights, 8), (None, 1)):
        found = correlations(np.ones(3), np.arange(3.0), place, place, weights=given)
        assert {one.rows.size for one in found.values()} == {size}
        assert all(np.isnan(one.rows).all() for one in found.values())


def test_errors_say_what_they_are_on_before_how_their_interval_was_made() -> None:
    x, y = np.array([1.0, 2, 4, 3]), np.array([2.0, 1, 4, 4])
    ratings, source = np.array([1.0, 2, 3, 3]), np.arange(4)
    found = error_correlation(x, y, ratings, source, one_scale=True, weights=None).estimate
    # errors 0 0 1 0 and 1 -1 1 1
    assert found.value == pytest.approx(np.corrcoef([0, 0, 1, 0], [1, -1, 1, 1])[0, 1])
    assert found.method == ON_ONE_SCALE and found.n == 4
    rng = np.random.default_rng(2)
    weights = source_weights(rng, 30, 20)
    x, y, ratings = rng.normal(size=(3, 30))
    many = error_correlation(x, y, ratings, np.arange(30), one_scale=True, weights=weights)
    assert many.estimate.method.startswith(f"{ON_ONE_SCALE}; bootstrap over 30 sources")


def test_too_few_systems_are_counted_with_what_is_missing() -> None:
    x, y = np.array([1.0, 2, NAN]), np.array([1.0, 2, 3])
    place = np.arange(3)
    found = soft_pairwise_accuracy(x, y, np.zeros(3, dtype=np.int64), place, weights=None)
    assert found.estimate == Estimate.undefined(FEW_SYSTEMS, n=2, n_missing=1)
    assert found.rows.size == 1 and np.isnan(found.rows).all()


def test_systems_that_share_no_source_are_no_pair() -> None:
    # two sources with two systems each: the first pair is ordered otherwise by y, p .25 and .75,
    # the second alike; the third pair has no source
    source, system = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    x, y = np.array([2.0, 1, 1, 2]), np.array([1.0, 2, 1, 2])
    found = soft_pairwise_accuracy(x, y, source, system, weights=None).estimate
    assert found.value == pytest.approx((0.5 + 1) / 2) and found.n == 3


def test_a_harmonic_mean_of_certain_chances_is_no_more_than_certain() -> None:
    # 1 / (.5 / 1 + .5 / 1) and 1 / (.25 / .1 + .75 / .5) = 1 / 4
    assert log_harmonic_mean([0.0, 1e-12], [0.5, 0.5]) == 0
    assert log_harmonic_mean(np.log([0.1, 0.5]), [0.25, 0.75]) == pytest.approx(np.log(1 / 4))


def test_few_resamples_of_draws_have_the_interval_of_each_written_out() -> None:
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(12), 2)
    draws = np.round(rng.normal(3, 1, 24) + rng.normal(0, 0.5, (3, 24)), 1)
    draws[0, 0] = NAN
    weights = source_weights(rng, 12, 25)
    found = repeatability(draws, source, weights, scale=None)
    each = [
        repeatability(draws[:, at], source[at], None, scale=None)
        for at in (np.repeat(np.arange(24), row[source]) for row in weights)
    ]
    for name in ("alpha_draws", "reliability", "draws_needed"):
        values = np.array([one[name].value for one in each], dtype=float)
        want = percentile_interval(values)
        assert (found[name].lo, found[name].hi) == pytest.approx(want), name
        assert found[name].n == 24 and "bootstrap over 12 sources" in found[name].method


def test_one_resample_of_draws_is_an_interval_of_it_alone() -> None:
    rng = np.random.default_rng(5)
    source = np.arange(12)
    draws = rng.normal(3, 1, 12) + rng.normal(0, 0.7, (2, 12))
    weights = source_weights(rng, 12, 1)
    found = repeatability(draws, source, weights, scale=None)["draws_needed"]
    at = np.repeat(np.arange(12), weights[0])
    alone = repeatability(draws[:, at], source, None, scale=None)["draws_needed"]
    assert alone.value and (found.lo, found.hi) == (alone.value, alone.value)


def test_without_two_draws_of_a_text_every_name_says_so() -> None:
    found = repeatability(np.ones((1, 2)), np.arange(2), None, scale=[1, 2])
    assert [*found] == ["alpha_draws", "flip_rate", "tied_modes", "reliability", "draws_needed"]
    assert {*found.values()} == {Estimate.undefined(NO_UNITS, n_missing=2)}


def test_effect_sizes_of_drops_name_their_method_and_what_they_are_means_of() -> None:
    found = rank_biserial(np.array([3, -1, 0, 2]))
    # ranks 3, -1 and 2 without the zero: (5 - 1) / 6
    assert found.value == pytest.approx(4 / 6) and (found.n, found.n_tied) == (3, 1)
    assert found.method == "matched-pairs rank-biserial, zeros dropped"
    weights = np.array([[1, 1], [2, 0]])
    drop = mean_drop([3.0, 2.0], [1.0, 1.0], [0, 1], weights)
    assert (drop.value, drop.n, drop.method) == (1.5, 2, "mean drop")
