"""Two studies that share a store and run at once: a reply that both need is requested
once.
"""

import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import Job
from scripted import Body, Endpoint, Said, reply, serve
from waiting import patience

TEXTS, WORKERS = 160, 8
WAITING = "are being requested by study a (process "


class Gate:
    """An endpoint's script that answers a number of requests, and more when opened."""

    def __init__(self, answers: int = 0) -> None:
        self._free = threading.Semaphore(answers)

    def __call__(self, body: Body) -> Said:
        self._free.acquire()
        return reply(f"Rating: {1 + body['seed'] % 5}")

    def open(self) -> None:
        """Answer all requests from now on."""
        self._free.release(10 * TEXTS)


@pytest.fixture
def gate() -> Gate:
    return Gate(40)


@pytest.fixture
def endpoint(gate: Gate) -> Iterator[Endpoint]:
    with serve(gate) as running:
        yield running
        gate.open()


def jobs(folder: Path, endpoint: Endpoint, *texts: int) -> list[Job]:
    """Return a job of each study, a and b, on a common store."""
    made = []
    for name, count in zip("ab", texts, strict=True):
        limits = {"concurrency": WORKERS, "backoff": 0.01, "attempts": 3}
        job = Job(folder / name, count, base_url=endpoint.url, limits=limits)
        job.study, job.store = name, folder / "store"
        made.append(job)
    return made


def start(job: Job) -> "subprocess.Popen[bytes]":
    return job.start(job.spec(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def line_with(process: "subprocess.Popen[bytes]", words: str) -> str:
    """Return the first line of a process's output that has some words."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line.decode():
            return line.decode()
    raise AssertionError(f"the process ended without: {words}")


def wait_until_all_are_answered(job: Job, count: int) -> None:
    while len(job.replies()) < count:
        time.sleep(0.01)


@pytest.mark.heavy
def test_the_later_study_waits_for_common_replies_and_requests_the_others(
    tmp_path: Path, endpoint: Endpoint, gate: Gate
) -> None:
    first, second = jobs(tmp_path, endpoint, 80, TEXTS)
    a = start(first)
    wait_until_all_are_answered(first, 40)
    b = start(second)
    line = line_with(b, WAITING)
    assert line.startswith(f"40 replies {WAITING}{a.pid} on host ")
    gate.open()
    assert a.wait(patience(60)) == 0 and b.wait(patience(60)) == 0
    assert len(endpoint.asked) == TEXTS
    assert len(second.replies()) == len({*second.replies()}) == TEXTS
    left = [path.name for path in (tmp_path / "store/static/.claims").iterdir()]
    assert all(name.isdigit() for name in left)


@pytest.mark.long(8)
@pytest.mark.heavy
def test_after_a_kill_the_other_study_requests_only_what_is_missing(
    tmp_path: Path, endpoint: Endpoint, gate: Gate
) -> None:
    first, second = jobs(tmp_path, endpoint, TEXTS, TEXTS)
    a = start(first)
    wait_until_all_are_answered(first, 40)
    b = start(second)
    assert line_with(b, WAITING).startswith(f"{TEXTS - 40} replies ")
    a.kill()
    a.wait()
    sent = len(endpoint.asked)
    assert 40 < sent <= 40 + WORKERS
    gate.open()
    assert b.wait(patience(60)) == 0
    assert len(endpoint.asked) == sent + TEXTS - 40
    assert len(second.replies()) == len({*second.replies()}) == TEXTS
