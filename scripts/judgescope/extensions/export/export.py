"""The command `judgescope export`: results for papers, repositories and other
programs.
"""

import argparse
from pathlib import Path

from judgescope.cli.context import (
    check_new,
    command_on,
    is_dry,
    plan_and_results,
    plan_of_study,
    snakemake,
)
from judgescope.cli.replies import store_folder
from judgescope.cli.show import filters_of, is_earlier_state
from judgescope.cli.terminal import plural, printed
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.core.paths import HOME
from judgescope.extensions.export import judgments, tables, targets
from judgescope.extensions.export.card import card
from judgescope.extensions.export.commands import EXPORTED
from judgescope.plan.asking_jobs import used_keys
from judgescope.plan.code import unhashed
from judgescope.plan.inputs import without_folders
from judgescope.plan.specs import pages
from judgescope.replies.compaction import export
from judgescope.replies.lookup import having
from judgescope.report.report import Report


def export_tables(args: argparse.Namespace) -> int:
    """Write or print the chosen numbers, one table per dataset, statistic and level."""
    path = args.file
    if path is not None:
        check_new(path, tables.WRITERS, force=args.force)
    report = report_of(args.study)
    filters = filters_of(args, EXPORTED)
    made = tables.tables_of(report, args.table, filters, args.columns)
    if path is None:
        texts = ["\n".join(printed(table)) for table in made.values()]
        print("\n\n".join(texts))
        return 0
    suffix = path.suffix.lower()
    _write(path, tables.WRITERS[suffix](report, made))
    needs = ""
    if path.suffix == ".tex":
        needs = "; the document needs \\usepackage{booktabs}"
    print(f"{path}: {plural(len(made), 'table')}{needs}")
    return 0


def export_card(args: argparse.Namespace) -> int:
    """Write the results card of a study."""
    check_new(args.file, [".md"], force=args.force)
    _write(args.file, card(report_of(args.study)))
    print(args.file)
    return 0


def export_judgments(args: argparse.Namespace) -> int:
    """Write all judgments of a study to one file, and a dictionary of its columns next
    to it.
    """
    check_new(args.file, judgments.WRITERS, force=args.force)
    beside = args.file.with_name(f"{args.file.name}.dictionary.md")
    check_new(beside, [".md"], force=args.force)
    plan = plan_of_study(args.study)
    out = Path("results") / plan.study.study
    source = str(args.study)
    print(judgments.export(plan, out, args.file, texts=args.texts, source=source))
    _write(beside, judgments.dictionary(plan.study.study, texts=args.texts))
    print(f"{beside}: the data dictionary")
    return 0


def export_replies(args: argparse.Namespace) -> int:
    """Write the stored replies that a study uses to one file."""
    check_new(args.file, [".parquet"], force=args.force)
    store = store_folder(args)
    keys = used_keys(plan_and_results(args.study)[0], require_texts=False)
    wanted = {shard: having(of_shard) for shard, of_shard in keys.items()}
    lines = export(store, args.file, wanted)
    print(f"{args.file}: {lines:,} lines")
    return 0


def export_targets(args: argparse.Namespace) -> int:
    """Make a study's texts and write them to a file; send requests for texts only with
    `made`.
    """
    check_new(args.file, targets.WRITERS, force=args.force)
    plan = plan_of_study(args.study, args.passed)
    target = "texts" if args.made else "texts_unasked"
    status = snakemake(args.study, target, args.passed)
    if status == 0 and not is_dry(args.passed):
        out = Path("results") / plan.study.study
        print(targets.export(plan, out, args.file, made=args.made))
    return status


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def report_of(study: Path) -> Report:
    """Return the contents of a study's report; raise UserError if its tables are
    missing.
    """
    plan = plan_of_study(study)
    with unhashed():
        spec = pages.report(plan, f"judgescope run {without_folders(study, HOME)}")
    needed = list(spec.tables.values())
    needed += [card.report for card in spec.datasets.values()]
    missing = [path for path in needed if not Path(path).is_file()]
    if missing:
        where = ", ".join(missing[:3])
        if len(missing) > 3:
            where += ", …"
        everything = len(missing) == len(needed)
        raise UserError(
            "this study has no results yet" if everything else "results are missing",
            where=where,
            todo=command_on("run", study),
        )
    report = Report.load(spec)
    _check_current(report, study)
    return report


def _check_current(report: Report, study: Path) -> None:
    """Raise UserError for tables of another seed or other judges than the study's."""
    card = report.spec.study
    if is_earlier_state(card.seed, card.judges, report.spec.tables):
        raise UserError(
            "these are results of an earlier state of the study",
            where=f"results/{report.study}",
            todo=command_on("run", study),
        )
