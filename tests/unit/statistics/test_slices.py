"""Slices beside the rest, and how much judges doubt a label."""

from math import log

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from judgescope.statistics.doubt import (
    IN_VAIN,
    effective_number,
    label_doubts,
    rating_doubts,
)
from judgescope.statistics.intervals import CORRELATION, deletions
from judgescope.statistics.means import clustered_mean
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.slices import (
    SliceNumbers,
    against_rest,
    all_point_away,
    family,
    p_two_sided,
    settled_label,
    shown_from,
    shrunk,
    thirds,
    worst_slice,
)
from planted_study import benchmark

NAN = float("nan")
RNG = np.random.default_rng(2)
N = 60
SOURCE = np.arange(N)
FIRST = SOURCE < 20
VALUES = RNG.normal(size=N) + np.where(FIRST, 2.0, 0.0)


def mean(cases: np.ndarray) -> Replicated:
    values = np.where(cases, VALUES, np.nan)
    return clustered_mean(values, SOURCE, deletions(N), ends=None)


def made(**more: bool) -> dict[str, SliceNumbers]:
    members = {"a": FIRST, "b": ~FIRST & (SOURCE < 40), "c": SOURCE >= 40}
    few = dict.fromkeys(members, "")
    return against_rest(members, mean, lambda cases: few["a"], CORRELATION, **more)


def test_the_difference_has_the_error_of_two_independent_means() -> None:
    """Welch's: var/n of both sides; the jackknife's factor (n - 1)/n is of all."""
    gap = made()["a"].gap
    assert gap is not None
    first = VALUES[FIRST]
    rest = VALUES[~FIRST]
    assert gap.estimate.value == pytest.approx(first.mean() - rest.mean())
    error = np.sqrt(first.var(ddof=1) / first.size + rest.var(ddof=1) / rest.size)
    known = gap.jackknifed
    assert not isinstance(known, str)
    assert known.error == pytest.approx(error, rel=0.04)
    assert known.freedom == 19  # that of the smaller side
    assert p_two_sided(gap) < 1e-4


def test_by_member_the_rest_is_the_mean_of_the_others_own_numbers() -> None:
    gap = made(by_member=True)["a"].gap
    others = [VALUES[20:40].mean(), VALUES[40:].mean()]
    assert gap is not None
    assert gap.estimate.value == pytest.approx(VALUES[FIRST].mean() - np.mean(others))


def test_a_slice_with_too_few_cases_has_no_number_and_no_test() -> None:
    members = {"a": FIRST, "b": ~FIRST}
    result = against_rest(
        members, mean, lambda cases: "too few" if cases[0] else "", CORRELATION
    )
    assert np.isnan(result["a"].value)
    assert [*result["a"]] == [None, None, "too few"]
    assert result["b"].inside is not None
    complete = family([*result.values()], ["mean", "mean"])
    assert np.isnan(complete.p_holm[0]) and complete.tested == 1


def test_numbers_are_moved_to_the_mean_of_their_kind() -> None:
    numbers = [*made().values()]
    together = family(numbers, ["x"] * 3).moved
    alone = family(numbers, ["x", "y", "y"]).moved
    assert alone[0] == pytest.approx(numbers[0].value)  # one number stays
    assert together[0] < numbers[0].value


def test_without_spread_beyond_noise_all_numbers_are_alike() -> None:
    moved = shrunk(np.array([0.4, 0.5, 0.6, NAN]), np.array([0.5, 0.5, 0.5, 0.1]))
    assert moved[:3].tolist() == pytest.approx([0.5] * 3) and np.isnan(moved[3])


def test_the_smallest_difference_shown_has_its_power() -> None:
    """At this true difference the first step of Holm rejects with power .8."""
    errors, freedoms = np.array([0.1, 0.3]), np.array([200.0, 200.0])
    least = shown_from(errors, freedoms)
    bound = 0.1 * stdtrit(200, 1 - 0.05 / 4)
    assert stdtr(200, (least - bound) / 0.1) == pytest.approx(0.8)
    assert np.isnan(shown_from(np.array([NAN]), np.array([NAN])))


@pytest.mark.parametrize(
    ("gaps", "p", "worst"),
    [
        ([-0.2, -0.4, 0.9], [0.01, 0.04, 0.001], 1),
        ([-0.2, -0.4, 0.9], [0.01, 0.06, 0.001], 0),
        ([0.2, NAN], [0.001, NAN], None),
        ([], [], None),
    ],
)
def test_only_a_slice_that_is_shown_is_named(
    gaps: list[float], p: list[float], worst: int | None
) -> None:
    assert worst_slice(np.array(gaps), np.array(p)) == worst


def test_simpson_needs_two_slices_and_a_side() -> None:
    assert all_point_away(0.6, [0.4, 0.3], 0.5)
    assert not all_point_away(0.6, [0.4], 0.5)
    assert not all_point_away(0.5, [0.4, 0.3], 0.5)
    assert not all_point_away(0.6, [0.4, 0.5], 0.5)


def test_a_slice_without_a_number_has_no_side() -> None:
    assert all_point_away(0.6, [0.4, NAN, 0.3], 0.5)
    assert not all_point_away(0.6, [0.4, NAN], 0.5)
    assert not all_point_away(0.6, [NAN, NAN], 0.5)


@pytest.mark.parametrize(
    ("verdicts", "label"),
    [
        ([0, 1, 1, 0, NAN], None),
        ([0, 0, 1, 0, NAN], 0),
        ([0, 1, 0, 0, NAN], 1),
        ([0, 1, NAN, 1, 1], 1),
    ],
)
def test_a_label_without_both_right_and_wrong_verdicts_is_settled(
    verdicts: list[float], label: int | None
) -> None:
    people = np.array([0.0, 0, 1, 1, NAN])
    assert settled_label(people, np.array(verdicts, float)) == label


def test_thirds_of_no_value_are_none() -> None:
    assert thirds(np.array([NAN, NAN])).tolist() == [-1, -1]
    assert thirds(np.array([7.0] * 4)).tolist() == [0] * 4


# --- label or judge? ------------------------------------------------------------------


def test_the_doubt_of_a_label_by_hand() -> None:
    """The first text's own source has no part in the rates."""
    people = np.array([0.0, 0.0, 1.0, 1.0])
    verdicts = np.array([[1.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    result = label_doubts(verdicts, people, np.arange(4), 2)
    # Others: judge 1 says 0 to one of label 0, 1 to two of label 1; judge 2 likewise,
    # but 0 to one of label 1.
    first = log((2.5 / 3) / (0.5 / 2))
    second = log((1.5 / 3) / (0.5 / 2))
    weight = result.effective / 2
    assert result.doubt[0] == pytest.approx(weight * (first + second))
    assert result.other.tolist() == [1, 1, 0, 0]


def test_judges_that_err_together_count_for_less() -> None:
    right = (RNG.random((2, 400)) < 0.8).astype(float)
    assert effective_number(right) == pytest.approx(2, abs=0.25)
    assert effective_number(np.array([right[0], right[0], right[0]])) == 1
    assert effective_number(np.ones((3, 5))) == 3


def test_a_missing_verdict_or_label_has_no_part() -> None:
    people = np.array([0.0, 1.0, NAN, 1.0])
    verdicts = np.array([[0.0, NAN, 1.0, 1.0], [0.0, 1.0, 1.0, 7.0]])
    result = label_doubts(verdicts, people, np.arange(4), 2)
    assert np.isfinite(result.doubt).tolist() == [True, False, False, False]
    assert result.other.tolist() == [1, -1, -1, -1]


def test_predictions_of_ratings_are_fitted_to_the_other_sources() -> None:
    """As a line fitted by numpy to the other sources, source by source."""
    people = RNG.normal(size=30)
    scores = np.array([people + RNG.normal(size=30), 2 * people + RNG.normal(size=30)])
    source = np.arange(30) // 2
    predicted = np.empty((2, 30))
    for at in range(2):
        for s in range(15):
            others = source != s
            line = np.polyfit(scores[at][others], people[others], 1)
            predicted[at][~others] = np.polyval(line, scores[at][~others])
    rest = predicted.mean(axis=0) - people
    result = rating_doubts(scores, people, source)
    np.testing.assert_allclose(result, rest / rest.std(ddof=1), atol=1e-9)


def test_constant_judges_predict_nothing() -> None:
    people = np.arange(6.0)
    result = rating_doubts(np.ones((2, 6)), people, np.arange(6))
    assert np.isnan(result).all()


@pytest.mark.parametrize("judges", [2, 3, 6])
def test_the_stated_share_in_vain_is_what_lists_have(judges: int) -> None:
    """15 lists of 20: the stated shares are of 100."""
    listed = benchmark("slices").listed
    _, vain, _ = listed(0.9, judges, 15)
    _, of_poor, _ = listed(0.8, judges, 15)
    assert vain == pytest.approx(IN_VAIN[judges].nine_of_ten, abs=0.08)
    assert of_poor == pytest.approx(IN_VAIN[judges].eight_of_ten, abs=0.08)
