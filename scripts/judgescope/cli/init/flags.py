"""What `judgescope init` reads from flags and answers: columns, ratings, scales."""

import argparse
import csv
import math
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judgescope.cli.init.cards import Wanted, check_study
from judgescope.cli.init.guess import (
    Guess,
    aspect_of,
    columns_of,
    guess,
    is_missing,
    numbers,
    scale,
)
from judgescope.cli.init.judge import endpoint_of
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.slugs import slug
from judgescope.data.rows import Row, read_rows
from judgescope.schema.loading import Cards

NEARLY = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+|inf(inity)?)", re.I)
"""A number, perhaps with a decimal comma, or infinite."""
LONGEST = 40
"""Characters of a cell that a message repeats."""
QUOTE = '"'
ROLES = ("text", "source", "references", "item", "system")


@dataclass(frozen=True)
class Offered:
    """What there is to choose from: a file's rows and columns, and the aspects that have cards."""

    file: Path
    numbers: Sequence[int]
    """The rows' numbers, as an editor shows them."""
    rows: Sequence[Row]
    columns: Sequence[str]
    aspects: Sequence[str]

    def nearest(self, name: str) -> str:
        """Return which aspects have a card, the nearest one first."""
        error = UserError("", where="", got=name, allowed=self.aspects)
        near = error.nearest()
        return f"the nearest is {near}" if near else f"there are {', '.join(self.aspects)}"

    def study(self, name: str) -> str:
        """Return a name as a study's id; raise UserError if it is taken."""
        made = slug(name)
        check_study(made)
        return made

    def ratings_left(self, used: Iterable[str]) -> list[str]:
        """Return why columns that nearly hold ratings were passed over, with their first bad cell.

        Nearly: half of the cells at least are numbers, or would be but for a decimal comma; or
        the column has the name of an aspect.
        """
        left = [column for column in self.columns if column not in set(used)]
        return [text for column in left if (text := self._nearly(column))]

    def _nearly(self, column: str) -> str:
        named = aspect_of(column) in self.aspects
        cells = [(at, row[column]) for at, row in self.filled(column)]
        near = sum(NEARLY.fullmatch(str(cell).strip()) is not None for _, cell in cells)
        bad = [(at, cell) for at, cell in cells if numbers([{column: cell}], column) is None]
        if not bad or (2 * near < len(cells) and not named):
            return ""
        at, cell = bad[0]
        return f"{column} (row {at} has {str(cell)[:LONGEST]!r}, which is no number)"

    def filled(self, column: str) -> list[tuple[int, Row]]:
        """Return the rows that do not say that a column's cell is missing, and their numbers."""
        rows = zip(self.numbers, self.rows, strict=True)
        return [(at, row) for at, row in rows if not is_missing(row.get(column))]


def offer(file: Path, cards: Cards) -> Offered:
    """Read a table; raise UserError for one that is not there, or has no rows."""
    if not file.is_file():
        folder = file.parent
        there = [one.name for one in folder.iterdir()] if folder.is_dir() else []
        raise UserError("there is no such file", where=str(folder), got=file.name, allowed=there)
    found = list(read_rows(file))
    if not found:
        raise UserError("this table has no rows", where=str(file))
    numbers, rows = zip(*found, strict=True)
    return Offered(file, numbers, rows, columns_of(rows), cards.names("aspect"))


def wanted_of(told: argparse.Namespace, offered: Offered) -> Wanted:
    """Return what the flags say, and what is guessed where they say nothing."""
    given = _given(told, offered)
    ratings = read_ratings(told.rating, offered) if told.rating else {}
    rated = [column for group in ratings.values() for column in group]
    for column in rated:
        check_free(column, given, "--rating")
    columns = guess(offered.rows, {**given, "ratings": rated})
    if told.rating:
        columns = replace(columns, ratings=ratings, means=False)
    columns = replace(columns, means=columns.means or told.mean)
    if told.task:
        columns = replace(columns, task=told.task)
    return Wanted(
        study=offered.study(told.study) if told.study else slug(offered.file.stem),
        file=offered.file,
        columns=columns,
        scales=_scales(told.scale, columns),
        definitions=dict(_definition(text, offered.aspects) for text in told.define),
        endpoint=endpoint_of(told),
        judges=tuple(told.judge),
        ratings="planned" if told.planned else "human",
        licence=told.licence,
        citation=told.citation,
    )


def _given(told: argparse.Namespace, offered: Offered) -> dict[str, list[str]]:
    """Return role -> columns, of the flags that are given."""
    found: dict[str, list[str]] = {}
    for role in ROLES:
        value = getattr(told, role)
        for name in [value] if isinstance(value, str) else value or []:
            check_column(name, offered.columns, f"--{role}")
            check_free(name, found, f"--{role}")
            found.setdefault(role, []).append(name)
    return found


def check_column(name: str, columns: Iterable[str], where: str) -> str:
    """Return a column's name; raise UserError with the nearest one if there is none."""
    if name not in set(columns):
        raise UserError("the table has no such column", where=where, got=name, allowed=columns)
    return name


def check_free(name: str, taken: Mapping[str, Iterable[str]], where: str) -> None:
    """Raise UserError for a column that has a role already."""
    for role, columns in taken.items():
        if name in columns:
            raise UserError(
                "one column cannot be two things",
                where=where,
                got=name,
                todo=f"it is named as {role}, too: leave one of them out",
            )


def read_ratings(told: Iterable[str], offered: Offered) -> dict[str, list[str]]:
    """Return aspect -> columns of `aspect=column,column` or of a column's name alone."""
    found: dict[str, list[str]] = {}
    for text in told:
        aspect, columns = _rating(text, offered.columns)
        if aspect in found:
            raise UserError(
                "an aspect is named twice",
                where="--rating",
                got=aspect,
                todo="name all columns of an aspect in one --rating: aspect=column,column",
            )
        found[aspect] = []
        for column in columns:
            check_column(column, offered.columns, f"--rating {text}")
            check_free(column, found, "--rating")
            _check_numbers(column, offered)
            found[aspect].append(column)
    if not found:
        raise UserError("no column has ratings", where="--rating", allowed=offered.columns)
    return found


def _rating(text: str, columns: Collection[str]) -> tuple[str, list[str]]:
    """Return the aspect and the columns of `aspect=column,column`, written as a line of CSV.

    What is a column as it stands, whatever it contains, is this column.
    """
    if text in columns:
        return slug(text), [text]
    name, equals, rest = text.partition("=")
    if not equals or rest in columns:
        return slug(name), [rest if equals else name]
    return slug(name), next(csv.reader([rest]), [""])


def rating_text(name: str, group: Iterable[str]) -> str:
    """Return `aspect=column,column` as `_rating` reads it."""
    columns = [f'"{one.replace(QUOTE, 2 * QUOTE)}"' if "," in one else one for one in group]
    return f"{name}={','.join(columns)}"


def _check_numbers(column: str, offered: Offered) -> None:
    """Raise UserError for a column of ratings with a cell that is no number."""
    if numbers(offered.rows, column) is not None:
        return
    for at, row in offered.filled(column):
        if numbers([row], column) is None:
            raise UserError(
                "a rating is not a number",
                where=f"{offered.file}, row {at}, column {column}",
                got=row[column],
                todo="name a column of numbers, or turn the words into numbers first, with a "
                "point for decimals; a rating that is missing is an empty cell, or NA",
            )
    raise UserError("a column of ratings is empty", where=str(offered.file), got=column)


def _scales(told: Iterable[str], columns: Guess) -> dict[str, Mapping[str, float]]:
    """Return aspect -> scale of `[aspect=]min:max[:step]`; one without an aspect is for all."""
    found: dict[str, Mapping[str, float]] = {}
    for text in told:
        name, equals, rest = text.partition("=")
        if equals and slug(name) not in columns.ratings:
            raise UserError(
                "no ratings of this aspect", where="--scale", got=name, allowed=columns.ratings
            )
        names = [slug(name)] if equals else list(columns.ratings)
        found |= dict.fromkeys(names, read_scale(rest if equals else text))
    return found


def read_scale(text: str) -> dict[str, float]:
    """Return the scale in `1:5:1`, worst, best and step, or `0:100`, without steps."""
    try:
        parts = [float(part) for part in re.split(r"\s*:\s*|\s+to\s+|(?<=\d)-(?=\d)", text)]
        low, high, *step = parts
        finite = all(map(math.isfinite, parts))
        if not finite or len(step) > 1 or low >= high or min(step, default=1) <= 0:
            raise ValueError
    except ValueError:
        raise UserError(
            "a scale has a worst and a best value, and may have a step",
            where="--scale",
            got=text,
            allowed="like 1:5:1 or 0:100",
        ) from None
    numbers = [low, high, *step]
    plain = [int(one) if one.is_integer() else one for one in numbers]
    return dict(zip(("min", "max", "step"), plain, strict=False))


def scale_text(told: Mapping[str, float]) -> str:
    """Return a scale as flags and answers write it."""
    return ":".join(f"{told[name]:g}" for name in ("min", "max", "step") if name in told)


def scales_of(
    columns: Guess, rows: Sequence[Row], given: Mapping[str, Mapping[str, float]]
) -> dict[str, Mapping[str, float]]:
    """Return aspect -> the scale that was given, or else is guessed from all of its ratings."""
    return {
        name: given[name] if name in given else scale(_values(group, rows))
        for name, group in columns.ratings.items()
    }


def _values(group: Iterable[str], rows: Sequence[Row]) -> list[float]:
    return [value for column in group for value in numbers(rows, column) or []]


def described(group: Sequence[str], rows: Sequence[Row]) -> str:
    """Return which ratings are there: `3 columns, 1 to 5 seen`."""
    values = _values(group, rows)
    raters = f"{len(group)} columns, " if len(group) > 1 else ""
    return f"{raters}{min(values):g} to {max(values):g} seen"


def _definition(text: str, aspects: Collection[str]) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not equals:
        raise UserError(
            "a definition names its aspect", where="--define", got=text, allowed='clarity="How …"'
        )
    if slug(name) in aspects:
        raise UserError(
            "this aspect has a card, whose definition judges are told",
            where="--define",
            got=name,
            todo="leave the --define out, or give your aspect a name of its own",
        )
    return slug(name), define(name, rest)


def define(name: str, text: str) -> str:
    """Return the definition of a new aspect; raise UserError for one that says nothing."""
    if not text.strip():
        raise UserError("judges have to be told what it means", where=f"aspect {name}")
    return text.strip()


def undefined(columns: Guess, defined: Mapping[str, str], offered: Offered) -> list[str]:
    """Return the aspects that have neither a card nor a definition."""
    return [name for name in columns.ratings if name not in {*offered.aspects, *defined}]


def check_whole(wanted: Wanted, offered: Offered) -> None:
    """Raise UserErrors for what neither flags nor guesses tell."""
    columns, errors = wanted.columns, []
    if columns.text is None:
        errors.append(_untold("--text", "which column has the texts that are judged"))
    if columns.item is None and not columns.source:
        errors.append(_untold("--source or --item", "which rows are about one source"))
    if not columns.ratings:
        passed = offered.ratings_left([columns.text or "", *columns.source])
        more = f"; passed over: {', '.join(passed)}" if passed else ""
        errors.append(_untold("--rating", f"which columns have ratings{more}"))
    for error in errors:
        error.allowed = sorted(offered.columns)
    unknown = undefined(columns, wanted.definitions, offered)
    errors += [_undefined(name, columns.ratings, unknown, offered) for name in unknown]
    if errors:
        raise UserErrors(errors)


def _undefined(
    name: str, ratings: Mapping[str, list[str]], unknown: Collection[str], offered: Offered
) -> UserError:
    """Name the ways out: to define the aspect, to say which it is, to leave its columns out."""
    rest = {one: group for one, group in ratings.items() if one not in unknown}
    flags = [f"--rating {shlex.quote(rating_text(*one))}" for one in rest.items()]
    return UserError(
        "there is no aspect card of this name",
        where=f"column {ratings[name][0]}",
        got=name,
        allowed=offered.aspects,
        todo=f"say what it means, as judges are told: --define {name}='…'; or name the aspect "
        f"that it is: --rating {shlex.quote(rating_text('ASPECT', ratings[name]))}; or, if it "
        f"holds no ratings, name what does: {' '.join(flags) or '--rating ASPECT=COLUMN'}",
    )


def _untold(flag: str, what: str) -> UserError:
    return UserError(f"nothing tells {what}", where=flag, todo=f"name it: {flag} COLUMN")
