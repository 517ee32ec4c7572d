"""Where a secret stands among files: in names, bytes, columns, archives, and in other spellings."""

import base64
import codecs
import gzip
import html
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote_to_bytes

import pyarrow.parquet as pq

MAGIC = {b"PAR1": "parquet", b"PK\x03\x04": "zip", b"\x1f\x8b": "gzip", b"x\x9c": "zlib"}


def spellings(secret: str) -> dict[str, bytes]:
    """Return how a secret may be written, by the name of the spelling.

    Of base64 the digits that do not depend on what stands before and after.
    """
    raw = secret.encode()
    found = {
        "plain": raw,
        "JSON": json.dumps(secret)[1:-1].encode(),
        "JSON in JSON": json.dumps(json.dumps(secret)[1:-1])[1:-1].encode(),
        "repr": repr(secret)[1:-1].encode(),
        "HTML": html.escape(secret).encode(),
        "address": quote(secret, safe="").encode(),
        "path": quote(secret).encode(),
        "form": quote_plus(secret).encode(),
        "script": secret.replace("<", "\\u003c").replace(">", "\\u003e").encode(),
        "hex": codecs.encode(raw, "hex"),
        "reversed": raw[::-1],
        "UTF-16": secret.encode("utf-16-le"),
    }
    for shift in range(3):
        digits = base64.b64encode(b"\0" * shift + raw)[shift + 1 : -4]
        found[f"base64, {shift}"] = digits
        found[f"base64 of addresses, {shift}"] = digits.replace(b"+", b"-").replace(b"/", b"_")
    return found


def contents(path: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what can be read of a file: its name, its bytes, and what is packed in them."""
    name = str(path.relative_to(folder))
    yield f"the name {name}", name.encode() + b"\n" + unquote_to_bytes(name)
    if path.is_symlink():
        yield f"the link {name}", str(path.readlink()).encode()
    else:
        yield from _unpacked(name, path.read_bytes())


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, data
    kind = next((kind for start, kind in MAGIC.items() if data.startswith(start)), "")
    if kind == "parquet":
        table = pq.read_table(io.BytesIO(data))
        told = json.dumps(table.to_pylist(), ensure_ascii=False, default=str)
        yield f"{name}, its columns", told.encode()
        yield f"{name}, its metadata", repr(table.schema.metadata).encode()
    elif kind == "zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from _unpacked(f"{name}/{member}", archive.read(member))
    elif kind == "gzip":
        yield from _unpacked(f"{name}, unpacked", gzip.decompress(data))
    elif kind == "zlib":
        yield from _unpacked(f"{name}, unpacked", zlib.decompress(data))


def leaks(folder: Path, secrets: dict[str, str]) -> list[str]:
    """Return where under a folder one of the secrets stands, and how it is written there."""
    told = [
        (f"{name} as {how}", form)
        for name, secret in secrets.items()
        for how, form in spellings(secret).items()
    ]
    return [
        f"{what} in {place}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() or path.is_symlink()
        for place, data in contents(path, folder)
        for what, form in told
        if form in data
    ]
