"""Which runs live in this folder: each holds a lock on a record of its own, which dies with it."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from judgescope.jobs.run import of_machine
from judgescope.replies.ledger import here, is_running

FOLDER = Path(".snakemake") / "judgescope"
OURS = "JUDGESCOPE_RUN"
"""The variable that has the process of the run that this process belongs to."""


@dataclass(frozen=True)
class Run:
    """A run of a study: its process, the host (and container) of that, and when it began."""

    study: str
    process: int
    place: str
    begun: str

    def __str__(self) -> str:
        """Return the run in words, with the host where that is another one."""
        host = "" if self.place == here() else f" on {self.place.split()[0]}"
        return f"process {self.process}{host} runs study {self.study} since {self.begun}"


@contextmanager
def recorded(study: str) -> Iterator[int]:
    """Record this process as one that runs a study; yield what holds the record's lock.

    The record counts as long as any process has that file descriptor open. Raises UserError where
    nothing can be written.
    """
    run = Run(study, os.getpid(), here(), time.strftime("%H:%M:%S"))
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
        new.replace(path)  # seen by others from here on, and locked already
        os.environ[OURS] = str(run.process)
        yield file
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def living() -> list[Run]:
    """Return the other runs in this folder that live; forget those that were killed."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        try:
            file = os.open(path, os.O_RDWR)
            run = Run(**json.loads(os.read(file, 1 << 16)))
        except (FileNotFoundError, ValueError, TypeError):
            continue
        if str(run.process) == os.environ.get(OURS):
            os.close(file)
            continue
        try:
            free = _locked(file)
        finally:
            os.close(file)
        lives = not free if free is not None else run.place != here() or is_running(run.process)
        if lives:
            found.append(run)
        else:
            path.unlink(missing_ok=True)
    return found


def _locked(file: int) -> bool | None:
    """Lock a file if nobody has; return whether, or None where the disk knows no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
