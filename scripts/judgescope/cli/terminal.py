"""Tables in the terminal: aligned columns, coloured unless the output is redirected."""

import codecs
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from judgescope.core.errors import CONTROL, escaped

if TYPE_CHECKING:
    from judgescope.report.cells import ReportCell
    from judgescope.report.elements import PageTable

THIN = "\u202f"
UNDEFINED = "undefined"
"""The beginning of the remark on an undefined number."""


def undefined(note: str) -> str:
    """Return the remark on an undefined number whose note says why."""
    if note.startswith(UNDEFINED):
        return note
    return f"{UNDEFINED}: {note}"


def coloured() -> bool:
    """Return whether standard output is a terminal and NO_COLOR is not set."""
    if not sys.stdout.isatty():
        return False
    if "NO_COLOR" in os.environ:
        return False
    return os.environ.get("TERM") != "dumb"


@dataclass(frozen=True)
class TerminalPatterns:
    """What is recognised in the cells of a table."""

    number: re.Pattern[str]
    """A cell with a number, its interval and n, or a substitute; a column of such cells
    is aligned to the right."""
    interval: re.Pattern[str]
    thousands: re.Pattern[str]
    """The thin space between the thousands of a number."""


_SIGNED = rf"[-–−+<>]?[\d.,{THIN}]+(?:e[-+]?\d+)?(?:{THIN}?%)?"
PATTERNS = TerminalPatterns(
    number=re.compile(rf"(?:{_SIGNED}(?: \[[^]]*\]°?)?(?: n = [\d,]+)?|-|–|hint|) *"),
    interval=re.compile(r"\[[^]]*\]°?"),
    thousands=re.compile(rf"(?<=\d){THIN}(?=\d{{3}}\b)"),
)


def print_any_name(stream: TextIO, names: Iterable[str]) -> None:
    """Let a stream print characters that its encoding lacks, and names of files that
    are not UTF-8, such as these.
    """
    codecs.register_error("judgescope", _replacement)
    if not isinstance(stream, TextIOWrapper):
        return
    readable = all(name == escaped(name) for name in names)
    if stream.encoding.lower() != "utf-8" or not readable:
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
    return PATTERNS.thousands.sub(",", text)


@dataclass(frozen=True)
class TerminalColours:
    """The codes that begin and end a style."""

    bold: str = "\x1b[1m"
    faint: str = "\x1b[2m"
    yellow: str = "\x1b[33m"
    reset: str = "\x1b[0m"


COLOURS = TerminalColours()


def aligned(rows: Sequence[Sequence[str]], *, titled: bool = True) -> list[str]:
    """Return rows of equally many cells as lines; with `titled` the first row has the
    titles.

    In a terminal titles are bold, intervals faint, and undefined numbers yellow.
    """
    widths = []
    to_right = []
    for column in zip(*rows, strict=True):
        widths.append(max(map(len, column)))
        to_right.append(all(map(PATTERNS.number.fullmatch, column[titled:])))
    in_colour = coloured()
    lines = []
    for number, row in enumerate(rows):
        cells = []
        for cell, width, is_number in zip(row, widths, to_right, strict=True):
            cells.append(cell.rjust(width) if is_number else cell.ljust(width))
        cells[-1] = cells[-1].rstrip()
        if in_colour:
            is_title = titled and number == 0
            cells = [_coloured(cell, is_title=is_title) for cell in cells]
        lines.append("  ".join(cells).rstrip())
    return lines


def _coloured(cell: str, *, is_title: bool) -> str:
    if not cell.strip():
        return cell
    if cell.startswith(UNDEFINED):
        return f"{COLOURS.yellow}{cell}{COLOURS.reset}"
    if is_title:
        return f"{COLOURS.bold}{cell}{COLOURS.reset}"
    if cell.startswith("[") or PATTERNS.number.fullmatch(cell.lstrip()):
        faint = rf"{COLOURS.faint}\g<0>{COLOURS.reset}"
        return PATTERNS.interval.sub(faint, cell)
    return cell


def printed(table: "PageTable") -> list[str]:
    """Return a table as lines: caption, rows by body, notes."""
    headings = [column.heading for column in table.columns]
    rows = [[table.corner, *headings]]
    for body in table.bodies:
        if body.title:
            rows.append([body.title, *[""] * len(headings)])
        for line in body.lines:
            head = f"{line.head} ({line.badge})" if line.badge else line.head
            rows.append([head, *map(_cell, line.cells)])
    shown = []
    for row in rows:
        shown.append([plain(with_commas(cell)) for cell in row])
    notes = map(with_commas, table.all_notes)
    return [table.caption, "", *aligned(shown), *notes]


def _cell(cell: "ReportCell") -> str:
    notes = f"({'; '.join(cell.notes)})" if cell.notes else ""
    return " ".join(filter(None, (cell.text, cell.interval, cell.mark, notes)))
