"""CEM-ORD and its floor."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.statistics.kappa import cem_floor, on_classes
from judgescope.statistics.resampling import source_weights
from judgescope.statistics.result import FEW_PAIRS, Estimate
from vectors import params

FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def cem(gold: Any, predicted: Any, classes: Any = FIVE, weights: Any = None) -> Estimate:
    gold, predicted = np.array(gold, dtype=float), np.array(predicted, dtype=float)
    source = np.arange(gold.size) if weights is not None else np.zeros(gold.size, dtype=np.int64)
    return on_classes(gold, predicted, classes, source, weights)["cem_ord"].estimate


@pytest.mark.parametrize(("inputs", "expected", "name"), params("cem_ord"))
def test_vectors(inputs: dict[str, Any], expected: float, name: str) -> None:
    found = cem(inputs["gold"], inputs["pred"], inputs["classes"])
    assert found.value == pytest.approx(expected, rel=1e-9)


def test_by_hand() -> None:
    # gold 1 1 2: prox(1,1) = -log2(1/3), prox(2,2) = -log2(.5/3); 2 for 1: (.5 + 2)/3
    same, other, mixed = np.log2(3), np.log2(6), -np.log2(2.5 / 3)
    assert cem([1, 1, 2], [1, 2, 2], [1, 2]).value == pytest.approx(
        (same + mixed + other) / (2 * same + other)
    )


def test_it_is_one_for_equal_and_undefined_for_one_pair() -> None:
    assert cem(FIVE, FIVE).value == pytest.approx(1)
    assert cem([3, 3, 3], [3, 3, 3]).value == pytest.approx(1)
    assert cem([3], [3]).note == FEW_PAIRS


@pytest.mark.parametrize("gold", [[1, 2, 3], [1, 1, 1, 2], [1, 3], [2, 2, 2], [1, 2, 2, 3, 3]])
def test_the_floor_is_the_least_that_any_classes_reach(gold: list[int]) -> None:
    classes = [1.0, 2.0, 3.0]
    every = (cem(gold, list(p), classes).value for p in product(classes, repeat=len(gold)))
    least = min(value for value in every if value is not None)
    assert cem_floor(np.array([*gold, np.nan], dtype=float), classes) == pytest.approx(least)


@pytest.mark.simulation
@given(st.lists(st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=2, max_size=30))
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
