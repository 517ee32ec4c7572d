"""Files that their authors publish: downloaded once, checked, and kept in a cache.

`JUDGESCOPE_DATA` names the cache's folder (default: one in the user's cache),
`JUDGESCOPE_DATA_URL` a mirror to use in place of GitHub. A file is kept only if it has
the sha256 or the git blob id that its card gives.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from urllib.parse import quote

from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.data.files import blob_id, cache, digest, has_pin, noted_sha256
from judgescope.schema.cards import Dataset, Published, Source, SourceFile
from judgescope.schema.cards.base import BLOB

Downloader = Callable[[str, str, object], None]
"""Gets an address, the file to write, and the downloader's owner."""


class NotFetched(UserError):
    """A file could not be downloaded."""


def address(source: Source, file: SourceFile) -> str:
    """Return the address of a file: repository, commit and path."""
    host = os.environ.get("JUDGESCOPE_DATA_URL", "https://raw.githubusercontent.com")
    return f"{host}/{source.repository}/{source.commit}/{quote(file.path)}"


def fetch_all(cards: Sequence[tuple[str, Published, Collection[str]]]) -> None:
    """Print what is downloaded, from where, its size and licence; then download it.

    `cards` has ids of cards, the cards, and the names of the files (`file` of a
    source). Raises UserError for the first file that cannot be downloaded; earlier
    files are kept.
    """
    listed = set[str]()
    for name, card, names in cards:
        if card.source and (
            new := [f for f in card.source.files if f.file in {*names} - listed]
        ):
            files = f"{len(new)} file{'s' * (len(new) > 1)} ({size_of(new)})"
            where = f"github.com/{card.source.repository}"
            print(
                f"{name}: downloading {files} from {where}; licence: {licence(card)}",
                flush=True,
            )
        listed |= {*names}
    for name, card, names in cards:
        if card.source and names:
            fetch(card.source, names, where=f"card {name}")
            for file in card.source.files:
                if file.git_blob and file.file in names:
                    pin = _measured(file)
                    print(
                        f"{name}: {file.file} has the git blob id of its card; its "
                        f"sha256 is {pin.sha256} ({pin.bytes} bytes): write both into "
                        "the card",
                        flush=True,
                    )


def pins(source: Source) -> str:
    """Return the fetched files of a source as they stand in a card, with size and
    sha256, for files that are only pinned by their git blob id.
    """
    lines = list[str]()
    for file in source.files:
        if file.git_blob and (cache() / file.file).is_file():
            pin = _measured(file)
            lines += [
                f"    - path: {file.path}",
                f"      file: {file.file}",
                f"      bytes: {pin.bytes}",
                f"      sha256: {pin.sha256}",
            ]
    return "\n".join(lines)


def _measured(file: SourceFile) -> SourceFile:
    """Return a file as its card should describe it: with its size and sha256."""
    path = cache() / file.file
    measured = {"bytes": path.stat().st_size, "sha256": digest(path), "git_blob": None}
    return file.model_copy(update=measured)


def licence(card: Published) -> str:
    """Return the licence of a card's files."""
    named = card.source.licence if card.source else None
    return named or (card.licence if isinstance(card, Dataset) else "") or "none stated"


def fetch(source: Source, names: Collection[str], *, where: str) -> None:
    """Download the files of these names (`file`) into the cache, unless they are there
    already.

    `where` names the card in errors. Raises UserError for the first file that cannot be
    downloaded: earlier files are kept, and nothing of this one is written.
    """
    import pooch
    from requests import RequestException

    files = [file for file in source.files if file.file in names]
    _check_room(sum(file.bytes or 0 for file in files), where)
    pooch.get_logger().setLevel("WARNING")
    for file in files:
        url = address(source, file)
        try:
            if file.git_blob:
                _retrieve_blob(url, file)
            else:
                _retrieve(url, file, f"sha256:{file.sha256}")
        except (RequestException, ValueError, OSError) as error:
            raise _explained(error, url, file, where) from error


def _retrieve(
    url: str, file: SourceFile, known: str | None, downloader: Downloader | None = None
) -> None:
    import pooch

    pooch.retrieve(
        url,
        known,
        fname=file.file,
        path=cache(),
        downloader=downloader,
        progressbar=sys.stderr.isatty(),
    )


def _retrieve_blob(url: str, file: SourceFile) -> None:
    """Download a file that is pinned by its git blob id, and note its sha256; keep a
    file that has the id.

    Raises ValueError, in the words of pooch, for a file with another id.
    """
    import pooch

    path = cache() / file.file
    if path.is_file():
        if has_pin(file.file, file.pin):
            return
        # Without a sha256, pooch would keep the damaged file.
        path.unlink()
    download = pooch.HTTPDownloader(progressbar=sys.stderr.isatty())

    def checked(url: str, part: str, owner: object) -> None:
        download(url, part, owner)
        if (got := blob_id(Path(part))) != file.git_blob:
            raise ValueError(f"expected {file.git_blob} but got {got}")

    _retrieve(url, file, None, checked)
    write_text(noted_sha256(file.file), digest(path))


def _check_room(needed: int, where: str) -> None:
    folder = cache()
    while not folder.is_dir():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            f"the disk has no space for {size(needed)} of files",
            where=where,
            got=f"{size(free)} free in {folder}",
            todo="free some space, or set JUDGESCOPE_DATA to a folder on another disk",
        )


def _explained(error: Exception, url: str, file: SourceFile, where: str) -> NotFetched:
    """Return the error for a file that was not downloaded, with the reason and what to
    do.
    """
    from requests import ConnectionError, ConnectTimeout, HTTPError, RequestException

    by_hand = f"get it elsewhere and save it as {cache() / file.file}"
    got: object = None
    allowed: list[str] | None = None
    if isinstance(error, HTTPError) and error.response is not None:
        got = status = error.response.status_code
        if status in {404, 410}:
            what = "the file is no longer at its address"
            todo = f"its repository may have moved: {by_hand}"
        else:
            what = "the server refuses to send the file"
            todo = f"try again later, or {by_hand}"
    elif isinstance(error, ConnectionError | ConnectTimeout):
        what = "the server cannot be reached"
        todo = (
            "check the network (HTTPS_PROXY names a proxy), then try again; or "
            f"{by_hand}"
        )
    elif isinstance(error, RequestException):
        expected = ""
        if file.bytes:
            expected = f" ({file.bytes:,} bytes expected)"
        what = f"the download broke off{expected}"
        todo = "try again"
    elif isinstance(error, ValueError):
        kind = "git blob id" if file.git_blob else "sha256"
        what = f"the server sends a file whose {kind} differs from the card's"
        got = "".join(re.findall(r"but got (\w+)", str(error))) or None
        allowed = [file.pin.removeprefix(BLOB)]
        todo = f"the download was not kept; {by_hand}, with this {kind}"
    else:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        what = f"the file cannot be written to {cache()}: {reason}"
        todo = (
            "free some space or fix the folder, or set JUDGESCOPE_DATA to another "
            "folder"
        )
    return NotFetched(
        what, where=f"{where}: {url}", got=got, allowed=allowed, todo=todo
    )


def size_of(files: Sequence[SourceFile]) -> str:
    """Return the size of files in words; sizes that no card gives are left out.

    >>> size_of([SourceFile(path="a", file="a", git_blob="0" * 40)])
    'size unknown'
    """
    known = [file.bytes for file in files if file.bytes]
    if not known:
        return "size unknown"
    at_least = ""
    if len(known) < len(files):
        at_least = "at least "
    return f"{at_least}{size(sum(known))}"


def size(count: int) -> str:
    """Return a number of bytes in words."""
    if count >= 100_000:
        return f"{count / 1e6:,.1f} MB"
    return f"{count / 1e3:,.1f} kB"
