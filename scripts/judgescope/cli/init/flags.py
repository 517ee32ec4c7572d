"""The flags and answers of `judgescope init` about a table: columns, ratings, scales."""

import argparse
import csv
import math
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from judgescope.cli.init.cards import Replies, StudyDraft, check_study
from judgescope.cli.init.endpoint import endpoint_of
from judgescope.cli.init.guess import (
    ALL,
    PAIRED,
    ROLES,
    Guess,
    aspect_of,
    columns_of,
    guess,
    is_missing,
    judges_of,
    numbers,
    scale,
)
from judgescope.cli.init.labels import Pair, in_numbers, label_scale, labelled
from judgescope.cli.init.pairs import Pairs, pairs_of
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.slugs import slug
from judgescope.data.rows import Row, read_rows
from judgescope.schema.loading import Cards

NEARLY_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+|inf(inity)?)", re.I)
"""A number, perhaps with a decimal comma, or infinite."""
MAX_CELL = 40
"""Characters of a cell that a message repeats."""
YOURS = "YOUR-"
"""What a provider's card has in place of a name that only the user knows."""
REPLIES = ("reply", "judgment", "judgement", "completion", "response", "raw", "output")
"""Names of a column of judges' replies, the plainest first."""
ASPECT_COLUMNS = ("aspect", "criterion", "dimension")
EVERY = "*"
"""In place of an aspect: all of them."""
CHOICES: Final = {"min": -1, "max": 1}
"""The scale of choices between two texts: 1 is for the first."""
Scale = Mapping[str, float]


# --- the table -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """A file's rows and columns, and the ids of the aspects that have cards."""

    file: Path
    numbers: Sequence[int]
    """The rows' numbers, as an editor shows them."""
    rows: Sequence[Row]
    columns: Sequence[str]
    aspects: Sequence[str]
    labels: Mapping[str, Pair] = field(default_factory=dict)
    """Columns with 0 and 1 in place of two labels, and the labels."""
    other_labels: Mapping[str, int] = field(default_factory=dict)
    """Further words of these columns -> 0 or 1."""
    pairs: Pairs | None = None
    """The columns of texts between which people chose, where rows have numbers for choices."""

    def nearest_aspect(self, name: str) -> str:
        """Return which aspects have a card, the nearest one first."""
        near = UserError("", where="", got=name, allowed=self.aspects).nearest()
        return f"the nearest is {near}" if near else f"there are {', '.join(self.aspects)}"

    def study(self, name: str) -> str:
        """Return a name as a study's id; raise UserError if it is taken."""
        check_study(study := slug(name))
        return study

    def nearly_ratings(self, used: Iterable[str]) -> list[str]:
        """Return the unused columns that nearly hold ratings, each with its first bad cell.

        Nearly: at least half of the cells are numbers, or would be but for a decimal comma; or the
        column has the name of an aspect.
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
        """Return the rows in which a column's cell is not missing, with their numbers."""
        rows = zip(self.numbers, self.rows, strict=True)
        return [(number, row) for number, row in rows if not is_missing(row.get(column))]

    def described(self, columns: Sequence[str]) -> str:
        """Return the range of some columns' ratings: `3 columns, 1 to 5 seen`."""
        values = _values(columns, self.rows)
        raters = f"{len(columns)} columns, " if len(columns) > 1 else ""
        if self.labels.keys() >= {*columns}:
            return f"{raters}labels"
        return f"{raters}{min(values):g} to {max(values):g} seen"


def load_table(file: Path, cards: Cards) -> Table:
    """Read a table; raise UserError if it does not exist or has no rows."""
    if file.is_dir():
        todo = "name a file in it"
        raise UserError("a table is a file, and this is a folder", where=str(file), todo=todo)
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
    """Return the table with numbers in place of two labels, or of choices between two texts."""
    pairs = pairs_of(table.rows, table.columns, named)
    if pairs is not None:
        return replace(table, rows=pairs.coded(table.rows), pairs=pairs)
    if named.get("texts"):
        raise UserError(
            "no column says which of these texts is better in every row",
            where=f"{table.file}, --texts",
            got=", ".join(named["texts"]),
            allowed=["1", "2", "A", "B", "left", "right", "tie", "a column's or a system's name"],
            todo="add a column of choices; a missing one is an empty cell",
        )
    rows, labels, others = in_numbers(table.rows, table.columns)
    return replace(table, rows=rows, labels=labels, other_labels=others)


def guessed(table: Table, named: Mapping[str, Sequence[str]], taken: Sequence[str]) -> Guess:
    """Return what a coded table's columns hold; `taken` are those of ratings and scores."""
    named = {**named, "ratings": taken}
    if table.pairs is None:
        return guess(table.rows, named, table.aspects)
    return table.pairs.guessed(table.rows, named, table.aspects)


# --- what the flags say ----------------------------------------------------------------------


def draft_of(args: argparse.Namespace, table: Table) -> StudyDraft:
    """Return the study that the flags describe, with guesses where they say nothing."""
    named = named_columns(args, table)
    ratings = read_ratings(args.rating, table) if args.rating else {}
    rated = [column for group in ratings.values() for column in group]
    for column in rated:
        check_free(column, named, "--rating")
    metrics = named_parts(args.metric, table, "--metric")
    scored = [column for _, column in metrics]
    for column in scored:
        check_free(column, {**named, "--rating": rated}, "--metric")
    columns = guessed(table, named, [*rated, *scored])
    judges = {judge: dict(scores) for judge, scores in columns.judges.items()}
    for judge, scores in named_judges(metrics, ratings or columns.ratings, "--metric").items():
        judges.setdefault(judge, {}).update(scores)
    columns = replace(columns, judges=judges)
    if args.rating:
        columns = replace(columns, ratings=ratings, means=False)
    columns = replace(columns, means=columns.means or args.mean, task=args.task or columns.task)
    scales = named_scales(args.scale, columns)
    return StudyDraft(
        study=table.study(args.study) if args.study else slug(table.file.stem),
        file=table.file,
        columns=columns,
        scales=scales,
        definitions=dict(_definition(text, table.aspects) for text in args.define),
        endpoint=endpoint_of(args),
        judges=tuple(args.judge),
        replies=_replies(args, columns),
        max_usd=cap(args.max_usd) if args.max_usd is not None else None,
        ratings="planned" if args.planned else "human",
        licence=args.licence,
        citation=args.citation,
    )


def named_columns(args: argparse.Namespace, table: Table) -> dict[str, list[str]]:
    """Return role -> the columns that flags name."""
    named: dict[str, list[str]] = {}
    for role in (*ROLES, *PAIRED):
        value = getattr(args, role)
        for name in [value] if isinstance(value, str) else value or []:
            check_column(name, table.columns, f"--{role}")
            check_free(name, named, f"--{role}")
            named.setdefault(role, []).append(name)
    return {**named, **(table.pairs.named if table.pairs else {})}


def named_parts(texts: Iterable[str], table: Table, flag: str) -> list[tuple[str, str]]:
    """Return aspect, or *, and column of each part of `[ASPECT=]COLUMN,…`, columns of numbers."""
    parts = []
    for text in texts:
        aspect, columns = EVERY, [text]
        if text not in table.columns:
            named = text if "=" in text else f"{ALL}={text}"
            aspect, columns = rating_of(named, table.columns)
            aspect = aspect if "=" in text else EVERY
        for column in columns:
            check_column(column, table.columns, flag)
            check_numbers(column, table)
            parts.append((aspect, column))
    return parts


def named_judges(
    parts: Iterable[tuple[str, str]], aspects: Collection[str], flag: str
) -> dict[str, dict[str, str]]:
    """Return judge -> aspect -> column; raise UserError for an aspect that people did not rate."""
    judges: dict[str, dict[str, str]] = {}
    for aspect, column in parts:
        if aspect not in {EVERY, *aspects}:
            raise UserError("no ratings of this aspect", where=flag, got=aspect, allowed=aspects)
        one = {slug(column): {aspect: column}}
        for judge, scores in (judges_of([column], aspects) if aspect == EVERY else one).items():
            judges.setdefault(judge, {}).update(scores)
    return judges


def _replies(args: argparse.Namespace, columns: Guess) -> Replies | None:
    """Return how the rows of a file of replies find their texts."""
    if args.recorded is None:
        if args.reply is not None:
            todo = "name the file: --recorded FILE"
            raise UserError("this option is about a file of replies", where="--reply", todo=todo)
        return None
    file: Path = args.recorded
    table = load_table(file, Cards([]))
    reply = args.reply or next((name for name in REPLIES if name in table.columns), None)
    if reply is None:
        what, todo = "cannot tell which column has the judge's replies", "name it: --reply COLUMN"
        raise UserError(what, where=str(file), allowed=table.columns, todo=todo)
    check_column(reply, table.columns, "--reply")
    found = guess(table.rows, {"ratings": [reply]})
    text, system = (
        _same(columns.text, found.text, table),
        _same(columns.system, found.system, table),
    )
    item = _same(columns.item, found.item, table)
    source = columns.source if set(columns.source) <= set(table.columns) else found.source
    if item is None and text is None:
        raise UserError(
            "no column says which text a reply is about",
            where=str(file),
            allowed=table.columns,
            todo="add the column of the texts, or of the ids of items (--item) and systems",
        )
    rows: dict[str, Any] = {"item": item} if item else {"source": source, "text": text}
    aspect = next((name for name in ASPECT_COLUMNS if name in table.columns), None)
    if aspect is None and len(columns.ratings) > 1:
        raise UserError(
            "no column says which aspect a reply is about",
            where=str(file),
            allowed=ASPECT_COLUMNS,
            todo="add the column, or name the ratings of one aspect: --rating ASPECT=COLUMN",
        )
    rows |= {"system": system, "aspect": aspect, "reply": reply}
    return Replies(file, {key: value for key, value in rows.items() if value})


def _same(name: str | None, guessed: str | None, table: Table) -> str | None:
    """Return the column of the same name as in the user's table, else the guessed one."""
    if name is None:
        return None
    return name if name in table.columns else guessed


def cap(text: str) -> float:
    """Return a limit in US$; raise UserError for none."""
    try:
        limit = float(text)
        if not (math.isfinite(limit) and limit >= 0):
            raise ValueError
    except ValueError:
        raise UserError(
            "a limit in US$ is a number", where="--max-usd", got=text, allowed="like 5"
        ) from None
    return limit


def price(text: str) -> dict[str, float]:
    """Return the prices of two numbers, US$ per million tokens of prompts and of replies."""
    if not text:
        return {}
    try:
        prompts, replies = map(float, text.replace(",", " ").split())
    except ValueError:
        raise UserError("two numbers", where="price", got=text, allowed="like .15, .6") from None
    return {"input": prompts, "output": replies}


def check_column(name: str, columns: Iterable[str], where: str) -> None:
    """Raise UserError, with the nearest name, for a column that the table does not have."""
    if name not in set(columns):
        raise UserError(
            "the table does not have this column", where=where, got=name, allowed=columns
        )


def check_free(name: str, taken: Mapping[str, Iterable[str]], where: str) -> None:
    """Raise UserError for a column that has a role already."""
    for role, columns in taken.items():
        if name in columns:
            raise UserError(
                "a column can have only one role",
                where=where,
                got=name,
                todo=f"it is also named as {role}: drop one of the two",
            )


def read_ratings(texts: Iterable[str], table: Table) -> dict[str, list[str]]:
    """Return aspect -> columns of `aspect=column,column` or of a column's name alone."""
    ratings: dict[str, list[str]] = {}
    for text in texts:
        aspect, columns = rating_of(text, table.columns)
        if aspect in ratings:
            raise UserError(
                "an aspect is named twice",
                where="--rating",
                got=aspect,
                todo="name all columns of an aspect in one --rating: aspect=column,column",
            )
        ratings[aspect] = []
        for column in columns:
            check_column(column, table.columns, f"--rating {text}")
            check_free(column, ratings, "--rating")
            check_numbers(column, table)
            ratings[aspect].append(column)
    if not ratings:
        raise UserError("no column has ratings", where="--rating", allowed=table.columns)
    return ratings


def rating_of(text: str, columns: Collection[str]) -> tuple[str, list[str]]:
    """Return the aspect and the columns of `aspect=column,column`, written as a line of CSV.

    A text that is the name of a column, whatever it contains, is this column.
    """
    if text in columns:
        return slug(text), [text]
    name, equals, rest = text.partition("=")
    if not equals or rest in columns:
        return slug(name), [rest if equals else name]
    return slug(name), next(csv.reader([rest]), [""])


def rating_text(name: str, columns: Iterable[str]) -> str:
    """Return `aspect=column,column` as `rating_of` reads it."""
    doubled = {column: column.replace('"', '""') for column in columns}
    quoted = [f'"{text}"' if "," in column else column for column, text in doubled.items()]
    return f"{name}={','.join(quoted)}"


def check_numbers(column: str, table: Table) -> None:
    """Raise UserError for a column of ratings with a cell that is not a number."""
    if numbers(table.rows, column) is not None:
        return
    for number, row in table.filled(column):
        if numbers([row], column) is None:
            raise UserError(
                "a rating is not a number",
                where=f"{table.file}, row {number}, column {column}",
                got=row[column],
                todo="name a column of numbers, or turn the words into numbers first, with a "
                "point for decimals; a rating that is missing is an empty cell, or NA",
            )
    raise UserError("a column of ratings is empty", where=str(table.file), got=column)


def named_scales(texts: Iterable[str], columns: Guess) -> dict[str, Scale]:
    """Return aspect -> scale of `[aspect=]min:max[:step]`; one without an aspect is for all."""
    scales: dict[str, Scale] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if equals and slug(name) not in columns.ratings:
            raise UserError(
                "no ratings of this aspect", where="--scale", got=name, allowed=columns.ratings
            )
        aspects = [slug(name)] if equals else list(columns.ratings)
        scales |= dict.fromkeys(aspects, read_scale(rest if equals else text))
    return scales


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
    whole = [int(part) if part.is_integer() else part for part in parts]
    return dict(zip(("min", "max", "step"), whole, strict=False))


def scale_text(limits: Mapping[str, Any]) -> str:
    """Return a scale as flags and answers write it; of labels the labels."""
    if "labels" in limits:
        return ", ".join(limits["labels"])
    return ":".join(f"{limits[name]:g}" for name in ("min", "max", "step") if name in limits)


def label_pairs(columns: Guess, table: Table, stated: Collection[str]) -> dict[str, Pair]:
    """Return aspect -> its two labels, where people gave labels and no scale is `stated`."""
    if columns.texts:
        return {}
    return labelled(table.rows, columns.ratings, table.labels, stated)


def scales_of(
    columns: Guess, table: Table, named: Mapping[str, Scale], *, copied: bool = False
) -> dict[str, Mapping[str, Any]]:
    """Return aspect -> its scale: the one that is named, or a guess from all of its ratings.

    `copied`: the study has a copy of the rows, with numbers in place of labels.
    """
    if columns.texts:
        return dict.fromkeys(columns.ratings, CHOICES)
    labels = label_pairs(columns, table, named)
    scales: dict[str, Mapping[str, Any]] = {}
    for name, group in columns.ratings.items():
        if name in labels:
            in_words = not copied and table.labels.keys() >= {*group}
            scales[name] = label_scale(labels[name], table.other_labels if in_words else None)
        else:
            scales[name] = named[name] if name in named else scale(_values(group, table.rows))
    return scales


def _values(columns: Iterable[str], rows: Sequence[Row]) -> list[float]:
    return [value for column in columns for value in numbers(rows, column) or []]


def _definition(text: str, aspects: Collection[str]) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not equals:
        raise UserError(
            "a definition must name its aspect",
            where="--define",
            got=text,
            allowed='clarity="How …"',
        )
    if slug(name) in aspects:
        raise UserError(
            "this aspect has a card with a definition for judges",
            where="--define",
            got=name,
            todo="leave the --define out, or give your aspect another name",
        )
    return slug(name), define(name, rest)


def define(name: str, text: str) -> str:
    """Return the definition of a new aspect; raise UserError for an empty one."""
    if not text.strip():
        raise UserError("judges need a definition of this aspect", where=f"aspect {name}")
    return text.strip()


def undefined(columns: Guess, defined: Iterable[str], table: Table) -> list[str]:
    """Return the aspects that have neither a card nor a definition."""
    return [name for name in columns.ratings if name not in {*table.aspects, *defined}]


def check_complete(draft: StudyDraft, table: Table) -> None:
    """Raise UserErrors for what neither flags nor guesses say."""
    columns, errors = draft.columns, []

    def unknown(flag: str, what: str) -> None:
        error = f"cannot tell {what}"
        todo, names = f"name it: {flag} COLUMN", sorted(table.columns)
        errors.append(UserError(error, where=flag, allowed=names, todo=todo))

    if columns.text is None and not columns.texts:
        unknown("--text", "which column has the texts that are judged")
    if columns.item is None and not columns.source:
        unknown("--source or --item", "which rows are about one source")
    if (endpoint := draft.endpoint) is not None:
        for flag, key in (("--endpoint", "base_url"), ("--model", "name")):
            if YOURS in (value := endpoint.card[key]):
                what, todo = "the provider's card has a placeholder", "name yours in its place"
                errors.append(UserError(what, where=flag, got=value, todo=todo))
    if not columns.ratings:
        passed = table.nearly_ratings([columns.text or "", *columns.source])
        more = f"; skipped: {', '.join(passed)}" if passed else ""
        unknown("--rating", f"which columns have ratings{more}")
    for column in (name for scores in columns.judges.values() for name in scores.values()):
        if table.pairs and column in table.pairs.by_system:
            what = "a judge's choices name systems, which a card cannot translate"
            todo = (
                "judgescope audit FILE --write DIR makes a study with a translated copy of the data"
            )
            errors.append(UserError(what, where=str(table.file), got=column, todo=todo))
    lacking = undefined(columns, draft.definitions, table)
    others = [
        f"--rating {shlex.quote(rating_text(name, group))}"
        for name, group in columns.ratings.items()
        if name not in lacking
    ]
    for name in lacking:
        group = columns.ratings[name]
        error = UserError(
            "this aspect has no card",
            where=f"column {group[0]}",
            got=name,
            allowed=table.aspects,
            todo=f"define it, for judges: --define {name}='…'; or name the aspect "
            f"that it is: --rating {shlex.quote(rating_text('ASPECT', group))}; or, if it holds "
            f"no ratings, name what does: {' '.join(others) or '--rating ASPECT=COLUMN'}",
        )
        errors.append(error)
    if errors:
        raise UserErrors(errors)
