"""A watchdog that kills all processes of a job when the job ends, even by kill -9.

Run as a program, it waits until the kernel closes its standard input because the job
has ended. Then it kills every process with the job's mark in its environment: children,
grandchildren, and processes that left their group or session. Linux only, like vLLM.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

MARK = "JUDGESCOPE_GUARD"
PATIENCE = 10.0  # seconds between SIGTERM and SIGKILL


class Guard:
    """A watchdog in its own session, so that neither Ctrl-C nor a signal to a group
    reaches it.

    It watches processes that are started with `environment`, which contains the mark.
    """

    def __init__(self, patience: float = PATIENCE, locks: Sequence[int] = ()) -> None:
        """Start the watchdog.

        `locks`: file descriptors that it keeps open until the processes have ended, so
        that what they use stays locked that long.
        """
        token = secrets.token_hex(16)
        # SPT_NOENV: setproctitle, which vLLM uses, must not overwrite the mark
        self.environment = {MARK: token, "SPT_NOENV": "1"}
        unmarked = {}
        for name, value in os.environ.items():
            if name != MARK:
                unmarked[name] = value
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", __file__, token, str(patience)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=locks,
            env=unmarked,
        )

    def close(self) -> None:
        """Kill all marked processes, and return when they have ended."""
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()
        self._watchdog.wait()


def marked(token: str) -> list[int]:
    """Return the ids of the marked processes."""
    line = f"{MARK}={token}".encode()
    processes = []
    process_folder = Path("/proc")
    for path in process_folder.glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:  # already gone, or owned by another user
            continue
        if line in environment.split(b"\0"):
            processes.append(int(path.parent.name))
    return processes


def main(token: str, patience: float) -> None:
    """Wait for the end of the job; then end its processes: SIGTERM first, SIGKILL
    later.
    """
    sys.stdin.buffer.read()
    patient_until = time.monotonic() + patience
    asked: set[int] = set()
    while running := marked(token):
        late = time.monotonic() > patient_until
        for process in running if late else set(running) - asked:
            try:
                os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
            except ProcessLookupError:
                continue
        asked.update(running)
        time.sleep(0.1)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
