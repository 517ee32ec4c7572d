"""Verdicts on pairs in two orders, by system, and the sides that they favour; by hand."""

import numpy as np
import pytest

from judgescope.statistics.bias import side_chosen, side_excess
from judgescope.statistics.order import (
    best_of_n,
    ordered_systems,
    right_in_both_orders,
    verdict_accuracy,
)

NAN = np.nan
SOURCE = np.arange(5)


def test_both_orders_must_be_right() -> None:
    listed = np.array([1.0, 1, -1, 0, NAN])
    swapped = np.array([1.0, -1, -1, 0, 1])
    truth = np.array([1.0, 1, 1, 1, 1])
    both = right_in_both_orders(listed, swapped, truth, SOURCE, None)
    assert (both.value, both.n, both.n_missing) == (0.25, 4, 1)
    one = verdict_accuracy(listed, truth, SOURCE, None)
    assert (one.value, one.n, one.n_missing) == (0.5, 4, 1)


def test_pairs_that_people_tie_are_left_out() -> None:
    truth = np.array([0.0, NAN, 1])
    both = right_in_both_orders(np.ones(3), np.ones(3), truth, np.arange(3), None)
    assert (both.value, both.n) == (1.0, 1)


def test_systems_are_ordered_by_net_verdicts() -> None:
    first, second = np.array([0, 1, 0, 1, 0]), np.array([1, 0, 2, 2, 2])
    ahead = np.array([0.5, -0.25, 1, 2, NAN])  # 0 before 1 by .75, 0 before 2, 1 before 2
    verdict = np.array([1.0, 1, 0, -1, 1])  # 0 and 1 tie: 1 - 1; 0 and 2 tie; 2 before 1
    share = ordered_systems(verdict, ahead, first, second)
    assert (share.value, share.n, share.n_tied, share.n_missing) == (0.0, 3, 2, 0)
    verdict = np.array([1.0, -1, 1, -1, NAN])
    assert ordered_systems(verdict, ahead, first, second).value == pytest.approx(2 / 3)


def test_the_best_of_n_is_of_items_with_three_texts() -> None:
    """Items 0, 1 and 3: pairs ab, ac, bc; people tie the texts of 3. Item 2 has two texts."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    first, second = (
        np.array([3 * item + pair[k] for item in (0, 1, 3) for pair in pairs] + [6]) for k in (0, 1)
    )
    source = np.array([0, 0, 0, 1, 1, 1, 3, 3, 3, 2])
    ahead = np.array([1.0, 2, -1, 1, 1, 0, 1, -1, 1, 1])
    verdict = np.array([0.0, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    best = best_of_n(verdict, ahead, (first, second), source, None)
    # item 0: a and b have 1.5 points each, people's best is a; item 1: b, and a is people's best
    assert (best.value, best.n, best.n_tied) == (0.25, 2, 1)
    verdict[0] = NAN
    best = best_of_n(verdict, ahead, (first, second), source, None)
    assert (best.value, best.n, best.n_missing) == (0.0, 1, 1)


def test_systems_that_people_tie_tell_nothing() -> None:
    none = ordered_systems(np.ones(2), np.array([1.0, -1]), np.zeros(2, int), np.ones(2, int))
    assert none.value is None and "tell apart" in none.note


def test_the_side_that_is_chosen_is_of_decided_verdicts() -> None:
    verdict, side = np.array([1.0, -1, 0, NAN, 1]), np.array([1.0, 1, 1, 1, 0])
    chosen = side_chosen(verdict, side, SOURCE, None)
    assert (chosen.value, chosen.n, chosen.n_tied, chosen.n_missing) == (0.5, 2, 1, 1)


def test_the_excess_is_what_people_do_not_prefer() -> None:
    side = np.array([1.0, 1, 1, 1, 0])
    people = np.array([1.0, -1, 0, NAN, 1])
    excess = side_excess(np.ones(5), people, side, SOURCE, None)
    assert excess.value == pytest.approx((0 + 1 + 0.5) / 3)
    assert (excess.n, excess.n_missing) == (3, 1)
    assert side_excess(people, people, side, SOURCE, None).value == 0
