"""The parsers of commands; the module that does a command's work is imported when it
runs.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

Parser = argparse.ArgumentParser
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
BROKEN: Final = 3
"""The exit code of `audit` for input that cannot be used."""
MOST_NAMED: Final = 2
"""The number of surplus files that a message of `audit` names."""
SHOWN: Final = ("dataset", "judge", "aspect", "statistic", "level", "perturbation")
"""The columns by which printed rows can be filtered."""
EXPORTED: Final = (
    *("dataset", "judge", "aspect", "statistic", "level"),
    *("perturbation", "degree", "criterion", "judge_b", "k"),
)
"""The columns by which rows of an exported table can be filtered."""
OF_REPLIES: Final = ("judge", "aspect", "status", "target")
"""The columns by which replies can be filtered."""
ACROSS: Final = ("aspect", "perturbation")
"""What the columns of an exported table can stand for."""


def act(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """Return what runs a command: a function of a module of this package."""

    def run(args: argparse.Namespace) -> int:
        status: int = getattr(import_module(f"judgescope.cli.{module}"), function)(args)
        return status

    return run


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


def _add_study(
    parser: Parser, about: str = "the study's YAML file", **more: Any
) -> None:
    parser.add_argument("study", type=Path, help=about, **more)


def _add_force(parser: Parser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="overwrite an existing file"
    )


# --- options that filter rows ---------------------------------------------------------


def add_filters(
    parser: Parser, names: Iterable[str], what: str = "rows", limit: int = 0
) -> None:
    """Add options that choose rows by their columns, and with a default `limit` also
    `--rows`.
    """
    for name in names:
        kind, about = int if name == "k" else str, f"only {what} with this {name}"
        parser.add_argument(option(name), nargs="+", default=[], type=kind, help=about)
    if limit:
        about = f"maximum number of rows, 0: all; default: {limit}"
        parser.add_argument("--rows", type=int, default=limit, help=about)


def option(column: str) -> str:
    """Return the option that filters by a column."""
    return f"--{column.replace('_', '-')}"


# --- data -----------------------------------------------------------------------------

PROVIDERS: Final = (
    *(
        "openai",
        "openai-reasoning",
        "azure",
        "azure-token",
        "anthropic",
        "gemini",
        "openrouter",
    ),
    *("ollama", "vllm", "llama-cpp"),
)
"""Model cards that judgescope includes, one for each way to access a provider."""
NOT_STATED: Final = "not stated"
Options = Mapping[str, tuple[str | tuple[str, str] | None, str]]
"""Option -> its metavar, and what it is about."""
COLUMN_OPTIONS: Final[Options] = {
    "--text": ("COLUMN", "the text that is judged"),
    "--source": ("COLUMN", "the source of the text; repeat it for several columns"),
    "--references": ("COLUMN", "reference texts; repeat it for several columns"),
    "--item": ("COLUMN", "the id that rows of one source share"),
    "--system": ("COLUMN", "the system that wrote the text"),
    "--length": (
        "COLUMN",
        "the length of the judged text, in any unit, if the table has no texts",
    ),
    "--scale": (
        "[ASPECT=]MIN:MAX[:STEP]",
        "the scale of the ratings; MIN is the lowest value",
    ),
    "--texts": (
        ("FIRST", "SECOND"),
        "if people chose between two texts: the columns of the first and the second",
    ),
    "--systems": (
        ("FIRST", "SECOND"),
        "the columns of the systems that wrote the two texts",
    ),
    "--lengths": (
        ("FIRST", "SECOND"),
        "the columns of the two texts' lengths, if the table has no texts",
    ),
}
"""Options on the columns of a table, which `audit` and `init` share."""
RATING_OPTIONS: Final[Options] = {
    "--rating": (
        "ASPECT=COLUMN,…",
        "the ratings of an aspect, one column per rater; repeat it for each aspect",
    ),
    "--define": ("ASPECT=TEXT", "a definition for judges, if the aspect has no card"),
    "--task": (
        None,
        "what systems had to write: summarization, dialogue, translation, …",
    ),
}
KIND_OPTIONS: Final[Options] = {
    "--mean": (None, "the ratings are means over raters"),
    "--planned": (None, "the ratings were planned, not given by people"),
}
JUDGE_OPTIONS: Final[Options] = {
    "--provider": (
        "NAME",
        f"a provider that judgescope has a card for: {', '.join(PROVIDERS)}",
    ),
    "--endpoint": ("URL", "the URL of an OpenAI-compatible endpoint: …/v1"),
    "--model": ("NAME", "the model's name at the endpoint"),
    "--key-env": (
        "VARIABLE",
        "the NAME of the environment variable that holds the key",
    ),
    "--key-file": ("FILE", "a file with only the key, instead of --key-env"),
    "--proxy": (
        "URL",
        "the proxy in front of the endpoint; variables such as HTTPS_PROXY are ignored",
    ),
    "--proxy-auth-env": (
        "VARIABLE",
        "the NAME of the variable that holds the proxy's user:password",
    ),
    "--proxy-auth-file": (
        "FILE",
        "a file with only user:password, instead of --proxy-auth-env",
    ),
    "--ca-file": ("FILE", "certificates (PEM) to trust instead of the system's"),
    "--form": (None, "the prompt form (template); default: analyze-rate"),
    "--judge": ("CARD", "an existing judge card"),
    "--metric": (
        "[ASPECT=]COLUMN",
        "a column with the scores of a judge or metric; repeat it for more",
    ),
    "--recorded": ("FILE", "a file with a judge's replies about the texts"),
    "--reply": ("COLUMN", "the column with the replies in the file of --recorded"),
    "--max-usd": ("US$", "the most that the study may cost in total"),
}
COST_OPTIONS: Final[Options] = {
    "--price": (("IN", "OUT"), "US$ per million tokens of prompts, and of replies"),
    "--draws": (None, "replies to request for each question; default: 1"),
}
AUDIT_OPTIONS: Final[Options] = {
    "--judge": (
        "[ASPECT=]COLUMN",
        "a judge's scores, for one aspect or for all; repeat it for more columns",
    ),
    "--human": (
        "[ASPECT=]COLUMN,…",
        "people's ratings, one column per rater; without an aspect: overall",
    ),
    **COLUMN_OPTIONS,
}
PAGE_OPTIONS: Final[Options] = {
    "--require": (
        "STATISTIC[.LEVEL]=VALUE",
        "a minimum (bar) that every judge must reach, such as spearman=.5; repeat it "
        "for more",
    ),
    "--json": (None, "print JSON instead of the page"),
    "--html": ("FILE", "also write the page as HTML"),
    "--write": ("DIR", "write a study for these data, with all its YAML files, to DIR"),
}
REPEATED: Final = (
    *(
        "source",
        "references",
        "scale",
        "rating",
        "define",
        "judge",
        "metric",
        "human",
        "require",
    ),
)
KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"--{name}": {"action": "append", "default": []} for name in REPEATED},
    **{
        f"--{name}": {"nargs": 2, "default": []}
        for name in ("texts", "systems", "lengths")
    },
    **{f"--{name}": {"action": "store_true"} for name in ("mean", "planned", "json")},
    **{f"--{name}": {"type": Path} for name in ("recorded", "html", "write")},
    "--provider": {"choices": PROVIDERS},
    "--price": {"nargs": 2, "type": float},
    "--draws": {"type": int},
}
"""Option -> further arguments for its parser; without any it takes one text."""


def _add_options(group: "argparse._ActionsContainer", options: Options) -> None:
    for flag, (metavar, about) in options.items():
        named: dict[str, Any] = {"metavar": metavar} if metavar else {}
        group.add_argument(flag, help=about, **named, **KINDS.get(flag, {}))


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
        help="a CSV, TSV, JSONL or Parquet table, results of another tool, or a folder "
        "of Inspect logs or AlpacaEval annotations",
    )
    table = parser.add_argument_group(
        "the table's columns (guessed if you do not name them)"
    )
    _add_options(table, AUDIT_OPTIONS)
    _add_options(parser, PAGE_OPTIONS)
    parser.set_defaults(act=act("audit", "audit"), failed=BROKEN, more_files=_several)


def _several(file: Path, more: list[str]) -> str:
    """Return the error for several files, to which a shell expands `logs/*.json`."""
    folder = file if file.is_dir() else file.parent
    return (
        "an audit reads one file, or a folder of Inspect logs or AlpacaEval "
        f"annotations; got {1 + len(more)}: {file}, "
        f"{', '.join(more[:MOST_NAMED])}{', …' * (len(more) > MOST_NAMED)}; to read "
        f"such files together, name their folder: judgescope audit {folder}"
    )


def add_init(commands: Commands) -> None:
    """Add the command `init`."""
    parser = commands.add_parser(
        "init",
        help="create a study from your texts and ratings",
        description="Read the header of a CSV, TSV, JSONL or Parquet file, guess what "
        "its columns contain, ask about the rest, and write a study's cards (YAML "
        "files). No file is overwritten.",
    )
    parser.add_argument(
        "file", type=Path, nargs="?", help="the table, one row per text"
    )
    parser.add_argument("--study", help="the study's name; default: the file's name")
    table = parser.add_argument_group(
        "the table's columns (guessed if you do not name them)"
    )
    judge = parser.add_argument_group("judges; default: metrics and controls only")
    _add_options(table, {**COLUMN_OPTIONS, **RATING_OPTIONS})
    _add_options(judge, JUDGE_OPTIONS)
    _add_options(table, KIND_OPTIONS)
    _add_options(judge, COST_OPTIONS)
    for name in ("--licence", "--citation"):
        about = f"the {name[2:]} of the data, for the report"
        parser.add_argument(name, default=NOT_STATED, help=about)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="ask no questions: use the options, and guess the rest",
    )
    parser.set_defaults(act=act("init", "init"))


def add_data(commands: Commands) -> None:
    """Add the command `data`."""
    parser = commands.add_parser("data", help="list, fetch and verify public data")
    actions = parser.add_subparsers(dest="action", required=True)
    for name, function, about, description in (
        (
            "list",
            "show",
            "list the data that can be fetched, with size, licence and state",
            "Print a line for each card with files to fetch, then how to get the files "
            "of other cards.",
        ),
        (
            "fetch",
            "fetch_cards",
            "fetch the files of cards into the cache",
            "Fetch the files of cards into the cache, except those that it already "
            "has.",
        ),
        (
            "verify",
            "verify",
            "compare the fetched files with the hashes in their cards",
            "Compare the fetched files with the hashes in their cards; exit with 1 if "
            "one differs.",
        ),
    ):
        action = actions.add_parser(name, help=about, description=description)
        some = "+" if name == "fetch" else "*"
        ids = "ids of dataset or model cards" + (
            "; default: all" if some == "*" else ""
        )
        action.add_argument("cards", nargs=some, help=ids)
        action.set_defaults(act=act("data", function))


# --- results --------------------------------------------------------------------------


def add_show(commands: Commands) -> None:
    """Add the command `show`."""
    parser = commands.add_parser("show", help="print the numbers of a study's tables")
    _add_study(parser)
    parser.add_argument(
        "table",
        nargs="?",
        help="a table's name; default: the main results, and a list of tables",
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
    _add_study(parser)
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


def add_export(commands: Commands) -> None:
    """Add the command `export`; each kind sets `act`."""
    parser = commands.add_parser(
        "export", help="export tables, judgments, texts, replies, a card"
    )
    _add_study(parser)
    kinds = parser.add_subparsers(dest="kind", required=True)
    tables = kinds.add_parser("tables", help="write a result table, one row per judge")
    tables.add_argument("table", help="the result table: agreement, discernment, …")
    card = kinds.add_parser(
        "card", help="write a Markdown summary of settings and results"
    )
    judgments = kinds.add_parser(
        "judgments", help="write one row per judgment, with a data dictionary"
    )
    replies = kinds.add_parser(
        "replies", help="write the stored replies that the study uses"
    )
    replies.add_argument(
        "--store", type=Path, help="the folder of the store; default: the study's"
    )
    for kind, suffixes in (
        (tables, ".tex, .md or .html; default: print"),
        (card, ".md"),
        (judgments, ".parquet or .csv"),
        (replies, ".parquet, for `judgescope replies import`"),
    ):
        nargs = "?" if kind is tables else None
        kind.add_argument(
            "file", type=Path, nargs=nargs, help=f"the file to write: {suffixes}"
        )
        _add_force(kind)
    targets = kinds.add_parser(
        "targets", help="write the judged texts, for scoring elsewhere"
    )
    targets.add_argument(
        "file", type=Path, help="the file to write: .csv, .jsonl or .parquet"
    )
    _add_force(targets)
    targets.add_argument(
        "--made",
        action="store_true",
        help="also export the texts that models write (sends requests for them)",
    )
    for name, kind in kinds.choices.items():
        kind.set_defaults(act=act("export", f"export_{name}"))
    targets.set_defaults(passes_options=True)
    add_filters(tables, EXPORTED)
    tables.add_argument(
        "--columns", choices=ACROSS, help="what columns stand for; default: aspects"
    )
    judgments.add_argument(
        "--texts",
        action="store_true",
        help="include sources, judged texts and rationales",
    )


def add_reproduce(commands: Commands) -> None:
    """Add the command `reproduce`."""
    parser = commands.add_parser(
        "reproduce",
        help="recompute published figures and compare them",
        description="Fetch the data, compute the figures of a publication, and compare "
        "them with the printed ones.\n\nWrites "
        "results/published-<name>/index.html. The exit status is 1 if a figure "
        "differs and its card does not give a reason.",
    )
    parser.add_argument(
        "names", nargs="*", help="what to reproduce; default: list all names"
    )
    parser.add_argument(
        "--all", action="store_true", help="reproduce all, with one line for each"
    )
    parser.add_argument(
        "--data", default="data", help="the folder with your own copies of data"
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        help="write all results to this file, if all could be computed",
    )
    parser.set_defaults(act=act("reproduce", "reproduce"))


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
    _add_study(shown, "the study's YAML file; also works during a run")
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
    _add_study(again, "the study's YAML file; also works during a run")
    again.set_defaults(act=act("reread", "reread"))

    def add(
        name: str, about: str, function: str = "", file: str = "", nargs: str = "?"
    ) -> Parser:
        action: Parser = actions.add_parser(name, help=about)
        if file:
            action.add_argument("file", type=Path, help=file)
        _add_study(action, nargs=nargs)
        if name not in ("retry", "prune"):
            action.add_argument(
                "--store",
                type=Path,
                help="the folder of the store; default: the study's",
            )
        action.set_defaults(act=act("replies", function or name))
        return action

    add("retry", "retry refused requests in the next run")
    add("stats", "print the contents of the store, by model")
    action = add("verify", "verify every line of the store")
    action.add_argument(
        "--drop",
        action="store_true",
        help="drop damaged lines (their replies are requested again)",
    )
    add("compact", "merge the journals of each model into one file")
    about = "write all replies of the store to a file"
    _add_force(add("dump", about, file="the file to write: .parquet"))
    about = "add the replies in a file from `dump` to the store"
    add("import", about, "merge", file="a file from `dump`: .parquet")
    action = add("prune", "drop replies that the named studies do not use", nargs="+")
    action.add_argument(
        "--yes", action="store_true", help="drop them; default: only count them"
    )


def add_batch(commands: Commands) -> None:
    """Add the command `batch`; each action sets `act`."""
    parser = commands.add_parser(
        "batch", help="use the Batch API: cheaper, within a day"
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for name, function, about in (
        ("submit", "submit", "send the requests without a stored reply as batches"),
        ("status", "status", "print the progress of the study's batches"),
        ("fetch", "fetch", "store the replies of finished batches"),
        (
            "cancel",
            "cancel",
            "cancel the study's batches (then fetch the replies so far)",
        ),
        (
            "export",
            "export_batch",
            "write the requests without a stored reply to files",
        ),
        ("import", "import_batch", "add results from files to the reply store"),
    ):
        action = actions.add_parser(name, help=about)
        _add_study(action)
        action.set_defaults(act=act("batch", function))
    actions.choices["export"].add_argument(
        "folder", type=Path, help="the folder to write to"
    )
    actions.choices["import"].add_argument(
        "files", type=Path, nargs="+", help="result and error files, in any order"
    )


# --- training -------------------------------------------------------------------------


def add_distill(commands: Commands) -> None:
    """Add the command `distill`."""
    parser = commands.add_parser(
        "distill", help="train a small judge on another's judgments"
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for name, about in {
        "export": "let the teacher judge the sample, and write training examples",
        "train": "write the examples, and train the judge's model",
        "card": "write a model card for the trained model, to use it in other studies",
    }.items():
        action = actions.add_parser(name, help=about)
        action.add_argument("study", type=study_file, help="the study's YAML file")
        action.set_defaults(
            act=act("distill", "distill"), passes_options=name != "card"
        )
    actions.choices["card"].add_argument(
        "card", type=study_file, help="the card to write: config/models/<id>.yaml"
    )
