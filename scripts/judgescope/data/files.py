"""The files that a card names: where they are, downloaded from a hub if needed, and
their hashes.

A path in a card is relative to the card's folder, absolute, or begins with `{data}`,
the study's data folder; files missing there are looked for in the cache of downloaded
files (`data.fetch`). `package:<name>/<file>` is a file of an installed package. Any
other `{field}` makes the path a pattern for all files that match. A file on a hub is
downloaded when it is first needed, and kept in the cache of the hub's client (package
huggingface_hub): HF_HOME names the cache, HF_ENDPOINT the hub, HF_TOKEN the user; with
HF_HUB_OFFLINE=1 no request is sent.
"""

import glob
import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NoReturn, Protocol, runtime_checkable

from judgescope.core.errors import UserError, UserErrors
from judgescope.schema.cards import Hub
from judgescope.schema.cards.base import BLOB
from judgescope.schema.cards.models import PACKAGE

RoleFiles = list[tuple[Path, dict[str, str]]]
"""The files of a role, each with the values of the pattern's fields."""

DATA = "{data}/"
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


@runtime_checkable
class HasFiles(Protocol):
    """A card with files: a dataset's, or a model's that is recorded, a program, or run
    here.
    """

    @property
    def files(self) -> Mapping[str, str | Hub]:
        """Role -> path, pattern or file on a hub."""

    @property
    def sha256(self) -> dict[str, str]:
        """Role -> the hash that its files must have."""


def resolve(
    files: Mapping[str, str | Hub],
    role: str,
    folder: Path,
    data: Path,
    *,
    where: str = "",
) -> RoleFiles:
    """Return (path, fields) of every file of a role, sorted by path.

    `folder` is the card's folder, `data` the folder for `{data}`; `where` names the
    card in errors. A field matches any part of a name (`[^/]+`), the first field as
    much as possible. Raises UserError for an unknown role, a missing file, a pattern
    without files, and a failed download from a hub.
    """
    where = where or str(folder)
    if role not in files:
        raise UserError("unknown role in `files`", where=where, got=role, allowed=files)
    where = f"{where}, key files.{role}"
    file = files[role]
    if isinstance(file, Hub):
        return [(fetch(file), {})]
    if file.startswith(PACKAGE):
        return [(_packaged(file, where), {})]
    base = folder
    todo = ""
    name = file.removeprefix(DATA)
    if name != file:
        base = (
            data if _is_there(data, name) or not _is_there(cache(), name) else cache()
        )
        todo = (
            f"check that {data} (the study's key `data`) is the right folder for "
            f"`{{data}}`; `judgescope data list` lists the files that can be downloaded"
        )
    if FIELD.search(name):
        return _matches(base, name) or _no_match(base, name, where, todo)
    path = _plain(base / name)
    if os.path.isdir(path):
        raise UserError(
            "this is a folder, not a file", where=where, got=str(path), todo=todo
        )
    if not os.path.isfile(
        path
    ):  # unlike Path, it returns False for impossible names, too
        raise _absent(path, where, todo)
    return [(path, {})]


def places(file: str, folder: Path, data: Path) -> list[Path]:
    """Return the files that a card's path can mean, which need not exist, or the
    folders in which its pattern looks; the arguments are those of `resolve`.

    >>> places("rated.csv", Path("config/datasets"), Path("data"))
    [PosixPath('config/datasets/rated.csv')]
    >>> places("../{task}/{name}.csv", Path("config/datasets"), Path("data"))
    [PosixPath('config')]
    """
    name = file.removeprefix(DATA)
    bases = [folder] if name == file else [data, cache()]
    if FIELD.search(name):
        return [_fixed(base, name)[0] for base in bases]
    return [_plain(base / name) for base in bases]


def _packaged(file: str, where: str) -> Path:
    """Return the path of a file of an installed package, without importing the
    package.
    """
    package, _, name = file.removeprefix(PACKAGE).partition("/")
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        raise UserError(
            "the package that contains this file is not installed",
            where=where,
            got=package,
            todo=f"pip install --no-deps {package}, or give the file's `path` in the "
            "card",
        ) from None
    paths = []
    for path in files:
        if path.name == name:
            paths.append(Path(str(path.locate())))
    if not paths:
        raise UserError(
            "the package does not contain this file",
            where=where,
            got=name,
            allowed=[path.name for path in files],
        )
    return paths[0]


def absolute(path: str, folder: Path, data: Path) -> str:
    """Return the absolute form of a card's path to a single file or folder."""
    relative = path.removeprefix(DATA)
    return os.path.abspath((folder if relative == path else data) / relative)


def _plain(path: Path) -> Path:
    """Return a path without `..`, unless a link makes that another file."""
    short = Path(os.path.normpath(path))
    with suppress(ValueError):  # no file has such a name
        if os.path.realpath(short) == os.path.realpath(path):
            return short
        return path
    return path


def _absent(path: Path, where: str, todo: str) -> UserError:
    """Return the error for a missing file or folder, with what exists in its place."""
    while not os.path.isdir(path.parent):
        path = path.parent
    return UserError(
        f"no such file or folder: {path}",
        where=where,
        got=path.name,
        allowed=[entry.name for entry in path.parent.iterdir()],
        todo=todo,
    )


def cache() -> Path:
    """Return the folder of downloaded files: JUDGESCOPE_DATA, or one in the user's
    cache.
    """
    if folder := os.environ.get("JUDGESCOPE_DATA"):
        return Path(folder).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("judgescope") / "data"


def _is_there(base: Path, name: str) -> bool:
    """Return whether a folder has a file of this name, or a file that matches this
    pattern.
    """
    if FIELD.search(name):
        return bool(_matches(base, name))
    return os.path.exists(base / name)


def _fixed(base: Path, text: str) -> tuple[Path, str]:
    """Return the folder before the first field of a pattern, and the rest of the
    pattern.
    """
    parts = list(Path(text).parts)
    fixed = list[str]()
    while not FIELD.search(parts[0]):
        fixed.append(parts.pop(0))
    return _plain(base.joinpath(*fixed)), "/".join(parts)


def _matches(base: Path, text: str) -> RoleFiles:
    """Return the files that match a pattern, with the values of its fields."""
    base, pattern = _fixed(base, text)
    if not base.is_dir():
        return []
    pieces = FIELD.split(pattern)  # literal, field, literal, field, ..., literal
    literals = [glob.escape(piece) for piece in pieces[::2]]
    # `**` would search folders within folders.
    wild = re.sub(r"\*\*+", "*", "*".join(literals))
    regex = _regex(pattern)
    matches: RoleFiles = []
    for path in sorted(base.glob(wild)):
        match = re.fullmatch(regex, path.relative_to(base).as_posix())
        if match and path.is_file():
            matches.append((path, match.groupdict()))
    return matches


def _regex(pattern: str) -> str:
    """Return the regular expression of a path whose fields are groups."""
    pieces = FIELD.split(pattern)
    regex = ""
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            regex += re.escape(piece)
        elif piece in pieces[1:index:2]:
            regex += f"(?P={piece})"
        else:
            regex += f"(?P<{piece}>[^/]+)"
    return regex


def _no_match(base: Path, text: str, where: str, todo: str) -> NoReturn:
    base, pattern = _fixed(base, text)
    if not base.is_dir():
        raise _absent(base, where, todo)
    raise UserError(
        f"no file in {base} matches this pattern",
        where=where,
        got=pattern,
        allowed=[path.name for path in base.iterdir()],
        todo=todo,
    )


def sha256_of(files: RoleFiles) -> str:
    """Return the hash of a role's files: of the single file, or of all their `name
    sha256` lines.

    Names are relative to the files' common folder, in sorted order.
    """
    return _of_all({path: digest(path) for path, _ in files})


def _of_all(digests: Mapping[Path, str]) -> str:
    """Return the hash of files with these hashes."""
    if len(digests) == 1:
        return next(iter(digests.values()))
    base = os.path.commonpath([path.parent for path in digests])
    lines = list[str]()
    for path, file_digest in digests.items():
        lines.append(f"{path.relative_to(base).as_posix()} {file_digest}\n")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def blob_id(path: Path) -> str:
    """Return the id that git gives to a file's bytes, as `git hash-object` prints
    it.
    """
    header = f"blob {path.stat().st_size}\0".encode()
    with path.open("rb") as file:
        start = hashlib.sha1(header, usedforsecurity=False)
        return hashlib.file_digest(file, start.copy).hexdigest()


def pin_of(path: Path, pin: str) -> str:
    """Return the pin of a file, of the kind of another pin: its sha256 or blob id."""
    if pin.startswith(BLOB):
        return f"{BLOB}{blob_id(path)}"
    return digest(path)


def noted_sha256(name: str) -> Path:
    """Return where the cache notes the sha256 of a file that was pinned by its blob
    id.
    """
    return cache() / ".sha256" / name


def has_pin(name: str, pin: str) -> bool:
    """Return whether a file of the cache has its pin, and the sha256 noted at its
    first download.
    """
    path = cache() / name
    noted = noted_sha256(name)
    if pin.startswith(BLOB) and noted.is_file():
        if digest(path) != noted.read_text("ascii"):
            return False
        return pin_of(path, pin) == pin
    return pin_of(path, pin) == pin


def pin_error(path: Path, pin: str, where: str) -> UserError:
    """Return the error for a file of the cache that has not the pin of its card, or
    not the sha256 noted at its first download.
    """
    got = pin_of(path, pin)
    expected = pin
    if got == pin:
        got = digest(path)
        expected = noted_sha256(path.relative_to(cache()).as_posix()).read_text("ascii")
    return UserError(
        "a fetched file differs from the one that its card describes",
        where=f"{where}: {path}",
        got=got.removeprefix(BLOB),
        allowed=[expected.removeprefix(BLOB)],
        todo="delete it, and fetch it again",
    )


def verify(
    card: HasFiles, folder: Path, data: Path, *, where: str = "", fetch: bool = True
) -> dict[str, str]:
    """Return role -> hash of a card's files.

    Without `fetch`, a file on a hub that is not in the cache has the hash that its card
    gives. Raises UserErrors, one for each role whose hash differs from the card's.
    """
    where = where or str(folder)
    hashes: dict[str, str] = {}
    expected = dict(card.sha256)
    wrong = list[UserError]()
    for role in sorted(card.files):
        if not fetch and role in absent(card.files):
            hashes[role] = card.sha256[role]
            continue
        files = resolve(card.files, role, folder, data, where=where)
        hashes[role] = sha256_of(files)
        fetched = published(card, role)
        if fetched and all(path.is_relative_to(cache()) for path, _ in files):
            digests, faults = _of_cache(fetched, f"{where}, key source.files")
            wrong += faults
            if not faults:
                expected[role] = _of_all(digests)
    for role, expected_hash in sorted(expected.items()):
        if hashes[role] == expected_hash:
            continue
        error = UserError(
            "the file's checksum differs from the card's",
            where=f"{where}, key sha256.{role}",
            got=hashes[role],
            allowed=[expected_hash],
            todo="get the file again, or update the card's sha256 if the new file is "
            "intended",
        )
        wrong.append(error)
    if wrong:
        raise UserErrors(wrong)
    return hashes


def _of_cache(
    pins: Mapping[Path, str], where: str
) -> tuple[dict[Path, str], list[UserError]]:
    """Return path -> the sha256 that a file of the cache must have, and errors for
    files that have not the blob id of their card.
    """
    digests: dict[Path, str] = {}
    faults = list[UserError]()
    for path, pin in pins.items():
        digests[path] = pin
        if not pin.startswith(BLOB):
            continue
        name = path.relative_to(cache()).as_posix()
        if path.is_file() and not has_pin(name, pin):
            faults.append(pin_error(path, pin, where))
        elif path.is_file():
            digests[path] = digest(path)
    return digests, faults


def published(card: HasFiles, role: str) -> dict[Path, str]:
    """Return path in the cache -> pin, for the files of a role that can be
    downloaded.
    """
    file = card.files[role]
    digests: Mapping[str, str] = getattr(card, "published", {})
    if not digests or isinstance(file, Hub) or not file.startswith(DATA):
        return {}
    regex = _regex(file.removeprefix(DATA))
    paths: dict[Path, str] = {}
    for name, file_digest in digests.items():
        if re.fullmatch(regex, name):
            paths[cache() / name] = file_digest
    return paths


def to_fetch(card: HasFiles, data: Path) -> set[str]:
    """Return the paths below `{data}` of the files that a run must download.

    These are not files of a role that the study's data folder has, nor files in the
    cache.
    """
    names = set[str]()
    for role, file in card.files.items():
        for path in published(card, role):
            is_given = _is_there(data, str(file).removeprefix(DATA))
            if not is_given and not path.is_file():
                names.add(path.relative_to(cache()).as_posix())
    return names


def absent(files: Mapping[str, str | Hub]) -> dict[str, Hub]:
    """Return role -> file, for files on a hub that are not in the cache."""
    missing: dict[str, Hub] = {}
    for role, file in files.items():
        if isinstance(file, Hub) and not _cached(file):
            missing[role] = file
    return missing


def fetch(file: Hub) -> Path:
    """Return the path of a file in the cache, after downloading it if it is not there
    yet.
    """
    try:
        return _cached(file) or Path(_of_hub(file, "hf_hub_download"))
    except (OSError, ValueError) as error:
        raise UserError(
            "this file cannot be downloaded from the hub: "
            f"{str(error).strip().splitlines()[0]}",
            where=str(file),
            todo=(
                "check the keys of the file, the network, and HF_TOKEN if the data is "
                "gated; or download the file yourself and put its path in the card"
            ),
        ) from error


def _cached(file: Hub) -> Path | None:
    """Return the path of a file in the cache, or None; sends no request."""
    path = _of_hub(file, "try_to_load_from_cache")
    if isinstance(path, str):
        return Path(path)
    return None


def _of_hub(file: Hub, function: str) -> Any:
    """Call a function of the hub's client, imported only if a card names a file on a
    hub.
    """
    os.environ.setdefault(
        "HF_HUB_DISABLE_PROGRESS_BARS", "1"
    )  # progress bars would fill the log
    try:
        import huggingface_hub as client
    except ImportError as error:
        raise UserError(
            "a file on a hub needs the package huggingface_hub",
            where=str(file),
            todo=(
                "pip install huggingface_hub, or download the file yourself and put "
                "its path in the card"
            ),
        ) from error
    named = {"repo_id": file.hub, "filename": file.file, "revision": file.revision}
    return getattr(client, function)(**named, repo_type="dataset")
