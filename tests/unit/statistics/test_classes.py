"""Statistics of classes and labels: by hand, undefined ones, intervals, what changes
nothing.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from deleted import jackknife_t
from judgescope.statistics.classes import (
    cem_floor,
    confusion_counts,
    equal_width,
    on_classes,
)
from judgescope.statistics.intervals import deletions
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import REASONS, Estimate
from vectors import params

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
    result = kappa(inputs["a"], inputs["b"], inputs["classes"])
    if expected is None:
        assert (result.value, result.note) == (None, REASONS.no_variation)
    else:
        assert result.value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_by_hand() -> None:
    # (1,1) (1,2) (2,2) (3,1) on 1-3: observed distance (0+1+0+2)/4 = 3/4; margins gold
    # 2/4 1/4 1/4, predicted 2/4 2/4 0: expected (2*2*1 + 1*2*1 + 1*2*2 + 1*2*1)/16 =
    # 12/16; kappa = 1 - 1 = 0
    assert kappa([1, 1, 2, 3], [1, 2, 2, 1], [1, 2, 3]).value == pytest.approx(
        0, abs=1e-12
    )
    # the same without the last pair: 1/3 observed, (2*2*1 + 1*1*1)/9 = 5/9 expected
    assert kappa([1, 1, 2], [1, 2, 2], [1, 2, 3]).value == pytest.approx(1 - 3 / 5)


def test_an_unused_class_keeps_its_location_on_the_scale() -> None:
    gold, predicted = [1, 1, 2, 4, 4], [1, 2, 2, 4, 1]
    full, short = kappa(gold, predicted), kappa(gold, predicted, [1, 2, 4])
    assert full.value == pytest.approx(1 - (4 / 5) / (34 / 25))
    assert full.value != pytest.approx(short.value)


def test_missing_pairs_are_dropped_and_counted() -> None:
    result = kappa([1, 1, 2, NAN, 3], [1, 2, 2, 3, NAN])
    assert (result.n, result.n_missing, result.n_tied) == (3, 2, 0)
    assert result.value == kappa([1, 1, 2], [1, 2, 2]).value


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
    result = kappa(gold, predicted)
    value = NAN if result.value is None else result.value
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
    present = ~np.isnan(gold)
    kept = [present & (source != s) for s in range(12)]
    deleted = [oracle(gold[own_part], predicted[own_part]) for own_part in kept]
    result = kappa_linear(gold, predicted, SCALE, source, deletions(12))
    value = oracle(gold[present], predicted[present])
    expected = jackknife_t(value, deleted, ends=(-np.inf, 1.0))
    assert (result.ci_low, result.ci_high) == pytest.approx(expected, abs=1e-10)


@given(st.lists(pairs, min_size=2, max_size=40))
def test_the_quadratic_a_single_equals_scikit_learn(
    data: list[tuple[float, float]],
) -> None:
    gold, predicted = np.array(data).T
    by_statistic = on_classes(
        gold, predicted, SCALE, np.zeros(gold.size, dtype=np.int64), None
    )
    value = by_statistic["kappa_quadratic"].estimate.value
    if np.unique(data).size < 2:
        assert value is None
    else:
        want = cohen_kappa_score(gold, predicted, labels=SCALE, weights="quadratic")
        assert value == pytest.approx(want, abs=1e-12)


def test_near_misses_weigh_less_when_squared() -> None:
    gold, near, far = [1, 2, 3, 4, 5] * 4, [2, 3, 4, 5, 4] * 4, [5, 2, 3, 4, 1] * 4
    source = np.zeros(20, dtype=np.int64)

    def both(predicted: list[int]) -> list[float | None]:
        by_statistic = on_classes(
            np.array(gold, float), np.array(predicted, float), SCALE, source, None
        )
        return [
            by_statistic[name].estimate.value
            for name in ("kappa_linear", "kappa_quadratic")
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
    result = equal_width(values, list(scale), SCALE)
    assert result == pytest.approx([*expected, NAN], nan_ok=True)
    assert equal_width(values[::-1], list(scale)[::-1], SCALE) == pytest.approx(
        result[::-1], nan_ok=True
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
    result = cem(inputs["gold"], inputs["pred"], inputs["classes"])
    assert result.value == pytest.approx(expected, rel=1e-9)


def test_cem_by_hand() -> None:
    # gold 1 1 2: prox(1,1) = -log2(1/3), prox(2,2) = -log2(.5/3); 2 for 1: (.5 + 2)/3
    same, other, mixed = np.log2(3), np.log2(6), -np.log2(2.5 / 3)
    assert cem([1, 1, 2], [1, 2, 2], [1, 2]).value == pytest.approx(
        (same + mixed + other) / (2 * same + other)
    )


def test_it_is_one_for_equal_and_undefined_for_a_single_pair() -> None:
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
    for weight, row in zip(weights, rows[1:], strict=True):
        drawn = np.repeat(np.arange(30), weight)
        assert row == pytest.approx(cem(gold[drawn], predicted[drawn]).value)
