"""Statistics of classes and labels: by hand, undefined ones, intervals, what changes
nothing.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from deleted import jackknife_t, proportion
from judgescope.statistics.classes import (
    cem_floor,
    confusion_counts,
    equal_width,
    on_classes,
)
from judgescope.statistics.intervals import TOO_FEW, clopper_pearson, deletions
from judgescope.statistics.labels import (
    FEWEST_CASES,
    by_label,
    on_labels,
    strict_majority,
)
from judgescope.statistics.means import mean_over
from judgescope.statistics.registry import statistic
from judgescope.statistics.resampling import Replicated, source_weights
from judgescope.statistics.result import REASONS, Estimate
from vectors import params

TOGETHER = ("f1", "f1_macro", "balanced_accuracy", "mcc", "ac1", "kappa_nominal")
"""The statistics that rest on all labels."""
SCALE = [1.0, 2.0, 3.0, 4.0, 5.0]
NAN = float("nan")
classes = st.sampled_from(SCALE)
pairs = st.tuples(classes, classes)


def kappa_linear(*data: Any) -> Estimate:
    return on_classes(*data)["kappa_linear"].estimate


def kappa(gold: Any, predicted: Any, scale: Any = SCALE) -> Estimate:
    gold, predicted = np.array(gold, dtype=float), np.array(predicted, dtype=float)
    return kappa_linear(
        gold, predicted, scale, np.zeros(gold.size, dtype=np.int64), None
    )


def oracle(gold: NDArray[Any], predicted: NDArray[Any]) -> float:
    if np.unique(np.append(gold, predicted)).size < 2:
        return NAN
    return float(cohen_kappa_score(gold, predicted, labels=SCALE, weights="linear"))


@pytest.mark.parametrize(
    ("inputs", "expected", "name"), params("weighted_kappa_linear")
)
def test_vectors(inputs: dict[str, Any], expected: float | None, name: str) -> None:
    found = kappa(inputs["a"], inputs["b"], inputs["classes"])
    if expected is None:
        assert (found.value, found.note) == (None, REASONS.no_variation)
    else:
        assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_by_hand() -> None:
    # (1,1) (1,2) (2,2) (3,1) on 1-3: observed distance (0+1+0+2)/4 = 3/4; margins gold
    # 2/4 1/4 1/4, predicted 2/4 2/4 0: expected (2*2*1 + 1*2*1 + 1*2*2 + 1*2*1)/16 =
    # 12/16; kappa = 1 - 1 = 0
    assert kappa([1, 1, 2, 3], [1, 2, 2, 1], [1, 2, 3]).value == pytest.approx(
        0, abs=1e-12
    )
    # the same without the last pair: 1/3 observed, (2*2*1 + 1*1*1)/9 = 5/9 expected
    assert kappa([1, 1, 2], [1, 2, 2], [1, 2, 3]).value == pytest.approx(1 - 3 / 5)


def test_an_unused_class_keeps_its_place_on_the_scale() -> None:
    gold, predicted = [1, 1, 2, 4, 4], [1, 2, 2, 4, 1]
    full, short = kappa(gold, predicted), kappa(gold, predicted, [1, 2, 4])
    assert full.value == pytest.approx(1 - (4 / 5) / (34 / 25))
    assert full.value != pytest.approx(short.value)


def test_missing_pairs_are_dropped_and_counted() -> None:
    found = kappa([1, 1, 2, NAN, 3], [1, 2, 2, 3, NAN])
    assert (found.n, found.n_missing, found.n_tied) == (3, 2, 0)
    assert found.value == kappa([1, 1, 2], [1, 2, 2]).value


@pytest.mark.parametrize(("gold", "predicted"), [([6, 1], [1, 1]), ([1, 1], [1, 6])])
def test_a_value_outside_the_scale_is_named(
    gold: list[int], predicted: list[int]
) -> None:
    with pytest.raises(ValueError, match=r"value 6 is not one of"):
        kappa(gold, predicted)


def test_undefined_says_why() -> None:
    assert (kappa([3, 3], [3, 3]).value, kappa([3, 3], [3, 3]).note) == (
        None,
        REASONS.no_variation,
    )
    assert (kappa([3], [4]).note, kappa([], []).note) == (
        REASONS.few_pairs,
        REASONS.few_pairs,
    )
    assert kappa([3, 3], [4, 4]).value == 0


def test_confusion_counts_are_per_source() -> None:
    source = np.array([0, 2, 2])
    counts = confusion_counts(
        np.array([1.0, 1, 2]), np.array([2.0, 2, 2]), [1, 2], source, 3
    )
    assert counts.tolist() == [[[0, 1], [0, 0]], [[0, 0], [0, 0]], [[0, 1], [0, 1]]]


@given(st.lists(pairs, min_size=2, max_size=30))
def test_equals_sklearn(table: list[tuple[float, float]]) -> None:
    gold, predicted = (np.array(column) for column in zip(*table, strict=True))
    found = kappa(gold, predicted)
    value = NAN if found.value is None else found.value
    assert value == pytest.approx(oracle(gold, predicted), abs=1e-10, nan_ok=True)


@pytest.mark.simulation
@given(st.lists(pairs, min_size=12, max_size=30), st.randoms(use_true_random=False))
def test_order_of_targets_and_sources_and_direction_of_the_scale(
    table: list[tuple[float, float]], random: Any
) -> None:
    gold, predicted = (np.array(column) for column in zip(*table, strict=True))
    source, weights = np.arange(gold.size) % 12, deletions(12)
    order = random.sample(range(gold.size), gold.size)
    renamed = np.array(random.sample(range(12), 12))
    first = kappa_linear(gold, predicted, SCALE, source, weights)
    second = kappa_linear(
        gold[order], predicted[order], SCALE, renamed[source[order]], weights
    )
    turned = kappa_linear(6 - gold, 6 - predicted, SCALE, source, weights)
    for other in (second, turned):
        assert (other.value, other.n) == (first.value, first.n)
        for end in ("ci_low", "ci_high"):
            assert getattr(other, end) == pytest.approx(getattr(first, end), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_interval_is_that_of_written_out_deletions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = rng.integers(0, 12, 60)
    gold = rng.integers(1, 6, 60).astype(float)
    predicted: NDArray[np.float64] = np.clip(gold + rng.integers(-1, 3, 60), 1, 5)
    gold[rng.integers(0, 60, 4)] = NAN
    there = ~np.isnan(gold)
    kept = [there & (source != s) for s in range(12)]
    deleted = [oracle(gold[own], predicted[own]) for own in kept]
    found = kappa_linear(gold, predicted, SCALE, source, deletions(12))
    value = oracle(gold[there], predicted[there])
    expected = jackknife_t(value, deleted, ends=(-np.inf, 1.0))
    assert (found.ci_low, found.ci_high) == pytest.approx(expected, abs=1e-10)


@given(st.lists(pairs, min_size=2, max_size=40))
def test_the_quadratic_one_equals_scikit_learn(data: list[tuple[float, float]]) -> None:
    gold, predicted = np.array(data).T
    found = on_classes(
        gold, predicted, SCALE, np.zeros(gold.size, dtype=np.int64), None
    )
    value = found["kappa_quadratic"].estimate.value
    if np.unique(data).size < 2:
        assert value is None
    else:
        want = cohen_kappa_score(gold, predicted, labels=SCALE, weights="quadratic")
        assert value == pytest.approx(want, abs=1e-12)


def test_near_misses_weigh_less_when_squared() -> None:
    gold, near, far = [1, 2, 3, 4, 5] * 4, [2, 3, 4, 5, 4] * 4, [5, 2, 3, 4, 1] * 4
    source = np.zeros(20, dtype=np.int64)

    def both(predicted: list[int]) -> list[float | None]:
        found = on_classes(
            np.array(gold, float), np.array(predicted, float), SCALE, source, None
        )
        return [
            found[name].estimate.value for name in ("kappa_linear", "kappa_quadratic")
        ]

    (linear_near, squared_near), (linear_far, squared_far) = both(near), both(far)
    assert linear_near and squared_near and squared_near > linear_near
    assert (
        linear_far is not None and squared_far is not None and squared_far < linear_far
    )


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (range(1, 11), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        (range(1, 6), [1, 2, 3, 4, 5]),
        (range(5), [1, 2, 3, 4, 5]),
        ([0, 1], [2, 4]),
        ([1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5], [1, 1, 2, 2, 3, 4, 4, 5, 5]),
    ],
)
def test_other_scales_fall_into_classes_of_equal_width(
    scale: Any, expected: list[int]
) -> None:
    # 3 of 1 to 10 is value 2 from 0: floor((2 + .5) * 5 / 10) = 1, the second class
    values = np.array([*scale, NAN])
    found = equal_width(values, list(scale), SCALE)
    assert found == pytest.approx([*expected, NAN], nan_ok=True)
    assert equal_width(values[::-1], list(scale)[::-1], SCALE) == pytest.approx(
        found[::-1], nan_ok=True
    )


def test_a_value_off_the_other_scale_is_named() -> None:
    with pytest.raises(ValueError, match=r"value 6 is not one of"):
        equal_width(np.array([6.0]), [1, 2], SCALE)


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def cem(
    gold: Any, predicted: Any, classes: Any = FIVE, weights: Any = None
) -> Estimate:
    gold, predicted = np.array(gold, dtype=float), np.array(predicted, dtype=float)
    source = (
        np.arange(gold.size)
        if weights is not None
        else np.zeros(gold.size, dtype=np.int64)
    )
    return on_classes(gold, predicted, classes, source, weights)["cem_ord"].estimate


@pytest.mark.parametrize(("inputs", "expected", "name"), params("cem_ord"))
def test_cem_vectors(inputs: dict[str, Any], expected: float, name: str) -> None:
    found = cem(inputs["gold"], inputs["pred"], inputs["classes"])
    assert found.value == pytest.approx(expected, rel=1e-9)


def test_cem_by_hand() -> None:
    # gold 1 1 2: prox(1,1) = -log2(1/3), prox(2,2) = -log2(.5/3); 2 for 1: (.5 + 2)/3
    same, other, mixed = np.log2(3), np.log2(6), -np.log2(2.5 / 3)
    assert cem([1, 1, 2], [1, 2, 2], [1, 2]).value == pytest.approx(
        (same + mixed + other) / (2 * same + other)
    )


def test_it_is_one_for_equal_and_undefined_for_one_pair() -> None:
    assert cem(FIVE, FIVE).value == pytest.approx(1)
    assert cem([3, 3, 3], [3, 3, 3]).value == pytest.approx(1)
    assert cem([3], [3]).note == REASONS.few_pairs


@pytest.mark.parametrize(
    "gold", [[1, 2, 3], [1, 1, 1, 2], [1, 3], [2, 2, 2], [1, 2, 2, 3, 3]]
)
def test_the_floor_is_the_least_that_any_classes_reach(gold: list[int]) -> None:
    classes = [1.0, 2.0, 3.0]
    every = (
        cem(gold, list(p), classes).value for p in product(classes, repeat=len(gold))
    )
    least = min(value for value in every if value is not None)
    assert cem_floor(np.array([*gold, np.nan], dtype=float), classes) == pytest.approx(
        least
    )


@pytest.mark.simulation
@given(
    st.lists(
        st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=2, max_size=30
    )
)
def test_it_lies_between_its_floor_and_one_and_turns_with_the_scale(
    data: list[tuple[float, float]],
) -> None:
    gold, predicted = np.array(data).T
    value = cem(gold, predicted).value
    assert value is not None
    assert cem_floor(gold, FIVE) - 1e-12 <= value <= 1 + 1e-12
    assert cem(6 - gold, 6 - predicted).value == pytest.approx(value)


def test_each_replicate_is_the_statistic_of_the_resample_written_out() -> None:
    rng = np.random.default_rng(2)
    gold, predicted = rng.integers(1, 6, (2, 30)).astype(float)
    weights = source_weights(rng, 30, 20)
    rows = on_classes(gold, predicted, FIVE, np.arange(30), weights)["cem_ord"].rows
    for weight, found in zip(weights, rows[1:], strict=True):
        drawn = np.repeat(np.arange(30), weight)
        assert found == pytest.approx(cem(gold[drawn], predicted[drawn]).value)


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


def found(
    table: Sequence[Sequence[int]], *, interval: bool = False
) -> dict[str, Estimate]:
    gold, predicted = texts_of(table)
    weights = deletions(gold.size) if interval else None
    told = on_labels(gold, predicted, len(table), np.arange(gold.size), weights)
    return {name: one.estimate for name, one in told.items()}


def values(table: Sequence[Sequence[int]]) -> dict[str, float | None]:
    return {name: one.value for name, one in found(table).items()}


def test_a_judge_that_passes_all_good_and_two_fifths_of_the_bad_answers() -> None:
    told = values([[12, 8], [0, 40]])
    accuracy, chance = 52 / 60, (20 * 12 + 40 * 48) / 3600
    positive = 88 / 120
    tied = 2 * positive * (1 - positive)
    assert told == pytest.approx(
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
    told = values(table)
    assert set(told) == {"label_accuracy", *TOGETHER}
    assert told["balanced_accuracy"] == pytest.approx((4 / 5 + 3 / 6) / 2)
    assert told["f1"] == pytest.approx((8 / 11 + 6 / 10) / 2)
    assert told["f1_macro"] == pytest.approx((8 / 11 + 6 / 10 + 0) / 3)
    people, judge, n, right = np.array([5, 6, 0]), np.array([6, 4, 1]), 11, 7
    shared = n * right - people @ judge
    assert told["mcc"] == pytest.approx(
        shared / ((n**2 - people @ people) * (n**2 - judge @ judge)) ** 0.5
    )
    share = (people + judge) / (2 * n)
    chance = float(share @ (1 - share)) / 2
    assert told["ac1"] == pytest.approx((right / n - chance) / (1 - chance))


def test_each_label_has_its_own_recall_precision_and_share() -> None:
    gold, predicted = texts_of([[4, 1, 0], [2, 3, 1], [0, 0, 0]])
    told = by_label(gold, predicted, 3, np.arange(11), None)
    assert {k: one.estimate.value for k, one in told.items()} == {
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
    assert told["label_recall", 2].estimate.note == REASONS.label_not_given
    assert [told["label_recall", k].estimate.n for k in range(3)] == [5, 6, 0]


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
    told = found(table)
    assert {name: (told[name].value, told[name].note) for name in why} == {
        name: (None, reason) for name, reason in why.items()
    }


def test_what_is_no_label_is_an_error_and_what_is_missing_is_counted() -> None:
    with pytest.raises(ValueError, match="1 labels"):
        on_labels(np.zeros(3), np.zeros(3), 1, np.arange(3), None)
    with pytest.raises(ValueError, match="value 2 is not one of"):
        on_labels(np.array([0.0, 1]), np.array([0.0, 2]), 2, np.arange(2), None)
    gold, predicted = np.array([1.0, 1, NAN, 0]), np.array([1.0, NAN, 1, 0])
    told = on_labels(gold, predicted, 2, np.arange(4), None)
    assert {(one.estimate.n, one.estimate.n_missing) for one in told.values()} == {
        (1, 2),
        (2, 2),
    }
    assert told["tpr"].estimate.value == told["label_accuracy"].estimate.value == 1.0


def clustered(seed: int, labels: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return labels of 30 sources with 1 to 5 texts, whose difficulty differs."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    gold = rng.integers(0, labels, source.size).astype(float)
    right = rng.random(source.size) < rng.beta(4, 1, 30)[source]
    predicted = np.where(right, gold, rng.integers(0, labels, source.size))
    return gold, predicted, source


def value_of(name: str, gold: Floats, predicted: Floats, labels: int) -> float:
    told = on_labels(gold, predicted, labels, np.zeros(gold.size, np.int64), None)[name]
    return float(told.rows[0])


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "ac1", "kappa_nominal"])
def test_the_interval_of_all_labels_is_a_jackknife_of_deleted_sources(
    name: str, labels: int
) -> None:
    gold, predicted, source = clustered(7, labels)
    one = on_labels(gold, predicted, labels, source, deletions(30))[name].estimate
    used = [
        s
        for s in range(30)
        if name != "f1" or labels > 2 or (gold + predicted)[source == s].any()
    ]  # F1 of two labels does not know the texts that both call negative
    without = [
        value_of(name, gold[source != s], predicted[source != s], labels) for s in used
    ]
    ends = (0.0, 1.0) if name == "f1" else (-1.0, 1.0)
    assert one.value is not None
    assert (one.ci_low, one.ci_high) == pytest.approx(
        jackknife_t(one.value, without, ends=ends)
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
    one = on_labels(gold, predicted, 2, source, deletions(30))[name].estimate
    total = np.bincount(source, weights=cases, minlength=30)
    assert (one.ci_low, one.ci_high) == pytest.approx(
        proportion(hits.tolist(), total.tolist())
    )
    assert one.n == total.sum()


def test_a_share_of_one_or_nothing_has_an_interval_and_below_five_sources_none() -> (
    None
):
    told = found([[5, 0], [4, 40]], interval=True)
    assert (told["tnr"].ci_low, told["tnr"].ci_high) == pytest.approx((0.025**0.2, 1.0))
    assert found([[4, 0], [4, 40]], interval=True)["tnr"].ci_low is None


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
    told = on_labels(gold, predicted, 2, np.arange(gold.size), deletions(gold.size))
    for name in none:
        one = told[name].estimate
        assert one.value is not None and one.ci_low is one.ci_high is None
        assert f"give a label to {few} texts, fewer than 5" in one.note
        assert told[name].p_above(0.0) is None  # no claim rests on it
        assert mean_over([told[name]] * 2, averaged="raters").estimate.note == TOO_FEW
    assert {name for name in TOGETHER if told[name].estimate.ci_low is None} == {*none}


@pytest.mark.parametrize("labels", [2, 3])
def test_balanced_accuracy_is_a_proportion_of_as_many_texts_as_the_rarest_label_allows(
    labels: int,
) -> None:
    gold, predicted, source = clustered(9, labels)
    one = on_labels(gold, predicted, labels, source, deletions(30))["balanced_accuracy"]
    p, counts = float(one.rows[0]), np.bincount(gold.astype(int))
    total = labels * counts.min()
    held = np.stack(
        [np.bincount(source, gold == k, 30) / counts[k] for k in range(labels)]
    )
    sizes = held.sum(axis=0) * counts.min()
    assert sizes.sum() == pytest.approx(total)
    residual = (p - one.rows[1:]) * (total - sizes)
    deff = max(1.0, 30 / 29 * float(residual @ residual) / total / (p * (1 - p)))
    shrunk = (stats.t.ppf(0.975, total - 1) / stats.t.ppf(0.975, 29)) ** 2
    wanted = clopper_pearson(p, min(total, total / deff * shrunk))
    assert (one.estimate.ci_low, one.estimate.ci_high) == pytest.approx(wanted)


def test_where_all_is_right_the_rarest_label_decides_how_much_that_says() -> None:
    told = found([[20, 0], [0, 400]], interval=True)
    share = 0.025 ** (1 / 20)
    for name in ("balanced_accuracy", "f1"):
        assert (told[name].ci_low, told[name].ci_high) == pytest.approx((share, 1.0))
    for name in ("mcc", "ac1", "kappa_nominal"):
        assert told[name].ci_low == pytest.approx(share - (1 - share))
    assert "no interval" in found([[9, 0], [0, 400]], interval=True)["mcc"].note


def test_a_judge_that_says_one_thing_is_at_chance_with_an_interval() -> None:
    told = found([[0, 30], [0, 60]], interval=True)["balanced_accuracy"]
    assert told.value == 0.5 and told.ci_low is not None and told.ci_high is not None
    assert told.ci_low < 0.4 and told.ci_high > 0.6


@pytest.mark.parametrize("name", ["f1", "f1_macro", "mcc", "ac1", "kappa_nominal"])
def test_intervals_are_cut_to_the_range_that_is_declared(name: str) -> None:
    told = found([[6, 0], [1, 30]], interval=True)
    assert told[name].ci_high == 1.0 == statistic(name).scale.ends[1]


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
    def told(data: Any, renamed: Sequence[float] = (0, 1, 2)) -> dict[str, Replicated]:
        people, judge, source = np.array(data).T
        names = np.array(renamed, dtype=float)
        return on_labels(names[people], names[judge], 3, source, deletions(12))

    mixed = random.sample(texts, len(texts))
    plain = told(texts)
    for other in (told(mixed), told(texts, (2, 0, 1))):
        for name, one in plain.items():
            assert other[name].rows == pytest.approx(
                one.rows, rel=1e-12, abs=1e-12, nan_ok=True
            )
            assert other[name].estimate.ci_low == pytest.approx(one.estimate.ci_low)


@given(labelled)
def test_values_lie_in_their_range_and_in_their_interval(
    texts: list[tuple[int, int, int]],
) -> None:
    people, judge, source = np.array(texts).T
    for name, one in on_labels(
        people.astype(float), judge.astype(float), 3, source, deletions(12)
    ).items():
        told, (low, high) = one.estimate, statistic(name).scale.ends
        if told.value is not None:
            assert low - 1e-12 <= told.value <= high + 1e-12
        if (
            told.ci_low is not None
            and told.ci_high is not None
            and told.value is not None
        ):
            assert low <= told.ci_low <= told.value + 1e-12
            assert told.value - 1e-12 <= told.ci_high <= high
