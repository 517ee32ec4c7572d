"""Limits on a process's imports, memory and time, because a template is a program."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any


class _Absent:
    """An import finder for packages that are treated as not installed."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse the packages that are treated as absent, and find no other."""
        if name in self.names:
            raise ModuleNotFoundError(f"this job must not import {name}", name=name)


def hide(*names: str) -> None:
    """Treat these packages as not installed for the rest of this process."""
    sys.meta_path.insert(0, _Absent(*names))


def hide_pandas() -> None:
    """Hide pandas from pyarrow, unless torch is installed, which needs it.

    pyarrow would import pandas for the first list that becomes a column, to check
    whether it is a Series: this takes longer than all the work of a small job.
    """
    if find_spec("torch") is None:
        hide("pandas")


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Treat these packages as not installed while the block runs."""
    finder = _Absent(*names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


STATE = Path("/proc/self/statm")
MEMORY = Path("/proc/meminfo")
"""Where Linux tells how much memory is available."""
_ONE_AT_A_TIME = RLock()


@contextmanager
def bounded_memory(spare: int = 1 << 30) -> Iterator[None]:
    """Raise OverflowError if the block takes more than `spare` further bytes; the
    default is more than all copies of the largest prompt need.

    The limit applies to the process, so threads enter one after the other. Only on
    Linux can the memory of a process be read; elsewhere there is no limit.
    """
    import resource  # here: only POSIX has it, and `audit` runs without

    if not STATE.exists():
        yield
        return
    try:
        with _ONE_AT_A_TIME:
            before = resource.getrlimit(resource.RLIMIT_AS)
            taken = int(STATE.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            known = [limit for limit in before if limit != resource.RLIM_INFINITY]
            resource.setrlimit(
                resource.RLIMIT_AS, (min([taken + spare, *known]), before[1])
            )
            try:
                yield
            finally:
                # before the error is built, which takes memory, too
                resource.setrlimit(resource.RLIMIT_AS, before)
    except MemoryError:
        raise OverflowError(f"it takes more than {spare:,} bytes of memory") from None


def available_memory() -> int | None:
    """Return the bytes of memory still available, or None if the system does not report
    them.
    """
    try:
        lines = MEMORY.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    sizes = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            sizes.append(line.split()[1])
    if sizes:
        return int(sizes[0]) * 1024
    return None


def _open_files() -> int:
    """Return how many files this process has open, 0 where Linux does not say it."""
    folder = Path("/proc/self/fd")
    if folder.is_dir():
        return len(list(folder.iterdir()))
    return 0


def allow_connections(count: int, other_files: int = 256) -> None:
    """Let this process have `count` connections and `other_files` open, if the machine
    allows it.

    Many systems let a process open 1024 files, and far more if it asks for them.
    """
    import resource  # here: only POSIX has it, and `audit` runs without

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _open_files() + other_files
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Clock(threading.local):
    """A limit on the processor time of the current thread."""

    end = float("inf")

    @contextmanager
    def set(self, seconds: float) -> Iterator[None]:
        """Limit this thread's processor time while the block runs."""
        before = self.end
        self.end = min(before, time.thread_time() + seconds)
        try:
            yield
        finally:
            self.end = before

    def tick(self) -> None:
        """Raise OverflowError once the limit is reached."""
        if time.thread_time() > self.end:
            raise OverflowError("it takes too long to compute")
