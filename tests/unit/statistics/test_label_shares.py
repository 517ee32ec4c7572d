"""Recall, precision and balanced accuracy of labels, with intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from deleted import jackknife_t, proportion
from judgescope.statistics.intervals import TOO_FEW, clopper_pearson, deletions
from judgescope.statistics.labels import (
    FEWEST_CASES,
    by_label,
    on_labels,
    strict_majority,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import Replicated
from judgescope.statistics.result import REASONS, Estimate

TOGETHER = ("f1", "f1_macro", "balanced_accuracy", "mcc", "ac1", "kappa_nominal")
"""The statistics that rest on all labels."""


NAN = float("nan")


Floats = NDArray[np.float64]


def texts_of(table: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
    """Return people's and the judge's labels of a table of counts, people's in its
    rows.
    """
    counts = np.array(table)
    people, judge = np.indices(counts.shape)
    return (
        np.repeat(side.ravel(), counts.ravel()).astype(float)
        for side in (people, judge)
    )  # type: ignore[return-value]


def estimates_of(
    table: Sequence[Sequence[int]], *, interval: bool = False
) -> dict[str, Estimate]:
    gold, predicted = texts_of(table)
    weights = deletions(gold.size) if interval else None
    by_statistic = on_labels(gold, predicted, len(table), np.arange(gold.size), weights)
    return {name: number.estimate for name, number in by_statistic.items()}


def values(table: Sequence[Sequence[int]]) -> dict[str, float | None]:
    return {name: each.value for name, each in estimates_of(table).items()}


def test_a_judge_that_passes_all_good_and_two_fifths_of_the_bad_answers() -> None:
    result = values([[12, 8], [0, 40]])
    accuracy, chance = 52 / 60, (20 * 12 + 40 * 48) / 3600
    positive = 88 / 120
    tied = 2 * positive * (1 - positive)
    assert result == pytest.approx(
        {
            "tpr": 1.0,
            "tnr": 0.6,
            "precision": 40 / 48,
            "npv": 1.0,
            "label_accuracy": accuracy,
            "base_rate": 40 / 60,
            "f1": 80 / 88,
            "f1_macro": (24 / 32 + 80 / 88) / 2,
            "balanced_accuracy": 0.8,
            "mcc": (12 * 40 - 0) / (20 * 40 * 12 * 48) ** 0.5,
            "kappa_nominal": 1 - (1 - accuracy) / (1 - chance),
            "ac1": (accuracy - tied) / (1 - tied),
        }
    )


def test_of_three_labels_the_means_are_over_those_that_people_use() -> None:
    table = [
        [4, 1, 0],
        [2, 3, 1],
        [0, 0, 0],
    ]  # nobody but the judge ever says the third
    result = values(table)
    assert set(result) == {"label_accuracy", *TOGETHER}
    assert result["balanced_accuracy"] == pytest.approx((4 / 5 + 3 / 6) / 2)
    assert result["f1"] == pytest.approx((8 / 11 + 6 / 10) / 2)
    assert result["f1_macro"] == pytest.approx((8 / 11 + 6 / 10 + 0) / 3)
    people, judge, n, right = np.array([5, 6, 0]), np.array([6, 4, 1]), 11, 7
    shared = n * right - people @ judge
    assert result["mcc"] == pytest.approx(
        shared / ((n**2 - people @ people) * (n**2 - judge @ judge)) ** 0.5
    )
    share = (people + judge) / (2 * n)
    chance = float(share @ (1 - share)) / 2
    assert result["ac1"] == pytest.approx((right / n - chance) / (1 - chance))


def test_each_label_has_a_separate_recall_precision_and_share() -> None:
    gold, predicted = texts_of([[4, 1, 0], [2, 3, 1], [0, 0, 0]])
    result = by_label(gold, predicted, 3, np.arange(11), None)
    assert {k: number.estimate.value for k, number in result.items()} == {
        ("label_recall", 0): pytest.approx(4 / 5),
        ("label_precision", 0): pytest.approx(4 / 6),
        ("label_share", 0): pytest.approx(5 / 11),
        ("label_recall", 1): pytest.approx(3 / 6),
        ("label_precision", 1): pytest.approx(3 / 4),
        ("label_share", 1): pytest.approx(6 / 11),
        ("label_recall", 2): None,
        ("label_precision", 2): 0.0,
        ("label_share", 2): 0.0,
    }
    assert result["label_recall", 2].estimate.note == REASONS.label_not_given
    assert [result["label_recall", k].estimate.n for k in range(3)] == [5, 6, 0]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (
            [[0, 0], [3, 7]],
            {
                "tnr": REASONS.label_not_given,
                "balanced_accuracy": REASONS.label_not_given,
            },
        ),
        (
            [[0, 0], [0, 7]],
            {
                "npv": REASONS.label_not_used,
                "kappa_nominal": REASONS.one_label,
                "mcc": REASONS.one_label,
            },
        ),
        (
            [[2, 0], [7, 0]],
            {"precision": REASONS.label_not_used, "mcc": REASONS.one_label},
        ),
        (
            [[4, 0], [0, 0]],
            {"tpr": REASONS.label_not_given, "f1": REASONS.label_not_given},
        ),
        (
            [[0, 0], [0, 0]],
            {
                "label_accuracy": REASONS.nothing,
                "base_rate": REASONS.nothing,
                "ac1": REASONS.nothing,
            },
        ),
    ],
)
def test_without_a_denominator_there_is_a_reason_and_no_number(
    table: list[list[int]], why: dict[str, str]
) -> None:
    result = estimates_of(table)
    assert {name: (result[name].value, result[name].note) for name in why} == {
        name: (None, reason) for name, reason in why.items()
    }


def test_what_is_no_label_is_an_error_and_what_is_missing_is_counted() -> None:
    with pytest.raises(ValueError, match="1 labels"):
        on_labels(np.zeros(3), np.zeros(3), 1, np.arange(3), None)
    with pytest.raises(ValueError, match="value 2 is not one of"):
        on_labels(np.array([0.0, 1]), np.array([0.0, 2]), 2, np.arange(2), None)
    gold, predicted = np.array([1.0, 1, NAN, 0]), np.array([1.0, NAN, 1, 0])
    by_statistic = on_labels(gold, predicted, 2, np.arange(4), None)
    assert {
        (number.estimate.n, number.estimate.n_missing)
        for number in by_statistic.values()
    } == {
        (1, 2),
        (2, 2),
    }
    assert (
        by_statistic["tpr"].estimate.value
        == by_statistic["label_accuracy"].estimate.value
        == 1.0
    )


def clustered(seed: int, labels: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return labels of 30 sources with 1 to 5 texts, whose difficulty differs."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    gold = rng.integers(0, labels, source.size).astype(float)
    right = rng.random(source.size) < rng.beta(4, 1, 30)[source]
    predicted = np.where(right, gold, rng.integers(0, labels, source.size))
    return gold, predicted, source


def value_of(name: str, gold: Floats, predicted: Floats, labels: int) -> float:
    result = on_labels(gold, predicted, labels, np.zeros(gold.size, np.int64), None)[
        name
    ]
    return float(result.rows[0])


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "ac1", "kappa_nominal"])
def test_the_interval_of_all_labels_is_a_jackknife_of_deleted_sources(
    name: str, labels: int
) -> None:
    gold, predicted, source = clustered(7, labels)
    estimate = on_labels(gold, predicted, labels, source, deletions(30))[name].estimate
    used = [
        s
        for s in range(30)
        if name != "f1" or labels > 2 or (gold + predicted)[source == s].any()
    ]  # F1 of two labels does not know the texts that both call negative
    without = [
        value_of(name, gold[source != s], predicted[source != s], labels) for s in used
    ]
    ends = (0.0, 1.0) if name == "f1" else (-1.0, 1.0)
    assert estimate.value is not None
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        jackknife_t(estimate.value, without, ends=ends)
    )


@pytest.mark.parametrize(
    ("name", "case"),
    [("tpr", "gold == 1"), ("tnr", "gold == 0"), ("npv", "predicted == 0")],
)
def test_the_interval_of_a_share_is_exact_at_its_effective_cases(
    name: str, case: str
) -> None:
    gold, predicted, source = clustered(8, 2)
    cases = eval(case, {"gold": gold, "predicted": predicted})
    hits = np.bincount(source, weights=cases & (gold == predicted), minlength=30)
    estimate = on_labels(gold, predicted, 2, source, deletions(30))[name].estimate
    total = np.bincount(source, weights=cases, minlength=30)
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        proportion(hits.tolist(), total.tolist())
    )
    assert estimate.n == total.sum()


def test_a_share_of_one_or_nothing_has_an_interval_and_below_five_sources_none() -> (
    None
):
    result = estimates_of([[5, 0], [4, 40]], interval=True)
    assert (result["tnr"].ci_low, result["tnr"].ci_high) == pytest.approx(
        (0.025**0.2, 1.0)
    )
    assert estimates_of([[4, 0], [4, 40]], interval=True)["tnr"].ci_low is None


@pytest.mark.parametrize(
    ("table", "few", "none"),
    [
        ([[3, 1], [9, 40]], 4, TOGETHER),
        ([[9, 40], [4, 0]], 4, TOGETHER),
        (
            [[20, 0], [9, 3]],
            3,
            ("f1", "f1_macro", "mcc", "ac1", "kappa_nominal"),
        ),  # the judge's alone
    ],
)
def test_a_label_of_few_texts_leaves_a_value_without_an_interval(
    table: list[list[int]], few: int, none: tuple[str, ...]
) -> None:
    assert few < FEWEST_CASES
    gold, predicted = texts_of(table)
    by_statistic = on_labels(
        gold, predicted, 2, np.arange(gold.size), deletions(gold.size)
    )
    for name in none:
        estimate = by_statistic[name].estimate
        assert (
            estimate.value is not None and estimate.ci_low is estimate.ci_high is None
        )
        assert f"give a label to {few} texts, fewer than 5" in estimate.note
        assert by_statistic[name].p_above(0.0) is None  # no claim rests on it
        assert (
            mean_over([by_statistic[name]] * 2, averaged="raters").estimate.note
            == TOO_FEW
        )
    assert {
        name for name in TOGETHER if by_statistic[name].estimate.ci_low is None
    } == {*none}


@pytest.mark.parametrize("labels", [2, 3])
def test_balanced_accuracy_is_a_proportion_of_as_many_texts_as_the_rarest_label_allows(
    labels: int,
) -> None:
    gold, predicted, source = clustered(9, labels)
    each = on_labels(gold, predicted, labels, source, deletions(30))[
        "balanced_accuracy"
    ]
    p, counts = float(each.rows[0]), np.bincount(gold.astype(int))
    total = labels * counts.min()
    held = np.stack(
        [np.bincount(source, gold == k, 30) / counts[k] for k in range(labels)]
    )
    sizes = held.sum(axis=0) * counts.min()
    assert sizes.sum() == pytest.approx(total)
    residual = (p - each.rows[1:]) * (total - sizes)
    deff = max(1.0, 30 / 29 * float(residual @ residual) / total / (p * (1 - p)))
    shrunk = (stats.t.ppf(0.975, total - 1) / stats.t.ppf(0.975, 29)) ** 2
    wanted = clopper_pearson(p, min(total, total / deff * shrunk))
    assert (each.estimate.ci_low, each.estimate.ci_high) == pytest.approx(wanted)


def test_where_all_is_right_the_rarest_label_decides_how_much_that_says() -> None:
    result = estimates_of([[20, 0], [0, 400]], interval=True)
    share = 0.025 ** (1 / 20)
    for name in ("balanced_accuracy", "f1"):
        assert (result[name].ci_low, result[name].ci_high) == pytest.approx(
            (share, 1.0)
        )
    for name in ("mcc", "ac1", "kappa_nominal"):
        assert result[name].ci_low == pytest.approx(share - (1 - share))
    assert "no interval" in estimates_of([[9, 0], [0, 400]], interval=True)["mcc"].note


def test_a_judge_that_says_a_single_thing_is_at_chance_with_an_interval() -> None:
    estimates = estimates_of([[0, 30], [0, 60]], interval=True)["balanced_accuracy"]
    assert (
        estimates.value == 0.5
        and estimates.ci_low is not None
        and estimates.ci_high is not None
    )
    assert estimates.ci_low < 0.4 and estimates.ci_high > 0.6


@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "ac1", "kappa_nominal"])
def test_intervals_are_cut_to_the_range_that_is_declared(name: str) -> None:
    result = estimates_of([[6, 0], [1, 30]], interval=True)
    assert result[name].ci_high == 1.0 == statistic(name).scale.ends[1]


def test_more_than_half_of_the_votes_are_a_majority() -> None:
    votes = np.array(
        [[0, 0, 1, NAN, 2], [0, 1, 1, NAN, 2], [1, 2, NAN, NAN, NAN], [2, 0, 0, 1, 0]]
    )
    assert strict_majority(votes.astype(float), 3) == pytest.approx(
        [NAN, NAN, 1, 1, 2], nan_ok=True
    )
    assert strict_majority(np.array([[NAN], [NAN]]), 3) == pytest.approx(
        [NAN], nan_ok=True
    )
    with pytest.raises(ValueError, match="none of 2 labels"):
        strict_majority(np.array([[2.0]]), 2)


labelled = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 11)),
    min_size=1,
    max_size=60,
)


@given(labelled, st.randoms(use_true_random=False))
def test_the_order_of_texts_and_the_names_of_labels_change_nothing(
    texts: list[tuple[int, int, int]], random: Any
) -> None:
    def label_statistics(
        data: Any, renamed: Sequence[float] = (0, 1, 2)
    ) -> dict[str, Replicated]:
        people, judge, source = np.array(data).T
        names = np.array(renamed, dtype=float)
        return on_labels(names[people], names[judge], 3, source, deletions(12))

    mixed = random.sample(texts, len(texts))
    plain = label_statistics(texts)
    for other in (label_statistics(mixed), label_statistics(texts, (2, 0, 1))):
        for name, number in plain.items():
            assert other[name].rows == pytest.approx(
                number.rows, rel=1e-12, abs=1e-12, nan_ok=True
            )
            assert other[name].estimate.ci_low == pytest.approx(number.estimate.ci_low)


@given(labelled)
def test_values_lie_in_their_range_and_in_their_interval(
    texts: list[tuple[int, int, int]],
) -> None:
    people, judge, source = np.array(texts).T
    for name, on_label in on_labels(
        people.astype(float), judge.astype(float), 3, source, deletions(12)
    ).items():
        estimate, (low, high) = on_label.estimate, statistic(name).scale.ends
        if estimate.value is not None:
            assert low - 1e-12 <= estimate.value <= high + 1e-12
        if (
            estimate.ci_low is not None
            and estimate.ci_high is not None
            and estimate.value is not None
        ):
            assert low <= estimate.ci_low <= estimate.value + 1e-12
            assert estimate.value - 1e-12 <= estimate.ci_high <= high
