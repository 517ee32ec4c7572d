"""Long tables (one row per rating), turned into one row per text, one column per rater."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from judgescope.cli.init.guess import ALL, PAIRED, ROLES, Guess, guess, is_judge, numbers, words_of
from judgescope.cli.init.pairs import CHOICE
from judgescope.cli.init.tables import Table
from judgescope.core.errors import UserError
from judgescope.core.names import slug

RATER: Final = {"rater", "annotator", "judge", "worker", "evaluator"}
VALUE: Final = {"value", "score", "rating", "label", "annotation", *CHOICE}
ASPECT: Final = {"aspect", "dimension", "criterion", "attribute"}
KIND: Final = {"kind", "type"}
"""Words that name the columns of a long table."""
MODELS: Final = {"model", "llm", "judge", "ai", "machine", "auto", "automatic", "metric"}
"""Words in the cells of a column of KIND that indicate a judge instead of a person."""
MOST_RATERS: Final = 20
"""With more raters, one column has a list of their ratings, without their names."""


class Long(NamedTuple):
    """The columns of a long table."""

    rater: str
    value: str
    aspect: str | None
    kind: str | None


def unfolded(table: Table, named: Mapping[str, Sequence[str]]) -> Table:
    """Return a long table with one row per text and known columns; any other table unchanged.

    Raises UserError for a rater who rates a text twice.
    """
    taken = {column for group in named.values() for column in group}
    long = _long(table, [column for column in table.columns if column not in taken])
    if long is None:
        return table
    left = [column for column in table.columns if column not in long]
    plain = [{name: row.get(name) for name in left} for row in table.rows]
    roles = guess(plain, {**named, "ratings": []})
    roles = replace(roles, ratings={}, judges={})
    named_keys = [name for role in (*ROLES, *PAIRED) for name in roles.columns_of(role)]
    keys = [name for name in named_keys if name not in roles.references] or left
    return _unfolded(table, long, roles, keys)


def _long(table: Table, free: Sequence[str]) -> Long | None:
    """Return the columns of a long table (rater, value, …), None for any other table."""

    words = {column: set(words_of(column)) for column in free}

    def one(wanted: Collection[str], beside: Collection[str] = ()) -> str | None:
        fitting = (c for c, of in words.items() if of & {*wanted} and of <= {*wanted, *beside})
        return next(fitting, None)

    raters = (
        column
        for column, of in words.items()
        if of & RATER and of <= RATER | {"id", "name"}
        if numbers(table.rows, column) is None or "id" in of
    )
    values = (c for c, of in words.items() if of <= VALUE and numbers(table.rows, c) is not None)
    rater, value = next(raters, None), next(values, None)
    if rater is None or value is None:
        return None
    return Long(rater, value, one(ASPECT, ("name", "id")), one(KIND, RATER))


def _unfolded(table: Table, long: Long, roles: Guess, keys: Sequence[str]) -> Table:
    """Return a row for each text (identified by `keys`), a column for each rater and aspect."""
    kept = dict.fromkeys([*keys, *roles.references])
    texts: dict[str, dict[str, Any]] = {}
    first: dict[tuple[str, str], int] = {}
    columns: dict[tuple[str, str], str] = {}
    models: dict[str, None] = {}
    many = len({str(row.get(long.rater)) for row in table.rows}) > MOST_RATERS
    for number, row in zip(table.numbers, table.rows, strict=True):
        rater = str(row.get(long.rater)).strip()
        aspect = slug(str(row.get(long.aspect))) if long.aspect else ALL
        said = long.kind and MODELS.intersection(words_of(str(row.get(long.kind))))
        model = bool(said) or is_judge(rater)
        if model:
            models[rater] = None
        name = rater if model or not many else "people"
        named = f"{name} ({aspect})" if long.aspect else name
        columns[aspect, name] = named
        key = str([row.get(column) for column in keys])
        text = texts.setdefault(key, {column: row.get(column) for column in kept})
        if (before := first.setdefault((key, f"{rater} {aspect}"), number)) != number:
            raise UserError(
                "two ratings of one text by the same rater",
                where=f"{table.file}, rows {before} and {number}",
                got=rater,
                todo="keep one of the rows, or name the columns that distinguish texts: --item, "
                "--system",
            )
        cell = row.get(long.value)
        if name == rater:
            text[named] = cell
        else:
            text.setdefault(named, []).append(cell)
    ratings: dict[str, list[str]] = {}
    judges: dict[str, dict[str, str]] = {}
    for (aspect, name), column in columns.items():
        if name in models:
            judges.setdefault(slug(name), {})[aspect if long.aspect else "*"] = column
        else:
            ratings.setdefault(aspect, []).append(column)
    if len(texts) == len(table.rows):
        return table  # a row per text
    names = [*kept, *columns.values()]
    rows = [{name: text.get(name) for name in names} for text in texts.values()]
    return replace(
        table,
        numbers=range(1, len(rows) + 1),
        rows=rows,
        columns=names,
        known=replace(roles, ratings=ratings, judges=judges),
        long=len(table.rows),
        copied=True,
    )
