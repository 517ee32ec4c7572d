"""Files that never replace another one unasked."""

from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.core.files import whole


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


def write(path: Path, text: str) -> None:
    """Write a text, the same bytes on every machine."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
