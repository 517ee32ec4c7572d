"""What `metajudge init` reads from flags and answers: columns, ratings, scales, names of keys."""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from metajudge.data.files import Row, read_rows
from metajudge.init_cards import Endpoint, Wanted, place
from metajudge.init_guess import Guess, columns_of, guess, numbers, scale
from metajudge.schema.errors import UserError, UserErrors
from metajudge.schema.loading import Cards
from metajudge.schema.slugs import slug

VARIABLE = re.compile(r"[A-Za-z_]\w*")
SECRET = re.compile(r"(?=.*[a-z])(?=.*\d).{20,}|.{41,}")
"""What may be a key, although it has the form of a name: long, of small letters and digits."""
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
        for kind in ("study", "dataset"):
            if place(kind, made).exists():
                raise UserError(
                    "there is a card of this name",
                    where=str(place(kind, made)),
                    todo="choose another name: --study NAME",
                )
        return made


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
    columns = guess(offered.rows)
    for role in ROLES:
        given = getattr(told, role)
        if given is None:
            continue
        names = [given] if isinstance(given, str) else given
        for name in names:
            check_column(name, offered.columns, f"--{role}")
        columns = replace(columns, **{role: given})
    if told.rating:
        columns = replace(columns, ratings=read_ratings(told.rating, offered), means=told.mean)
    columns = replace(columns, ratings=_apart(columns), means=columns.means or told.mean)
    if told.task:
        columns = replace(columns, task=told.task)
    return Wanted(
        study=offered.study(told.study) if told.study else slug(offered.file.stem),
        file=offered.file,
        columns=columns,
        scales=_scales(told.scale, columns),
        definitions=dict(_definition(text) for text in told.define),
        endpoint=_endpoint(told),
        judges=tuple(told.judge),
        ratings="planned" if told.planned else "human",
        licence=told.licence,
        citation=told.citation,
    )


def _apart(columns: Guess) -> dict[str, list[str]]:
    """Return the columns of ratings without those that have a role."""
    roles = {columns.item, columns.system, columns.text, *columns.source, *columns.references}
    left = {name: [c for c in group if c not in roles] for name, group in columns.ratings.items()}
    return {name: group for name, group in left.items() if group}


def check_column(name: str, columns: Iterable[str], where: str) -> str:
    """Return a column's name; raise UserError with the nearest one if there is none."""
    if name not in set(columns):
        raise UserError("the table has no such column", where=where, got=name, allowed=columns)
    return name


def read_ratings(told: Iterable[str], offered: Offered) -> dict[str, list[str]]:
    """Return aspect -> columns of `aspect=column,column` or of a column's name alone."""
    found: dict[str, list[str]] = {}
    for text in told:
        name, equals, rest = text.partition("=")
        columns = rest.split(",") if equals else [name]
        aspect = slug(name)
        for column in columns:
            check_column(column, offered.columns, f"--rating {text}")
            _check_numbers(column, offered)
        found[aspect] = columns
    if not found:
        raise UserError("no column has ratings", where="--rating", allowed=offered.columns)
    return found


def _check_numbers(column: str, offered: Offered) -> None:
    """Raise UserError for a column of ratings with a cell that is no number."""
    if numbers(offered.rows, column) is not None:
        return
    for number, row in zip(offered.numbers, offered.rows, strict=True):
        if row.get(column) not in (None, "") and numbers([row], column) is None:
            raise UserError(
                "a rating is not a number",
                where=f"{offered.file}, row {number}, column {column}",
                got=row[column],
                todo="name a column of numbers, or turn the words into numbers first",
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
        if len(step) > 1 or low >= high or min(step, default=1) <= 0:
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


def _definition(text: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not equals:
        raise UserError(
            "a definition names its aspect", where="--define", got=text, allowed='clarity="How …"'
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
        errors.append(_untold("--rating", "which columns have ratings"))
    for error in errors:
        error.allowed = sorted(offered.columns)
    for name in undefined(columns, wanted.definitions, offered):
        column = columns.ratings[name][0]
        errors.append(
            UserError(
                "there is no aspect card of this name",
                where=f"column {column}",
                got=name,
                allowed=offered.aspects,
                todo=f'--define {name}="what it means, as judges are told", or name the aspect '
                f"that it is: --rating <aspect>={','.join(columns.ratings[name])}",
            )
        )
    if errors:
        raise UserErrors(errors)


def _untold(flag: str, what: str) -> UserError:
    return UserError(f"nothing tells {what}", where=flag, todo=f"name it: {flag} COLUMN")


def key_name(text: str) -> str | None:
    """Return the name of a variable; what looks like a key itself is refused, and not shown."""
    if not text:
        return None
    if not VARIABLE.fullmatch(text) or SECRET.fullmatch(text):
        raise UserError(
            "this is no name of an environment variable; a key itself is never written to a card",
            where="--key-env",
            allowed="like MY_KEY",
            todo="export MY_KEY=… and give the name, MY_KEY",
        )
    return text


def _endpoint(told: argparse.Namespace) -> Endpoint | None:
    if (told.endpoint is None) != (told.model is None):
        missing = "--model" if told.model is None else "--endpoint"
        raise UserError("an endpoint and its model belong together", where=missing)
    if told.endpoint is None:
        return None
    key = key_name(told.key_env or "")
    price = tuple(told.price) if told.price else None
    return Endpoint(told.endpoint, told.model, key, price, told.form, told.draws)
