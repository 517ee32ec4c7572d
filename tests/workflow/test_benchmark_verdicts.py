"""The simulation of the rules behind verdicts runs at a small size; false alarms are few."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "verdicts.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("verdicts_benchmark", PATH)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BENCHMARK = loaded()


@pytest.mark.parametrize("name", [name for name, rule in BENCHMARK.RULES.items() if not rule.true])
def test_a_claim_that_is_not_true_is_rarely_made(name: str) -> None:
    """Of 20 studies 3 may be at a level of .025: more come in one of 700 tests."""
    level = BENCHMARK.RULES[name].level
    assert BENCHMARK.simulated(name, 20) <= level + 4 * (level * (1 - level) / 20) ** 0.5


@pytest.mark.parametrize("name", [name for name, rule in BENCHMARK.RULES.items() if rule.true])
def test_a_claim_that_is_true_is_made(name: str) -> None:
    assert BENCHMARK.simulated(name, 20) > 0.2


def test_no_test_reaches_the_power_aimed_at() -> None:
    tests, bound = BENCHMARK.bound(0.4, 24)
    assert 0.61 < tests <= bound < 0.75
    assert BENCHMARK.bound(0.4, 48)[0] > 0.9


def test_a_table_has_a_line_per_rule() -> None:
    assert len(BENCHMARK.table(["chance"], 2)) == 3
