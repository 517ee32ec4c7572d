"""The command `judgescope export`: a study's results for a paper, a repository, other programs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgescope.core.errors import UserError

if TYPE_CHECKING:
    from judgescope.report.report import Report

FORCE = "write over a file that is there"
"""What --force does."""


def add_commands(commands: Any) -> None:
    """Add the command `export` to a parser's subcommands; each kind sets `act`, which does it."""
    parser = commands.add_parser(
        "export",
        help="results for elsewhere: LaTeX tables, a results card, all judgments in one file",
    )
    parser.add_argument("study", type=Path, help="the study's YAML file")
    kinds = parser.add_subparsers(dest="kind", required=True)
    _add_latex(kinds.add_parser("latex", help="numbers of a result table, by judge, for LaTeX"))
    card = kinds.add_parser("card", help="what was measured and what came of it, in Markdown")
    judgments = kinds.add_parser("judgments", help="one row per judgment, with a data dictionary")
    card.add_argument("file", type=Path, help="the file to write: .md")
    judgments.add_argument("file", type=Path, help="the file to write: .parquet or .csv")
    judgments.add_argument(
        "--texts", action="store_true", help="with sources, judged texts and the judges' reasons"
    )
    for kind, act in ((card, export_card), (judgments, export_judgments)):
        kind.add_argument("--force", action="store_true", help=FORCE)
        kind.set_defaults(act=act)


def _add_latex(parser: argparse.ArgumentParser) -> None:
    from judgescope.cli.export.choice import COLUMNS, FILTERS

    parser.add_argument("table", help="the result table: agreement, discernment, …")
    parser.add_argument("file", type=Path, help="the file to write: .tex")
    for name in FILTERS:
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            nargs="+",
            default=[],
            type=int if name == "k" else str,
            help=f"only of this {name}",
        )
    parser.add_argument("--columns", choices=COLUMNS, help="what stands across; default: aspects")
    parser.add_argument("--force", action="store_true", help=FORCE)
    parser.set_defaults(act=export_latex)


def export_latex(told: argparse.Namespace) -> int:
    """Write the chosen numbers of a table as LaTeX, one table per dataset, statistic and level."""
    from judgescope.cli.export import latex
    from judgescope.cli.export.choice import FILTERS, grids
    from judgescope.cli.export.files import check_new, write

    check_new(told.file, force=told.force, suffixes=(".tex",))
    report = report_of(told.study)
    wanted = {name: getattr(told, name) for name in FILTERS if getattr(told, name)}
    found = grids(report, told.table, wanted, told.columns)
    write(told.file, latex.document(report, found))
    print(f"{told.file}: {len(found)} tables; the document needs \\usepackage{{booktabs}}")
    return 0


def export_card(told: argparse.Namespace) -> int:
    """Write the results card of a study."""
    from judgescope.cli.export.card import card
    from judgescope.cli.export.files import check_new, write

    check_new(told.file, force=told.force, suffixes=(".md",))
    write(told.file, card(report_of(told.study)))
    print(told.file)
    return 0


def export_judgments(told: argparse.Namespace) -> int:
    """Write all judgments of a study to one file, and the dictionary of its columns beside it."""
    from judgescope.cli.context import plan_of_study
    from judgescope.cli.export.dictionary import dictionary
    from judgescope.cli.export.files import check_new, write
    from judgescope.cli.export.judgments import SUFFIXES, export

    check_new(told.file, force=told.force, suffixes=SUFFIXES)
    beside = told.file.with_name(f"{told.file.name}.dictionary.md")
    check_new(beside, force=told.force, suffixes=(".md",))
    plan = plan_of_study(told.study)
    out = Path("results") / plan.study.study
    print(export(plan, out, told.file, texts=told.texts, source=str(told.study)))
    write(beside, dictionary(plan.study.study, texts=told.texts))
    print(f"{beside}: what the columns mean")
    return 0


def report_of(study: Path) -> "Report":
    """Return what the report of a study knows; its tables must be there.

    Raises UserError, which says how to make them.
    """
    from judgescope.cli.context import plan_of_study
    from judgescope.core.paths import HOME
    from judgescope.plan.inputs import without_folders
    from judgescope.plan.specs import pages
    from judgescope.report.report import Report

    plan = plan_of_study(study)
    command = f"judgescope run {without_folders(study, HOME)}"
    spec = pages.report(plan, command)
    needed = [*spec.tables.values(), *(card.report for card in spec.datasets.values())]
    missing = [path for path in needed if not Path(path).is_file()]
    if missing:
        raise UserError(
            "this study has no results yet"
            if len(missing) == len(needed)
            else "results are missing",
            where=", ".join(missing[:3]) + (", …" if missing[3:] else ""),
            todo=f"judgescope run {study}",
        )
    return Report.load(spec)
