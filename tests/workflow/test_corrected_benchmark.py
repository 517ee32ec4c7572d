"""benchmarks/corrected.py at a small size: corrected intervals hold the truth, the
judge's own do not.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "corrected.py"
_spec = importlib.util.spec_from_file_location("coverage_of_corrected", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)

pytestmark = pytest.mark.simulation
STUDIES = 60


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("world", [*benchmark.worlds()])
def test_corrected_intervals_hold_the_truth(world: str, gap: bool) -> None:
    """Of 60 studies at .93 fewer than 48 hold it less than one time in 2,000."""
    result = benchmark.coverage(world, 50, STUDIES, gap=gap)
    assert result.held >= 48 / STUDIES
    assert result.without == 0


def test_a_biased_judge_alone_is_wrong_and_a_poor_a_single_saves_little() -> None:
    good = benchmark.coverage("points about the middle, good judge", 100, STUDIES)
    assert good.bias > 0.3 and good.naive < 0.1 and good.saved > 0.3
    poor = benchmark.coverage("half pass, poor judge", 100, STUDIES)
    assert poor.saved < 0.1


def test_the_table_has_a_line_for_each_world() -> None:
    lines = [*benchmark.table(2, (20,))]
    assert len(lines) == 2 + 2 * len(benchmark.worlds()) == 2 + 2 * 12
    assert all(line.count("|") == lines[0].count("|") for line in lines)
