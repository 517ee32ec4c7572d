"""Ends a SLURM of the tests when the process that started it is gone, killed or not.

`python watchdog.py FOLDER` waits for the end of its standard input, then ends every
process of the SLURM in FOLDER and of its jobs: they have its configuration in their
environment, or, as the daemons that look after a job and overwrite theirs, its log
open.
"""

import os
import signal
import sys
import time
from pathlib import Path


def members(folder: Path) -> set[int]:
    """Return the processes that belong to the SLURM in a folder."""
    result = f"SLURM_CONF={folder}/slurm.conf".encode()
    outcome = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            held = {os.readlink(link) for link in (process / "fd").iterdir()}
        except OSError:  # gone already, or another user's
            continue
        if result in environment or f"{folder}/slurmd.log" in held:
            outcome.add(int(process.name))
    return outcome


def main(folder: Path, grace_seconds: float = 3.0) -> None:
    """Wait; then ask what there is to end, and end it after the grace."""
    sys.stdin.buffer.read()
    patient_until = time.monotonic() + grace_seconds
    asked: set[int] = set()
    while running := members(folder):
        late = time.monotonic() > patient_until
        for process in running if late else running - asked:
            try:
                os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
            except ProcessLookupError:
                continue
        asked |= running
        time.sleep(0.1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
