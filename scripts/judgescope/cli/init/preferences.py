"""Choices between two texts that a table does not have in words: the text in a column
`chosen`, or the one of two texts with the larger score.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from judgescope.cli.init.column_values import number, numbers
from judgescope.cli.init.pair_columns import (
    CODES,
    SidedColumns,
    choice_columns,
    sided_columns,
    sided_systems,
    sided_texts,
)
from judgescope.cli.init.rating_columns import words_of
from judgescope.cli.init.tables import InitTable
from judgescope.data.rows import TableRow
from judgescope.tables.choices import FIRST, SECOND, TIE
from judgescope.tables.platforms.rewards import ORDER_NOTE
from judgescope.tables.words import classes_of, split_header

CHOSEN: Final = "chosen"


def with_choices(table: InitTable) -> InitTable:
    """Return the table with columns of choices in place of two scores, each of one of
    two texts.

    If the texts stand in columns such as `chosen` and `rejected`, people chose the
    first one in every row: a column says so, unless the table has people's choices.
    """
    sided = sided_columns(table.columns)
    systems = sided_systems(sided)
    texts = sided_texts(table.rows, sided, systems)
    if not texts:
        return table
    rows = [dict(row) for row in table.rows]
    columns = list(table.columns)
    notes = list(table.notes)
    made = set[str]()
    of_judges = set[str]()
    for pair in sided:
        first, second = pair.columns
        if pair.columns in (texts, systems) or not _are_scores(table.rows, pair):
            continue
        for row in rows:
            row[first] = _larger(row.get(first), row.pop(second))
        columns.remove(second)
        made.add(first)
        notes.append(
            f"{first} and {second} were read as a choice: the text with the larger "
            "number"
        )
        if not classes_of(first).get("person"):
            of_judges.add(first)
    if CHOSEN in split_header(texts[0]) and not _have_people_chosen(table, texts):
        choices = [name for name in columns if name in made]
        rows, columns = _in_random_order(rows, columns, [texts, systems], choices)
        notes.append(f"people chose the text in column {texts[0]}, in every row")
        notes.append(ORDER_NOTE)
    if len(notes) == len(table.notes):
        return table
    return replace(
        table,
        rows=list(rows),
        columns=columns,
        notes=notes,
        compared_scores=frozenset(of_judges),
        copied=True,
    )


def _in_random_order(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    sided: Sequence[Sequence[str]],
    choices: Sequence[str],
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return rows and columns in which the better text is the first or the second one,
    as a hash of the two texts decides, with a column of people's choices.

    Else a judge that always chooses the first text would be right.
    """
    texts = sided[0]
    pairs = [pair for pair in sided if pair]
    names = {}
    for pair in pairs:
        common = [word for word in words_of(pair[0]) if word != CHOSEN]
        for column, position in zip(pair, ("first", "second"), strict=True):
            names[column] = " ".join([*(common or ["text"]), position])
    preferred = "preferred"
    while preferred in columns:
        preferred += " "
    ordered = []
    # Word for a choice -> the word if the texts change places; a tie stays.
    reversed_codes = {
        CODES[FIRST][0]: CODES[SECOND][0],
        CODES[SECOND][0]: CODES[FIRST][0],
    }
    for row in rows:
        both = repr([row.get(name) for name in texts])
        digest = hashlib.sha256(both.encode("utf-8", "surrogatepass")).digest()
        new = {names.get(name, name): cell for name, cell in row.items()}
        new[preferred] = CODES[FIRST][0]
        if digest[0] % 2:
            for first, second in pairs:
                new[names[first]] = row[second]
                new[names[second]] = row[first]
            for name in [*choices, preferred]:
                new[name] = reversed_codes.get(new[name], new[name])
        ordered.append(new)
    return ordered, [*(names.get(name, name) for name in columns), preferred]


def _are_scores(rows: Sequence[TableRow], pair: SidedColumns) -> bool:
    """Return whether two columns have numbers on one scale, and no choices 1 and 2."""
    values = [set(numbers(rows, column) or ()) for column in pair.columns]
    both = set().union(*values)
    is_rating = any(
        kind in classes_of(" ".join(pair.words) or "-")
        for kind in ("rating", "person", "machine", "measure")
    )
    if not all(values):
        return False
    return is_rating and not both <= {0.0, 1.0, 2.0}


def _larger(first: object, second: object) -> str | None:
    """Return the word for the larger of two numbers; None if one is missing."""
    score = number(first)
    other = number(second)
    if score is None or other is None:
        return None
    if score == other:
        return CODES[TIE][0]
    return CODES[FIRST if score > other else SECOND][0]


def _have_people_chosen(table: InitTable, texts: Sequence[str]) -> bool:
    """Return whether a column, not named as a judge's, has choices."""
    for column in choice_columns(table.rows, table.columns):
        evidence = classes_of(column)
        machine = evidence.get("machine") or evidence.get("measure")
        if column not in texts and not machine:
            return True
    return False
