"""Questions of `judgescope init` on a terminal: a numbered table of which any line can
be changed.

Answers are checked at once. After an invalid answer its error and the table are printed
again: the same question is never asked twice in a row.
"""

import shlex
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from judgescope.cli.init import flags
from judgescope.cli.init.card_paths import new_study
from judgescope.cli.init.cards import StudyDraft
from judgescope.cli.init.column_checks import NO_COLUMN, check_numbers
from judgescope.cli.init.endpoint import (
    ACCESS,
    EndpointDraft,
    address,
    model_name,
    provided,
)
from judgescope.cli.init.rating_columns import judges_of
from judgescope.cli.init.readings import confidences
from judgescope.cli.init.roles import PAIRED, ROLES, Guess, rating_text
from judgescope.cli.init.tables import InitTable
from judgescope.cli.init.unread import unread
from judgescope.cli.options import PROVIDERS
from judgescope.cli.terminal import plain
from judgescope.core.errors import UserError, UserErrors, check_known

AskPerson = Callable[[str], str]
"""A question -> the line that was typed."""
NONE = "-"
NOT_READ = "note: not read as ratings: "
"""How a line begins on a column that is not used, with one of its cells."""
"""The answer that stands for nothing, such as no column."""
ABOUT = {
    "text": "the column of the judged text",
    "texts": "the columns of the two texts between which people chose: a, b",
    "systems": "the columns of the systems that wrote the two texts: a, b",
    "length": "without texts: the column of the judged text's length",
    "lengths": "without texts: the columns of the two texts' lengths: a, b",
    "source": "the column of the text's source; several: a, b",
    "references": "the column of reference texts; several: a, b",
    "item": "the column of the id that rows of one source share",
    "system": "the column of the system that wrote the text",
}
ENDPOINT_LINES = (
    ("model", "name", "the model's name at the endpoint"),
    ("price", "price", "US$ per million tokens, of prompts and of replies: .15 .6"),
    (
        "key",
        "api_key_env",
        "the NAME of the variable that holds the key (not the key itself)",
    ),
    (
        "proxy",
        "proxy",
        "the URL of the proxy in front of the endpoint, http://host:port",
    ),
    (
        "proxy login",
        "proxy_auth_env",
        "the NAME of the variable that holds its user:password",
    ),
    (
        "certificates",
        "ca_file",
        "a PEM file to trust instead of the system's certificates",
    ),
)
"""Lines of the table: name, the key of the model's card, the question."""
SEVERAL = {"source", "references", *PAIRED}


@dataclass(frozen=True)
class InterviewLine:
    """A line of the table: its name, its value, and how an answer changes it."""

    name: str
    value: str
    question: str
    change: Callable[[str], StudyDraft]
    """An answer (empty: nothing) -> the changed draft; raises UserError."""
    needed: bool = False
    """Whether it must have a value before cards are written."""


def interview(draft: StudyDraft, ask: AskPerson) -> StudyDraft | None:
    """Return the draft once the person accepts the table; None if the person quits."""
    before: list[StudyDraft] = []
    back = {"b", "back"}
    quit_words = {"q", "quit"}
    while True:
        lines = list(_lines(draft))
        columns = draft.table.columns
        print("\n".join(_shown(lines, draft)))
        typed = ask(
            "\na line's number changes it, Enter accepts, b undoes, q quits: "
        ).strip()
        line = _chosen(typed, lines)
        if typed.lower() in quit_words:
            return None
        if typed.lower() in back:
            if before:
                draft = before.pop()
        elif not typed and line is None:
            return draft
        elif line is None:
            print(f"  no line has this number: {plain(typed)}")
        else:
            answer = ask(
                f"{line.name}: {line.question} (- for none, Enter keeps it): "
            ).strip()
            if answer.lower() in quit_words and answer not in columns:
                return None
            if not answer or (answer.lower() in back and answer not in columns):
                continue
            try:
                changed = line.change("" if answer == NONE else answer)
            except (UserError, UserErrors) as error:
                print(error)
            else:
                before.append(draft)
                draft = changed


def _chosen(typed: str, lines: list[InterviewLine]) -> InterviewLine | None:
    """Return the line of a number; without a number, the first line that lacks a
    value.
    """
    if not typed:
        return next((line for line in lines if line.needed and not line.value), None)
    number = 0
    if typed.isascii() and typed.isdigit() and len(typed) < 4:
        number = int(typed)
    if 0 < number <= len(lines):
        return lines[number - 1]
    return None


def _shown(lines: list[InterviewLine], draft: StudyDraft) -> Iterator[str]:
    """Yield the table: a number, a name and a value in each line."""
    yield f"\n{draft.table.title}"
    width = max(len(line.name) for line in lines)
    for number, line in enumerate(lines, start=1):
        value = plain(line.value) or ("(required)" if line.needed else NONE)
        yield f"  {number:>2}  {line.name:{width}}  {value}"
    yield from (f"  {name:<12}{value}" for name, value in unused(draft))


def roles_of(columns: Guess) -> list[str]:
    """Return the roles of columns other than ratings and scores, of texts or of pairs
    of texts.
    """
    single = {"text", "system", "length"}
    if columns.compared:
        roles = [*PAIRED, *(role for role in ROLES if role not in single)]
    else:
        roles = [*ROLES]
    if columns.has_texts and not columns.measured:  # texts have lengths of their own
        return [role for role in roles if role not in {"length", "lengths"}]
    return roles


def unused(draft: StudyDraft) -> Iterator[tuple[str, str]]:
    """Yield a judge's confidence, the columns without a role, and which of them look
    like ratings.
    """
    stated = confidences(draft)
    for column, judge in stated.items():
        yield "confidence", plain(f"{judge}: {column}")
    used = {*draft.columns.used, *stated}
    if left := [column for column in draft.table.columns if column not in used]:
        yield "not used", plain(", ".join(column or "(no name)" for column in left))
        for reason in unread(draft.table, draft.columns):
            yield f"{NOT_READ}{plain(str(reason))}", ""


def _lines(draft: StudyDraft) -> Iterator[InterviewLine]:
    table = draft.table
    columns = draft.columns
    for role in roles_of(columns):
        value = ", ".join(columns.columns_of(role))
        needed = role in {"text", "texts"}
        yield InterviewLine(
            role, value, ABOUT[role], partial(_role, draft, role), needed
        )
    ratings = shlex.join(
        rating_text(name, group) for name, group in columns.ratings.items()
    )
    about = "aspect=column,column …, one column per rater"
    yield InterviewLine("ratings", ratings, about, partial(_ratings, draft), True)
    scaled = (
        {} if columns.compared else columns.ratings
    )  # people's choices have no scale
    for name, group in scaled.items():
        about = f"worst:best:step; {table.described(group)}"
        scale = flags.scale_text(draft.scales[name])
        yield InterviewLine(
            f"scale of {name}", scale, about, partial(_scale, draft, name), True
        )
    for name in flags.undefined(columns, (), table):
        about = (
            "a sentence for judges, as the aspect has no card; "
            f"{table.nearest_aspect(name)}"
        )
        meaning = draft.definitions.get(name, "")
        is_read = draft.endpoint is not None or bool(draft.judges)
        yield InterviewLine(
            f"meaning of {name}",
            meaning,
            about,
            partial(_meaning, draft, name),
            needed=is_read,
        )
    about = "columns of judges' or metrics' scores; several: a, b"
    yield InterviewLine(
        "scores", ", ".join(columns.scored), about, partial(_scores, draft)
    )
    yield from _endpoint_lines(draft)
    yield InterviewLine(
        "study", draft.study, "the study's name", partial(_study, draft), True
    )


def _endpoint_lines(draft: StudyDraft) -> Iterator[InterviewLine]:
    """Yield the lines of the model that judges; a single line if there is no model."""
    about = f"a URL, http://…/v1, or a provider: {', '.join(PROVIDERS)}"
    card = draft.endpoint.card if draft.endpoint else {}
    yield InterviewLine(
        "endpoint", card.get("base_url", ""), about, partial(_endpoint, draft)
    )
    if not card:
        return
    for name, key, about in ENDPOINT_LINES:
        value = card.get(key, "")
        if key == "price" and value:
            value = " ".join(f"{value[part]:g}" for part in ("input", "output"))
        if key != "proxy_auth_env" or "proxy" in card:
            yield InterviewLine(
                name, value, about, partial(_endpoint_key, draft, key), key == "name"
            )
    cap = "" if draft.max_usd is None else f"{draft.max_usd:g}"
    yield InterviewLine(
        "max US$",
        cap,
        "the most that the study may cost in total",
        partial(_cap, draft),
    )


# --- changes --------------------------------------------------------------------------


def _role(draft: StudyDraft, role: str, answer: str) -> StudyDraft:
    names = _names(answer, draft.table, role in SEVERAL)
    columns = _freed(draft.columns, names)
    value: Any = names if role in SEVERAL else next(iter(names), None)
    return _with(draft, replace(columns, **{role: value}))


def _names(answer: str, table: InitTable, several: bool) -> list[str]:
    """Return the columns that an answer names; a column's name may contain a comma."""
    is_one_column = not several or answer in table.columns
    names = [answer] if is_one_column else [name.strip() for name in answer.split(",")]
    names = [name for name in names if name]
    for name in names:
        check_known([name], table.columns, NO_COLUMN, where="the answer")
    return names


def _freed(columns: Guess, names: Collection[str]) -> Guess:
    """Return the columns without those that get another role."""
    roles: dict[str, Any] = {}
    for role in (*ROLES, *PAIRED):
        left = [column for column in columns.columns_of(role) if column not in names]
        roles[role] = left if role in SEVERAL else next(iter(left), None)
    return replace(columns.without(names), **roles)


def _with(draft: StudyDraft, columns: Guess) -> StudyDraft:
    """Return the draft with other columns; aspects with the same ratings keep their
    scales.
    """
    old = draft.columns.ratings
    kept = {}
    for name, group in columns.ratings.items():
        if old.get(name) == group:
            kept[name] = draft.scales[name]
    return replace(draft, columns=columns, scales=draft.table.scales(columns, kept))


def _ratings(draft: StudyDraft, answer: str) -> StudyDraft:
    table = draft.table
    words = [answer]  # one rating needs no quotes
    if answer not in table.columns and answer.partition("=")[2] not in table.columns:
        try:
            words = shlex.split(answer)
        except ValueError:
            todo = "put a name with spaces in quotes: 'fluency=Fluency score'"
            what = "a quote is not closed"
            raise UserError(what, where="ratings", got=answer, todo=todo) from None
    ratings = flags.read_ratings(words, table, "ratings")
    freed = _freed(draft.columns, set(chain(*ratings.values())))
    return _with(draft, replace(freed, ratings=ratings, means=False))


def _scale(draft: StudyDraft, name: str, answer: str) -> StudyDraft:
    return replace(draft, scales={**draft.scales, name: flags.read_scale(answer)})


def _meaning(draft: StudyDraft, name: str, answer: str) -> StudyDraft:
    return replace(
        draft, definitions={**draft.definitions, name: flags.define(name, answer)}
    )


def _scores(draft: StudyDraft, answer: str) -> StudyDraft:
    names = _names(answer, draft.table, several=True)
    for name in names:
        check_numbers(name, draft.table)
    freed = _freed(replace(draft.columns, judges={}), names)
    return _with(draft, replace(freed, judges=judges_of(names, freed.ratings)))


def _endpoint(draft: StudyDraft, answer: str) -> StudyDraft:
    if not answer:
        return replace(draft, endpoint=None)
    if answer in PROVIDERS:
        return replace(draft, endpoint=provided(answer))
    return replace(draft, endpoint=EndpointDraft({"base_url": address(answer)}))


def _endpoint_key(draft: StudyDraft, key: str, answer: str) -> StudyDraft:
    assert draft.endpoint is not None  # these lines exist only with an endpoint
    checks = {"name": model_name, "price": flags.price}
    value = checks[key](answer) if key in checks else ACCESS[key](answer, "the answer")
    login = {}
    if key == "proxy" and not value:
        login = {"proxy_auth_env": ""}
    return replace(draft, endpoint=draft.endpoint.having(**{key: value}, **login))


def _cap(draft: StudyDraft, answer: str) -> StudyDraft:
    return replace(draft, max_usd=flags.cap(answer) if answer else None)


def _study(draft: StudyDraft, answer: str) -> StudyDraft:
    return replace(draft, study=new_study(answer))
