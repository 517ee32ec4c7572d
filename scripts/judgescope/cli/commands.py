"""The parsers of commands; the module that does a command's work is imported when it
runs.
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from judgescope.cli.options import (
    add_options,
    audit_options,
    audit_page_options,
    column_options,
    cost_options,
    judge_options,
    rating_kind_options,
    rating_options,
)
from judgescope.core.extensions import extension_modules

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
BROKEN: Final = 3
"""The exit code of `audit` for input that cannot be used."""
SHOWN: Final = ("dataset", "judge", "aspect", "statistic", "level", "perturbation")
"""The columns by which printed rows can be filtered."""
OF_REPLIES: Final = ("judge", "aspect", "status", "target")
"""The columns by which replies can be filtered."""


@dataclass(frozen=True)
class Command:
    """A command of an extension: one of the tuple `COMMANDS` in its module
    `commands`.
    """

    name: str
    group: str
    """Its group in the help, one of `GROUPS` in cli/main.py."""
    add: Callable[[Commands], None]
    """Adds its parser to those of the other commands."""
    examples: Mapping[str, Sequence[str]]
    """Command -> the words after `judgescope`, for its help and its actions'."""


def extension_commands() -> list[Command]:
    """The commands of all extensions."""
    commands = []
    for module in extension_modules("commands"):
        commands += module.COMMANDS
    return commands


def act(
    module: str, function: str, package: str = __package__
) -> Callable[[argparse.Namespace], int]:
    """Return what runs a command: a function of a module, imported only then."""

    def run(args: argparse.Namespace) -> int:
        loaded = import_module(f"{package}.{module}")
        status: int = getattr(loaded, function)(args)
        return status

    return run


def add_trust(command: argparse.ArgumentParser) -> None:
    """Add the option `--trust` to a command that sends keys."""
    command.add_argument(
        "--trust",
        metavar="VARIABLE@HOST",
        action="append",
        help="send the key of this variable (or file) to this host, although it "
        "belongs to another; the pair is remembered",
    )


def study_file(text: str) -> Path:
    """Return a study's file; raise an error for another word, such as an option's
    value.
    """
    if Path(text).suffix not in {".yaml", ".yml"}:
        from judgescope.schema.loading import nearest_file

        near = nearest_file(Path(text))
        meant = f" Did you mean {near}?" if near else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} is not the YAML file of a study.{meant} Name the study first, "
            "or join a Snakemake option to its value: --cores=4"
        )
    return Path(text)


def add_study(
    parser: argparse.ArgumentParser, about: str = "the study's YAML file", **more: Any
) -> None:
    """Add the file of the study."""
    parser.add_argument("study", type=Path, help=about, **more)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add `--force`, to overwrite a file."""
    parser.add_argument(
        "--force", action="store_true", help="overwrite an existing file"
    )


# --- options that filter rows ---------------------------------------------------------


def add_filters(
    parser: argparse.ArgumentParser,
    names: Iterable[str],
    what: str = "rows",
    limit: int = 0,
) -> None:
    """Add options that choose rows by their columns, and with a default `limit` also
    `--rows`.
    """
    for name in names:
        parser.add_argument(
            option(name),
            nargs="+",
            default=[],
            type=int if name == "k" else str,
            help=f"only {what} with this {name}",
        )
    if limit:
        about = f"maximum number of rows, 0: all; default: {limit}"
        parser.add_argument("--rows", type=int, default=limit, help=about)


def option(column: str) -> str:
    """Return the option that filters by a column."""
    return f"--{column.replace('_', '-')}"


# --- data -----------------------------------------------------------------------------

NOT_STATED: Final = "not stated"


def add_audit(commands: Commands) -> None:
    """Add the command `audit`."""
    parser = commands.add_parser(
        "audit",
        help="assess a judge from a table of scores and ratings",
        description="Compare a judge's scores with people's ratings in one table, "
        "without cards. Exit code: 0 every required minimum (bar) is met, or none "
        "is set; 1 a bar is missed; 2 cannot tell; 3 the input cannot be used.",
    )
    parser.add_argument(
        "file",
        type=Path,
        help="a CSV, TSV, JSONL, Parquet or .xlsx table, an export of another tool, a "
        "folder of Inspect logs or AlpacaEval annotations, or - for standard input",
    )
    parser.add_argument(
        "more",
        type=Path,
        nargs="*",
        help="further tables, joined to it by a column that both have",
    )
    table = parser.add_argument_group(
        "the table's columns (guessed if you do not name them)"
    )
    add_options(table, audit_options())
    add_options(parser, audit_page_options())
    parser.set_defaults(act=act("audit", "audit"), failed=BROKEN, more_files=_several)


def add_schema(commands: Commands) -> None:
    """Add the command `schema`."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON schema of cards or of an output",
        description="Print the JSON schema of a kind of card, such as study or judge, "
        "or of what `audit --json` prints: audit.",
    )
    parser.add_argument("name", help="audit, or a kind of card, such as study")
    parser.set_defaults(act=act("schemas", "print_schema"))


def _several(file: Path, more: list[str]) -> str:
    """Return the error for files that do not follow the first one."""
    for option in ("--json", "--yes", "--no-texts", "--quiet", "-q"):
        behind = []
        if option in sys.argv:
            behind = sys.argv[sys.argv.index(option) + 1 :]
        if more and behind[: len(more)] == more:
            written = ""
            if option == "--json":
                written = f" > {shlex.quote(more[0])}"
            return (
                f"{option} takes no file: judgescope audit {shlex.quote(str(file))} "
                f"{option}{written}"
            )
    return (
        f"further files follow the first one: judgescope audit {file} {' '.join(more)}"
    )


def add_init(commands: Commands) -> None:
    """Add the command `init`."""
    parser = commands.add_parser(
        "init",
        help="create a study from your texts and ratings",
        description="Read the header of a CSV, TSV, JSONL, Parquet or .xlsx file, "
        "guess what its columns contain, ask about the rest, and write a study's cards "
        "(YAML files). No file is overwritten.",
    )
    parser.add_argument(
        "file", type=Path, nargs="?", help="the table, one row per text"
    )
    parser.add_argument("--study", help="the study's name; default: the file's name")
    table = parser.add_argument_group(
        "the table's columns (guessed if you do not name them)"
    )
    judge = parser.add_argument_group("judges; default: metrics and controls only")
    add_options(table, column_options())
    add_options(table, rating_options())
    add_options(judge, judge_options())
    add_options(table, rating_kind_options())
    add_options(judge, cost_options())
    for name in ("--licence", "--citation"):
        about = f"the {name[2:]} of the data, for the report"
        parser.add_argument(name, default=NOT_STATED, help=about)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="ask no questions: use the options, and guess the rest",
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="afterwards, test the endpoint with at most 8 small requests, and write "
        "the lines that it needs into the new card",
    )
    add_trust(parser)
    parser.set_defaults(act=act("init", "init"))


def add_new(commands: Commands) -> None:
    """Add the command `new`."""
    parser = commands.add_parser(
        "new",
        help="write a folder for studies",
        description="Write a folder with a study, a place for cards, and a Snakefile. "
        "No file is overwritten.",
    )
    about = "the folder; default: the working directory"
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help=about)
    parser.add_argument(
        "--demo", action="store_true", help="with the demo's study, cards and data"
    )
    parser.set_defaults(act=act("new", "new"))


def add_cards(commands: Commands) -> None:
    """Add the command `cards`."""
    parser = commands.add_parser(
        "cards",
        help="list the cards that a study can name, or copy one",
        description="Print each card with what it is: shipped, yours, or yours in "
        "place of a shipped one.",
    )
    parser.set_defaults(act=act("card_files", "list_cards"), kinds=[])
    actions = parser.add_subparsers(dest="action", metavar="list|copy|import")
    listed = actions.add_parser("list", help="list cards; the default")
    about = "only cards of these kinds, such as judge or dataset"
    listed.add_argument("kinds", metavar="KIND", nargs="*", help=about)
    listed.set_defaults(act=act("card_files", "list_cards"))
    copied = actions.add_parser(
        "copy",
        help="copy a shipped card into config/, to change it",
        description="Copy a shipped card, with its form and the cards that it names, "
        "into config/. Your copy is then used in place of the shipped card.",
    )
    copied.add_argument("card", metavar="KIND/NAME", help="such as judge/rouge-l")
    copied.set_defaults(act=act("card_files", "copy_card"))
    imported = actions.add_parser(
        "import",
        help="make cards of the criteria and demonstrations of Hu et al. (2024)",
        description="Write a card into config/ for each aspect and perturbation that "
        "the authors' files describe: the shipped card with their criteria or "
        "demonstrations. Get the files from their repository.",
    )
    imported.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="aspect_criteria.json, Perturbations/GPT4_prompts.py, or both",
    )
    imported.set_defaults(act=act("import_confusion", "import_cards"))


def add_data(commands: Commands) -> None:
    """Add the command `data`."""
    parser = commands.add_parser("data", help="list, fetch and verify public data")
    actions = parser.add_subparsers(dest="action", required=True)
    show = actions.add_parser(
        "list",
        help="list the data that can be fetched, with size, licence and state",
        description="Print a line for each card with files to fetch, then how to get "
        "the files of other cards.",
    )
    fetch = actions.add_parser(
        "fetch",
        help="fetch the files of cards into the cache",
        description="Fetch the files of cards into the cache, except those that it "
        "already has.",
    )
    verify = actions.add_parser(
        "verify",
        help="compare the fetched files with the hashes in their cards",
        description="Compare the fetched files with the hashes in their cards; exit "
        "with 1 if one differs.",
    )
    ids = "ids of dataset or model cards"
    fetch.add_argument("cards", nargs="+", help=ids)
    fetch.add_argument(
        "--pin",
        action="store_true",
        help="print size and sha256 of files that a card knows only by their git blob "
        "id, as the card should have them",
    )
    show.add_argument("cards", nargs="*", help=f"{ids}; default: all")
    verify.add_argument("cards", nargs="*", help=f"{ids}; default: all")
    show.set_defaults(act=act("data", "show"))
    fetch.set_defaults(act=act("data", "fetch_cards"))
    verify.set_defaults(act=act("data", "verify"))


# --- results --------------------------------------------------------------------------


def add_show(commands: Commands) -> None:
    """Add the command `show`."""
    parser = commands.add_parser("show", help="print the numbers of a study's tables")
    add_study(parser)
    parser.add_argument(
        "table",
        nargs="?",
        help="a table's name; default: the main results, and a list of tables; "
        "verdicts begins with the sentence on each judge",
    )
    add_filters(parser, SHOWN, limit=40)
    parser.add_argument(
        "--notes", action="store_true", help="print each number's method and note"
    )
    parser.set_defaults(act=act("show", "show"))


def add_compare(commands: Commands) -> None:
    """Add the command `compare`."""
    parser = commands.add_parser(
        "compare",
        help="compare the numbers of two studies or judges",
        description="Print the statistics of two studies or two judges side by side, "
        "with paired differences where the study has computed them.",
    )
    add_study(parser)
    parser.add_argument(
        "other", type=Path, nargs="?", help="the YAML file of a second study"
    )
    parser.add_argument(
        "--judges",
        nargs="+",
        default=[],
        metavar="JUDGE",
        help="two judges of one study; for two studies, a judge of each, or one that "
        "both have",
    )
    parser.add_argument(
        "--table", default="agreement", help="the table; default: agreement"
    )
    add_filters(parser, [name for name in SHOWN if name != "judge"], limit=40)
    parser.set_defaults(act=act("compare", "compare"))


# --- replies and money ----------------------------------------------------------------


def add_replies(commands: Commands) -> None:
    """Add the command `replies`; each action sets `act`."""
    parser = commands.add_parser(
        "replies", help="list, verify, compact, import and prune replies"
    )
    actions = parser.add_subparsers(dest="action", required=True)
    shown = actions.add_parser(
        "show",
        help="list a study's replies with status, tokens and price; write them with "
        "prompts",
    )
    add_study(shown, "the study's YAML file; also works during a run")
    add_filters(shown, OF_REPLIES, "replies")
    shown.add_argument(
        "--file", type=Path, help="write all, with prompts, to this .jsonl file"
    )
    shown.add_argument(
        "--rows",
        type=int,
        default=20,
        help="maximum number of rows in the terminal, 0: all; default: 20",
    )
    shown.set_defaults(act=act("replies", "read"))
    again = actions.add_parser(
        "reread",
        help="list the stored judgments that the present parsers would change",
        description="Read the stored replies of a study as its present cards and "
        "parsers say, and compare the result with the stored judgments: the number of "
        "replies that get another status, value or label, by old and new rule, and ten "
        "examples. Errors that a judge lists are not compared.\n\nSends no request and "
        "changes no file: `judgescope run STUDY` scores replies again by itself when a "
        "card or a parser has changed. The exit status is 0, whatever has moved.",
    )
    add_study(again, "the study's YAML file; also works during a run")
    again.set_defaults(act=act("reread", "reread"))
    _add_store_actions(actions)


def _add_store_actions(actions: Commands) -> None:
    """Add the actions that change or verify the store of replies."""
    action = _add_to_store(actions, "retry", "retry refused requests in the next run")
    action.add_argument(
        "--empty",
        action="store_true",
        help="list the replies that are empty, with their price, to request them again",
    )
    action.add_argument("--model", metavar="ID", help="only requests to this model")
    action.add_argument(
        "--yes", action="store_true", help="with --empty: mark them; default: list them"
    )
    action = _add_to_store(
        actions,
        "give-up",
        "list requests that get no answer in any run",
        "give_up",
        nargs="?",
    )
    action.add_argument(
        "--yes", action="store_true", help="count them as errors; default: list them"
    )
    _add_to_store(actions, "stats", "print the contents of the store, by model")
    action = _add_to_store(actions, "verify", "verify every line of the store")
    action.add_argument(
        "--drop",
        action="store_true",
        help="drop damaged lines (their replies are requested again)",
    )
    _add_to_store(actions, "compact", "merge the journals of each model into one file")
    about = "write all replies of the store to a file"
    add_force(_add_to_store(actions, "dump", about, file="the file to write: .parquet"))
    about = "add the replies in a file from `dump` to the store"
    _add_to_store(
        actions, "import", about, "merge", file="a file from `dump`: .parquet"
    )
    action = _add_to_store(
        actions, "prune", "drop replies that the named studies do not use", nargs="+"
    )
    action.add_argument(
        "--yes", action="store_true", help="drop them; default: only count them"
    )


def _add_to_store(
    actions: Commands,
    name: str,
    about: str,
    function: str = "",
    file: str = "",
    nargs: str = "?",
) -> argparse.ArgumentParser:
    """Add an action on the store of replies."""
    action: argparse.ArgumentParser = actions.add_parser(name, help=about)
    if file:
        action.add_argument("file", type=Path, help=file)
    add_study(action, nargs=nargs)
    if name not in ("retry", "give-up", "prune"):
        action.add_argument(
            "--store",
            type=Path,
            help="the folder of the store; default: the study's",
        )
    action.set_defaults(act=act("replies", function or name))
    return action
