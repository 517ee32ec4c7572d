"""Votes between two texts, and scores of texts of known order."""

from typing import Any

import numpy as np
import pytest

from metajudge.statistics.pairwise import (
    accuracy_grid,
    aggregate_votes,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    ordered_accuracy,
)
from metajudge.statistics.resampling import source_weights
from vectors import load

NAN = float("nan")


def array(values: Any) -> Any:
    return np.array([[NAN if v is None else v for v in row] for row in values], dtype=float)


# --- votes ---


def test_a_verdict_that_stays_is_consistent() -> None:
    first, second = np.array([1, 1, 0, -1, NAN, 1]), np.array([1, -1, 0, 0, 1, NAN])
    found = order_consistency(first, second, np.arange(6), None)
    assert (found.value, found.n, found.n_missing) == (0.5, 4, 2)


def test_a_judge_that_takes_the_first_is_told_from_one_that_does_not() -> None:
    found = first_position_rate(np.array([1, 1, -1, 0, NAN, 1]), np.arange(6), None)
    assert (found.value, found.n, found.n_tied, found.n_missing) == (0.75, 4, 1, 1)
    rng = np.random.default_rng(0)
    source = np.arange(200)
    weights = source_weights(rng, 200)
    fair = first_position_rate(rng.choice([1.0, -1.0], 200), source, weights)
    assert fair.lo is not None and fair.hi is not None and fair.lo < 0.5 < fair.hi
    biased = first_position_rate(rng.choice([1.0, 1.0, -1.0], 200), source, weights)
    assert biased.lo is not None and biased.lo > 0.5
    assert first_position_rate(np.zeros(4), np.arange(4), None).value is None


def ring(ab: float, bc: float, ca: float) -> Any:
    table = np.full((3, 3), NAN)
    for (i, j), vote in {(0, 1): ab, (1, 2): bc, (2, 0): ca}.items():
        table[i, j], table[j, i] = vote, -vote
    return table


def test_circles_are_counted_among_decided_triples() -> None:
    verdict = np.stack([ring(1, 1, 1), ring(-1, -1, -1), ring(1, 1, -1), ring(1, 0, 1)])
    found = nontransitive_share(verdict, np.arange(4), None)
    assert found.value == pytest.approx(2 / 3) and (found.n, found.n_missing) == (3, 1)


def test_scores_never_make_a_circle_and_coins_make_a_quarter() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 6))
    ordered = np.sign(scores[:, :, None] - scores[:, None, :])
    assert nontransitive_share(ordered, np.arange(50), None).value == 0
    coins = np.triu(rng.choice([1.0, -1.0], (400, 6, 6)), 1)
    coins -= np.swapaxes(coins, 1, 2)
    found = nontransitive_share(coins, np.arange(400), None)
    assert found.n == 400 * 20 and found.value == pytest.approx(0.25, abs=0.02)


def test_vector_of_votes() -> None:
    [vector] = [v for v in load("local_accuracy") if v["id"] == "pairwise_swap_aggregate"]
    # counts are [A<B, A>B, A=B]; in the second order the texts have changed places
    first = np.array([one["order1"] for one in vector["inputs"]])
    second = np.array([one["order2"] for one in vector["inputs"]])
    right, wrong, tied = (
        first[:, 1] + second[:, 0],
        first[:, 0] + second[:, 1],
        first[:, 2] + second[:, 2],
    )
    assert aggregate_votes(right, wrong, tied).tolist() == vector["expected"]


# --- known orders ---


@pytest.mark.parametrize(
    ("name", "rule"), [("adjacent_strict", "strict"), ("adjacent_half_credit", "half")]
)
def test_vectors_of_accuracy(name: str, rule: str) -> None:
    [vector] = [v for v in load("local_accuracy") if v["id"] == name]
    scores = array(vector["inputs"]["scores_best_to_worst"])
    found = ordered_accuracy(scores, np.arange(3), None)[rule]
    expected = vector["expected"]
    assert found.value == pytest.approx(expected["acc"]) and found.n == expected["n_pairs"]
    if "ties" in expected:
        assert (found.n_tied, found.n_missing) == (expected["ties"], expected["missing"])


def test_steps_apart_and_the_other_rules() -> None:
    scores = array([[5, 4, 4, 1], [3, None, 2, 2]])
    found = ordered_accuracy(scores, np.arange(2), None)
    assert found["complete"].value == pytest.approx(2 / 4) and found["complete"].n == 4
    assert found["tie_rate"].value == pytest.approx(2 / 4)
    assert found["strict"].value == pytest.approx(2 / 6)
    far = ordered_accuracy(scores, np.arange(2), None, step=2)
    assert far["strict"].value == pytest.approx(3 / 4) and far["half"].value == 1
    assert far["half"].n == 3 and far["half"].n_missing == 1


def test_the_grid_of_all_pairs_holds_every_step() -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(1, 6, (30, 5)).astype(float)
    scores[0, 2] = NAN
    grid = accuracy_grid(scores)
    for i in range(5):
        for j in range(5):
            known = ~np.isnan(scores[:, i] + scores[:, j])
            want = np.mean((scores[:, i] > scores[:, j])[known]) if i < j else NAN
            assert grid[i, j] == pytest.approx(want, nan_ok=True)
    for step in (1, 3):
        complete = ordered_accuracy(scores, np.arange(30), None, step=step)["complete"]
        each = [np.sum(scores[:, i] > scores[:, i + step]) for i in range(5 - step)]
        assert complete.value == pytest.approx(np.sum(each) / complete.n)


def test_the_order_of_sequences_makes_no_difference() -> None:
    rng = np.random.default_rng(3)
    scores, source = rng.integers(1, 4, (40, 4)).astype(float), np.repeat(np.arange(20), 2)
    weights = source_weights(rng, 20, 100)
    found = ordered_accuracy(scores, source, weights)
    order = rng.permutation(40)
    moved = ordered_accuracy(scores[order], source[order], weights)
    for name, one in found.items():
        assert moved[name].value == pytest.approx(one.value)
        assert (moved[name].lo, moved[name].hi) == pytest.approx((one.lo, one.hi))
