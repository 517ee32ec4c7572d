"""Ensembles: means of subsets of judges, and what their errors have in common."""

import numpy as np
import pytest
from numpy.typing import NDArray

from deleted import jackknife_t
from judgescope.scoring.ensembles import derive_part
from judgescope.scoring.specs import CellPart
from judgescope.statistics.ensemble import (
    effective_judges,
    error_correlation,
    subset_scores,
    subsets,
)
from judgescope.statistics.intervals import ONE_SOURCE_DECIDES, deletions
from judgescope.statistics.means import mean_over
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from members import tables_of

Floats = NDArray[np.float64]
NAN = float("nan")
PAIRS = "pairs of members"
RNG = np.random.default_rng(11)
N = 4000
SOURCE = np.repeat(np.arange(N // 4), 4)
WEIGHTS = deletions(N // 4)
PEOPLE = RNG.normal(3, 1, N)
APART = PEOPLE + RNG.normal(0, 0.8, (5, N))
"""Five judges whose errors have nothing to do with each other, and are equally
large."""


def correlation(x: Floats, y: Floats, h: Floats, *, one_scale: bool) -> Estimate:
    """Return the error correlation of a few targets, each a source, without an
    interval.
    """
    own_part = np.arange(len(h))
    return error_correlation(
        x, y, h, own_part, weights=None, one_scale=one_scale
    ).estimate


def pairs(scores: Floats, *, one_scale: bool) -> list[Replicated]:
    return [
        error_correlation(x, y, PEOPLE, SOURCE, weights=WEIGHTS, one_scale=one_scale)
        for at, x in enumerate(scores)
        for y in scores[at + 1 :]
    ]


# --- subsets and their scores ---


def test_subsets_are_small_ones_first_in_the_members_order() -> None:
    assert subsets(1) == [(0,)]
    assert subsets(3) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert (len(subsets(5)), len(subsets(8))) == (31, 255)


def test_of_many_members_each_alone_all_but_one_and_all_are_reported() -> None:
    result = subsets(9)
    assert [len(each) for each in result] == [1] * 9 + [8] * 9 + [9]
    assert len({*result}) == 19


def test_a_subset_scores_where_enough_of_it_do() -> None:
    scores = np.array([[1, 2, NAN], [3, NAN, NAN], [5, 4, 2]])
    content = {
        ((0, 1), 1): [2, 2, NAN],
        ((0, 1), 2): [2, NAN, NAN],
        ((0,), 3): [1, 2, NAN],  # one has to be enough where there is but one
        ((0, 1, 2), 2): [3, 3, NAN],
        ((0, 1, 2), 1): [3, 3, 2],
    }
    for (subset, least), wanted in content.items():
        np.testing.assert_array_equal(subset_scores(scores, subset, least), wanted)


@pytest.mark.parametrize("least", [1, 3, 4])
def test_the_ensemble_scores_as_the_derived_judge_in_any_order(least: int) -> None:
    scores = RNG.integers(0, 300, (4, 50)) / 30
    scores[RNG.random(scores.shape) < 0.3] = NAN
    targets = [f"t{at:02}" for at in range(50)]
    cell = {"dataset": "d", "perturbation": "systems", "judge": "all", "aspect": "x"}
    members = [
        tables_of(
            [
                {"target": t, "value": None if np.isnan(v) else v}
                for t, v in zip(targets, score.tolist(), strict=True)
            ]
        )
        for score in scores
    ]
    derived = derive_part(members, part=CellPart(**cell), min_annotators=least)[1][
        "value"
    ].to_pylist()
    result = subset_scores(scores, (0, 1, 2, 3), least)
    np.testing.assert_array_equal(result, np.array(derived, dtype=float))
    np.testing.assert_array_equal(
        result, subset_scores(scores[::-1], (0, 1, 2, 3), least)
    )


# --- error correlation ---


def test_errors_on_a_single_scale_by_hand() -> None:
    people = np.array([1.0, 2, 3, 4, 5])
    values, other = np.array([1.0, -1, 1, -1, 0]), np.array([2.0, -2, 0, 0, 0])
    result = correlation(people + values, people + other, people, one_scale=True)
    assert result.value == pytest.approx(4 / np.sqrt(4 * 8))
    assert (result.n, result.n_missing, result.method) == (
        5,
        0,
        "errors: score - mean rating",
    )


def test_errors_on_other_scales_by_hand() -> None:
    people = np.array([1.0, 2, 3, 4])
    bent, waved = np.array([1.0, -1, -1, 1]), np.array([1.0, -3, 3, -1])
    # both are orthogonal to a straight line in `people`, and to each other
    x, y = 10 + 2 * people + bent, 700 - 50 * people + bent + waved
    result = correlation(x, y, people, one_scale=False)
    assert result.value == pytest.approx(4 / np.sqrt(4 * (4 + 20)))
    assert result.method == "errors: residuals of a linear fit on the mean rating"
    assert correlation(
        x, people + waved, people, one_scale=False
    ).value == pytest.approx(0)


@pytest.mark.heavy
@pytest.mark.parametrize("one_scale", [True, False])
def test_identical_members_err_alike_and_are_a_single_judge(one_scale: bool) -> None:
    result = pairs(np.stack([APART[0]] * 3), one_scale=one_scale)
    assert [number.estimate.value for number in result] == pytest.approx([1, 1, 1])
    number = effective_judges(mean_over(result, averaged=PAIRS), 3).estimate
    assert (number.value, number.ci_low, number.ci_high) == pytest.approx((1, 1, 1))


@pytest.mark.heavy
@pytest.mark.parametrize("one_scale", [True, False])
def test_members_that_err_separately_are_nearly_as_many_judges(one_scale: bool) -> None:
    mean = mean_over(pairs(APART, one_scale=one_scale), averaged=PAIRS)
    assert mean.estimate.value == pytest.approx(0, abs=0.03) and mean.estimate.n == 10
    number = effective_judges(mean, 5).estimate
    assert (
        number.value is not None
        and number.ci_low is not None
        and number.ci_high is not None
    )
    assert (
        number.ci_low < number.value < number.ci_high
        and number.value == pytest.approx(5, abs=0.4)
    )


def test_a_scale_does_not_matter_where_scales_may_differ() -> None:
    each, other = APART[:2] + RNG.normal(0, 0.5, N)
    plain = correlation(each, other, PEOPLE, one_scale=False)
    moved = correlation(each * 20 - 7, other / 3, PEOPLE, one_scale=False)
    turned = correlation(-each, other, PEOPLE, one_scale=False)
    assert plain.value is not None and plain.value > 0.2
    assert (moved.value, turned.value) == pytest.approx((plain.value, -plain.value))


def test_the_order_of_two_members_and_of_targets_does_not_matter() -> None:
    turn = RNG.permutation(N)
    for one_scale in (True, False):
        x, y, h = APART[0], APART[1] + APART[0], PEOPLE
        wanted = correlation(x, y, h, one_scale=one_scale).value
        assert correlation(y, x, h, one_scale=one_scale).value == pytest.approx(wanted)
        moved = correlation(x[turn], y[turn], h[turn], one_scale=one_scale).value
        assert moved == pytest.approx(wanted)


@pytest.mark.simulation
@pytest.mark.parametrize("one_scale", [True, False])
def test_a_deletion_is_the_same_of_the_texts_left(one_scale: bool) -> None:
    x, y = APART[0], 0.5 * APART[0] + APART[1]
    result = error_correlation(
        x, y, PEOPLE, SOURCE, weights=WEIGHTS, one_scale=one_scale
    )
    deleted = []
    for s in range(N // 4):
        left = s != SOURCE
        again = correlation(x[left], y[left], PEOPLE[left], one_scale=one_scale)
        assert again.value is not None
        deleted.append(again.value)
    assert result.rows[1:] == pytest.approx(np.array(deleted))
    estimate = result.estimate
    assert estimate.value is not None
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        jackknife_t(estimate.value, deleted, "atanh")
    )


@pytest.mark.parametrize("one_scale", [True, False])
def test_targets_without_both_scores_or_a_rating_are_missing(one_scale: bool) -> None:
    people, x, y = PEOPLE[:20].copy(), APART[0, :20].copy(), APART[1, :20].copy()
    people[0], x[1], x[2], y[2] = NAN, NAN, NAN, NAN
    result = correlation(x, y, people, one_scale=one_scale)
    plain = correlation(x[3:], y[3:], people[3:], one_scale=one_scale)
    assert (result.n, result.n_missing) == (17, 3)
    assert result.value == pytest.approx(plain.value)


def test_where_errors_do_not_vary_there_is_no_correlation() -> None:
    people = np.array([1, 4 / 3, 5 / 3, 3.0])
    other, same = np.array([2.0, 1, 4, 3]), np.full(4, 3.0)
    always_one_above = people + 1 + np.array([0, 1e-16, 0, 4e-16])
    content = {
        (True, "above"): correlation(always_one_above, other, people, one_scale=True),
        (False, "constant"): correlation(same, other, people, one_scale=False),
        (False, "second"): correlation(other, same, people, one_scale=False),
        (False, "perfect"): correlation(people * 2, other, people, one_scale=False),
    }
    assert {
        location: (number.value, number.note) for location, number in content.items()
    } == dict.fromkeys(content, (None, "the errors of a member do not vary"))
    # on people's scale the errors of a constant judge are people's ratings turned
    constant = correlation(same, other, people, one_scale=True)
    wanted = np.corrcoef(-people, other - people)[0, 1]
    assert constant.value == pytest.approx(wanted)
    flat = correlation(other, np.array([1.0, 3, 2, 2]), same, one_scale=False)
    assert (flat.value, flat.note) == (None, REASONS.constant_ratings)


@pytest.mark.parametrize("one_scale", [True, False])
@pytest.mark.parametrize("left", [0, 1])
def test_too_few_texts_are_no_correlation(left: int, one_scale: bool) -> None:
    x = np.array([1.0, 2, 3])
    x[left:] = NAN
    result = correlation(
        x, np.array([1.0, 3, 2]), np.array([2.0, 3, 3]), one_scale=one_scale
    )
    assert (result.value, result.note, result.n, result.n_missing) == (
        None,
        REASONS.few_pairs,
        left,
        3 - left,
    )


# --- the effective number ---


def mean_of(*rows: float, n: int = 10) -> Replicated:
    return Replicated(Estimate(rows[0], n=n), np.array(rows), np.ones(len(rows) - 1))


@pytest.mark.parametrize(
    ("k", "r", "wanted"),
    [(5, 0.25, 2.5), (5, 0, 5), (5, 1, 1), (2, -0.5, 4), (3, 0.5, 1.5)],
)
def test_the_effective_number_by_hand(k: int, r: float, wanted: float) -> None:
    estimate = effective_judges(mean_of(r), k).estimate
    assert estimate.value == pytest.approx(wanted) and estimate.n == 10


def test_errors_that_cancel_out_have_no_number() -> None:
    for r in (-0.25, -0.25 + 1e-12, -0.3):
        estimate = effective_judges(mean_of(r, 0.0), 5).estimate
        assert (estimate.value, estimate.note) == (
            None,
            (
                "the errors cancel out: no number of independent judges "
                "has so small a mean error"
            ),
        )
    deleted = effective_judges(mean_of(0.25, *[0.0] * 98, -0.25), 5)
    assert deleted.rows[1] == 5 and np.isnan(deleted.rows[-1])
    assert (
        deleted.estimate.ci_low is None
        and deleted.estimate.note == f"{ONE_SOURCE_DECIDES}98"
    )


def test_no_mean_has_no_number_and_the_same_reason() -> None:
    nothing = Replicated(Estimate.undefined("constant ratings"), np.full(3, NAN))
    mean = mean_over([mean_of(0.1, 0.2, 0.3), nothing], averaged=PAIRS)
    assert (
        mean.estimate.note == "undefined on 1 of 2 pairs of members: constant ratings"
    )
    estimate = effective_judges(mean, 3).estimate
    assert (estimate.value, estimate.note) == (None, mean.estimate.note)


@pytest.mark.heavy
def test_so_many_independent_judges_err_as_much_as_all_together() -> None:
    """The formula's promise: the variance of the mean error is that of one over the
    number.
    """
    shared = RNG.normal(0, 0.5, N)
    scores = APART + shared
    mean = mean_over(pairs(scores, one_scale=True), averaged=PAIRS)
    number = effective_judges(mean, 5).estimate.value
    errors = scores - PEOPLE
    assert number == pytest.approx(
        errors.var(axis=1).mean() / errors.mean(axis=0).var(), rel=0.02
    )
