"""benchmarks/slices.py at a small size: a worse slice is named, others seldom are."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "slices.py"
_spec = importlib.util.spec_from_file_location("named_slices", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("kind", benchmark.KINDS)
def test_without_a_difference_no_slice_is_named(kind: str) -> None:
    """Of 60 studies at .05 more than 8 name a slice less than one time in 300."""
    first, others = benchmark.named(kind, 0.0, 60)
    assert first + others <= 8 / 60


def test_a_slice_with_a_balanced_accuracy_lower_by_15_points_is_named() -> None:
    """Of 40 studies at .8 fewer than 24 name it less than one time in 300."""
    first, _ = benchmark.named("labels", 0.15, 40)
    assert first >= 24 / 40


@pytest.mark.parametrize(
    ("judges", "accuracy", "least"), [(3, 0.9, 0.8), (6, 0.9, 0.9)]
)
def test_most_of_the_doubted_labels_are_flipped(
    judges: int, accuracy: float, least: float
) -> None:
    result, vain, count = benchmark.listed(accuracy, judges, 60)
    assert 1 - vain >= least
    assert result >= 0.4 and count <= 20
