"""The choice of a system: by hand, against another derivation, and simulated."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from judgescope.statistics.choice import (
    SystemMeans,
    best_set,
    corrected_means,
    p_best,
    picks,
    plain_means,
    system_pearson_true,
)
from judgescope.statistics.corrected import (
    RatedSample,
    corrected_moments,
    judge_weight,
)

Floats = NDArray[np.float64]
LEVELS = np.array([1.0, 2.0, 2.5, 4.0])


def tables(seed: int, n: int, noise: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    rated = LEVELS + rng.normal(size=(n, 1)) + noise * rng.normal(size=(n, 4))
    return rated + noise * rng.normal(size=(n, 4)), rated


def test_means_and_errors_are_those_of_corrected_means() -> None:
    judged, rated = tables(1, 30)
    others = tables(2, 80)[0]
    samples = [RatedSample(judged[:, j], rated[:, j], others[:, j]) for j in range(4)]
    weights = np.array([judge_weight(sample) for sample in samples])
    result = corrected_means(judged, rated, others, weights)
    for j, sample in enumerate(samples):
        theta, error = corrected_moments(sample, weights[j])
        assert result.means[j] == pytest.approx(theta)
        assert np.sqrt(result.covariance[j, j]) == pytest.approx(error)
    pair = RatedSample(
        judged[:, 0] - judged[:, 1],
        rated[:, 0] - rated[:, 1],
        others[:, 0] - others[:, 1],
    )
    same = corrected_means(judged, rated, others, np.full(4, 0.5))
    _, error = corrected_moments(pair, 0.5)
    variance = same.covariance[0, 0] + same.covariance[1, 1] - 2 * same.covariance[0, 1]
    assert variance == pytest.approx(error**2)


def test_of_two_systems_the_share_of_draws_is_the_chance_of_t() -> None:
    estimates = SystemMeans(np.array([0.0, 1.0]), np.diag([0.5, 0.5]), 12)
    share = p_best(estimates, np.random.default_rng(3))
    assert share.sum() == pytest.approx(1)
    assert share[1] == pytest.approx(stats.t.cdf(1.0, 12), abs=0.015)


def test_the_best_set_has_the_best_and_drops_what_is_clearly_below() -> None:
    kept = best_set(plain_means(tables(4, 60)[1]))
    assert kept.tolist() == [False, False, False, True]
    alike = best_set(plain_means(np.random.default_rng(5).normal(size=(20, 5))))
    assert alike.sum() >= 4
    equal = best_set(SystemMeans(np.array([1.0, 2.0]), np.zeros((2, 2)), 9))
    assert equal.tolist() == [False, True]


@pytest.mark.simulation
def test_the_best_system_is_seldom_left_out() -> None:
    left = sum(
        not best_set(plain_means(np.random.default_rng(seed).normal(size=(15, 4))))[0]
        for seed in range(400)
    )
    assert left <= 0.05 * 400


def by_loops(judged: Floats, rated: Floats) -> float:
    """Return the ratio from residuals, source by source."""
    n, m = rated.shape
    residuals = [
        t - t.mean(axis=0) - t.mean(axis=1, keepdims=True) + t.mean()
        for t in (judged, rated)
    ]
    means = [t.mean(axis=0) for t in (judged, rated)]
    s = np.cov(means)
    e = np.array([[np.sum(a * b) for a in residuals] for b in residuals]) / (
        (n - 1) * (m - 1)
    )
    c = s - e / n
    return float(c[0, 1] / np.sqrt(c[0, 0] * c[1, 1]))


def test_the_correlation_without_noise_is_that_of_residuals() -> None:
    judged, rated = tables(6, 24)
    made = system_pearson_true(judged, rated)
    assert made.rows[0] == pytest.approx(by_loops(judged, rated))
    for at in (0, 7, 23):
        kept = np.arange(24) != at
        assert made.rows[at + 1] == pytest.approx(by_loops(judged[kept], rated[kept]))


def test_an_order_that_few_sources_do_not_settle_has_no_correlation() -> None:
    noise = np.random.default_rng(7).normal(size=(2, 20, 4))
    estimate = system_pearson_true(*noise).estimate
    assert estimate.value is None and "not settled" in estimate.note
    few = system_pearson_true(*tables(8, 9)).estimate
    assert few.value is None and "9 sources" in few.note


def test_a_pick_is_valued_on_the_other_half() -> None:
    """Of equal systems no pick gains anything, though the best one looks better."""
    gains = []
    for seed in range(30):
        rated = np.random.default_rng(seed).normal(size=(16, 5))
        made = picks(rated, rated, np.random.default_rng(1))
        assert made.regret.estimate.value == pytest.approx(0)
        gains.append(made.people.estimate.value or 0.0)
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(30)


def test_a_judge_that_prefers_the_worst_regrets_it() -> None:
    judged, rated = tables(9, 30, noise=0.3)
    made = picks(-judged, rated, np.random.default_rng(1))
    best = LEVELS.max() - LEVELS.mean()
    worst = LEVELS.min() - LEVELS.mean()
    assert made.people.estimate.value == pytest.approx(best, abs=0.2)
    assert made.regret.estimate.value == pytest.approx(best - worst, abs=0.3)
    low = made.regret.estimate.ci_low
    assert low is not None and low > 2


def test_tied_picks_count_their_mean() -> None:
    rated = np.tile(LEVELS, (12, 1))
    made = picks(np.ones((12, 4)), rated, np.random.default_rng(1))
    assert made.judge.estimate.value == pytest.approx(0)
