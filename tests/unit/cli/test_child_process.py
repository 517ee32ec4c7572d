"""A command that runs under a warden: signals reach all of it once, and nothing
outlives it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import running
from programs import alive, gone, number_in
from waiting import patience

PARENT = """
import sys
from judgescope.cli import child_process
child_process.GRACE, child_process.GRACE_AGAIN = 30.0, 0.2
status, stopped = child_process.run(sys.argv[1:])
print("status", status, "stopped", stopped, flush=True)
"""
NOTED = """
import os, signal, subprocess, sys, time
from pathlib import Path
def note(name, number=None):
    Path(name).write_text(f"{number or os.getpid()}\\n")
"""
TIDY = (
    NOTED
    + """
def end(number, frame):
    with open("heard", "a") as file: print(number, file=file)
    time.sleep(0.3)
    sys.exit(3)
signal.signal(signal.SIGINT, end)
note("there")
time.sleep(60)
"""
)
STUBBORN = (
    NOTED
    + "signal.signal(signal.SIGINT, signal.SIG_IGN); note('there'); time.sleep(60)"
)
PLAIN = NOTED + "note('there'); time.sleep(60)"
WITH_CHILD = (
    NOTED
    + """
sleeper = subprocess.Popen(["sleep", "60"])
note("sleeper", sleeper.pid)
note("there")
time.sleep(60)
"""
)


@contextmanager
def started(
    folder: Path, program: str, before: Callable[[], None] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Run a program under this module's parent; when it says so, it is there."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, sys.executable, "-c", program],
        cwd=folder,
        env=running.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    ) as process:
        try:
            number_in(folder / "there")
            yield process
        finally:
            running.kill_all(process.pid)


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_a_single_interrupt_and_its_number_is_reported(
    tmp_path: Path, number: int
) -> None:
    with started(tmp_path, TIDY) as process:
        os.kill(process.pid, number)
        os.killpg(process.pid, number)  # the same wish: `timeout` does this
        result, _ = process.communicate(timeout=patience(20))
    assert result == f"status 3 stopped {int(number)}\n"
    assert (tmp_path / "heard").read_text() == f"{int(signal.SIGINT)}\n"


@pytest.mark.heavy
def test_sigterm_to_every_process_is_the_parents_affair(tmp_path: Path) -> None:
    """As a service manager does; the command itself may have a handler that hangs."""
    with started(tmp_path, TIDY) as process:
        for each in running.in_session(process.pid):
            os.kill(each, signal.SIGTERM)
        result, _ = process.communicate(timeout=patience(20))
    assert result == f"status 3 stopped {int(signal.SIGTERM)}\n"
    assert (tmp_path / "heard").read_text() == f"{int(signal.SIGINT)}\n"


@pytest.mark.heavy
def test_a_second_signal_ends_what_does_not_heed_the_first(tmp_path: Path) -> None:
    with started(tmp_path, STUBBORN) as process:
        os.kill(process.pid, signal.SIGINT)
        time.sleep(1.2)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=patience(20))
    assert gone(number_in(tmp_path / "there"))


def test_nothing_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    with started(tmp_path, WITH_CHILD) as process:
        process.kill()
        assert gone(number_in(tmp_path / "there")) and gone(
            number_in(tmp_path / "sleeper")
        )


@pytest.mark.heavy
def test_nothing_outlives_a_command_that_is_killed(tmp_path: Path) -> None:
    with started(tmp_path, WITH_CHILD) as process:
        os.kill(number_in(tmp_path / "there"), signal.SIGKILL)
        result, _ = process.communicate(timeout=patience(20))
    assert result == f"status {128 + signal.SIGKILL} stopped None\n"
    assert gone(number_in(tmp_path / "sleeper"))


def test_a_killed_warden_has_the_status_of_its_signal(tmp_path: Path) -> None:
    with started(tmp_path, WITH_CHILD) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        [warden] = map(int, children.read_text().split())
        os.kill(warden, signal.SIGKILL)
        result, _ = process.communicate(timeout=patience(20))
    assert result == f"status {128 + signal.SIGKILL} stopped None\n"
    assert gone(number_in(tmp_path / "there"))


@pytest.mark.heavy
def test_a_parent_in_the_background_of_a_shell_is_ended_by_sigterm_alone(
    tmp_path: Path,
) -> None:
    """A shell lets its background jobs ignore Ctrl-C, nohup a hang-up; the command
    inherits it.
    """

    def ignoring() -> None:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    with started(tmp_path, PLAIN, ignoring) as process:
        os.killpg(process.pid, signal.SIGINT)
        os.killpg(process.pid, signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None and alive(number_in(tmp_path / "there"))
        process.terminate()
        result, _ = process.communicate(timeout=patience(20))
    assert f"stopped {int(signal.SIGTERM)}" in result and gone(
        number_in(tmp_path / "there")
    )


@pytest.mark.heavy
def test_what_is_suspended_goes_on_where_it_was(tmp_path: Path) -> None:
    with started(tmp_path, TIDY) as process:
        states = [
            Path(f"/proc/{each}/stat")
            for each in (process.pid, number_in(tmp_path / "there"))
        ]

        def all_are(stopped: bool) -> bool:
            end = time.monotonic() + patience(10)
            while time.monotonic() < end:
                collected = {
                    path.read_text().rpartition(")")[2].split()[0] == "T"
                    for path in states
                }
                if collected == {stopped}:
                    return True
                time.sleep(0.02)
            return False

        os.kill(process.pid, signal.SIGTSTP)
        assert all_are(stopped=True)
        os.kill(process.pid, signal.SIGCONT)
        assert all_are(stopped=False)
        process.terminate()
        assert "status 3" in process.communicate(timeout=patience(20))[0]
