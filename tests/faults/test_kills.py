"""An asking job that dies at any moment loses no reply that it was given, and asks none
twice.
"""

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import Job
from scripted import Body, Endpoint, Said, reply, serve
from waiting import patience

TEXTS, WORKERS = 120, 6
SEEDS = [
    *range(2),
    *(pytest.param(seed, marks=pytest.mark.long(3)) for seed in range(2, 20)),
]
PACE = 0.02
"""Seconds of an answer: all of them take about half a second."""


def rate(body: Body) -> Said:
    time.sleep(PACE)
    return reply(f"Rating: {1 + body['seed'] % 5}")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(rate) as running:
        yield running


def wait_for(process: "subprocess.Popen[bytes]") -> str:
    out, _ = process.communicate(timeout=patience(120))
    return str(out, "utf-8") if out else ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_killed_at_a_random_moment_between_the_first_and_the_last_reply(
    endpoint: Endpoint, tmp_path: Path, seed: int
) -> None:
    """Half of the moments right after a line was written, the others by the clock."""
    limits = {"concurrency": WORKERS, "backoff": 0.01, "attempts": 3}
    job = Job(tmp_path, TEXTS, base_url=endpoint.url, limits=limits)
    spec = job.spec()
    chance = random.Random(seed)
    process = job.start(spec, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = chance.randrange(1, TEXTS - 2 * WORKERS)
    while len(job.replies()) < (lines if seed % 2 else 1):
        assert process.poll() is None
        time.sleep(0.001)
    if not seed % 2:
        time.sleep(chance.uniform(0, 0.8 * PACE * TEXTS / WORKERS))
    process.kill()
    process.wait()
    before, sent = job.replies(), len(endpoint.asked)
    assert 0 < len(before) < TEXTS and len(set(before)) == len(before)
    time.sleep(3 * PACE)  # what was on its way has arrived
    sent = len(endpoint.asked)
    # all that was answered and not written was under way at that moment
    assert sent - len(before) <= WORKERS
    endpoint.asked.clear()
    again = job.start(spec, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = wait_for(again)
    assert again.returncode == 0, out
    assert f"{len(before)} in the store, {TEXTS - len(before)} to request" in out
    assert len(endpoint.asked) == TEXTS - len(before)
    assert (
        Counter(job.replies()) == Counter(set(job.replies()))
        and len(job.replies()) == TEXTS
    )
    last = job.start(spec, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert "0 to request" in wait_for(last) and len(endpoint.asked) == TEXTS - len(
        before
    )
