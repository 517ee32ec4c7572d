"""A run that is killed in every one of its stages ends, started again, as one that
never was.

`JUDGESCOPE_KILLS` lives, three by default, each killed once in each stage: `make soak`
has twenty.
"""

import os
import random
from pathlib import Path

import pytest

from lives import CONCURRENCY, STAGES, Life, endpoint, undisturbed
from scripted import Endpoint

__all__ = ["endpoint", "undisturbed"]
pytestmark = [pytest.mark.slow, pytest.mark.long(100)]
ASKING = {"perturb", "inject", "ask"}
"""While texts are perturbed by rule, others are written by the model."""
KILLS = int(os.environ.get("JUDGESCOPE_KILLS", "3"))


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_once_in_every_stage(
    undisturbed: Life, endpoint: Endpoint, tmp_path: Path, seed: int
) -> None:
    life, chance = Life(tmp_path, endpoint), random.Random(seed)
    for stage in STAGES:
        before = life.lost
        moment = life.kill(stage, chance)
        print(
            f"seed {seed}: killed at {moment}, {life.lost - before} requests under way"
        )
        assert 0 <= life.lost - before <= CONCURRENCY
        assert stage in ASKING or life.lost == before, "nobody asks in this stage"
    life.end()
    assert life.outputs == undisturbed.outputs
    kept = life.study.journalled()
    assert kept == life.distinct == undisturbed.study.journalled()
    assert len(endpoint.asked) == kept + life.lost, (
        "asked again: what was under way, and no more"
    )
