"""The flags and answers of `judgescope init` about a table: columns, ratings,
scales.
"""

import argparse
import csv
import io
import math
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from judgescope.cli.init.card_paths import new_study
from judgescope.cli.init.cards import (
    RepliesFile,
    StudyDraft,
    with_readable_ids,
)
from judgescope.cli.init.column_checks import (
    check_column,
    check_free,
    check_lengths,
    check_numbers,
)
from judgescope.cli.init.column_values import number
from judgescope.cli.init.endpoint import endpoint_of
from judgescope.cli.init.functions import named_function
from judgescope.cli.init.guess import guess
from judgescope.cli.init.label_columns import coded, coded_export
from judgescope.cli.init.long_tables import unfolded
from judgescope.cli.init.rating_columns import judges_of
from judgescope.cli.init.roles import PAIRED, ROLES, Guess, rating_text
from judgescope.cli.init.shapes import (
    joined_draws,
    with_answers,
    with_items,
    without_sentinels,
)
from judgescope.cli.init.stated_labels import stated_labels, with_stated_labels
from judgescope.cli.init.tables import InitTable, LabelScale, load_table
from judgescope.cli.init.unread import unread
from judgescope.cli.init.written_names import names_in, names_in_headers
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.names import slug
from judgescope.schema.cards.columns import check_parts
from judgescope.schema.loading import Cards

REPLIES = ("reply", "judgment", "judgement", "completion", "response", "raw", "output")
"""Names of a column of judges' replies, the clearest first."""
EVERY = "*"
"""Stands for all aspects."""
UNRATED = "no column rates this aspect"


# --- columns --------------------------------------------------------------------------


def understood(
    args: argparse.Namespace, table: InitTable
) -> tuple[InitTable, dict[str, list[str]]]:
    """Return the table with choices and labels as numbers and one row per text, and its
    roles.

    The roles (role -> columns) are those that flags name, and those of a table of
    pairs.
    """
    named: dict[str, list[str]] = {}
    for role in (*ROLES, *PAIRED):
        value = getattr(args, role)
        for text in [value] if isinstance(value, str) else value or []:
            name = text
            if role == "source":
                name = part_of(text, table)[1]
            check_column(name, table, f"--{role}")
            check_free(name, named, f"--{role}")
            named.setdefault(role, []).append(name)
    judging = _judging(args)
    if table.known is not None:
        table = coded_export(table, judging)
    else:
        stated = stated_labels(args, table)
        if stated is not None:
            table = with_stated_labels(table, *stated, judging)
        table = coded(table, named, judging)
        table = joined_draws(table, judging | set(chain.from_iterable(named.values())))
        if pairs := table.pairs:
            roles = {"texts": pairs.texts, "systems": pairs.systems}
            named |= {role: columns for role, columns in roles.items() if columns}
        table = unfolded(table, named)
    return table, named


def _judging(args: argparse.Namespace) -> set[str]:
    """Return the columns that flags name as ratings or scores."""
    columns = set[str]()
    for flag in ("human", "judge", "rating", "metric"):
        for text in getattr(args, flag, None) or []:
            named = text.partition("=")[2] or text
            columns |= {text, named, *_cells(named)}
    return columns


def flagged(args: argparse.Namespace) -> frozenset[str]:
    """Return the columns that flags name, for any role."""
    columns = _judging(args)
    for role in (*ROLES, *PAIRED):
        value = getattr(args, role)
        for text in [value] if isinstance(value, str) else value or []:
            columns |= {text, text.partition("=")[2] or text}
    return frozenset(columns)


def _cells(text: str) -> list[str]:
    """Return the names in an option's value, which is a row of CSV.

    A name may have a line break.
    """
    return next(csv.reader(io.StringIO(text, newline="")), [])


def part_of(text: str, table: InitTable) -> tuple[str, str]:
    """Return the name of a source's part, "" without one, and its column, of
    `[NAME=]COLUMN`.
    """
    if text in table.columns or "=" not in text:
        return "", text
    name, _, column = text.partition("=")
    return name.strip(), column.strip()


def named_sources(texts: Iterable[str], table: InitTable) -> dict[str, str]:
    """Return column -> the name of the source's part, for the columns that flags name;
    raises UserError for a name that no prompt can print.
    """
    pairs = [part_of(text, table) for text in texts]
    named = {column: name for name, column in pairs if name}
    try:
        check_parts(named.values())
    except ValueError as error:
        raise UserError(str(error), where="--source") from None
    return named


def assigned(
    table: InitTable,
    named: Mapping[str, Sequence[str]],
    ratings: Mapping[str, list[str]],
    scores: tuple[str, Sequence[str]],
    *,
    more: bool,
) -> Guess:
    """Return the role of each column, as flags name it, or else as guessed.

    scores: the flag of judges' scores, and its values. `more`: guessed judges are kept
    as well.
    """
    flag, texts = scores
    rated = list(chain.from_iterable(ratings.values()))
    parts = named_parts(texts, table, flag)
    scored = [column for _, column in parts]
    for column in rated:
        check_free(column, named, "the ratings")
    for column in scored:
        check_free(column, {**named, "ratings": rated}, flag)
    guessed = table.guessed(named, [*rated, *scored])
    names = guessed.names | names_in_headers(ratings)
    free = guessed.without([*rated, *scored])
    ratings = ratings or free.ratings
    judges = {
        judge: free.judges.get(judge, {})
        for judge in guessed.judges
        if more or not parts
    }
    for aspect, column in parts:
        check_known({aspect} - {EVERY}, ratings, UNRATED, where=flag)
        if aspect == EVERY:
            new = _judges_by_name(column, ratings, names)
        else:
            new = {slug(column): {aspect: column}}
        for judge, of in new.items():
            judges[judge] = judges.get(judge, {}) | of
    judges = {judge: of for judge, of in judges.items() if of}
    if table.known is not None and rated:
        judges = {judge: _for_ratings(of, ratings) for judge, of in judges.items()}
    check_lengths(table, guessed)
    return replace(
        guessed, ratings=dict(ratings), judges=judges, means=guessed.means and not rated
    )


def _judges_by_name(
    column: str, ratings: Mapping[str, list[str]], names: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the judge of a column, whose header may have an aspect's name in any
    script.
    """
    aspect_of_name = {names.get(aspect, aspect): aspect for aspect in ratings}
    judges = {}
    for judge, scores in judges_of([column], aspect_of_name).items():
        judges[judge] = {
            aspect_of_name.get(name, name): scores[name] for name in scores
        }
    return judges


def _for_ratings(
    scores: Mapping[str, str], ratings: Mapping[str, list[str]]
) -> dict[str, str]:
    """Return a judge's scores for ratings that flags name: an export's reader may have
    given its one score an aspect that these do not have.
    """
    if len(scores) == 1 and not scores.keys() & {EVERY, *ratings}:
        [column] = scores.values()
        return {EVERY: column}
    return dict(scores)


def draft_of(args: argparse.Namespace, table: InitTable) -> StudyDraft:
    """Return the study that the flags describe, with guesses for the rest."""
    table, named = understood(args, table)
    ratings = {}
    if args.rating:
        ratings = read_ratings(args.rating, table, "--rating")
    columns = assigned(table, named, ratings, ("--metric", args.metric), more=True)
    if not args.scale:
        table = without_sentinels(table, columns)
    table, columns = with_answers(table, columns)
    columns = replace(
        columns,
        means=columns.means or args.mean,
        task=args.task or columns.task,
        part_names=named_sources(args.source or [], table),
        flagged=flagged(args),
    )
    columns = with_names(columns, args.rating)
    draft = StudyDraft(
        study=new_study(args.study) if args.study else slug(table.file.stem),
        table=table,
        columns=columns,
        scales=table.scales(columns, named_scales(args.scale, columns)),
        definitions=dict(
            _definition(text, table.aspects, columns) for text in args.define
        ),
        endpoint=endpoint_of(args),
        judges=tuple(args.judge),
        function=named_function(args.function) if args.function else None,
        replies=_replies(args, columns),
        max_usd=cap(args.max_usd) if args.max_usd is not None else None,
        ratings="planned" if args.planned else "people",
        licence=args.licence,
        citation=args.citation,
    )
    return with_readable_ids(draft)


def with_names(columns: Guess, texts: Sequence[str] | None) -> Guess:
    """Return the columns with the names of aspects as flags write them."""
    return replace(columns, names=columns.names | names_in(texts or []))


def named_parts(
    texts: Iterable[str], table: InitTable, flag: str
) -> list[tuple[str, str]]:
    """Return the aspect, or *, and the column of each part of `[ASPECT=]COLUMN,…`, a
    CSV line.

    A text that is exactly a column's name stands for this column, whatever it contains.
    """
    parts = []
    for text in texts:
        aspect = EVERY
        rest = text
        if "=" in text and text not in table.columns:
            name, _, rest = text.partition("=")
            aspect = slug(name)
        for column in [rest] if rest in table.columns else _cells(rest) or [""]:
            check_column(column, table, flag)
            check_numbers(column, table)
            parts.append((aspect, column))
    return parts


def _replies(args: argparse.Namespace, columns: Guess) -> RepliesFile | None:
    """Return a file of replies, and the columns by which its rows are joined to
    texts.
    """
    if args.recorded is None:
        if args.reply is not None:
            todo = "name the file: --recorded FILE"
            raise UserError(
                "this option needs a file of replies", where="--reply", todo=todo
            )
        return None
    file: Path = args.recorded
    if columns.compared:
        raise UserError(
            "a file of replies cannot be used if people chose between two texts",
            where="--recorded",
            got=file,
            todo="add a column with the judge's choices (1, 2, tie) to the table",
        )
    table = load_table(file, Cards([]))
    reply = args.reply or next(
        (name for name in REPLIES if name in table.columns), None
    )
    if reply is None:
        what = "cannot tell which column has the judge's replies"
        todo = "name it: --reply COLUMN"
        raise UserError(what, where=str(file), allowed=table.columns, todo=todo)
    check_column(reply, table, "--reply")
    roles = guess(table.rows, {"ratings": [reply]})
    text, system, item = (
        mine
        if (mine := getattr(columns, role)) in table.columns
        else mine and getattr(roles, role)
        for role in ("text", "system", "item")
    )
    source = (
        columns.source if set(columns.source) <= set(table.columns) else roles.source
    )
    if item is None and text is None:
        raise UserError(
            "no column identifies the text that a reply is about",
            where=str(file),
            allowed=table.columns,
            todo="add the column of the texts, or the columns of item ids (--item) and "
            "systems",
        )
    rows: dict[str, Any] = {"item": item} if item else {"source": source, "text": text}
    aspect_columns = ("aspect", "criterion", "dimension")
    aspect = next((name for name in aspect_columns if name in table.columns), None)
    if aspect is None and len(columns.ratings) > 1:
        raise UserError(
            "no column identifies the aspect that a reply is about",
            where=str(file),
            allowed=aspect_columns,
            todo="add such a column, or name the ratings of one aspect: --rating "
            "ASPECT=COLUMN",
        )
    return file, {**rows, "system": system, "aspect": aspect, "reply": reply}


def cap(text: str) -> float:
    """Return a limit in US$; raise UserError if the text is not one."""
    if (limit := number(text)) is None or limit < 0:
        raise UserError(
            "the limit must be a number of US$",
            where="--max-usd",
            got=text,
            allowed="like 5",
        )
    return limit


def price(text: str) -> dict[str, float]:
    """Return the prices in a text: US$ per million tokens of prompts, and of
    replies.
    """
    if not text:
        return {}
    try:
        prompts, replies = map(float, text.replace(",", " ").split())
    except ValueError:
        what = "a price must be two numbers"
        raise UserError(what, where="price", got=text, allowed="like .15, .6") from None
    return {"input": prompts, "output": replies}


def read_ratings(
    texts: Iterable[str], table: InitTable, flag: str, alone: str | None = None
) -> dict[str, list[str]]:
    """Return aspect -> columns of `aspect=column,column`.

    A column without an aspect rates the aspect `alone`, by default the aspect of its
    own name.
    """
    ratings: dict[str, list[str]] = {}
    for text in texts:
        for aspect, column in named_parts([text], table, flag):
            check_free(column, ratings, flag)
            name = aspect
            if aspect == EVERY:
                name = alone or slug(column)
            ratings.setdefault(name, []).append(column)
    if not ratings:
        raise UserError(
            "a column is required",
            where=flag,
            allowed=table.columns,
            todo=f"name it: {flag} COLUMN",
        )
    return ratings


def named_scales(texts: Iterable[str], columns: Guess) -> dict[str, LabelScale]:
    """Return aspect -> scale from `[aspect=]min:max[:step]`; without an aspect, all
    have it.
    """
    scales: dict[str, LabelScale] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if equals and slug(name) not in columns.ratings:
            raise UserError(UNRATED, where="--scale", got=name, allowed=columns.ratings)
        aspects = [slug(name)] if equals else list(columns.ratings)
        scales |= dict.fromkeys(aspects, read_scale(rest if equals else text))
    return scales


def read_scale(text: str) -> dict[str, float]:
    """Return the scale in `1:5:1` (worst, best, step) or `0:100` (without steps)."""
    try:
        parts = [float(part) for part in text.split(":")]
        low, high, *step = parts
        finite = all(map(math.isfinite, parts))
        if not finite or len(step) > 1 or low >= high or min(step, default=1) <= 0:
            raise ValueError
    except ValueError:
        raise UserError(
            "a scale needs its lowest and its highest value, and may have a step",
            where="--scale",
            got=text,
            allowed="MIN:MAX[:STEP], like 1:5:1 or 0:100",
            todo="if low values are good, add `best: min` in the dataset's card "
            "(judgescope init)",
        ) from None
    numbers_of_scale = [int(part) if part.is_integer() else part for part in parts]
    return dict(zip(("min", "max", "step"), numbers_of_scale, strict=False))


def scale_text(limits: Mapping[str, Any]) -> str:
    """Return a scale as flags and answers write it; for a scale of labels, the
    labels.
    """
    if "labels" in limits:
        return ", ".join(limits["labels"])
    return ":".join(
        f"{limits[name]:g}" for name in ("min", "max", "step") if name in limits
    )


def _definition(text: str, aspects: Collection[str], columns: Guess) -> tuple[str, str]:
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
            "this aspect already has a card with a definition",
            where="--define",
            got=name,
            todo="omit this --define, or give your aspect another name",
        )
    if slug(name) not in columns.ratings:
        raise UserError(UNRATED, where="--define", got=name, allowed=columns.ratings)
    return slug(name), define(name, rest)


def define(name: str, text: str) -> str:
    """Return the definition of a new aspect; raise UserError for an empty one."""
    if not text.strip():
        raise UserError(
            "judges need a definition of this aspect", where=f"aspect {name}"
        )
    return text.strip()


def undefined(columns: Guess, defined: Iterable[str], table: InitTable) -> list[str]:
    """Return the aspects that have neither a card nor a definition."""
    return [name for name in columns.ratings if name not in {*table.aspects, *defined}]


def as_people_rated(columns: Sequence[str]) -> str:
    """Return the definition of an aspect that no judge reads."""
    return f"What people rated in the column {', '.join(columns)}."


def completed(draft: StudyDraft) -> StudyDraft:
    """Return the draft with what a person need not say.

    Without ids and sources each row is a source of its own, and a note says so. An
    aspect that no model is asked about is defined by its columns.
    """
    table = draft.table
    columns = draft.columns
    scales = draft.scales
    if columns.has_texts and not columns.item and not columns.source:
        table, columns = with_items(table, columns)
        note = (
            "no column says which rows share a source: each row is a source of its own "
            "(--item or --source names a column)"
        )
        table = replace(table, notes=[*table.notes, note], copied=True)
        # The copy has numbers in place of labels, and the scale says which.
        stated = {
            name: scale for name, scale in scales.items() if "labels" not in scale
        }
        scales = {**scales, **table.scales(columns, stated)}
    definitions = dict(draft.definitions)
    if draft.endpoint is None and not draft.judges:
        for name in undefined(columns, definitions, table):
            near = UserError("", where="", got=name, allowed=table.aspects).nearest()
            is_typed = not columns.flagged.isdisjoint(columns.ratings[name])
            if not (near and is_typed):  # a misspelt name of a card
                definitions[name] = as_people_rated(columns.ratings[name])
    return replace(
        draft, table=table, columns=columns, scales=scales, definitions=definitions
    )


def check_complete(draft: StudyDraft) -> None:
    """Raise UserErrors for everything that neither flags nor guesses provide."""
    table = draft.table
    columns = draft.columns
    errors = []

    def unknown(flag: str, what: str, value: str = "COLUMN") -> None:
        error = f"cannot tell {what}"
        todo = f"name it: {flag} {value}"
        names = sorted(table.columns)
        errors.append(UserError(error, where=flag, allowed=names, todo=todo))

    check_lengths(table, columns)
    measured = columns.measured and draft.endpoint is None
    if columns.compared and len(columns.texts) != 2 and not measured:
        what = "which columns have the two texts (`judgescope audit` works without)"
        unknown("--texts", what, "FIRST SECOND")
    elif not columns.has_texts and not measured:
        lengths = ", or, without texts, that of their lengths: --length COLUMN"
        value = "COLUMN" if draft.endpoint else f"COLUMN{lengths}"
        unknown("--text", "which column has the texts that are judged", value)
    if columns.item is None and not columns.has_texts and measured:
        unknown("--item", "which rows share a source")
    elif columns.item is None and not columns.source:
        unknown("--source or --item", "which rows share a source")
    # The placeholder in a provider's card for a name that only the user knows.
    yours = "YOUR-"
    if (endpoint := draft.endpoint) is not None:
        for flag, key in (("--endpoint", "base_url"), ("--model", "name")):
            if yours in (value := endpoint.card[key]):
                what = "the provider's card has a placeholder here"
                todo = "give your own value"
                errors.append(UserError(what, where=flag, got=value, todo=todo))
    if not columns.ratings:
        passed = unread(table, Guess(text=columns.text, source=columns.source))
        more = ""
        if passed:
            more = f"; skipped: {', '.join(map(str, passed))}"
        unknown("--rating", f"which columns have ratings{more}")
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
            todo=f"define it, for judges: --define {name}='…'; or name an aspect with "
            f"a card: --rating {shlex.quote(rating_text('ASPECT', group))}; or, if "
            "the column has no ratings, name the ones that do: "
            f"{' '.join(others) or '--rating ASPECT=COLUMN'}",
        )
        errors.append(error)
    if errors:
        raise UserErrors(errors)
