"""What `audit` is given in Python, as a file that the command's reader opens.

Rows and DataFrames become JSON lines, a row a line: the reader then treats them as it
treats every other file, and a row's number is its place in the table, from 1.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from judgescope.core.errors import UserError

GivenRow = dict[str, Any]


@contextmanager
def as_file(table: object) -> Iterator[tuple[Path, str | None]]:
    """Yield the file of a table, and the name of a table that is in memory.

    A file in memory lasts as long as the context. Raises UserError for what is no
    table.
    """
    if isinstance(table, str | os.PathLike):
        yield Path(table), None
        return
    name, rows = _named_rows(table)
    lines = [_json_line(row, at, name) for at, row in enumerate(rows, start=1)]
    with TemporaryDirectory(prefix="judgescope-") as folder:
        file = Path(folder) / f"{name}.jsonl"
        file.write_text("".join(lines), encoding="utf-8", newline="")
        yield file, name


def _named_rows(table: object) -> tuple[str, list[GivenRow]]:
    """A table's name, which is its type, and its rows."""
    name = type(table).__name__
    if hasattr(table, "__arrow_c_stream__"):
        return name, _arrow_rows(table, name)
    is_table = isinstance(table, Iterable) and not isinstance(table, Mapping | bytes)
    allowed = (
        "a path; a list of rows (dicts); or a table with __arrow_c_stream__: a "
        "DataFrame of pandas 2.2 or newer or of polars, a Table of pyarrow"
    )
    if not is_table or hasattr(table, "columns"):
        raise UserError(
            "this is not a table",
            where="table",
            got=f"{type(table).__module__}.{name}",
            allowed=allowed,
        )
    assert isinstance(table, Iterable)
    rows = list[GivenRow]()
    for at, row in enumerate(table, start=1):
        if not isinstance(row, Mapping):
            raise UserError(
                "a row must be a dict from column to cell",
                where=f"rows, row {at}",
                got=row,
                allowed=allowed,
            )
        rows.append({str(column): cell for column, cell in row.items()})
    return "rows", rows


def _arrow_rows(table: object, name: str) -> list[GivenRow]:
    """The rows of a table that Arrow's stream passes on."""
    try:
        arrow = pa.RecordBatchReader.from_stream(table).read_all()
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise UserError(
            f"this table cannot be read through Arrow: {error}",
            where=name,
            todo="convert the columns that the message names, or pass a list of dicts",
        ) from None
    twice = sorted({each for each in arrow.column_names if _repeats(arrow, each)})
    if twice:
        raise UserError(
            "duplicate column",
            where=name,
            got=twice[0],
            todo="give each column a name of its own, or drop one of the columns",
        )
    # The column in which pandas passes on row labels without a name.
    unnamed_index = re.compile(r"__index_level_\d+__")
    unnamed = [each for each in arrow.column_names if unnamed_index.fullmatch(each)]
    rows: list[GivenRow] = arrow.drop_columns(unnamed).to_pylist()
    return rows


def _repeats(arrow: pa.Table, column: str) -> bool:
    return bool(arrow.column_names.count(column) > 1)


def _json_line(row: GivenRow, number: int, name: str) -> str:
    """A row as a line of JSON; UserError, with the row, for a cell that JSON lacks."""
    try:
        return json.dumps(_without_nan(row), default=_cell) + "\n"
    except (TypeError, ValueError) as error:
        raise UserError(
            f"a cell cannot be read: {error}",
            where=f"{name}, row {number}",
            allowed="numbers, text, True and False, None, dates, lists and dicts",
        ) from None


def _without_nan(value: Any) -> Any:
    """A cell with None for NaN: JSON has no missing numbers."""
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def _cell(value: object) -> Any:
    """What JSON has in place of another type: numbers of NumPy, decimals, dates."""
    if isinstance(value, Decimal):
        if value.is_nan():
            return None
        return float(value)
    if isinstance(value, date | time):
        # The missing date of pandas is a date, but has no year.
        if value == value:
            return value.isoformat()
        return None
    if type(value).__name__ == "NAType":
        return None
    for method in ("item", "tolist"):
        if callable(getattr(value, method, None)):
            try:
                return _without_nan(getattr(value, method)())
            except ValueError:  # several items: the next method
                continue
    raise TypeError(f"{value!r} of type {type(value).__name__}")
