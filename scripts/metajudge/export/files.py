"""Files that are written whole or not at all, and never over another one unasked."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metajudge.schema.errors import UserError


def check_new(path: Path, *, force: bool, suffixes: tuple[str, ...]) -> None:
    """Raise UserError for a file that would not be written, before anything is read for it."""
    if path.suffix.lower() not in suffixes:
        raise UserError(
            "this kind of file is not written",
            where=str(path),
            got=path.suffix,
            allowed=", ".join(suffixes),
        )
    if not path.parent.is_dir():
        raise UserError("there is no such folder", where=str(path), got=str(path.parent))
    if path.exists() and not force:
        raise UserError(
            "this file is there already", where=str(path), todo="another name, or --force"
        )


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a name to write to; what was written gets the file's own name where all went well."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    """Write a text, the same bytes on every machine."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
