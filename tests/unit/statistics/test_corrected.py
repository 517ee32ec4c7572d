"""Corrected means: against another derivation, in known cases, and where the judge is
not used.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from judgescope.statistics.corrected import (
    RatedSample,
    RatedTexts,
    corrected_mean,
    corrected_moments,
    difference_of,
    errs_seldom,
    judge_bias,
    judge_weight,
    people_alone,
    rating_correlation,
    rating_spread,
    rating_worth,
    sample_of,
    uncorrected_mean,
)
from judgescope.statistics.recalibrated import joined_values, recalibrated
from judgescope.statistics.result import REASONS
from judgescope.statistics.transport import (
    allowed_outside,
    differences_noted,
    slope_p,
    welch_p,
    why_refused,
)

Floats = NDArray[np.float64]
WIDE = (-1e6, 1e6)
NOTHING = np.empty(0)


def drawn(seed: int, n: int, others: int, error: float = 1.0) -> RatedSample:
    rng = np.random.default_rng(seed)
    truth = rng.normal(3, 1, n + others)
    scores = 0.5 + 0.7 * truth + error * rng.normal(size=truth.size)
    return RatedSample(scores[:n], truth[:n], scores[n:])


def as_rectified_loss(sample: RatedSample, weight: float) -> tuple[float, float]:
    """Return the minimum of the loss of prediction-powered inference, and its error.

    L(m) = mean_L (m - y)²/2 + w (mean_U (m - f)²/2 - mean_L (m - f)²/2), its curvature
    1 - w + w = 1; the variance is that of the gradients at the minimum.
    """

    def gradient(m: float) -> float:
        rated = np.mean(m - sample.rated) - weight * np.mean(m - sample.judged)
        return float(rated + weight * np.mean(m - sample.others))

    value = float(optimize.brentq(gradient, -1e4, 1e4, xtol=1e-13, rtol=1e-14))
    of_rated = (value - sample.rated) - weight * (value - sample.judged)
    of_others = weight * (value - sample.others)
    variance = np.cov(of_rated) / sample.n + np.cov(of_others) / sample.others.size
    return value, float(np.sqrt(variance))


@pytest.mark.parametrize("seed", range(5))
def test_a_corrected_mean_minimises_the_rectified_loss(seed: int) -> None:
    sample = drawn(seed, 12 + 10 * seed, 200)
    weight = judge_weight(sample)
    expected = as_rectified_loss(sample, weight)
    assert corrected_moments(sample, weight) == pytest.approx(expected, rel=1e-9)


PUBLISHED = Path(__file__).resolve().parents[2] / "oracles" / "ppi_python.json"
"""Means of four samples that the authors' package corrected, and how."""


def test_corrected_means_are_those_of_the_authors_package() -> None:
    samples = json.loads(PUBLISHED.read_text(encoding="utf-8"))["samples"]
    for expected in samples:
        judged, rated = np.array(expected["judged"]), np.array(expected["rated"])
        sample = RatedSample(judged, rated, np.array(expected["others"]))
        weight = expected["weight"]
        theta, error = corrected_moments(sample, weight)
        assert theta == pytest.approx(expected["theta"], abs=1e-9)
        # the package divides sums of squares by n, we by n - 1
        others = sample.others.size
        of_others = weight**2 * float(sample.others.var(ddof=1)) / others
        of_rated = error**2 - of_others
        variance = of_others * (others - 1) / others
        variance += of_rated * (sample.n - 1) / sample.n
        assert variance == pytest.approx(expected["theta_variance"], abs=1e-9)


def test_the_weight_is_that_of_least_variance_where_both_parts_vary_alike() -> None:
    sample = drawn(1, 40, 40)
    same = sample._replace(others=sample.judged + 2)
    best = optimize.minimize_scalar(lambda w: corrected_moments(same, w)[1] ** 2)
    assert judge_weight(same) == pytest.approx(best.x, rel=1e-6)


@pytest.mark.parametrize(("n", "others"), [*product((10, 25), (2, 30, 400))])
def test_a_judge_that_is_right_gives_the_mean_of_all_sources(
    n: int, others: int
) -> None:
    truth = np.random.default_rng(n).normal(size=n + others)
    sample = RatedSample(truth[:n], truth[:n], truth[n:])
    estimate = corrected_mean(sample, WIDE).estimate
    assert estimate.value == pytest.approx(truth.mean())


def test_a_constant_judge_leaves_people_with_their_interval() -> None:
    sample = drawn(2, 15, 50)._replace(judged=np.full(15, 4.0))
    result = corrected_mean(sample, WIDE)
    low, high = stats.t.interval(0.95, 14, sample.rated.mean(), stats.sem(sample.rated))
    assert result.weight == 0
    assert (result.estimate.ci_low, result.estimate.ci_high) == pytest.approx(
        (low, high)
    )
    assert result.p == pytest.approx(stats.ttest_1samp(sample.rated, 0).pvalue)
    assert "equal" in result.estimate.note


def test_p_and_interval_agree() -> None:
    for seed in range(40):
        sample = drawn(seed, 14, 60)
        centred = sample._replace(rated=sample.rated - 3.0)
        result = corrected_mean(centred, WIDE)
        low, high = result.estimate.ci_low, result.estimate.ci_high
        assert low is not None and high is not None and result.p is not None
        assert (result.p < 0.05) == (low > 0 or high < 0)


def test_a_linear_change_of_the_scores_changes_nothing_but_the_bias() -> None:
    sample = drawn(3, 30, 90)
    moved = sample._replace(
        judged=5 - 9 + 3 * sample.judged, others=3 * sample.others - 4
    )
    first = corrected_mean(sample, WIDE).estimate
    second = corrected_mean(moved, WIDE).estimate
    assert first.value == pytest.approx(second.value)
    assert first.ci_low == pytest.approx(second.ci_low)
    assert judge_bias(sample, WIDE).value != pytest.approx(
        judge_bias(moved, WIDE).value
    )


def test_the_order_of_sources_changes_nothing() -> None:
    sample = drawn(4, 25, 60)
    order = np.random.default_rng(1).permutation(25)
    turned = RatedSample(sample.judged[order], sample.rated[order], sample.others[::-1])
    first, second = (corrected_mean(each, WIDE).estimate for each in (sample, turned))
    assert first.value == pytest.approx(second.value, rel=1e-12)
    assert first.ci_high == pytest.approx(second.ci_high, rel=1e-12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"judged": np.arange(9.0), "rated": np.arange(9.0)}, "9 rated sources"),
        ({"others": NOTHING}, "no unrated source"),
        ({"rated": np.r_[np.ones(31), np.zeros(9)]}, "9 informative sources"),
        ({"judged": np.arange(40.0), "rated": -np.arange(40.0)}, "do not rise"),
    ],
)
def test_a_judge_that_cannot_help_is_not_used(
    change: dict[str, Any], reason: str
) -> None:
    sample = drawn(5, 40, 60)._replace(**change)
    result = corrected_mean(sample, WIDE)
    assert result.weight == 0 and reason in result.estimate.note
    assert result.estimate.value == pytest.approx(sample.rated.mean())
    assert rating_worth(sample).value == 1


def seldom_wrong(rng: np.random.Generator, n: int, others: int) -> RatedSample:
    """Labels and those of a judge that passes 6 % of the bad texts."""
    rated = np.asarray(rng.random(n + others) < 0.5, np.float64)
    judged = np.where(rng.random(n + others) < 0.06, 1.0, rated)
    return RatedSample(judged[:n], rated[:n], judged[n:])


def errs_on(errors: int, n: int) -> tuple[Floats, Floats]:
    """Scores of which so many are wrong, and labels."""
    rated = np.tile([0.0, 1.0], n // 2)
    wrong = np.arange(n) < errors
    return np.where(wrong, 1 - rated, rated), rated


def test_ten_errors_of_two_labels_are_needed() -> None:
    for scale in (1.0, 5.0):
        judged, rated = errs_on(9, 60)
        assert errs_seldom(3 + scale * judged, rated)
        judged, rated = errs_on(10, 60)
        assert not errs_seldom(3 + scale * judged, rated)


def test_errors_of_differences_are_those_of_the_best_rising_rule() -> None:
    rated = np.tile([-1.0, 0.0, 1.0], 20)
    assert errs_seldom(2 * rated + 7, rated)
    judged = np.where(np.arange(60) < 30, 0.0, rated)  # of 30, 20 are not a tie
    assert not errs_seldom(judged, rated)


def test_errors_on_a_scale_of_more_values_are_not_counted() -> None:
    rated = np.arange(40.0) % 5
    assert not errs_seldom(rated, rated)


def test_a_judge_that_errs_on_too_few_rated_sources_leaves_people_alone() -> None:
    sample = seldom_wrong(np.random.default_rng(1), 30, 1970)
    result = corrected_mean(sample, (0.0, 1.0), two_values=True)
    alone = people_alone(sample, (0.0, 1.0), two_values=True).estimate
    assert result.weight == 0 and result.estimate.ci_low == alone.ci_low
    assert "judge not used: it errs on fewer than 10" in result.estimate.note


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "others"), [(30, 1970), (40, 4960), (300, 1700)])
def test_intervals_beside_a_judge_that_seldom_errs_hold_the_truth(
    n: int, others: int
) -> None:
    held = []
    for seed in range(600):
        sample = seldom_wrong(np.random.default_rng([n, seed]), n, others)
        estimate = corrected_mean(sample, (0.0, 1.0), two_values=True).estimate
        assert estimate.ci_low is not None and estimate.ci_high is not None
        held.append(estimate.ci_low <= 0.5 <= estimate.ci_high)
    assert np.mean(held) >= 0.93


def test_people_alone_have_exact_intervals_of_two_values() -> None:
    rated = np.r_[np.ones(3), np.zeros(27)]
    sample = RatedSample(np.zeros(30), rated, np.zeros(5))
    estimate = corrected_mean(sample, (0.0, 1.0), two_values=True).estimate
    exact = stats.binomtest(3, 30).proportion_ci()
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        (exact.low, exact.high), abs=0.01
    )
    equal = RatedSample(np.zeros(30), np.zeros(30), np.zeros(5), difference=True)
    bounds = people_alone(equal, (-1.0, 1.0)).estimate
    assert bounds.value == 0 and (bounds.ci_low or 0) < 0 < (bounds.ci_high or 0)


def test_without_a_rated_source_there_is_no_number_but_a_reason() -> None:
    empty = RatedSample(NOTHING, NOTHING, np.arange(9.0))
    result = corrected_mean(empty, WIDE)
    assert result.estimate.value is None and result.p is None
    assert "no source" in result.estimate.note
    assert rating_worth(empty).value is None
    assert rating_spread(empty).estimate.value is None
    assert rating_correlation(empty).estimate.note == REASONS.few_pairs
    assert uncorrected_mean(empty, WIDE).value == 4.0


def test_the_worth_of_a_rating_is_the_ratio_of_variances() -> None:
    sample = drawn(6, 60, 300, error=0.5)
    worth = rating_worth(sample)
    _, error = corrected_moments(sample, judge_weight(sample))
    assert worth.value == pytest.approx(sample.rated.var(ddof=1) / 60 / error**2)
    assert worth.ci_low is not None and worth.ci_high is not None
    assert 1 <= worth.ci_low < (worth.value or 0) < worth.ci_high
    r = rating_correlation(sample).estimate
    assert r.value == pytest.approx(np.corrcoef(sample.judged, sample.rated)[0, 1])
    assert rating_spread(sample).estimate.value == pytest.approx(
        sample.rated.std(ddof=1)
    )


def test_sources_are_rated_or_not_as_a_complete() -> None:
    judged = np.array([1.0, 2.0, 3.0, np.nan, 5.0, 6.0])
    rated = np.array([2.0, np.nan, np.nan, 3.0, np.nan, 4.0])
    source = np.array([0, 0, 1, 2, 2, 3])
    sample = sample_of(RatedTexts(judged, rated, source))
    assert sample.judged.tolist() == [1.0, 6.0]
    assert sample.rated.tolist() == [2.0, 4.0]
    assert sample.others.tolist() == [3.0]  # source 2 has a rating without a score


def test_a_difference_takes_the_sources_of_both_systems() -> None:
    first = RatedTexts(
        np.array([5.0, 4.0, 3.0]), np.array([4.0, 4.0, np.nan]), np.arange(3)
    )
    second = RatedTexts(
        np.array([1.0, 2.0, 1.0]), np.array([2.0, np.nan, np.nan]), np.arange(3)
    )
    sample = difference_of(first, second)
    assert sample.judged.tolist() == [4.0] and sample.rated.tolist() == [2.0]
    # Of the second source only one of the two texts is rated.
    assert sample.others.tolist() == [2.0]


# --- scores of few values -------------------------------------------------------------


def test_rare_values_are_joined_with_the_nearest() -> None:
    judged = np.repeat([1.0, 2.0, 3.0, 5.0], [9, 2, 7, 1])
    assert joined_values(judged, np.arange(judged.size)) == [[1.0, 2.0], [3.0, 5.0]]
    assert joined_values(np.array([1.0, 2.0]), np.array([0, 1])) == [[1.0, 2.0]]


def test_no_text_has_a_say_in_its_score() -> None:
    rng = np.random.default_rng(3)
    judged = rng.integers(0, 3, 70).astype(np.float64)
    rated = rng.normal(size=70)
    texts = RatedTexts(judged, rated, np.arange(70))
    result = recalibrated(texts).judged
    for at in range(70):
        alike = (judged == judged[at]) & (np.arange(70) != at)
        assert result[at] == pytest.approx(rated[alike].mean())


def test_of_two_labels_replaced_scores_say_as_much() -> None:
    rng = np.random.default_rng(4)
    truth = (rng.random(400) < 0.6) * 1.0
    labels = np.where(rng.random(400) < 0.85, truth, 1 - truth)
    rated = np.where(np.arange(400) < 60, truth, np.nan)
    texts = RatedTexts(labels, rated, np.arange(400))
    assert recalibrated(texts) is texts
    plain = sample_of(texts)
    means = [np.mean(plain.rated[plain.judged == value]) for value in (0, 1)]
    replaced = plain._replace(
        judged=np.take(means, plain.judged.astype(int)),
        others=np.take(means, plain.others.astype(int)),
    )
    errors = [
        corrected_moments(each, judge_weight(each))[1] for each in (plain, replaced)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=0.02)


# --- rated sources that differ from the rest ------------------------------------------


def test_tests_of_differences_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    x, y, longer = rng.normal(size=20), rng.normal(size=20), rng.normal(1, 2, 35)
    expected = stats.ttest_ind(x, longer, equal_var=False).pvalue
    assert welch_p(x, longer) == pytest.approx(expected)
    assert slope_p(x, y) == pytest.approx(stats.pearsonr(x, y).pvalue)
    assert (
        welch_p(np.ones(3), np.ones(4)) == 1 and welch_p(np.ones(3), np.zeros(4)) == 0
    )
    assert np.isnan(slope_p(np.ones(5), y[:5]))


def lengths_of(rng: np.random.Generator, size: int, mean: float) -> Floats:
    return rng.normal(mean, 20, size)


@pytest.mark.parametrize("n", [20, 60])
def test_good_samples_are_seldom_refused_and_bad_ones_mostly(n: int) -> None:
    rng = np.random.default_rng(n)
    refused = {"random": 0, "top": 0, "length": 0}
    flagged = 0
    for seed in range(100):
        sample = drawn(1000 * n + seed, n, 200)
        lengths, others = lengths_of(rng, n, 100), lengths_of(rng, 200, 100)
        refused["random"] += bool(why_refused(sample, lengths, others))
        best = np.sort(sample.others)[-n:]
        top = RatedSample(best, best + rng.normal(size=n), sample.others)
        refused["top"] += bool(why_refused(top, lengths, others))
        longer = lengths_of(rng, n, 140)
        biased = sample._replace(rated=sample.rated - 0.08 * (longer - 140))
        refused["length"] += bool(why_refused(biased, longer, others))
        shifted = sample._replace(others=sample.others + sample.judged.std())
        flagged += "scores" in differences_noted(shifted, lengths, others)
    assert refused["random"] <= 10
    assert refused["top"] >= 90 and refused["length"] >= 90
    assert flagged >= 90


def test_the_range_of_a_random_sample_leaves_few_outside() -> None:
    rng = np.random.default_rng(6)
    outside = []
    for _ in range(2000):
        sample = rng.random(20)
        outside.append(1 - np.ptp(sample))
    assert np.mean(np.array(outside) > allowed_outside(20)) == pytest.approx(
        0.05, abs=0.02
    )
