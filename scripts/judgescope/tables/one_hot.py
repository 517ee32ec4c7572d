"""One choice in several columns: `rating.1`, `rating.2` and `rating.3` with true and
false, and true in one of them; boxes that are checked or empty; and lists of one entry.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of

TRUE: Final = frozenset({"true", "1", "1.0", "yes", "checked", "x", "✓", "✔", "☑"})
MARKS: Final = frozenset({"checked", "x", "✓", "✔", "☑", "☒", "✅"})
"""What a checked box is written as beside empty cells."""
FALSE: Final = frozenset({"false", "0", "0.0", "no", "unchecked", ""})
FEWEST_PARTS: Final = 3
"""Two columns of which one is true may be a label and its opposite."""
FEWEST_ROWS: Final = 6
"""Rows from which exactly one true cell in each row is no accident."""


def with_one_choice(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], list[str]]:
    """Rows with one column for each choice that stands in several, and notes.

    Crowd platforms write a radio button as a column per answer, with true in one.

    >>> rows = [{"r.1": v == 1, "r.2": v == 2, "r.3": v == 3} for v in (1, 3, 2) * 2]
    >>> with_one_choice(rows, ["r.1", "r.2", "r.3"])[0][:2]
    [{'r': '1'}, {'r': '3'}]
    """
    families: dict[str, dict[str, str]] = {}
    for column in columns:
        split = re.fullmatch(r"(.+?)\s*[._:/\[(]\s*([^._:/\[(]+?)[)\]]?", column)
        if split is not None:
            families.setdefault(split[1], {})[split[2]] = column
    choices = {}
    for stem, parts in families.items():
        is_choice = len(parts) >= FEWEST_PARTS and len(rows) >= FEWEST_ROWS
        if is_choice and stem not in columns and _has_one(rows, list(parts.values())):
            choices[stem] = parts
    if not choices:
        return rows, []
    notes = []
    for stem, parts in choices.items():
        notes.append(
            f"{', '.join(parts.values())} have one true cell in each row: they were "
            f"read as one column {stem}"
        )
    return [_joined(row, choices) for row in rows], notes


def _has_one(rows: Sequence[TableRow], columns: Sequence[str]) -> bool:
    """Whether each row is true in exactly one of the columns, and each column in some
    row.
    """
    used = set[str]()
    for row in rows:
        true = []
        for column in columns:
            cell = row.get(column)
            word = ""
            if cell is not None:
                word = str(cell).strip().casefold()
            if word in TRUE:
                true.append(column)
            elif word not in FALSE:
                return False
        if len(true) != 1:
            return False
        used.add(true[0])
    return len(used) > 1


def _joined(row: TableRow, choices: Mapping[str, Mapping[str, str]]) -> TableRow:
    """A row with one cell for each choice, where its first column was."""
    choice_of: dict[str, tuple[str, str]] = {}
    for stem, parts in choices.items():
        choice_of |= {column: (stem, part) for part, column in parts.items()}
    new: dict[str, Any] = {}
    for column, cell in row.items():
        if column not in choice_of:
            new[column] = cell
            continue
        stem, part = choice_of[column]
        new.setdefault(stem, None)
        if str(cell).strip().casefold() in TRUE:
            new[stem] = part
    return new


def with_checkboxes(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], list[str]]:
    """Rows with `checked` and `unchecked` in columns of ratings whose cells are a mark
    or empty, and notes.

    Airtable writes a box as `checked` or as an empty cell.

    >>> with_checkboxes([{"human": "checked"}, {"human": ""}] * 5, ["human"])[0][:2]
    [{'human': 'checked'}, {'human': 'unchecked'}]
    """
    boxes = []
    for column in columns:
        # Only columns that rate: a box may also say that a text was exported.
        if {"person", "machine", "measure"}.isdisjoint(classes_of(column)):
            continue
        cells = cells_of(rows, column)
        words = {str(cell or "").strip().casefold() for cell in cells}
        marks = words - {""}
        if len(words) == 2 and len(marks) == 1 and marks <= MARKS:
            boxes.append(column)
    if not boxes:
        return rows, []
    new_rows: list[TableRow] = []
    for row in rows:
        new = dict(row)
        for column in boxes:
            new[column] = "checked" if str(row.get(column) or "") else "unchecked"
        new_rows.append(new)
    notes = [
        f"column {column}: an empty cell counts as an unchecked box" for column in boxes
    ]
    return new_rows, notes


def with_single_entries(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], list[str]]:
    """Rows with words in place of lists of at most one word each, and these columns.

    Doccano and Prodigy write the label of a text as a list.

    >>> with_single_entries([{"label": ["good"]}, {"label": []}], ["label"])
    ([{'label': 'good'}, {'label': None}], ['label'])
    """
    single = []
    for column in columns:
        cells = cells_of(rows, column)
        filled = (cell for cell in cells if not is_missing(cell))
        if not isinstance(next(filled, None), list):
            continue  # most columns, without a look at all their cells
        cells = [cell for cell in cells if not is_missing(cell)]
        lists = [cell for cell in cells if isinstance(cell, list)]
        if len(lists) < len(cells) or not any(lists):
            continue
        words = [cell for cell in lists if not cell or isinstance(cell[0], str)]
        if len(words) == len(lists) and max(map(len, lists)) == 1:
            single.append(column)
    if not single:
        return rows, []
    new_rows: list[TableRow] = []
    for row in rows:
        new = dict(row)
        for column in single:
            cell = row.get(column)
            if isinstance(cell, list):
                new[column] = cell[0] if cell else None
        new_rows.append(new)
    return new_rows, single
