"""The parsers of `export`."""

import argparse
from pathlib import Path
from typing import Final

from judgescope.cli.commands import (
    Command,
    Commands,
    act,
    add_filters,
    add_force,
    add_study,
)
from judgescope.cli.completion import MINE

EXPORTED: Final = (
    "dataset",
    "judge",
    "aspect",
    "statistic",
    "level",
    "perturbation",
    "degree",
    "criterion",
    "judge_b",
    "k",
)
"""The columns by which rows of an exported table can be filtered."""
ACROSS: Final = ("aspect", "perturbation")
"""What the columns of an exported table can stand for."""


def add_export(commands: Commands) -> None:
    """Add the command `export`; each kind sets `act`."""
    parser = commands.add_parser(
        "export", help="export tables, judgments, texts, replies, a card"
    )
    add_study(parser)
    kinds = parser.add_subparsers(dest="kind", required=True)
    tables = kinds.add_parser("tables", help="write a result table, one row per judge")
    tables.add_argument("table", help="the result table: agreement, discernment, …")
    tables.add_argument(
        "file",
        type=Path,
        nargs="?",
        help="the file to write: .tex, .md or .html; default: print",
    )
    add_force(tables)
    add_filters(tables, EXPORTED)
    tables.add_argument(
        "--columns", choices=ACROSS, help="what columns stand for; default: aspects"
    )
    card = kinds.add_parser(
        "card", help="write a Markdown summary of settings and results"
    )
    _add_file(card, ".md")
    judgments = kinds.add_parser(
        "judgments", help="write one row per judgment, with a data dictionary"
    )
    _add_file(judgments, ".parquet or .csv")
    judgments.add_argument(
        "--texts",
        action="store_true",
        help="include sources, judged texts and rationales",
    )
    replies = kinds.add_parser(
        "replies", help="write the stored replies that the study uses"
    )
    replies.add_argument(
        "--store", type=Path, help="the folder of the store; default: the study's"
    )
    _add_file(replies, ".parquet, for `judgescope replies import`")
    targets = kinds.add_parser(
        "targets", help="write the judged texts, for scoring elsewhere"
    )
    _add_file(targets, ".csv, .jsonl or .parquet")
    targets.add_argument(
        "--made",
        action="store_true",
        help="also export the texts that models write (sends requests for them)",
    )
    for name, kind in kinds.choices.items():
        kind.set_defaults(act=act("export", f"export_{name}", package=__package__))
    targets.set_defaults(passes_options=True)


def _add_file(parser: argparse.ArgumentParser, suffixes: str) -> None:
    """Add the file that a command writes, and `--force` to overwrite it."""
    parser.add_argument("file", type=Path, help=f"the file to write: {suffixes}")
    add_force(parser)


COMMANDS = (
    Command(
        name="export",
        group="results",
        add=add_export,
        examples={
            "export tables": (
                f"export {MINE} tables agreement table.tex --statistic spearman",
            ),
            "export card": (f"export {MINE} card RESULTS.md",),
            "export judgments": (
                f"export {MINE} judgments judgments.parquet",
                f"export {MINE} judgments judgments.csv --texts",
            ),
            "export replies": (f"export {MINE} replies replies.parquet",),
            "export targets": (f"export {MINE} targets texts.jsonl",),
        },
    ),
)
