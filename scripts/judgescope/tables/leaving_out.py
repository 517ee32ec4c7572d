"""Rows and cells of a table that are no data: averages below the rows, and numbers off
the scale that stand for "no score".
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

from judgescope.data.column_rows import cells_of, rows_where
from judgescope.data.rows import TableRow
from judgescope.tables.spelling import filled_cells, is_missing
from judgescope.tables.words import is_total, names_total

SENTINELS: Final = frozenset({-999, -99, -9, -1, 0, 9, 99, 999})
"""Numbers that stand for "no score" if they are off the scale."""
USUAL_SCALES: Final = (
    (0, 1),
    (1, 5),
    (0, 5),
    (1, 7),
    (1, 10),
    (0, 10),
    (0, 100),
    (-1, 1),
    (-2, 2),
    (-3, 3),
)
"""The ends of usual scales. The first one that contains all ratings is taken."""
FEWEST_VALUES: Final = 10
"""Filled cells from which a scale can be told from a value off it."""


def is_total_row(row: TableRow, texts: Sequence[str]) -> bool:
    """Whether a row has a word for averages or sums, and no other word, where other
    rows have ids and texts.

    texts: the columns in which other rows have words.
    """
    words = [str(row[name]) for name in texts if not is_missing(row.get(name))]
    if not words:
        # The word may stand below the numbers of the rows.
        filled = [cell for cell in row.values() if not is_missing(cell)]
        words = [str(cell) for cell in filled if not _is_number(cell)]
    if len(words) == 1 and is_total(words[0]):
        return True
    # `Bot A average`: other rows have two texts more, this one none.
    return len(words) == 1 and len(texts) >= 3 and names_total(words[0])


def is_nameless_total(
    row: TableRow, texts: Sequence[str], filled: Sequence[str]
) -> bool:
    """Whether a last row has no word, and a fraction where other rows have whole
    numbers.

    whole: the columns in which all other rows have whole numbers.
    """
    if not texts or any(not is_missing(row.get(name)) for name in texts):
        return False
    for name in filled:
        cell = row.get(name)
        if _is_number(cell) and not float(cell or 0).is_integer():
            return True
    return False


def without_totals(
    rows: Sequence[TableRow], numbers: Sequence[int], columns: Sequence[str]
) -> tuple[Sequence[TableRow], list[int], list[str]]:
    """The rows and their numbers without rows of averages and sums, and notes."""
    texts = []
    for column in columns:
        filled = filled_cells(cells_of(rows, column))
        worded = sum(not _is_number(cell) for cell in filled)
        if filled and worded >= 0.9 * len(filled) and len(filled) >= 0.8 * len(rows):
            texts.append(column)
    filled_in = [column for column in columns if _is_whole(rows[:-1], column)]
    kept = [True] * len(rows)
    notes = []
    for index in _may_be_totals(rows, texts):
        row = rows[index]
        is_last = index == len(rows) - 1
        nameless = is_last and is_nameless_total(row, texts, filled_in)
        if nameless or (texts and is_total_row(row, texts)):
            filled = [cell for cell in row.values() if not is_missing(cell)]
            words = [str(cell) for cell in filled if not _is_number(cell)]
            name = repr(words[0]) if words else "averages or sums without an id"
            notes.append(f"row {numbers[index]} ({name}) was left out: it is no text")
            kept[index] = False
    return rows_where(rows, kept), list(compress(numbers, kept)), notes


def _may_be_totals(rows: Sequence[TableRow], texts: Sequence[str]) -> list[int]:
    """The places of the rows with at most one of the texts of others, and of the last.

    Most rows have all of them: a row is not made to see that.
    """
    last = len(rows) - 1
    if not texts:
        return [last] if rows else []
    counts = [0] * len(rows)
    for column in texts:
        for index, cell in enumerate(cells_of(rows, column)):
            counts[index] += not is_missing(cell)
    places = list[int]()
    for index, count in enumerate(counts):
        if count <= 1 or index == last:
            places.append(index)
    return places


def _is_whole(rows: Sequence[TableRow], column: str) -> bool:
    """Whether all filled cells of a column are whole numbers."""
    filled = filled_cells(cells_of(rows, column))
    return bool(filled) and all(
        _is_number(cell) and float(cell).is_integer() for cell in filled
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


@dataclass(frozen=True)
class OffScale:
    """Values of a column that stand for "no score", each with its count."""

    counts: dict[float, int]
    low: float
    high: float


def off_scale(values: Sequence[float]) -> OffScale | None:
    """One or two values off the narrowest usual scale that has nearly all values.

    Only -999, -99, -9, -1, 0, 9, 99 and 999 are taken for "no score"; None without any.

    >>> off_scale([1, 2, 3, 4, 5] * 5 + [-1, 99] * 2).counts
    {-1: 2, 99: 2}
    """
    if len(values) < FEWEST_VALUES:
        return None
    counts = Counter(values)
    # Scales that only values off them reveal: ratings from 1 to 3 may be on 1 to 5.
    narrow_scales = ((1, 3), (1, 4))
    # The largest share of a column's values that one such number has.
    most_off = 0.1
    for low, high in (USUAL_SCALES[0], *narrow_scales, *USUAL_SCALES[1:]):
        within = sum(times for value, times in counts.items() if low <= value <= high)
        if within < 0.8 * len(values):
            continue
        outside = {
            value: times
            for value, times in sorted(counts.items())
            if not low <= value <= high
        }
        if not outside:
            return None
        # A single value off the scale may be a slip; it stays, with a note.
        rare = all(1 < times <= most_off * len(values) for times in outside.values())
        if rare and len(outside) <= 2 and SENTINELS.issuperset(outside):
            return OffScale(outside, low, high)
    return None


def far_off(values: Sequence[float]) -> OffScale | None:
    """One or two whole numbers that repeat far off the usual scale of nearly all
    others: it is open whether they are scores.

    Far is more than the scale's width above or below it: -2 to 2 is a scale, too.

    >>> far_off([1, 2, 3, 4, 5] * 8 + [100, 100]).counts
    {100: 2}
    >>> far_off([1, 2, 3, 4, 5] * 8 + [7, 7]) is None  # a scale from 1 to 7
    True
    """
    is_whole = all(float(value).is_integer() for value in values)
    if len(values) < FEWEST_VALUES or not is_whole:
        return None
    counts = Counter(values)
    # The largest share of a column's values that are far off the scale of the others.
    most_far = 0.25
    for low, high in USUAL_SCALES[1:]:
        inside = [value for value in counts if low <= value <= high]
        within = sum(counts[value] for value in inside)
        if within < (1 - most_far) * len(values) or len(inside) < 3:
            continue
        outside = {}
        for value in sorted(counts.keys() - {*inside}):
            is_far = value > 2 * high - low or value < 2 * low - high
            if counts[value] < 2 or not is_far:
                return None
            outside[value] = counts[value]
        return OffScale(outside, low, high) if 0 < len(outside) <= 2 else None
    return None


def values_on_scale(values: Sequence[float]) -> list[float]:
    """The values of a column without those that stand for "no score"."""
    outliers = off_scale(values)
    if outliers is None:
        return list(values)
    return [value for value in values if value not in outliers.counts]


def is_on_wider_scale(value: float, others: OffScale) -> bool:
    """Whether a usual scale has a value beside the scale of the others: 0 beside 1 to
    5, and never -1.
    """
    for low, high in USUAL_SCALES:
        if low <= min(value, others.low) and max(value, others.high) <= high:
            return True
    return False


def without_descriptions(
    rows: Sequence[TableRow], numbers: Sequence[int]
) -> tuple[Sequence[TableRow], list[int], list[str]]:
    """The rows and their numbers without those below the header in which Qualtrics or
    SurveyMonkey describes the columns, and a note.
    """
    words = {"response", "open-ended response"}
    first = (
        {str(cell).strip().casefold() for cell in rows[0].values()} if rows else set()
    )
    if len(rows) > 1 and first & words and first <= words | {"", "none"}:
        note = f"row {numbers[0]} describes the columns (SurveyMonkey) and was left out"
        return rows[1:], list(numbers[1:]), [note]
    if _describes_columns(rows):
        note = f"row {numbers[0]} describes the columns, and was left out"
        return rows[1:], list(numbers[1:]), [note]
    described = 2
    if len(rows) > described and any(
        str(cell).startswith('{"ImportId"') for cell in rows[1].values()
    ):
        note = (
            f"rows {numbers[0]} and {numbers[1]} describe the columns (Qualtrics) and "
            "were left out"
        )
        named = _with_statements(rows[0], rows[described:])
        return named, list(numbers[described:]), [note]
    return rows, list(numbers), []


def _with_statements(
    description: TableRow, rows: Sequence[TableRow]
) -> Sequence[TableRow]:
    """Rows with the statements of a matrix in the names of its columns: `Clarity
    (Q1_1)`, which Qualtrics describes as `Rate the answer: - Clarity`.
    """
    names = {}
    for column, cell in description.items():
        statement = str(cell).rpartition(" - ")[2].strip()
        is_matrix = re.fullmatch(r"Q\d+(?:\.\d+)*_\d+", column)
        # A longer one is a text, not the name of what is rated.
        if is_matrix and " - " in str(cell) and 0 < len(statement) <= 40:
            names[column] = f"{statement} ({column})"
    if not names:
        return rows
    renamed: list[TableRow] = []
    for row in rows:
        renamed.append({names.get(name, name): cell for name, cell in row.items()})
    return renamed


def _describes_columns(rows: Sequence[TableRow], looked_at: int = 50) -> bool:
    """Whether the first row has units or scales, `(1-5)`: words where the next rows
    have numbers, and nothing where these have words.
    """
    if len(rows) < FEWEST_VALUES:
        return False
    others = rows[1:looked_at]
    has_words = has_gap = False
    for column, cell in rows[0].items():
        if isinstance(cell, list | dict):
            return False
        filled = filled_cells(cells_of(others, column))
        if len(filled) < len(others):
            continue
        are_numbers = all(map(_is_number, filled))
        if are_numbers and is_missing(cell) is False:
            if _is_number(cell):
                return False
            has_words = True
        has_gap = has_gap or (not are_numbers and is_missing(cell))
    return has_words and has_gap


def without_skipped(
    rows: Sequence[TableRow], numbers: Sequence[int]
) -> tuple[Sequence[TableRow], list[int], list[str]]:
    """The rows and their numbers without tasks that people skipped or rejected in
    Prodigy, and a note.

    Its column `answer` says whether a task was accepted, and is a label only where no
    column has the options that were chosen.
    """
    if not rows or not {"_task_hash", "answer"} <= rows[0].keys():
        return rows, list(numbers), []
    has_options = any(row.get("accept") is not None for row in rows)
    skipped = {"ignore", "reject"} if has_options else {"ignore"}
    kept: list[TableRow] = []
    kept_numbers = []
    for row, number in zip(rows, numbers, strict=True):
        if str(row.get("answer")) in skipped:
            continue
        kept.append(_with_annotator(row) if has_options else row)
        kept_numbers.append(number)
    left_out = len(rows) - len(kept)
    said = " or ".join(sorted(skipped))
    notes = [f"{left_out} rows were left out: their answer is {said} (Prodigy)"]
    return kept, kept_numbers, notes if left_out else []


def _with_annotator(row: TableRow) -> TableRow:
    """A row of Prodigy with the annotator in the name of the column of their options,
    and without the column that says whether the task was accepted.
    """
    new: dict[str, Any] = {}
    for name, cell in row.items():
        if name != "answer":
            new["accept (annotator)" if name == "accept" else name] = cell
    return new


def without_values(
    rows: Sequence[TableRow], values: Sequence[str]
) -> tuple[Sequence[TableRow], list[str]]:
    """Rows in which cells that stand for no value are empty, and a note for each column
    that has them.

    A number counts however it is written: -1 and -1.0 are the same.
    """
    if not values:
        return rows, []
    wanted = {_plain_cell(value) for value in values}
    counts: Counter[str] = Counter()
    new_rows: list[TableRow] = []
    for row in rows:
        new = dict(row)
        for column, cell in row.items():
            if not isinstance(cell, list | dict) and _plain_cell(cell) in wanted:
                new[column] = None
                counts[column] += 1
        new_rows.append(new)
    named = ", ".join(values)
    notes = []
    for column, times in counts.items():
        cells = "cell is" if times == 1 else "cells are"
        notes.append(f"column {column}: {times} {cells} missing (--missing {named})")
    return new_rows, notes


def _plain_cell(cell: object) -> str | float:
    if _is_number(cell):
        return float(str(cell))
    return str(cell).strip().casefold()
