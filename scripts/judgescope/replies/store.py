"""The store of replies: nothing is asked or paid twice, in any study, after any crash.

A shard is the folder of one model. Every process that asks writes a journal of its own there, one
JSON object a line, and never opens one again: no lock, and two writers at once lose nothing.
"""

import errno
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from judgescope.core.errors import UserError
from judgescope.core.slugs import slug
from judgescope.engines.requests import Reply
from judgescope.replies.corruption import check
from judgescope.replies.journal import CUT, forgetting, line_of, row_of
from judgescope.replies.key_table import Wanted
from judgescope.replies.lookup import Draw, Found
from judgescope.replies.shard import blocks, files_of

SYNC_SECONDS = 1.0
"""A crash of the machine loses at most the replies of so long; one of the process loses none."""
IDLE_SECONDS = 3600.0
"""A journal that was not written for so long is left alone: it may be compacted one day. So long by
either clock: that of a sleeping machine stands still, the other one is set."""


DAY = 86400.0
RESERVE, RESERVED = ".reserve", 1 << 22
"""Four megabytes beside each journal: room for the replies under way when the disk is full."""
FULL = {errno.ENOSPC, errno.EDQUOT}


def _disk_full(shard: Path, kept: str) -> UserError:
    return UserError(
        f"the disk is full: {kept}",
        where=str(shard),
        todo="make room and run again: only what is missing is asked",
    )


def _named(error: OSError, path: Path) -> OSError:
    """Return an error with the file that it is about, which a file's number does not tell."""
    error.filename = str(path)
    return error


def _clocks() -> tuple[float, float]:
    """Return the seconds of the clock that nobody sets, and of the one that files are dated by."""
    return time.monotonic(), time.time()


class Written(NamedTuple):
    """Where a line was written."""

    path: Path
    offset: int
    length: int


class Store:
    """The shard of one model in a folder that all studies may share, and this process's journal.

    `skipped` and `forgotten` are those of the last `find`; `proven`: this process found or kept a
    reply, so that the model answers; the names of its journals begin with `start`.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.shard = folder / slug(model)
        self.start = f"{slug(socket.gethostname())}-{os.getpid()}-{os.urandom(4).hex()}"
        self._begun = 0
        self.skipped = 0
        self.proven = False
        self.forgotten: dict[Draw, int] = {}
        self._file: int | None = None
        self._path = self.shard
        self._size = 0
        self._synced = 0.0
        self._written = (0.0, 0.0)
        self._torn = self._full = False
        self._reserve = self.shard / RESERVE

    def find(self, wanted: Wanted) -> Found:
        """Look the wanted replies up."""
        found = Found(self.shard, wanted)
        self.skipped, self.forgotten = found.skipped, found.forgotten
        self.proven |= found.count > 0
        return found

    def read(self, wanted: Mapping[str, int]) -> dict[Draw, Reply]:
        """Return the replies to the wanted keys, draws 0 to wanted[key] - 1."""
        return dict(self.find(Wanted.of(wanted)).replies())

    def errors(self) -> dict[Draw, Reply]:
        """Return every error that stands."""
        wanted: dict[str, int] = {}
        for path in files_of(self.shard):
            for block in blocks(path):
                lines = (line for line in block.lines() if b'"status":"error"' in line)
                for row in map(row_of, lines):
                    if row and row.get("status") == "error":
                        wanted[row["key"]] = max(row["draw"] + 1, wanted.get(row["key"], 0))
        return {draw: one for draw, one in self.read(wanted).items() if one.status == "error"}

    def ready(self) -> None:
        """Begin a journal before anything is asked: what cannot be kept is not to be paid for.

        Raises UserError where a line was changed since it was written: it may have been a reply to
        what is about to be asked, and would be paid for twice.
        """
        check(self.shard)
        if self._file is None:
            self._open()
            self._written = _clocks()

    def append(self, reply: Reply) -> Written:
        """Write a reply to the journal; it is final from here on. Return where it stands."""
        self.proven = True
        attempt = self.forgotten.get((reply.key, reply.draw), 0) + 1
        return self._write(line_of(reply, attempt))

    def adopt(self, line: bytes) -> None:
        """Write a whole line of another store to the journal, as it is."""
        self._write(line)

    def forget(self, draw: Draw) -> None:
        """Let a draw's errors so far be asked again."""
        self._write(forgetting(*draw, self.forgotten.get(draw, 0) + 1))

    def _write(self, line: bytes) -> Written:
        """Hand a line to the system at once, and to the disk about once a second."""
        now = _clocks()
        past = max(one - before for one, before in zip(now, self._written, strict=True))
        if self._file is None or past > IDLE_SECONDS:
            self._open()
        assert self._file is not None
        rest = CUT + line if self._torn else line
        self._torn = True
        while rest:  # a full disk takes part of a line, then raises
            try:
                written = os.write(self._file, rest)
            except OSError as error:
                self._make_room(error)
                continue
            self._size += written
            rest = rest[written:]
        self._torn, self._written = False, now
        if self._full:
            raise _disk_full(self.shard, "every reply that came was kept")
        if now[0] - self._synced > SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = now[0]
        return Written(self._path, self._size - len(line), len(line))

    def _open(self) -> None:
        """Begin a journal of our own."""
        self.close()
        self.shard.mkdir(parents=True, exist_ok=True)
        self._begun += 1
        name = f"{self.start}.{self._begun}.jsonl"
        self._path, self._size, self._torn = self.shard / name, 0, False
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._set_aside()
        self._file = os.open(self._path, flags, 0o644)

    def _set_aside(self) -> None:
        """Take room for the replies that are under way when the disk is found full."""
        for path in self.shard.glob(f".*{RESERVE}"):
            if time.time() - path.stat().st_mtime > DAY:  # of a process that was killed
                path.unlink(missing_ok=True)
        self._reserve = self.shard / f".{self._path.name}{RESERVE}"
        with self._reserve.open("wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, RESERVED)
            except OSError as error:
                self._reserve.unlink()
                if error.errno in FULL:
                    raise _disk_full(self.shard, "nothing was asked") from None
                if error.errno == errno.EFBIG:  # nor would the journal have room
                    raise _named(error, self._reserve) from None

    def _make_room(self, error: OSError) -> None:
        """Give up what was set aside, once; the job that writes then ends."""
        if error.errno not in FULL:
            raise _named(error, self._path)
        if self._full:
            raise _disk_full(self.shard, "the last replies found no room") from None
        self._full = True
        self._reserve.unlink(missing_ok=True)

    def close(self) -> None:
        """Bring what was written to the disk and close the journal."""
        self._reserve.unlink(missing_ok=True)
        if self._file is not None:
            file, self._file = self._file, None
            try:
                os.fsync(file)
            finally:
                os.close(file)
            if not self._size and not self._torn:
                self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        """Return the store; its journal appears when it is asked for."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the journal, whatever happened."""
        self.close()
