"""The store of replies: nothing is asked or paid twice, in any study, after any crash.

A shard is the folder of one model. Every process that asks writes a journal of its own there, one
JSON object a line, and never opens one again: no lock, and two writers at once lose nothing. A line
is `{"key":…,"draw":…,…}`, the key first, so that what is not wanted is passed over unread.
"""

import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from metajudge.engines.asked import Reply
from metajudge.schema.slugs import slug

HEAD = b'{"key":"'
KEY_LENGTH = 64
KEY = slice(len(HEAD), len(HEAD) + KEY_LENGTH)
SYNC_SECONDS = 1.0
"""A crash of the machine loses at most the replies of so long; one of the process loses none."""

Draw = tuple[str, int]
"""(key, draw)."""
_FIELDS = {one.name for one in fields(Reply)}


class Store:
    """The shard of one model in a folder that all studies may share, and this process's journal.

    `skipped` counts the lines of the last reading that are no whole reply: torn by a crash, or not
    ours. `forgotten` has the errors that are to be asked again: draw -> the last such attempt.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self.shard = folder / slug(model)
        self.skipped = 0
        self.forgotten: dict[Draw, int] = {}
        self._file: int | None = None
        self._synced = 0.0
        self._torn = False

    def read(self, wanted: Mapping[str, int]) -> dict[Draw, Reply]:
        """Return the replies to the wanted keys, draws 0 to wanted[key] - 1.

        Of several replies to one draw (two processes asked at once) a reply goes before an error,
        then the first in the order of the bytes: the same, in whatever order they were written.
        """
        lines: dict[Draw, tuple[bool, bytes, dict[str, Any]]] = {}
        self.skipped = 0
        errors: list[tuple[Draw, bytes, dict[str, Any]]] = []
        keys = {key.encode() for key in wanted}
        for line in self._lines():
            if line[KEY] not in keys:
                continue
            row = _row(line)
            if row is None:
                self.skipped += 1
                continue
            draw = (row["key"], row["draw"])
            if "forget" in row:
                self.forgotten[draw] = max(row["forget"], self.forgotten.get(draw, 0))
            elif row["draw"] >= wanted[row["key"]]:
                continue
            elif row["status"] == "error":
                errors.append((draw, line, row))
            else:
                _keep(lines, draw, (False, line, row))
        for draw, line, row in errors:
            if row.get("attempt", 1) > self.forgotten.get(draw, 0):
                _keep(lines, draw, (True, line, row))
        return {draw: _reply(row) for draw, (_, _, row) in lines.items()}

    def errors(self) -> dict[Draw, Reply]:
        """Return every error that stands."""
        keys = {line[KEY].decode("ascii", "replace"): 1 << 31 for line in self._lines()}
        found = self.read(keys)
        return {draw: reply for draw, reply in found.items() if reply.status == "error"}

    def append(self, reply: Reply) -> None:
        """Write a reply to the journal; it is final from here on."""
        attempt = self.forgotten.get((reply.key, reply.draw), 0) + 1
        self._write(asdict(reply) | ({"attempt": attempt} if attempt > 1 else {}))

    def forget(self, draw: Draw) -> None:
        """Let a draw's errors so far be asked again."""
        attempt = self.forgotten.get(draw, 0) + 1
        self._write({"key": draw[0], "draw": draw[1], "forget": attempt})

    def _lines(self) -> Iterator[bytes]:
        for path in sorted(self.shard.glob("*.jsonl")):
            with path.open("rb") as file:
                for line in file:
                    if line.startswith(HEAD) and line.endswith(b"}\n"):
                        yield line
                    else:
                        self.skipped += 1

    def _write(self, row: dict[str, Any]) -> None:
        """Hand a line to the system at once, and to the disk about once a second."""
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        if self._file is None:
            self._file = self._open()
        if self._torn:
            line = b"\n" + line
        self._torn = True
        while line:  # a full disk takes part of a line, then raises
            line = line[os.write(self._file, line) :]
        self._torn = False
        if time.monotonic() - self._synced > SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = time.monotonic()

    def _open(self) -> int:
        self.shard.mkdir(parents=True, exist_ok=True)
        name = f"{slug(socket.gethostname())}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
        return os.open(self.shard / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)

    def __enter__(self) -> Self:
        """Return the store; its journal appears with the first line."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Bring what was written to the disk, whatever happened, and close the journal."""
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None


def _row(line: bytes) -> dict[str, Any] | None:
    """Return a line of ours, or None: a reply with all its fields, or an error to be forgotten."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    whole = {"key", "draw", "forget"} <= set(row) or set(row) >= _FIELDS
    numbers = [row["draw"], row.get("forget", 1), row.get("attempt", 1)] if whole else [None]
    ours = all(isinstance(number, int) for number in numbers) and len(row["key"]) == KEY_LENGTH
    return row if ours else None


def _reply(row: dict[str, Any]) -> Reply:
    return Reply(**{name: row[name] for name in _FIELDS})


def _keep(
    lines: dict[Draw, tuple[bool, bytes, dict[str, Any]]],
    draw: Draw,
    line: tuple[bool, bytes, dict[str, Any]],
) -> None:
    if draw not in lines or line[:2] < lines[draw][:2]:
        lines[draw] = line
