"""The unused columns that look like people's ratings or a judge's scores, with the
reasons.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from judgescope.cli.init.column_values import numbers, numbers_by_row
from judgescope.cli.init.guess import UNNAMED
from judgescope.cli.init.label_columns import LABEL_CODES
from judgescope.cli.init.pair_columns import code_of, says_who_chose
from judgescope.cli.init.rating_columns import (
    aspect_of,
    is_judge,
    judges_of,
    like_ratings,
    words_of,
)
from judgescope.cli.init.role_names import role_of
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.tables import InitTable
from judgescope.cli.init.vocabulary import WORDS
from judgescope.data.rows import TableRow, word_of
from judgescope.tables.leaving_out import USUAL_SCALES
from judgescope.tables.profile import profile
from judgescope.tables.sides import not_a_rating
from judgescope.tables.spelling import is_date
from judgescope.tables.words import classes_of

A_DATE: Final = "write the number (a spreadsheet may have turned it into a date)"
MAX_CELL: Final = 40
"""Characters of a cell that a message repeats."""
DESCRIBES: Final = (
    (WORDS.remarks - WORDS.ratings)
    | WORDS.ids
    | WORDS.fillers
    | {
        "analysis",
        "critique",
        "error",
        "errors",
        "family",
        "justification",
        "note",
        "prompt",
        "provider",
        "raw",
        "reasoning",
        "reasons",
        "size",
        "status",
        "temperature",
        "thinking",
        "version",
    }
)
"""Last words of the name of a column that describes a judge or a rating."""


class UnusedColumn(NamedTuple):
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

    def without_cell(self) -> str:
        """Return the column and the reason on a line that repeats no cell."""
        cell = f"row {self.row} has a cell that " if self.row else ""
        todo = self.todo.replace(_as_missing(self.cell), "--missing with this cell")
        return f"{self.column} ({cell}{self.why}): {todo}"

    def __str__(self) -> str:
        """Return the column and the reason on a line."""
        why = self.why
        if self.row:
            why = f"row {self.row} has {str(self.cell)[:MAX_CELL]!r}, which {why}"
        return f"{self.column} ({why}): {self.todo}"


def unread(table: InitTable, columns: Guess) -> list[UnusedColumn]:
    """Return the columns without a role that look like ratings or scores.

    They look so by their name (of a person, a model or an aspect, or similar to that of
    a used column), or because most of their cells are numbers, labels or choices, or
    nearly so.
    """
    unused = []
    for column in table.columns:
        if column in columns.used or UNNAMED.fullmatch(column):
            continue
        reason = _unread(table, column, columns)
        if reason:
            unused.append(reason)
    return unused


def _unread(table: InitTable, column: str, columns: Guess) -> UnusedColumn | None:
    of_judge = _of_judge(table, column, columns)
    named = _named(table, column, columns)
    filled = table.filled(column)
    values = numbers(table.rows, column)
    if not filled:
        # Scorers of some tools write only words.
        by_tool = table.known is not None and not table.long
        if not named or by_tool:
            return None
        todo = "fill it in, or delete the column"
        return UnusedColumn(column, of_judge, "it has no values", todo)
    if has_replies(table, column):
        file = table.file.name
        todo = (
            "to read the replies, create a study with them: judgescope init "
            f"{file} --recorded {file} --reply {column}"
        )
        return UnusedColumn(column, True, "has replies, not scores", todo)
    if values is None or (table.pairs and not of_judge):
        return _invalid(table, column, of_judge, named and values is None)
    if not of_judge:
        return _off_scale(filled, values, column, named)
    rated: set[int] = set()
    for name in _rated(column, columns):
        rated.update(number for number, _ in table.filled(name))
    if rated and rated.isdisjoint(number for number, _ in filled):
        why = "no row has both its score and people's rating"
        todo = "put score and rating of a text into the same row"
        return UnusedColumn(column, of_judge, why, todo)
    return None


def has_replies(table: InitTable, column: str, least_share: float = 0.8) -> bool:
    """Return whether a column named as a judge's has replies: objects, sentences,
    several lines, or a score in marks.
    """
    if not is_judge(column):
        return False
    # `llm_reply` may be the judged text, unless each cell has a score in marks.
    may_be_text = role_of(column) == "text"
    if _described(column) and not may_be_text:
        return False
    filled = table.filled(column)
    replies = 0
    # Words from which a cell in a judge's column is a reply, not a label.
    fewest_words = 6
    # How a reply marks its score: `[[3]]`, `Rating: 3`, `**Score**: 3`.
    marked_score = re.compile(
        r"\[\[[^\[\]]+\]\]|\b(?:rating|score|verdict|grade)\b\W{0,3}[:=]", flags=re.I
    )
    for _, row in filled:
        cell = row[column]
        if not isinstance(cell, str):
            continue
        text = cell.strip()
        is_object = text.startswith(("{", "[{", "[[", "```", "<"))
        is_marked = marked_score.search(text) is not None
        is_long = "\n" in text or len(text.split()) >= fewest_words
        replies += is_marked or (not may_be_text and (is_object or is_long))
    return bool(filled) and replies >= least_share * len(filled)


class _Cells:
    """The cells of a column that are filled, and those that cannot be read."""

    def __init__(self, table: InitTable, column: str) -> None:
        self.count = 0
        self.readable = 0
        """Cells that are, or nearly are, what people write for a rating."""
        self.faults: list[tuple[int, TableRow]] = []
        """Numbered rows with a cell that is no number; of pairs: no choice."""
        self.no_codes: list[tuple[int, TableRow]] = []
        """Of these, the rows whose cell is no label or choice either."""
        self.codes: set[str] = set()
        """The labels and choices, in lower case."""
        for number, row in table.filled(column):
            self.count += 1
            is_code = _is_code(table, row, column)
            if is_code:
                self.codes.add(word_of(row[column]).casefold())
            if table.pairs:
                is_fault = not is_code
                self.readable += is_code
            else:
                is_fault = not numbers([row], column)
                self.readable += _like_score(column, row[column])
            if is_fault:
                self.faults.append((number, row))
                if not is_code:
                    self.no_codes.append((number, row))


def _invalid(
    table: InitTable, column: str, of_judge: bool, named: bool
) -> UnusedColumn | None:
    """Return the first cell that is not a number, a label or a choice.

    None if all are, or if the column looks like no ratings.
    """
    cells = _Cells(table, column)
    if any(isinstance(row[column], list | dict) for _, row in cells.faults):
        return None  # names beside a list of ratings
    texts = [str(row[column]) for _, row in cells.faults]
    short = all(len(text) <= MAX_CELL for text in texts)
    likely = (
        2 * cells.readable >= cells.count
        or (named and short)
        or aspect_of(column) in table.aspects
    )
    models = all(map(is_judge, texts))
    if not likely or models:  # also if no cell is bad
        return None
    has_codes = len(cells.no_codes) < len(cells.faults)
    number, row = (cells.no_codes or cells.faults)[0]
    cell = row[column]
    if is_date(cell):
        return UnusedColumn(column, of_judge, "is a date", A_DATE, number, cell)
    name_labels = (
        "if its words are labels, name all of them: --labels WORST,…,BEST "
        "(--unordered: none is better)"
    )
    if not cells.codes or not ((has_codes and cells.no_codes) or table.pairs):
        todo = _as_number(cell)
        is_label = profile(table.rows, column).kind == "label"
        # Words in most cells stand for something: they are labels, ids or names.
        if "--missing" in todo and (is_label or 2 * cells.readable < cells.count):
            todo = name_labels
        return UnusedColumn(column, of_judge, "is not a number", todo, number, cell)
    todo = f"if it stands for nothing, add {_as_missing(cell)}"
    if not table.pairs and 2 * cells.readable < cells.count:
        todo = name_labels
    elif not table.pairs:
        todo += "; if it is a label, name all: --labels WORST,…,BEST"
    why = "is not a label or a choice"
    return UnusedColumn(column, of_judge, why, todo, number, cell)


def _named(table: InitTable, column: str, columns: Guess) -> bool:
    """Return whether a column's name is that of ratings or scores."""
    if _described(column):
        return False
    if says_who_chose(column) or _alike(column, [*columns.rated, *columns.scored]):
        return True
    return not set(table.aspects).isdisjoint(words_of(column))


def _described(column: str) -> bool:
    """Return whether a name says that a column has no ratings: `judge_model`,
    `gpt4_cost`.
    """
    last = words_of(column)[-1:]
    return (
        role_of(column) is not None
        or bool(not_a_rating(column, classes_of(column)))
        or bool(DESCRIBES.intersection(last))
    )


def _alike(column: str, others: Iterable[str]) -> bool:
    """Return whether names share their first or last word: `fluency_anna` and
    `fluency_ben`.
    """
    words = words_of(column)
    for name in others:
        other = words_of(name)
        if not words or not other:
            continue
        first = words[0] == other[0] and not words[0].isdigit()
        last = words[-1] == other[-1] and not words[-1].isdigit()
        if first or last:
            return True
    return False


def _of_judge(table: InitTable, column: str, columns: Guess) -> bool:
    """Return whether a column looks like a judge's.

    If the names of people's columns say so, and none of a judge's does, all others are
    judges'.
    """
    if table.known is not None and column in table.known.scored:
        return True
    described = _described(column)
    of_people = not WORDS.people.isdisjoint(words_of(column))
    if described or is_judge(column) or of_people or _alike(column, columns.rated):
        return is_judge(column) and not described
    if _alike(column, columns.scored):
        return True
    if not columns.scored or any(map(is_judge, columns.scored)):
        return False
    return all(WORDS.people.intersection(words_of(name)) for name in columns.rated)


def _rated(column: str, columns: Guess) -> list[str]:
    """Return people's columns of the aspect that a judge's column scores."""
    [scores] = judges_of([column], columns.ratings).values()
    return columns.ratings.get(next(iter(scores)), columns.rated)


def _is_code(table: InitTable, row: TableRow, column: str) -> bool:
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
    """Return a number, perhaps with a decimal comma, a sign of percent or a maximum; or
    an infinite one.
    """
    pattern = (
        r"['’]?(?P<number>[+-]?(\d+([.,]\d*)?|[.,]\d+))\s*(%|(/|out of)\s*\d+)?"
        r"|[+-]?inf(inity)?"
    )
    return re.fullmatch(pattern, str(cell).strip(), re.I)


def _as_number(cell: object) -> str:
    """Return what to write instead of a cell that is not a number."""
    nearly = _nearly(cell)
    if nearly and nearly["number"]:
        number = nearly["number"].replace(",", ".")
        return f"write {number}, and only numbers in the other cells"
    if is_date(cell):
        return A_DATE
    return f"if it stands for no score, add {_as_missing(cell)}"


def _as_missing(cell: object) -> str:
    """Return the flag that takes a cell for a missing value."""
    return f"--missing {shlex.quote(str(cell)[:MAX_CELL])}"


def beyond_scale(table: InitTable, group: Sequence[str], few: int = 20) -> str:
    """Return which few ratings widen the guessed scale of a group of columns, "" for
    none.

    One in `few` ratings may be noted as outside the scale of the others.
    """
    values = list[float]()
    places = list[tuple[str, int]]()
    for column in group:
        by_row = numbers_by_row(table.rows, column)
        for index, of_cell in enumerate(by_row):
            values += of_cell
            places += [(column, index)] * len(of_cell)
    for low, high in USUAL_SCALES:
        outside = []
        for position, value in enumerate(values):
            if not low <= value <= high:
                outside.append(position)
        if not outside:
            return ""
        if len(outside) <= len(values) // few:
            shown = []
            for position in outside[:3]:
                column, index = places[position]
                row = table.numbers[index]
                shown.append(f"{column}, row {row}: {values[position]:g}")
            if len(outside) > 3:
                shown.append("…")
            scale = f"scale {low} to {high}"
            return (
                f"check ratings outside the {scale} of the others: {'; '.join(shown)}"
            )
    return ""


def _off_scale(
    filled: Sequence[tuple[int, TableRow]],
    values: Sequence[float],
    column: str,
    named: bool,
) -> UnusedColumn | None:
    """Return why a column of numbers is not taken for ratings, if it looks like
    ratings.
    """
    if like_ratings(values, len(filled)) or _described(column):
        return None
    # The first scale with the most values.
    low, high = max(USUAL_SCALES, key=lambda ends: _count_within(values, *ends))
    outside = len(values) - _count_within(values, low, high)
    if not outside:
        if not named:
            return None
        why = "its values are row numbers"
        return UnusedColumn(column, False, why, "name the column if they are ratings")
    # One value in ten may lie outside the scale of the others; one always may.
    if not named and outside > max(1, len(values) // 10):
        return None
    number, row = next(
        (number, row)
        for number, row in filled
        if not all(low <= value <= high for value in numbers([row], column) or ())
    )
    whose = "of most cells" if 2 * outside < len(values) else "of ratings"
    empty_advice = "leave the cell empty if it is missing"
    return UnusedColumn(
        column,
        False,
        f"is outside the scale {low} to {high} {whose}",
        f"{empty_advice}, or name the column",
        number,
        row[column],
    )


def _count_within(values: Iterable[float], low: float, high: float) -> int:
    return sum(low <= value <= high for value in values)
