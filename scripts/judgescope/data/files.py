"""Finding a card's files, hashing them, and reading their rows.

A path in a card is relative to the card's folder, absolute, or begins with `{data}`, the study's
data folder. Any other `{field}` makes it a pattern that stands for all files that match. A file on
a hub is fetched when it is first needed.
"""

import csv
import glob
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.resource_limits import bounded_memory
from judgescope.data import hub
from judgescope.schema.cards import Hub

Row = dict[str, Any]
Found = list[tuple[Path, dict[str, str]]]

DATA = "{data}/"
MOST_UNFOLDED = 4 << 30
"""Bytes of memory that the rows of one Parquet file may take."""
SIGNS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


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
) -> Found:
    """Return (path, fields) of every file of a role, sorted by path.

    `folder` is the card's, `data` what `{data}` stands for; `where` names the card in errors.
    A field matches any part of a name (`[^/]+`), the first one as much as it can. Raises UserError
    for an unknown role, for a file or pattern without a file, and for one that a hub does not give.
    """
    where = where or str(folder)
    if role not in files:
        raise UserError("`files` has no such role", where=where, got=role, allowed=files)
    where = f"{where}, key files.{role}"
    named = files[role]
    if isinstance(named, Hub):
        return [(hub.fetch(named), {})]
    text = named.removeprefix(DATA)
    base, todo = folder, ""
    if text != named:
        base, todo = data, f"`{{data}}` is {data}, the study's key `data`: is that right?"
    if FIELD.search(text):
        return _matches(base, text, where, todo)
    path = base / text
    if os.path.isdir(path):
        raise UserError(
            "this is a folder, and a file is meant", where=where, got=str(path), todo=todo
        )
    if not os.path.isfile(path):  # unlike Path, says so of names that no file can have, too
        raise _absent(path, where, todo)
    return [(path, {})]


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


def _matches(base: Path, text: str, where: str, todo: str) -> Found:
    parts = Path(text).parts
    first = next(index for index, part in enumerate(parts) if FIELD.search(part))
    base, pattern = base.joinpath(*parts[:first]), "/".join(parts[first:])
    if not base.is_dir():
        raise _absent(base, where, todo)
    pieces = FIELD.split(pattern)  # literal, field, literal, field, ..., literal
    wild = re.sub(r"\*\*+", "*", "*".join(map(glob.escape, pieces[::2])))
    regex = re.compile(
        "".join(
            re.escape(piece) if index % 2 == 0 else _group(piece, pieces[1:index:2])
            for index, piece in enumerate(pieces)
        )
    )
    candidates = {one: one.relative_to(base).as_posix() for one in base.glob(wild)}
    found = [
        (one, match.groupdict())
        for one, name in sorted(candidates.items())
        if one.is_file() and (match := regex.fullmatch(name))
    ]
    if not found:
        raise UserError(
            f"no file in {base} matches this pattern",
            where=where,
            got=pattern,
            allowed=[one.name for one in base.iterdir()],
            todo=todo,
        )
    return found


def _group(field: str, earlier: list[str]) -> str:
    return f"(?P={field})" if field in earlier else f"(?P<{field}>[^/]+)"


def absent(files: Mapping[str, str | Hub]) -> dict[str, Hub]:
    """Return role -> file for those on a hub that are not in the cache."""
    return {
        role: file
        for role, file in files.items()
        if isinstance(file, Hub) and hub.cached(file) is None
    }


def sha256_of(found: Found) -> str:
    """Return the hash of a role's files: the file's own, or of all their `name sha256` lines.

    Names are relative to the folder that the files share, in sorted order.
    """
    paths = [path for path, _ in found]
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


def read_rows(path: Path, kind: str | None = None) -> Iterator[tuple[int, Row]]:
    """Yield (row number, row) of a JSON, JSONL, CSV, TSV or Parquet file.

    `kind` tells which of these it is, where the ending of its name does not. Row numbers are what
    an editor shows: the line of a JSONL file, the row of a spreadsheet (its header is row 1), else
    the position, from 1. Raises UserError for other endings, for bytes that are not UTF-8, and for
    what is not rows.
    """
    reader = _READERS.get(f".{kind}" if kind else path.suffix.lower())
    if reader is None:
        raise UserError(
            "this kind of file is not read", where=str(path), got=path.suffix, allowed=_READERS
        )
    return reader(path)


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text (a byte order mark is dropped), or raise UserError.

    A NUL is no text: UTF-16 without its mark is full of them.
    """
    content = path.read_bytes()
    try:
        at, text = content.find(0), content.decode("utf-8")
    except UnicodeDecodeError as error:
        at, text = error.start, ""
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise UserError(
            "this file is not UTF-8" if not text else "there is a NUL in this file: is it UTF-16?",
            where=f"{path}, line {line}, byte offset {at}",
            got=content[at : at + 1],
            todo="save it as UTF-8, or convert it with `iconv -f <its encoding> -t utf-8`",
        )
    return text.removeprefix("\ufeff")


def read_object(path: Path) -> Row:
    """Return a JSON file that is one object, or raise UserError."""
    content = _parsed(read_text(path), path, 1)
    if not isinstance(content, dict):
        raise UserError("this is no JSON object", where=str(path), got=type(content).__name__)
    return content


def _jsonl(path: Path) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, _object(_parsed(line, path, number), path, number)


def _json(path: Path) -> Iterator[tuple[int, Row]]:
    content = _parsed(read_text(path), path, 1)
    if not isinstance(content, list):
        raise UserError(
            "a JSON file of rows is a list of objects", where=str(path), got=type(content).__name__
        )
    for number, row in enumerate(content, start=1):
        yield number, _object(row, path, number)


def _parsed(text: str, path: Path, first_line: int) -> Any:
    """Return what JSON says, or raise UserError, also for a key that comes twice in an object."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise UserError(
            f"this is not JSON: {error.msg}",
            where=f"{path}, line {first_line + error.lineno - 1}, column {error.colno}",
            got=text[max(0, error.pos - 20) : error.pos + 20],
        ) from error
    except KeyError as error:
        raise UserError(
            "a key comes twice in an object", where=f"{path}, line {first_line}", got=error.args[0]
        ) from None
    except (ValueError, RecursionError) as error:  # too many digits, or lists within lists
        raise UserError(
            f"this JSON cannot be read: {error}", where=f"{path}, line {first_line}"
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> Row:
    """Return an object, or raise KeyError: of two such entries `json` would keep the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise KeyError(next(key for key in found if keys.count(key) > 1))
    return found


def _object(row: object, path: Path, number: int) -> Row:
    if not isinstance(row, dict):
        raise UserError("a row is a JSON object", where=f"{path}, row {number}", got=row)
    return row


def _csv(path: Path, sign: str = ",") -> Iterator[tuple[int, Row]]:
    csv.field_size_limit(sys.maxsize)  # articles are longer than the default of 128 KiB
    lines = io.StringIO(read_text(path), newline="")
    reader = csv.reader(lines, delimiter=sign)
    header = next(reader, [])
    if len(header) == 1 and (other := next((sign for sign in SIGNS if sign in header[0]), "")):
        raise UserError(
            f"the header is one cell: is this table separated by {SIGNS[other]}?",
            where=f"{path}, row 1",
            got=header[0],
            todo="save it with commas, or with tabs under a name that ends in .tsv",
        )
    _check_columns(header, f"{path}, row 1")
    for number, cells in enumerate(reader, start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise UserError(
                "this row has another number of cells than the header",
                where=f"{path}, row {number} (ends in line {reader.line_num})",
                got=len(cells),
                allowed=str(len(header)),
            )
        yield number, dict(zip(header, cells, strict=True))


def _check_columns(names: list[str], where: str) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UserError("a column comes twice", where=where, got=twice[0])


def _parquet(path: Path) -> Iterator[tuple[int, Row]]:
    try:
        with bounded_memory(MOST_UNFOLDED):
            names, columns = _columns(path)
    except OverflowError as error:
        raise UserError(
            f"this file unfolds into too much: {error}",
            where=str(path),
            got=f"{path.stat().st_size:,} bytes",
            todo="split it, or leave out rows and columns that the study does not need",
        ) from None
    for number, cells in enumerate(zip(*columns, strict=True), start=1):
        yield number, dict(zip(names, cells, strict=True))


def _columns(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the names of a Parquet file's columns, and their cells; MemoryError for too many."""
    try:
        with pq.ParquetFile(path) as file:
            table = file.read(use_threads=False)  # no thread can begin where memory has run out
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"this is not a Parquet file: {error}", where=str(path)) from error
    names = table.column_names
    _check_columns(names, str(path))
    return names, [_cells(table[name], f"{path}, column {name}") for name in names]


def _cells(column: pa.ChunkedArray, where: str) -> list[Any]:
    try:
        found: list[Any] = column.to_pylist()
    except MemoryError:
        raise
    except (ValueError, OverflowError, pa.ArrowException) as error:  # such as dates far away
        raise UserError(f"a value cannot be read: {error}", where=where) from error
    return found


_READERS: dict[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": partial(_csv, sign="\t"),
    ".parquet": _parquet,
}

Step = str | int
ALL = -1
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")


def pick(row: Row, path: str, where: str) -> Any:
    """Return the value at a column name or JSON path: `a.b`, `a[0].b`, `a[*].b` (a list).

    A column of exactly this name comes first. Below a null everything is null. Raises UserError,
    at `where`, for a key or position that is not there.
    """
    if isinstance(row, dict) and path in row:
        return row[path]
    found: list[Any] = [row]
    steps = _steps(path)
    for step in steps:
        if step == ALL:
            found = [entry for value in found for entry in _entries(value, path, where)]
        else:
            found = [_child(value, step, path, where) for value in found]
    return found if ALL in steps else found[0]


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[Step, ...]:
    """Split a path; one that is not written as a path is a column's name."""
    if not re.fullmatch(rf"[^.\[\]]+(?:{_STEP.pattern})*", path):
        return (path,)
    return tuple(
        name or (ALL if index == "*" else int(index)) for name, index in _STEP.findall(path)
    )


def _entries(value: object, path: str, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise UserError(f"`{path}` needs a list", where=where, got=value)
    return value


def _child(value: Any, step: Step, path: str, where: str) -> Any:
    if value is None:
        return None
    if isinstance(step, int):
        entries = _entries(value, path, where)
        if step < len(entries):
            return entries[step]
        raise UserError(f"`{path}`: the list has {len(entries)} entries", where=where, got=step)
    if isinstance(value, dict) and step in value:
        return value[step]
    keys = [str(key) for key in value] if isinstance(value, dict) else []
    raise UserError(
        f"there is no column or key `{path}`",
        where=where,
        got=step,
        allowed=keys or "nothing: there is no object",
    )
