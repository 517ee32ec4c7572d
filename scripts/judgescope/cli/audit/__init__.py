"""The command `judgescope audit`: is a judge any good, by one table of scores and ratings?"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from judgescope.cli.init.options import add_columns

BROKEN: Final = 3
"""The exit code of input that cannot be used; the others are those of `page.Findings.status`."""
MOST_NAMED: Final = 2
"""Surplus files that a message names."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `audit` to a parser's subcommands; it sets `act`."""
    parser = commands.add_parser(
        "audit",
        help="is a judge any good? One table in, one page out",
        description="Compare a judge's scores with people's ratings in one table, without cards. "
        "Exit code: 0 every bar is met (or none is stated), 1 one is missed, 2 cannot tell, 3 the "
        "input cannot be used.",
    )
    parser.add_argument(
        "file",
        type=Path,
        help="CSV, TSV, JSONL or Parquet, results of another tool, or a folder of Inspect's logs "
        "or AlpacaEval's annotations",
    )
    table = parser.add_argument_group("the table's columns; those not named are guessed")
    table.add_argument(
        "--judge",
        metavar="[ASPECT=]COLUMN",
        action="append",
        default=[],
        help="a judge's scores, of one aspect or of all; repeat it for more",
    )
    table.add_argument(
        "--human",
        metavar="[ASPECT=]COLUMN,…",
        action="append",
        default=[],
        help="people's ratings, one column per rater; without an aspect: overall",
    )
    add_columns(table)
    parser.add_argument(
        "--require",
        metavar="STATISTIC[.LEVEL]=VALUE",
        action="append",
        default=[],
        help="a bar that every judge must meet, such as spearman=.5; repeat it for more",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the page")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the page as HTML, too")
    parser.add_argument(
        "--write", type=Path, metavar="DIR", help="keep the cards and the data of a study in DIR"
    )
    parser.set_defaults(act=audit, failed=BROKEN, more_files=_several)


def _several(file: Path, more: Sequence[str]) -> str:
    """Return what to do about several files, as a shell makes of `logs/*.json`."""
    folder = file if file.is_dir() else file.parent
    return (
        f"an audit reads one file, or a folder of Inspect's logs or AlpacaEval's annotations; got "
        f"{1 + len(more)}: {file}, {', '.join(more[:MOST_NAMED])}{', …' * (len(more) > MOST_NAMED)}"
        f"; for such files name the folder: judgescope audit {folder}"
    )


def audit(args: argparse.Namespace) -> int:
    """Print the page and return the exit code."""
    from judgescope.cli.audit import page, study, table  # slow to import
    from judgescope.cli.context import check_output

    require = study.bars(args.require)
    if args.html is not None:
        check_output(args.html, [".html"])
    draft, sheet = table.draft_of(args, require)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        kept = args.write or Path(folder)
        card = study.written(draft, kept)
        results = study.computed(draft, card, kept, Path(folder) / "results")
    findings = page.Findings(draft, sheet, results)
    if args.html is not None:
        args.html.write_text(page.as_html(findings), encoding="utf-8", newline="\n")
    print(page.as_json(findings) if args.json else page.as_text(findings))
    if args.write is not None and not args.json:
        print(f"\nwritten to {args.write}; in this folder `judgescope run {card}` says more")
    return findings.status
