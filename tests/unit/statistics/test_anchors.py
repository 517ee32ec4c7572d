"""Anchors: which texts stand for a rating, and what comparisons with them say of
others.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from deleted import jackknife_t
from judgescope.perturb.references import diverse, similarities
from judgescope.statistics.anchors import (
    anchor_costs,
    balanced,
    choose_anchors,
    comparator_accuracy,
    estimated_ratings,
    most_diverse,
    rating_terms,
    usual_counts,
)
from judgescope.statistics.intervals import deletions

Floats = NDArray[np.float64]
NAN = np.nan
OUTCOMES = arrays(
    np.float64, (4, 3, 2), elements=st.sampled_from([1.0, -1.0, 0.0, NAN])
)


def test_anchor_cost_adds_distances_of_people_judge_and_rating() -> None:
    human = np.array([[5.0, 4.0, NAN], [5.0, 3.0, NAN], [4.0, NAN, NAN]])
    judged = np.array([[5.0, 2.0, 1.0], [3.0, 3.0, 1.0]])
    result = anchor_costs(human, judged, [1, 5])
    # first text, rating 5: (0 + 0 + 1) / 3, (0 + 2) / 2, |14/3 - 4|
    assert result[0, 1] == pytest.approx(1 / 3 + 1 + 2 / 3)
    assert result[1] == pytest.approx([2.5 + 1.5 + 1, 1.5 + 2.5 + 1])
    assert np.isnan(result[2]).all()
    assert anchor_costs(human, None, [1, 5])[0] == pytest.approx([11 / 3, 1 / 3])


def test_anchors_are_of_least_cost_of_other_sources_first_and_of_one_rating_only() -> (
    None
):
    costs = np.array([[0.0, 1], [0, 1], [0, 1], [2, 0], [2, 0.5], [NAN, NAN]])
    source = np.array([0, 0, 1, 2, 2, 3])
    result = choose_anchors(costs, source, ["b", "a", "c", "d", "e", "f"], 2)
    assert result == [
        [1, 2],
        [3, 4],
    ]  # text 0 ties with 1 and 2, and its source is there already
    # a text that is best for both ratings stands for the one that is looked at first
    both = choose_anchors(
        np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1]), ["a", "b"], 1
    )
    assert both == [[0], [1]]
    few = choose_anchors(np.array([[0.0, 1.0]]), np.array([0]), ["a"], 3)
    assert few == [[0], []]


def test_the_terms_are_those_of_the_paper_with_a_single_beyond_the_ends() -> None:
    outcomes = np.array(
        [[[1.0, 1], [0, -1], [-1, -1]]]
    )  # above 1, level with 2, below 3
    first, objective = rating_terms(outcomes)
    assert first.tolist() == [[-1, -0.5, -1]]
    assert objective.tolist() == [[-1 + 1 + 0.5, -0.5 + 1 + 1, -1 + 0 + 1]]
    assert rating_terms(outcomes, end=0)[1].tolist() == [[-0.5, 1.5, -1]]


def test_ties_go_to_smaller_first_term_then_usual_errors_then_lower_rating() -> None:
    # ratings 1 and 2 have the same objective and the same first term
    outcomes = np.array([[[1.0, -1], [1, -1], [-1, -1]]])
    first, objective = rating_terms(outcomes)
    assert objective[0, 0] == objective[0, 1] == 1.5 and first[0, 0] == first[0, 1]
    lower = estimated_ratings(outcomes, np.zeros((1, 3)))
    assert (lower.rating[0], lower.margin[0], bool(lower.tied[0])) == (0, 0, True)
    nearer = estimated_ratings(outcomes, np.array([[2.0, 1.0, 0.0]]))
    assert nearer.rating[0] == 1
    unresolved = estimated_ratings(np.zeros((1, 3, 2)), np.zeros((1, 3)))
    assert (
        unresolved.rating[0] == -1
        and unresolved.margin[0] == 0
        and not unresolved.tied[0]
    )


@given(OUTCOMES)
def test_a_scale_turned_round_gives_the_rating_turned_round(outcomes: Floats) -> None:
    present = estimated_ratings(outcomes, np.zeros((4, 3)))
    back = estimated_ratings(-outcomes[:, ::-1], np.zeros((4, 3)))
    clear = ~present.tied & (present.rating >= 0)
    assert np.array_equal(present.rating[clear], 2 - back.rating[clear])
    assert present.margin == pytest.approx(back.margin)
    assert np.array_equal(present.rating < 0, back.rating < 0)


def simulated(accuracy: float, end: float, n: int = 3000) -> list[float]:
    """Return the recall of each of five ratings, five anchors each, both orders asked.

    A question is answered rightly with the normal probability of the distance in
    ratings; of neighbours both orders are right in `accuracy` of the pairs, of equals
    each order is a coin.
    """
    from scipy.stats import norm

    rng = np.random.default_rng(8)
    truth = rng.integers(5, size=n)
    separate = truth[:, None, None] - np.arange(5)[None, :, None] + np.zeros((1, 1, 5))
    right = norm.cdf(separate * norm.ppf(np.sqrt(accuracy)))
    ahead, back = (rng.random(right.shape) < right for _ in range(2))
    outcomes = np.where(ahead & back, 1.0, np.where(~ahead & ~back, -1.0, 0.0))
    neighbours = np.abs(separate) == 1
    result = comparator_accuracy(
        outcomes[neighbours], np.sign(separate[neighbours]), neighbours.any()
    )
    assert result.value == pytest.approx(accuracy, abs=0.01)
    rating = estimated_ratings(outcomes, np.zeros((n, 5)), end=end).rating
    return [float(np.mean(rating[truth == k] == k)) for k in range(5)]


def test_comparator_of_accuracy_08_finds_every_rating_with_the_rule_at_the_ends() -> (
    None
):
    with_rule, without = simulated(0.8, 1), simulated(0.8, 0)
    assert min(with_rule) >= 0.9
    assert max(without[0], without[-1]) < min(with_rule[0], with_rule[-1]) - 0.1
    # which is why a worse comparator stops the construction
    assert min(simulated(0.5, 1)) < 0.6


def test_a_comparator_is_right_where_it_names_the_better_and_nowhere_else() -> None:
    outcomes = np.array([1.0, -1, 0, NAN, 1])
    result = comparator_accuracy(
        outcomes, np.array([1.0, 1, 1, 1, 1]), np.array([1, 1, 1, 1, 0]) > 0
    )
    assert (result.value, result.n, result.n_missing, result.n_tied) == (0.25, 4, 1, 1)
    assert comparator_accuracy(outcomes, outcomes, outcomes > 5).value is None


def test_pairs_within_a_source_go_with_it() -> None:
    own_part = np.arange(12)
    right = np.where(own_part < 6, 1.0, -1.0)
    every = np.ones(12, dtype=bool)
    within = comparator_accuracy(
        right, np.ones(12), every, np.array([own_part, own_part]), deletions(12)
    )
    # 6 of 12, and 5 or 6 of 11 without a source
    expected = jackknife_t(0.5, [5 / 11] * 6 + [6 / 11] * 6, "logit")
    assert (within.ci_low, within.ci_high) == pytest.approx(expected)


def test_the_usual_errors_of_a_rating_that_no_text_has_lie_between_its_neighbours() -> (
    None
):
    counts, rating = np.array([6, 4, 0, 1]), np.array([0, 0, 4, -1])
    assert usual_counts(counts, rating, 5).tolist() == [5, 3.75, 2.5, 1.25, 0]
    assert np.isnan(usual_counts(counts, np.full(4, -1), 5)).all()


def test_a_balanced_choice_takes_the_clearest_of_each_rating_in_turn() -> None:
    rating, margin = (
        np.array([0, 0, 0, 1, 2, 2, -1]),
        np.array([0.1, 0.9, 0.5, 0.1, 0.2, 0.2, 1]),
    )
    order = list("gfedcba")
    assert balanced(rating, margin, order, 3) == [
        1,
        3,
        5,
    ]  # 4 and 5 tie: the hash of 5 is first
    assert balanced(rating, margin, order, 5) == [1, 2, 3, 4, 5]
    assert balanced(rating, margin, order, 9) == [0, 1, 2, 3, 4, 5]


def test_the_most_diverse_begin_with_the_medoid_and_go_to_the_farthest() -> None:
    values = np.array([0.0, 0.4, 0.5, 1.0])
    alike = 1 - np.abs(values[:, None] - values)
    assert most_diverse(alike, 1) == [
        1
    ]  # 1 and 2 are as central as each other: the first
    assert most_diverse(alike, 3) == [1, 3, 0]
    assert most_diverse(alike, 3, first=0) == [0, 3, 2]
    assert sorted(most_diverse(alike, 9)) == [0, 1, 2, 3]


def test_similarity_is_chrf_in_both_directions_and_equal_texts_count_once() -> None:
    texts = [
        "A cat sat here.",
        "A cat  sat here.",
        "Ships sail far away.",
        "A cat sat there.",
    ]
    result = similarities(texts)
    assert np.array_equal(result, result.T) and result[0, 2] < 0.3 < result[0, 3]
    assert diverse(texts, 2, first=0) == [0, 2]
    assert diverse(texts, 4, first=1) == [1, 2, 3]  # the first text is the second again
