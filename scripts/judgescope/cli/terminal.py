"""Tables in the terminal: aligned columns, coloured unless the output is redirected."""

import codecs
import os
import re
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from judgescope.core.errors import CONTROL, escaped

if TYPE_CHECKING:
    from judgescope.report.cells import Cell
    from judgescope.report.elements import Table

_NUMBER = r"[-–−+<>]?[\d.,\u202f]+(?:e[-+]?\d+)?(?:\u202f?%)?"
NUMBER = re.compile(rf"(?:{_NUMBER}(?: \[[^]]*\]°?)?(?: n = [\d,]+)?|-|–|hint|) *")
"""A cell with a number, its interval and n, or a substitute; a column of such cells is
aligned to the right.
"""
INTERVAL = re.compile(r"\[[^]]*\]°?")
THIN = "\u202f"
THOUSANDS = re.compile(rf"(?<=\d){THIN}(?=\d{{3}}\b)")
BOLD, FAINT, YELLOW, RESET = "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"
UNDEFINED = "undefined"
"""The beginning of the remark on an undefined number."""


def undefined(note: str) -> str:
    """Return the remark on an undefined number whose note says why."""
    return note if note.startswith(UNDEFINED) else f"{UNDEFINED}: {note}"


def coloured() -> bool:
    """Return whether standard output is a terminal and NO_COLOR is not set."""
    return (
        sys.stdout.isatty()
        and "NO_COLOR" not in os.environ
        and os.environ.get("TERM") != "dumb"
    )


def print_any_name(stream: TextIO, names: Iterable[str]) -> None:
    """Let a stream print characters that its encoding lacks, and names of files that
    are not UTF-8, such as these.
    """
    codecs.register_error("judgescope", _replacement)
    if not isinstance(stream, TextIOWrapper):
        return
    if stream.encoding.lower() != "utf-8" or any(
        name != escaped(name) for name in names
    ):
        stream.reconfigure(errors="judgescope")


def _replacement(error: UnicodeError) -> tuple[str, int]:
    """Return the code of a byte of a file name, or a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    text = escaped(error.object[error.start : error.end])
    return "".join(char if char.isascii() else "?" for char in text), error.end


def plain(value: object) -> str:
    """Return a value on one line: names from data may contain control characters.

    The space between thousands stays, for `with_commas`.
    """
    text = CONTROL.sub(" ", "" if value is None else escaped(str(value)))
    return "".join(char if char.isprintable() or char == THIN else " " for char in text)


def plural(number: int, noun: str) -> str:
    """Return a number, with commas between thousands, and its noun."""
    from judgescope.report import words  # slow to import

    return with_commas(words.plural(number, noun))


def with_commas(text: str) -> str:
    """Return a text of the report with commas between thousands, as the terminal shows
    numbers.
    """
    return THOUSANDS.sub(",", text)


def aligned(rows: Sequence[Sequence[str]], *, titled: bool = True) -> list[str]:
    """Return rows of equally many cells as lines; with `titled` the first row has the
    titles.

    In a terminal titles are bold, intervals faint, and undefined numbers yellow.
    """
    columns = [*zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    right = [all(map(NUMBER.fullmatch, column[titled:])) for column in columns]
    colours = coloured()
    lines = []
    for at, row in enumerate(rows):
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ]
        cells[-1] = cells[-1].rstrip()
        if colours:
            cells = [
                _coloured(cell, BOLD if titled and at == 0 else "") for cell in cells
            ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _coloured(cell: str, colour: str) -> str:
    if cell.startswith(UNDEFINED):
        colour = YELLOW
    elif not colour and (cell.startswith("[") or NUMBER.fullmatch(cell.lstrip())):
        return INTERVAL.sub(rf"{FAINT}\g<0>{RESET}", cell)
    return f"{colour}{cell}{RESET}" if colour and cell.strip() else cell


def printed(table: "Table") -> list[str]:
    """Return a table as lines: caption, rows by body, notes."""
    heads = [column.heading for column in table.columns]
    rows = [[table.corner, *heads]]
    for body in table.bodies:
        rows += [[body.title, *[""] * len(heads)]] if body.title else []
        for line in body.lines:
            head = f"{line.head} ({line.badge})" if line.badge else line.head
            rows.append([head, *map(_cell, line.cells)])
    lines = aligned([[*map(plain, map(with_commas, row))] for row in rows])
    return [table.caption, "", *lines, *map(with_commas, table.all_notes)]


def _cell(cell: "Cell") -> str:
    notes = f"({'; '.join(cell.notes)})" if cell.notes else ""
    return " ".join(filter(None, (cell.text, cell.interval, cell.mark, notes)))
