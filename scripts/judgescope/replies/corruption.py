"""Lines that were changed since they were written: named, and never taken for what is missing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judgescope.core.errors import UserError
from judgescope.replies.journal import digest_of, is_damaged
from judgescope.replies.shard import JOURNAL, files_of

DROPPED = ".dropped"
"""In a shard: the digests of damaged lines that may be asked for again, one a line."""
SHOWN = 5


class Damaged(NamedTuple):
    """A damaged line of a journal: the file, the line's number from 1, and its digest."""

    path: Path
    number: int
    digest: bytes

    def __str__(self) -> str:
        """Return where the line stands."""
        return f"{self.path}:{self.number}"


def damaged(shard: Path) -> Iterator[Damaged]:
    """Yield the damaged lines of a shard that were not dropped.

    Compacted files have checksums of their own, which are looked at when they are read.
    """
    dropped = _dropped(shard)
    for path in files_of(shard):
        if path.suffix != JOURNAL:
            continue
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if is_damaged(line) and (digest := digest_of(line)) not in dropped:
                        yield Damaged(path, number, digest)
        except FileNotFoundError:  # compacted meanwhile
            continue


def check(shard: Path) -> None:
    """Raise UserError where a shard has damaged lines: each may be a reply that was paid for."""
    if found := list(damaged(shard)):
        raise UserError(
            "replies in the store were changed since they were written; nothing was asked",
            where=", ".join(map(str, found[:SHOWN])),
            got=f"{len(found)} lines whose checksum is wrong",
            todo="fetch these files from a backup, or let what stood there be asked and paid for "
            "again: judgescope replies verify --drop",
        )


def drop(shard: Path) -> int:
    """Let what stood in a shard's damaged lines be asked for again; return how many there are.

    The lines stay where they are.
    """
    found = list(damaged(shard))
    if found:
        lines = b"".join(one.digest.hex().encode() + b"\n" for one in found)
        file = os.open(shard / DROPPED, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(file, lines)
            os.fsync(file)
        finally:
            os.close(file)
    return len(found)


def _dropped(shard: Path) -> set[bytes]:
    path = shard / DROPPED
    if not path.is_file():
        return set()
    return {bytes.fromhex(line) for line in path.read_text(encoding="ascii").split()}
