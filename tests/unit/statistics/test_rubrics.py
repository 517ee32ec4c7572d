"""Rubrics: a table by hand, HealthBench's number, unread criteria, a blind grader."""

from typing import Any

import numpy as np
import pytest

from judgescope.methods.rubric_numbers import (
    NOT_UNMET,
    Rubric,
    RubricNumber,
    expert_numbers,
    grader_numbers,
)
from judgescope.statistics.arrays import Floats
from judgescope.statistics.intervals import deletions
from judgescope.statistics.rubrics import (
    RubricCases,
    mean_score,
    on_pairs,
    order_kept,
    rubric_scores,
)
from judgescope.statistics.slices import worst_slice
from planted_study import benchmark

rubrics = benchmark("planted_rubrics")

# Three responses, four criteria (the last one a fault), two experts.
POINTS = np.array([5.0, 3.0, 2.0, -4.0])
FIRST = [[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
SECOND = [[1, 0, 0, 0], [1, 0, 1, 1], [0, 1, 1, 1]]
GRADER = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, np.nan, 1]]


def cases_of(
    experts: Any, grader: Any, points: Floats = POINTS, *, systems: int = 1
) -> RubricCases:
    """Return complete responses × criteria, each response with its own source."""
    labels = np.array(experts, dtype=np.float64)
    responses, criteria = labels.shape[1:]
    return RubricCases(
        response=np.repeat(np.arange(responses), criteria),
        criterion=np.tile(np.arange(criteria), responses),
        points=np.tile(points, responses),
        experts=labels.reshape(len(labels), -1),
        grader=np.array(grader, dtype=np.float64).ravel(),
        source=np.arange(responses) // systems,
        system=np.arange(responses) % systems,
    )


def rubric_of(cases: RubricCases, **more: Any) -> Rubric:
    criteria = [f"c{code}" for code in range(int(cases.criterion.max()) + 1)]
    fields: dict[str, Any] = {
        "criteria": criteria,
        "systems": [f"s{code}" for code in range(int(cases.system.max()) + 1)],
        "themes": [""] * len(criteria),
        "shuffle": lambda: np.random.default_rng(1),
        "slots": False,
        "sources": int(cases.source.max()) + 1,
    }
    return Rubric(cases, **fields | more)


def planted(
    rng: np.random.Generator,
    *,
    sources: int = 60,
    systems: int = 3,
    criteria: int = 8,
    blind: int | None = None,
) -> RubricCases:
    """Return two experts and a grader who each err in a tenth of the cases; the grader
    guesses on the criterion `blind`.
    """
    shape = (sources * systems, criteria)
    truth = rng.random(shape) < 0.6
    three = [truth ^ (rng.random(shape) < 0.1) for _ in range(3)]
    if blind is not None:
        three[2][:, blind] = rng.random(shape[0]) < 0.6
    points = rng.integers(1, 10, criteria).astype(float)
    points[-1] = -5.0
    return cases_of(three[:2], three[2], points, systems=systems)


def value(
    numbers: list[RubricNumber], statistic: str, criterion: int | None = None
) -> float:
    values = [
        number.estimate.value
        for number in numbers
        if (number.statistic, number.criterion, number.system)
        == (statistic, criterion, None)
    ]
    assert len(values) == 1 and values[0] is not None
    return values[0]


def named(numbers: list[RubricNumber]) -> int | None:
    """Return the criterion that is named as worse than the rest."""
    gaps: dict[int, float] = {}
    p: dict[int, float] = {}
    for number in numbers:
        if number.criterion is None or number.estimate.value is None:
            continue
        if number.statistic.startswith("slice_gap_"):
            gaps[number.criterion] = number.estimate.value
        elif number.statistic.startswith("slice_p_holm_"):
            p[number.criterion] = number.estimate.value
    codes = [*p]
    worst = worst_slice(
        np.array([gaps[code] for code in codes]), np.array([p[code] for code in codes])
    )
    return None if worst is None else codes[worst]


def test_scores_of_a_table_by_hand() -> None:
    cases = cases_of([FIRST, SECOND], GRADER)
    experts = cases.scores(cases.expert_labels)
    # (5 + 1.5)/10, (5 + 1 - 4)/10, (3 + 2 - 2)/10
    assert experts == pytest.approx([0.65, 0.2, 0.3])
    # (5 + 3)/10, (5 + 3)/10, (3 - 4)/8: the unread criterion is in neither sum
    assert cases.scores(cases.grader) == pytest.approx([0.8, 0.8, -1 / 8])
    as_unmet = cases.scores(np.nan_to_num(cases.grader))
    assert as_unmet == pytest.approx([0.8, 0.8, -0.1])


def test_agreement_of_a_table_by_hand() -> None:
    cases = cases_of([FIRST, SECOND], GRADER)
    result = on_pairs(cases.grader_pairs, cases.case_source, deletions(3))
    # Eleven cases were read, each with two labels: 11 of them met, 11 unmet.
    assert result["rubric_tpr"].estimate.n == 11
    assert result["rubric_tpr"].estimate.value == pytest.approx(8 / 11)
    assert result["rubric_tnr"].estimate.value == pytest.approx(7 / 11)
    assert result["rubric_f1"].estimate.n_missing == 2
    among = on_pairs(cases.expert_pairs, cases.case_source, None)
    # The experts differ in 3 of 12 cases, seen from either side.
    assert among["rubric_kappa"].estimate.n == 24
    assert among["rubric_tpr"].estimate.value == pytest.approx(10 / 13)


def test_macro_f1_is_that_of_scikit_learn_over_labels_of_experts() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    cases = planted(np.random.default_rng(3))
    pairs = cases.grader_pairs
    observed = on_pairs(pairs, cases.case_source, None)
    oracle = metrics.f1_score(pairs.truth, pairs.verdict, average="macro")
    assert observed["rubric_f1"].estimate.value == pytest.approx(oracle, abs=1e-12)
    oracle = metrics.balanced_accuracy_score(pairs.truth, pairs.verdict)
    result = observed["rubric_balanced_accuracy"].estimate
    assert result.value == pytest.approx(oracle, abs=1e-12)
    assert result.n == 2 * cases.response.size


def test_points_times_ten_change_nothing() -> None:
    cases = planted(np.random.default_rng(4))
    tenfold = cases.with_points(10 * cases.points)
    for numbers in (expert_numbers, grader_numbers):
        values = [*numbers(rubric_of(cases))]
        other = [*numbers(rubric_of(tenfold))]
        assert [number.estimate for number in values] == [
            number.estimate for number in other
        ]


def test_order_of_cases_changes_nothing() -> None:
    cases = planted(np.random.default_rng(5))
    order = np.random.default_rng(6).permutation(cases.response.size)
    moved = RubricCases(
        cases.response[order],
        cases.criterion[order],
        cases.points[order],
        cases.experts[:, order],
        cases.grader[order],
        cases.source,
        cases.system,
    )
    by_key = {
        number[:1] + number[3:]: number for number in grader_numbers(rubric_of(cases))
    }
    for number in grader_numbers(rubric_of(moved)):
        first = by_key[number[:1] + number[3:]].estimate.value
        assert number.estimate.value == (
            None if first is None else pytest.approx(first, abs=1e-12)
        )


def test_criteria_unread_at_random_leave_the_score() -> None:
    rng = np.random.default_rng(7)
    cases = planted(rng)
    full = mean_score(cases.scores(cases.grader), cases.source, deletions(60))
    low, high = full.estimate.ci_low, full.estimate.ci_high
    assert low is not None and high is not None and full.estimate.value is not None
    unread = np.where(rng.random(cases.grader.size) < 0.2, np.nan, cases.grader)
    some = RubricCases(
        cases.response, cases.criterion, cases.points, cases.experts, unread,
        cases.source, cases.system,
    )  # fmt: skip
    numbers = [*grader_numbers(rubric_of(some))]
    left_out = value(numbers, "rubric_score")
    assert abs(left_out - full.estimate.value) < (high - low) / 2
    assert value(numbers, "rubric_score_unmet") < left_out - 0.05
    assert value(numbers, "rubric_unread") == pytest.approx(0.2, abs=0.05)
    notes = [
        number.estimate.note
        for number in numbers
        if number.statistic == "rubric_score_unmet"
    ]
    assert all(NOT_UNMET in note for note in notes)


def test_what_is_read_has_no_warning() -> None:
    numbers = [*grader_numbers(rubric_of(planted(np.random.default_rng(8))))]
    assert value(numbers, "rubric_unread") == 0
    assert not any(NOT_UNMET in number.estimate.note for number in numbers)


def test_a_fellow_expert_is_as_good_as_one_more() -> None:
    numbers = [*grader_numbers(rubric_of(planted(np.random.default_rng(9))))]
    assert abs(value(numbers, "as_rater_rubric_f1")) < 0.03
    assert value(numbers, "rubric_order") >= 0
    assert abs(value(numbers, "rubric_error")) < 0.03
    spearman = value(numbers, "normal_scores")
    assert 0.5 < spearman < 1


def test_a_criterion_always_met_says_nothing() -> None:
    cases = planted(np.random.default_rng(10))
    mine = cases.criterion == 2
    cases.experts[:, mine] = 1.0
    cases.grader[mine] = 1.0
    numbers = [*grader_numbers(rubric_of(cases))]
    criterions = [
        number.criterion
        for number in numbers
        if number.estimate.note.startswith("says nothing")
    ]
    assert criterions == [2]
    skipped = [
        number.estimate.note
        for number in numbers
        if number.compared and number.estimate.value is None
    ]
    assert skipped == ["skipped: experts use one label"]


def test_a_criterion_only_the_grader_understands() -> None:
    rng = np.random.default_rng(11)
    cases = planted(rng)
    mine = cases.criterion == 1
    cases.experts[:, mine] = rng.random((2, mine.sum())) < 0.5
    stable = dict.fromkeys(range(8), 0.9)
    numbers = [*grader_numbers(rubric_of(cases), stable)]
    criterions = [
        number.criterion
        for number in numbers
        if number.estimate.note.startswith("only the judge understands")
    ]
    assert criterions == [1]
    unstable = [*grader_numbers(rubric_of(cases), dict.fromkeys(range(8), 0.5))]
    assert not any("only the judge" in number.estimate.note for number in unstable)


def test_a_criterion_that_repeats_another_is_redundant() -> None:
    cases = planted(np.random.default_rng(12))
    cases.experts[:, cases.criterion == 3] = cases.experts[:, cases.criterion == 0]
    numbers = [*expert_numbers(rubric_of(cases))]
    pairs = [number for number in numbers if number.statistic == "criterion_phi"]
    assert [number.criterion for number in pairs] == [0]
    assert pairs[0].estimate.note == "redundant with c3"


def test_themes_are_compared_with_the_rest() -> None:
    cases = planted(np.random.default_rng(13), blind=2)
    themes = ["tone", "tone", "risk", "tone", "tone", "tone", "tone", "tone"]
    numbers = [*grader_numbers(rubric_of(cases, themes=themes))]
    gap = {
        number.theme: number.estimate
        for number in numbers
        if number.statistic.startswith("slice_gap_") and number.theme
    }
    assert gap["risk"].ci_high is not None and gap["risk"].ci_high < 0


def test_unrated_responses_have_a_corrected_mean() -> None:
    cases = planted(np.random.default_rng(14), sources=80)
    cases.experts[:, cases.case_source >= 40] = np.nan
    # A lenient grader: a fifth of what it would call unmet is met.
    lenient = np.random.default_rng(15).random(cases.grader.size) < 0.2
    cases.grader[lenient & (cases.points > 0)] = 1.0
    by_name: dict[str, float] = {}
    for number in grader_numbers(rubric_of(cases)):
        if number.system == 0 and number.estimate.value is not None:
            by_name[number.statistic] = number.estimate.value
    truth = mean_score(
        cases.scores(cases.expert_labels)[cases.system == 0],
        cases.source[cases.system == 0],
        None,
    ).estimate.value
    assert truth is not None
    assert abs(by_name["corrected_mean"] - truth) < 0.04
    assert by_name["uncorrected_mean"] > truth + 0.05


def test_a_single_expert_has_no_ceiling() -> None:
    cases = cases_of([FIRST], GRADER)
    notes = [number.estimate.note for number in expert_numbers(rubric_of(cases))]
    assert any("no case has the labels of two experts" in note for note in notes)
    names = [number.statistic for number in grader_numbers(rubric_of(cases))]
    assert not any(name.startswith("as_rater") for name in names)


def test_no_positive_points_have_no_score() -> None:
    scores = rubric_scores(np.array([1.0]), np.array([-1.0]), np.array([0]), 1)
    assert np.isnan(scores).all()
    assert mean_score(scores, np.array([0]), None).estimate.value is None


def test_ties_of_systems_are_half() -> None:
    same = order_kept(np.array([0.1, 0.1]), np.array([0.1, 0.2]))
    assert (same.value, same.n, same.n_tied) == (0.5, 1, 1)
    assert order_kept(np.array([0.1, np.nan]), np.array([0.1, 0.2])).value is None


@pytest.mark.simulation
def test_a_grader_blind_to_a_single_criterion_is_detected() -> None:
    """50 studies: named in at least 45 (.95 is not refuted), in vain in at most 5."""
    rng = np.random.default_rng(20261201)
    hits = 0
    vain = 0
    for _ in range(50):
        hits += named([*grader_numbers(rubric_of(planted(rng, blind=4)))]) == 4
        vain += named([*grader_numbers(rubric_of(planted(rng)))]) is not None
    assert hits >= 45
    assert vain <= 5


@pytest.mark.simulation
@pytest.mark.parametrize("defect", [rubrics.LENIENT, rubrics.HARSH], ids=str)
def test_a_lenient_or_harsh_grader_is_named(defect: Any) -> None:
    """20 studies: found in at least 17 (.95 is not refuted)."""
    detected = 0
    for study in range(20):
        planted_rubric = rubrics.rubric(f"test {study}", defect, defect.stated)
        detected += defect.name in rubrics.names_of([*grader_numbers(planted_rubric)])
    assert detected >= 17
