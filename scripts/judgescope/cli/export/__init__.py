"""The command `judgescope export`: results for papers, repositories and other programs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from judgescope.cli.context import check_output, is_dry, plan_and_results, plan_of_study, snakemake
from judgescope.cli.replies import store_folder
from judgescope.cli.show import add_filters, filters_of
from judgescope.core.errors import UserError
from judgescope.core.files import whole

if TYPE_CHECKING:
    from judgescope.report.report import Report

FILTERS = (
    *("dataset", "judge", "aspect", "statistic", "level"),
    *("perturbation", "degree", "criterion", "judge_b", "k"),
)
"""The columns by which rows of an exported table can be filtered."""
ACROSS = ("aspect", "perturbation")
"""What the columns of an exported table can stand for."""
EXISTS = "choose another name, or overwrite the file with --force"


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `export` to a parser's subcommands; each kind sets `act`."""
    parser = commands.add_parser("export", help="export tables, judgments, texts, replies, a card")
    parser.add_argument("study", type=Path, help="the study's YAML file")
    kinds = parser.add_subparsers(dest="kind", required=True)
    tables = kinds.add_parser("tables", help="write a result table, one row per judge")
    tables.add_argument("table", help="the result table: agreement, discernment, …")
    card = kinds.add_parser("card", help="write a Markdown summary of settings and results")
    judgments = kinds.add_parser(
        "judgments", help="write one row per judgment, with a data dictionary"
    )
    replies = kinds.add_parser("replies", help="write the stored replies that the study uses")
    replies.add_argument("--store", type=Path, help="the folder of the store; default: the study's")
    for kind, suffixes, act in (
        (tables, ".tex, .md or .html; default: print", export_tables),
        (card, ".md", export_card),
        (judgments, ".parquet or .csv", export_judgments),
        (replies, ".parquet, for `judgescope replies import`", export_replies),
    ):
        nargs = "?" if kind is tables else None
        kind.add_argument("file", type=Path, nargs=nargs, help=f"the file to write: {suffixes}")
        kind.add_argument("--force", action="store_true", help="overwrite an existing file")
        kind.set_defaults(act=act)
    targets = kinds.add_parser("targets", help="write the judged texts, for scoring elsewhere")
    targets.add_argument("file", type=Path, help="the file to write: .csv, .jsonl or .parquet")
    targets.add_argument(
        "--made",
        action="store_true",
        help="also export the texts that models write (sends requests for them)",
    )
    targets.set_defaults(act=export_targets, passes_options=True)
    add_filters(tables, FILTERS)
    tables.add_argument(
        "--columns", choices=ACROSS, help="what columns stand for; default: aspects"
    )
    judgments.add_argument(
        "--texts", action="store_true", help="include sources, judged texts and rationales"
    )


def export_tables(args: argparse.Namespace) -> int:
    """Write or print the chosen numbers, one table per dataset, statistic and level."""
    from judgescope.cli.export.tables import WRITERS, tables_of
    from judgescope.cli.terminal import printed
    from judgescope.report.words import plural

    if args.file is not None:
        _check_new(args, *WRITERS)
    report = report_of(args.study)
    tables = tables_of(report, args.table, filters_of(args, FILTERS), args.columns)
    if args.file is None:
        print("\n\n".join("\n".join(printed(table)) for table in tables.values()))
        return 0
    _write(args.file, WRITERS[args.file.suffix.lower()](report, tables))
    latex = "; the document needs \\usepackage{booktabs}" if args.file.suffix == ".tex" else ""
    print(f"{args.file}: {plural(len(tables), 'table')}{latex}")
    return 0


def export_card(args: argparse.Namespace) -> int:
    """Write the results card of a study."""
    from judgescope.cli.export.card import card

    _check_new(args, ".md")
    _write(args.file, card(report_of(args.study)))
    print(args.file)
    return 0


def export_judgments(args: argparse.Namespace) -> int:
    """Write all judgments of a study to one file, and a dictionary of its columns next to it."""
    from judgescope.cli.export.judgments import WRITERS, dictionary, export

    _check_new(args, *WRITERS)
    beside = args.file.with_name(f"{args.file.name}.dictionary.md")
    check_output(beside, [".md"], todo=None if args.force else EXISTS)
    plan = plan_of_study(args.study)
    out = Path("results") / plan.study.study
    print(export(plan, out, args.file, texts=args.texts, source=str(args.study)))
    _write(beside, dictionary(plan.study.study, texts=args.texts))
    print(f"{beside}: the data dictionary")
    return 0


def export_replies(args: argparse.Namespace) -> int:
    """Write the stored replies that a study uses to one file."""
    from judgescope.plan.asking_jobs import used_keys
    from judgescope.replies.compaction import export
    from judgescope.replies.lookup import having

    _check_new(args, ".parquet")
    store = store_folder(args)
    keys = used_keys(plan_and_results(args.study)[0], whole=False)
    lines = export(store, args.file, {shard: having(of_shard) for shard, of_shard in keys.items()})
    print(f"{args.file}: {lines:,} lines")
    return 0


def export_targets(args: argparse.Namespace) -> int:
    """Make a study's texts and write them to a file; send requests for texts only with `made`."""
    from judgescope.cli.export.targets import WRITERS, export

    check_output(args.file, WRITERS)
    plan = plan_of_study(args.study, args.passed)
    status = snakemake(args.study, "texts" if args.made else "texts_unasked", args.passed)
    if status == 0 and not is_dry(args.passed):
        print(export(plan, Path("results") / plan.study.study, args.file, made=args.made))
    return status


def _check_new(args: argparse.Namespace, *suffixes: str) -> None:
    check_output(args.file, suffixes, todo=None if args.force else EXISTS)


def _write(path: Path, text: str) -> None:
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def report_of(study: Path) -> "Report":
    """Return the contents of a study's report; raise UserError if its tables are missing."""
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
        complete = len(missing) == len(needed)
        raise UserError(
            "this study has no results yet" if complete else "results are missing",
            where=", ".join(missing[:3]) + (", …" if missing[3:] else ""),
            todo=f"judgescope run {study}",
        )
    return Report.load(spec)
