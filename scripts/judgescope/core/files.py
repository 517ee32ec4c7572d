"""Files that are written completely or not at all, and the hashes of a folder's
files.
"""

import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block ends without an error.

    An OSError in the block names `path`.
    """
    # Two threads may write the same file, too.
    writer = f"{os.getpid()}.{threading.get_ident()}"
    part = path.with_name(f".{path.name}.{writer}")
    with naming_path(path):
        try:
            yield part
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, taken: UserError) -> Iterator[None]:
    """Lock a file until the block ends; raise `taken` if another process has locked it.

    The kernel releases the lock of a process that is killed.
    """
    import fcntl  # here: only POSIX has it, and `audit` runs without

    with path.open("w") as file:
        try:
            with naming_path(path):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise taken from None
        yield


def lock_folder() -> Path:
    """Return the folder for locks between this user's jobs on this machine.

    It is local, because locks on network file systems are unreliable, and only the user
    can write to it. Raises PermissionError if it belongs to another user.
    """
    folder = Path(tempfile.gettempdir(), f"judgescope-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, with its folder; an OSError names the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming_path(path):
        path.write_text(text, encoding="utf-8", newline="\n")


def sync(*paths: Path) -> None:
    """Return once these files and folders are on disk."""
    for path in paths:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def naming_path(path: str | Path) -> Iterator[None]:
    """Let an OSError in the block name the file."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def write_hashes(paths: Mapping[str, str], output: str) -> None:
    """Write cell -> the hash of its file: one file that represents a folder of cells.

    Snakemake compares files by their content, but folders only by their times.
    """
    hashes = {}
    for cell, path in paths.items():
        hashes[cell] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    write_text(Path(output), canonical(hashes) + "\n")
