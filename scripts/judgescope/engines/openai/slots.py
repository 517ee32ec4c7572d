"""Places at an endpoint, shared by the jobs of one user on one machine.

A place is a lock on one byte of a file in the machine's folder for temporary files: the kernel
frees what a dead job held, and no network file system is asked for locks.
"""

import fcntl
import hashlib
import math
import os
import stat
import tempfile
from pathlib import Path

MOST_JOBS = 64
"""Jobs at one endpoint that are counted; further ones take what these leave."""
APART = 1 << 20
"""Bytes of the file for one endpoint: the first half for places, the second for jobs."""


class Places:
    """The places of one job at one endpoint.

    Of `most` places every job holds an equal share, rounded up. A job that holds more gives places
    back as its requests end, so no more than `most` requests are ever under way together. `close`
    gives back everything.
    """

    def __init__(self, address: str, most: int) -> None:
        """Raises OSError where files cannot be locked."""
        self.most = min(most, APART // 2)
        digest = hashlib.sha256(address.rstrip("/").lower().encode()).digest()
        self._first = int.from_bytes(digest[:5], "big") * APART
        self._jobs = range(self._first + APART // 2, self._first + APART // 2 + MOST_JOBS)
        self._held: list[int] = []
        self._file = os.open(_path(), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._job = next(filter(self._take, self._jobs), None)

    def balance(self, under_way: int, wanted: int) -> int:
        """Return how many requests may be under way now, at most `wanted`; look again soon.

        Places beyond the job's share are given back once no request uses them.
        """
        share = min(math.ceil(self.most / self._count()), wanted)
        while len(self._held) > max(share, under_way):
            self._give(self._held.pop())
        # from the top: a job whose card allows fewer looks for places at the bottom only
        for place in reversed(range(self._first, self._first + self.most)):
            if len(self._held) >= share:
                break
            if place not in self._held and self._take(place):
                self._held.append(place)
        self._held.sort(reverse=True)
        return min(len(self._held), share)

    def _count(self) -> int:
        """Return how many jobs are at the endpoint, this one too."""
        count = 1
        for other in self._jobs:
            if other == self._job:  # to lock it again would succeed, and to unlock it free it
                continue
            if self._take(other):
                self._give(other)
            else:
                count += 1
        return count

    def _take(self, byte: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):  # POSIX allows both for a byte that is locked
            return False
        return True

    def _give(self, byte: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)

    def close(self) -> None:
        """Give back all places."""
        os.close(self._file)


def _path() -> Path:
    """Return the file of all endpoints, in a folder that is the user's alone."""
    folder = Path(tempfile.gettempdir(), f"judgescope-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} is another user's")
    return folder / "places"
