"""A run that is ended from outside: what came is kept, nothing goes on asking, and how to go on."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import running
from asking import FAST, AskedStudy
from judgescope.replies.ledger import FOLDER, REQUESTS, Ledger
from programs import gone
from scripted import Body, Said, reply, serve

pytestmark = pytest.mark.slow
TEXTS, CONCURRENCY = 120, 3
LONG = 90.0
"""Seconds within which a run has to end, also where others use the machine."""


class Pace:
    """An endpoint that answers at a pace until it is told to hold what comes."""

    def __init__(self) -> None:
        self.seconds, self.held, self.go_on = 0.2, 0, threading.Event()
        self.hold = False

    def __call__(self, _: Body) -> Said:
        if self.hold:
            self.held += 1
            self.go_on.wait(LONG)
        time.sleep(self.seconds)
        return reply("Rating: 4")


@pytest.fixture
def pace() -> Iterator[Pace]:
    made = Pace()
    yield made
    made.go_on.set()


@pytest.fixture
def study(tmp_path: Path, pace: Pace) -> Iterator[AskedStudy]:
    with serve(pace) as endpoint:
        made = AskedStudy(tmp_path, endpoint)
        made.model(limits=FAST | {"concurrency": CONCURRENCY, "timeout": LONG})
        yield made
        pace.go_on.set()


@contextmanager
def started(study: AskedStudy, replies: int = 4) -> Iterator["subprocess.Popen[str]"]:
    """Run the study as a user does until it has some replies; nothing is left of it afterwards."""
    with subprocess.Popen(
        [sys.executable, "-m", "judgescope", "run", "study.yaml"],
        cwd=study.folder,
        env=running.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while study.journalled() < replies:
                assert process.poll() is None, process.stdout and process.stdout.read()
                time.sleep(0.02)
            yield process
        finally:
            running.kill_all(process.pid)


def end(process: "subprocess.Popen[str]") -> str:
    """Wait for the end of a run; return what it said, which is no traceback."""
    told, _ = process.communicate(timeout=LONG)
    assert "Traceback" not in told and "Fatal" not in told, told
    return told


def asks_only_the_rest(study: AskedStudy, pace: Pace) -> None:
    """The same command goes on, without --unlock, and asks for what is not there."""
    pace.seconds, pace.hold, kept = 0, False, study.journalled()
    pace.go_on.set()
    study.endpoint.asked.clear()
    done = study.run()
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(study.endpoint.asked) == TEXTS - kept
    assert study.journalled() == TEXTS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_group_ends_the_run_and_its_number_is_the_status(
    study: AskedStudy, pace: Pace, number: int
) -> None:
    """As `timeout`, a terminal that closes, and Ctrl-C send it."""
    with started(study) as process:
        os.killpg(process.pid, number)
        told = end(process)
        assert process.returncode == 128 + number
        assert "Stopped" in told and "may be billed" not in told
        assert not running.in_session(process.pid)
    assert 4 <= study.journalled() == len(study.endpoint.asked) < TEXTS
    asks_only_the_rest(study, pace)


def test_sigterm_to_every_process_twice_is_one_wish(study: AskedStudy) -> None:
    """As a service manager and a cluster send it; `timeout` sends it to the command twice."""
    with started(study) as process:
        for _ in range(2):
            for one in running.in_session(process.pid):
                os.kill(one, signal.SIGTERM)
        end(process)
        assert process.returncode == 128 + signal.SIGTERM
        assert not running.in_session(process.pid)
    assert study.journalled() == len(study.endpoint.asked) < TEXTS


def test_a_command_that_is_killed_leaves_nothing_that_asks(study: AskedStudy, pace: Pace) -> None:
    with started(study) as process:
        there = running.in_session(process.pid)
        process.kill()
        before = len(study.endpoint.asked)
        assert len(there) >= 4 and all(gone(one, seconds=LONG) for one in there)
        assert len(study.endpoint.asked) <= before + 3 * CONCURRENCY
    assert study.journalled() == len(study.endpoint.asked) < TEXTS
    asks_only_the_rest(study, pace)


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_not_answered_is_counted_as_what_may_be_billed(
    study: AskedStudy, pace: Pace, times: int
) -> None:
    study.write(max_requests=1000)
    with started(study) as process:
        pace.hold = True
        while pace.held < CONCURRENCY:
            time.sleep(0.05)
        sent = len(study.endpoint.asked)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(1.5)
        told = end(process)
    assert process.returncode == 128 + signal.SIGINT
    assert re.search(rf"stopped: {CONCURRENCY} requests .* may be billed", told), told
    assert len(study.endpoint.asked) == sent
    ledger = Ledger(study.folder / "cache/replies" / FOLDER / "asked")
    assert ledger.state().used(REQUESTS) == (sent, 0)
    assert study.journalled() == sent - CONCURRENCY


def test_no_lock_is_taken_away_from_a_run_that_lives(study: AskedStudy, pace: Pace) -> None:
    pace.seconds = 3
    with started(study) as process:
        for options in ((), ("--unlock",)):
            done = study.run(*options)
            assert done.returncode == 1 and f"process {process.pid} " in done.stdout, done.stdout
            assert f"kill {process.pid}" in done.stdout
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        end(process)
    assert study.run("--unlock").returncode == 0
    assert study.journalled() == len(study.endpoint.asked) < TEXTS


def test_the_lock_of_a_run_that_was_killed_whole_can_be_taken_away(
    study: AskedStudy, pace: Pace
) -> None:
    with started(study) as process:
        running.kill_all(process.pid)
    told = study.run().stdout
    assert "--unlock" in told and "process" not in told
    assert study.run("--unlock").returncode == 0
    time.sleep(1)  # what was on its way has arrived
    asks_only_the_rest(study, pace)
