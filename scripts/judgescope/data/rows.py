"""Rows of JSON, JSONL, CSV, TSV, Parquet and .xlsx files, and XML, read as untrusted
input.
"""

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.errors import UserError
from judgescope.core.process_limits import bounded_memory
from judgescope.data.spreadsheets import spreadsheet_rows

FileRow = dict[str, Any]
TableRow = Mapping[str, Any]
"""A row that is only read."""

DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
MOST_UNFOLDED = 2 << 30
"""Maximum bytes of all cells of a Parquet file, and of the memory for counting them."""
BATCH = 256
"""Number of rows of a Parquet file that are decompressed at a time."""
CELL = 16
"""Bytes added for every cell, because even a billion empty cells are too many."""


def read_rows(path: Path, kind: str | None = None) -> Iterator[tuple[int, FileRow]]:
    """Yield (row number, row) of a JSON, JSONL, CSV, TSV, Parquet or .xlsx file.

    `kind` is the file type if the file name's suffix does not show it. Row numbers are
    those that an editor shows: the line of a JSONL file, the row of a spreadsheet (its
    header is row 1), otherwise the position, from 1. Raises UserError for other
    suffixes, for bytes that are not UTF-8, and for content that is not rows.
    """
    suffix = path.suffix.lower()
    reader_of: dict[str, Callable[[Path], Iterator[tuple[int, FileRow]]]] = {
        ".jsonl": _jsonl,
        ".ndjson": _jsonl,
        ".json": _json,
        ".csv": _csv,
        ".tsv": partial(_csv, delimiter="\t"),
        ".parquet": _parquet,
        ".xlsx": spreadsheet_rows,
    }
    reader = reader_of.get(f".{kind}" if kind else suffix)
    if reader is None:
        is_spreadsheet = suffix in {".xls", ".ods"}
        raise UserError(
            "unsupported file type",
            where=str(path),
            got=path.suffix,
            allowed=reader_of,
            todo="save it as .xlsx or CSV (UTF-8)" if is_spreadsheet else "",
        )
    return reader(path)


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text without its byte order mark, or raise UserError.

    NUL bytes are refused: UTF-16 without a byte order mark is full of them.
    """
    content = path.read_bytes()
    problem = ""
    try:
        text = content.decode("utf-8")
        offset = content.find(0)
        if offset >= 0:
            problem = "this file contains a NUL byte: is it UTF-16?"
    except UnicodeDecodeError as error:
        offset = error.start
        problem = "this file is not UTF-8"
    if problem:
        line = content.count(b"\n", 0, offset) + 1
        raise UserError(
            problem,
            where=f"{path}, line {line}, byte offset {offset}",
            got=content[offset : offset + 1],
            todo="save it as UTF-8, or convert it with `iconv -f <its encoding> -t "
            "utf-8`",
        )
    return text.removeprefix("\ufeff")


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or raise UserError."""
    return _parsed(read_text(path), path, 1)


def json_value(text: str, path: Path) -> Any:
    """Return the value of a text of JSON, or raise UserError; `path` is for
    messages.
    """
    return _parsed(text, path, 1)


def read_object(path: Path) -> FileRow:
    """Return the object in a JSON file, or raise UserError."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise UserError(
            "not a JSON object", where=str(path), got=type(content).__name__
        )
    return content


def all_rows(files: Iterable[tuple[Path, object]]) -> list[tuple[Path, int, FileRow]]:
    """Return the rows of a role's files, each with its file and number."""
    rows = list[tuple[Path, int, FileRow]]()
    for path, _ in files:
        for number, row in read_rows(path):
            rows.append((path, number, row))
    return rows


def cell_list(cell: object) -> list[Any] | None:
    """Return the list that a cell is or contains as JSON, None for any other cell."""
    if isinstance(cell, str) and cell.startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    return cell if isinstance(cell, list) else None


def entries(cell: object) -> list[Any]:
    """Return the entries of a list or of a list in JSON; any other cell is one
    entry.
    """
    if isinstance(cell, str) and not cell.startswith("["):
        return [cell]
    values = cell_list(cell)
    return [cell] if values is None else values


def _jsonl(path: Path) -> Iterator[tuple[int, FileRow]]:
    return json_lines(read_text(path), path)


def json_lines(text: str, path: Path) -> Iterator[tuple[int, FileRow]]:
    """Yield the rows of a text of JSON lines; `path` is for messages."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("["):
            raise UserError(
                "a line of a JSONL file must be a JSON object, not a list",
                where=f"{path}, line {number}",
                got=line[:40],
                todo="if the file is one JSON list, give it a name that ends in .json",
            )
        if line.strip():
            yield number, _object(_parsed(line, path, number), path, number)


def _json(path: Path) -> Iterator[tuple[int, FileRow]]:
    return json_list(read_text(path), path)


def json_list(text: str, path: Path) -> Iterator[tuple[int, FileRow]]:
    """Yield the rows of a JSON list; `path` is for messages."""
    content = _parsed(text, path, 1)
    if not isinstance(content, list):
        raise UserError(
            "a JSON file must contain a list of objects",
            where=str(path),
            got=type(content).__name__,
        )
    for number, row in enumerate(content, start=1):
        yield number, _object(row, path, number)


def _object(row: object, path: Path, number: int) -> FileRow:
    if not isinstance(row, dict):
        raise UserError(
            "a row must be a JSON object", where=f"{path}, row {number}", got=row
        )
    return row


def word_of(cell: object) -> str:
    """Return a cell as a word: whole floats as integers, truth values in lower case."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(cell).strip()


def _parsed(text: str, path: Path, first_line: int) -> Any:
    """Return the content of JSON, or raise UserError, also for a duplicate key in an
    object.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise UserError(
            f"invalid JSON: {error.msg}",
            where=f"{path}, line {first_line + error.lineno - 1}, column {error.colno}",
            got=text[max(0, error.pos - 20) : error.pos + 20],
        ) from error
    except KeyError as error:
        raise UserError(
            "duplicate key in an object",
            where=f"{path}, line {first_line}",
            got=error.args[0],
        ) from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # too many digits, or lists within lists
        raise UserError(
            f"this JSON cannot be read: {error}", where=f"{path}, line {first_line}"
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> FileRow:
    """Return an object, or raise KeyError for a duplicate key, of which `json` would
    keep the last."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        for key in entries:
            if counts[key] > 1:
                raise KeyError(key)
    return entries


def _csv(path: Path, delimiter: str = ",") -> Iterator[tuple[int, FileRow]]:
    """Yield the rows of a table of cells below a header."""
    rows = _lists_of_cells(path, delimiter)
    _, _, header = next(rows, (1, 1, []))
    if len(header) == 1:
        _check_delimiter(path, header[0])
    _check_columns(header, f"{path}, row 1")
    for number, line, cells in rows:
        if not cells:
            continue
        if len(cells) != len(header):
            raise UserError(
                "this row and the header have different numbers of cells",
                where=f"{path}, row {number} (ends in line {line})",
                got=len(cells),
                allowed=str(len(header)),
                todo="quote cells that contain commas or quotation marks, or add "
                "missing cells",
            )
        if delimiter == "\t" and any(may_be_rows(cell, len(header)) for cell in cells):
            raise cells_not_closed(
                f"{path}, row {number} (ends in line {line})", delimiter
            )
        yield number, dict(zip(header, cells, strict=True))


def _check_delimiter(path: Path, header: str) -> None:
    """Raise UserError if the only cell of a header has another sign between names."""
    for sign, name in DELIMITERS.items():
        if sign in header:
            raise UserError(
                f"the header is a single cell: is this table separated by {name}?",
                where=f"{path}, row 1",
                got=header,
                todo="separate cells by commas, or by tabs in a file whose name ends "
                "in .tsv",
            )


def _lists_of_cells(path: Path, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (row number, its last line, cells), or raise UserError for a cell that is
    not closed.

    Not detected in a CSV: a quotation mark that opens a cell, if the next one ends a
    later cell.
    """
    csv.field_size_limit(sys.maxsize)  # articles are longer than the default of 128 KiB
    lines = io.StringIO(read_text(path), newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    for number in count(1):
        begin = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            where = f"{path}, row {number} (begins in line {begin})"
            raise cells_not_closed(where, delimiter) from error
        if cells is None:
            return
        yield number, reader.line_num, cells


def may_be_rows(cell: str, columns: int) -> bool:
    """Return whether a cell has the tabs of as many rows as it has line breaks.

    In a file without quoting, it then begins with a quotation mark and a later cell
    ends with one.
    """
    breaks = cell.count("\n") or cell.count("\r")
    return 0 < cell.count("\t") == breaks * (columns - 1)


def cells_not_closed(where: str, delimiter: str) -> UserError:
    """Return the error for a cell whose closing quotation mark is missing."""
    return UserError(
        "a cell begins with a quotation mark, but does not end with one",
        where=where,
        todo=f"put quotation marks around cells that contain {DELIMITERS[delimiter]}, "
        "line breaks or quotation marks, and write those within a cell twice",
    )


def _check_columns(names: list[str], where: str) -> None:
    """Raise UserError for a column that occurs twice."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        todo = "give each column a name of its own, or delete one of the columns"
        raise UserError("duplicate column", where=where, got=twice[0], todo=todo)


def _parquet(path: Path) -> Iterator[tuple[int, FileRow]]:
    """Yield the rows of a Parquet file in batches, because kilobytes may decompress to
    gigabytes.

    A file of more than MOST_UNFOLDED bytes is refused: by its own metadata, before
    anything is read, and by the decompressed size of its batches, before the first row.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_announced(file.metadata)
            names = file.schema_arrow.names
            _check_columns(names, str(path))
            folded = _with_dictionary(file.metadata, names)
        with pq.ParquetFile(path, read_dictionary=folded) as file:
            _check_unfolded(file)
            yield from enumerate(_parquet_rows(file, path), start=1)
    except OverflowError as error:
        raise UserError(
            f"this file decompresses to too much data: {error}",
            where=str(path),
            got=f"{path.stat().st_size:,} bytes",
            allowed=f"{MOST_UNFOLDED:,} bytes decompressed",
            todo="split it, or leave out rows and columns that the study does not need",
        ) from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"not a Parquet file: {error}", where=str(path)) from error


def _check_announced(metadata: pq.FileMetaData) -> None:
    """Raise OverflowError if the declared size is too large, counting fixed widths and
    every cell."""
    announced = 0
    for column, chunk in _chunks(metadata):
        width = max(metadata.schema.column(column).length, 0)
        size = max(chunk.total_uncompressed_size, chunk.num_values * width)
        announced += size + chunk.num_values * CELL
    if announced > MOST_UNFOLDED:
        raise OverflowError(f"it declares {announced:,} bytes")


def _with_dictionary(metadata: pq.FileMetaData, names: list[str]) -> list[str]:
    """Return the columns of texts whose dictionaries can be read as they are; not
    nested ones.

    Arrow reads a dictionary within lists only if it has no second part.
    """
    dictionary = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
    # Arrow reads columns with these without repeating the entries of a dictionary.
    simple = {"PLAIN", "RLE", "BIT_PACKED"} | dictionary
    encodings: dict[str, set[str]] = {}
    for column, chunk in _chunks(metadata):
        is_decimal = metadata.schema.column(column).logical_type.type == "DECIMAL"
        is_text = chunk.physical_type == "BYTE_ARRAY" and not is_decimal
        if is_text and chunk.path_in_schema in names:
            encodings.setdefault(chunk.path_in_schema, set()).update(chunk.encodings)
    readable = list[str]()
    for name, used in encodings.items():
        if used & dictionary and used <= simple:
            readable.append(name)
    return readable


def _chunks(metadata: pq.FileMetaData) -> Iterator[tuple[int, pq.ColumnChunkMetaData]]:
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in range(metadata.num_columns):
            yield column, group.column(column)


def _check_unfolded(file: pq.ParquetFile) -> None:
    """Raise OverflowError if the batches decompress to too much, before any row is
    made.
    """
    unfolded = 0
    # no thread can start when memory has run out
    batches = file.iter_batches(batch_size=BATCH, use_threads=False)
    with bounded_memory(MOST_UNFOLDED):
        for batch in batches:
            unfolded += sum(map(_unfolded, batch.columns))
            if unfolded > MOST_UNFOLDED:
                raise OverflowError(f"its first rows alone have {unfolded:,} bytes")


def _unfolded(column: pa.Array) -> int:
    """Return the bytes of a column's cells; a dictionary entry is counted once per
    occurrence.
    """
    import pyarrow.compute as pc  # not for planning

    size = CELL * len(column)
    if isinstance(column, pa.DictionaryArray):
        lengths = pc.binary_length(column.dictionary).cast(pa.int64())
        return size + (pc.sum(lengths.take(column.indices)).as_py() or 0)
    return size + int(column.nbytes)


def _parquet_rows(file: pq.ParquetFile, path: Path) -> Iterator[FileRow]:
    for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
        columns: dict[str, list[Any]] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                if isinstance(
                    column, pa.DictionaryArray
                ):  # several times as fast as by cell
                    column = column.dictionary_decode()
                columns[name] = column.to_pylist()
            except MemoryError:
                raise
            except (
                ValueError,
                OverflowError,
                pa.ArrowException,
            ) as error:  # as dates out of range
                where = f"{path}, column {name}"
                raise UserError(
                    f"a value cannot be read: {error}", where=where
                ) from error
        for cells in zip(*columns.values(), strict=True):
            yield dict(zip(columns, cells, strict=True))


class _TreeBuilder(ElementTree.TreeBuilder):
    """Builds a tree; refuses a document type, which could declare entities."""

    def doctype(self, name: str, *_: object) -> None:
        raise UserError(
            "XML data must not declare a document type",
            where="",
            got=f"<!DOCTYPE {name}",
        )


def read_xml(path: Path) -> ElementTree.Element:
    """Return the root of an XML file, or raise UserError with the line of the fault."""
    parser = ElementTree.XMLParser(target=_TreeBuilder())
    try:
        return ElementTree.parse(path, parser).getroot()
    except UserError as error:
        error.where = str(path)
        error.todo = "delete the declaration; the published files have none"
        raise
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise UserError(f"invalid XML: {error}", where=str(path)) from error


PathStep = str | int | None
"""A key, a position, or every entry."""
ALL = None
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|-1|\*)\]")


def pick(row: FileRow, path: str, where: str) -> Any:
    """Return the value at a column name or JSON path: `a.b`, `a[0].b`, `a[-1]`,
    `a[*].b` (a list).

    A column with exactly this name takes precedence. Everything below a null is null.
    Raises UserError, at `where`, for a missing key or position.

    >>> pick({"a": [{"b": 1}, {"b": 2}]}, "a[*].b", "row 1")
    [1, 2]
    """
    if isinstance(row, dict) and path in row:
        return row[path]
    values: list[Any] = [row]
    steps = _steps(path)
    for step in steps:
        below = list[Any]()
        for value in values:
            if step is ALL:
                below += _entries(value, path, where)
            else:
                below.append(_child(value, step, path, where))
        values = below
    return values if ALL in steps else values[0]


@lru_cache(maxsize=256)
def _steps(path: str) -> tuple[PathStep, ...]:
    """Split a path; a text that is not a path is a column's name."""
    if not re.fullmatch(rf"[^.\[\]]+(?:{_STEP.pattern})*", path):
        return (path,)
    steps = list[PathStep]()
    for name, index in _STEP.findall(path):
        if name:
            steps.append(name)
        elif index == "*":
            steps.append(ALL)
        else:
            steps.append(int(index))
    return tuple(steps)


def _entries(value: object, path: str, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise UserError(f"`{path}` needs a list", where=where, got=value)
    return value


def _child(value: Any, step: str | int, path: str, where: str) -> Any:
    if value is None:
        return None
    if isinstance(step, int):
        entries = _entries(value, path, where)
        if step < len(entries) and entries:
            return entries[step]
        raise UserError(
            f"`{path}`: the list has {len(entries)} entries", where=where, got=step
        )
    if isinstance(value, dict) and step in value:
        return value[step]
    keys = []
    if isinstance(value, dict):
        keys = [str(key) for key in value]
    raise UserError(
        f"no such column or key: `{path}`",
        where=where,
        got=step,
        allowed=keys or "nothing: the value is not an object",
    )
