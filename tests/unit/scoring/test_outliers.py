"""Outliers among members: by hand, and by brute force with fractions and with floats."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.scoring.ensembles import outliers


def by_fractions(scores: Sequence[Fraction | int]) -> list[bool]:
    n = len(scores)
    mean = Fraction(sum(scores), n)
    variance = sum(((x - mean) ** 2 for x in scores), Fraction(0)) / n
    return [(x - mean) ** 2 >= 4 * variance and abs(x - mean) >= 1 for x in scores]


def test_by_hand() -> None:
    assert outliers([1, 3, 3, 3, 3]) == [True, False, False, False, False]
    assert outliers([2, 3, 3, 3, 3]) == [False] * 5  # 2 deviations, but .8 points
    assert outliers([1, 3, 3, 3, 4]) == [False] * 5
    assert outliers([1, 5, 5, 5]) == [False] * 4  # sqrt(3) deviations
    assert outliers([None, 5, 5, None, 1, 5, 5]) == [False] * 4 + [True] + [False] * 2
    assert outliers([]) == [] and outliers([None]) == [False] and outliers([4]) == [False]
    assert outliers([4] * 5) == [False] * 5


@pytest.mark.heavy
def test_all_vectors_of_five_scores_as_exact_fractions_say() -> None:
    vectors = list(product(range(1, 6), repeat=5))
    found = [outliers(vector) for vector in vectors]
    assert found == [by_fractions(vector) for vector in vectors]
    assert sum(map(any, found)) == sum(map(sum, found)) == 60


def test_floats_miss_29_of_the_60() -> None:
    missed = 0
    for vector in product(range(1, 6), repeat=5):
        scores = np.array(vector, dtype=float)
        away = np.abs(scores - scores.mean())
        missed += any(outliers(vector)) and not ((away >= 2 * scores.std()) & (away >= 1)).any()
    assert missed == 29


@pytest.mark.parametrize(
    ("step", "origin"),
    [(Fraction(1, 3), 1), (Fraction(1, 10), 0), (Fraction(1, 2), Fraction(1, 4)), (10, 0), (25, 1)],
)
def test_any_step_is_exact(step: Fraction | int, origin: Fraction | int) -> None:
    for vector in product(range(4), repeat=5):
        exact = [Fraction(origin + k * step) for k in vector]
        assert outliers(exact) == by_fractions(exact)


@given(st.lists(st.integers(1, 5), max_size=9), st.integers(0, 10**6), st.integers(-9, 9))
def test_order_shift_and_mirror_do_not_matter(scores: list[int], seed: int, by: int) -> None:
    found = outliers(scores)
    order = np.random.default_rng(seed).permutation(len(scores))
    assert outliers([scores[k] for k in order]) == [found[k] for k in order]
    assert outliers([by - score for score in scores]) == found
    assert not any(found) or len(scores) >= 5


def test_fractions_are_taken_exactly() -> None:
    thirds = [Fraction(5), Fraction(5), Fraction(5), Fraction(5), Fraction(10, 3)]
    assert outliers(thirds) == [False] * 4 + [True]
