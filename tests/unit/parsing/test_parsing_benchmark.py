"""benchmarks/parsing.py at a small size: replies are read fast, long ones linearly."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[3] / "benchmarks" / "parsing.py"
_spec = importlib.util.spec_from_file_location("speed_of_parsing", PATH)
assert _spec and _spec.loader
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark
_spec.loader.exec_module(benchmark)


SLACK = 1.5
"""How many times its limit a reply may take in a short run on a busy machine."""


def test_no_kind_of_reply_takes_much_longer_than_its_limit() -> None:
    speeds = benchmark.speeds(200)
    assert speeds.keys() == benchmark.KINDS.keys()
    slow = {name: speed for name, speed in speeds.items() if speed.ratio > SLACK}
    assert not slow


@pytest.mark.parametrize("run", benchmark.RUNS)
def test_twice_the_length_takes_about_twice_the_time(run: str) -> None:
    assert benchmark.growth(run, 100_000) <= benchmark.GROWTH
