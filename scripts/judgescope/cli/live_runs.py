"""The active runs of this folder: each keeps a record of itself locked while it is
alive.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from judgescope.core.hosts import host_id, is_running
from judgescope.plan.jobs import of_machine

FOLDER = Path(".snakemake") / "judgescope"
OURS = "JUDGESCOPE_RUN"
"""The variable with the process id of the run that this process belongs to."""


@dataclass(frozen=True)
class Run:
    """A run of a study: its process id, its host (and container), and its start."""

    study: str
    process: int
    host: str
    begun: str

    def __str__(self) -> str:
        """Return the run in words, with its host unless it is this one."""
        host = ""
        if self.host != host_id():
            host = f" on {self.host.split()[0]}"
        return (
            f"process {self.process}{host}, running study {self.study} since "
            f"{self.begun}"
        )


@contextmanager
def recorded(study: str) -> Iterator[int]:
    """Record this process as a run of a study; yield the file descriptor with the
    record's lock.

    The record is valid as long as any process has that descriptor open. Raises
    UserError if the record cannot be written.
    """
    run = Run(study, os.getpid(), host_id(), time.strftime("%H:%M:%S"))
    path = FOLDER / f"{run.process}.{os.urandom(4).hex()}.json"
    new = path.with_suffix(".new")
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(asdict(run)) + "\n", encoding="utf-8")
        file = os.open(new, os.O_RDWR)
    except OSError as error:
        raise of_machine(error) or error from None
    try:
        _locked(file)
        new.replace(path)  # visible to other runs from now on, and already locked
        os.environ[OURS] = str(run.process)
        yield file
    finally:
        os.environ.pop(OURS, None)
        path.unlink(missing_ok=True)
        os.close(file)


def living() -> list[Run]:
    """Return the other active runs in this folder; forget those that were killed."""
    runs = []
    for path in sorted(FOLDER.glob("*.json")):
        try:
            with path.open("r+b") as file:
                run = Run(**json.load(file))
                if str(run.process) == os.environ.get(OURS):
                    continue
                free = _locked(file.fileno())
        except (FileNotFoundError, ValueError, TypeError):
            continue
        if free is None:  # the disk does not support locks
            lives = run.host != host_id() or is_running(run.process)
        else:
            lives = not free
        if lives:
            runs.append(run)
        else:
            path.unlink(missing_ok=True)
    return runs


def _locked(file: int) -> bool | None:
    """Lock a file if it is free; return whether it was, None if the disk does not
    support locks.
    """
    import fcntl  # here: only POSIX has it, and `audit` runs without

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
