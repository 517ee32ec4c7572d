"""Does a judge say the same twice?"""

from typing import Any

import numpy as np
import pytest

from deleted import jackknife_t, proportion
from judgescope.statistics.intervals import deletions
from judgescope.statistics.reliability import (
    NO_MEAN,
    _needed,
    krippendorff_alpha,
    repeatability,
    spearman_brown,
)
from judgescope.statistics.result import NO_UNITS, NO_VARIATION, OFF_JUDGE_SCALE, Estimate

NAN = float("nan")
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def of(draws: Any, *, scale: Any = FIVE, weights: Any = None) -> dict[str, Estimate]:
    draws = np.array(draws, dtype=float)
    return repeatability(draws, np.arange(draws.shape[1]), weights, scale=scale)


def test_by_hand() -> None:
    found = of([[1, 2, 3, 4, NAN], [1, 2, 4, 4, 5], [1, 3, 5, 4, NAN]])
    assert (found["flip_rate"].value, found["flip_rate"].n) == (0.5, 4)
    assert found["flip_rate"].n_missing == 1
    assert found["tied_modes"].value == 0.25  # 3 4 5, each once
    # means 1, 7/3, 4, 4: between 3 * 6.3611 / 3, within (2/3 + 2) / 8
    between = 3 * sum((m - 17 / 6) ** 2 for m in (1, 7 / 3, 4, 4)) / 3
    within = (2 / 3 + 2) / 8
    icc = (between - within) / (between + 2 * within)
    assert found["reliability"].value == pytest.approx(icc)
    assert found["alpha_draws"].value is not None


def test_a_judge_that_never_differs_needs_one_draw() -> None:
    found = of([[1, 2, 3, 4]] * 5)
    told = {name: one.value for name, one in found.items()}
    assert told == {
        **{"alpha_draws": 1, "flip_rate": 0, "tied_modes": 0, "reliability": 1},
        "draws_needed": 1,
    }


def test_what_cannot_be_told() -> None:
    assert {one.note for one in of([[1, 2, 3]]).values()} == {NO_UNITS}
    constant = of([[3, 3, 3]] * 4)
    assert constant["flip_rate"].value == 0
    assert constant["alpha_draws"].note == constant["reliability"].note == NO_VARIATION
    assert constant["draws_needed"].value is None
    noise = of(np.array([[1, 5, 1, 5, 1, 5], [5, 1, 5, 1, 5, 1]]))
    assert (noise["reliability"].value or 0) < 0 and noise["draws_needed"].value is None


def test_a_draw_off_the_scale_leaves_alpha_alone_undefined() -> None:
    found = of([[1, 2, 8, 3], [1, 2, 3, 2]], scale=[1.0, 2.0, 3.0])
    assert found["alpha_draws"].note == OFF_JUDGE_SCALE and found["alpha_draws"].n == 4
    assert found["flip_rate"].value == 0.5 and found["reliability"].value is not None
    assert of([[1, 2, 8, 3], [1, 2, 3, 2]], scale=None)["alpha_draws"].value is not None


@pytest.mark.parametrize("reliability", [0.3, 0.6, 0.9])
def test_the_mean_of_k_draws_correlates_as_spearman_and_brown_say(reliability: float) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, reliability**0.5, 20_000)
    draws = truth + rng.normal(0, (1 - reliability) ** 0.5, (12, 20_000))
    for k in (1, 4, 12):
        r = np.corrcoef(draws[:k].mean(axis=0), truth)[0, 1]
        assert r == pytest.approx(spearman_brown(reliability, k), abs=0.01)
    small = repeatability(draws[:, :400], np.arange(400), None, scale=None)
    assert small["reliability"].value == pytest.approx(reliability, abs=0.05)
    needed = small["draws_needed"].value
    assert needed is not None and small["reliability"].value is not None
    reliability = small["reliability"].value
    rising = [spearman_brown(reliability, draws) for draws in range(1, int(needed) + 1)]
    assert rising == sorted(rising)
    assert rising[-1] >= 0.95 and (len(rising) == 1 or rising[-2] < 0.95)


@pytest.mark.parametrize("low", [-0.1, 0.0])
def test_draws_needed_have_no_interval_where_that_of_the_reliability_reaches_0(low: float) -> None:
    needed = _needed(Estimate(0.5, low, 0.8, n=20))
    assert needed.value is not None and (needed.ci_low, needed.ci_high) == (None, None)
    assert needed.note == "no interval: the interval of the reliability includes 0"


def test_intervals_are_those_of_written_out_deletions() -> None:
    rng = np.random.default_rng(4)
    draws = rng.integers(1, 6, (3, 30)).astype(float)
    draws[:, :15] = rng.integers(1, 6, 15)
    found = of(draws, weights=deletions(30))
    left = [of(np.delete(draws, s, axis=1)) for s in range(30)]
    r = found["reliability"]
    assert r.value is not None
    each = [one["reliability"].value or 0 for one in left]
    assert (r.ci_low, r.ci_high) == pytest.approx(jackknife_t(r.value, each))
    flips = [float(np.ptp(column) > 0) for column in draws.T]
    expected = proportion(flips, [1] * 30)
    assert (found["flip_rate"].ci_low, found["flip_rate"].ci_high) == pytest.approx(expected)


def test_neither_the_order_of_draws_nor_of_targets_matters() -> None:
    rng = np.random.default_rng(5)
    draws = rng.integers(1, 6, (4, 25)).astype(float)
    draws[rng.random(draws.shape) < 0.1] = NAN
    found, moved = of(draws), of(draws[::-1, rng.permutation(25)])
    for name, one in found.items():
        assert moved[name].value == pytest.approx(one.value)


def test_draws_of_labels_have_no_reliability_of_a_mean_and_no_order_where_there_is_none() -> None:
    draws, source = np.array([[0.0, 1, 2, 0, 2], [0, 1, 2, 2, 2]]), np.arange(5)
    kinds = repeatability(draws, source, None, scale=[0, 1, 2], labels=True, ordered=False)
    nominal = krippendorff_alpha(
        draws, level="nominal", domain=[0, 1, 2], source=source, weights=None
    ).estimate
    assert kinds["alpha_draws"].value == nominal.value
    assert kinds["flip_rate"].value == 0.2
    for name in ("reliability", "draws_needed"):
        assert (kinds[name].value, kinds[name].note, kinds[name].n) == (None, NO_MEAN, 5)
    ordered = repeatability(draws, source, None, scale=[0, 1, 2], labels=True)
    assert ordered["alpha_draws"].value != nominal.value
