"""Opens a file of rows by its content: encoding, separator, lines above the header.

The name of a file says little: a spreadsheet may be called .csv, a .csv has semicolons
where commas are decimal. What is not plain is said in a note.
"""

import codecs
import csv
import gzip
import io
import json
import re
import sys
import zipfile
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgescope.core.errors import UserError
from judgescope.data.column_rows import by_column
from judgescope.data.merged_headers import merged_names
from judgescope.data.rows import (
    MOST_UNFOLDED,
    FileRow,
    cells_not_closed,
    json_lines,
    json_list,
    json_value,
    may_be_rows,
    read_rows,
)
from judgescope.tables.encodings import encoding_of, is_western

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
LOOKED_AT: Final = 50
"""Records at the beginning of a file by which its separator is found."""


class RowLines(Mapping[int, int]):
    """Number of a row -> the line in which it begins.

    Lines run ahead of rows where cells have line breaks: only these places are kept.

    >>> lines = RowLines()
    >>> for number, line in ((2, 2), (3, 5), (4, 6)):
    ...     lines.add(number, line)
    >>> lines[4], lines.get(5), list(lines.items())
    (6, None, [(2, 2), (3, 5), (4, 6)])
    """

    def __init__(self) -> None:
        self._begins: list[int] = []
        """Numbers at which a run of rows begins."""
        self._ends: list[int] = []
        """The last number of each run."""
        self._ahead: list[int] = []
        """How far lines are ahead of numbers in each run."""

    def add(self, number: int, line: int) -> None:
        """Note the line of a row that is below all others."""
        ahead = line - number
        if self._ends and self._ends[-1] == number - 1 and self._ahead[-1] == ahead:
            self._ends[-1] = number
            return
        self._begins.append(number)
        self._ends.append(number)
        self._ahead.append(ahead)

    def __getitem__(self, number: int) -> int:
        """Return the line of a row; raise KeyError for another number."""
        run = bisect_right(self._begins, number) - 1
        if run < 0 or number > self._ends[run]:
            raise KeyError(number)
        return number + self._ahead[run]

    def __iter__(self) -> Iterator[int]:
        """Yield the rows' numbers."""
        for begin, end in zip(self._begins, self._ends, strict=True):
            yield from range(begin, end + 1)

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(1 for _ in self)


@dataclass
class OpenedTable:
    """The rows of a file, each with the number that an editor or spreadsheet shows."""

    rows: Sequence[FileRow] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    lines: Mapping[int, int] = field(default_factory=dict)
    """Row number -> the line in which the row begins; a cell may have line breaks.
    Empty for files without lines: JSON lists, Parquet, Excel, packed files."""
    notes: list[str] = field(default_factory=list)
    """How the file was read, where that is not plain."""
    content: dict[str, Any] | None = None
    """The object of a JSON file that has no rows, but one object."""
    members: tuple[str, ...] = ()
    """The names of the files in a zip archive, which has no rows."""

    def fill(self, rows: Iterable[tuple[int, FileRow]]) -> None:
        """Take the rows, each with its number."""
        self.rows = by_column(self._numbered(rows))

    def _numbered(self, rows: Iterable[tuple[int, FileRow]]) -> Iterator[FileRow]:
        for number, row in rows:
            self.numbers.append(number)
            yield row


def open_table(path: Path) -> OpenedTable:
    """The rows of a CSV, TSV, JSON, JSONL, Parquet or Excel file, also packed by gzip.

    Raises UserError for a file that is none of them, or whose rows contradict its
    header.
    """
    table = open_file(path)
    if table.content is not None or table.members:
        raise UserError(
            "this file has no rows",
            where=str(path),
            got="an object" if table.content is not None else "an archive",
            allowed="a table, or a JSON list of objects",
        )
    return table


def open_file(path: Path) -> OpenedTable:
    """The rows of a file; of a JSON object this object, of an archive its files' names.

    Raises UserError as `open_table`.
    """
    content = path.read_bytes()
    table = OpenedTable()
    has_lines = False
    is_packed = content.startswith(b"\x1f\x8b")
    if is_packed:
        content = _unpacked(content, path)
        table.notes.append("the file was unpacked (gzip)")
    if content.startswith(b"PAR1"):
        table.fill(read_rows(path, "parquet"))
        return table
    named_excel = content.startswith(b"PK") and path.suffix.lower() == ".xlsx"
    if named_excel or (content.startswith(b"PK") and b"xl/workbook" in content):
        if not named_excel:
            table.notes.append("the file is an Excel spreadsheet")
        table.fill(read_rows(path, "xlsx"))
        return table
    if content.startswith(b"PK"):
        table.members = _members(path)
        return table
    text = _decoded(table, content, path)
    table.content = _json_object(text, path)
    if table.content is not None:
        return table
    if path.suffix.lower() == ".json" or _is_json_list(text):
        rows: Iterator[tuple[int, FileRow]] = json_list(text, path)
    elif path.suffix.lower() in {".jsonl", ".ndjson"} or _is_json_lines(text):
        rows = json_lines(text, path)
        has_lines = True
    else:
        rows = _delimited(table, text, path)
    table.fill(rows)
    if is_packed:
        table.lines = {}
    elif has_lines:
        table.lines = {number: number for number in table.numbers}
    return table


def _json_object(text: str, path: Path) -> dict[str, Any] | None:
    """The object that a whole file is; None for a file of several lines of objects."""
    lines = path.suffix.lower() in {".jsonl", ".ndjson"}
    if lines or not text.lstrip().startswith("{"):
        return None
    if path.suffix.lower() != ".json":
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return None
    value = json_value(text, path)
    return value if isinstance(value, dict) else None


# --- archives -------------------------------------------------------------------------


def _members(path: Path) -> tuple[str, ...]:
    """The names of the files in an archive.

    Raises UserError for a damaged or too large one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            files = archive.infolist()
    except (zipfile.BadZipFile, OSError) as error:
        raise UserError(
            f"this archive cannot be read: {error}",
            where=str(path),
            todo="download or write it again",
        ) from None
    size = sum(file.file_size for file in files)
    if size > MOST_UNFOLDED:
        raise UserError(
            "this archive unpacks to too much data",
            where=str(path),
            got=f"{size:,} bytes",
            allowed=f"{MOST_UNFOLDED:,} bytes",
        )
    return tuple(file.filename for file in files)


def archive_json(path: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file of an archive.

    Raises UserError for another content, and for a packing that this Python cannot
    read: Inspect may use Zstandard, which Python reads from 3.14 on.
    """
    where = f"{path}, {name}"
    try:
        with zipfile.ZipFile(path) as archive:
            content = archive.read(name)
    except (NotImplementedError, RuntimeError) as error:
        raise UserError(
            f"this Python cannot unpack a file of the archive: {error}",
            where=where,
            todo=f"inspect log convert {path.name} --to json --output-dir NEW",
        ) from None
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError) as error:
        raise UserError(
            f"a file of this archive cannot be read: {error}",
            where=where,
            todo="download or write it again",
        ) from None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"this is not JSON: {error}", where=where) from None
    if not isinstance(value, dict):
        raise UserError("not a JSON object", where=where, got=type(value).__name__)
    return value


def _unpacked(content: bytes, path: Path) -> bytes:
    """The bytes in a gzip file; raises UserError for a damaged or too large one."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_UNFOLDED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"this file cannot be unpacked: {error}",
            where=str(path),
            todo="pack it again, or give the unpacked file",
        ) from None
    if len(unpacked) > MOST_UNFOLDED:
        raise UserError(
            "this file unpacks to too much data",
            where=str(path),
            got=f"more than {MOST_UNFOLDED:,} bytes",
            allowed=f"{MOST_UNFOLDED:,} bytes",
            todo="take a sample of its rows",
        )
    return unpacked


# --- text -----------------------------------------------------------------------------


def _decoded(table: OpenedTable, content: bytes, path: Path) -> str:
    """The text of a file: UTF-8, UTF-16 with its mark, an encoding in which its headers
    have a meaning, or else Windows-1252.

    Raises UserError for NUL bytes, of which UTF-16 without its mark is full, for bytes
    that none of these encodings has, and for text that is of no language as
    Windows-1252.
    """
    byte_order_marks = (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    )
    for mark, encoding in byte_order_marks:
        if content.startswith(mark):
            try:
                return content.removeprefix(mark).decode(encoding)
            except UnicodeDecodeError as error:
                raise _undecoded(content, error.start, path, encoding) from None
    offset = content.find(0)
    if offset >= 0:
        raise _undecoded(content, offset, path, "")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        first = error.start
    of_headers = encoding_of(content)
    if of_headers is not None:
        table.notes.append(
            f"the file is not UTF-8; it was read as {of_headers.upper()}, in which its "
            "headers are known words"
        )
        return content.decode(of_headers)
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        raise _undecoded(content, first, path, "") from None
    if not is_western(text):
        raise _undecoded(content, first, path, "")
    character = content[first : first + 1].decode("cp1252")
    line = content.count(b"\n", 0, first) + 1
    table.notes.append(
        "the file is not UTF-8; it was read as Windows-1252 (Latin-1), in which line "
        f"{line} has the letter {character}"
    )
    return text


def _undecoded(content: bytes, offset: int, path: Path, encoding: str) -> UserError:
    """The error for a byte that no encoding explains."""
    if encoding:
        problem = f"this file begins as {encoding.upper()}, but is not"
    elif content[offset] == 0:
        problem = "this file contains a NUL byte: is it UTF-16?"
    else:
        problem = "this file is not UTF-8"
    line = content.count(b"\n", 0, offset) + 1
    return UserError(
        problem,
        where=f"{path}, line {line}, byte offset {offset}",
        got=content[offset : offset + 1],
        todo="save it as UTF-8, or convert it with `iconv -f <its encoding> -t utf-8`",
    )


def _is_json_list(text: str) -> bool:
    """Whether a text is a JSON list; a header may begin with a bracket, too."""
    if not text.lstrip().startswith("["):
        return False
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _is_json_lines(text: str) -> bool:
    """Whether the first line with a sign is a JSON object."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


# --- cells between separators ---------------------------------------------------------


@dataclass(frozen=True)
class CellRecord:
    """The cells of a record, its number, and the lines in which it begins and ends."""

    number: int
    begin: int
    end: int
    cells: list[str]


def records(text: str, separator: str, path: Path) -> Iterator[CellRecord]:
    """The records of a text, numbered as a spreadsheet does.

    Raises UserError for a cell that is opened by a quotation mark and not closed.
    """
    csv.field_size_limit(sys.maxsize)  # articles are longer than the default of 128 KiB
    reader = csv.reader(_lines(text), delimiter=separator, strict=True)
    number = 0
    while True:
        number += 1
        begin = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error:
            where = f"{path}, row {number} (begins in line {begin})"
            raise cells_not_closed(where, separator) from None
        if cells is None:
            return
        yield CellRecord(number, begin, reader.line_num, cells)


_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text with their ends; a copy of the text, as StringIO makes
    one, has four bytes for each character.
    """
    for line in _LINE.finditer(text):
        yield line[0]


def separator_of(text: str, suffix: str) -> str:
    """The separator that gives the most columns, the same number in most records and,
    if possible, in the first one.

    In a file named .tsv, tabs have precedence. A file with one column has commas.
    """
    if suffix == ".tsv":
        return "\t"
    best = ","
    widest = (False, 1)
    for separator in SEPARATORS:
        first = _first_records(text, separator)
        width = _usual_width(first)
        # Sentences may have one comma each, and the header none.
        has_header = width > 1 and len(first[0]) == width
        if width > 1 and (has_header, width) > widest:
            best = separator
            widest = (has_header, width)
    return best


def _first_records(text: str, separator: str) -> list[list[str]]:
    reader = csv.reader(_lines(text), delimiter=separator)
    first: list[list[str]] = []
    try:
        for cells in reader:
            if cells:
                first.append(cells)
            if len(first) == LOOKED_AT:
                break
    except csv.Error:
        return []
    return first


def _usual_width(first: Sequence[Sequence[str]]) -> int:
    """The number of fields that nearly all records have; 1 if there is none."""
    if not first:
        return 1
    [(width, times)] = Counter(map(len, first)).most_common(1)
    # Lines above the header may have fewer fields.
    wider = sum(len(cells) > width for cells in first)
    narrow_after = 0
    begun = False
    for cells in first:
        begun = begun or len(cells) == width
        narrow_after += begun and len(cells) < width
    # The least share of these records with one number of fields.
    most_common = 0.9
    regular = times >= most_common * (times + wider + narrow_after)
    return width if regular else 1


def _delimited(
    table: OpenedTable, text: str, path: Path
) -> Iterator[tuple[int, FileRow]]:
    """Yield the rows below the header of a text with a separator."""
    separator = separator_of(text, path.suffix.lower())
    if separator == "|":
        text = _without_rules(text)
    skipped = empty = 0
    first_line = text.partition("\n")[0].strip()
    if first_line.lower().startswith("sep=") and len(first_line) == len("sep=") + 1:
        separator = first_line[-1]
        skipped = 1
        table.notes.append(f"the separator is {separator!r}, as its first line says")
    elif separator != "," and path.suffix.lower() != ".tsv":
        table.notes.append(f"cells are separated by {SEPARATORS[separator]}")
    first = _first_records(text, separator)
    width = _usual_width(first)
    second_header: list[str] | None = None
    header: list[str] | None = None
    lines = RowLines()
    table.lines = lines
    footer: CellRecord | None = None
    behind_gap = False
    for record in records(text, separator, path):
        cells = record.cells
        if record.number <= skipped:
            continue
        if not cells:
            behind_gap = True
            continue
        if not any(cells):
            empty += 1
            continue
        if header is None:
            if len(cells) < width or _is_title(cells):
                table.notes.append(
                    f"row {record.number} above the header was skipped: "
                    f"{' '.join(filter(None, cells))[:60]}"
                )
                continue
            names, second_header = _merged(table, cells, first)
            header = _distinct(table, names)
            continue
        if cells == second_header:
            second_header = None
            continue
        if len(cells) == 1 < len(header) and behind_gap:
            footer = footer or record
            continue
        _check_width(footer or record, header, path, separator)
        behind_gap = False
        lines.add(record.number, record.begin)
        yield record.number, dict(zip(header, cells, strict=True))
    if footer is not None:
        table.notes.append(
            f"row {footer.number} below the rows was skipped: {footer.cells[0][:60]}"
        )
    if empty:
        rows = "row" if empty == 1 else "rows"
        table.notes.append(f"skipped: {empty} {rows} without a filled cell")


def _is_title(cells: Sequence[str], fewest: int = 3) -> bool:
    """Whether a line above a header has a cell in front and nothing behind, as the
    title of a sheet has.
    """
    return len(cells) >= fewest and bool(cells[0]) and not any(cells[1:])


def _without_rules(text: str) -> str:
    """The lines of a Markdown table without bars at their ends, without spaces around
    cells, and with an empty line in place of the rule below the header; any other text
    unchanged.
    """
    lines = text.splitlines()
    rules = [re.fullmatch(r"[|:\s-]*-{2,}[|:\s-]*", line) for line in lines[:3]]
    if not any(rules):
        return text
    plain = []
    for at, line in enumerate(lines):
        if at < len(rules) and rules[at]:
            plain.append("")
            continue
        cells = line.strip().removeprefix("|").removesuffix("|").split("|")
        plain.append("|".join(cell.strip() for cell in cells) if line.strip() else "")
    return "\n".join(plain)


def _merged(
    table: OpenedTable, header: list[str], first: list[list[str]]
) -> tuple[list[str], list[str] | None]:
    """The names of columns, and the second row of their header if it has two."""
    filled = [cells for cells in first if any(cells)]
    at = filled.index(header) if header in filled else len(filled)
    if at + 1 >= len(filled):
        return header, None
    names = merged_names(header, filled[at + 1], filled[at + 2 :])
    if names is None:
        return header, None
    table.notes.append(f"two rows are one header with merged cells: {names[-1]}, …")
    return names, filled[at + 1]


def _distinct(table: OpenedTable, header: Sequence[str]) -> list[str]:
    """The names of columns, with a number behind those that occurred before."""
    names: list[str] = []
    times: Counter[str] = Counter()
    for name in header:
        times[name] += 1
        new = f"{name} ({times[name]})" if times[name] > 1 else name
        while new in names:
            times[name] += 1
            new = f"{name} ({times[name]})"
        names.append(new)
    repeated = [name for name in times if times[name] > 1 and name]
    if repeated:
        table.notes.append(
            f"several columns are named {repeated[0]}; from the left they are "
            f"{repeated[0]}, {repeated[0]} (2), …"
        )
    return names


def _check_width(
    record: CellRecord, header: Sequence[str], path: Path, separator: str
) -> None:
    """Raise UserError for a record with more or fewer cells than the header."""
    where = f"{path}, row {record.number} (ends in line {record.end})"
    if len(record.cells) != len(header):
        raise UserError(
            "this row and the header have different numbers of cells",
            where=where,
            got=len(record.cells),
            allowed=str(len(header)),
            todo=f"quote cells that contain {SEPARATORS.get(separator, separator)} or "
            "quotation marks, or add missing cells",
        )
    if separator == "\t":
        for cell in record.cells:
            if may_be_rows(cell, len(header)):
                raise cells_not_closed(where, separator)
