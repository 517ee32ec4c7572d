"""Drift of a judge: exact p of new draws, levels of looks, power, alarms in vain."""

from itertools import product

import numpy as np
import pytest

from judgescope.statistics.gate import (
    drift,
    level_of_look,
    modes,
    p_at_most,
    power_of_fall,
)
from planted_study import benchmark

NAN = float("nan")
planted = benchmark("planted_drift")


@pytest.mark.parametrize("seen", range(5))
def test_p_is_that_of_all_outcomes_counted(seen: int) -> None:
    hits = np.array([0, 1, 3, 4, 2])
    total = 0.0
    for outcome in product((0, 1), repeat=hits.size):
        if sum(outcome) <= seen:
            chances = np.where(np.array(outcome) == 1, hits / 4, 1 - hits / 4)
            total += float(chances.prod())
    assert p_at_most(hits, 4, seen) == pytest.approx(total, abs=1e-12)


def test_the_order_of_anchors_changes_nothing() -> None:
    hits = np.array([1, 5, 9, 10, 3, 3])
    assert p_at_most(hits, 11, 3) == p_at_most(hits[::-1], 11, 3)


def test_hits_are_counts_of_draws() -> None:
    with pytest.raises(ValueError, match="from 0 to 3"):
        p_at_most(np.array([4]), 3, 1)


def test_over_all_looks_the_levels_sum_to_the_complete() -> None:
    assert sum(level_of_look(t, None) for t in range(1, 2000)) < 0.05
    assert sum(level_of_look(t, 300) for t in range(1, 301)) == pytest.approx(0.05)
    for look, horizon in ((0, None), (11, 10)):
        with pytest.raises(ValueError, match="is not one of"):
            level_of_look(look, horizon)


def test_the_most_frequent_verdict_is_the_least_of_tied_ones() -> None:
    draws = np.array([[2.0, 2.0, 1.0], [2.0, 1.0, NAN], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(modes(draws), [2.0, 1.0, NAN])


def test_an_unread_draw_is_wrong_and_another_one() -> None:
    before = np.ones((30, 10))
    new = np.where(np.arange(30) < 8, NAN, 1.0)
    result = drift(before, new, np.ones(30))
    assert result.alarm and result.right_now == pytest.approx(22 / 30)


def test_a_change_without_people_is_an_alarm_too() -> None:
    before = np.ones((30, 10))
    result = drift(before, np.zeros(30), np.full(30, NAN))
    assert np.isnan(result.p_right) and result.p_change < 1e-6 and result.alarm


def test_more_right_verdicts_are_a_change_and_no_fall() -> None:
    before = np.zeros((40, 10))
    result = drift(before, np.ones(40), np.ones(40))
    assert result.p_right == 1.0 and result.p_change < 1e-6


def test_few_draws_are_no_baseline() -> None:
    with pytest.raises(ValueError, match="5 are needed"):
        drift(np.ones((9, 4)), np.ones(9), np.ones(9))


def test_the_power_of_a_fall_needs_negative_anchors() -> None:
    before = np.zeros((60, 10))
    assert power_of_fall(before, np.zeros(60), 0.2, 0.05 / 300) > 0.9
    assert power_of_fall(before, np.zeros(60), 0.01, 0.05 / 300) < 0.1
    assert np.isnan(power_of_fall(before, np.ones(60), 0.2, 0.05))


@pytest.mark.simulation
@pytest.mark.parametrize(("fall", "least"), [(0.1, 0.75), (0.2, 0.95)])
def test_a_fall_of_the_true_negative_rate_is_detected(
    fall: float, least: float
) -> None:
    """At a true .83 fewer than 150 of 200 alarm less than one time in 300."""
    collected = [planted.alarms_after(fall, number) for number in range(200)]
    assert np.mean(collected) >= least


@pytest.mark.simulation
def test_looks_at_a_judge_without_drift_seldom_alarm() -> None:
    """At .05 more than 4 of 30 runs of 300 looks alarm one time in 100."""
    assert sum(planted.alarms_in_vain(number) for number in range(30)) <= 4


@pytest.mark.simulation
def test_without_drift_p_is_uniform_or_above() -> None:
    p = []
    for number in range(400):
        rng = np.random.default_rng(number)
        kept, before = planted.baseline(rng)
        flips = rng.random(kept.size) < planted.FLIPS
        new = np.where(flips, 1 - kept, kept)
        p.append(drift(before, new, np.zeros(kept.size)).p_right)
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / len(p))
        assert np.mean(np.array(p) <= level) <= level + 3 * error
