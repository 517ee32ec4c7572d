"""benchmarks/next_texts.py at a small size: intervals hold the truth, and a draw by
predicted errors saves ratings where errors differ, and costs none where they do not.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "next_texts.py"
_spec = importlib.util.spec_from_file_location("savings_of_draws", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)

pytestmark = pytest.mark.simulation
STUDIES = 300


@pytest.mark.parametrize("judge", [*benchmark.JUDGES])
def test_a_draw_by_errors_saves_a_quarter_where_they_differ_much(judge: str) -> None:
    """Of 300 studies at .93 fewer than .88 hold it less than one time in 500."""
    result = benchmark.savings("much larger", judge, STUDIES)
    assert result.held >= 0.88 and result.held_three >= 0.88
    assert result.predicted >= 0.25 and result.taken > 0.85


@pytest.mark.parametrize("judge", [*benchmark.JUDGES])
def test_equal_errors_have_a_random_draw(judge: str) -> None:
    result = benchmark.savings("equal", judge, STUDIES)
    assert result.held >= 0.88 and result.held_three >= 0.88
    assert result.taken < 0.05 and abs(result.predicted) < 0.01
