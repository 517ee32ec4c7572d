"""The unused columns that look like people's ratings or a judge's scores, with the
reasons.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from judgescope.cli.init.guess import (
    FILLERS,
    IDS,
    PEOPLE,
    RATINGS,
    REMARKS,
    SCALES,
    UNNAMED,
    Guess,
    Row,
    aspect_of,
    counts,
    is_judge,
    judges_of,
    like_ratings,
    numbers,
    role_of,
    words_of,
)
from judgescope.cli.init.tables import LABEL_CODES, Table, code_of, says_who_chose
from judgescope.core.errors import UserError
from judgescope.data.rows import word_of

NEARLY_NUMBER: Final = re.compile(
    r"['’]?(?P<number>[+-]?(\d+([.,]\d*)?|[.,]\d+))\s*(%|(/|out of)\s*\d+)?|[+-]?inf"
    r"(inity)?",
    re.I,
)
"""A number, perhaps with a decimal comma, a sign of percent or a maximum; or an
infinite one."""
DATE: Final = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?")
MAX_CELL: Final = 40
"""Characters of a cell that a message repeats."""
SHOWN_WORDS: Final = 5
DESCRIBES: Final = {
    *(REMARKS - RATINGS | IDS | FILLERS),
    *(
        "analysis",
        "critique",
        "error",
        "errors",
        "family",
        "justification",
        "note",
        "prompt",
    ),
    *(
        "provider",
        "raw",
        "reasoning",
        "reasons",
        "size",
        "status",
        "temperature",
        "thinking",
    ),
    "version",
}
"""Last words of the name of a column that describes a judge or a rating."""
OUTLIERS: Final = 10
"""One in so many numbers may lie outside the scale of the others; one always may."""
FEW_BEYOND: Final = 20
"""One in so many ratings may be noted as outside the scale of the others."""
SHOWN_CELLS: Final = 3
EMPTY: Final = "leave the cell empty if it is missing"


class Unread(NamedTuple):
    """A column that is not used, the reason, and its first cell at fault, if there is
    one.
    """

    column: str
    judge: bool
    """Whether the column looks like a judge's."""
    why: str
    todo: str
    row: int = 0
    """0: no single cell is at fault."""
    cell: object = None

    def __str__(self) -> str:
        """Return the column and the reason on a line."""
        cell = (
            f"row {self.row} has {str(self.cell)[:MAX_CELL]!r}, which "
            if self.row
            else ""
        )
        return f"{self.column} ({cell}{self.why}): {self.todo}"


def unread(table: Table, columns: Guess) -> list[Unread]:
    """Return the columns without a role that look like ratings or scores.

    They look so by their name (of a person, a model or an aspect, or similar to that of
    a used column), or because most of their cells are numbers, labels or choices, or
    nearly so.
    """
    free = (
        c for c in table.columns if c not in columns.used and not UNNAMED.fullmatch(c)
    )
    return [one for column in free if (one := _unread(table, column, columns))]


def _unread(table: Table, column: str, columns: Guess) -> Unread | None:
    judge, named = _of_judge(table, column, columns), _named(table, column, columns)
    filled, values = table.filled(column), numbers(table.rows, column)
    if not filled:
        tool = (
            table.known is not None and not table.long
        )  # scorers of some tools write only words
        todo = "fill it in, or delete the column"
        return (
            Unread(column, judge, "it has no values", todo)
            if named and not tool
            else None
        )
    if values is None or (table.pairs and not judge):
        return _invalid(table, column, judge, named and values is None)
    group = _rated(column, columns) if judge else []
    rated = {number for name in group for number, _ in table.filled(name)}
    if rated and not any(number in rated for number, _ in filled):
        why = "no row has both its score and people's rating"
        return Unread(
            column, judge, why, "put score and rating of a text into the same row"
        )
    return None if judge else _off_scale(filled, values, column, named)


def _invalid(table: Table, column: str, judge: bool, named: bool) -> Unread | None:
    """Return the first cell that is not a number, a label or a choice.

    None if all are, or if the column looks like no ratings.
    """
    cells = [
        (number, row, _is_code(table, row, column))
        for number, row in table.filled(column)
    ]
    if table.pairs:
        bad = [one for one in cells if not one[2]]
        near = len(cells) - len(bad)
    else:
        bad = [one for one in cells if not numbers([one[1]], column)]
        near = sum(_like_score(column, row[column]) for _, row, _ in cells)
    short = all(len(str(row[column])) <= MAX_CELL for _, row, _ in bad)
    likely = (
        2 * near >= len(cells)
        or (named and short)
        or aspect_of(column) in table.aspects
    )
    models = all(is_judge(str(row[column])) for _, row, _ in bad)
    if not likely or models:  # also if no cell is bad
        return None
    wrong = [one for one in bad if not one[2]] or bad
    number, row, _ = wrong[0]
    cell, codes = word_of(row[column]).casefold(), len(bad) - len(wrong)
    words = sorted({word_of(row[column]).casefold() for _, row, code in cells if code})
    if not words or not (codes or table.pairs):
        todo = _as_number(row[column])
        return Unread(column, judge, "is not a number", todo, number, row[column])
    nearest = UserError("", where="", got=cell, allowed=words).nearest()
    allowed = nearest or f"one of {', '.join(words[:SHOWN_WORDS])}"
    what, todo = "is not a label or a choice", f"write {allowed}; {EMPTY}"
    return Unread(column, judge, what, todo, number, row[column])


def _named(table: Table, column: str, columns: Guess) -> bool:
    """Return whether a column's name is that of ratings or scores."""
    if _described(column):
        return False
    alike = _alike(column, [*columns.rated, *columns.scored])
    return (
        says_who_chose(column) or alike or bool({*words_of(column)} & {*table.aspects})
    )


def _described(column: str) -> bool:
    """Return whether a name says that a column has no ratings: `judge_model`,
    `gpt4_cost`.
    """
    last = words_of(column)[-1:]
    return (
        role_of(column) is not None
        or counts(column)
        or bool(DESCRIBES.intersection(last))
    )


def _alike(column: str, others: Iterable[str]) -> bool:
    """Return whether names share their first or last word: `fluency_anna` and
    `fluency_ben`.
    """
    ends = {
        (at, words[at])
        for name in others
        if (words := words_of(name))
        for at in (0, -1)
    }
    own = {(at, words[at]) for at in (0, -1) if (words := words_of(column))}
    return any(not word.isdigit() for _, word in own & ends)


def _of_judge(table: Table, column: str, columns: Guess) -> bool:
    """Return whether a column looks like a judge's.

    If the names of people's columns say so, and none of a judge's does, all others are
    judges'.
    """
    if table.known is not None and column in table.known.scored:
        return True
    people = PEOPLE.intersection(words_of(column)) or _alike(column, columns.rated)
    if _described(column) or is_judge(column) or people:
        return is_judge(column) and not _described(column)
    by_people = all(PEOPLE.intersection(words_of(name)) for name in columns.rated)
    others = (
        bool(columns.scored) and by_people and not any(map(is_judge, columns.scored))
    )
    return others or _alike(column, columns.scored)


def _rated(column: str, columns: Guess) -> list[str]:
    """Return people's columns of the aspect that a judge's column scores."""
    [scores] = judges_of([column], columns.ratings).values()
    return columns.ratings.get(next(iter(scores)), columns.rated)


def _is_code(table: Table, row: Row, column: str) -> bool:
    """Return whether a cell is a choice in a table of pairs, and a label or a choice in
    others.
    """
    if table.pairs:
        return code_of(row, column, table.pairs.systems, table.pairs.texts) is not None
    word = word_of(row[column])
    choice = code_of(row, column, (), ()) is not None and not _nearly(word)
    return choice or word.casefold() in LABEL_CODES


def _like_score(column: str, cell: object) -> bool:
    """Return whether a cell is nearly a number, or a label in a column that may have
    ratings.
    """
    label = word_of(cell).casefold() in LABEL_CODES and not _described(column)
    return label or _nearly(cell) is not None


def _nearly(cell: object) -> re.Match[str] | None:
    return NEARLY_NUMBER.fullmatch(str(cell).strip())


def _as_number(cell: object) -> str:
    """Return what to write instead of a cell that is not a number."""
    if (nearly := _nearly(cell)) and (number := nearly["number"]):
        return f"write {number.replace(',', '.')}, and only numbers in the other cells"
    if DATE.fullmatch(str(cell).strip()):
        return "write the number (a spreadsheet may have turned it into a date)"
    return f"write a number such as 4.5; {EMPTY}"


def beyond_scale(table: Table, group: Sequence[str]) -> str:
    """Return which few ratings widen the guessed scale of a group of columns, "" for
    none.
    """
    cells = [
        (f"{column}, row {number}: {value:g}", value)
        for column in group
        for number, row in table.filled(column)
        for value in numbers([row], column) or ()
    ]
    for low, high in SCALES:
        outside = [text for text, value in cells if not low <= value <= high]
        if not outside:
            return ""
        if len(outside) <= len(cells) // FEW_BEYOND:
            shown = [
                *outside[:SHOWN_CELLS],
                *(["…"] if len(outside) > SHOWN_CELLS else []),
            ]
            return (
                f"check ratings outside the scale {low} to {high} of the others: "
                f"{'; '.join(shown)}"
            )
    return ""


def _off_scale(
    filled: Sequence[tuple[int, Row]], values: Sequence[float], column: str, named: bool
) -> Unread | None:
    """Return why a column of numbers is not taken for ratings, if it looks like
    ratings.
    """
    if like_ratings(values, len(filled)) or _described(column):
        return None
    low, high = max(
        SCALES, key=lambda ends: sum(ends[0] <= v <= ends[1] for v in values)
    )
    outside = [v for v in values if not low <= v <= high]
    if not outside:
        why, todo = "its values are row numbers", "name the column if they are ratings"
        return Unread(column, False, why, todo) if named else None
    if not named and len(outside) > max(1, len(values) // OUTLIERS):
        return None
    number, cell = next(
        (number, row[column])
        for number, row in filled
        if not all(low <= v <= high for v in numbers([row], column) or ())
    )
    most = 2 * len(outside) < len(values)
    why = f"is outside the scale {low} to {high} " + (
        "of most cells" if most else "of ratings"
    )
    return Unread(column, False, why, f"{EMPTY}, or name the column", number, cell)
