"""A child process and its descendants, which end with this process, even after kill -9.

The child runs in its own process group under a small warden: this file, run as a
program. A signal to this process becomes one SIGINT to the group. The warden waits for
the end of its standard input, which the kernel closes when this process is gone, and
then ends the group itself.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask this process to end."""
GRACE_ORPHANED = 10.0
"""Seconds until SIGKILL once this process is gone: pending requests may still be
answered."""


def run(
    command: Sequence[str], *, keep_open: Sequence[int] = ()
) -> tuple[int, int | None]:
    """Run a command to its end; return its status, and the signal that stopped it or
    None.

    `keep_open`: file descriptors that the warden keeps open while any of its processes
    lives. A first signal lets the command clean up, a second one ends it at once.
    Signals that this process ignores (nohup, a shell's background jobs) stay ignored.
    """
    warden = [sys.executable, "-I", "-S", __file__, *command]
    with subprocess.Popen(
        warden, stdin=subprocess.PIPE, process_group=0, pass_fds=keep_open
    ) as process:
        with _forwarded(process.pid) as received:
            status = process.wait()
        if received or status < 0 or status > 128:  # its children may still be running
            _end_rest(process.pid)
    if status < 0:  # the warden itself was killed by this signal
        status = 128 - status
    return status, received[0] if received else None


@contextmanager
def _forwarded(group: int) -> Iterator[list[int]]:
    """Pass signals on to a group while the block runs; yield those received so far."""
    received: list[int] = []
    limits: list[threading.Timer] = []
    # Seconds within which a second signal counts as the same: `timeout` sends each
    # twice.
    repeated = 1.0
    last_signal = -repeated

    # Seconds between the first signal and SIGKILL; a cluster needs less to cancel jobs.
    grace = 90.0
    # Seconds between a second signal and SIGKILL.
    grace_again = 3.0

    def end(number: int, _: FrameType | None) -> None:
        nonlocal last_signal
        if time.monotonic() < last_signal + repeated:
            return
        last_signal = time.monotonic()
        seconds = grace_again if received else grace
        limit = threading.Timer(seconds, _signal, (group, signal.SIGKILL))
        limit.daemon = True
        limit.start()
        limits.append(limit)
        received.append(number)
        _signal(group, signal.SIGINT)

    def pause(_: int, __: FrameType | None) -> None:
        _signal(group, signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        _signal(group, signal.SIGCONT)

    handlers = dict.fromkeys(ENDING, end) | {signal.SIGTSTP: pause}
    before = {number: signal.getsignal(number) for number in handlers}
    handled = [number for number in handlers if before[number] != signal.SIG_IGN]
    for number in handled:
        signal.signal(number, handlers[number])
    try:
        yield received
    finally:
        for number in handled:
            signal.signal(number, before[number])
        for limit in limits:
            limit.cancel()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; return whether any process of it exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


def _end_rest(group: int) -> None:
    """End the processes that a killed command left running."""
    until = time.monotonic() + GRACE_ORPHANED
    alive = _signal(group, signal.SIGINT)
    while alive and time.monotonic() < until:
        time.sleep(0.05)
        alive = _signal(group, 0)
    _signal(group, signal.SIGKILL)


def main(command: list[str]) -> int:
    """Run a command in this process's group until it ends, or until the parent is
    gone.
    """
    for number in ENDING:
        # Not SIG_IGN, which the command would inherit.
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    # Snakemake can hang after SIGTERM. A service manager sends it to all processes:
    # only the one that is asked to end acts on it. Jobs remove the block
    # (judgescope.plan.jobs).
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    orphaned = threading.Event()

    def watch() -> None:
        # Not sys.stdin, whose lock this thread would hold to the end.
        while os.read(0, 1):
            pass
        orphaned.set()
        _signal(os.getpgrp(), signal.SIGINT)
        time.sleep(GRACE_ORPHANED)
        _signal(os.getpgrp(), signal.SIGKILL)

    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as child:
        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        status = child.wait()
    if orphaned.is_set():
        if status < 0:  # it was killed as well: its children have the rest of the time
            watching.join()
        _signal(os.getpgrp(), signal.SIGKILL)
    if status >= 0:
        return status
    return 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
