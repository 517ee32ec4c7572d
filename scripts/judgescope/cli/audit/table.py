"""What `judgescope audit` takes the columns of a table for, and why it refuses a table."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from judgescope.cli.audit.formats import Results, of_folder, results_of
from judgescope.cli.audit.long import unfolded
from judgescope.cli.init import flags, missing_in
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.flags import EVERY, Scale, Table, check_free
from judgescope.cli.init.guess import (
    ALL,
    PEOPLE,
    Guess,
    entries,
    judges_of,
    number,
    numbers,
    words_of,
)
from judgescope.cli.init.labels import judge_keys
from judgescope.cli.init.pairs import FIRST, SECOND, TIE
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.core.slugs import slug
from judgescope.data.rows import read_json
from judgescope.report.words import plural
from judgescope.schema.loading import Cards

MOST_BYTES: Final = 200_000_000
MOST_ROWS: Final = 50_000
ROW: Final = "row"
"""The column that numbers the rows of a table without items."""
SYSTEM: Final = "system of text"
"""The columns of systems, where the table of pairs has none."""
CODES: Final = {FIRST: ["1"], SECOND: ["2"], TIE: ["0"]}
"""Choices in the study's copy of a table of pairs."""


def draft_of(args: argparse.Namespace, require: Mapping[str, float]) -> tuple[StudyDraft, Table]:
    """Return the study that a table makes, and its rows; UserError for one that makes none."""
    table, results = read(args.file)
    if results is None:
        table = flags.coded(table, flags.named_columns(args, table))
    named = flags.named_columns(args, table)
    known = results.columns if results else None
    if results is None:
        table, known = unfolded(table, named)
    columns = _columns(args, table, named, known)
    table, columns = _with_items(table, _checked(table, columns))
    if columns.texts:
        table, columns = _with_systems(table, replace(columns, choice_words=CODES))
    stated = flags.named_scales(args.scale, columns)
    if results is not None:
        stated = {**results.scales, **stated}
    scales = flags.scales_of(columns, table, stated, copied=True)
    labels = flags.label_pairs(columns, table, stated)
    numeric = {name: scale for name, scale in scales.items() if name not in labels}
    fitting = {} if columns.texts else _judge_scales(table, columns, numeric)
    draft = StudyDraft(
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
        judge_keys={
            judge: {
                **({"scale": fitting[judge]} if judge in fitting else {}),
                **judge_keys(table.rows, scores, labels, {}, {}),
            }
            for judge, scores in columns.judges.items()
        },
        require=require,
    )
    return draft, table


def _with_systems(table: Table, columns: Guess) -> tuple[Table, Guess]:
    """Return the table with systems; without any, a text's is its number among its item's texts."""
    if columns.systems:
        return table, columns
    names = [f"{SYSTEM} {number}" for number in (FIRST, SECOND)]
    known: dict[str, dict[str, str]] = {}
    rows = []
    for row in table.rows:
        item = str([row.get(name) for name in (columns.item, *columns.source) if name])
        texts = known.setdefault(item, {})
        of_row = [
            texts.setdefault(str(row.get(column)), f"text {len(texts) + 1}")
            for column in columns.texts
        ]
        rows.append({**row, **dict(zip(names, of_row, strict=True))})
    wide = replace(table, rows=rows, columns=[*table.columns, *names])
    return wide, replace(columns, systems=names)


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


def read(file: Path) -> tuple[Table, Results | None]:
    """Return a file's rows, and what its columns hold where another tool has written it.

    Raises UserError for a file that is too large, or has fewer than two rows.
    """
    files = list(file.glob("*.json")) if file.is_dir() else [file] if file.is_file() else []
    if (size := sum(path.stat().st_size for path in files)) > MOST_BYTES:
        raise _too_much(file, f"{size:,} bytes", f"up to {MOST_BYTES:,} bytes")
    cards, results = Cards([HOME / "config"]), of_folder(file) if file.is_dir() else None
    if file.suffix.lower() == ".json" and file.is_file():
        content = read_json(file)
        results = results_of(content, file)
        if results is None and not isinstance(content, list):
            raise UserError(
                "this JSON file is neither a list of rows nor of a known tool",
                where=str(file),
                got=", ".join(map(str, content))[:80] if isinstance(content, dict) else content,
                allowed="Inspect, promptfoo, DeepEval, lm-evaluation-harness, AlpacaEval, "
                "JUDGE-BENCH",
                todo="bring scores and ratings into a CSV or JSONL table",
            )
    table = results.table(file, cards.names("aspect")) if results else flags.load_table(file, cards)
    if results is None and (results := results_of(list(table.rows), file)):
        table = results.table(file, table.aspects)
    if len(table.rows) > MOST_ROWS:
        raise _too_much(file, f"{len(table.rows):,} rows", f"up to {MOST_ROWS:,} rows")
    if len(table.rows) < 2:
        todo = "an audit needs at least two rated texts, and an interval ten"
        raise UserError(
            "agreement needs two rows or more",
            where=str(file),
            got=plural(len(table.rows), "row"),
            todo=todo,
        )
    return table, results


def _too_much(file: Path, got: str, allowed: str) -> UserError:
    todo = "take a sample of its rows, or make a study of it: judgescope init"
    what = "this file is too large for an audit"
    return UserError(what, where=str(file), got=got, allowed=allowed, todo=todo)


def _columns(
    args: argparse.Namespace, table: Table, named: Mapping[str, list[str]], folded: Guess | None
) -> Guess:
    """Return what flags say of the columns, what a long table says, and guesses for the rest."""
    ratings: dict[str, list[str]] = {}
    for aspect, column in flags.named_parts(args.human, table, "--human"):
        ratings.setdefault(ALL if aspect == EVERY else aspect, []).append(column)
    people = [column for group in ratings.values() for column in group]
    judged = flags.named_parts(args.judge, table, "--judge")
    mine = [column for _, column in judged]
    for column in mine:
        check_free(column, {**named, "--human": people}, "--judge")
    found = folded or flags.guessed(table, named, [*mine, *people])
    ratings = ratings or _without(found.ratings, mine)
    judges = flags.named_judges(judged, ratings, "--judge") or {
        name: kept
        for name, scores in found.judges.items()
        if (kept := {one: column for one, column in scores.items() if column not in people})
    }
    if not judges:
        ratings, judges = _by_people(ratings)
    return replace(found, ratings=ratings, judges=judges, means=False)


def _without(ratings: Mapping[str, list[str]], taken: Sequence[str]) -> dict[str, list[str]]:
    """Return aspect -> columns without those that are taken, and without empty aspects."""
    left = {aspect: [c for c in group if c not in taken] for aspect, group in ratings.items()}
    return {aspect: group for aspect, group in left.items() if group}


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


def _checked(table: Table, columns: Guess) -> Guess:
    """Return the columns without judges that people's ratings never meet.

    Raises UserErrors for a table that nothing can be said of.
    """
    errors, where = [], str(table.file)
    skipped = table.nearly_ratings(columns.used)
    more = f"; skipped: {', '.join(skipped)}" if skipped else ""
    for given, whose, flag in (
        (columns.judges, "a judge's scores", "--judge"),
        (columns.ratings, "people's ratings", "--human"),
    ):
        if not given:
            what = f"cannot tell which column has {whose}{more}"
            todo = f"name it: {flag} COLUMN"
            errors.append(UserError(what, where=where, allowed=table.columns, todo=todo))
    if errors:
        raise UserErrors(errors)
    judged = [column for scores in columns.judges.values() for column in scores.values()]
    rated = [column for group in columns.ratings.values() for column in group]
    for name in judged:
        if "{" in name:
            what = "a judge's column has braces in its name, which cards fill in"
            todo = "give the column another name"
            errors.append(UserError(what, where=where, got=name, todo=todo))
    for whose, names in (("judges' scores", judged), ("people's ratings", rated)):
        if all(len({*(numbers(table.rows, name) or ())}) == 1 for name in names):
            errors.append(_constant(table, whose, names))
    met = _met(table, columns)
    if not met and not errors:
        errors.append(
            UserError(
                "no row has a score of a judge and a rating by people",
                where=where,
                got=", ".join(judged),
                allowed=rated,
                todo="put both into the rows of the same texts, or name other columns with --judge "
                "and --human",
            )
        )
    if errors:
        raise UserErrors(errors)
    return replace(columns, judges={judge: columns.judges[judge] for judge in met})


def _constant(table: Table, whose: str, names: Sequence[str]) -> UserError:
    values = {value for name in names for value in numbers(table.rows, name) or ()}
    return UserError(
        f"{whose}: all values are the same, so nothing can agree with them",
        where=f"{table.file}, column {', '.join(names)}",
        got=f"{', '.join(f'{value:g}' for value in sorted(values))} in every row",
        todo="name other columns, or rate texts of different quality",
    )


def _met(table: Table, columns: Guess) -> list[str]:
    """Return the judges with a score in a row in which people rated the aspect, too."""
    rated = {
        aspect: [any(cell is not None for cell in row) for row in zip(*cells, strict=True)]
        for aspect, group in columns.ratings.items()
        for cells in [[_values(table, column) for column in group]]
    }
    return [
        judge
        for judge, scores in columns.judges.items()
        if any(
            score is not None and there
            for aspect, column in scores.items()
            for name, rows in rated.items()
            if aspect in (EVERY, name)
            for score, there in zip(_values(table, column), rows, strict=True)
        )
    ]


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
