"""Votes between two texts."""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgescope.statistics.jackknife import deletions
from judgescope.statistics.order import (
    comparison_accuracy,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    verdicts,
)
from vectors import SHARED, load

NAN = float("nan")


def test_a_verdict_that_stays_is_consistent() -> None:
    first, second = np.array([1, 1, 0, -1, NAN, 1]), np.array([1, -1, 0, 0, 1, NAN])
    found = order_consistency(first, second, np.arange(6), None)
    assert (found.value, found.n, found.n_missing) == (0.5, 4, 2)


def test_a_judge_that_takes_the_first_is_told_from_one_that_does_not() -> None:
    found = first_position_rate(np.array([1, 1, -1, 0, NAN, 1]), np.arange(6), None)
    assert (found.value, found.n, found.n_tied, found.n_missing) == (0.75, 4, 1, 1)
    rng = np.random.default_rng(0)
    source = np.arange(200)
    weights = deletions(200)
    fair = first_position_rate(rng.choice([1.0, -1.0], 200), source, weights)
    assert fair.ci_low is not None and fair.ci_high is not None and fair.ci_low < 0.5 < fair.ci_high
    biased = first_position_rate(rng.choice([1.0, 1.0, -1.0], 200), source, weights)
    assert biased.ci_low is not None and biased.ci_low > 0.5
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
    verdict = verdicts(right, wrong, tied)
    assert (verdict == 1).tolist() == vector["expected"]
    assert verdict == pytest.approx([1, 0, 0, NAN], nan_ok=True)  # the last has no votes


def test_a_text_needs_more_votes_than_the_other_and_than_neither() -> None:
    first, second, neither = np.array([[3, 2, 2, 1, 0], [2, 3, 1, 1, 0], [1, 1, 2, 0, 2]])
    assert verdicts(first, second, neither).tolist() == [1, -1, 0, 0, 0]
    assert verdicts(second, first, neither).tolist() == [-1, 1, 0, 0, 0]  # nothing else changes


def test_accuracy_of_comparisons_by_hand() -> None:
    verdict = np.array([1, -1, 0, NAN, 1, 1])
    truth = np.array([1, 1, -1, 1, 0, NAN])  # of the last two, nobody knows the better text
    found = comparison_accuracy(verdict, truth, np.arange(6), None)
    told = {name: (one.value, one.n, one.n_missing) for name, one in found.items()}
    assert told == {
        "accuracy_comparison": (1 / 3, 3, 1),  # who does not answer is not wrong
        "accuracy_comparison_half": (1.5 / 3, 3, 1),
        "tie_rate": (1 / 3, 3, 1),
    }


def test_names_and_order_of_the_pairs_make_no_difference_to_comparisons() -> None:
    rng = np.random.default_rng(4)
    verdict, truth = rng.choice([1.0, 0.0, -1.0], (2, 80))
    source = np.repeat(np.arange(20), 4)
    weights = deletions(20)
    found = comparison_accuracy(verdict, truth, source, weights)
    order, turned = rng.permutation(80), rng.choice([1, -1], 80)
    args = ((turned * verdict)[order], (turned * truth)[order], source[order])
    for name, one in comparison_accuracy(*args, weights).items():
        assert one.value == pytest.approx(found[name].value)
        assert (one.ci_low, one.ci_high) == pytest.approx((found[name].ci_low, found[name].ci_high))


@functools.cache
def heads() -> tuple[Any, Any, Any]:
    """Return GPT-3.5's recorded votes for the first text, in both orders, and people's verdicts.

    Each (system pairs, items): 1, -1 or 0.
    """
    paths = sorted((SHARED / "data" / "recorded" / "summeval_pairwise_gpt35").glob("*_toggle.*"))
    if not paths:
        pytest.skip("recorded replies are not there: ../shared/data/recorded/summeval_pairwise…")

    def said(path: Path) -> list[Any]:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    straight = [said(Path(str(path).replace("_toggle", ""))) for path in paths]
    turned = [said(path) for path in paths]

    def votes(found: list[Any]) -> Any:
        letters = {"A": 1.0, "B": -1.0, "C": 0.0}
        return np.array([[letters[row["resp"].strip()[0]] for row in p] for p in found])

    people = [[row["human_score_1"] - row["human_score_2"] for row in pair] for pair in straight]
    assert [[r["id"] for r in p] for p in straight] == [[r["id"] for r in p] for p in turned]
    return votes(straight), -votes(turned), np.array(people)


def test_recorded_comparisons_agree_with_themselves_in_708_of_1100() -> None:
    first, second, _ = (values.ravel() for values in heads())
    found = order_consistency(first, second, np.arange(first.size), None)
    assert found.value is not None and (found.value * found.n, found.n) == (708, 1100)


def test_recorded_comparisons_order_8_of_11_pairs_of_systems_as_they_were_shown() -> None:
    """By all votes on 100 articles: 8 in the published order alone, 7 in both orders together."""
    first, second, people = heads()
    truth = np.sign(people.mean(axis=1))

    def right(*orders: Any) -> float | None:
        votes = [np.sum([np.sum(o == v, axis=1) for o in orders], axis=0) for v in (1, -1, 0)]
        found = comparison_accuracy(verdicts(*votes), truth, np.arange(11), None)
        return found["accuracy_comparison"].value

    assert right(first) == pytest.approx(8 / 11)
    assert right(first, second) == pytest.approx(7 / 11)
