"""benchmarks/labels.py at a small size: intervals hold the truth, and the test keeps
its level.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "labels.py"
_spec = importlib.util.spec_from_file_location("coverage_of_labels", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)

pytestmark = pytest.mark.simulation


@pytest.mark.parametrize("world", [*benchmark.WORLDS])
def test_intervals_of_labels_hold_the_truth(world: str) -> None:
    """Of 60 studies at .95 fewer than 50 hold it one time in 2,000; exact ones hold it
    more.
    """
    for each in benchmark.coverage(benchmark.labelled, world, 40, 60):
        assert each.held >= 50 / 60, each
        assert each.without < 0.1


def test_intervals_of_preferences_hold_the_truth() -> None:
    for each in benchmark.coverage(benchmark.voted, "preferences", 40, 30):
        assert each.held >= 23 / 30, each
        assert each.without < 0.1


@pytest.mark.parametrize("texts", [1, 3])
def test_mcnemar_keeps_its_level(texts: int) -> None:
    """Of 1,000 studies .05 + 4 SE are 78."""
    assert 0 < benchmark.false_alarms(20, 1000, texts=texts) <= 0.078
    assert benchmark.false_alarms(5, 200, texts=1) == 0  # too few sources to reach .05


@pytest.mark.parametrize("base", [0.5, 0.9])
def test_a_judge_of_chance_is_rarely_better_than_chance(base: float) -> None:
    """Of 400 studies .025 + 4 SE are 22."""
    assert benchmark.chance_alarms(base, 24, 400) <= 22 / 400


def test_the_table_has_a_line_per_statistic() -> None:
    lines = [*benchmark.table(2, (12,))]
    assert len(lines) == 2 + len(benchmark.WORLDS) * len(benchmark.LABELS) + 7 + 4
    assert all(line.count("|") == lines[0].count("|") for line in lines)
