"""What sways a judge beside quality."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from judgescope.statistics.bias import length_slope, partial_correlation, self_preference
from judgescope.statistics.intervals import deletions
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import CONSTANT_JUDGE, CONSTANT_LENGTH, LENGTH_IS_ALL, ONE_FAMILY

NAN = float("nan")
SOURCE = np.repeat(np.arange(50), 4)
FIVE = (1.0, 5.0)


def data(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    length = rng.integers(20, 400, 200).astype(float)
    quality = rng.normal(size=200)
    y = np.clip(np.round(3 + quality), 1, 5)
    x = np.clip(np.round(3 + quality + 0.8 * np.log2(length / 100)), 1, 5)
    return x, y, length, rng


def test_the_partial_correlation_is_that_of_residuals() -> None:
    x, y, length, _ = data()
    found = partial_correlation(x, y, length, SOURCE, statistic="pearson", weights=None).estimate
    a, b = (v - np.polyval(np.polyfit(length, v, 1), length) for v in (x, y))
    assert found.value == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
    ranked = [stats.rankdata(v) for v in (x, y, length)]
    a, b = (v - np.polyval(np.polyfit(ranked[2], v, 1), ranked[2]) for v in ranked[:2])
    ranks = partial_correlation(x, y, length, SOURCE, statistic="spearman", weights=None).estimate
    assert ranks.value == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)


def test_a_judge_of_length_alone_has_nothing_left() -> None:
    _, y, length, rng = data()
    x = length + rng.normal(0, 5, 200)
    weights = deletions(50)
    found = partial_correlation(x, y, length, SOURCE, statistic="pearson", weights=weights)
    one = found.estimate
    assert one.ci_low is not None and one.ci_high is not None and one.ci_low < 0 < one.ci_high
    whole = partial_correlation(length, y, length, SOURCE, statistic="pearson", weights=None)
    assert whole.estimate.note == LENGTH_IS_ALL


def test_the_slope_is_what_a_doubling_is_worth() -> None:
    _, y, length, _ = data()
    x = (y - 1) * 25 + 12.5 * np.log2(length / 100)  # 0 to 100: half a point of 1 to 5 a doubling
    keys: Any = {"judge_scale": (0.0, 100.0), "people_scale": FIVE}
    found = length_slope(x, y, length, SOURCE, **keys, weights=deletions(50)).estimate
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx((0.5, 0.5, 0.5))
    noisy = data(3)
    want = stats.linregress(np.log2(noisy[2]), noisy[0] - noisy[1]).slope
    keys = {"judge_scale": FIVE, "people_scale": FIVE, "weights": None}
    assert length_slope(
        noisy[0], noisy[1], noisy[2], SOURCE, **keys
    ).estimate.value == pytest.approx(want)


def test_self_preference_is_the_gap_between_families() -> None:
    _, y, _, _ = data()
    own = np.arange(200) % 4 == 0
    keys: Any = {"judge_scale": FIVE, "people_scale": FIVE}
    x = y + 0.7 + 0.3 * own
    found = self_preference(x, y, own, SOURCE, **keys, weights=deletions(50)).estimate
    assert found.value == pytest.approx(0.3) and found.n == 200
    x[0] = NAN
    assert self_preference(x, y, own, SOURCE, **keys, weights=None).estimate.n_missing == 1
    for none in (np.zeros(200, dtype=bool), np.ones(200, dtype=bool)):
        nothing = self_preference(x, y, none, SOURCE, **keys, weights=None).estimate
        assert nothing.note == ONE_FAMILY


def test_replicates_are_the_statistics_of_resamples() -> None:
    x, y, length, rng = data()
    weights = source_weights(rng, 50, 20)
    own = np.arange(200) % 4 == 0
    keys: Any = {"judge_scale": FIVE, "people_scale": FIVE}
    partial = partial_correlation(x, y, length, SOURCE, statistic="kendall_b", weights=weights)
    slope = length_slope(x, y, length, SOURCE, **keys, weights=weights)
    gap = self_preference(x, y, own, SOURCE, **keys, weights=weights)
    for row, weight in enumerate(weights, start=1):
        drawn = np.concatenate([np.flatnonzero(s == SOURCE) for s in np.repeat(range(50), weight)])
        part = (x[drawn], y[drawn], length[drawn])
        code = np.zeros(drawn.size, dtype=np.int64)
        one = partial_correlation(*part, code, statistic="kendall_b", weights=None)
        assert partial.rows[row] == pytest.approx(one.rows[0])
        assert slope.rows[row] == pytest.approx(
            length_slope(*part, code, **keys, weights=None).rows[0]
        )
        assert gap.rows[row] == pytest.approx(
            self_preference(*part[:2], own[drawn], code, **keys, weights=None).rows[0]
        )


def test_constant_data_have_a_reason() -> None:
    x, y, length, _ = data()
    keys: Any = {"statistic": "pearson", "weights": None}
    same = np.full(200, 3.0)
    assert partial_correlation(same, y, length, SOURCE, **keys).estimate.note == CONSTANT_JUDGE
    assert partial_correlation(x, y, same, SOURCE, **keys).estimate.note == CONSTANT_LENGTH
    ends: Any = {"judge_scale": FIVE, "people_scale": FIVE, "weights": None}
    assert length_slope(x, y, same, SOURCE, **ends).estimate.note == CONSTANT_LENGTH
    lost = np.where(np.arange(x.size) == 1, np.nan, x)
    assert length_slope(lost, y, same, SOURCE, **ends).estimate.n_missing == 1
