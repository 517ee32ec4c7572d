"""The command `judgescope init`: a new study on somebody's own table of texts and ratings."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judgescope.cli.init.cards import (
    CONFIG,
    NOT_STATED,
    Wanted,
    cards_of,
    check_new,
    place,
    tried,
    write,
)
from judgescope.cli.init.flags import (
    Offered,
    check_whole,
    described,
    offer,
    scale_text,
    scales_of,
    wanted_of,
)
from judgescope.cli.init.guess import missing_words
from judgescope.cli.init.questions import Ask, interview
from judgescope.cli.show import plain
from judgescope.core.errors import UserError
from judgescope.data.rated import Rated
from judgescope.schema.loading import Cards
from judgescope.statistics.jackknife import FEWEST_SOURCES

INTERRUPTED = 130
"""What a shell says of a command that was interrupted."""
FEW = f"{{}} items: intervals need {FEWEST_SOURCES} at least, and numbers without one say little"
SHARED = (
    "{} items, but only {} different sources: texts of one source should share an item (--item), "
    "else intervals are too narrow"
)
EXAMPLES = """examples:
  judgescope init summaries.csv
  judgescope init summaries.csv --yes
  judgescope init summaries.csv --text summary --source article --system model \\
      --rating fluency=rater_1,rater_2 --scale 1:5:1 \\
      --endpoint http://127.0.0.1:8000/v1 --model some-org/some-model --key-env MY_KEY --yes
"""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `init` to a parser's subcommands; it sets `act`, which does it."""
    parser = commands.add_parser(
        "init",
        help="a new study on your own table of texts and ratings",
        description="Read the header of a CSV, TSV, JSONL or Parquet file, guess what its columns "
        "hold, ask about the rest, and write the cards of a study. Nothing is overwritten.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, nargs="?", help="the table; a row for each text")
    parser.add_argument("--study", help="the study's name; default: the file's")
    _add_columns(parser)
    _add_judge(parser)
    parser.add_argument("--licence", default=NOT_STATED, help="of the data, for the report")
    parser.add_argument("--citation", default=NOT_STATED, help="of the data, for the report")
    parser.add_argument(
        "--yes", action="store_true", help="ask nothing: take flags, and guesses for the rest"
    )
    parser.set_defaults(act=init)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    table = parser.add_argument_group("what the columns hold; what is not named is guessed")
    table.add_argument("--text", metavar="COLUMN", help="the text that is judged")
    table.add_argument(
        "--source",
        metavar="COLUMN",
        action="append",
        help="what it was written from; several: once for each",
    )
    table.add_argument(
        "--references", metavar="COLUMN", action="append", help="texts by people; likewise"
    )
    table.add_argument("--item", metavar="COLUMN", help="what rows about one source share")
    table.add_argument("--system", metavar="COLUMN", help="who wrote the text")
    table.add_argument(
        "--rating",
        metavar="ASPECT=COLUMN,…",
        action="append",
        default=[],
        help="ratings of an aspect, with a column for each rater; once for each aspect",
    )
    table.add_argument("--mean", action="store_true", help="the ratings are means of raters")
    table.add_argument("--planned", action="store_true", help="no people gave them")
    table.add_argument(
        "--scale",
        metavar="[ASPECT=]MIN:MAX[:STEP]",
        action="append",
        default=[],
        help="the values that a rating may have, from worst to best",
    )
    table.add_argument(
        "--define",
        metavar="ASPECT=TEXT",
        action="append",
        default=[],
        help="what an aspect without a card means, as judges are told",
    )
    table.add_argument("--task", help="such as summarization, dialogue, translation")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    judge = parser.add_argument_group("who judges; default: measures and controls alone")
    judge.add_argument("--endpoint", metavar="URL", help="OpenAI-compatible, to its version: …/v1")
    judge.add_argument("--model", metavar="NAME", help="the model's name there")
    judge.add_argument(
        "--key-env", metavar="VARIABLE", help="the NAME of the variable with its key, not the key"
    )
    judge.add_argument(
        "--price", nargs=2, type=float, metavar=("IN", "OUT"), help="US$ per million tokens"
    )
    judge.add_argument("--form", help="the prompt; default: analyze-rate")
    judge.add_argument("--draws", type=int, help="replies to each question; default: 1")
    judge.add_argument(
        "--judge", metavar="CARD", action="append", default=[], help="a judge that has a card"
    )


def init(told: argparse.Namespace) -> int:
    """Guess, ask, try, write, and say what comes next; write nothing before all is in order."""
    if told.yes:
        return begin(told, None)
    if sys.stdin.isatty():
        try:
            return begin(told, input)
        except (EOFError, KeyboardInterrupt):
            print("\nNothing was written.")
            return INTERRUPTED
    raise UserError(
        "there is no terminal to ask on",
        where="judgescope init",
        todo="name the file, the columns that are guessed wrong, and --yes",
    )


def begin(told: argparse.Namespace, ask: Ask | None) -> int:
    """Make a study's cards; `ask` asks a person, None takes what flags and guesses say."""
    from judgescope.core.paths import HOME

    if told.file is None and ask is not None:
        told.file = Path(ask("your table (CSV, TSV, JSONL or Parquet): ").strip())
    if told.file is None:
        raise UserError("no table is named", where="judgescope init", todo="judgescope init FILE")
    offered = offer(told.file, Cards([CONFIG, HOME / "config"]))
    wanted = wanted_of(told, offered)
    if ask is None:
        offered.study(wanted.study)
        check_whole(wanted, offered)
        wanted = replace(wanted, scales=scales_of(wanted.columns, offered.rows, wanted.scales))
    print("\n".join(guessed(wanted, offered)))
    if ask is not None:
        wanted = interview(wanted, offered, ask)
        check_whole(wanted, offered)
    rated = [column for group in wanted.columns.ratings.values() for column in group]
    made = cards_of(replace(wanted, missing=missing_words(offered.rows, rated)))
    check_new(made)
    data = tried(made, HOME)
    counts = f"{len(data.outputs)} texts of {len(data.items)} items, {len(data.ratings)} ratings"
    print(f"\nread as a run reads it: {counts}")
    for problem in [*data.problems, *notes(data)]:
        print(f"  note: {plain(problem)}")
    if ask is not None and ask("write the cards? [yes]: ").strip().lower() not in {"", "y", "yes"}:
        print("Nothing was written.")
        return 1
    for path in write(made):
        print(f"written: {path}")
    print("\n".join(after(wanted)))
    return 0


def notes(rated: Rated) -> Iterator[str]:
    """Yield what makes intervals wrong or impossible."""
    items, sources = len(rated.items), {one.source for one in rated.items if one.source}
    if items < FEWEST_SOURCES:
        yield FEW.format(items)
    if 0 < len(sources) < items:
        yield SHARED.format(items, len(sources))


def guessed(wanted: Wanted, offered: Offered) -> Iterator[str]:
    """Yield what each column is taken for."""
    columns = wanted.columns
    yield f"{offered.file}: {len(offered.rows)} rows, {len(offered.columns)} columns"
    for role in ("text", "source", "references", "item", "system"):
        value = getattr(columns, role)
        names = value if isinstance(value, list) else [value] if value else []
        yield f"  {role:<12}{plain(', '.join(names)) or '-'}"
    for name, group in columns.ratings.items():
        scale = wanted.scales.get(name)
        ends = f"scale {scale_text(scale)}; " if scale else ""
        of = plain(", ".join(group))
        yield f"  rating      {name}: {of} ({ends}{described(group, offered.rows)})"
    yield f"  task        {columns.task}"
    used = {columns.text, columns.item, columns.system, *columns.source, *columns.references}
    used |= {column for group in columns.ratings.values() for column in group}
    if left := [column for column in offered.columns if column not in used]:
        yield f"  not used    {plain(', '.join(one or '(no name)' for one in left))}"
        for passed in offered.ratings_left(one for one in used if one):
            yield f"  note: not taken for ratings: {plain(passed)}"


def after(wanted: Wanted) -> Iterator[str]:
    """Yield what to do next."""
    study, end = place("study", wanted.study), wanted.endpoint
    if end is None and not wanted.judges:
        yield "No model is asked yet: measures and controls alone. A judge's card comes into the"
        yield "study's `judges`; `judgescope init` with --endpoint and --model writes one."
    yield "\nnext:"
    if end is not None and end.key_env:
        yield f"  export {end.key_env}=…          # the key is never written anywhere"
    yield f"  judgescope check {study}    # counts and prices what a run asks, and asks nothing"
    yield f"  judgescope run {study}      # asks, computes, writes the report"
    yield f"  judgescope show {study}     # the numbers, in the terminal"
