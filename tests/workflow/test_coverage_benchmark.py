"""benchmarks/coverage.py at a small size."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "coverage.py"
_spec = importlib.util.spec_from_file_location("coverage_of_intervals", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)  # a package has its plain name
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)


@pytest.mark.parametrize("statistic", [*benchmark.STATISTICS])
def test_each_statistic_has_both_intervals(
    statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "TRUTH_STUDIES", 2)
    monkeypatch.setattr(benchmark, "RESAMPLES", 20)
    found = [*benchmark.coverage(statistic, "1-5", (12, 20), 3)]
    assert [one.sources for one in found] == [12, 20]
    for one in found:
        assert 0 <= one.percentile <= 1 and 0 <= one.jackknife <= 1 and one.without < 1
    assert benchmark.line(found).startswith(f"| {statistic} | 1-5 | ")
    assert benchmark.head((12, 20)).splitlines()[0].count("|") == benchmark.line(
        found
    ).count("|")


@pytest.mark.simulation
def test_where_nearly_all_ratings_are_one_studies_without_an_interval_are_counted() -> (
    None
):
    (found,) = benchmark.coverage("half credit", "degenerate", (10,), 5)
    assert found.without > 0
