"""Whatever an endpoint does, no reply is lost or paid twice, and what is said names the
cause. `make faults` prints what was tried and what survived.
"""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from behaviour_base import Behaviour
from behaviours import BEHAVIOURS
from replaying import replay

LEAST = 88
"""Behaviours that have to be tried."""


def test_enough_behaviours_are_tried_each_by_its_name() -> None:
    assert len(BEHAVIOURS) >= LEAST
    assert max(Counter(behaviour.name for behaviour in BEHAVIOURS).values()) == 1
    outcomes = Counter(behaviour.outcome for behaviour in BEHAVIOURS)
    assert min(outcomes.values()) >= 10 and len(outcomes) == 3


@pytest.mark.heavy
@pytest.mark.parametrize("concurrency", [pytest.param(1, marks=pytest.mark.long(1)), 4])
@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda each: each.name)
def test_it_is_survived(behaviour: Behaviour, concurrency: int, tmp_path: Path) -> None:
    if behaviour.tls and shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate can be made")
    assert replay(behaviour, tmp_path, concurrency).problems == []
