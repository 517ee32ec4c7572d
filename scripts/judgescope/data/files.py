"""The files that a card names: where they lie, fetched from a hub if need be, and their hashes.

A path in a card is relative to the card's folder, absolute, or begins with `{data}`, the study's
data folder. Any other `{field}` makes it a pattern that stands for all files that match. A file on
a hub is fetched when it is first needed, and kept in the cache of the hub's client (package
huggingface_hub): HF_HOME says where that lies, HF_ENDPOINT which hub is asked, HF_TOKEN who asks,
HF_HUB_OFFLINE=1 that none is.
"""

import glob
import hashlib
import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.cards import Hub

RoleFiles = list[tuple[Path, dict[str, str]]]
"""The files of a role, each with the values of the pattern's fields."""

DATA = "{data}/"
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")
CLIENT = "huggingface_hub"


class HasFiles(Protocol):
    """A card with files: a dataset's, or a recorded model's."""

    @property
    def files(self) -> Mapping[str, str | Hub]:
        """Role -> path, pattern or file on a hub."""

    @property
    def sha256(self) -> dict[str, str]:
        """Role -> the hash that its files must have."""


def resolve(
    files: Mapping[str, str | Hub], role: str, folder: Path, data: Path, *, where: str = ""
) -> RoleFiles:
    """Return (path, fields) of every file of a role, sorted by path.

    `folder` is the card's, `data` what `{data}` stands for; `where` names the card in errors.
    A field matches any part of a name (`[^/]+`), the first one as much as it can. Raises UserError
    for an unknown role, for a file or pattern without a file, and for one that a hub does not give.
    """
    where = where or str(folder)
    if role not in files:
        raise UserError("`files` has no such role", where=where, got=role, allowed=files)
    where = f"{where}, key files.{role}"
    file = files[role]
    if isinstance(file, Hub):
        return [(fetch(file), {})]
    base, todo = folder, ""
    if file.startswith(DATA):
        base, todo = data, f"`{{data}}` is {data}, the study's key `data`: is that right?"
    name = file.removeprefix(DATA)
    if FIELD.search(name):
        return _matches(base, name, where, todo)
    path = base / name
    if os.path.isdir(path):
        raise UserError(
            "this is a folder, and a file is meant", where=where, got=str(path), todo=todo
        )
    if not os.path.isfile(path):  # unlike Path, it returns False for impossible names, too
        raise _absent(path, where, todo)
    return [(path, {})]


def absolute(path: str, folder: Path, data: Path) -> str:
    """Return the absolute form of a card's path to a single file or folder."""
    relative = path.removeprefix(DATA)
    return os.path.abspath((folder if relative == path else data) / relative)


def _absent(path: Path, where: str, todo: str) -> UserError:
    """Name what is missing, the file or the first folder on the way to it, and what is there."""
    while not os.path.isdir(path.parent):
        path = path.parent
    return UserError(
        f"there is no file or folder {path}",
        where=where,
        got=path.name,
        allowed=[entry.name for entry in path.parent.iterdir()],
        todo=todo,
    )


def _matches(base: Path, text: str, where: str, todo: str) -> RoleFiles:
    parts = Path(text).parts
    first = next(index for index, part in enumerate(parts) if FIELD.search(part))
    base, pattern = base.joinpath(*parts[:first]), "/".join(parts[first:])
    if not base.is_dir():
        raise _absent(base, where, todo)
    pieces = FIELD.split(pattern)  # literal, field, literal, field, ..., literal
    wild = re.sub(r"\*\*+", "*", "*".join(map(glob.escape, pieces[::2])))
    regex = ""
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            regex += re.escape(piece)
        else:
            again = piece in pieces[1:index:2]
            regex += f"(?P={piece})" if again else f"(?P<{piece}>[^/]+)"
    matches = [
        (path, match.groupdict())
        for path in sorted(base.glob(wild))
        if path.is_file() and (match := re.fullmatch(regex, path.relative_to(base).as_posix()))
    ]
    if not matches:
        raise UserError(
            f"no file in {base} matches this pattern",
            where=where,
            got=pattern,
            allowed=[path.name for path in base.iterdir()],
            todo=todo,
        )
    return matches


def sha256_of(files: RoleFiles) -> str:
    """Return the hash of a role's files: the file's own, or of all their `name sha256` lines.

    Names are relative to the folder that the files share, in sorted order.
    """
    paths = [path for path, _ in files]
    if len(paths) == 1:
        return _digest(paths[0])
    base = os.path.commonpath([path.parent for path in paths])
    lines = sorted(f"{path.relative_to(base).as_posix()} {_digest(path)}\n" for path in paths)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(
    card: HasFiles, folder: Path, data: Path, *, where: str = "", fetch: bool = True
) -> dict[str, str]:
    """Return role -> hash of a card's files.

    Without `fetch`, a file on a hub that is not in the cache has the hash that its card names.
    Raises UserErrors, one for each role whose hash is not the one that the card names.
    """
    where = where or str(folder)
    hashes = {
        role: sha256_of(resolve(card.files, role, folder, data, where=where))
        if fetch or role not in absent(card.files)
        else card.sha256[role]
        for role in sorted(card.files)
    }
    wrong = [
        UserError(
            "the file is not the one that the card describes",
            where=f"{where}, key sha256.{role}",
            got=hashes[role],
            allowed=[expected],
            todo="get the file again, or change the card's sha256 if the new file is meant",
        )
        for role, expected in sorted(card.sha256.items())
        if hashes[role] != expected
    ]
    if wrong:
        raise UserErrors(wrong)
    return hashes


def absent(files: Mapping[str, str | Hub]) -> dict[str, Hub]:
    """Return role -> file for those on a hub that are not in the cache."""
    return {
        role: file for role, file in files.items() if isinstance(file, Hub) and not _cached(file)
    }


def fetch(file: Hub) -> Path:
    """Return where a file lies in the cache, after fetching it if it is not there yet."""
    client = _client(file)
    try:
        return _cached(file) or Path(client.hf_hub_download(**_request(file)))
    except (OSError, ValueError) as error:
        raise UserError(
            f"a file cannot be fetched from the hub: {str(error).strip().splitlines()[0]}",
            where=str(file),
            todo="check the three names, the network, and HF_TOKEN if the data asks for terms; or "
            "get the file elsewhere and let the card name its path",
        ) from error


def _cached(file: Hub) -> Path | None:
    """Return where a file lies in the cache, or None; without a request."""
    path = _client(file).try_to_load_from_cache(**_request(file))
    return Path(path) if isinstance(path, str) else None


def _request(file: Hub) -> dict[str, str]:
    return {
        "repo_id": file.hub,
        "filename": file.file,
        "revision": file.revision,
        "repo_type": "dataset",
    }


def _client(file: Hub) -> Any:
    """Return the hub's client, imported only where a card names a file on a hub."""
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # they would fill a log
    try:
        return import_module(CLIENT)
    except ImportError as error:
        raise UserError(
            f"the package {CLIENT} is needed for a file on a hub",
            where=str(file),
            todo=f"pip install {CLIENT}, or get the file yourself and let the card name its path",
        ) from error
