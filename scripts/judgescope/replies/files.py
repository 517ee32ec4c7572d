"""Lines by their place in some files, of which a few are open at a time."""

import os
import tempfile
from io import FileIO
from pathlib import Path
from typing import NamedTuple

OPEN = 64
"""A shard may have more journals than a process may have open files."""

SPOOL = 1 << 30
"""The number of the temporary file."""


class Place(NamedTuple):
    """A line in one of several files, by the file's number."""

    file: int
    offset: int
    length: int


class Files:
    """Files by number, opened when something is read from them."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self._spool: FileIO | None = None
        self._spooled = 0
        self._numbers: dict[Path, int] = {}
        self._open: dict[int, FileIO] = {}

    def number(self, path: Path) -> int:
        """Return a file's number."""
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return self._numbers[path]

    def spool(self, data: bytes) -> tuple[int, int]:
        """Put bytes into a temporary file; return its number and where they are."""
        if self._spool is None:
            self._spool = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        assert self._spool is not None
        offset, self._spooled = self._spooled, self._spooled + len(data)
        while data:
            data = data[self._spool.write(data) :]
        return SPOOL, offset

    def read(self, place: Place) -> bytes:
        """Return the bytes at a place; FileNotFoundError if the file is there no more."""
        file = self._spool if place.file == SPOOL else self._open.get(place.file)
        if file is None:
            if len(self._open) >= OPEN:
                self._open.pop(next(iter(self._open))).close()
            file = self._open[place.file] = FileIO(self.paths[place.file])
        return os.pread(file.fileno(), place.length, place.offset)
