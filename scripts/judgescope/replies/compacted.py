"""Compacted files: the lines of many journals in one Parquet file, sorted by key.

A line is kept as it was written, so that no field is ever lost, beside the key and the draw that
it begins with. The same table, with the models of several shards, is what export writes.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.errors import UserError
from judgescope.core.process_limits import bounded_memory
from judgescope.replies.journal import Block
from judgescope.replies.key_table import KEY, Chosen, Keys

ROWS = 4096
"""Lines of a row group: its keys tell whether any of them is wanted."""
MOST_UNFOLDED = 2 << 30
"""Bytes of memory that a row group may take."""
SCHEMA = pa.schema(
    [("model", pa.string()), ("key", pa.binary(32)), ("draw", pa.int32()), ("line", pa.binary())]
)


class Line(NamedTuple):
    """A line of a journal, the shard that it belongs to, and what it begins with."""

    model: str
    key: bytes
    draw: int
    line: bytes


def write(path: Path, lines: Iterable[Line]) -> int:
    """Write the lines, which are in order, and return how many; the file appears when it is whole.

    There is no file if there is no line.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    rows, count = iter(lines), 0
    try:
        with pq.ParquetWriter(
            unfinished,
            SCHEMA,
            compression="zstd",
            use_dictionary=["model"],
            write_page_checksum=True,
        ) as to:
            while group := list(islice(rows, ROWS)):
                columns = [list(column) for column in zip(*group, strict=True)]
                to.write_table(pa.table(columns, schema=SCHEMA))
                count += len(group)
        if count:
            _to_disk(unfinished)
            os.replace(unfinished, path)
            _to_disk(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _to_disk(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def blocks(path: Path, chosen: Chosen | None = None) -> Iterator[tuple[str, Block]]:
    """Yield (model, lines) of a compacted file: all of them, or those with a chosen key.

    A block's `data` are its lines; they have no place in the file. Raises UserError for a file
    that is another's, and for one that is damaged while the files it was made from are gone.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(SCHEMA, check_metadata=False):
                raise _of_others(path, file.schema_arrow.names)
            for group in range(file.num_row_groups):
                if file.metadata.row_group(group).num_rows > ROWS:
                    raise _of_others(path, [f"more than {ROWS:,} lines at once"])
                with bounded_memory(MOST_UNFOLDED):
                    found = list(_group(path, file, group, chosen))
                yield from found
    except OverflowError as error:
        raise _of_others(path, [f"lines that unfold into too much: {error}"]) from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        if is_spare(path):  # it is made again by the next compaction
            return
        raise UserError(
            f"these replies cannot be read: {' '.join(str(error).split())}",
            where=str(path),
            todo="fetch the file from a backup; if there is none, delete it: what was in it is "
            "asked again",
        ) from error


def sources_of(path: Path) -> Path:
    """Return where the names stand of the files that a compacted file was made from."""
    return path.with_name(f".{path.name}.sources")


def is_spare(path: Path) -> bool:
    """Return whether all that was put into a compacted file is in other files of its shard."""
    try:
        names = sources_of(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return bool(names) and all((path.parent / name).is_file() for name in names)


def is_passed_over(path: Path) -> bool:
    """Return whether a compacted file cannot be read, and nothing is lost by that."""
    if not is_spare(path):
        return False
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            file.read()
    except (pa.ArrowException, OSError):
        return True
    return False


def _of_others(path: Path, columns: list[str]) -> UserError:
    return UserError(
        "this is no file of replies of this version",
        where=str(path),
        got=", ".join(columns),
        allowed=", ".join(SCHEMA.names),
        todo="use the version of Judgescope that wrote it, or another store (key `store` of the "
        "study's card); if it is none of Judgescope's, take it out of the store",
    )


def _group(
    path: Path, file: pq.ParquetFile, group: int, chosen: Chosen | None
) -> Iterator[tuple[str, Block]]:
    column = file.read_row_group(group, ["key"], use_threads=False)["key"]
    if column.null_count:
        raise _of_others(path, ["lines without a key"])
    keys = _keys(column)
    mask = np.ones(len(keys), bool) if chosen is None else chosen(keys)
    if not mask.any():
        return
    rest = file.read_row_group(group, ["model", "line"], use_threads=False)
    if rest["model"].null_count or rest["line"].null_count:
        raise _of_others(path, ["lines without a model, or nothing in them"])
    models = np.array(rest["model"].to_pylist(), object)
    lines = np.array(rest["line"].to_pylist(), object)
    for model in dict.fromkeys(models[mask]):
        these = mask & (models == model)
        yield str(model), _block(keys[these], lines[these].tolist())


def _keys(column: pa.ChunkedArray) -> Keys:
    found = [np.frombuffer(chunk.buffers()[1], KEY)[: len(chunk)] for chunk in column.chunks]
    return np.concatenate([np.empty(0, KEY), *found])


def _block(keys: Keys, lines: list[bytes]) -> Block:
    ends = np.cumsum([len(line) for line in lines])
    return Block(0, b"".join(lines), np.concatenate([[0], ends[:-1]]), ends, keys, 0)
