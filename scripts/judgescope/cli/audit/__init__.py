"""The command `judgescope audit`: is a judge any good? From one table of scores and ratings."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from judgescope.cli.init import COLUMN_OPTIONS, Options, add_options

TABLE_OPTIONS: Final[Options] = {
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
        "a minimum (bar) that every judge must reach, such as spearman=.5; repeat it for more",
    ),
    "--json": (None, "print JSON instead of the page"),
    "--html": ("FILE", "also write the page as HTML"),
    "--write": ("DIR", "write a study for these data, with all its YAML files, to DIR"),
}
BROKEN: Final = 3
"""The exit code for input that cannot be used; `page.Findings.status` has the others."""
MOST_NAMED: Final = 2
"""The number of surplus files that a message names."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `audit` to a parser's subcommands; it sets `act`."""
    parser = commands.add_parser(
        "audit",
        help="is a judge any good? One table in, one page out",
        description="Compare a judge's scores with people's ratings in one table, without cards. "
        "Exit code: 0 every required minimum (bar) is met, or none is set; 1 a bar is missed; "
        "2 cannot tell; 3 the input cannot be used.",
    )
    parser.add_argument(
        "file",
        type=Path,
        help="a CSV, TSV, JSONL or Parquet table, results of another tool, or a folder of Inspect "
        "logs or AlpacaEval annotations",
    )
    table = parser.add_argument_group("the table's columns (guessed if you do not name them)")
    add_options(table, TABLE_OPTIONS)
    add_options(parser, PAGE_OPTIONS)
    parser.set_defaults(act=audit, failed=BROKEN, more_files=_several)


def _several(file: Path, more: Sequence[str]) -> str:
    """Return the error for several files, to which a shell expands `logs/*.json`."""
    folder = file if file.is_dir() else file.parent
    return (
        f"an audit reads one file, or a folder of Inspect logs or AlpacaEval annotations; got "
        f"{1 + len(more)}: {file}, {', '.join(more[:MOST_NAMED])}{', …' * (len(more) > MOST_NAMED)}"
        f"; to read such files together, name their folder: judgescope audit {folder}"
    )


def audit(args: argparse.Namespace) -> int:
    """Print the page and return the exit code."""
    from judgescope.cli.audit import page, study, table  # slow to import
    from judgescope.cli.context import check_output

    require = study.bars(args.require)
    if args.html is not None:
        check_output(args.html, [".html"])
    draft = table.draft_of(args, require)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        kept = args.write or Path(folder)
        card = study.written(draft, kept)
        results = study.computed(draft, card, kept, Path(folder) / "results")
    findings = page.Findings(draft, results)
    if args.html is not None:
        args.html.write_text(page.as_html(findings), encoding="utf-8", newline="\n")
    print(page.as_json(findings) if args.json else page.as_text(findings))
    if args.write is not None and not args.json:
        print(f"\nwritten to {args.write}; for a full report, run `judgescope run {card}` there")
    return findings.status
