"""How `judgescope audit` interprets the columns of a table, and why it rejects a
table.
"""

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from judgescope.cli.audit.formats import of_folder, results_of
from judgescope.cli.init import flags
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.flags import EVERY
from judgescope.cli.init.guess import ALL, PEOPLE, Guess, judges_of, number, words_of
from judgescope.cli.init.tables import Scale, Table, choices_of_nothing, load_table
from judgescope.cli.init.unread import unread
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import slug
from judgescope.core.paths import HOME
from judgescope.data.rows import entries, read_json
from judgescope.parsing import judgment
from judgescope.report.words import plural
from judgescope.schema.loading import Cards

MOST_BYTES: Final = 200_000_000
MOST_ROWS: Final = 50_000
ROW: Final = "row"
"""The column of ids that is added to a table without items."""


def draft_of(args: argparse.Namespace, require: Mapping[str, float]) -> StudyDraft:
    """Return the study made from a table; raise UserError if none can be made."""
    table, named = flags.understood(args, read(args.file))
    table = replace(table, copied=True)
    ratings = (
        flags.read_ratings(args.human, table, "--human", ALL) if args.human else {}
    )
    columns = flags.assigned(table, named, ratings, ("--judge", args.judge), more=False)
    columns = replace(columns, means=False)
    columns = columns if columns.judges else _by_people(columns)
    columns = _checked(table, columns)
    if require and not args.judge:
        _check_judges_read(table, columns)
    table, columns = _with_items(*table.readable(columns))
    stated = {**table.stated, **flags.named_scales(args.scale, columns)}
    scales = table.scales(columns, stated)
    return StudyDraft(
        study=slug(table.file.stem),
        table=table,
        columns=columns,
        scales=scales,
        definitions={
            name: f"What people rated in the column {', '.join(group)}."
            for name, group in columns.ratings.items()
            if name not in table.aspects
        },
        measured=False,
        judge_scales={} if columns.compared else _judge_scales(table, columns, scales),
        require=require,
    )


def _judge_scales(
    table: Table, columns: Guess, scales: Mapping[str, Scale]
) -> dict[str, dict[str, Scale]]:
    """Return judge -> aspect -> people's scale, if all the judge's scores are on it."""
    return {
        judge: {
            aspect: scale
            for aspect, scale in scales.items()
            if "labels" not in scale
            if (column := scores.get(aspect, scores.get(EVERY)))
            and all(_fits(value, scale) for value in _values(table, column))
        }
        for judge, scores in columns.judges.items()
    }


def _fits(value: float | None, scale: Scale) -> bool:
    """Return whether a score is missing or a value of a scale with steps."""
    if value is None or "step" not in scale:
        return value is None
    steps = judgment.Scale(scale["min"], scale["max"], scale["step"])
    return steps.contains(value) and steps.on_grid(value)


def read(file: Path) -> Table:
    """Return a file's rows, and its columns' roles if another tool has written it.

    Raises UserError for a file that is too large, or has fewer than two rows.
    """
    files = (
        list(file.glob("*.json")) if file.is_dir() else [file] if file.is_file() else []
    )
    if (size := sum(path.stat().st_size for path in files)) > MOST_BYTES:
        raise _too_much(file, f"{size:,} bytes", f"up to {MOST_BYTES:,} bytes")
    table = of_folder(file) if file.is_dir() else None
    if file.suffix.lower() == ".json" and file.is_file():
        content = read_json(file)
        table = results_of(content, file)
        if table is None and not isinstance(content, list):
            raise UserError(
                "this JSON file is neither a list of rows nor results of a supported "
                "tool",
                where=str(file),
                got=", ".join(map(str, content))[:80]
                if isinstance(content, dict)
                else content,
                allowed="Inspect, promptfoo, DeepEval, lm-evaluation-harness, "
                "AlpacaEval, JUDGE-BENCH",
                todo="put scores and ratings into a CSV or JSONL table",
            )
    cards = Cards([HOME / "config"])
    if table is None:
        rows = load_table(file, cards)
        table = results_of(list(rows.rows), file) or rows
    table = replace(table, file=file, aspects=cards.names("aspect"))
    if len(table.rows) > MOST_ROWS:
        raise _too_much(file, f"{len(table.rows):,} rows", f"up to {MOST_ROWS:,} rows")
    if len(table.rows) < 2:
        todo = "provide at least two rated texts; intervals need ten"
        raise UserError(
            "agreement needs at least two rows",
            where=str(file),
            got=plural(len(table.rows), "row"),
            todo=todo,
        )
    return table


def _too_much(file: Path, got: str, allowed: str) -> UserError:
    todo = "take a sample of its rows, or create a study from it: judgescope init"
    what = "this file is too large for an audit"
    return UserError(what, where=str(file), got=got, allowed=allowed, todo=todo)


def _by_people(columns: Guess) -> Guess:
    """Return columns named after people as ratings, and the other columns as a judge's
    scores.
    """
    people = [name for name in columns.rated if PEOPLE.intersection(words_of(name))]
    others = [name for name in columns.rated if name not in people]
    if not people or not others:
        return columns
    ratings = columns.without(others).ratings
    return replace(columns, ratings=ratings, judges=judges_of(others, ratings))


# --- what makes an audit impossible ---------------------------------------------------


def _checked(table: Table, columns: Guess) -> Guess:
    """Return the columns without judges that score no text that people rated.

    Raises UserErrors for a table that cannot be audited.
    """
    fault, errors = partial(UserError, where=str(table.file)), []
    complete = columns.judges and columns.ratings
    if choices := () if complete else choices_of_nothing(table.rows, table.columns):
        raise fault(
            "this table has choices, but not the two texts or systems of each choice",
            got=", ".join(choices),
            todo="add the columns of the two texts (answer_a, answer_b), or of the "
            "systems that wrote them (model_a, model_b)",
        )
    skipped = unread(table, columns)
    more = f"; skipped: {', '.join(map(str, skipped))}" if skipped else ""
    for given, whose, flag in (
        (columns.judges, "a judge's scores", "--judge"),
        (columns.ratings, "people's ratings", "--human"),
    ):
        if not given:
            what, todo = (
                f"cannot tell which column has {whose}{more}",
                f"name it: {flag} COLUMN",
            )
            errors.append(fault(what, allowed=table.columns, todo=todo))
    if errors:
        raise UserErrors(errors)
    what = "the name of a judge's column contains a brace, which has a meaning in cards"
    todo = "give the column another name"
    errors += [
        fault(what, got=name, todo=todo) for name in columns.scored if "{" in name
    ]
    for whose, names in (
        ("judges' scores", columns.scored),
        ("people's ratings", columns.rated),
    ):
        if all(len({*table.values([name])}) == 1 for name in names):
            values = ", ".join(f"{value:g}" for value in sorted({*table.values(names)}))
            errors.append(
                UserError(
                    f"{whose}: all values are the same, so agreement cannot be "
                    "measured",
                    where=f"{table.file}, column {', '.join(names)}",
                    got=f"{values} in every row",
                    todo="name other columns, or rate texts of different quality",
                )
            )
    met = _met(table, columns)
    if not met and not errors:
        todo = (
            "put the judge's score and people's rating of a text into one row, or name "
            "other columns with --judge and --human"
        )
        what, got = (
            "no row has both a judge's score and people's rating",
            ", ".join(columns.scored),
        )
        errors.append(fault(what, got=got, allowed=columns.rated, todo=todo))
    if errors:
        raise UserErrors(errors)
    return replace(columns, judges={judge: columns.judges[judge] for judge in met})


def _check_judges_read(table: Table, columns: Guess) -> None:
    """Raise UserErrors if a judge's column is not used: it would not be held to a
    bar.
    """
    others = " ".join(f"--judge {shlex.quote(name)}" for name in columns.scored)
    errors = [
        UserError(
            "a bar is required, but a column that looks like a judge's cannot be used: "
            f"{'a cell ' if one.row else ''}{one.why}",
            where=f"{table.file}, {f'row {one.row}, ' if one.row else ''}column "
            f"{one.column}",
            got=one.cell,
            todo=f"{one.todo}; or name the judges that must meet the bar: {others}",
        )
        for one in unread(table, columns)
        if one.judge
    ]
    if errors:
        raise UserErrors(errors)


def _met(table: Table, columns: Guess) -> list[str]:
    """Return the judges with a score in a row that also has people's rating of the
    aspect.
    """
    rated = {}
    for aspect, group in columns.ratings.items():
        cells = zip(*(_values(table, column) for column in group), strict=True)
        rated[aspect] = [any(cell is not None for cell in row) for row in cells]
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
    """Return a column's numbers, the first one of each list; None for a missing
    number.
    """
    lists = (entries(row.get(column)) for row in table.rows)
    return [number(cells[0]) if cells else None for cells in lists]


def _with_items(table: Table, columns: Guess) -> tuple[Table, Guess]:
    """Return the table with a column of item ids, if scores cannot be joined without
    one.

    Each source is an item; in a table without sources, each row is.
    """
    if columns.item or (columns.source and (columns.texts or columns.text)):
        return table, columns
    name = ROW
    while name in table.columns:
        name += "_"
    known: dict[object, int] = {}
    rows, width = [], len(str(len(table.rows)))
    for at, row in enumerate(table.rows):
        source = (
            str([row.get(column) for column in columns.source])
            if columns.source
            else at
        )
        rows.append(
            {**row, name: f"{known.setdefault(source, len(known) + 1):0{width}}"}
        )
    return replace(table, rows=rows), replace(columns, item=name)
