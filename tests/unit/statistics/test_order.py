"""Scores of texts of known order."""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgescope.statistics.bias import side_chosen, side_excess
from judgescope.statistics.intervals import deletions
from judgescope.statistics.order import (
    STRICT,
    OrderedPairs,
    accuracy_by_step,
    accuracy_grid,
    best_of_n,
    comparison_accuracy,
    first_position_rate,
    nontransitive_share,
    order_consistency,
    ordered_accuracy,
    ordered_pairs,
    ordered_systems,
    pairs_within,
    places_of,
    right_in_both_orders,
    verdicts,
)
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS
from vectors import SHARED, load

NAN = float("nan")


def ragged(*sequences: list[float | None]) -> tuple[Any, OrderedPairs, Any]:
    """Return scores, pairs and sources of sequences, one a source, the best text
    first.
    """
    source = np.repeat(
        np.arange(len(sequences)), [len(sequence) for sequence in sequences]
    )
    location = np.concatenate([np.arange(len(sequence)) for sequence in sequences])
    scores = np.array(
        [NAN if v is None else v for sequence in sequences for v in sequence],
        dtype=float,
    )
    return scores, ordered_pairs(source, location), source


def adjacent(*sequences: list[float | None]) -> dict[str, Replicated]:
    scores, pairs, source = ragged(*sequences)
    return ordered_accuracy(scores, pairs.at_distance(1), source, None)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("adjacent_strict", STRICT), ("adjacent_half_credit", "accuracy_adjacent_half")],
)
def test_vectors(name: str, rule: str) -> None:
    [vector] = [v for v in load("local_accuracy") if v["id"] == name]
    estimate = adjacent(*vector["inputs"]["scores_best_to_worst"])[rule].estimate
    expected = vector["expected"]
    assert (
        estimate.value == pytest.approx(expected["acc"])
        and estimate.n == expected["n_pairs"]
    )
    if "ties" in expected:
        assert (estimate.n_tied, estimate.n_missing) == (
            expected["ties"],
            expected["missing"],
        )


def test_the_rules_by_hand_on_sequences_of_unequal_length() -> None:
    # adjacent pairs: 5 4 +, 4 4 tie, 4 1 +; 3 ? missing; ? 2 missing; 2 3 -; none in
    # the last
    by_name = {
        name: number.estimate
        for name, number in adjacent([5, 4, 4, 1], [3, None, 2, 3], [1]).items()
    }
    by_key = {name: (each.value, each.n) for name, each in by_name.items()}
    assert by_key == {
        **{STRICT: (2 / 6, 6), "accuracy_adjacent_half": (2.5 / 4, 4)},
        **{"accuracy_adjacent_complete": (2 / 4, 4), "tie_rate": (1 / 4, 4)},
    }
    assert {(estimate.n_missing, estimate.n_tied) for estimate in by_name.values()} == {
        (2, 1)
    }


def test_texts_further_separately() -> None:
    scores, pairs, source = ragged([5, 4, 4, 1], [3, None, 2, 3])
    result = accuracy_by_step(scores, pairs, source, None)
    assert list(result) == [1, 2, 3]
    # two apart: 5 4 +, 4 1 +, 3 2 +, ? 3 missing; three: 5 1 +, 3 3 tie
    values = {
        k: [number.estimate.value for number in outcome.values()]
        for k, outcome in result.items()
    }
    assert values[2] == pytest.approx([3 / 4, 1, 1, 0])
    assert values[3] == pytest.approx([1 / 2, 3 / 4, 1 / 2, 1 / 2])


def test_several_texts_at_one_place_are_each_held_against_those_of_the_next() -> None:
    ratings, source = np.array([5, 5, 3, 1, 4, 4.0]), np.array([0, 0, 0, 0, 1, 1])
    places = places_of(ratings, source)
    assert places.tolist() == [0, 0, 1, 2, 0, 0]
    pairs = ordered_pairs(source, places)
    assert sorted(zip(*(column.tolist() for column in pairs), strict=True)) == [
        *((0, 2, 0, 1), (0, 3, 0, 2), (1, 2, 0, 1), (1, 3, 0, 2), (2, 3, 1, 2))
    ]
    assert places_of(ratings[::-1], source[::-1]).tolist() == places[::-1].tolist()


def test_the_grid_of_all_pairs_holds_every_step() -> None:
    rng = np.random.default_rng(2)
    table = rng.integers(1, 6, (30, 5)).astype(float)
    table[0, 2] = NAN
    scores, pairs, source = ragged(*table.tolist())
    grid = accuracy_grid(scores, pairs, source, deletions(30))
    assert list(grid) == [(i, j) for i in range(5) for j in range(i + 1, 5)]
    for (i, j), result in grid.items():
        estimate = result[STRICT].estimate
        assert estimate.value == pytest.approx(np.mean(table[:, i] > table[:, j]))
        assert (
            estimate.value is not None
            and estimate.ci_low is not None
            and estimate.ci_high is not None
        )
        assert estimate.ci_low <= estimate.value <= estimate.ci_high
    for k, result in accuracy_by_step(scores, pairs, source, None).items():
        cells = [
            outcome[STRICT].estimate for (i, j), outcome in grid.items() if j - i == k
        ]
        mean = np.mean([cell.value for cell in cells])  # of cells of 30 pairs each
        assert result[STRICT].estimate.value == pytest.approx(mean)


def test_without_a_pair_nothing_is_known() -> None:
    result = adjacent([1], [2])
    assert {number.estimate.note for number in result.values()} == {REASONS.nothing}
    scores, pairs, source = ragged([1], [2])
    assert accuracy_by_step(scores, pairs, source, None) == {}
    assert pairs_within(np.empty(0, np.int64))[0].size == 0


def test_what_changes_no_order_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    source = np.sort(rng.integers(0, 20, 90))
    location, scores = rng.integers(0, 4, 90), rng.integers(1, 5, 90).astype(float)
    weights = deletions(20)
    result = ordered_accuracy(scores, ordered_pairs(source, location), source, weights)
    moved = rng.permutation(90)
    again = ordered_accuracy(
        scores[moved],
        ordered_pairs(source[moved], location[moved]),
        source[moved],
        weights,
    )
    bent = ordered_accuracy(
        np.exp(scores), ordered_pairs(source, 3 * location), source, weights
    )
    for name, each in result.items():
        for other in (again[name], bent[name]):
            assert other.rows == pytest.approx(each.rows)


def test_a_perfect_a_reversed_and_a_constant_judge() -> None:
    judges: list[list[list[float | None]]] = [
        [[3, 2, 1], [9, 8]],
        [[1, 2, 3], [8, 9]],
        [[1, 1, 1], [1, 1]],
    ]
    values = [
        [number.estimate.value for number in adjacent(*judge).values()]
        for judge in judges
    ]
    assert values == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 0.5, 0, 1]]


SOURCE = np.arange(5)


def test_both_orders_must_be_right() -> None:
    listed = np.array([1.0, 1, -1, 0, NAN])
    swapped = np.array([1.0, -1, -1, 0, 1])
    truth = np.array([1.0, 1, 1, 1, 1])
    both = right_in_both_orders(listed, swapped, truth, SOURCE, None)
    assert (both.value, both.n, both.n_missing) == (0.25, 4, 1)
    each = comparison_accuracy(listed, truth, SOURCE, None)["accuracy_comparison"]
    assert (each.value, each.n, each.n_missing) == (0.5, 4, 1)


def test_pairs_that_people_tie_are_left_out() -> None:
    truth = np.array([0.0, NAN, 1])
    both = right_in_both_orders(np.ones(3), np.ones(3), truth, np.arange(3), None)
    assert (both.value, both.n) == (1.0, 1)


def test_systems_are_ordered_by_net_verdicts() -> None:
    first, second = np.array([0, 1, 0, 1, 0]), np.array([1, 0, 2, 2, 2])
    ahead = np.array(
        [0.5, -0.25, 1, 2, NAN]
    )  # 0 before 1 by .75, 0 before 2, 1 before 2
    verdict = np.array(
        [1.0, 1, 0, -1, 1]
    )  # 0 and 1 tie: 1 - 1; 0 and 2 tie; 2 before 1
    share = ordered_systems(verdict, ahead, first, second)
    assert (share.value, share.n, share.n_tied, share.n_missing) == (0.0, 3, 2, 0)
    verdict = np.array([1.0, -1, 1, -1, NAN])
    assert ordered_systems(verdict, ahead, first, second).value == pytest.approx(2 / 3)


def test_the_best_of_n_is_of_items_with_three_texts() -> None:
    """Items 0, 1 and 3: pairs ab, ac, bc; people tie the texts of 3. Item 2 has two
    texts.
    """
    pairs = [(0, 1), (0, 2), (1, 2)]
    first, second = (
        np.array([3 * item + pair[k] for item in (0, 1, 3) for pair in pairs] + [6])
        for k in (0, 1)
    )
    source = np.array([0, 0, 0, 1, 1, 1, 3, 3, 3, 2])
    ahead = np.array([1.0, 2, -1, 1, 1, 0, 1, -1, 1, 1])
    verdict = np.array([0.0, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    best = best_of_n(verdict, ahead, (first, second), source, None)
    # item 0: a and b have 1.5 points each, people's best is a; item 1: b, and a is
    # people's best
    assert (best.value, best.n, best.n_tied) == (0.25, 2, 1)
    verdict[0] = NAN
    best = best_of_n(verdict, ahead, (first, second), source, None)
    assert (best.value, best.n, best.n_missing) == (0.0, 1, 1)


def test_systems_that_people_tie_tell_nothing() -> None:
    none = ordered_systems(
        np.ones(2), np.array([1.0, -1]), np.zeros(2, int), np.ones(2, int)
    )
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


def test_a_verdict_that_stays_is_consistent() -> None:
    first, second = np.array([1, 1, 0, -1, NAN, 1]), np.array([1, -1, 0, 0, 1, NAN])
    result = order_consistency(first, second, np.arange(6), None)
    assert (result.value, result.n, result.n_missing) == (0.5, 4, 2)


def test_a_judge_that_takes_the_first_is_distinguished_from_one_that_does_not() -> None:
    result = first_position_rate(np.array([1, 1, -1, 0, NAN, 1]), np.arange(6), None)
    assert (result.value, result.n, result.n_tied, result.n_missing) == (0.75, 4, 1, 1)
    rng = np.random.default_rng(0)
    source = np.arange(200)
    weights = deletions(200)
    fair = first_position_rate(rng.choice([1.0, -1.0], 200), source, weights)
    assert (
        fair.ci_low is not None
        and fair.ci_high is not None
        and fair.ci_low < 0.5 < fair.ci_high
    )
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
    result = nontransitive_share(verdict, np.arange(4), None)
    assert result.value == pytest.approx(2 / 3) and (result.n, result.n_missing) == (
        3,
        1,
    )


def test_scores_never_make_a_circle_and_coins_make_a_quarter() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 6))
    ordered = np.sign(scores[:, :, None] - scores[:, None, :])
    assert nontransitive_share(ordered, np.arange(50), None).value == 0
    coins = np.triu(rng.choice([1.0, -1.0], (400, 6, 6)), 1)
    coins -= np.swapaxes(coins, 1, 2)
    result = nontransitive_share(coins, np.arange(400), None)
    assert result.n == 400 * 20 and result.value == pytest.approx(0.25, abs=0.02)


def test_vector_of_votes() -> None:
    [vector] = [
        v for v in load("local_accuracy") if v["id"] == "pairwise_swap_aggregate"
    ]
    # counts are [A<B, A>B, A=B]; in the second order the texts have changed places
    first = np.array([each["order1"] for each in vector["inputs"]])
    second = np.array([each["order2"] for each in vector["inputs"]])
    right, wrong, tied = (
        first[:, 1] + second[:, 0],
        first[:, 0] + second[:, 1],
        first[:, 2] + second[:, 2],
    )
    verdict = verdicts(right, wrong, tied)
    assert (verdict == 1).tolist() == vector["expected"]
    assert verdict == pytest.approx(
        [1, 0, 0, NAN], nan_ok=True
    )  # the last has no votes


def test_a_text_needs_more_votes_than_the_other_and_than_neither() -> None:
    first, second, neither = np.array(
        [[3, 2, 2, 1, 0], [2, 3, 1, 1, 0], [1, 1, 2, 0, 2]]
    )
    assert verdicts(first, second, neither).tolist() == [1, -1, 0, 0, 0]
    assert verdicts(second, first, neither).tolist() == [
        -1,
        1,
        0,
        0,
        0,
    ]  # nothing else changes


def test_accuracy_of_comparisons_by_hand() -> None:
    verdict = np.array([1, -1, 0, NAN, 1, 1])
    truth = np.array(
        [1, 1, -1, 1, 0, NAN]
    )  # of the last two, nobody knows the better text
    result = comparison_accuracy(verdict, truth, np.arange(6), None)
    by_name = {
        name: (estimate.value, estimate.n, estimate.n_missing)
        for name, estimate in result.items()
    }
    assert by_name == {
        "accuracy_comparison": (1 / 3, 3, 1),  # who does not answer is not wrong
        "accuracy_comparison_half": (1.5 / 3, 3, 1),
        "accuracy_comparison_decided": (1 / 2, 2, 1),
        "tie_rate": (1 / 3, 3, 1),
    }


def test_names_and_order_of_the_pairs_make_no_difference_to_comparisons() -> None:
    rng = np.random.default_rng(4)
    verdict, truth = rng.choice([1.0, 0.0, -1.0], (2, 80))
    source = np.repeat(np.arange(20), 4)
    weights = deletions(20)
    result = comparison_accuracy(verdict, truth, source, weights)
    order, turned = rng.permutation(80), rng.choice([1, -1], 80)
    args = ((turned * verdict)[order], (turned * truth)[order], source[order])
    for name, estimate in comparison_accuracy(*args, weights).items():
        assert estimate.value == pytest.approx(result[name].value)
        assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
            (result[name].ci_low, result[name].ci_high)
        )


@functools.cache
def heads() -> tuple[Any, Any, Any]:
    """Return GPT-3.5's recorded votes for the first text, in both orders, and people's
    verdicts.

    Each (system pairs, items): 1, -1 or 0.
    """
    paths = sorted(
        (SHARED / "data" / "recorded" / "summeval_pairwise_gpt35").glob("*_toggle.*")
    )
    if not paths:
        pytest.skip(
            "recorded replies are not there: ../shared/data/recorded/summeval_pairwise…"
        )

    def json_lines(path: Path) -> list[Any]:
        return [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]

    straight = [json_lines(Path(str(path).replace("_toggle", ""))) for path in paths]
    turned = [json_lines(path) for path in paths]

    def votes(expected: list[Any]) -> Any:
        letters = {"A": 1.0, "B": -1.0, "C": 0.0}
        return np.array(
            [[letters[row["resp"].strip()[0]] for row in p] for p in expected]
        )

    people = [
        [row["human_score_1"] - row["human_score_2"] for row in pair]
        for pair in straight
    ]
    assert [[r["id"] for r in p] for p in straight] == [
        [r["id"] for r in p] for p in turned
    ]
    return votes(straight), -votes(turned), np.array(people)


def test_recorded_comparisons_agree_with_themselves_in_708_of_1100() -> None:
    first, second, _ = (values.ravel() for values in heads())
    result = order_consistency(first, second, np.arange(first.size), None)
    assert result.value is not None and (result.value * result.n, result.n) == (
        708,
        1100,
    )


def test_recorded_comparisons_order_8_of_11_pairs_of_systems_as_they_were_shown() -> (
    None
):
    """By all votes on 100 articles: 8 in the published order alone, 7 in both orders
    together.
    """
    first, second, people = heads()
    truth = np.sign(people.mean(axis=1))

    def right(*orders: Any) -> float | None:
        votes = [
            np.sum([np.sum(o == v, axis=1) for o in orders], axis=0) for v in (1, -1, 0)
        ]
        result = comparison_accuracy(verdicts(*votes), truth, np.arange(11), None)
        return result["accuracy_comparison"].value

    assert right(first) == pytest.approx(8 / 11)
    assert right(first, second) == pytest.approx(7 / 11)
