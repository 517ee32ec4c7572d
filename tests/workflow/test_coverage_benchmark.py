"""benchmarks/coverage.py and coverage_within.py at a small size."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def loaded(name: str) -> ModuleType:
    path = BENCHMARKS / f"{name}.py"
    # A package has the plain name.
    spec = importlib.util.spec_from_file_location(f"{name}_of_intervals", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


benchmark: Any = loaded("coverage")
within: Any = loaded("coverage_within")


@pytest.mark.parametrize("statistic", [*benchmark.STATISTICS])
def test_each_statistic_has_both_intervals(
    statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "TRUTH_STUDIES", 2)
    monkeypatch.setattr(benchmark, "RESAMPLES", 20)
    result = [*benchmark.coverage(statistic, "1-5", (12, 20), 3)]
    assert [each.sources for each in result] == [12, 20]
    for each in result:
        assert (
            0 <= each.percentile <= 1 and 0 <= each.jackknife <= 1 and each.without < 1
        )
    assert benchmark.line(result).startswith(f"| {statistic} | 1-5 | ")
    assert benchmark.head((12, 20)).splitlines()[0].count("|") == benchmark.line(
        result
    ).count("|")


@pytest.mark.simulation
def test_where_nearly_all_ratings_are_one_studies_without_an_interval_are_counted() -> (
    None
):
    (result,) = benchmark.coverage("half credit", "degenerate", (10,), 5)
    assert result.without > 0


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(within, "SOURCES", (20,))
    monkeypatch.setattr(within, "TEXTS", (5,))
    monkeypatch.setattr(within, "TRUTH_TEXTS", 50_000)


@pytest.mark.usefixtures("few_cells")
def test_the_table_of_the_deciding_number_has_both_correlations() -> None:
    cells = [*within.coverage(5)]
    assert [cell.correlation for cell in cells] == [0.0, 0.5] * 3
    _, _, *lines = within.table(cells)
    assert len(lines) == 3 and lines[1].startswith("| 1-5 | 5 | ")
    assert "/" in lines[1] and within.summary(cells).startswith("coverage: mean")


@pytest.mark.simulation
@pytest.mark.usefixtures("few_cells")
def test_intervals_of_the_deciding_number_hold_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 100 studies 88 hold it, or fewer, in one of 300 tests; 8 reject in one of
    400.
    """
    monkeypatch.setattr(within, "RATINGS", ("pass/fail", "1-5"))
    for each in within.coverage(100):
        assert each.held > 0.88 and each.without < 0.2, each
        assert each.correlation or each.rejects < 0.08, each
