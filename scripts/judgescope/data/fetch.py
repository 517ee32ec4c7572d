"""Files that their authors publish: downloaded once, checked, and kept in a cache.

`JUDGESCOPE_DATA` names the cache's folder (default: one in the user's cache),
`JUDGESCOPE_DATA_URL` a mirror to use in place of GitHub. A file is kept only if it has
the hash that its card gives.
"""

import os
import re
import shutil
import sys
from collections.abc import Collection, Sequence
from urllib.parse import quote

from judgescope.core.errors import UserError
from judgescope.data.files import cache
from judgescope.schema.cards import Dataset, Published, Source, SourceFile

HOST = "https://raw.githubusercontent.com"


def address(source: Source, file: SourceFile) -> str:
    """Return the address of a file: repository, commit and path."""
    host = os.environ.get("JUDGESCOPE_DATA_URL", HOST)
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
            files = (
                f"{len(new)} file{'s' * (len(new) > 1)} "
                f"({size(sum(f.bytes for f in new))})"
            )
            where = f"github.com/{card.source.repository}"
            print(
                f"{name}: downloading {files} from {where}; licence: {licence(card)}",
                flush=True,
            )
        listed |= {*names}
    for name, card, names in cards:
        if card.source and names:
            fetch(card.source, names, where=f"card {name}")


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
    _check_room(sum(file.bytes for file in files), where)
    pooch.get_logger().setLevel("WARNING")
    for file in files:
        url = address(source, file)
        try:
            pooch.retrieve(
                url,
                f"sha256:{file.sha256}",
                fname=file.file,
                path=cache(),
                progressbar=sys.stderr.isatty(),
            )
        except (RequestException, ValueError, OSError) as error:
            raise _explained(error, url, file, where) from error


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


def _explained(error: Exception, url: str, file: SourceFile, where: str) -> UserError:
    """Return the error for a file that was not downloaded, with the reason and what to
    do.
    """
    from requests import ConnectionError, ConnectTimeout, HTTPError, RequestException

    by_hand = f"get it elsewhere and save it as {cache() / file.file}"
    got: object = None
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
        what = f"the download broke off ({file.bytes:,} bytes expected)"
        todo = "try again"
    elif isinstance(error, ValueError):
        what = "the server sends a file whose sha256 differs from the card's"
        got = "".join(re.findall(r"but got (\w+)", str(error))) or None
        todo = f"the download was not kept; {by_hand}, with the sha256 {file.sha256}"
    else:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        what = f"the file cannot be written to {cache()}: {reason}"
        todo = (
            "free some space or fix the folder, or set JUDGESCOPE_DATA to another "
            "folder"
        )
    return UserError(what, where=f"{where}: {url}", got=got, todo=todo)


def size(count: int) -> str:
    """Return a number of bytes in words."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} kB"
