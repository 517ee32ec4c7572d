"""Shares of first choices: sources are what is independent, not pairs."""

import numpy as np
import pytest

from judgescope.methods.row_numbers import agreement_of_draws, choices_by_place
from judgescope.statistics.arrays import Floats
from judgescope.statistics.first_choices import first_choices


def choices(n: int, share: float, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < share, 1.0, -1.0)


def test_pairs_of_a_single_source_count_as_a_single_source() -> None:
    """Each pair five times: intervals stay, instead of shrinking by the root of 5."""
    judge = choices(40, 0.8, 1)
    people = choices(40, 0.5, 2)
    sources = np.arange(40)
    once = first_choices(judge, people, sources)
    again = first_choices(
        np.repeat(judge, 5), np.repeat(people, 5), np.repeat(sources, 5)
    )
    for single, repeated in zip(once, again, strict=True):
        assert single.value is not None and single.ci_low is not None
        assert repeated.value == pytest.approx(single.value)
        assert repeated.ci_low == pytest.approx(single.ci_low)
        assert repeated.ci_high == pytest.approx(single.ci_high)
        assert repeated.n == 5 * single.n
    as_if_independent = first_choices(
        np.repeat(judge, 5), np.repeat(people, 5), np.arange(200)
    )
    low = as_if_independent[2].ci_low
    assert low is not None and once[2].ci_low is not None and low > once[2].ci_low


def test_the_difference_covers_no_difference_as_often_as_it_says() -> None:
    """Sources with five pairs each, whose choices share a leaning."""
    covered = 0
    trials = 400
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        leaning = np.repeat(rng.uniform(0.2, 0.8, 30), 5)
        sources = np.repeat(np.arange(30), 5)
        judge = np.where(rng.random(150) < leaning, 1.0, -1.0)
        people = np.where(rng.random(150) < leaning, 1.0, -1.0)
        gap = first_choices(judge, people, sources)[2]
        assert gap.ci_low is not None and gap.ci_high is not None
        covered += gap.ci_low <= 0 <= gap.ci_high
    assert 0.92 <= covered / trials <= 0.98


def test_pairs_that_one_side_did_not_judge_are_left_out() -> None:
    judge = np.array([1.0, np.nan, -1.0, 1.0])
    people = np.array([1.0, 1.0, np.nan, -1.0])
    of_judge, of_people, gap = first_choices(judge, people, np.arange(4))
    assert (of_judge.value, of_people.value, gap.value) == (1.0, 0.5, 0.5)
    assert (gap.n, gap.n_missing) == (2, 2)


def test_the_functions_of_rows_give_the_same_numbers() -> None:
    judge = choices(30, 0.7, 3)
    people = choices(30, 0.4, 4)
    expected = first_choices(judge, people, np.arange(30))
    of_judge, of_people = choices_by_place(judge.tolist(), people.tolist(), range(30))
    assert of_judge["first_choices"]["value"] == expected[0].value
    assert of_people["first_choices"]["ci_low"] == expected[1].ci_low
    assert of_judge["first_choices_gap"]["ci_high"] == expected[2].ci_high


def test_equal_draws_agree() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(1, 6, 30).astype(float)
    same = [[value, value] for value in values]
    numbers = agreement_of_draws(same, range(30), scale=None, labels=False)
    assert numbers["alpha_draws"]["value"] == pytest.approx(1.0)
    assert numbers["flip_rate"]["value"] == 0.0
