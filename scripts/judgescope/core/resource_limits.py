"""Bounds on memory and time: a template is a program, and a file may unfold without end."""

import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

SPARE = 1 << 30
"""Bytes, more than a prompt of the greatest size takes in all its copies."""
STATE = Path("/proc/self/statm")
_ONE_AT_A_TIME = RLock()


@contextmanager
def bounded_memory(spare: int = SPARE) -> Iterator[None]:
    """Let this process take at most `spare` bytes more; raise OverflowError for what wants more.

    It is the whole process that is limited, one thread after the other. Linux knows how much a
    process has taken; elsewhere nothing is bounded.
    """
    if not STATE.exists():
        yield
        return
    try:
        with _ONE_AT_A_TIME:
            before = resource.getrlimit(resource.RLIMIT_AS)
            taken = int(STATE.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            known = [limit for limit in before if limit != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min([taken + spare, *known]), before[1]))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_AS, before)  # first: an error takes memory, too
    except MemoryError:
        raise OverflowError(f"it takes more than {spare:,} bytes of memory") from None


class Clock(threading.local):
    """How long a thread has computed since it was set; others on the machine do not count."""

    end = float("inf")

    @contextmanager
    def set(self, seconds: float) -> Iterator[None]:
        """Let this thread compute for at most so long while the block runs."""
        before, self.end = self.end, min(self.end, time.thread_time() + seconds)
        try:
            yield
        finally:
            self.end = before

    def tick(self) -> None:
        """Raise OverflowError if the time is over."""
        if time.thread_time() > self.end:
            raise OverflowError("it takes too long to compute")
