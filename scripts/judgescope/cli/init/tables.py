"""A user's table as `init` and `audit` read it, with labels and choices as numbers."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from judgescope.cli.init.guess import (
    Guess,
    Row,
    aspect_of,
    columns_of,
    guess,
    is_missing,
    missing_words,
    numbers,
    scale,
)
from judgescope.cli.init.labels import Pair, in_numbers, judge_keys, label_scale, labelled
from judgescope.cli.init.pairs import CODES, Pairs, pairs_of
from judgescope.core.errors import UserError
from judgescope.data.rows import read_rows
from judgescope.schema.loading import Cards

NEARLY_NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+|inf(inity)?)", re.I)
"""A number, perhaps with a decimal comma, or infinite."""
MAX_CELL: Final = 40
"""Characters of a cell that a message repeats."""
CHOICES: Final = {"min": -1, "max": 1}
"""The scale of choices between two texts: 1 stands for the first text."""
Scale = Mapping[str, float]


@dataclass(frozen=True)
class Table:
    """A file's rows and columns, and the ids of all aspects that have cards."""

    file: Path
    numbers: Sequence[int]
    """The rows' numbers, as an editor shows them."""
    rows: Sequence[Row]
    columns: Sequence[str]
    aspects: Sequence[str]
    labels: Mapping[str, Pair] = field(default_factory=dict)
    """Column with two labels (its rows have 0 and 1 instead) -> the labels."""
    other_labels: Mapping[str, int] = field(default_factory=dict)
    """Further words of these columns -> 0 or 1."""
    pairs: Pairs | None = None
    """The columns of choices between two texts, if there are any; rows have them as numbers."""
    known: Guess | None = None
    """The roles of the columns, if the file's format determines them."""
    stated: Mapping[str, Scale] = field(default_factory=dict)
    """Aspect -> its scale, if the file gives it."""
    long: int = 0
    """The number of rows in a long file, where a row has one rating or choice; else 0."""
    copied: bool = False
    """Whether a study needs a copy of these rows, as cards cannot describe the original file."""

    @property
    def title(self) -> str:
        """Return the file and its size; for a long table, also how many rows were made from it."""
        rows = f"{len(self.rows)} rows"
        if self.long:
            rows = (
                f"{self.long} rows of one rating or choice each, read as {rows} of texts or pairs"
            )
        return f"{self.file}: {rows}, {len(self.columns)} columns"

    def nearest_aspect(self, name: str) -> str:
        """Return the aspect with a card that has the most similar name, or else all of them."""
        near = UserError("", where="", got=name, allowed=self.aspects).nearest()
        all_aspects = ", ".join(self.aspects)
        return f"the most similar card is {near}" if near else f"aspects with cards: {all_aspects}"

    def nearly_ratings(self, used: Iterable[str]) -> list[str]:
        """Return the unused columns that look like ratings, each with its first invalid cell.

        At least half of the cells are numbers, perhaps with a decimal comma, or the column has the
        name of an aspect.
        """
        reasons = []
        for column in (name for name in self.columns if name not in set(used)):
            filled = self.filled(column)
            bad = [(number, row[column]) for number, row in filled if not numbers([row], column)]
            near = sum(bool(NEARLY_NUMBER.fullmatch(str(row[column]).strip())) for _, row in filled)
            named = aspect_of(column) in self.aspects
            if bad and (2 * near >= len(filled) or named):
                number, cell = bad[0]
                got = repr(str(cell)[:MAX_CELL])
                reasons.append(f"{column} (row {number} has {got}, which is not a number)")
        return reasons

    def filled(self, column: str) -> list[tuple[int, Row]]:
        """Return the rows with a value in a column, each with its number."""
        rows = zip(self.numbers, self.rows, strict=True)
        return [(number, row) for number, row in rows if not is_missing(row.get(column))]

    def values(self, columns: Iterable[str]) -> list[float]:
        """Return all numbers of some columns."""
        return [value for column in columns for value in numbers(self.rows, column) or []]

    def described(self, columns: Sequence[str]) -> str:
        """Return the range of some columns' ratings: `3 columns, values 1 to 5`."""
        values = self.values(columns)
        raters = f"{len(columns)} columns, " if len(columns) > 1 else ""
        if self.labels.keys() >= {*columns}:
            return f"{raters}labels"
        return f"{raters}values {min(values):g} to {max(values):g}"

    def guessed(self, named: Mapping[str, Sequence[str]], taken: Sequence[str]) -> Guess:
        """Return the roles of the columns; `taken` are the columns of ratings and scores."""
        if self.known is not None:
            return self.known
        named = {**named, "ratings": taken}
        if self.pairs is None:
            return guess(self.rows, named, self.aspects)
        return self.pairs.guessed(self.rows, named, self.aspects)

    def labels_of(self, columns: Guess, stated: Collection[str]) -> dict[str, Pair]:
        """Return aspect -> its two labels, if people gave labels and no scale is `stated`."""
        if columns.compared:
            return {}
        return labelled(self.rows, columns.ratings, self.labels, stated)

    def scales(self, columns: Guess, stated: Mapping[str, Scale]) -> dict[str, Mapping[str, Any]]:
        """Return aspect -> its scale: the stated one, or a guess from all of its ratings."""
        if columns.compared:
            return dict.fromkeys(columns.ratings, CHOICES)
        labels = self.labels_of(columns, stated)
        scales: dict[str, Mapping[str, Any]] = {}
        for name, group in columns.ratings.items():
            if name in labels:
                in_words = not self.copied and self.labels.keys() >= {*group}
                scales[name] = label_scale(labels[name], self.other_labels if in_words else None)
            else:
                scales[name] = stated[name] if name in stated else scale(self.values(group))
        return scales

    def judge_keys(self, columns: Guess, stated: Collection[str]) -> dict[str, dict[str, object]]:
        """Return judge -> how its card reads its scores as people's labels."""
        labels = self.labels_of(columns, stated)
        words = ({}, {}) if self.copied else (self.labels, self.other_labels)
        return {
            judge: judge_keys(self.rows, scores, labels, *words)
            for judge, scores in columns.judges.items()
        }

    def missing(self, columns: Guess) -> list[str]:
        """Return the words for missing values in the columns of people and of judges."""
        groups = [
            *columns.ratings.values(),
            *(scores.values() for scores in columns.judges.values()),
        ]
        return missing_words(self.rows, [column for group in groups for column in group])

    def readable(self, columns: Guess) -> tuple["Table", Guess]:
        """Return the table and its columns as a study's cards can read them.

        It is a copy if a judge's choices name systems. In a copy, choices are numbers.
        """
        judged = {column for scores in columns.judges.values() for column in scores.values()}
        by_system = self.pairs is not None and judged.intersection(self.pairs.by_system)
        table = replace(self, copied=self.copied or bool(by_system))
        if table.copied and columns.compared:
            columns = replace(columns, choice_words=CODES)
        return table, columns


def load_table(file: Path, cards: Cards) -> Table:
    """Read a table; raise UserError if it does not exist or has no rows."""
    if file.is_dir():
        todo = "name a file in it"
        raise UserError("this is a folder, not a table", where=str(file), todo=todo)
    if not file.is_file():
        folder = file.parent
        beside = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        raise UserError("file not found", where=str(folder), got=file.name, allowed=beside)
    numbered = list(read_rows(file))
    if not numbered:
        raise UserError("this table has no rows", where=str(file))
    row_numbers, rows = zip(*numbered, strict=True)
    return Table(file, row_numbers, rows, columns_of(rows), cards.names("aspect"))


def coded(table: Table, named: Mapping[str, Sequence[str]]) -> Table:
    """Return the table with numbers instead of two labels, or of choices between two texts."""
    pairs = pairs_of(table.rows, table.columns, named)
    if pairs is not None:
        return replace(table, rows=pairs.coded(table.rows), pairs=pairs)
    if named.get("texts"):
        raise UserError(
            "no column has only choices between these two texts",
            where=f"{table.file}, --texts",
            got=", ".join(named["texts"]),
            allowed=["1", "2", "A", "B", "left", "right", "tie", "a column's or a system's name"],
            todo="add a column of choices; leave the cell of a missing choice empty",
        )
    rows, labels, others = in_numbers(table.rows, table.columns)
    return replace(table, rows=rows, labels=labels, other_labels=others)
