"""Cells and rows of data in the words of errors and notices."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

ROW_PER_TEXT = (
    "use one row per text and one column per rater: map `item` (judgescope init: "
    "--item) to the column that names the source, and `system` (--system) to the one "
    "that names the system"
)
"""What to do about rows that are not one row per text."""
ONE_VALUE = (
    "columns of `meta` belong to the source: leave out a column whose values differ "
    "within a source; judgescope.slices compares such parts of the texts"
)
"""What to do about a column of slices that is no property of the source."""
NO_WORDS = "instead of words"
"""Words of the notice of such texts."""


PRINTED = re.compile(
    r"""\s*\[\s*(?:['"]|(?:nan|NaN|None|null)\b)"""
    r""".*(?:['"]|\b(?:nan|NaN|None|null))\s*\]\s*"""
    r"""|\s*\[\s*(?:nan|NaN|None|null)\s*\]\s*""",
    re.DOTALL,
)
"""A list of texts as Python or JSON prints it."""


class Location(NamedTuple):
    """A row of a file; 0: the file as a whole."""

    file: str
    row: int


def as_number(cell: object) -> float | None:
    """Return a cell as a number, infinite if it is too large; None: not a number.

    >>> as_number(" 12.5 "), as_number("12 words"), as_number("1_000")
    (12.5, None, None)
    """
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | Decimal):
        return None
    try:
        return float(cell if "_" not in str(cell) else "")
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def numbered(prefix: str, number: int, count: int) -> str:
    """Return `prefix-007`, with as many digits as `count` needs, but at least three."""
    return f"{prefix}-{number:0{max(3, len(str(count)))}d}"


def rows_of(locations: list[Location], n_shown: int = 5) -> str:
    """Return files and rows: the first few rows of each file, and their total
    number.

    >>> rows_of([Location("a.csv", 3), Location("a.csv", 2), Location("b.csv", 0)])
    'a.csv, rows 2, 3; b.csv'
    """
    rows_by_file: dict[str, set[int]] = {}
    for location in locations:
        rows_by_file.setdefault(location.file, set()).add(location.row)
    descriptions = list[str]()
    for file, numbers in sorted(rows_by_file.items()):
        rows = sorted(numbers - {0})
        if not rows:
            descriptions.append(file)
            continue
        shown = ", ".join(str(row) for row in rows[:n_shown])
        word = "row" if len(rows) == 1 else "rows"
        more = f", … ({len(rows)} in all)" if len(rows) > n_shown else ""
        descriptions.append(f"{file}, {word} {shown}{more}")
    return "; ".join(descriptions)


def without_folders(locations: list[Location]) -> str:
    """Return files and rows without the files' folders."""
    names = [at._replace(file=Path(at.file).name) for at in locations]
    return rows_of(names)


def counted(count: int, word: str) -> str:
    """Return a number with its noun: `1 row`, `2 rows`."""
    if count == 1:
        return f"{count} {word}"
    return f"{count} {word}s"


def no_text(text: str) -> str:
    """Return what a program wrote in place of a missing text, "" for any other text."""
    words = ["nan", "None", "null", "NaT", "<NA>", "undefined", "[]", "{}"]
    words += ["#NAME?", "#VALUE!", "#REF!", "#N/A"]
    words += ["#DIV/0!", "#NUM!", "#NULL!", "#ERROR!"]
    if len(text) < 30:
        stripped = text.strip().casefold()
        for word in words:
            if stripped == word.casefold():
                return f"`{word}`"
    return "a printed list" if PRINTED.fullmatch(text) else ""


def _visible(text: str) -> str:
    """Return a text in which combining marks, which change a letter, are codes."""
    signs = list[str]()
    for sign in text:
        signs.append(f"⟨U+{ord(sign):04X}⟩" if unicodedata.combining(sign) else sign)
    return "".join(signs)


def distinguishable(name: str, other: str, around: int = 30) -> list[str]:
    """Return two names so that their difference is visible, with combining marks as
    codes.

    For long names, return only the part around the first difference, with `around`
    characters on both sides.
    """
    same = min(len(name), len(other))
    for index, (a, b) in enumerate(zip(name, other, strict=False)):
        if a != b:
            same = index
            break
    shown = slice(None)
    if max(len(name), len(other)) > 3 * around:
        shown = slice(max(0, same - around), same + around)
    return [_visible(name[shown]), _visible(other[shown])]


def trimmed(text: object) -> object:
    """Return a text without the white space around it, and anything else as it is."""
    if isinstance(text, str):
        return text.strip()
    return text


def blank(value: object) -> bool:
    """Return whether a cell is empty: no value, not a number, or only white space."""
    if isinstance(value, float):
        return math.isnan(value)
    if value is None:
        return True
    return isinstance(value, str) and not value.strip()


def length_notices(lengths: Iterable[tuple[Location, float | None]]) -> Iterator[str]:
    """Yield how many texts have no length, and whether all have the same one.

    >>> row = Location("texts.csv", 2)
    >>> list(length_notices([(row, 3.0), (row, 3.0)]))
    ['all texts have the length 3: length is not tested']
    """
    count = 0
    missing = []
    known = set()
    for location, length in lengths:
        count += 1
        if length is None:
            missing.append(location)
        else:
            known.add(length)
    if missing:
        yield (
            f"{counted(len(missing), 'text')} without a length, left out of "
            f"comparisons with length: {without_folders(missing)}"
        )
    if count and not known:
        yield "no text has a length: length is not tested"
    if count > 1 and len(known) == 1:
        yield f"all texts have the length {min(known):g}: length is not tested"
