"""The store of replies: what is here is not asked again, in any study.

A crash loses the replies that were under way; how many, the next run says.

A shard is the folder of one model. Every process that asks writes its own journal
there, one JSON object per line, and never reopens it. So no lock is needed, and
concurrent writers lose nothing.
"""

import errno
import os
import socket
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.engines.requests import HOPELESS, Reply
from judgescope.replies.inspection import check
from judgescope.replies.journal import (
    CUT,
    FailedLine,
    ReplyLine,
    closing,
    failing,
    forgetting,
    line_of,
    read_line,
)
from judgescope.replies.lookup import KeyedDraw, KeyTable, StoredReplies
from judgescope.replies.shard import (
    blocks,
    files_of,
    remove_model_if_alone,
    write_model,
)

DAY = 86400.0
RESERVE = ".reserve"
FULL = {errno.ENOSPC, errno.EDQUOT}


def disk_full(shard: Path, kept: str) -> UserError:
    """The error of a full disk; `kept` says which replies or requests are safe."""
    return UserError(
        f"the disk is full: {kept}",
        where=str(shard),
        todo="free some space and run again: only missing replies are requested",
    )


class Written(NamedTuple):
    """The place where a line was written."""

    path: Path
    offset: int
    length: int


class Store(AbstractContextManager["Store"]):
    """The shard of one model in a folder that studies can share, and this process's
    journals.

    `forgotten` comes from the last `find`. The names of its journals begin with
    `start`; the first is created with the first line.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.shard = folder / slug(model)
        self.model = model
        self.start = f"{slug(socket.gethostname())}-{os.getpid()}-{os.urandom(4).hex()}"
        self.closes = False
        """Whether its journals end with a closing line; `ready` sets it."""
        self._begun = 0
        self._proven = False  # this process found or stored a reply
        self.forgotten: dict[KeyedDraw, int] = {}
        self.asked_again: dict[KeyedDraw, set[int]] = {}
        self._file: int | None = None
        self._path = self.shard
        self._size = self._lines = 0
        self._synced = 0.0
        self._written = (0.0, 0.0)
        self._torn = self._full = False
        self._reserve = self.shard / RESERVE

    def find(self, key_table: KeyTable) -> StoredReplies:
        """Look up the replies to the keys of a table."""
        stored = StoredReplies(self.shard, key_table)
        self.forgotten = stored.forgotten
        self.asked_again = stored.asked_again
        self._proven |= stored.count > 0
        return stored

    def read(self, draws: Mapping[str, int]) -> dict[KeyedDraw, Reply]:
        """Return the replies to draws 0 to draws[key] - 1 of each key."""
        return dict(self.find(KeyTable.from_counts(draws)).replies())

    def errors(self) -> dict[KeyedDraw, Reply]:
        """Return every error that was not forgotten or replaced by a reply."""
        draws: dict[str, int] = {}
        for path in files_of(self.shard):
            for block in blocks(path):
                for data in block.lines():
                    line = None
                    if b'"status":"error"' in data:
                        line = read_line(data)
                    if isinstance(line, ReplyLine) and line.status == "error":
                        draws[line.key] = max(line.draw + 1, draws.get(line.key, 0))
        replies = self.read(draws).items()
        return {draw: reply for draw, reply in replies if reply.status == "error"}

    def failed_draws(self) -> set[KeyedDraw]:
        """Return every draw to which a job got no answer, though the endpoint
        answered another request.
        """
        draws: set[KeyedDraw] = set()
        for path in files_of(self.shard):
            for block in blocks(path):
                for data in block.lines():
                    line = None
                    if b'"failed":' in data:
                        line = read_line(data)
                    if isinstance(line, FailedLine):
                        draws.add((line.key, line.draw))
        return draws

    def is_proven(self, requests: int) -> bool:
        """Return whether the model answers, so that refusals are the fault of these
        requests.

        For a few requests, any reply in the shard shows it. For more, it must be a
        reply that this process found or stored: since the others, the card may have
        become wrong.
        """
        return self._proven or (requests < HOPELESS and self._has_reply())

    def _has_reply(self) -> bool:
        for path in files_of(self.shard):
            with suppress(FileNotFoundError):  # compacted meanwhile
                for block in blocks(path):
                    lines = map(read_line, block.lines())
                    if any(
                        isinstance(line, ReplyLine) and line.status == "ok"
                        for line in lines
                    ):
                        return True
        return False

    def ready(self) -> None:
        """Start a journal before any request: a reply that cannot be stored must not be
        paid for.

        Raises UserError if a line was changed after it was written: it may have been a
        reply that would now be paid for again.
        """
        check(self.shard)
        self.closes = True
        if self._file is None:
            self._open()
            self._written = time.monotonic(), time.time()

    def append(self, reply: Reply) -> Written:
        """Write a reply to the journal, where it stays; return its place."""
        self._proven = True
        attempt = self.forgotten.get((reply.key, reply.draw), 0) + 1
        return self._write(line_of(reply, attempt))

    def adopt(self, line: bytes) -> None:
        """Write a line of another store to the journal, unchanged."""
        self._write(line)

    def forget(self, draw: KeyedDraw, *, replies: bool = False) -> None:
        """Mark a draw's errors so far to be requested again, or also its replies."""
        attempt = self.forgotten.get(draw, 0) + 1
        self._write(forgetting(*draw, attempt, replies=replies))

    def fail(self, draw: KeyedDraw, reason: str) -> None:
        """Note that this process got no answer to a draw, though the endpoint
        answers.
        """
        attempt = self.forgotten.get(draw, 0) + 1
        self._write(failing(*draw, reason, job=self.start, attempt=attempt))

    def _write(self, line: bytes) -> Written:
        """Write a line at once, and sync the file about once a second."""
        now = time.monotonic(), time.time()
        idle = max(now[0] - self._written[0], now[1] - self._written[1])
        # After this time a new journal is started, so that the old one can be
        # compacted. Either clock can trigger this: the monotonic clock stops while a
        # machine sleeps, the other can be set.
        idle_seconds = 3600.0
        if self._file is None or idle > idle_seconds:
            self._open()
        assert self._file is not None
        rest = CUT + line if self._torn else line
        self._torn = True
        while rest:  # a full disk accepts part of a line, then raises
            try:
                written = os.write(self._file, rest)
            except OSError as error:
                self._make_room(error)
                continue
            self._size += written
            rest = rest[written:]
        self._torn = False
        self._written = now
        self._lines += 1
        if self._full:
            raise disk_full(self.shard, "every received reply is stored")
        # A crash of the machine loses at most the replies of this interval; of the
        # process, none.
        sync_seconds = 1.0
        if now[0] - self._synced > sync_seconds:
            os.fsync(self._file)
            self._synced = now[0]
        return Written(self._path, self._size - len(line), len(line))

    def _open(self) -> None:
        self.close()
        self.shard.mkdir(parents=True, exist_ok=True)
        self._begun += 1
        name = f"{self.start}.{self._begun}.jsonl"
        self._path = self.shard / name
        self._torn = False
        self._size = self._lines = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._set_aside()
        # Before the journal: a shard without journals is a new one.
        write_model(self.shard, self.model)
        self._file = os.open(self._path, flags, 0o644)

    def _set_aside(self) -> None:
        """Reserve space for the replies that are in flight when the disk becomes
        full.
        """
        for path in self.shard.glob(f".*{RESERVE}"):
            journal = self.shard / path.name[1 : -len(RESERVE)]
            with suppress(FileNotFoundError):  # removed meanwhile by its own process
                modified = (journal if journal.exists() else path).stat().st_mtime
                if time.time() - modified > DAY:  # left by a killed process
                    path.unlink()
        self._reserve = self.shard / f".{self._path.name}{RESERVE}"
        # Four megabytes next to each journal: space for replies in flight when the
        # disk is full.
        reserved = 1 << 22
        with self._reserve.open("wb") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, reserved)
            except OSError as error:
                self._reserve.unlink()
                if error.errno in FULL:
                    raise disk_full(self.shard, "no request was sent") from None
                if (
                    error.errno == errno.EFBIG
                ):  # the journal would hit the size limit too
                    error.filename = str(self._reserve)
                    raise

    def _make_room(self, error: OSError) -> None:
        """Free the reserved space, once; the job then ends."""
        if error.errno not in FULL:
            error.filename = str(self._path)  # the error of a descriptor names no file
            raise error
        if self._full:
            raise disk_full(
                self.shard, "the last replies could not be written"
            ) from None
        self._full = True
        self._reserve.unlink(missing_ok=True)

    def close(self) -> None:
        """Sync and close the journal."""
        self._reserve.unlink(missing_ok=True)
        if self._file is not None:
            file = self._file
            self._file = None
            try:
                if self.closes and self._size:
                    self._write_closing_line(file)
                os.fsync(file)
            finally:
                os.close(file)
            if not self._size and not self._torn:
                self._path.unlink(missing_ok=True)
                remove_model_if_alone(self.shard)

    def _write_closing_line(self, file: int) -> None:
        line = closing(self._lines)
        try:
            os.write(file, CUT + line if self._torn else line)
        except OSError as error:
            # on a full disk every reply is stored; `verify` then notes the missing line
            if error.errno not in FULL:
                error.filename = str(self._path)
                raise

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Close the journal; after an error, without a closing line."""
        self.closes = self.closes and error is None
        self.close()
