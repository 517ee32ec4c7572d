"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a name to write to; what was written gets the file's own name where all went well.

    An OSError of the block names the file itself.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8; a fault of the machine's says which file it is about."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with about(path):
        path.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def about(path: str | Path) -> Iterator[None]:
    """Let an OSError of the block name the file that it is about."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
