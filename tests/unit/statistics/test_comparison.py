"""Judges beside each other."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deleted import jackknife_t
from judgescope.statistics.comparison import (
    detectable,
    difference,
    letter,
    letters,
    ranks,
    sources_needed,
)
from judgescope.statistics.correlation import correlations
from judgescope.statistics.jackknife import NOT_SMOOTH, deletions
from judgescope.statistics.permutation import flips_of, permutation_tests
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import UNDEFINED_JUDGE, Estimate

NAN = float("nan")


def of(rows: Any, n: int = 9, missing: int = 0) -> Replicated:
    rows = np.array(rows, dtype=float)
    sizes = np.ones(rows.size - 1)
    if np.isnan(rows[0]):
        return Replicated(Estimate.undefined("constant judge"), rows, sizes)
    return Replicated(Estimate(float(rows[0]), n=n, n_missing=missing), rows, sizes)


# --- differences ---


def test_a_difference_has_the_interval_of_the_paired_deletions() -> None:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=31)
    one, other = of(0.5 + shared, 90, 2), of(0.4 + shared + rng.normal(0, 0.001, 31), 95, 1)
    told = difference(one, other)
    found, rows = told.estimate, one.rows - other.rows
    assert found.value == pytest.approx(rows[0])
    expected = jackknife_t(float(rows[0]), rows[1:].tolist())
    assert (found.ci_low, found.ci_high) == pytest.approx(expected)
    assert (found.n, found.n_missing) == (90, 2)
    assert (
        found.ci_low and found.ci_high and found.ci_high - found.ci_low < 0.05
    )  # alone each spans about 20
    back = difference(other, one).estimate
    assert (back.ci_low, back.ci_high) == pytest.approx((-found.ci_high, -found.ci_low))
    p = told.p_above(found.ci_low)
    assert p == pytest.approx(0.025)


def test_a_difference_of_what_is_not_smooth_has_no_interval() -> None:
    rows = np.random.default_rng(1).normal(size=31)
    least = of(rows)._replace(scale=NOT_SMOOTH)
    found = difference(least, of(rows / 2)).estimate
    assert found.value is not None and found.ci_low is None and "not smooth" in found.note


def test_an_undefined_judge_has_no_difference() -> None:
    assert difference(of([NAN, 0.1]), of([0.5, 0.4])).estimate.note == UNDEFINED_JUDGE
    assert difference(of([0.5]), of([0.4])).estimate.ci_low is None


# --- letters ---


def display(count: int, *pairs: tuple[int, int], order: Any = None) -> list[str]:
    table = np.zeros((count, count), dtype=bool)
    for i, j in pairs:
        table[i, j] = table[j, i] = True
    return letters(list(range(count)) if order is None else order, table)


def test_letters_by_hand() -> None:
    assert display(3) == ["a", "a", "a"]
    assert display(3, (0, 1), (0, 2), (1, 2)) == ["a", "b", "c"]
    assert display(3, (0, 2)) == ["a", "ab", "b"]
    assert display(4, (0, 2), (0, 3), (1, 3)) == ["a", "ab", "bc", "c"]
    assert display(3, (0, 2), order=[2, 1, 0]) == ["b", "ab", "a"]
    assert display(3, (0, 2), order=[0, 2]) == ["a", "", "b"]
    assert display(0) == []


@given(st.integers(2, 6), st.data())
def test_two_judges_share_a_letter_if_and_only_if_they_do_not_differ(
    count: int, choose: st.DataObject
) -> None:
    every = list(combinations(range(count), 2))
    pairs = choose.draw(st.lists(st.sampled_from(every), unique=True))
    order = choose.draw(st.permutations(range(count)))
    found = display(count, *pairs, order=order)
    for pair in every:
        assert bool(set(found[pair[0]]) & set(found[pair[1]])) == (pair not in pairs)
    assert "a" in found[order[0]]


def test_there_are_letters_enough() -> None:
    assert [letter(n) for n in (0, 25, 26, 27, 52)] == ["a", "z", "(aa)", "(ab)", "(ba)"]


# --- ranks ---


def test_ranks_and_how_far_they_move() -> None:
    rows = np.array([[0.9, *[0.9, 0.5] * 50], [0.6, *[0.6] * 100], [0.2, *[0.2] * 100]])
    first, second, third = ranks(rows, 30)
    assert [(one.value, one.ci_low, one.ci_high) for one in (first, second, third)] == [
        (1, 1, 2),
        (2, 1, 2),
        (3, 3, 3),
    ]
    assert first.n == 3


def test_ties_share_a_rank_and_the_undefined_have_none() -> None:
    found = ranks(np.array([[0.5, 0.5], [NAN, 0.9], [0.5, NAN], [0.1, 0.2]]), 30)
    assert [one.value for one in found] == [1.5, None, 1.5, 3]
    assert found[1].note == UNDEFINED_JUDGE
    order = [3, 2, 1, 0]
    assert [one.value for one in ranks(np.zeros((4, 1)) + np.array(order)[:, None], 30)] == [
        *(1, 2, 3, 4)
    ]


# --- what could have been seen ---


@pytest.mark.simulation
def test_the_detectable_difference_is_seen_four_times_of_five() -> None:
    """Simulated studies in which one judge is better by what the formula calls detectable."""
    rng = np.random.default_rng(11)
    found, gaps = [], []
    place = np.indices((60, 6))
    source, system = place[0].ravel(), place[1].ravel()

    def study(noise: float, other: float) -> Any:
        truth = rng.normal(0, 1, (60, 6))
        each = [truth + rng.normal(0, spread, truth.shape) for spread in (noise, other, 0.5)]
        return [v.ravel() for v in each]

    for _ in range(25):
        x1, x2, y = study(0.9, 1.0)
        weights = deletions(60)
        one, other = (
            correlations(
                x, y, source, system, weights=weights, statistics=["pearson"], levels=["pooled"]
            )["pearson", "pooled"]
            for x in (x1, x2)
        )
        found.append(detectable(one, other))
        gaps.append(one.rows[0] - other.rows[0])
    least = np.mean([one for one in found if one is not None])
    # a noise of .9 against 1.0 gives a gap of some .04: widen it until it is the detectable one
    better = 0.9
    while True:
        big = [study(better, 1.0) for _ in range(60)]
        gap = np.mean([np.corrcoef(a, y)[0, 1] - np.corrcoef(b, y)[0, 1] for a, b, y in big])
        if gap >= least:
            break
        better -= 0.01
    seen = 0
    for _ in range(200):
        x1, x2, y = study(better, 1.0)
        flips = flips_of(rng, 60, 199)
        test = permutation_tests(
            x1, x2, y, source, system, flips, level="pooled", statistics=["pearson"]
        )["pearson"]
        seen += test.p <= 0.05
    assert 0.7 < seen / 200 < 0.92


def test_sources_needed() -> None:
    assert sources_needed(100, 0.1, 0.05) == 400
    assert sources_needed(100, 0.1, 0.1) == 100
    assert sources_needed(10, 0.1, 0.07) == 21
    with pytest.raises(ValueError, match="above 0"):
        sources_needed(10, 0.1, 0)
    assert detectable(of([0.5]), of([0.4])) is None
