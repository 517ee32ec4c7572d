"""What a judge must beat, on arrays: chance, length, places within a source."""

import numpy as np
import pytest

from judgescope.statistics import nulls
from judgescope.statistics.classes import kappas

NAN = float("nan")
SOURCES, SYSTEMS = 20, 6
SOURCE = np.repeat(np.arange(SOURCES), SYSTEMS)


def test_ties_are_half_and_a_missing_score_is_no_pair() -> None:
    better, worse = np.array([2.0, 1, 1, NAN]), np.array([1.0, 1, 2, 0])
    credit, pairs = nulls.half_credits(better, worse, np.array([0, 0, 1, 1]), 3)
    np.testing.assert_array_equal(credit, [0.75, 0.0, NAN])
    np.testing.assert_array_equal(pairs, [2, 1, 0])


def test_dealt_ratings_leave_the_source_out_and_follow_the_length() -> None:
    gold, length = np.array([1.0, 2, 3, 4, 5]), np.array([10.0, 20, 30, 40, 50])
    result = nulls.dealt(gold, length, np.arange(5))
    np.testing.assert_array_equal(
        result, [2, 3, 4, 5, 4]
    )  # its own rating is never there
    np.testing.assert_array_equal(
        nulls.dealt(gold, -length, np.arange(5)), [5, 5, 4, 2, 1]
    )
    changed = gold.copy()
    changed[2] = 99  # a text's own rating changes nothing of what it is dealt
    assert nulls.dealt(changed, length, np.arange(5))[2] == result[2]


def test_a_judge_that_knows_only_the_source_has_no_small_p_within() -> None:
    rng = np.random.default_rng(3)
    level = rng.integers(0, 5, SOURCES)[SOURCE]
    gold = np.clip(level + rng.integers(-1, 2, SOURCE.size), 0, 4)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)
    same = level.copy()
    assert nulls.p_within(gold, same, SOURCE, np.random.default_rng(1), distance) == 1.0
    assert (
        nulls.p_within(gold, gold, SOURCE, np.random.default_rng(1), distance) < 0.001
    )


def test_rows_of_credit_and_of_kappa_are_those_of_a_single_judge() -> None:
    rng = np.random.default_rng(7)
    source = rng.permutation(np.repeat(np.arange(5), 8))
    better, worse = np.round(rng.normal(size=(2, 3, source.size)))
    better[0, ::3] = NAN
    values = [
        nulls.half_credits(*pair, source, 5)[0]
        for pair in zip(better, worse, strict=True)
    ]
    np.testing.assert_allclose(
        nulls.mean_credits(better, worse, source),
        [np.nanmean(value) for value in values],
    )
    gold, mine = rng.integers(0, 4, source.size), rng.integers(-1, 4, (3, source.size))
    for linear_kappa, row in zip(nulls.linear_kappas(gold, mine, 4), mine, strict=True):
        counts = np.zeros((1, 4, 4))
        np.add.at(counts[0], (gold[row >= 0], row[row >= 0]), 1)
        assert linear_kappa == pytest.approx(kappas(counts)[0])


def test_labels_are_dealt_alike_whether_sources_have_a_single_text_or_several() -> None:
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 25):
        gold, order = (
            rng.integers(0, 3, n).astype(float),
            rng.integers(0, 6, n).astype(float),
        )
        gold[rng.random(n) < 0.2] = np.nan
        source = rng.permutation(n)
        one_by_one = np.full(n, np.nan)
        for text in np.flatnonzero(~np.isnan(gold)):
            others = np.flatnonzero(~np.isnan(gold) & (np.arange(n) != text))
            if others.size:
                below = int((order[others] < order[text]).sum())
                upto = int((order[others] <= order[text]).sum())
                minimum = min((below + upto) // 2, others.size - 1)
                one_by_one[text] = np.sort(gold[others])[minimum]
        np.testing.assert_array_equal(nulls.dealt(gold, order, source), one_by_one)
