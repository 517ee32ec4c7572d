"""A watchdog, so that what a job starts ends with the job, however that ends: kill -9 too.

Run as a program it waits until its standard input closes, which the kernel does when the job is
gone, and then ends every process that bears the job's mark in its environment: children,
grandchildren, and those that left their group or session. Linux only, as vLLM is.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "JUDGESCOPE_GUARD"
PATIENCE = 10.0
"""Seconds between asking a process to end and ending it."""
PROC = Path("/proc")


class Guard:
    """A watchdog of its own session, which neither Ctrl-C nor the end of a group reaches.

    `environment` is the mark: what is started with it is watched. setproctitle, which vLLM uses,
    must not write over it.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        token = secrets.token_hex(16)
        self.environment = {MARK: token, "SPT_NOENV": "1"}
        unmarked = {name: value for name, value in os.environ.items() if name != MARK}
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", __file__, token, str(patience)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env=unmarked,
        )

    def close(self) -> None:
        """End everything that bears the mark, and return when it is gone."""
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()
        self._watchdog.wait()


def marked(token: str) -> list[int]:
    """Return the processes that were started with the mark."""
    line = f"{MARK}={token}".encode()
    found = []
    for path in PROC.glob("[0-9]*/environ"):
        try:
            environment = path.read_bytes()
        except OSError:  # gone already, or another user's
            continue
        if line in environment.split(b"\0"):
            found.append(int(path.parent.name))
    return found


def main(token: str, patience: float) -> None:
    """Wait for the end of the job; then ask its processes to end, and see to it."""
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
