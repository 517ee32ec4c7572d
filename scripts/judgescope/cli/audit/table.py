"""What `judgescope audit` takes the columns of a table for, and why it refuses a table."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from judgescope.cli.audit.long import unfolded
from judgescope.cli.init import flags, missing_in
from judgescope.cli.init.cards import Wanted
from judgescope.cli.init.flags import Scale, Table, check_column, check_free
from judgescope.cli.init.guess import (
    ALL,
    PEOPLE,
    ROLES,
    Guess,
    entries,
    guess,
    judges_of,
    number,
    words_of,
)
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.core.slugs import slug
from judgescope.schema.loading import Cards

MOST_BYTES: Final = 200_000_000
MOST_ROWS: Final = 50_000
ROW: Final = "row"
"""The column that numbers the rows of a table without items."""
EVERY: Final = "*"


def wanted_of(args: argparse.Namespace, require: Mapping[str, float]) -> tuple[Wanted, Table]:
    """Return the study that a table makes, and its rows; UserError for one that makes none."""
    table = read(args.file)
    named = _named(args, table)
    table, folded = unfolded(table, named)
    columns = _columns(args, table, named, folded)
    _check(table, columns)
    table, columns = _with_items(table, columns)
    scales = flags.scales_of(columns, table.rows, flags.named_scales(args.scale, columns))
    wanted = Wanted(
        study=slug(table.file.stem),
        file=Path("data", f"{slug(table.file.stem)}.jsonl"),
        columns=columns,
        scales=scales,
        definitions={
            name: f"What people rated in the column {', '.join(group)}."
            for name, group in columns.ratings.items()
            if name not in table.aspects
        },
        missing=missing_in(columns, table),
        measures=(),
        judge_scales=_judge_scales(table, columns, scales),
        require=require,
    )
    return wanted, table


def _judge_scales(
    table: Table, columns: Guess, scales: Mapping[str, Scale]
) -> dict[str, dict[str, Scale]]:
    """Return judge -> aspect -> people's scale, where all of its scores are values of that."""
    return {
        judge: fitting
        for judge, scores in columns.judges.items()
        if (
            fitting := {
                aspect: scale
                for aspect, scale in scales.items()
                if (column := scores.get(aspect, scores.get(EVERY)))
                and all(_fits(value, scale) for value in _values(table, column))
            }
        )
    }


def _fits(value: float | None, scale: Scale) -> bool:
    """Return whether a score is missing or a value of a scale with steps."""
    if value is None or "step" not in scale:
        return value is None
    steps = (value - scale["min"]) / scale["step"]
    return scale["min"] <= value <= scale["max"] and steps.is_integer()


def read(file: Path) -> Table:
    """Return a file's rows; UserError for one that is too large or has fewer than two."""
    if file.is_file() and (size := file.stat().st_size) > MOST_BYTES:
        raise _too_much(file, f"{size:,} bytes", f"up to {MOST_BYTES:,} bytes")
    table = flags.load_table(file, Cards([HOME / "config"]))
    if len(table.rows) > MOST_ROWS:
        raise _too_much(file, f"{len(table.rows):,} rows", f"up to {MOST_ROWS:,} rows")
    if len(table.rows) < 2:
        raise UserError("one row shows no agreement", where=str(file), got="1 row")
    return table


def _too_much(file: Path, got: str, allowed: str) -> UserError:
    todo = "take a sample of its rows, or make a study of it: judgescope init"
    what = "this file is too large for an audit"
    return UserError(what, where=str(file), got=got, allowed=allowed, todo=todo)


def _named(args: argparse.Namespace, table: Table) -> dict[str, list[str]]:
    """Return role -> the columns that flags name."""
    named: dict[str, list[str]] = {}
    for role in ROLES:
        value = getattr(args, role)
        for name in [value] if isinstance(value, str) else value or []:
            check_column(name, table.columns, f"--{role}")
            check_free(name, named, f"--{role}")
            named.setdefault(role, []).append(name)
    return named


def _columns(
    args: argparse.Namespace, table: Table, named: Mapping[str, list[str]], folded: Guess | None
) -> Guess:
    """Return what flags say of the columns, what a long table says, and guesses for the rest."""
    ratings: dict[str, list[str]] = {}
    for aspect, columns in _parts(args.human, table, "--human"):
        ratings.setdefault(ALL if aspect == EVERY else aspect, []).extend(columns)
    people = [column for group in ratings.values() for column in group]
    judged = [(one, name) for one, group in _parts(args.judge, table, "--judge") for name in group]
    mine = [column for _, column in judged]
    for column in mine:
        check_free(column, {**named, "--human": people}, "--judge")
    found = folded or guess(table.rows, {**named, "ratings": [*mine, *people]})
    ratings = ratings or _without(found.ratings, mine)
    judges: dict[str, dict[str, str]] = {}
    for aspect, column in judged:
        scores = {slug(column): {aspect: column}}
        for name, one in (judges_of([column], ratings) if aspect == EVERY else scores).items():
            judges.setdefault(name, {}).update(one)
    if not judged:
        for name, one in found.judges.items():
            if kept := {aspect: column for aspect, column in one.items() if column not in people}:
                judges[name] = kept
    if not judges:
        ratings, judges = _by_people(ratings)
    return replace(found, ratings=ratings, judges=judges, means=False)


def _without(ratings: Mapping[str, list[str]], taken: Sequence[str]) -> dict[str, list[str]]:
    """Return aspect -> columns without those that are taken, and without empty aspects."""
    left = {aspect: [c for c in group if c not in taken] for aspect, group in ratings.items()}
    return {aspect: group for aspect, group in left.items() if group}


def _parts(texts: Sequence[str], table: Table, flag: str) -> Iterator[tuple[str, list[str]]]:
    """Yield aspect, or *, and columns of `[ASPECT=]COLUMN,…`; each column holds numbers."""
    for text in texts:
        aspect, columns = EVERY, [text]
        if text not in table.columns and "=" in text:
            aspect, columns = flags.rating_of(text, table.columns)
        elif text not in table.columns:
            _, columns = flags.rating_of(f"{ALL}={text}", table.columns)
        for column in columns:
            check_column(column, table.columns, flag)
            flags.check_numbers(column, table)
        yield aspect, columns


def _by_people(
    ratings: Mapping[str, list[str]],
) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Return people's columns and the others, as a judge's, where some names are of people."""
    people = {
        aspect: kept
        for aspect, group in ratings.items()
        if (kept := [column for column in group if PEOPLE.intersection(words_of(column))])
    }
    others = [
        c for group in ratings.values() for c in group if not any(c in g for g in people.values())
    ]
    if not people or not others:
        return dict(ratings), {}
    return people, judges_of(others, people)


# --- what makes an audit impossible ----------------------------------------------------------


def _check(table: Table, columns: Guess) -> None:
    """Raise UserErrors for a table that nothing can be said of."""
    errors, where = [], str(table.file)
    used = columns.used
    skipped = table.nearly_ratings(used)
    more = f"; skipped: {', '.join(skipped)}" if skipped else ""
    if not columns.judges:
        what = f"cannot tell which column has a judge's scores{more}"
        todo = "name it: --judge COLUMN"
        errors.append(UserError(what, where=where, allowed=table.columns, todo=todo))
    if not columns.ratings:
        what = f"cannot tell which column has people's ratings{more}"
        todo = "name it: --human COLUMN"
        errors.append(UserError(what, where=where, allowed=table.columns, todo=todo))
    if not errors:
        errors = [*_constant(table, columns), *_apart(table, columns)]
    if errors:
        raise UserErrors(errors)


def _constant(table: Table, columns: Guess) -> Iterator[UserError]:
    """Yield an error for each judge and each aspect with one value in all rows."""
    groups = [(f"people's ratings, {name}", group) for name, group in columns.ratings.items()]
    for judge, scores in columns.judges.items():
        groups += [(f"the scores of {judge}", [column]) for column in scores.values()]
    for whose, group in groups:
        values = {
            value for column in group for value in _values(table, column) if value is not None
        }
        if len(values) == 1:
            yield UserError(
                f"{whose}: all values are the same, so nothing can agree with them",
                where=f"{table.file}, column {', '.join(group)}",
                got=f"{values.pop()} in every row",
                todo="name other columns, or rate texts of different quality",
            )


def _apart(table: Table, columns: Guess) -> Iterator[UserError]:
    """Yield an error for a judge without a row in which people rated the aspect, too."""
    rated = {
        aspect: [any(cell is not None for cell in row) for row in zip(*cells, strict=True)]
        for aspect, group in columns.ratings.items()
        for cells in [[_values(table, column) for column in group]]
    }
    for judge, scores in columns.judges.items():
        both = [
            score is not None and there
            for aspect, column in scores.items()
            for name, rows in rated.items()
            if aspect in (EVERY, name)
            for score, there in zip(_values(table, column), rows, strict=True)
        ]
        if not any(both):
            yield UserError(
                "no row has a score of this judge and a rating by people",
                where=str(table.file),
                got=f"{judge}: {', '.join(scores.values())}",
                allowed=[column for group in columns.ratings.values() for column in group],
                todo="put both into the rows of the same texts, or name other columns with --judge "
                "and --human",
            )


def _values(table: Table, column: str) -> list[float | None]:
    """Return a column's numbers, the first of a list; None where there is none."""
    lists = (entries(row.get(column)) for row in table.rows)
    return [number(cells[0]) if cells else None for cells in lists]


def _with_items(table: Table, columns: Guess) -> tuple[Table, Guess]:
    """Return the table with an id for each row, where neither items nor sources are named."""
    if columns.item or columns.source:
        return table, columns
    width, name = len(str(len(table.rows))), ROW
    while name in table.columns:
        name += "_"
    rows = [{**row, name: f"{at:0{width}}"} for at, row in enumerate(table.rows, start=1)]
    return replace(table, rows=rows), replace(columns, item=name)
