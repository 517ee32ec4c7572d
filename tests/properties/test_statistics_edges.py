"""Statistics at their edges: counts beside a value, few deletions, what just counts."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deleted import proportion as clustered
from judgescope.scoring.ensembles import outliers
from judgescope.statistics import intervals
from judgescope.statistics.accuracy import acc_eq
from judgescope.statistics.alt_test import alternative_annotator
from judgescope.statistics.anchors import (
    anchor_costs,
    balanced,
    choose_anchors,
    comparator_accuracy,
    estimated_ratings,
    most_diverse,
)
from judgescope.statistics.classes import are_classes
from judgescope.statistics.comparison import detectable, difference, ranks
from judgescope.statistics.confusion import expectations, match_votes, vote_consistency
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import independent_mean, mean_over
from judgescope.statistics.order import first_position_rate, order_consistency, verdicts
from judgescope.statistics.permutation import mean_test
from judgescope.statistics.raters import ceilings
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate
from judgescope.statistics.spans import verdict_shares

NAN = float("nan")
Floats = NDArray[np.float64]


@pytest.fixture
def two_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give intervals to what has two sources, so that they can be computed by hand."""
    monkeypatch.setattr(intervals, "FEWEST_SOURCES", 2)
    monkeypatch.setattr(intervals, "FEWEST_CLUSTERS", 2)
    monkeypatch.setattr(intervals, "LEAST_EVEN", 1)


def rows(*values: float, n: int = 4, missing: int = 0) -> Replicated:
    """Return a statistic with the replicates that follow its value."""
    result = Estimate(values[0], n=n, n_missing=missing)
    return Replicated(result, np.array(values), np.ones(len(values) - 1))


# --- the alternative annotator ---


def test_too_few_sources_are_reported_with_their_number() -> None:
    ratings = np.array([[1.0, 2, 3, 4], [1, 2, 3, NAN], [1, 3, 3, 3]])
    source = np.array([0, 0, 1, 1])
    result = alternative_annotator(
        np.array([1.0, 2, 3, 4]), ratings, source, weights=None, closeness="accuracy"
    )
    # of 12 pairs of target and rater the second rater's last is missing
    for estimate in result:
        assert (estimate.value, estimate.note, estimate.n, estimate.n_missing) == (
            None,
            REASONS.few_sources,
            3,
            1,
        )


def test_a_last_source_without_a_target_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 4, (3, 24)).astype(float)
    judge, source = rng.integers(1, 4, 24).astype(float), np.repeat(np.arange(6), 4)
    keys = {"closeness": "rmse"}
    short = alternative_annotator(judge, ratings, source, weights=deletions(6), **keys)  # type: ignore[arg-type]
    longer = alternative_annotator(  # a seventh source is deleted, and it has no text
        judge,
        ratings,
        source,
        weights=deletions(7),
        **keys,  # type: ignore[arg-type]
    )
    assert longer == short


def test_a_target_that_no_other_rater_rated_is_left_out() -> None:
    ratings = np.array([[1.0, 2, 3, 4], [NAN, 2, 3, 4], [NAN, 2, 3, 4]])
    rate, advantage = alternative_annotator(
        np.array([5.0, 2, 3, 4]), ratings, np.arange(4), weights=None, closeness="rmse"
    )
    # the judge's 5 is compared with nobody: it is as near as each rater on the other
    # three
    assert (advantage.value, advantage.n, advantage.n_missing) == (1, 9, 3)
    assert (rate.value, rate.n) == (1, 3)


# --- anchors ---


def test_costs_are_of_classes_in_any_numbers() -> None:
    human = np.array([[1.0, 2], [1, NAN]])
    assert anchor_costs(human, None, [1, 2]).tolist() == [[0, 1], [1, 0]]
    # people 1 and 1, a judge 2: |1 - r| + |2 - r| + |1 - 2|
    judged = np.array([[2.0, 2.0]])
    assert anchor_costs(human, judged, [1, 2]).tolist() == [[2, 2], [2, 0]]


def test_costs_that_differ_by_more_than_round_off_are_not_equal() -> None:
    costs = np.array([[0.4], [0.3], [0.3 + 1e-12]])
    sources = np.zeros(3, dtype=np.int64)
    assert choose_anchors(costs, sources, ["a", "c", "b"], 3) == [[2, 1, 0]]
    assert choose_anchors(costs, sources, ["a", "c", "b"], 1) == [[2]]


def test_an_unresolved_text_has_no_margin_and_another_its_lead() -> None:
    # two ratings with an anchor each: better than the first, worse than the second; all
    # ties; one without an answer
    outcomes = np.array(
        [[[1.0], [-1.0]], [[0.0], [0.0]], [[1.0], [NAN]], [[1.0], [1.0]]]
    )
    result = estimated_ratings(outcomes, np.zeros((4, 2)))
    assert result.rating.tolist() == [0, -1, -1, 1]
    # the fourth: rating 1 is -1 + 1 + 0, rating 2 is -1 + 1 + 1
    assert result.margin.tolist() == [0, 0, 0, 1]
    assert result.tied.tolist() == [True, False, False, False]


def test_ties_go_by_the_terms_of_each_text_not_of_all() -> None:
    outcomes = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    result = estimated_ratings(outcomes, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert result.rating.tolist() == [1, 0]


def test_a_comparator_s_ties_and_missing_answers_are_counted() -> None:
    outcomes, better = (
        np.array([1.0, 0, NAN, -1, 0, 1]),
        np.array([1.0, 1, 1, 1, -1, -1]),
    )
    used = np.array([True, True, True, True, True, False])
    result = comparator_accuracy(outcomes, better, used)
    assert (result.value, result.n, result.n_missing, result.n_tied) == (1 / 5, 5, 1, 2)
    none = comparator_accuracy(outcomes, better, np.zeros(6, dtype=bool))
    assert none.note == "no pair of anchors"
    sources = np.zeros((2, 6), dtype=np.int64)
    assert comparator_accuracy(outcomes, better, used, sources).ci_low is None


@pytest.mark.usefixtures("two_are_enough")
def test_a_deletion_takes_out_the_pairs_of_its_source() -> None:
    outcomes, better = np.array([1.0, -1, 1, 1, -1, 1]), np.ones(6)
    sources = np.array([[0, 0, 1, 2, 2, 0], [0, 1, 1, 2, 1, 2]])
    # without 0 the pairs 2, 3, 4 are left; without 1 those of 0, 3, 5; without 2 those
    # of 0, 1, 2
    result = comparator_accuracy(
        outcomes, better, np.ones(6, dtype=bool), sources, deletions(3)
    )
    assert result.value == pytest.approx(4 / 6)
    # one deletion is 1, so that it is the proportion with residuals (p - v)(N - m)
    deleted, m = (
        [2 / 3, 1.0, 2 / 3],
        [2.0, 2.0, 2.0],
    )  # a pair of two sources counts half to each
    squares = sum(
        ((2 / 3 - v) * (6 - own_part)) ** 2
        for v, own_part in zip(deleted, m, strict=True)
    )
    deff = 3 / 2 * squares / 6 / (2 / 9)
    n = 6 / deff * float(stats.t.ppf(0.975, 5) / stats.t.ppf(0.975, 2)) ** 2
    expected = [
        stats.beta.ppf(q, 2 / 3 * n + up, n / 3 + 1 - up)
        for q, up in ((0.025, 0), (0.975, 1))
    ]
    assert (result.ci_low, result.ci_high) == pytest.approx(expected)


def test_texts_are_chosen_from_the_first_rating_on_and_not_beyond_what_is_wanted() -> (
    None
):
    rating, margin = (
        np.array([0, 0, 1, 1, 2, -1]),
        np.array([0.1, 0.9, 0.5, 0.5, 0.2, 1.0]),
    )
    order = ["a", "b", "d", "c", "e", "f"]
    assert balanced(rating, margin, order, 1) == [1]
    assert balanced(rating, margin, order, 1, first=1) == [3]
    assert balanced(rating, margin, order, 2, first=2) == [1, 4]
    assert balanced(rating, margin, order, 4) == [0, 1, 3, 4]
    assert balanced(rating, margin, order, 9) == [0, 1, 2, 3, 4]


def test_a_text_is_at_no_distance_from_itself() -> None:
    # what the diagonal holds does not matter: distances .5 and .1, .5 and .2, .1 and .2
    similar = np.array([[0.3, 0.5, 0.9], [0.5, 0.0, 0.8], [0.9, 0.8, 1.0]])
    assert most_diverse(similar, 3) == [2, 1, 0]
    assert most_diverse(similar, 2, first=0) == [0, 1]


# --- ceilings, comparisons ---


def test_a_ceiling_names_what_raters_stand_against() -> None:
    ratings = np.array([[1.0, 2, 3], [1, 3, 2]])

    def gap(x: Floats, y: Floats) -> dict[str, Replicated]:
        return {"gap": rows(float(np.abs(x - y).sum()))}

    mean = ceilings(gap, ratings, against="mean")["gap"]
    each = ceilings(gap, ratings, against="each")["gap"]
    assert mean.method == "each rater against the mean of the others"
    assert each.method == "each rater against every other"
    assert (
        (mean.value, mean.ci_low, mean.note)
        == (2, None, "")
        == (each.value, each.ci_low, each.note)
    )


def test_a_difference_needs_replicates_for_its_interval() -> None:
    assert difference(rows(3.0), rows(1.0)).estimate == Estimate(2, n=4)
    none = Replicated(Estimate.undefined("no", n=3, n_missing=1), np.array([NAN]))
    lost = difference(rows(3.0), none, why="no").estimate
    assert lost == Estimate.undefined("no", n=3, n_missing=1)
    estimate = difference(rows(3.0, 3.0), rows(1.0, 2.0)).estimate
    assert estimate.value == 2 and (estimate.ci_low, estimate.note) != (None, "")


def test_an_undefined_judge_has_no_rank_among_those_that_are_counted() -> None:
    result = ranks(np.array([[0.5, 0.4], [NAN, 0.9], [0.7, NAN]]), 9)
    assert result[1] == Estimate.undefined(REASONS.undefined_judge, n=2)
    assert [each.value for each in result] == [2, None, 1] and {
        each.n for each in result
    } == {2}


def test_what_could_be_seen_is_a_multiple_of_the_jackknife_error() -> None:
    flat = rows(*[0.0] * 101)
    assert detectable(rows(1.0), rows(0.0)) is None
    assert detectable(rows(0.0, 1.0), rows(0.0, 0.0)) is None
    spread = rows(0.0, *np.linspace(-1, 1, 100))
    # of 100 values 2/99 apart the squares sum to (2/99)² 100 (100² - 1) / 12; SE² =
    # 99/100 of it
    error = (2 / 99) * (100 * (100**2 - 1) / 12 * 99 / 100) ** 0.5
    z = 1.959963985 + 0.841621234
    assert detectable(spread, flat) == pytest.approx(z * error)
    assert detectable(flat, flat) == 0


# --- classes, means ---


def test_values_are_classes_whatever_is_missing() -> None:
    assert are_classes(np.array([1.0, NAN, 3.0]), [3, 1, 2])
    assert not are_classes(np.array([1.0, NAN, 2.5]), [1, 2, 3])
    assert are_classes(np.array([NAN]), [1, 2]) and are_classes(
        np.array([1 + 1e-12]), [1]
    )


def test_a_mean_of_what_has_no_replicates_has_no_interval() -> None:
    estimate = mean_over([rows(1.0), rows(2.0)], averaged="aspects")
    assert estimate.estimate == Estimate(1.5, n=2, method="mean over aspects")
    assert estimate.rows.tolist() == [1.5]
    lost = mean_over(
        [rows(1.0, 1.0), Replicated(Estimate.undefined("x"), np.array([NAN, 1]))],
        averaged="a",
    )
    assert (
        np.isnan(lost.rows).all() and lost.estimate.note == "undefined on 1 of 2 a: x"
    )
    assert lost.estimate.n == 1


def test_the_method_of_an_independent_mean_is_reported() -> None:
    each = [Estimate(1, ci_low=0.7, ci_high=1.3), Estimate(2, ci_low=1.6, ci_high=2.4)]
    result = independent_mean(each, averaged="data sets")
    assert (
        result.method == "mean over data sets; variance estimates recovery"
        and result.n == 2
    )
    # sqrt(.3² + .4²) / 2 = .25
    assert (result.value, result.ci_low, result.ci_high) == pytest.approx(
        (1.5, 1.25, 1.75)
    )
    bare = independent_mean(
        [Estimate(1, ci_low=0.7, ci_high=1.3), Estimate(2)], averaged="data sets"
    )
    note = "no interval on 1 of 2 data sets"
    assert bare == Estimate(1.5, n=2, method="mean over data sets", note=note)


def test_an_outlier_is_two_deviations_and_a_single_point_away() -> None:
    # 0 0 0 0 1: n k - S = 4, 4² >= 4 (5 - 1), and 4/5 of a point is less than one
    assert outliers([0, 0, 0, 0, 1]) == [False] * 5
    assert outliers([0, 0, 0, 0, 2]) == [False] * 4 + [True]
    assert outliers([0, 0, 0, 0, Fraction(3, 2)]) == [False] * 4 + [True]
    assert outliers([0, 0, 0, 0, 5]) == [False] * 4 + [True]
    # six members at 0 and 3 at 2: (9 * 2 - 6)² = 144 < 4 (9 * 12 - 36) = 288
    assert outliers([0] * 6 + [2] * 3) == [False] * 9


# --- votes ---


def test_a_single_vote_is_a_verdict_and_none_is_not() -> None:
    votes = [
        np.array(column)
        for column in ([1, 0, 0, 0, 2], [0, 1, 0, 0, 2], [0, 0, 1, 0, 0])
    ]
    result = verdicts(*votes)
    assert result[:3].tolist() == [1, -1, 0] and np.isnan(result[3]) and result[4] == 0


@pytest.mark.usefixtures("two_are_enough")
def test_the_order_of_two_texts_has_an_interval_over_sources() -> None:
    first, second = np.array([1.0, 1, -1, NAN]), np.array([1.0, -1, 1, 1])
    result = order_consistency(first, second, np.array([0, 0, 1, 1]), deletions(2))
    # of source 0 one of two stays, of source 1 none
    assert (result.value, result.n, result.n_missing) == (1 / 3, 3, 1)
    assert (result.ci_low, result.ci_high) == pytest.approx(clustered([1, 0], [2, 1]))


def test_votes_agree_as_far_as_the_commonest_option_goes() -> None:
    votes = np.array([[2, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    by_statistic = vote_consistency(votes, np.array([0, 0, 1, 1]), None)
    # 2/4, 1/2 and 0; the second is tied, and so is the third: nothing was decided
    assert by_statistic.value == pytest.approx(1 / 3)
    assert (by_statistic.n, by_statistic.n_missing, by_statistic.n_tied) == (3, 1, 2)
    none = vote_consistency(votes[3:], np.zeros(1, dtype=np.int64), None)
    assert (none.value, none.n_missing) == (None, 1)


def test_without_resamples_nothing_is_stated_of_an_interval() -> None:
    votes = np.tile([2, 1, 0, 0], (30, 1))
    by_statistic = vote_consistency(votes, np.arange(30), None)
    assert by_statistic.value == pytest.approx(2 / 3) and (
        by_statistic.ci_low,
        by_statistic.note,
    ) == (
        None,
        "",
    )


def test_the_last_pair_need_not_be_of_the_last_cell() -> None:
    votes = np.array([[3, 0, 0, 0], [0, 3, 0, 0], [2, 1, 0, 0]])
    cell, expected = np.array([0, 1, 0]), np.array([1.0, 1.0])
    result = match_votes(votes, np.arange(3), cell, expected, None)["match_vote_all"]
    assert (result.value, result.n) == (0.5, 2)


def test_cells_that_were_voted_on_and_are_undecided_are_tied() -> None:
    votes = np.array([[1, 1, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0]])
    result = match_votes(votes, np.arange(3), np.arange(3), np.ones(3), None)[
        "match_vote_all"
    ]
    assert (result.value, result.n, result.n_tied) == (0.5, 2, 1)


@pytest.mark.usefixtures("two_are_enough")
def test_pairs_without_votes_can_change_nothing() -> None:
    votes = np.array([[3, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    by_statistic = vote_consistency(votes, np.arange(3), deletions(3))
    assert by_statistic.value == pytest.approx(3 / 4) and by_statistic.n_missing == 1
    assert (by_statistic.ci_low, by_statistic.ci_high) == pytest.approx(
        clustered([1, 1 / 2], [1, 1])
    )
    assert "over 2 pairs" in by_statistic.method


def test_what_nothing_is_expected_of_is_missing() -> None:
    rows = [{"perturbation": "p", "aspect": "a", "human": "1", "expected": ""}]
    result = expectations(rows * 2)
    assert result.agreement == Estimate.undefined(REASONS.no_expectation, n_missing=2)
    assert result.drops == [("p", "a")] * 2 and not result.stays and not result.excluded


def test_undecided_votes_are_for_no_location() -> None:
    result = first_position_rate(
        np.array([1.0, 0, -1, -1, NAN]), np.zeros(5, dtype=np.int64), None
    )
    assert result.value == pytest.approx(1 / 3)
    assert (result.n, result.n_tied, result.n_missing) == (3, 1, 1)


def test_nothing_is_missing_unless_it_is_stated() -> None:
    counts = np.zeros((1, 6, 4), dtype=np.int64)
    counts[0, 0, :2] = 3, 1
    span_ok = verdict_shares(counts, np.zeros(1, dtype=np.int64), None)["span_ok"]
    assert (span_ok.value, span_ok.n, span_ok.n_missing) == (0.75, 4, 0)


def test_what_a_statistic_is_about_says_how_it_is_written() -> None:
    kinds = {
        "edits": "amount",
        "difference_pearson": "correlation",
        "difference_D_avg": "amount",
        "rank_pearson": "amount",
        "p_pearson": "p_value",
    }
    assert {name: statistic(name).kind for name in kinds} == kinds
    with pytest.raises(KeyError, match="edit"):
        statistic("edit")


# --- accuracy ---


def test_an_epsilon_cannot_be_of_other_sources_given_none() -> None:
    x, y = np.array([1.0, 2, 3, NAN]), np.array([1.0, 3, 2, 2])
    result, epsilon = acc_eq(x, y, np.zeros(4, dtype=np.int64), weights=None)
    assert (
        result.estimate == Estimate.undefined(REASONS.no_source, n=1, n_missing=1)
        and epsilon is None
    )


# --- permutations ---


def test_sources_without_a_text_have_flips_that_change_nothing() -> None:
    flips = np.array([[True, False, False], [False, True, True], [True, True, False]])
    first, second = np.array([1.0, 2, 3, 4]), np.array([0.0, 2, 2, 3])
    # the sources' gaps are 1, 2 and none: 3, and after the flips 1, -1 and -3, over
    # four values
    assert mean_test(first, second, np.array([0, 0, 1, 1]), flips) == (
        0.75,
        2 / 4,
        1 / 4,
        4,
    )
