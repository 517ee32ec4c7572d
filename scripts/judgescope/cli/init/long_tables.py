"""Long tables, where a row has one rating: read with one row per text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from judgescope.cli.init.column_values import numbers
from judgescope.cli.init.guess import guess
from judgescope.cli.init.rating_columns import (
    ALL,
    aspect_of,
    is_judge,
    judges_of,
    like_ratings,
    words_of,
)
from judgescope.cli.init.roles import PAIRED, ROLES, Guess
from judgescope.cli.init.tables import InitTable
from judgescope.cli.init.vocabulary import WORDS
from judgescope.core.errors import UserError
from judgescope.core.names import NOT_JUDGED, slug
from judgescope.data.column_rows import cells_by_row
from judgescope.data.rows import TableRow
from judgescope.tables.leaving_out import values_on_scale
from judgescope.tables.profile import is_design, profile
from judgescope.tables.rows_of_texts import CRITERIA
from judgescope.tables.sides import MOST_RATERS, not_a_rating
from judgescope.tables.words import classes_of


class LongColumns(NamedTuple):
    """The columns of a long table."""

    rater: str
    values: dict[str, str]
    """Aspect -> its column; the aspect "" stands for that of each row."""
    aspect: str | None
    kind: str | None
    """The column that says whether a person or a model judged."""

    @property
    def columns(self) -> set[str]:
        """Return all of them."""
        named = {self.rater, *self.values.values(), self.aspect, self.kind}
        return {name for name in named if name is not None}

    @property
    def has_aspects(self) -> bool:
        """Return whether the table names what was rated."""
        return self.aspect is not None or [*self.values] not in ([""], [ALL])

    def is_by_model(self, row: TableRow) -> bool:
        """Return whether a model gave the rating of a row."""
        models = {
            "model",
            "llm",
            "judge",
            "ai",
            "machine",
            "auto",
            "automatic",
            "metric",
        }
        kind = words_of(str(row.get(self.kind))) if self.kind else ()
        return is_judge(str(row.get(self.rater))) or bool(models.intersection(kind))


def unfolded(table: InitTable, named: Mapping[str, Sequence[str]]) -> InitTable:
    """Return a long table with one row per text and known columns; any other table
    unchanged.

    There is a column for each rater and aspect. Raises UserError for a rater who rates
    a text twice.
    """
    taken = set(chain.from_iterable(named.values()))
    long = _long(table, [column for column in table.columns if column not in taken])
    if long is None:
        return table
    remaining = [name for name in table.columns if name not in long.columns]
    if any(map(long.is_by_model, table.rows)):
        # What no two rows share is a remark on the rating.
        remaining = [column for column in remaining if _is_shared(table, column)]
    shown = []
    for row in table.rows:
        shown.append({name: row.get(name) for name in remaining})
    roles = guess(shown, named)
    texts = _unfold(table, long, roles, remaining)
    if len(texts.rows) == len(table.rows):
        return table  # a row per text
    if not texts.models:
        texts.scored = _scored_beside(table, long, texts)
    return texts.as_table(table, roles, has_aspects=long.has_aspects)


def _scored_beside(
    table: InitTable, long: LongColumns, texts: "UnfoldedTexts"
) -> dict[str, dict[str, str]]:
    """Return judge -> aspect -> column, of judges' scores that all rows of a text
    repeat, and give them to the texts.
    """
    scored = []
    for column in table.columns:
        if column in long.columns or column in texts.kept or not is_judge(column):
            continue
        values = numbers(table.rows, column)
        if values is None or not_a_rating(column, classes_of(column)):
            continue
        of_text: dict[str, set[str]] = {}
        for row in table.rows:
            of_text.setdefault(texts.key_of(row), set()).add(str(row.get(column)))
        if all(len(cells) == 1 for cells in of_text.values()):
            scored.append(column)
    for row in table.rows:
        text = texts.rows[texts.key_of(row)]
        for column in scored:
            text[column] = row.get(column)
    aspects = dict.fromkeys(aspect for aspect, _ in texts.columns)
    return judges_of(scored, aspects)


def _is_shared(table: InitTable, column: str) -> bool:
    """Return whether any two rows have the same cell."""
    return len({str(row.get(column)) for row in table.rows}) < len(table.rows)


@dataclass
class UnfoldedTexts:
    """The texts of a long table, with their ratings as columns."""

    kept: list[str]
    """The columns that all rows of a text have in common."""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What identifies a text -> its row."""
    starts: dict[str, int] = field(default_factory=dict)
    """What identifies a text -> the number of its first row."""
    columns: dict[tuple[str, str], str] = field(default_factory=dict)
    """(aspect, rater) -> the column of the ratings."""
    models: set[str] = field(default_factory=set)
    """The raters that are models."""
    keys: list[str] = field(default_factory=list)
    """The columns that tell texts apart."""
    scored: dict[str, dict[str, str]] = field(default_factory=dict)
    """Judge -> aspect -> the column of its scores, a score per text."""

    def key_of(self, row: TableRow) -> str:
        """Return what identifies the text of a row."""
        return str([row.get(name) for name in self.keys])

    def as_table(
        self, table: InitTable, roles: Guess, *, has_aspects: bool
    ) -> InitTable:
        """Return the texts as a table whose columns are known."""
        ratings: dict[str, list[str]] = {}
        judges = dict(self.scored)
        # A long table has no row where a model did not judge: nothing was lost there.
        absent: dict[str, str | None] = dict.fromkeys(self.kept)
        for scores in self.scored.values():
            absent |= dict.fromkeys(scores.values())
        for (aspect, name), column in self.columns.items():
            if name in self.models:
                scores = judges.setdefault(slug(name), {})
                scores[aspect if has_aspects else "*"] = column
                absent[column] = NOT_JUDGED
            else:
                ratings.setdefault(aspect, []).append(column)
                absent[column] = None
        rows = [absent | text for text in self.rows.values()]
        return replace(
            table,
            numbers=list(self.starts.values()),
            rows=rows,
            long=len(table.rows),
            columns=list(absent),
            known=replace(roles, ratings=ratings, judges=judges),
            copied=True,
        )


def _unfold(
    table: InitTable, long: LongColumns, roles: Guess, remaining: Sequence[str]
) -> UnfoldedTexts:
    """Return the texts of a long table; raise UserError for contradictory rows."""
    beside = [*roles.references, *roles.measured]
    role_columns = chain.from_iterable(map(roles.columns_of, (*ROLES, *PAIRED)))
    keys = [name for name in role_columns if name not in beside] or list(remaining)
    kept = list(dict.fromkeys([*keys, *beside]))
    texts = UnfoldedTexts(kept, keys=keys)
    first: dict[tuple[str, ...], int] = {}
    raters = {str(row.get(long.rater)) for row in table.rows}
    for number, row in zip(table.numbers, table.rows, strict=True):
        rater = str(row.get(long.rater)).strip()
        # One column has a list of the ratings of many people.
        name = rater
        if long.is_by_model(row):
            texts.models.add(rater)
        elif len(raters) > MOST_RATERS:
            name = "people"
        key = texts.key_of(row)
        text = texts.rows.setdefault(key, {each: row.get(each) for each in kept})
        start = texts.starts.setdefault(key, number)
        _check_lengths(table, roles, (start, text), (number, row))
        named = slug(str(row.get(long.aspect))) if long.aspect else ""
        before = first.setdefault((key, rater, named), number)
        if before != number:
            raise UserError(
                "two ratings of one text by the same rater",
                where=f"{table.file}, rows {before} and {number}",
                got=rater,
                todo="keep one of the rows, or name the columns that distinguish "
                "texts: --item, --system",
            )
        for of_column, value in long.values.items():
            aspect = named or of_column or ALL
            column = f"{name} ({aspect})" if long.has_aspects else name
            texts.columns[aspect, name] = column
            if name == rater:
                text[column] = row.get(value)
            else:
                text.setdefault(column, []).append(row.get(value))
    return texts


def _check_lengths(
    table: InitTable,
    roles: Guess,
    first: tuple[int, TableRow],
    other: tuple[int, TableRow],
) -> None:
    """Raise UserError if two numbered rows of a text give it different lengths."""
    start, text = first
    number, row = other
    for name in roles.measured:
        if text[name] != row.get(name):
            raise UserError(
                "rows of the same text differ in its length",
                where=f"{table.file}, rows {start} and {number}, column {name}",
                got=row.get(name),
                allowed=str(text[name]),
                todo="give the text the same length in all its rows, or name the "
                "columns that distinguish texts: --item, --system",
            )


def _long(table: InitTable, free: Sequence[str]) -> LongColumns | None:
    """Return the columns of a long table (rater, value, …), None for any other
    table.
    """
    raters = {
        "rater",
        "annotator",
        "judge",
        "worker",
        "evaluator",
        "participant",
        "respondent",
        "assessor",
        "reviewer",
        "coder",
        "labeler",
        "labeller",
    }
    names = {"value", "score", "rating", "label", "annotation"} | WORDS.choices
    values: dict[str, str] = {}
    kinds = {"kind", "type"}
    roles: dict[str, str] = {}
    for column in free:
        words = set(words_of(column))
        is_number = numbers(table.rows, column) is not None
        is_rater = _is_named(words, raters, {"id", "name"})
        is_name = "id" in words or not is_number
        if is_rater and (is_name or _numbers_raters(table, column)):
            roles.setdefault("rater", column)
        if words <= names and is_number:
            values.setdefault("", column)
        if _is_named(words, {*CRITERIA}, {"name", "id"}):
            roles.setdefault("aspect", column)
        if _is_named(words, kinds, raters):
            roles.setdefault("kind", column)
    if "rater" not in roles:
        return None
    rater = roles["rater"]
    if not values and any(is_judge(str(row.get(rater))) for row in table.rows):
        values = _aspects_rated(table, [name for name in free if name != rater])
    if not values:
        return None
    return LongColumns(rater, values, roles.get("aspect"), roles.get("kind"))


def _numbers_raters(table: InitTable, column: str) -> bool:
    """Return whether numbers are those of raters: texts repeat, and each number occurs
    once with a text.
    """
    texts = [name for name in table.columns if profile(table.rows, name).kind == "text"]
    if not texts:
        return False
    cells = [str(each) for each in cells_by_row(table.rows, texts)]
    with_number = [str(each) for each in cells_by_row(table.rows, [*texts, column])]
    repeats = 2 * len({*cells}) <= len(cells)
    return repeats and len({*with_number}) == len(with_number)


def _aspects_rated(table: InitTable, free: Sequence[str]) -> dict[str, str]:
    """Return aspect -> its column of numbers, `Answer.fluency`, in a table whose rows
    are those of people and models; {} if a column is a judge's.
    """
    aspects: dict[str, str] = {}
    for column in free:
        values = numbers(table.rows, column)
        if values is None or not_a_rating(column, classes_of(column)):
            continue
        if is_judge(column):
            return {}
        if words_of(column)[-1:] == ["id"] or is_design(table.rows, column):
            continue
        if like_ratings(values_on_scale(values), len(table.rows)):
            aspects[aspect_of(column)] = column
    return aspects


def _is_named(words: set[str], wanted: set[str], beside: set[str]) -> bool:
    """Return whether a name has a wanted word, and else only words of `beside`."""
    return not words.isdisjoint(wanted) and words <= wanted | beside
