"""Means of statistics: over aspects, on the same resamples, and over independent datasets."""

from dataclasses import replace

import numpy as np
import pytest

from deleted import by_source, jackknife_t, proportion
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import independent_mean, mean_over, share
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import Estimate

RNG = np.random.default_rng(0)
SOURCE = np.repeat(np.arange(40), 5)
WEIGHTS = deletions(40)
ONES = np.ones(SOURCE.size)


def shares(*chances: float) -> list[Replicated]:
    hits = [(RNG.random(SOURCE.size) < chance).astype(float) for chance in chances]
    return [share(one, ONES, SOURCE, WEIGHTS) for one in hits]


def test_a_share_of_things_is_a_proportion_of_clustered_cases() -> None:
    hits = np.zeros(SOURCE.size)
    hits[:50] = 1
    found = share(hits, ONES, SOURCE, WEIGHTS, missing=3, tied=2, averaged="what")
    one = found.estimate
    assert (one.value, one.n, one.n_missing, one.n_tied) == (0.25, 200, 3, 2)
    assert found.rows[0] == one.value and found.rows.size == 41
    assert found.rows[1] == 45 / 195 and found.rows[40] == 50 / 195
    own = proportion(by_source(hits, SOURCE, 40), [5] * 40)
    assert (one.ci_low, one.ci_high) == pytest.approx(own)
    assert one.method.startswith("what; Clopper-Pearson") and "40 sources" in one.method
    plain = share(hits, ONES, SOURCE, WEIGHTS, 3, averaged="what").estimate
    assert (plain.value, plain.ci_low, plain.ci_high) == (one.value, one.ci_low, one.ci_high)


def test_the_mean_over_aspects_loses_a_source_in_all_of_them_at_once() -> None:
    each = shares(0.2, 0.5, 0.6)
    found = mean_over(each, averaged="aspects")
    rows = np.mean([one.rows for one in each], axis=0)
    assert found.rows == pytest.approx(rows) and found.estimate.value == rows[0]
    expected = jackknife_t(float(rows[0]), rows[1:].tolist(), ends=(0.0, 1.0))
    assert (found.estimate.ci_low, found.estimate.ci_high) == pytest.approx(expected)
    assert found.estimate.method == "mean over aspects; jackknife-t over 40 sources"
    assert found.estimate.n == 3
    turned = mean_over(each[::-1], averaged="aspects").estimate
    assert turned.value == pytest.approx(found.estimate.value)


def test_a_mean_over_one_aspect_is_that_aspects_number_with_its_n() -> None:
    [one] = shares(0.3)
    found = mean_over([one], averaged="aspects")
    kept = replace(found.estimate, method=one.estimate.method)
    assert kept == one.estimate and found.estimate.n == SOURCE.size
    assert found.estimate.method.startswith("the only one of the aspects; ")
    assert np.array_equal(found.rows, one.rows)
    assert mean_over([one], averaged="subsets").estimate.n == 1


def test_where_all_sources_are_alike_a_mean_of_shares_has_their_bounds() -> None:
    none, all_of_them = (share(v * ONES, ONES, SOURCE, WEIGHTS) for v in (0, 1))
    found = mean_over([none, all_of_them], averaged="aspects").estimate
    rest = 1 - 0.025 ** (1 / 40)
    assert found.value == 0.5
    assert (found.ci_low, found.ci_high) == pytest.approx((0.5 - rest / 2, 0.5 + rest / 2))
    twice = [Estimate(1.0, ci_low=1.0, ci_high=1.0)] * 2
    assert (
        independent_mean(twice, averaged="datasets").note
        == "no width: none of the datasets has any"
    )
    flat = Replicated(Estimate(0.0, ci_low=0.0, ci_high=0.0), np.zeros(41), np.ones(40))
    assert "no width" in mean_over([flat, flat], averaged="aspects").estimate.note


def test_a_mean_over_what_is_not_defined_everywhere_is_none() -> None:
    nothing = Replicated(Estimate.undefined("constant judge"), np.full(41, np.nan))
    found = mean_over([*shares(0.5), nothing], averaged="aspects")
    one = found.estimate
    assert (one.value, one.note) == (None, "undefined on 1 of 2 aspects: constant judge")
    assert np.isnan(found.rows).all() and found.rows.size == 41
    told = independent_mean([Estimate(0.5), nothing.estimate], averaged="datasets")
    assert (told.value, told.note) == (None, "undefined on 1 of 2 datasets: constant judge")
    several = [nothing.estimate, Estimate.undefined("continuous"), Estimate(1.0)]
    told = independent_mean(several, averaged="datasets")
    assert (told.note, told.n) == ("undefined on 2 of 3 datasets", 1)
    assert independent_mean([], averaged="datasets").value is None


def test_the_mean_of_independent_ones_by_hand() -> None:
    # sqrt(.3² + .4²) / 2 = .25 below, sqrt(.6² + .8²) / 2 = .5 above
    found = independent_mean(
        [Estimate(1.0, ci_low=0.7, ci_high=1.6), Estimate(2.0, ci_low=1.6, ci_high=2.8)],
        averaged="datasets",
    )
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((1.5, 1.25, 2.0))
    alone = independent_mean(
        [Estimate(1.0), Estimate(2.0, ci_low=1.6, ci_high=2.8)], averaged="datasets"
    )
    assert (alone.value, alone.ci_low, alone.ci_high) == (1.5, None, None)
    few = [Estimate(v, note=f"a warning; no interval: {n} sources") for v, n in ((1, 9), (2, 8))]
    told = independent_mean(
        [few[0], Estimate(1.0, ci_low=0.7, ci_high=1.6)], averaged="datasets"
    ).note
    assert told == "no interval on 1 of 2 datasets: 9 sources"
    assert independent_mean(few, averaged="datasets").note == "no interval on 2 of 2 datasets"
    one = Estimate(0.5, ci_low=0.25, ci_high=0.625)
    same = independent_mean([one], averaged="datasets")
    assert (same.value, same.ci_low, same.ci_high) == (one.value, one.ci_low, one.ci_high)


@pytest.mark.simulation
def test_intervals_of_a_mean_of_datasets_hold_it_95_times_of_100() -> None:
    rng, hits, studies = np.random.default_rng(1), 0, 400
    for _ in range(studies):
        each = []
        for size in (60, 100):
            told = (rng.random(size) < 0.4).astype(float)
            weights = deletions(size)
            each.append(share(told, np.ones(size), np.arange(size), weights).estimate)
        found = independent_mean(each, averaged="datasets")
        assert found.ci_low is not None and found.ci_high is not None
        hits += found.ci_low <= 0.4 <= found.ci_high
    assert hits / studies == pytest.approx(0.95, abs=0.03)
