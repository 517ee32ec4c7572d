"""Rows of spreadsheets (.xlsx), read as untrusted input; needs the extra `formats`."""

import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

from judgescope.core.errors import UserError
from judgescope.data.merged_headers import merged_names

MOST_UNPACKED: Final = 2 << 30
"""Maximum bytes of a file's parts when they are unpacked: kilobytes may hold many."""
SpreadsheetCell = str | float | int | bool | None


def spreadsheet_rows(path: Path) -> Iterator[tuple[int, dict[str, SpreadsheetCell]]]:
    """Yield (row number, row) of the first visible sheet that has two filled columns.

    Row numbers are those that a spreadsheet shows. An empty cell is "", a date ISO
    8601, a whole number an integer. Rows without a filled cell are left out. Raises
    UserError for a file that is no spreadsheet, that unpacks to more than
    MOST_UNPACKED bytes, that has no such sheet, or whose header cannot name columns;
    ModuleNotFoundError without the extra `formats`.
    """
    # Only here: every other table is read without it.
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    _check_size(path)
    try:
        with CalamineWorkbook.from_path(path) as book:
            hidden = []
            for sheet in book.sheets_metadata:
                if sheet.visible != SheetVisibleEnum.Visible:
                    hidden.append(sheet.name)
                    continue
                rows = book.get_sheet_by_name(sheet.name).to_python(
                    skip_empty_area=False
                )
                begin = _header_at(rows)
                if begin is not None:
                    yield from _below(rows, begin, f"{path}, sheet {sheet.name}")
                    return
    except CalamineError as error:
        raise UserError(
            f"this spreadsheet cannot be read: {error}",
            where=str(path),
            todo="open it and save it again as .xlsx, without a password, or as CSV",
        ) from error
    raise UserError(
        "no visible sheet has two filled columns",
        where=str(path),
        got=f"hidden sheets: {', '.join(hidden)}" if hidden else None,
        todo="put the table into a visible sheet, with the names of columns on top",
    )


def _check_size(path: Path) -> None:
    """Raise UserError for a file that is no archive or unpacks to too much."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile as error:
        raise UserError(
            f"not an .xlsx file: {error}",
            where=str(path),
            todo="save it as .xlsx or as CSV (UTF-8)",
        ) from error
    if size > MOST_UNPACKED:
        raise UserError(
            "this file unpacks to too much data",
            where=str(path),
            got=f"{size:,} bytes",
            allowed=f"{MOST_UNPACKED:,} bytes unpacked",
            todo="save the sheet alone, as CSV",
        )


def _header_at(rows: Sequence[Sequence[Any]]) -> int | None:
    """Return the index of the first row with two filled cells, None without one."""
    for at, cells in enumerate(rows):
        if sum(cell != "" for cell in cells) >= 2:
            return at
    return None


def _below(
    rows: Sequence[Sequence[Any]], begin: int, where: str
) -> Iterator[tuple[int, dict[str, SpreadsheetCell]]]:
    """Yield the rows below a header, without columns that are empty to the end."""
    used = []
    for column, head in enumerate(rows[begin]):
        if head != "" or any(cells[column] != "" for cells in rows[begin:]):
            used.append(column)
    texts = []
    # Rows from the header on by which a second row of the header is known.
    looked_at = 50
    for cells in rows[begin : begin + looked_at]:
        texts.append([str(_plain(cells[column])).strip() for column in used])
    names = texts[0]
    merged = None
    if len(texts) > 1:
        merged = merged_names(names, texts[1], texts[2:])
    if merged is not None:
        names = merged
        begin += 1
    for name in names:
        if name == "" or names.count(name) > 1:
            raise UserError(
                "a column has no name" if name == "" else "duplicate column",
                where=f"{where}, row {begin + 1}",
                got=name or None,
                todo="give each column a name of its own, or delete the column",
            )
    for number, cells in enumerate(rows[begin + 1 :], start=begin + 2):
        values = [_plain(cells[column]) for column in used]
        if any(value != "" for value in values):
            yield number, dict(zip(names, values, strict=True))


def _plain(cell: object) -> SpreadsheetCell:
    """Return a cell as other tables have it."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, str | float | bool | int):
        return cell
    return ""
