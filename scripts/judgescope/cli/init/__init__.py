"""The command `judgescope init`: a new study on a user's own table of texts and ratings."""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from judgescope.cli.context import INTERRUPTED
from judgescope.cli.init import flags
from judgescope.cli.init.cards import (
    CONFIG,
    NOT_STATED,
    Endpoint,
    Wanted,
    card_path,
    cards_of,
    check_new,
    tried,
    write,
)
from judgescope.cli.init.flags import Table
from judgescope.cli.init.guess import ROLES, Guess, missing_words
from judgescope.cli.terminal import plain
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.data.rated import Rated
from judgescope.schema.loading import Cards
from judgescope.statistics.jackknife import FEWEST_SOURCES

Ask = Callable[[str], str]
"""A question -> the line that was typed."""
NONE = "-"
"""The answer for: no such column."""
T = TypeVar("T")
TABLE_OPTIONS = {
    "--text": ("COLUMN", "the text that is judged"),
    "--source": ("COLUMN", "the source of the text; repeat it for several columns"),
    "--references": ("COLUMN", "reference texts; repeat it for several columns"),
    "--item": ("COLUMN", "the id that rows of one source share"),
    "--system": ("COLUMN", "the system that wrote the text"),
    "--rating": (
        "ASPECT=COLUMN,…",
        "the ratings of an aspect, one column per rater; repeat it for each aspect",
    ),
    "--scale": (
        "[ASPECT=]MIN:MAX[:STEP]",
        "the scale of the ratings, from worst to best",
    ),
    "--define": ("ASPECT=TEXT", "a definition for judges, of an aspect without a card"),
    "--task": (None, "such as summarization, dialogue, translation"),
}
JUDGE_OPTIONS = {
    "--endpoint": ("URL", "the URL of an OpenAI-compatible endpoint: …/v1"),
    "--model": ("NAME", "the model's name at the endpoint"),
    "--key-env": ("VARIABLE", "the NAME of the environment variable that holds the key"),
    "--key-file": ("FILE", "a file with the key alone, in place of --key-env"),
    "--form": (None, "the prompt; default: analyze-rate"),
    "--judge": ("CARD", "a judge with an existing card"),
}
REPEATED = {"--source", "--references", "--rating", "--scale", "--define", "--judge"}


# --- the command -----------------------------------------------------------------------------


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `init` to a parser's subcommands; it sets `act`."""
    parser = commands.add_parser(
        "init",
        help="create a study from your texts and ratings",
        description="Read the header of a CSV, TSV, JSONL or Parquet file, guess what its columns "
        "hold, ask about the rest, and write the cards of a study. Nothing is overwritten.",
    )
    parser.add_argument("file", type=Path, nargs="?", help="the table, one row per text")
    parser.add_argument("--study", help="the study's name; default: the file's")
    table = parser.add_argument_group("the table's columns; those not named are guessed")
    judge = parser.add_argument_group("judges; default: metrics and controls only")
    for group, options in ((table, TABLE_OPTIONS), (judge, JUDGE_OPTIONS)):
        for flag, (metavar, about) in options.items():
            if flag in REPEATED:
                group.add_argument(flag, metavar=metavar, action="append", default=[], help=about)
            else:
                group.add_argument(flag, metavar=metavar, help=about)
    table.add_argument("--mean", action="store_true", help="the ratings are means over raters")
    table.add_argument("--planned", action="store_true", help="the ratings are not by people")
    judge.add_argument(
        "--price", nargs=2, type=float, metavar=("IN", "OUT"), help="US$ per million tokens"
    )
    judge.add_argument("--draws", type=int, help="replies to each question; default: 1")
    for name in ("--licence", "--citation"):
        parser.add_argument(name, default=NOT_STATED, help="of the data, for the report")
    parser.add_argument(
        "--yes", action="store_true", help="ask no questions: use the options, and guess the rest"
    )
    parser.set_defaults(act=init)


def init(args: argparse.Namespace) -> int:
    """Guess, ask, check, write, and print the next steps; write nothing before all is in order."""
    if args.yes:
        return begin(args, None)
    if sys.stdin.isatty():
        try:
            return begin(args, input)
        except (EOFError, KeyboardInterrupt):
            print("\nNothing was written.")
            return INTERRUPTED
    raise UserError(
        "questions need a terminal",
        where="judgescope init",
        todo="name the file, every column that is guessed wrong, and --yes",
    )


def begin(args: argparse.Namespace, ask: Ask | None) -> int:
    """Make a study's cards; `ask` asks a person, None takes flags and guesses."""
    if args.file is None and ask is not None:
        args.file = Path(ask("your table (CSV, TSV, JSONL or Parquet): ").strip())
    if args.file is None:
        raise UserError("no table is named", where="judgescope init", todo="judgescope init FILE")
    table = flags.load_table(args.file, Cards([CONFIG, HOME / "config"]))
    wanted = flags.wanted_of(args, table)
    if ask is None:
        table.study(wanted.study)
        flags.check_complete(wanted, table)
        wanted = replace(wanted, scales=flags.scales_of(wanted.columns, table.rows, wanted.scales))
    print("\n".join(described(wanted, table)))
    if ask is not None:
        wanted = _interview(wanted, table, ask)
        flags.check_complete(wanted, table)
    cards = cards_of(replace(wanted, missing=missing_in(wanted.columns, table)))
    check_new(cards)
    data = tried(cards, HOME)
    counts = f"{len(data.outputs)} texts of {len(data.items)} items, {len(data.ratings)} ratings"
    print(f"\na run will read: {counts}")
    for problem in [*data.problems, *_notes(data)]:
        print(f"  note: {plain(problem)}")
    if ask is not None and ask("write the cards? [yes]: ").strip().lower() not in {"", "y", "yes"}:
        print("Nothing was written.")
        return 1
    for path in write(cards):
        print(f"written: {path}")
    print("\n".join(_next_steps(wanted)))
    return 0


def missing_in(columns: Guess, table: Table) -> list[str]:
    """Return what the columns of people and of judges hold where a value is missing."""
    groups = [*columns.ratings.values(), *(scores.values() for scores in columns.judges.values())]
    return missing_words(table.rows, [column for group in groups for column in group])


def _notes(rated: Rated) -> Iterator[str]:
    """Yield what makes intervals wrong or impossible."""
    items, sources = len(rated.items), {item.source for item in rated.items if item.source}
    if items < FEWEST_SOURCES:
        yield (
            f"{items} items: intervals need at least {FEWEST_SOURCES}, and numbers without "
            "intervals say little"
        )
    if 0 < len(sources) < items:
        yield (
            f"{items} items, but only {len(sources)} different sources: texts of one source should "
            "share an item (--item), else intervals are too narrow"
        )


def described(wanted: Wanted, table: Table) -> Iterator[str]:
    """Yield what each column is taken for."""
    columns = wanted.columns
    yield f"{table.file}: {len(table.rows)} rows, {len(table.columns)} columns"
    for role in ROLES:
        yield f"  {role:<12}{plain(', '.join(columns.columns_of(role))) or '-'}"
    for name, group in columns.ratings.items():
        scale = wanted.scales.get(name)
        ends = f"scale {flags.scale_text(scale)}; " if scale else ""
        yield f"  rating      {name}: {plain(', '.join(group))} ({ends}{table.described(group)})"
    for name, scores in columns.judges.items():
        named = (f"{column}{f' ({aspect})' * (aspect != '*')}" for aspect, column in scores.items())
        yield f"  judge       {name}: {plain(', '.join(named))}"
    yield f"  task        {columns.task}"
    if left := [column for column in table.columns if column not in columns.used]:
        yield f"  not used    {plain(', '.join(column or '(no name)' for column in left))}"
        for reason in table.nearly_ratings(columns.used):
            yield f"  note: not read as ratings: {plain(reason)}"


def _next_steps(wanted: Wanted) -> Iterator[str]:
    study, endpoint = card_path("study", wanted.study), wanted.endpoint
    if endpoint is None and not wanted.judges and not wanted.columns.judges:
        yield "The study has no LLM judge yet, only metrics and controls. Add a judge card to the"
        yield "study's `judges`; `judgescope init` with --endpoint and --model writes one."
    yield "\nnext:"
    if endpoint is not None and endpoint.key_env:
        yield f"  export {endpoint.key_env}=…          # the key is never written anywhere"
    yield f"  judgescope check {study}    # counts and prices the requests, sends none"
    yield f"  judgescope run {study}      # sends requests, computes, writes the report"
    yield f"  judgescope show {study}     # prints the numbers"


# --- questions on a terminal -----------------------------------------------------------------


def _interview(wanted: Wanted, table: Table, ask: Ask) -> Wanted:
    """Return what is wanted after all questions; each answer is checked at once."""
    print("Enter accepts the value in [brackets], - means none.\n")
    columns = _ask_columns(wanted.columns, table, ask)
    columns = replace(columns, ratings=_ask_ratings(columns, table, ask))
    scales = dict(flags.scales_of(columns, table.rows, wanted.scales))
    for name, guessed in scales.items():
        question = f"scale of {name}, {table.described(columns.ratings[name])}"
        scales[name] = _until(ask, question, flags.scale_text(guessed), flags.read_scale)
    definitions = dict(wanted.definitions)
    for name in flags.undefined(columns, definitions, table):
        print(f"\n  there is no aspect card {name!r}; {table.nearest_aspect(name)}")
        question = f"the meaning of {name}, in a sentence for judges"
        definitions[name] = _until(ask, question, "", partial(flags.define, name))
    endpoint = wanted.endpoint or (None if wanted.judges else _ask_endpoint(ask))
    study = _until(ask, "\nname of the study", wanted.study, table.study)
    return replace(
        wanted,
        study=study,
        columns=columns,
        scales=scales,
        definitions=definitions,
        endpoint=endpoint,
    )


def _ask_columns(guess: Guess, table: Table, ask: Ask) -> Guess:
    """Ask for the columns of every role; a column that is taken is no longer proposed."""
    taken: dict[str, list[str]] = {}
    for role, about in (
        ("text", "the judged text"),
        ("source", "the source of the text; several: a, b"),
        ("references", "reference texts; several: a, b"),
        ("item", "the id that rows of one source share"),
        ("system", "the system that wrote the text"),
    ):
        used = {column for group in taken.values() for column in group}
        guessed = [column for column in guess.columns_of(role) if column not in used]
        usual = ", ".join(guessed) or NONE

        def check(
            answer: str, role: str = role, guessed: list[str] = guessed, usual: str = usual
        ) -> list[str]:
            if answer == usual:
                names = guessed
            elif role in ("source", "references") and answer not in table.columns:
                names = [name.strip() for name in answer.split(",") if name.strip()]
            else:
                names = [answer] if answer else []
            if role == "text" and not names:
                raise UserError("a study needs a column with the judged text", where=role)
            for name in names:
                flags.check_column(name, table.columns, role)
                flags.check_free(name, taken, role)
            return names

        taken[role] = _until(ask, f"{role} ({about})", usual, check)
    text, item, system = (next(iter(taken[role]), None) for role in ("text", "item", "system"))
    source, references = taken["source"], taken["references"]
    return replace(guess, text=text, source=source, references=references, item=item, system=system)


def _ask_ratings(columns: Guess, table: Table, ask: Ask) -> dict[str, list[str]]:
    """Ask for the aspects and the columns of their ratings."""
    used = replace(columns, ratings={}).used
    free = {name: [c for c in group if c not in used] for name, group in columns.ratings.items()}
    guessed = {name: group for name, group in free.items() if group}
    usual = shlex.join(flags.rating_text(name, group) for name, group in guessed.items())

    def check(answer: str) -> dict[str, list[str]]:
        if answer == usual and guessed:
            return guessed
        if answer in table.columns or answer.partition("=")[2] in table.columns:
            return flags.read_ratings([answer], table)  # one rating needs no quotes
        try:
            words = shlex.split(answer)
        except ValueError:
            todo = "put a name with spaces in quotes: 'fluency=Fluency score'"
            raise UserError(
                "a quote is not closed", where="ratings", got=answer, todo=todo
            ) from None
        return flags.read_ratings(words, table)

    return _until(ask, "ratings (aspect=column,column … with a column per rater)", usual, check)


def _ask_endpoint(ask: Ask) -> Endpoint | None:
    """Ask which model judges; none: measures and controls alone."""
    url = _until(ask, "\nendpoint of a model (http://…/v1)", NONE, flags.address)
    if not url:
        return None
    model = _until(ask, "the model's name at the endpoint", "", flags.model_name)
    key = _until(ask, "NAME of the variable that holds its key (not the key)", NONE, flags.key_name)
    price = _until(ask, "US$ per million tokens: of prompts, of replies", NONE, _price)
    return Endpoint(url, model, key, price=price)


def _price(answer: str) -> tuple[float, float] | None:
    if not answer:
        return None
    try:
        prompts, replies = map(float, answer.replace(",", " ").split())
    except ValueError:
        raise UserError("two numbers", where="price", got=answer, allowed="like .15, .6") from None
    return prompts, replies


def _until(ask: Ask, question: str, usual: str, check: Callable[[str], T]) -> T:
    """Ask until an answer passes its check; an empty one is the usual one, `-` is none."""
    while True:
        shown = f"{question} [{plain(usual)}]: " if usual else f"{question}: "
        answer = ask(shown).strip() or usual
        try:
            return check("" if answer == NONE else answer)
        except (UserError, UserErrors) as error:
            print(error)
