"""A table from standard input or a pipe, kept as a file while it is audited."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from judgescope.core.errors import UserError


@contextmanager
def as_file(path: Path, most_bytes: int) -> Iterator[Path]:
    """Yield a path that can be read more than once: that of a copy for `-` and pipes.

    Raises UserError for more than `most_bytes`, or nothing.
    """
    stdin = Path("-")
    if path != stdin and (path.is_file() or not _is_readable_once(path)):
        yield path
        return
    if path == stdin:
        content = sys.stdin.buffer.read(most_bytes + 1)
    else:
        with path.open("rb") as pipe:
            content = pipe.read(most_bytes + 1)
    if not content or len(content) > most_bytes:
        raise UserError(
            "standard input is empty" if not content else "standard input is too large",
            where=str(path),
            got=None if not content else f"more than {most_bytes:,} bytes",
            allowed=None if not content else f"up to {most_bytes:,} bytes",
            todo="pipe a table with a header and at least two rows",
        )
    with TemporaryDirectory(prefix="judgescope-") as folder:
        copy = Path(folder, f"stdin{_suffix(content)}")
        copy.write_bytes(content)
        yield copy


def _is_readable_once(path: Path) -> bool:
    if path.is_fifo():
        return True
    return path.is_char_device() or path.is_socket()


def _suffix(content: bytes) -> str:
    """The suffix of results of a tool, which are one JSON value; else that of a table,
    which is opened by its content.
    """
    if not content.lstrip().startswith((b"{", b"[")):
        return ".csv"
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return ".jsonl"
    return ".json"
