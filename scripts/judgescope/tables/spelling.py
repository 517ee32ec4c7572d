"""Numbers as people write them: 4/5, 80 %, "5 - Great", ★★★, −2, 4,5 and ="3".

A column is read as numbers only if one way of writing explains all of its filled cells,
so that a text that contains a number stays a text.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import NoneType
from typing import Any, Final
from unicodedata import decimal, normalize, numeric

from judgescope.core.names import NOT_JUDGED, without_accents
from judgescope.data.column_rows import cells_of, with_cells
from judgescope.data.rows import TableRow
from judgescope.tables.choices import TIE_WORDS
from judgescope.tables.no_answer import says_no_answer
from judgescope.tables.thousands import DecimalSign, GroupedNumbers, grouped_numbers

CellReader = Callable[[str], float | None]

MISSING: Final = frozenset(
    {
        "",
        "-",
        "–",
        "—",
        "−",
        "--",
        ".",
        "…",
        "?",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "none",
        "null",
        "missing",
        NOT_JUDGED,
    }
)
"""What people write for a missing value, in lower case."""
LONGEST_MISSING: Final = max(map(len, MISSING))
"""Characters of the longest of these."""
FAILURES: Final = frozenset(
    {
        "error",
        "errors",
        "failed",
        "failure",
        "timeout",
        "timed",
        "exception",
        "aborted",
        "cancelled",
        "skipped",
        "unavailable",
        "unrated",
        "unparsed",
        "unreadable",
        "invalid",
        "pending",
        "refused",
        "refusal",
        "abstain",
        "abstained",
        "skip",
        "unsure",
        "unknown",
        "undecided",
        "tbd",
        "todo",
        "dk",
        "idk",
    }
)
"""Words of a cell which says that there is no value."""
MOST_FAILURES: Final = 0.2
"""The largest share of a column's cells that may say that there is no value."""
MONTHS: Final = frozenset(
    [
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "januar",
        "februar",
        "märz",
        "mär",
        "mai",
        "juni",
        "juli",
        "okt",
        "oktober",
        "dez",
        "dezember",
        "janv",
        "févr",
        "mars",
        "avr",
        "juin",
        "juil",
        "août",
        "déc",
        "ene",
        "abr",
        "ago",
        "dic",
        "янв",
        "фев",
        "мар",
        "апр",
        "май",
        "июн",
        "июл",
        "авг",
        "сен",
        "окт",
        "ноя",
        "дек",
    ]
)
"""Names of months as spreadsheets write them, in lower case."""
MINUS_SIGNS: Final = "−–‒﹣－"
_DIGIT_OR_STAR: Final = re.compile(r"[\d★⭐½⅓⅔¼¾①-⑳⑴-⒇⒈-⒛❶-❿➀-➓]")
"""What every cell with a number has."""
_ONE_DIGITS: Final = re.compile(r"[❶-❿➀-➓]")
"""Circled numbers that have no plain form in Unicode's tables."""
PLAIN_NUMBER: Final = re.compile(
    r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", flags=re.ASCII
)


def is_missing(cell: object) -> bool:
    """Whether a cell stands for a missing value."""
    # Characters of a cell whose reading is kept: ratings and labels repeat, texts do
    # not.
    longest_kept = 12
    if isinstance(cell, str) and len(cell) <= longest_kept:
        return _is_missing_word(cell)
    if cell is None:
        return True
    text = str(cell).strip()
    # A text is too long for such a word: it is not copied in lower case.
    return len(text) <= LONGEST_MISSING and text.lower() in MISSING


@lru_cache(maxsize=1 << 14)
def _is_missing_word(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def says_failure(cell: object) -> bool:
    """Whether a cell says that there is no value: ERROR, `error: timed out`, #REF!"""
    text = str(cell).strip()
    if says_no_answer(text):
        return True
    words = re.findall(r"[a-z]+", text.lower())
    excel = bool(re.fullmatch(r"#[A-Z0-9/!?]+", text))
    return excel or (len(words) <= 4 and not FAILURES.isdisjoint(words))


def _is_repeated_word(cell: str, times: int) -> bool:
    """Whether a cell without digits occurs more than once: no slip of one cell."""
    words = cell.split()
    if without_accents(cell.strip()).casefold() in TIE_WORDS:
        return False  # beside 1 and 2, the first text and the second
    return times > 1 and len(words) <= 4 and not _DIGIT_OR_STAR.search(cell)


def plain(text: str) -> str:
    """A cell without decoration: full-width digits, odd spaces and minus signs, the
    apostrophe or the formula by which a spreadsheet keeps a number as text.

    >>> plain('="３"'), plain("’−2")
    ('3', '-2')
    """
    if text.isascii() and text.isalnum():
        return text  # most cells: there is nothing to take off
    text = normalize("NFKC", _with_decimals(text)).strip()
    in_brackets = re.fullmatch(r"\[{1,2}([^\[\],]*)\]{1,2}", text)
    if in_brackets:
        text = in_brackets[1].strip()
    formula = re.fullmatch(r'="(.*)"', text)
    if formula:
        text = formula[1].strip()
    text = text.lstrip("'’`").strip()
    if len(text) > 1 and text[0] in MINUS_SIGNS and text[1] in "0123456789.,":
        text = f"-{text[1:]}"
    return text


def _with_decimals(text: str) -> str:
    """A text with 4.5 for `4½` and `4 1/2`, and with plain digits of every script.

    >>> _with_decimals("4½"), _with_decimals("٤"), _with_decimals("❸")
    ('4.5', '4', '3')
    """
    mixed = re.fullmatch(r"\s*(\d*)\s*([½⅓⅔¼¾])\s*", text)
    if mixed:
        return f"{int(mixed[1] or 0) + numeric(mixed[2]):g}"
    in_digits = re.fullmatch(r"\s*(\d+)\s+(\d)/(\d)\s*", text)
    if in_digits and 0 < int(in_digits[2]) < int(in_digits[3]):
        return f"{int(in_digits[1]) + int(in_digits[2]) / int(in_digits[3]):g}"
    text = _ONE_DIGITS.sub(lambda match: f"{numeric(match[0]):g}", text)
    return re.sub(r"\d", lambda match: str(decimal(match[0])), text)


# --- ways of writing ------------------------------------------------------------------


def simple(text: str) -> float | None:
    """The number that a plain cell is."""
    return float(text) if PLAIN_NUMBER.fullmatch(text) else None


def _percent(text: str) -> float | None:
    match = re.fullmatch(r"(\S+)\s*%", text)
    return simple(match[1]) if match else None


def _percent_with_comma(text: str) -> float | None:
    match = re.fullmatch(r"(\S+)\s*%", text)
    return _decimal_comma(match[1]) if match else None


def _with_unit(text: str) -> float | None:
    """The number before a word for points or stars: `4分`, `3점`, `4 баллов`."""
    units = "分|点|點|星|颗星|つ星|점|балл|балла|баллов|б|pts?|points?|Punkte?|puntos?"
    match = re.fullmatch(rf"(\S+?)\s*(?:{units})\.?", text, flags=re.I)
    return simple(match[1]) if match else None


def _stars(text: str) -> float | None:
    match = re.fullmatch(r"(★+)☆*", text) or re.fullmatch(r"((?:⭐️?)+)", text)
    return float(len(re.findall("[★⭐]", match[1]))) if match else None


def _decimal_comma(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?\d+(?:,\d+)?", text):
        return None
    return float(text.replace(",", "."))


def _comma_thousands(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,3})(?:\.\d+)?", text):
        return None
    return float(text.replace(",", ""))


def _space_thousands(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?\d{1,3}(?: \d{3})+(?:\.\d+)?|[-+]?\d{1,3}", text):
        return None
    return float(text.replace(" ", ""))


def _is_month(words: str) -> bool:
    """Whether a word is a month: a spreadsheet turns 4/5 into `4-May`, a date.

    >>> _is_month("May"), _is_month("mai 2026"), _is_month("Maybe")
    (True, True, False)
    """
    [word, *rest] = words.strip().casefold().rstrip(".").split() or [""]
    return word in MONTHS and all(part.isdigit() for part in rest)


def is_date(cell: object) -> bool:
    """Whether a cell is a day: 2026-05-04, 4.5.2026, `4-May`, `May 4`.

    >>> is_date("4-May"), is_date("04.05.2026"), is_date("4.5")
    (True, True, False)
    """
    text = str(cell).strip()
    if re.fullmatch(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?", text):
        return True
    day_first = re.fullmatch(r"\d{1,2}[-./ ]+([^\W\d_].*)", text)
    month_first = re.fullmatch(r"([^\W\d_]+)\.?[-./ ]+\d{1,2}", text)
    match = day_first or month_first
    return bool(match and _is_month(match[1]))


OUT_OF: Final = r"(?:out\s+)?of|von|sur|de|di|su|van|из"
"""Words between a number and the largest one: `4 out of 5`, `4 von 6`."""


@dataclass(frozen=True)
class WordedNumber:
    """A number with words: `5 - Great`, `4 stars`, `Fair (2)`, `3/5`."""

    value: float
    words: str

    @classmethod
    def of(cls, text: str) -> "WordedNumber | None":
        """The number and the words of a cell; None if it is not both."""
        # `2,5 / 5` has a decimal comma: thousands have three digits behind theirs.
        number = r"([-+]?\d+(?:\.\d+|,\d{1,2})?)"
        word = r"([^\W\d_][^\d]*)"
        patterns = (
            (rf"{number}\s*/\s*(\d+(?:\.\d+)?)", 1, 2),
            (rf"{number}\s+(?:{OUT_OF})\s+(\d+)(?:\s+[^\W\d_]+)?", 1, 2),
            (rf"{number}\s*[-–—:=.)]\s*{word}", 1, 2),
            (rf"{number}\s+{word}", 1, 2),
            (rf"{number}\s*[(\[]{word}[)\]]", 1, 2),
            (rf"{word}\s*[(\[]{number}[)\]]", 2, 1),
            (rf"[(\[]{number}[)\]]\s*{word}", 1, 2),
            (rf"{word}\s+[-–—:=]\s*{number}", 2, 1),
        )
        for pattern, value, words in patterns:
            match = re.fullmatch(pattern, text)
            if match and _is_month(match[words]):
                return None
            if match and len(match[words].split()) <= 4:
                value_in_digits = float(match[value].replace(",", "."))
                return cls(value_in_digits, match[words].strip().casefold())
        return None


def _worded(cells: Sequence[str]) -> dict[str, float] | None:
    """Cell -> number, if all cells are numbers with words that fit together.

    Each number has one wording, as a scale has, or all have the same word, as a unit.
    """
    different = set(cells)
    read: dict[str, float] = {}
    wordings: dict[float, set[str]] = {}
    for cell in different:
        worded = WordedNumber.of(cell)
        number = simple(cell)
        if worded is not None:
            read[cell] = worded.value
            wordings.setdefault(worded.value, set()).add(worded.words)
        elif number is not None:
            read[cell] = number
        else:
            return None
    if not wordings:
        return None
    with_words = sum(WordedNumber.of(cell) is not None for cell in cells)
    if with_words < len(cells) / 2:
        return None  # a slip among plain numbers
    all_words = set().union(*wordings.values())
    # A scale whose numbers have words has at most so many values; short answers such
    # as `42 dollars` have more.
    most_wordings = 11
    repeats = len(cells) >= 2 * len(different) and len(different) <= most_wordings
    of_scale = repeats and all(len(words) == 1 for words in wordings.values())
    return read if of_scale or len(all_words) == 1 else None


@dataclass(frozen=True)
class Spelling:
    """A way of writing numbers, and what a note says of it."""

    note: str
    read: CellReader


SPELLINGS: Final = (
    Spelling("", simple),
    Spelling("per cent, read as numbers from 0 to 100", _percent),
    Spelling(
        "per cent with a decimal comma, read as numbers from 0 to 100",
        _percent_with_comma,
    ),
    Spelling("stars, counted", _stars),
    Spelling("numbers of points, read as the numbers", _with_unit),
    Spelling("numbers with spaces between thousands", _space_thousands),
    Spelling("numbers with a decimal comma", _decimal_comma),
    Spelling("numbers with commas between thousands", _comma_thousands),
)


# --- columns --------------------------------------------------------------------------


@dataclass(frozen=True)
class SpelledColumn:
    """The numbers of a column, and what a note says of how they are written."""

    numbers: dict[Any, float | None]
    """Cell -> number; None for a cell which says that there is no value."""
    note: str
    failures: dict[str, int]
    """Cell without a value -> how often it occurs."""
    example: str = ""
    """A cell that can be read in two ways with different results; "" if none can."""
    readings: dict[DecimalSign, float] = field(default_factory=dict)
    """The sign before decimals -> what the example is then."""


def filled_cells(cells: Iterable[Any]) -> list[Any]:
    """The cells that are not missing; a word that occurs again is not read again.

    >>> filled_cells(["4", "", None, "4", "NA"])
    ['4', '4']
    """
    cells = list(cells)
    if not {*map(type, cells)} <= {str, NoneType}:
        return [cell for cell in cells if not is_missing(cell)]
    missing = {cell for cell in {*cells} if is_missing(cell)}
    if not missing:
        return cells
    return [cell for cell in cells if cell not in missing]


def spelled(
    cells: Sequence[Any], decimal: DecimalSign | None = None
) -> SpelledColumn | None:
    """How the filled cells of a column are read as numbers; None if they are not.

    decimal: the sign before decimals, if a person states it.
    """
    signs = _signs(cells)
    if signs is not None:
        return signs
    filled = filled_cells(cells)
    texts = [cell for cell in filled if isinstance(cell, str)]
    if not texts or any(isinstance(cell, bool | list | dict) for cell in filled):
        return None
    # Cells repeat: each different one is looked at once.
    times = Counter(texts)
    plain_cells: dict[str, str] = {}
    failures: dict[str, int] = {}
    for cell, count in times.items():
        is_word = says_failure(cell) or _is_repeated_word(cell, count)
        if is_word and simple(plain(cell)) is None:
            failures[cell] = count
        elif _DIGIT_OR_STAR.search(cell):
            plain_cells[cell] = plain(cell)
        else:
            return None
    if not plain_cells or sum(failures.values()) > MOST_FAILURES * len(filled):
        return None
    values = [plain_cells[cell] for cell in texts if cell in plain_cells]
    readable = _numbers(values, decimal)
    if readable is None:
        return None
    note = readable.note
    if any(text.strip()[:1] in MINUS_SIGNS for text in times):
        note = note or "numbers; a long dash in front of a number was read as a minus"
    read: dict[Any, float | None] = dict.fromkeys(failures)
    for cell, written in plain_cells.items():
        read[cell] = readable.numbers[written]
    return SpelledColumn(read, note, failures, readable.example, readable.readings)


def _signs(cells: Sequence[Any]) -> SpelledColumn | None:
    """A column of signs, `--` to `++`, as numbers; None for any other.

    Beside a plus a dash is a minus and no missing value. Plus and minus alone are the
    labels 1 and 0.
    """
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return None
    steps: dict[Any, float | None] = {}
    for cell in cells:
        if cell is None or cell in steps:
            continue
        text = cell.strip()
        if not text:
            continue
        dashes = "".join("-" if sign in MINUS_SIGNS else sign for sign in text)
        if re.fullmatch(r"\++|-+", dashes):
            steps[cell] = float(dashes.count("+") - dashes.count("-"))
        elif text in {"0", "o", "O", "±", "+/-", "+-"}:
            steps[cell] = 0.0
        else:
            return None
    numbers = {value for value in steps.values() if value is not None}
    if not numbers or min(numbers) >= 0 or max(numbers) <= 0:
        return None
    if numbers == {1.0, -1.0}:
        steps = {cell: float(value == 1) for cell, value in steps.items()}
        return SpelledColumn(steps, "plus and minus, read as 1 and 0", {})
    low = min(numbers)
    high = max(numbers)
    note = f"signs, read as numbers from {low:g} to {high:g}"
    return SpelledColumn(steps, note, {})


def _numbers(
    values: Sequence[str], decimal: DecimalSign | None
) -> GroupedNumbers | None:
    """The numbers of cells that are written in one way, None for other cells."""
    grouped = grouped_numbers(values, decimal)
    if grouped is not None:
        return grouped
    for spelling in SPELLINGS:
        read = {}
        for value in set(values):
            number = spelling.read(value)
            if number is None:
                break
            read[value] = number
        else:
            return GroupedNumbers(read, spelling.note)
    worded = _worded(values)
    if worded is None:
        return None
    return GroupedNumbers(worded, "numbers with words, read as the numbers")


@dataclass(frozen=True)
class RespelledRows:
    """Rows with numbers in the columns that are written as numbers."""

    rows: Sequence[TableRow]
    notes: list[str]
    two_ways: dict[str, SpelledColumn]
    """Column -> its numbers, where they can be read in two ways."""


def respelled(
    rows: Sequence[TableRow],
    columns: Sequence[str],
    decimal: DecimalSign | None = None,
) -> RespelledRows:
    """Rows with numbers in the columns that are written as numbers.

    A cell that says there is no value becomes empty, and is counted in a note. decimal:
    the sign before decimals, if a person states it.
    """
    notes = []
    two_ways = {}
    by_column: dict[str, Mapping[Any, float | None]] = {}
    for column in columns:
        read = spelled(cells_of(rows, column), decimal)
        if read is None:
            continue
        if read.example:
            two_ways[column] = read
        changed = any(_differs(cell, value) for cell, value in read.numbers.items())
        if changed:
            by_column[column] = read.numbers
        if read.note:
            notes.append(f"column {column}: {read.note}")
        for failure, count in read.failures.items():
            times = "cell says" if count == 1 else "cells say"
            notes.append(
                f"column {column}: {count} {times} {failure!r}, which is no score; "
                "left out"
            )
    new_columns = {}
    for column, numbers in by_column.items():
        new = list[Any]()
        for cell in cells_of(rows, column):
            is_written = isinstance(cell, str) and cell in numbers
            new.append(_shortest(numbers[cell]) if is_written else cell)
        new_columns[column] = new
    return RespelledRows(with_cells(rows, new_columns), notes, two_ways)


def _differs(cell: Any, value: float | None) -> bool:
    """Whether a cell is not written as programs write this number.

    `float` reads digits of every script, which other readers do not.
    """
    if value is None or (isinstance(cell, str) and not cell.isascii()):
        return True
    try:
        return float(cell) != value
    except ValueError:
        return True


def _shortest(value: float | None) -> float | int | None:
    """A number as an integer where it is one."""
    if value is None:
        return None
    return int(value) if value.is_integer() else value
