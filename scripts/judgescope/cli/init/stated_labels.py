"""Labels whose order or polarity the command line states: --labels and --positive."""

import argparse
import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from judgescope.cli.init.tables import InitTable, Label
from judgescope.core.errors import UserError
from judgescope.data.rows import TableRow, word_of
from judgescope.tables.labels import plain_label
from judgescope.tables.spelling import is_missing

FEWEST = 2
MOST = 7
"""Labels of one vocabulary."""


@dataclass(frozen=True)
class StatedLabels:
    """Labels from the worst to the best, or without an order."""

    words: Label
    ordered: bool = True

    @property
    def codes(self) -> dict[str, int]:
        """Return plain word -> its place."""
        return {plain_label(word): index for index, word in enumerate(self.words)}


def stated_labels(
    args: argparse.Namespace, table: InitTable
) -> tuple[StatedLabels, str] | None:
    """Return the labels that flags state, and the flag; None without one.

    Raises UserError for labels that cannot be: one alone, one twice, more than seven.
    """
    listed = getattr(args, "labels", None)
    positive = getattr(args, "positive", None)
    unordered = bool(getattr(args, "unordered", False))
    if listed is not None and positive is not None:
        raise UserError(
            "the order of labels is stated twice",
            where="--positive",
            got=positive,
            todo="leave --positive out: the last word of --labels is the best label",
        )
    if unordered and listed is None:
        raise UserError(
            "this flag needs the labels that have no order",
            where="--unordered",
            todo="name them: --labels a,b,c --unordered",
        )
    if positive is not None:
        return StatedLabels(_with_other(table, positive)), "--positive"
    if listed is None:
        return None
    # A row of CSV: a label may have a comma.
    cells = next(csv.reader(io.StringIO(listed, newline="")), [])
    words = tuple(word.strip() for word in cells)
    plain = [plain_label(word) for word in words]
    if not FEWEST <= len(set(plain)) == len(plain) <= MOST or "" in plain:
        raise UserError(
            "labels must be two to seven different words",
            where="--labels",
            got=listed,
            allowed="the worst first, with commas between them: fail,partly,pass",
        )
    return StatedLabels(words, ordered=not unordered), "--labels"


def _with_other(table: InitTable, positive: str) -> Label:
    """Return a good label and the one word beside it in the columns that have it."""
    others: dict[str, str] = {}
    columns = []
    for column in table.columns:
        words = _words(table.rows, column)
        if len(words) == FEWEST and plain_label(positive) in words:
            columns.append(column)
            for plain, word in words.items():
                if plain != plain_label(positive):
                    others[plain] = word
    if len(others) != 1:
        raise UserError(
            "this word is not one of exactly two labels",
            where="--positive",
            got=positive,
            allowed=others.values() if others else table.columns,
            todo="give the labels, the worst first: --labels worst,best",
        )
    return (*others.values(), positive)


def _words(rows: Sequence[TableRow], column: str) -> dict[str, str]:
    """Return plain word -> the word, of the filled cells of a column."""
    words: dict[str, str] = {}
    for row in rows:
        cell = row.get(column)
        if not is_missing(cell):
            words.setdefault(plain_label(word_of(cell)), word_of(cell))
        if len(words) > MOST:
            break
    return words


def with_stated_labels(
    table: InitTable, stated: StatedLabels, flag: str, judging: Collection[str]
) -> InitTable:
    """Return the table with the places of labels in place of their words.

    Columns with no other word have these labels. judging: the columns that flags name
    as ratings and scores, whose cells must be among them.
    """
    codes = stated.codes
    chosen = []
    partly = []
    for column in table.columns:
        words = _words(table.rows, column)
        if words and words.keys() <= codes.keys():
            chosen.append(column)
        elif column in judging and words.keys() & codes.keys():
            raise _stray(table, column, stated, flag)
        elif len(words.keys() & codes.keys()) > 1 and len(words) <= MOST:
            partly.append(column)
    if partly:
        raise _stray(table, partly[0], stated, flag)
    if not chosen:
        raise UserError(
            "no column has only these labels",
            where=f"{table.file}, {flag}",
            got=", ".join(stated.words),
            allowed=table.columns,
            todo="name all words that the columns of labels have; a word that stands "
            "for no label is named with --missing",
        )
    names = _names(stated)
    labels = dict(table.labels) | dict.fromkeys(chosen, names)
    rows = []
    for row in table.rows:
        new = dict(row)
        for column in chosen:
            word = plain_label(word_of(row.get(column)))
            # A stated word is a label, also if it may stand for nothing, as none may.
            if row.get(column) is not None and word in codes:
                new[column] = codes[word]
        rows.append(new)
    unordered = table.unordered if stated.ordered else {*table.unordered, names}
    return replace(
        table,
        rows=list(rows),
        labels=labels,
        unordered=frozenset(unordered),
        copied=True,
    )


def _names(stated: StatedLabels) -> Label:
    """Return the labels as they are shown: a number among them gets a word, because a
    study's data have the places of labels as numbers.
    """
    if not any(word.isdecimal() for word in stated.words):
        return stated.words
    return tuple(f"label {word}" for word in stated.words)


def _stray(table: InitTable, column: str, stated: StatedLabels, flag: str) -> UserError:
    """Return the error for the first cell that is none of the stated labels."""
    for number, row in table.filled(column):
        if plain_label(word_of(row[column])) not in stated.codes:
            return UserError(
                "this cell is none of the labels",
                where=f"{table.file}, row {number}, column {column}, {flag}",
                got=row[column],
                allowed=stated.words,
                todo="name it among the labels, or with --missing if it stands for no "
                "label",
            )
    raise AssertionError(f"all cells of {column} are labels")
