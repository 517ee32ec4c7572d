"""A user's table as `init` and `audit` read it: labels and choices as numbers, a row
per text.
"""

import argparse
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, overload

from judgescope.cli.context import check_input
from judgescope.cli.init.column_values import columns_of, numbers, scale
from judgescope.cli.init.guess import guess
from judgescope.cli.init.pair_columns import (
    CODES,
    PairColumns,
    aspect_named_in,
    names_chosen_system,
    unclear_choices,
)
from judgescope.cli.init.rating_columns import is_judge, judges_of
from judgescope.cli.init.roles import Guess
from judgescope.core.errors import UserError
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow, entries
from judgescope.schema.loading import Cards
from judgescope.tables.joining import NamedTable, join
from judgescope.tables.leaving_out import (
    without_descriptions,
    without_skipped,
    without_totals,
    without_values,
)
from judgescope.tables.opening import OpenedTable, open_table
from judgescope.tables.spelling import SpelledColumn, is_missing, respelled
from judgescope.tables.thousands import DecimalSign
from judgescope.tables.words import english_names

CHOICES: Final = {"min": -1, "max": 1}
"""The scale of choices between two texts: 1 stands for the first text."""
LabelScale = Mapping[str, float]
Label = tuple[str, ...]
"""The labels of a column, from the worst to the best."""
FAIL_PASS: Final[Label] = ("fail", "pass")
"""The labels of ratings that are 0 and 1."""


@dataclass(frozen=True)
class InitTable:
    """A file's rows and columns, and the ids of all aspects that have cards."""

    file: Path
    numbers: Sequence[int]
    """The rows' numbers in the file, of a long table the first row of each text."""
    rows: Sequence[TableRow]
    columns: Sequence[str]
    aspects: Sequence[str]
    labels: Mapping[str, Label] = field(default_factory=dict)
    """Column with labels (its rows have 0, 1, … instead) -> the labels; if it uses
    several of LABELS, the first of them."""
    unordered: frozenset[Label] = frozenset()
    """Labels of which none is better than another."""
    other_labels: Mapping[str, int] = field(default_factory=dict)
    """Further words of these columns -> 0 or 1."""
    pairs: PairColumns | None = None
    """The columns of choices between two texts, if there are any; rows have them as
    numbers."""
    compared_scores: frozenset[str] = frozenset()
    """The columns of choices that were made from a judge's scores of two texts."""
    known: Guess | None = None
    """The roles of the columns, if the file's format determines them."""
    stated: Mapping[str, LabelScale] = field(default_factory=dict)
    """Aspect -> its scale, if the file gives it."""
    points: Mapping[str, float] | None = None
    """Aspect -> its points, where aspects are the criteria of a rubric; empty if the
    file states none."""
    long: int = 0
    """The number of rows in a long file, where a row has one rating or choice; else
    0."""
    notes: Sequence[str] = ()
    """How the file was read, where that is not plain."""
    lines: Mapping[int, int] = field(default_factory=dict)
    """Row number -> the line of the file in which the row begins, for files with
    lines."""
    two_ways: Mapping[str, SpelledColumn] = field(default_factory=dict)
    """Column -> its numbers, where they can be read in two ways: 1,234 and 99."""
    copied: bool = False
    """Whether a study needs a copy of these rows, as cards cannot describe the original
    file."""

    @property
    def title(self) -> str:
        """Return the file and its size; for a long table, also how many rows were made
        from it.
        """
        rows = f"{len(self.rows):,} rows"
        if self.long:
            rows = (
                f"{self.long:,} rows of one rating or choice each, read as {rows} "
                "of texts or pairs"
            )
        return f"{self.file}: {rows}, {len(self.columns)} columns"

    def nearest_aspect(self, name: str) -> str:
        """Return the aspect with a card that has the most similar name, or else all of
        them.
        """
        near = UserError("", where="", got=name, allowed=self.aspects).nearest()
        if near:
            return f"the most similar card is {near}"
        return f"aspects with cards: {', '.join(self.aspects)}"

    def filled(self, column: str) -> Sequence[tuple[int, TableRow]]:
        """Return the rows with a value in a column, each with its number."""
        places = list[int]()
        for index, cell in enumerate(cells_of(self.rows, column)):
            if not is_missing(cell):
                places.append(index)
        return _NumberedRows(self, places)

    def missing_cells(self, columns: Iterable[str]) -> dict[str, int]:
        """Return how many rows have no value, for the columns that lack any."""
        counts = {}
        for column in columns:
            count = 0
            for cell in cells_of(self.rows, column):
                count += all(map(is_missing, entries(cell)))
            if count:
                counts[column] = count
        return counts

    def values(self, columns: Iterable[str]) -> list[float]:
        """Return all numbers of some columns."""
        values: list[float] = []
        for column in columns:
            values += numbers(self.rows, column) or []
        return values

    def described(self, columns: Sequence[str]) -> str:
        """Return the range of some columns' ratings: `3 columns, values 1 to 5`."""
        raters = f"{len(columns)} columns, " if len(columns) > 1 else ""
        if self.labels.keys() >= set(columns):
            return f"{raters}labels"
        values = self.values(columns)
        return f"{raters}values {min(values):g} to {max(values):g}"

    def guessed(
        self, named: Mapping[str, Sequence[str]], taken: Sequence[str]
    ) -> Guess:
        """Return the roles of the columns; `taken` are the columns of ratings and
        scores.

        The name of a column of choices shows whether they are a judge's.
        """
        if self.known is not None:
            length = list(named.get("length", ()))
            lengths = list(named.get("lengths", ()))
            known = self.known.without([*length, *lengths])
            return replace(known, length=length[0] if length else None, lengths=lengths)
        if self.pairs is None:
            return guess(self.rows, {**named, "ratings": taken}, self.aspects)
        free = [column for column in self.pairs.choices if column not in taken]
        guessed = guess(self.rows, {**named, "ratings": [*taken, *free]})
        scored = []
        ratings: dict[str, list[str]] = {}
        english = english_names(self.columns)
        others = []
        for column in free:
            name = english.get(column, column)
            if is_judge(name) and not names_chosen_system(column):
                scored.append(column)
            elif column not in self.compared_scores:
                others.append(column)
        of_nobody = [name for name in free if name not in {*scored, *others}]
        if not scored:
            # Numbers of both texts that nobody else gave are a judge's.
            scored = of_nobody
            of_nobody = []
        unclear = unclear_choices([english.get(name, name) for name in others])
        unused = dict(guessed.unused)
        why = "others name a judge more clearly"
        unused |= dict.fromkeys(of_nobody, why)
        for column in others:
            name = english.get(column, column)
            if name in unclear:
                unused[column] = unclear[name]
            else:
                aspect = aspect_named_in(name, self.aspects)
                ratings.setdefault(aspect, []).append(column)
        judges = judges_of(scored, ratings)
        return replace(
            guessed,
            ratings=ratings,
            judges=judges,
            choice_words=self.pairs.words,
            unused=unused,
        )

    def labels_of(self, columns: Guess, stated: Collection[str]) -> dict[str, Label]:
        """Return aspect -> its labels, if people gave labels and no scale is
        `stated`.

        Raises UserError if aspects have different numbers of labels: a judge's card
        has one translation of 0, 1, …
        """
        labels: dict[str, Label] = {}
        if columns.compared:
            return labels
        for aspect, group in columns.ratings.items():
            of_columns = []
            for column in group:
                if column in self.labels:
                    of_columns.append(self.labels[column])
            if aspect in stated:
                continue
            if of_columns and len(of_columns[0]) > 2:
                labels[aspect] = of_columns[0]
            elif self._zeros_and_ones(group):
                labels[aspect] = of_columns[0] if of_columns else FAIL_PASS
        if len(set(map(len, labels.values()))) > 1:
            named = [f"{name}: {', '.join(labels[name])}" for name in labels]
            raise UserError(
                "aspects with different numbers of labels cannot be read together",
                where=str(self.file),
                got="; ".join(named),
                todo="name the columns of one aspect with --human and --judge",
            )
        if len(set(labels.values())) > 1:
            return dict.fromkeys(labels, FAIL_PASS)
        return labels

    def _zeros_and_ones(self, columns: Iterable[str]) -> bool:
        return set(self.values(columns)) == {0.0, 1.0}

    def _in_words(self, columns: Iterable[str]) -> bool:
        """Return whether the data that cards describe have words of LABELS in all
        columns.
        """
        if self.copied:
            return False
        return self.labels.keys() >= set(columns)

    def scales(
        self, columns: Guess, stated: Mapping[str, LabelScale]
    ) -> dict[str, Mapping[str, Any]]:
        """Return aspect -> its scale: the stated one, or a guess from all of its
        ratings.
        """
        if columns.compared:
            return dict.fromkeys(columns.ratings, CHOICES)
        labels = self.labels_of(columns, stated)
        scales: dict[str, Mapping[str, Any]] = {}
        for name, group in columns.ratings.items():
            if name in labels:
                scales[name] = self._label_scale(labels[name], group)
            elif name in stated:
                scales[name] = stated[name]
            else:
                scales[name] = scale(self.values(group))
        return scales

    def _label_scale(self, pair: Label, group: Sequence[str]) -> dict[str, Any]:
        """Return the scale of labels, and how the words of columns are read."""
        words = _codes_of(pair)
        if self._in_words(group):
            words = {word: pair[code] for word, code in self.other_labels.items()}
        label_scale: dict[str, Any] = {"labels": list(pair)}
        if pair in self.unordered:
            label_scale["ordered"] = False
        if words:
            label_scale["read_as"] = words
        return label_scale

    def judge_keys(
        self, scores: Mapping[str, str], labels: Mapping[str, Label]
    ) -> dict[str, Any]:
        """Return how a judge's card reads its scores, by aspect, as people's labels."""
        judged = []
        for name, column in scores.items():
            if name == "*" or name in labels:
                judged.append(column)
        if not labels or not judged:
            return {}
        pair = next(iter(labels.values()))
        codes = set(map(float, range(len(pair))))
        if not all({*self.values([column])} <= codes for column in judged):
            return {"threshold": "best"}
        if not self._in_words(judged):
            return {"read_as": _codes_of(pair)}
        given = [self.labels[column] for column in judged]
        if not self.other_labels and set(given) == {pair}:
            return {}
        read = {word: pair[code] for word, code in self.other_labels.items()}
        for own_labels in given:
            read |= zip(own_labels, pair, strict=True)
        return {"read_as": read}

    def missing(self, columns: Guess) -> list[str]:
        """Return the words for missing ratings, scores and lengths, such as NaN."""
        names = [*columns.rated, *columns.scored, *columns.measured]
        words = set()
        for name in names:
            seen = set[str]()
            for of_row in cells_of(self.rows, name):
                if isinstance(of_row, str):
                    if of_row in seen:
                        continue
                    seen.add(of_row)
                for cell in entries(of_row):
                    if isinstance(cell, str) and is_missing(cell):
                        words.add(cell.strip())
        return sorted(words - {""})

    def readable(self, columns: Guess) -> tuple["InitTable", Guess]:
        """Return the table and its columns as a study's cards can read them.

        It is a copy if a judge's choices name systems. In a copy, choices are numbers.
        """
        by_system: list[str] = [] if self.pairs is None else self.pairs.by_system
        needs_copy = not set(columns.scored).isdisjoint(by_system)
        table = replace(self, copied=self.copied or needs_copy)
        if table.copied and columns.compared:
            columns = replace(columns, choice_words=CODES)
        return table, columns


def _codes_of(labels: Label) -> dict[str, str]:
    """Return the number that stands for each label in a copy of the data -> label."""
    return {str(code): label for code, label in enumerate(labels)}


def too_large(file: Path, got: str, allowed: str) -> UserError:
    """Return the error for a file that an audit does not read."""
    todo = "take a sample of its rows, or create a study from it: judgescope init"
    what = "this file is too large for an audit"
    return UserError(what, where=str(file), got=got, allowed=allowed, todo=todo)


class _NumberedRows(Sequence[tuple[int, TableRow]]):
    """Some rows of a table, each with its number, made when they are looked at."""

    def __init__(self, table: InitTable, places: Sequence[int]) -> None:
        self._table = table
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> tuple[int, TableRow]: ...

    @overload
    def __getitem__(self, index: slice) -> "_NumberedRows": ...

    def __getitem__(self, index: int | slice) -> "tuple[int, TableRow] | _NumberedRows":
        if isinstance(index, slice):
            return _NumberedRows(self._table, self._places[index])
        place = self._places[index]
        return self._table.numbers[place], self._table.rows[place]


@dataclass(frozen=True)
class TableSource:
    """What the command line says about the file of a table, besides its name."""

    more: Sequence[Path] = ()
    """Further files, which are joined to it."""
    on: str | None = None
    """The column by which they are joined."""
    missing: Sequence[str] = ()
    """Cells that stand for no value."""
    tool: str | None = None
    """The tool that exported it, or `table`; None: it is found by its keys."""
    decimal: DecimalSign | None = None
    """The sign before decimals; None: the numbers of a column tell it."""
    most_rows: int | None = None
    """A larger table is refused before any work."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> "TableSource":
        """Return what a command line states."""
        return cls(
            more=tuple(getattr(args, "more", None) or ()),
            on=getattr(args, "on", None),
            missing=tuple(getattr(args, "missing", None) or ()),
            tool=getattr(args, "tool", None),
            decimal=getattr(args, "decimal", None),
        )

    def check_rows(self, file: Path, rows: int) -> None:
        """Raise UserError for a table with too many rows."""
        if self.most_rows is not None and rows > self.most_rows:
            raise too_large(file, f"{rows:,} rows", f"up to {self.most_rows:,} rows")

    def joined(self, file: Path, opened: OpenedTable) -> OpenedTable:
        """Return an opened file with the columns of the further files."""
        for other in self.more:
            first = NamedTable(file, opened)
            opened = join(first, NamedTable(other, rows_of(other)), self.on)
        return opened


def load_table(file: Path, cards: Cards) -> InitTable:
    """Read a table; raise UserError if it does not exist or has no rows."""
    return table_of(file, rows_of(file), cards)


def table_of(
    file: Path,
    opened: OpenedTable,
    cards: Cards,
    missing: Sequence[str] = (),
    decimal: DecimalSign | None = None,
) -> InitTable:
    """The rows of a file as a table; raises UserError if there are none.

    Numbers that are written in another way are numbers, rows of averages are left out,
    and notes say so.
    """
    if not opened.rows:
        todo = "add a row for each judged text below the names of the columns"
        raise UserError("this table has no rows", where=str(file), todo=todo)
    _check_names(file, columns_of(opened.rows))
    described = without_descriptions(opened.rows, opened.numbers)
    own_rows, own_numbers, description_notes = described
    own_rows, own_numbers, skipped_notes = without_skipped(own_rows, own_numbers)
    columns = columns_of(own_rows or opened.rows)
    filled, missing_notes = without_values(own_rows, missing)
    written = respelled(filled, columns, decimal)
    rows = written.rows
    kept, row_numbers, total_notes = without_totals(rows, own_numbers, columns)
    changed = rows != opened.rows or len(kept) < len(rows)
    return InitTable(
        file,
        row_numbers,
        kept,
        columns,
        cards.names("aspect"),
        notes=[
            *opened.notes,
            *description_notes,
            *skipped_notes,
            *missing_notes,
            *written.notes,
            *total_notes,
        ],
        lines=opened.lines,
        two_ways=written.two_ways,
        copied=changed or bool(opened.notes),
    )


def _check_names(file: Path, names: Sequence[str]) -> None:
    """Raise UserError if the first row is data: its cells are a text and numbers."""
    has_text = any(len(name) > 60 and len(name.split()) > 8 for name in names)
    has_number = any(re.fullmatch(r"-?\d+(?:[.,]\d+)?", name) for name in names)
    if has_text and has_number:
        raise UserError(
            "the first row has a text and numbers, and no names of columns",
            where=f"{file}, row 1",
            got=", ".join(name[:20] for name in names[:5]),
            todo="add a row above it with a name for each column: answer, human "
            "and judge",
        )


def rows_of(file: Path) -> OpenedTable:
    """Return the rows of a file; raise UserError if it is no file or has none."""
    if file.is_dir():
        todo = "name a file in it"
        raise UserError("this is a folder, not a table", where=str(file), todo=todo)
    check_input(file)
    opened = open_table(file)
    if not opened.rows:
        todo = "add a row for each judged text below the names of the columns"
        raise UserError("this table has no rows", where=str(file), todo=todo)
    return opened
