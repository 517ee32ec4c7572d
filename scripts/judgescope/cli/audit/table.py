"""How `judgescope audit` interprets the columns of a table, and why it rejects a
table.
"""

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import and_
from pathlib import Path
from typing import Any, Final

from judgescope.cli.init import flags
from judgescope.cli.init.cards import StudyDraft, with_readable_ids
from judgescope.cli.init.column_values import number, numbers
from judgescope.cli.init.exports import opened
from judgescope.cli.init.flags import EVERY
from judgescope.cli.init.open_readings import (
    OpenReading,
    UnclearColumns,
    check_numbers_clear,
    check_raters,
    letters_of_sides,
    readings_of_sides,
)
from judgescope.cli.init.pair_columns import choice_columns, says_who_chose
from judgescope.cli.init.rating_columns import ALL, judges_of, words_of
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.shapes import with_answers, with_items, without_sentinels
from judgescope.cli.init.tables import InitTable, LabelScale, TableSource, too_large
from judgescope.cli.init.unread import has_replies, unread
from judgescope.cli.init.vocabulary import WORDS
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import slug
from judgescope.core.paths import HOME
from judgescope.data.column_rows import cells_by_row, cells_of
from judgescope.data.rows import entries
from judgescope.parsing import judgment
from judgescope.parsing.judgment import PARSERS
from judgescope.report.words import plural
from judgescope.schema.cards.base import plain_word
from judgescope.schema.loading import Cards
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of

MOST_BYTES: Final = 200_000_000
MOST_ROWS: Final = 840_000
MOST_VALUES: Final = 7_600_000
"""Ratings and scores. 833,333 rows of twelve cells, with two raters and seven judges,
take 475 CPU s and 1.93 GB; 100,000 take 61 CPU s and .52 GB."""
MOST_BY_ROWS: Final = 160_000
"""Rows of a table that is not plain (`data.plain_table`), or with a bar."""
MOST_SOURCES: Final = 210_000
"""Items, or sources of a table without items: each takes a place in every interval."""


def draft_of(args: argparse.Namespace, require: Mapping[str, float]) -> StudyDraft:
    """Return the study made from a table; raise UserError if none can be made."""
    table, named = flags.understood(args, read(args.file, TableSource.of(args)))
    table = replace(table, copied=True)
    ratings = {}
    if args.human:
        ratings = flags.read_ratings(args.human, table, "--human", ALL)
    columns = flags.assigned(table, named, ratings, ("--judge", args.judge), more=False)
    columns = flags.with_names(columns, args.human)
    columns = replace(columns, means=False, flagged=flags.flagged(args))
    columns = columns if columns.judges else _by_people(columns)
    check_raters(table, columns)
    check_numbers_clear(table, columns)
    table, columns = _with_replies(table, columns)
    if not args.scale:
        table = without_sentinels(table, columns)
    columns = _checked(table, columns, texts=not args.no_texts)
    values = len(table.rows) * len([*columns.rated, *columns.scored])
    if values > MOST_VALUES:
        got = f"{values:,} ratings and scores"
        raise too_large(args.file, got, f"up to {MOST_VALUES:,} of them")
    _check_sources(args.file, table, columns)
    if require:
        check_read_by_rows(table, "for bars controls are computed")
    if require and not args.judge:
        _check_judges_read(table, columns)
    table, columns = with_answers(table, columns)
    table, columns = with_items(*table.readable(columns))
    of_flags = flags.named_scales(args.scale, columns)
    scales = table.scales(columns, {**table.stated, **of_flags})
    if not columns.compared:
        _check_on_scale(table, columns, of_flags)
    definitions = dict[str, str]()
    for name in flags.undefined(columns, (), table):
        definitions[name] = flags.as_people_rated(columns.ratings[name])
    draft = StudyDraft(
        study=slug(table.file.stem),
        table=table,
        columns=columns,
        scales=scales,
        definitions=definitions,
        measured=False,
        # A study has a judge; a control has no verdict on this page.
        judges=() if columns.judges else ("random",),
        judge_scales={} if columns.compared else _judge_scales(table, columns, scales),
        require=require,
    )
    return with_readable_ids(draft)


def _check_sources(file: Path, table: InitTable, columns: Guess) -> None:
    """Raise UserError for a table with too many items, or sources without items."""
    if len(table.rows) <= MOST_SOURCES:
        return
    names = columns.columns_of("item") or columns.source
    n_sources = len({str(cells) for cells in cells_by_row(table.rows, names)})
    if not names:
        n_sources = len(table.rows)
    if n_sources > MOST_SOURCES:
        got = f"{n_sources:,} sources"
        raise too_large(file, got, f"up to {MOST_SOURCES:,} of them")


def check_read_by_rows(table: InitTable, why: str) -> None:
    """Raise UserError for a table that is too large for a study's jobs, which hold
    many objects for each row.
    """
    if len(table.rows) > MOST_BY_ROWS:
        got = f"{len(table.rows):,} rows ({why})"
        raise too_large(table.file, got, f"up to {MOST_BY_ROWS:,} rows of this kind")


def _check_on_scale(
    table: InitTable, columns: Guess, stated: Mapping[str, LabelScale]
) -> None:
    """Raise UserErrors for ratings that are not on the scale which a flag states."""
    errors = []
    for aspect, scale in stated.items():
        for column in columns.ratings.get(aspect, ()):
            outside = []
            for number_of_row, row in table.filled(column):
                values = [number(cell) for cell in entries(row[column])]
                if "min" in scale and not all(_is_on(each, scale) for each in values):
                    outside.append((number_of_row, row[column]))
            if outside:
                errors.append(_off_scale(table, column, scale, outside))
    if errors:
        raise UserErrors(errors)


def _off_scale(
    table: InitTable,
    column: str,
    scale: LabelScale,
    outside: Sequence[tuple[int, Any]],
    most_rows: int = 5,
) -> UserError:
    """Return the error for ratings off a scale, each with the number of its row."""
    rows = [str(number_of_row) for number_of_row, _ in outside]
    shown = f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(rows)}"
    if len(rows) > most_rows:
        first = ", ".join(rows[:most_rows])
        shown = f"rows {first}, … ({len(rows)} in all)"
    cell = outside[0][1]
    return UserError(
        "a rating is outside the scale",
        where=f"{table.file}, {shown}, column {column}",
        got=cell,
        allowed=_scale_in_words(scale),
        todo="state a scale that has all ratings: --scale LOWEST:HIGHEST:STEP; or, if "
        f"the cells stand for no rating: --missing {cell}",
    )


def _scale_in_words(scale: LabelScale) -> str:
    limits = f"{scale['min']:g} to {scale['max']:g}"
    return f"{limits} in steps of {scale['step']:g}" if "step" in scale else limits


def _is_on(value: float | None, scale: LabelScale) -> bool:
    """Return whether a rating is missing, or a value of a scale."""
    if value is None:
        return True
    limits = judgment.Scale(scale["min"], scale["max"], scale.get("step"))
    return limits.contains(value) and ("step" not in scale or limits.on_grid(value))


def _with_replies(table: InitTable, columns: Guess) -> tuple[InitTable, Guess]:
    """Return the table with the scores in a judge's replies, if no judge has scores.

    The replies are read by the parser `score`, on the scale of people's ratings. A note
    counts those that it reads; the others are missing.
    """
    if columns.judges or columns.compared or not columns.ratings:
        return table, columns
    with_replies = [
        name
        for name in table.columns
        if name not in columns.used and has_replies(table, name)
    ]
    scales = list(table.scales(columns, {}).values())
    if not with_replies or any(scale != scales[0] for scale in scales):
        return table, columns
    # Few tables have replies, and the grammar of verdicts takes long to import.
    from judgescope.parsing.parsers import parsed_by

    read = parsed_by(PARSERS["score"], scale=_scale_of_replies(scales[0]))
    rows = [dict(row) for row in table.rows]
    notes = list(table.notes)
    labels = dict(table.labels)
    for name in with_replies:
        values = []
        for row in rows:
            cell = row.get(name)
            judged = read("" if is_missing(cell) else str(cell), "stop", "ok")
            row[name] = judged.value if judged.status == "ok" else None
            values.append(row[name])
        count = sum(value is not None for value in values)
        if not count:
            raise _no_score_in(table, name, scales[0])
        others = "; the others are missing" if count < len(values) else ""
        notes.append(
            f"column {name}: {count} of {len(values)} replies were read as scores"
            f"{others}"
        )
        of_people = table.labels.get(columns.rated[0])
        if of_people:
            labels[name] = of_people
    table = replace(table, rows=list(rows), notes=notes, labels=labels, copied=True)
    return table, replace(columns, judges=judges_of(with_replies, columns.ratings))


def _no_score_in(table: InitTable, column: str, scale: LabelScale) -> UserError:
    """Return the error for replies of which none states one score."""
    [number_of_row, row] = table.filled(column)[0]
    on = flags.scale_text(scale)
    if "labels" not in scale:
        on = _scale_in_words(scale)
    return UserError(
        f"no reply in this column states one score ({on})",
        where=f"{table.file}, row {number_of_row}, column {column}",
        got=row[column],
        allowed="one score in each reply, such as `Rating: 3` or `[[3]]`",
        todo="add a column with the judge's scores; or let a study read the replies by "
        f"another parser: judgescope init {table.file} --recorded {table.file} "
        f"--reply {shlex.quote(column)}",
    )


def _scale_of_replies(scale: Mapping[str, Any]) -> judgment.Scale:
    """The scale on which replies are read: numbers, or the words of labels."""
    labels = tuple(scale.get("labels", ()))
    if not labels:
        return judgment.Scale(scale["min"], scale["max"], scale.get("step"))
    words = tuple((plain_word(label), at) for at, label in enumerate(labels))
    return judgment.Scale(0, len(labels) - 1, 1, labels=labels, words=words)


def _judge_scales(
    table: InitTable, columns: Guess, scales: Mapping[str, LabelScale]
) -> dict[str, dict[str, LabelScale]]:
    """Return judge -> aspect -> people's scale, if all the judge's scores are on it."""
    judge_scales = dict[str, dict[str, LabelScale]]()
    for judge, scores in columns.judges.items():
        judge_scales[judge] = {}
        for aspect, scale in scales.items():
            column = scores.get(aspect, scores.get(EVERY))
            if "labels" in scale or not column:
                continue
            if all(_fits(value, scale) for value in {*_values(table, column)}):
                judge_scales[judge][aspect] = scale
    return judge_scales


def _fits(value: float | None, scale: LabelScale) -> bool:
    """Return whether a score is missing or a value of a scale with steps."""
    if value is None or "step" not in scale:
        return value is None
    steps = judgment.Scale(scale["min"], scale["max"], scale["step"])
    return steps.contains(value) and steps.on_grid(value)


def read(file: Path, source: TableSource | None = None) -> InitTable:
    """Return a file's rows, and its columns' roles if a tool has exported it.

    Raises UserError for a file that is too large, or has fewer than two rows.
    """
    source = source or TableSource()
    if source.on is not None and not source.more:
        raise UserError(
            "--on joins a further file, and there is none",
            where="--on",
            got=source.on,
            todo=f"name it behind the first: judgescope audit {file} FILE --on COLUMN",
        )
    _check_several([file, *source.more])
    size = sum(map(_bytes_of, [file, *source.more]))
    if size > MOST_BYTES:
        raise too_large(file, f"{size:,} bytes", f"up to {MOST_BYTES:,} bytes")
    source = replace(source, most_rows=MOST_ROWS)
    table = opened(file, Cards([HOME / "config"]), source)
    if len(table.rows) > MOST_ROWS:
        raise too_large(file, f"{len(table.rows):,} rows", f"up to {MOST_ROWS:,} rows")
    if len(table.rows) < 2:
        todo = "provide at least two rated texts; intervals need ten"
        raise UserError(
            "agreement needs at least two rows",
            where=str(file),
            got=plural(len(table.rows), "row"),
            todo=todo,
        )
    return table


def _check_several(files: Sequence[Path]) -> None:
    """Raise UserError for logs of a tool, to which a shell expands `logs/*.json`."""
    folders = [file for file in files if file.is_dir()]
    most_tables = 2
    logs = len(files) > most_tables and all(file.suffix == ".json" for file in files)
    if len(files) == 1 or not (logs or folders):
        return
    shown = ", ".join(map(str, files[:3]))
    more = ", …" if len(files) > 3 else ""
    folder = folders[0] if folders else files[0].parent
    raise UserError(
        "only tables can be joined, and these are logs of a tool",
        where=str(files[0]),
        got=f"{len(files)} files: {shown}{more}",
        todo=f"to read logs together, name their folder: judgescope audit {folder}",
    )


def _bytes_of(file: Path) -> int:
    """Return the size of a file, or of the files of a folder; 0 for neither."""
    if file.is_dir():
        return sum(path.stat().st_size for path in file.iterdir() if path.is_file())
    return file.stat().st_size if file.is_file() else 0


def _by_people(columns: Guess) -> Guess:
    """Return columns named after people as ratings, and the other columns as a judge's
    scores.
    """
    people = list[str]()
    others = list[str]()
    for name in columns.rated:
        is_person = WORDS.people.intersection(words_of(name))
        (people if is_person else others).append(name)
    if not people or not others:
        return columns
    ratings = columns.without(others).ratings
    return replace(columns, ratings=ratings, judges=judges_of(others, ratings))


# --- what makes an audit impossible ---------------------------------------------------


def _checked(table: InitTable, columns: Guess, *, texts: bool) -> Guess:
    """Return the columns without judges that score no text that people rated.

    Raises UserErrors for a table that cannot be audited.
    """
    error = partial(UserError, where=str(table.file))
    if not columns.judges and _is_of_people_only(table, columns):
        return columns
    if not columns.judges or not columns.ratings:
        choices = choice_columns(table.rows, table.columns)
        if table.pairs and (table.pairs.texts or table.pairs.systems):
            raise _without_choices(table, columns)
        if choices:
            raise error(
                "this table has choices, but not the two texts or systems of each "
                "choice",
                got=", ".join(choices),
                todo="add the columns of the two texts (answer_a, answer_b), or of the "
                "systems that wrote them (model_a, model_b)",
            )
        options = readings_of_sides(table, columns)
        errors = _missing_roles(table, columns, texts=texts)
        if options:
            raise _unclear(errors[0], options)
        raise UserErrors(errors)
    what = "the name of a judge's column contains a brace, which has a meaning in cards"
    todo = "give the column another name"
    errors = [
        error(what, got=name, todo=todo) for name in columns.scored if "{" in name
    ]
    errors += _constant_columns(table, columns)
    judges = _judges_of_rated_texts(table, columns)
    if not judges and not errors:
        todo = (
            "put the judge's score and people's rating of a text into one row, or name "
            "other columns with --judge and --human"
        )
        what = "no row has both a judge's score and people's rating"
        got = ", ".join(columns.scored)
        errors.append(error(what, got=got, allowed=columns.rated, todo=todo))
    if errors:
        raise UserErrors(errors)
    return replace(columns, judges={judge: columns.judges[judge] for judge in judges})


def _without_choices(table: InitTable, columns: Guess) -> UserError:
    """Return the error for pairs without people's choices, or without a judge's."""
    whose = "people" if columns.judges else "a judge"
    graded = [name for name in table.columns if _grades_a_choice(table, name)]
    why = ""
    if graded:
        why = (
            f"; {', '.join(graded)} has numbers below and above 0, and it is not known "
            "which text a number above 0 prefers"
        )
    return UserError(
        f"no column has the choices of {whose} between the two texts{why}",
        where=str(table.file),
        got=", ".join([*columns.rated, *columns.scored]),
        allowed="a column of choices such as A, B and tie, or 1, 2 and 0",
        todo="add such a column, with a word for people or for a judge in its name: "
        "human_choice, judge_choice",
    )


def _grades_a_choice(table: InitTable, column: str) -> bool:
    """Return whether a column says how much better one of two texts is, -3 to 3."""
    values = numbers(table.rows, column)
    if values is None or not says_who_chose(column):
        return False
    whole = all(float(value).is_integer() for value in values)
    return whole and min(values) < 0 < max(values)


def _is_of_people_only(
    table: InitTable, columns: Guess, fewest_letters: int = 3
) -> bool:
    """Return whether a table has ratings of several people, and nothing of a judge.

    Headers must say so: by a word for people, or because they name one aspect of at
    least so many letters, such as `Engagement_mia` and `Engagement_jon`. Columns `c1`
    and `c2` may be anything.
    """
    if columns.compared or any(column.judge for column in unread(table, columns)):
        return False
    for aspect, group in columns.ratings.items():
        named = columns.flagged.issuperset(group) or all(
            classes_of(column).get("person") for column in group
        )
        of_aspect = aspect != ALL and len(aspect) >= fewest_letters
        if letters_of_sides(group):
            continue  # H_fluency and J_fluency may be a human's and a judge's
        if len(group) > 1 and (named or of_aspect):
            return True
    return False


def _missing_roles(
    table: InitTable, columns: Guess, *, texts: bool, most_shown: int = 5
) -> list[UserError]:
    """Return an error if no column has judges' scores, or people's ratings."""
    skipped = list[str]()
    for column in unread(table, columns):
        skipped.append(str(column) if texts else column.without_cell())
    for name, why in [*columns.unused.items()][:most_shown]:
        skipped.append(f"{name} ({why})")
    more = f"; skipped: {', '.join(skipped)}" if skipped else ""
    errors = list[UserError]()
    for given, whose, flag in (
        (columns.judges, "a judge's scores", "--judge"),
        (columns.ratings, "people's ratings", "--human"),
    ):
        if not given:
            error = UserError(
                f"cannot tell which column has {whose}{more}",
                where=str(table.file),
                allowed=table.columns,
                todo=f"name it: {flag} COLUMN",
            )
            errors.append(error)
    return errors


def _unclear(error: UserError, options: Sequence[OpenReading]) -> UnclearColumns:
    """Return an error with the readings between which a person chooses."""
    allowed = [error.allowed] if isinstance(error.allowed, str) else error.allowed
    return UnclearColumns.of(
        error.what, options, where=error.where, allowed=allowed or [], todo=error.todo
    )


def _constant_columns(table: InitTable, columns: Guess) -> Iterator[UserError]:
    """Yield an error if all of people's ratings are the same, or all judges' scores.

    A judge of labels or pairs that always says the same is a judge, if a poor one.
    """
    groups = {"people's ratings": columns.rated}
    if columns.compared:
        groups = {}  # the chosen text may be the first one in every row
    elif not table.labels:
        groups = {"judges' scores": columns.scored, **groups}
    for whose, names in groups.items():
        if all(len({*table.values([name])}) == 1 for name in names):
            values = [f"{value:g}" for value in sorted({*table.values(names)})]
            yield UserError(
                f"{whose}: all values are the same, so agreement cannot be measured",
                where=f"{table.file}, column {', '.join(names)}",
                got=f"{', '.join(values)} in every row",
                todo="name other columns, or rate texts of different quality",
            )


def _check_judges_read(table: InitTable, columns: Guess) -> None:
    """Raise UserErrors if a judge's column is not used: it would not be held to a
    bar.
    """
    others = " ".join(f"--judge {shlex.quote(name)}" for name in columns.scored)
    errors = list[UserError]()
    for column in unread(table, columns):
        if not column.judge:
            continue
        row = f"row {column.row}, " if column.row else ""
        why = f"a cell {column.why}" if column.row else column.why
        error = UserError(
            "a bar is required, but a column that looks like a judge's cannot be used: "
            + why,
            where=f"{table.file}, {row}column {column.column}",
            got=column.cell,
            todo=f"{column.todo}; or name the judges that must meet the bar: {others}",
        )
        errors.append(error)
    if errors:
        raise UserErrors(errors)


def _judges_of_rated_texts(table: InitTable, columns: Guess) -> list[str]:
    """Return the judges with a score in a row that also has people's rating of the
    aspect.
    """
    rated = {}
    for aspect, group in columns.ratings.items():
        is_rated = [False] * len(table.rows)
        for column in group:
            for number_of_row, value in enumerate(_values(table, column)):
                is_rated[number_of_row] |= value is not None
        rated[aspect] = is_rated

    def scores_rated_text(aspect: str, column: str) -> bool:
        scored = [value is not None for value in _values(table, column)]
        for name, is_rated in rated.items():
            if aspect in (EVERY, name) and any(map(and_, scored, is_rated)):
                return True
        return False

    judges = list[str]()
    for judge, scores in columns.judges.items():
        if any(scores_rated_text(*cell) for cell in scores.items()):
            judges.append(judge)
    return judges


def _values(table: InitTable, column: str) -> list[float | None]:
    """Return a column's numbers, the first one of each list; None for a missing
    number.
    """
    known: dict[str, float | None] = {}
    values = []
    for cell in cells_of(table.rows, column):
        if isinstance(cell, str) and cell in known:
            values.append(known[cell])
            continue
        in_cell = entries(cell)
        value = number(in_cell[0]) if in_cell else None
        if isinstance(cell, str):
            known[cell] = value
        values.append(value)
    return values
