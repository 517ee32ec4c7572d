"""A plugin of pytest for a run that is repeated thousands of times: few examples, no
slow test.

The first run times the tests; those that are slow, or fail in the copy, are left out of
others.
"""

import json
from collections import defaultdict
from math import inf
from pathlib import Path

import pytest
from hypothesis import Phase, settings

SLOWEST = 3.0
"""Seconds that a test may have taken when the file of times was written."""
TIMES = Path("times.json")
_TOOK = defaultdict[str, float](float)


def pytest_configure() -> None:
    """Take few examples, the same each time, and do not look for smaller ones."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(
        "few",
        max_examples=20,
        derandomize=True,
        database=None,
        deadline=None,
        phases=phases,
    )
    settings.load_profile("few")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what took long, or failed, when it was timed."""
    if TIMES.exists():
        took: dict[str, float] = json.loads(TIMES.read_text(encoding="utf-8"))
        slow = [item for item in items if took.get(item.nodeid, 0) > SLOWEST]
        items[:] = [item for item in items if took.get(item.nodeid, 0) <= SLOWEST]
        config.hook.pytest_deselected(items=slow)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Time a test with what it sets up; one that fails takes for ever."""
    _TOOK[report.nodeid] += inf if report.failed else report.duration


def pytest_sessionfinish() -> None:
    """Keep the times of the first run."""
    if not TIMES.exists():
        TIMES.write_text(json.dumps(_TOOK), encoding="utf-8")
