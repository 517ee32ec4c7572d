"""Chances of draws, means by them, and what a draw by predicted errors saves."""

import numpy as np
import pytest
from numpy.typing import NDArray

from judgescope.statistics.active import (
    DrawnRound,
    active_mean,
    draw,
    draw_chances,
    expected_saving,
    fitted,
    predicted_errors,
    round_weights,
    source_errors,
)

Floats = NDArray[np.float64]
WIDE = (-100.0, 100.0)
NAN = np.nan


@pytest.mark.parametrize("n", [1, 7, 40, 100])
def test_chances_sum_to_the_planned_number_or_less_where_some_are_certain(
    n: int,
) -> None:
    errors = np.random.default_rng(1).random(100) ** 4
    chances = draw_chances(errors, n)
    assert 0.2 * n / 100 - 1e-9 <= chances.min() and chances.max() <= 1
    if chances.max() < 1:
        assert chances.sum() == pytest.approx(n)


def test_no_predicted_error_has_equal_chances() -> None:
    assert draw_chances(np.zeros(8), 2).tolist() == [0.25] * 8


@pytest.mark.parametrize("n", [0, 9])
def test_more_sources_than_there_are_cannot_be_drawn(n: int) -> None:
    with pytest.raises(ValueError, match=f"{n} of 8"):
        draw_chances(np.ones(8), n)


def test_the_mean_is_that_of_the_published_formula() -> None:
    """g = Σ_r n_r/Σn (p + ξ_r/π_r (y - p)), round by round, as methods.md has it."""
    rng = np.random.default_rng(2)
    truth = rng.normal(size=60)
    judged = truth + rng.normal(size=60)
    rounds = []
    for n in (20, 10):
        rounds.append(draw(rng, draw_chances(rng.random(60), n), n))
    result = active_mean(judged, truth, rounds, WIDE)
    p = fitted(judged, truth, round_weights(rounds))
    g = np.zeros(60)
    for each in rounds:
        g += each.planned / 30 * (p + each.drawn / each.chances * (truth - p))
    assert result.value == pytest.approx(g.mean())


def test_a_judge_that_errs_by_a_line_alone_is_corrected_to_people_exactly() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(size=200)
    each = draw(rng, draw_chances(rng.random(200), 30), 30)
    result = active_mean(2 * truth + 5, truth, [each], WIDE)
    assert result.value == pytest.approx(truth.mean())


def test_a_judge_that_turns_quality_round_is_not_used() -> None:
    truth = np.random.default_rng(4).normal(size=50)
    assert np.ptp(fitted(-truth, truth, np.ones(50))) == 0


def test_the_order_of_sources_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    truth, judged = rng.normal(size=(2, 80))
    each = draw(rng, draw_chances(rng.random(80), 30), 30)
    order = rng.permutation(80)
    turned = DrawnRound(each.chances[order], each.drawn[order], 30)
    first = active_mean(judged, truth, [each], WIDE)
    second = active_mean(judged[order], truth[order], [turned], WIDE)
    assert first.value == pytest.approx(second.value)
    assert first.ci_low == pytest.approx(second.ci_low)


def test_more_looks_have_wider_intervals() -> None:
    rng = np.random.default_rng(6)
    truth, judged = rng.normal(size=(2, 80))
    each = draw(rng, draw_chances(np.ones(80), 30), 30)
    widths = []
    for looks in (1, 5):
        result = active_mean(judged, truth, [each], WIDE, looks=looks)
        assert result.ci_low is not None and result.ci_high is not None
        widths.append(result.ci_high - result.ci_low)
    assert widths[0] < widths[1] and "level 1 − .05/5" in result.method


def test_drawn_sources_without_a_rating_are_counted() -> None:
    rng = np.random.default_rng(7)
    truth, judged = rng.normal(size=(2, 80))
    each = draw(rng, draw_chances(np.ones(80), 40), 40)
    missing = np.flatnonzero(each.drawn)[:5]
    truth[missing] = NAN
    result = active_mean(judged, truth, [each], WIDE)
    assert result.n_missing == 5 and "5 drawn sources have no rating" in result.note


def test_few_or_equal_ratings_have_no_interval() -> None:
    judged = np.arange(40.0)
    some = DrawnRound(np.full(40, 0.2), np.arange(40) < 9, 8)
    few = active_mean(judged, judged, [some], WIDE)
    assert few.value is not None and few.ci_low is None and "9 rated" in few.note
    every = DrawnRound(np.ones(40), np.ones(40, bool), 40)
    alike = active_mean(judged, np.where(judged < 3, 1.0, 0.0), [every], (0.0, 1.0))
    assert alike.ci_low is None and "3 informative" in alike.note
    nothing = active_mean(judged, np.full(40, NAN), [every], WIDE)
    assert nothing.value is None


def test_no_round_is_an_error() -> None:
    with pytest.raises(ValueError, match="no round"):
        round_weights([])


def test_an_error_that_all_systems_share_counts_for_nothing_beside_differences() -> (
    None
):
    rng = np.random.default_rng(8)
    judged = rng.normal(size=(50, 3))
    shared = rng.normal(size=(50, 1))
    squares = source_errors(judged, np.tile(shared, 3), np.ones(50))
    own_part = source_errors(judged, shared + rng.normal(size=(50, 3)), np.ones(50))
    assert np.nanmean(squares) < 0.2 * np.nanmean(own_part)


def test_errors_that_follow_a_feature_are_predicted_and_others_not() -> None:
    rng = np.random.default_rng(9)
    feature = rng.normal(size=(300, 1))
    rated = np.arange(300) < 100
    larger = np.where(feature[:, 0] < -0.43, 4.0, 0.3)
    noise = rng.normal(size=300) ** 2
    for size, saves in ((larger, True), (np.ones(300), False)):
        squares = np.where(rated, size * noise, NAN)
        errors, without = predicted_errors(feature, squares)
        assert (expected_saving(without, squares, 30) > 0.2) is saves
        if saves:
            high = errors[feature[:, 0] < -0.5].mean()
            assert high > 2 * errors[feature[:, 0] > 0].mean()


def test_a_rated_source_does_not_predict_its_error() -> None:
    squares = np.array([100.0] + [1.0] * 29)
    _, without = predicted_errors(np.ones((30, 1)), squares)
    assert without[0] == pytest.approx(1.0)


def test_an_unrated_source_is_predicted_from_all_rated_ones() -> None:
    squares = np.where(np.arange(30) < 12, np.arange(30.0), NAN)
    features = np.arange(30.0)[:, None] % 7
    errors, without = predicted_errors(features, squares)
    assert without[12:].tolist() == errors[12:].tolist()
    assert (without[:12] != errors[:12]).all()


def seldom_wrong(rng: np.random.Generator, size: int) -> tuple[Floats, Floats]:
    """Labels, and those of a judge that passes 6 % of the bad texts."""
    rated = np.asarray(rng.random(size) < 0.5, np.float64)
    return np.where(rng.random(size) < 0.06, 1.0, rated), rated


def test_a_judge_that_errs_on_too_few_rated_sources_is_not_used() -> None:
    judged, rated = seldom_wrong(np.random.default_rng(10), 2000)
    each = draw(np.random.default_rng(11), draw_chances(np.ones(2000), 60), 60)
    result = active_mean(judged, rated, [each], (0.0, 1.0))
    assert "errs on fewer than 10 rated sources" in result.note
    assert np.ptp(fitted(judged, rated, round_weights([each]))) == 0


@pytest.mark.simulation
def test_intervals_beside_a_judge_that_seldom_errs_hold_the_truth() -> None:
    held = given = 0
    for seed in range(600):
        rng = np.random.default_rng([12, seed])
        judged, rated = seldom_wrong(rng, 2000)
        each = draw(rng, draw_chances(np.ones(2000), 30), 30)
        result = active_mean(judged, rated, [each], (0.0, 1.0))
        if result.ci_low is not None and result.ci_high is not None:
            given += 1
            held += result.ci_low <= 0.5 <= result.ci_high
    assert given > 400 and held / given >= 0.93
