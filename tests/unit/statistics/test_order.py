"""Scores of texts of known order."""

from typing import Any

import numpy as np
import pytest

from judgescope.statistics.jackknife import deletions
from judgescope.statistics.order import (
    STRICT,
    OrderedPairs,
    accuracy_by_step,
    accuracy_grid,
    ordered_accuracy,
    ordered_pairs,
    pairs_within,
    places_of,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import NOTHING
from vectors import load

NAN = float("nan")


def ragged(*sequences: list[float | None]) -> tuple[Any, OrderedPairs, Any]:
    """Return scores, pairs and sources of sequences, one a source, the best text first."""
    source = np.repeat(np.arange(len(sequences)), [len(one) for one in sequences])
    place = np.concatenate([np.arange(len(one)) for one in sequences])
    scores = np.array([NAN if v is None else v for one in sequences for v in one], dtype=float)
    return scores, ordered_pairs(source, place), source


def adjacent(*sequences: list[float | None]) -> dict[str, Replicated]:
    scores, pairs, source = ragged(*sequences)
    return ordered_accuracy(scores, pairs.apart(1), source, None)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("adjacent_strict", STRICT), ("adjacent_half_credit", "accuracy_adjacent_half")],
)
def test_vectors(name: str, rule: str) -> None:
    [vector] = [v for v in load("local_accuracy") if v["id"] == name]
    found = adjacent(*vector["inputs"]["scores_best_to_worst"])[rule].estimate
    expected = vector["expected"]
    assert found.value == pytest.approx(expected["acc"]) and found.n == expected["n_pairs"]
    if "ties" in expected:
        assert (found.n_tied, found.n_missing) == (expected["ties"], expected["missing"])


def test_the_rules_by_hand_on_sequences_of_unequal_length() -> None:
    # adjacent pairs: 5 4 +, 4 4 tie, 4 1 +; 3 ? missing; ? 2 missing; 2 3 -; none in the last
    found = {
        name: one.estimate for name, one in adjacent([5, 4, 4, 1], [3, None, 2, 3], [1]).items()
    }
    told = {name: (one.value, one.n) for name, one in found.items()}
    assert told == {
        **{STRICT: (2 / 6, 6), "accuracy_adjacent_half": (2.5 / 4, 4)},
        **{"accuracy_adjacent_complete": (2 / 4, 4), "tie_rate": (1 / 4, 4)},
    }
    assert {(one.n_missing, one.n_tied) for one in found.values()} == {(2, 1)}


def test_texts_further_apart() -> None:
    scores, pairs, source = ragged([5, 4, 4, 1], [3, None, 2, 3])
    found = accuracy_by_step(scores, pairs, source, None)
    assert list(found) == [1, 2, 3]
    # two apart: 5 4 +, 4 1 +, 3 2 +, ? 3 missing; three: 5 1 +, 3 3 tie
    values = {k: [one.estimate.value for one in told.values()] for k, told in found.items()}
    assert values[2] == pytest.approx([3 / 4, 1, 1, 0])
    assert values[3] == pytest.approx([1 / 2, 3 / 4, 1 / 2, 1 / 2])


def test_several_texts_at_one_place_are_each_held_against_those_of_the_next() -> None:
    ratings, source = np.array([5, 5, 3, 1, 4, 4.0]), np.array([0, 0, 0, 0, 1, 1])
    place = places_of(ratings, source)
    assert place.tolist() == [0, 0, 1, 2, 0, 0]
    pairs = ordered_pairs(source, place)
    assert sorted(zip(*(column.tolist() for column in pairs), strict=True)) == [
        *((0, 2, 0, 1), (0, 3, 0, 2), (1, 2, 0, 1), (1, 3, 0, 2), (2, 3, 1, 2)),
    ]
    assert places_of(ratings[::-1], source[::-1]).tolist() == place[::-1].tolist()


def test_the_grid_of_all_pairs_holds_every_step() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(1, 6, (30, 5)).astype(float)
    table[0, 2] = NAN
    scores, pairs, source = ragged(*table.tolist())
    grid = accuracy_grid(scores, pairs, source, deletions(30))
    assert list(grid) == [(i, j) for i in range(5) for j in range(i + 1, 5)]
    for (i, j), found in grid.items():
        one = found[STRICT].estimate
        assert one.value == pytest.approx(np.mean(table[:, i] > table[:, j]))
        assert one.value is not None and one.ci_low is not None and one.ci_high is not None
        assert one.ci_low <= one.value <= one.ci_high
    for k, found in accuracy_by_step(scores, pairs, source, None).items():
        cells = [told[STRICT].estimate for (i, j), told in grid.items() if j - i == k]
        mean = np.mean([one.value for one in cells])  # of cells of 30 pairs each
        assert found[STRICT].estimate.value == pytest.approx(mean)


def test_without_a_pair_nothing_is_known() -> None:
    found = adjacent([1], [2])
    assert {one.estimate.note for one in found.values()} == {NOTHING}
    scores, pairs, source = ragged([1], [2])
    assert accuracy_by_step(scores, pairs, source, None) == {}
    assert pairs_within(np.empty(0, np.int64))[0].size == 0


def test_what_changes_no_order_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    source = np.sort(rng.integers(0, 20, 90))
    place, scores = rng.integers(0, 4, 90), rng.integers(1, 5, 90).astype(float)
    weights = deletions(20)
    found = ordered_accuracy(scores, ordered_pairs(source, place), source, weights)
    moved = rng.permutation(90)
    again = ordered_accuracy(
        scores[moved], ordered_pairs(source[moved], place[moved]), source[moved], weights
    )
    bent = ordered_accuracy(np.exp(scores), ordered_pairs(source, 3 * place), source, weights)
    for name, one in found.items():
        for other in (again[name], bent[name]):
            assert other.rows == pytest.approx(one.rows)


def test_a_perfect_a_reversed_and_a_constant_judge() -> None:
    judges: list[list[list[float | None]]] = [
        [[3, 2, 1], [9, 8]],
        [[1, 2, 3], [8, 9]],
        [[1, 1, 1], [1, 1]],
    ]
    values = [[one.estimate.value for one in adjacent(*told).values()] for told in judges]
    assert values == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0.5, 0, 1]]
