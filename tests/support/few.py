"""A plugin of pytest for a run that is repeated thousands of times: few examples, no
slow test.

The first run times the tests; those that are slow, or fail in the copy, are left out of
others.
"""

import json
import signal
from collections import defaultdict
from collections.abc import Generator
from math import inf
from pathlib import Path
from time import process_time

import pytest
from hypothesis import Phase, settings

SLOWEST = 3.0
"""Seconds of a processor that a test may have taken when the file of times was
written: seconds of a clock would depend on the load of the machine."""
LONGEST = 10
"""Seconds of a processor after which a test is ended while the tests are timed."""
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Time a test with what it sets up."""
    if TIMES.exists():
        return (yield)
    before = process_time()
    signal.signal(signal.SIGPROF, _end_test)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _TOOK[item.nodeid] += process_time() - before


def _end_test(*_: object) -> None:
    pytest.fail(f"it took more than {LONGEST} s")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that fails, as if it took for ever."""
    if report.failed:
        _TOOK[report.nodeid] = inf


def pytest_sessionfinish() -> None:
    """Keep the times of the first run."""
    if not TIMES.exists():
        TIMES.write_text(json.dumps(_TOOK), encoding="utf-8")
