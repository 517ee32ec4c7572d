"""A bound on memory: a template is a program, and may ask for more than a machine has."""

import os
import resource
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
