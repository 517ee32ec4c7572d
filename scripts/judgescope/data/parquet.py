"""Rows of a Parquet file, a batch at a time, within limits: kilobytes may unfold into gigabytes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from judgescope.core.errors import UserError
from judgescope.core.process_limits import bounded_memory

MOST_UNFOLDED = 2 << 30
"""Bytes of all cells of one file, and bytes of memory to count them in."""
BATCH = 256
"""Rows that are unfolded at a time."""
CELL = 16
"""Bytes that every cell counts beside its content: a billion empty ones are too many, too."""
DICTIONARY = frozenset(("PLAIN_DICTIONARY", "RLE_DICTIONARY"))
ALONE = frozenset(("PLAIN", "RLE", "BIT_PACKED")) | DICTIONARY
"""Encodings of columns that Arrow can read without repeating what their dictionaries hold."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file.

    Raises UserError for what is no Parquet file and for one of more than MOST_UNFOLDED bytes: by
    what it says of itself, before anything is read, and by what its batches would unfold into,
    before the first row.
    """
    try:
        with pq.ParquetFile(path) as file:
            unread = _announced(file.metadata)
            if unread > MOST_UNFOLDED:
                raise OverflowError(f"it announces {unread:,} bytes")
            names = file.schema_arrow.names
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise UserError("a column comes twice", where=str(path), got=twice[0])
            folded = _with_dictionary(file.metadata, names)
        with pq.ParquetFile(path, read_dictionary=folded) as file:
            _check_size(file)
            yield from _rows(file, path)
    except OverflowError as error:
        raise UserError(
            f"this file unfolds into too much: {error}",
            where=str(path),
            got=f"{path.stat().st_size:,} bytes",
            allowed=f"{MOST_UNFOLDED:,} bytes unfolded",
            todo="split it, or leave out rows and columns that the study does not need",
        ) from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"this is not a Parquet file: {error}", where=str(path)) from error


def _announced(told: pq.FileMetaData) -> int:
    """Return the bytes that a file has uncompressed, with every fixed width and every cell."""
    widths = [max(told.schema.column(place).length, 0) for place in range(told.num_columns)]
    chunks = [(place, told.row_group(group).column(place)) for group, place in _places(told)]
    return sum(
        max(chunk.total_uncompressed_size, chunk.num_values * widths[place])
        + chunk.num_values * CELL
        for place, chunk in chunks
    )


def _with_dictionary(told: pq.FileMetaData, names: list[str]) -> list[str]:
    """Return the columns of texts whose dictionaries can be read as they are; none within others.

    Arrow reads a dictionary within lists only where it has no second part.
    """
    encodings: dict[str, set[str]] = {}
    for group, place in _places(told):
        chunk = told.row_group(group).column(place)
        decimal = told.schema.column(place).logical_type.type == "DECIMAL"
        if chunk.physical_type == "BYTE_ARRAY" and not decimal and chunk.path_in_schema in names:
            encodings.setdefault(chunk.path_in_schema, set()).update(chunk.encodings)
    return [name for name, used in encodings.items() if used & DICTIONARY and used <= ALONE]


def _places(told: pq.FileMetaData) -> Iterator[tuple[int, int]]:
    for group in range(told.num_row_groups):
        for place in range(told.num_columns):
            yield group, place


def _check_size(file: pq.ParquetFile) -> None:
    """Raise OverflowError for a file of too many bytes, before there is a row of it."""
    unfolded = 0
    # no thread can begin where memory has run out
    batches = file.iter_batches(batch_size=BATCH, use_threads=False)
    with bounded_memory(MOST_UNFOLDED):
        for batch in batches:
            unfolded += sum(map(_unfolded, batch.columns))
            if unfolded > MOST_UNFOLDED:
                raise OverflowError(f"its first rows alone have {unfolded:,} bytes")


def _rows(file: pq.ParquetFile, path: Path) -> Iterator[dict[str, Any]]:
    for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
        names = batch.schema.names
        pairs = zip(names, batch.columns, strict=True)
        columns = [_cells(column, f"{path}, column {name}") for name, column in pairs]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def _unfolded(column: pa.Array) -> int:
    """Return the bytes of a column's cells, an entry of a dictionary as often as it comes."""
    size = CELL * len(column)
    if isinstance(column, pa.DictionaryArray):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return size + (pc.sum(lengths.take(column.indices)).as_py() or 0)
    return size + int(column.nbytes)


def _cells(column: pa.Array, where: str) -> list[Any]:
    try:
        if isinstance(column, pa.DictionaryArray):  # several times as fast as cell by cell
            column = column.dictionary_decode()
        found: list[Any] = column.to_pylist()
    except MemoryError:
        raise
    except (ValueError, OverflowError, pa.ArrowException) as error:  # such as dates far away
        raise UserError(f"a value cannot be read: {error}", where=where) from error
    return found
