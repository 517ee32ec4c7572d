"""The command `judgescope audit`: is a judge any good? From one table of scores and
ratings.
"""

import argparse
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from judgescope.cli.audit import (
    annotations,
    error_rows,
    markdown,
    page,
    refusals,
    slices,
    study,
    table,
)
from judgescope.cli.audit.piped import as_file
from judgescope.cli.commands import BROKEN
from judgescope.cli.context import check_output
from judgescope.cli.init.open_readings import UnclearColumns
from judgescope.cli.terminal import plain, with_commas
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.extras import missing_package


def audit(args: argparse.Namespace) -> int:
    """Print the page and return the exit code.

    With annotations an error is one of them: a cell that it quotes cannot be a command
    of the runner. With --json it is an object, too.
    """
    try:
        with as_file(args.file, table.MOST_BYTES) as file:
            args.file = file
            return _asking(args)
    except (UserError, UserErrors) as error:
        if args.no_texts:
            _hide_cells(error)
        if args.json:
            print(refusals.as_json(error))
        if args.annotations is not None:
            print(annotations.of_error(args.file, error), file=sys.stderr)
        else:
            print(refusals.as_text(error), file=sys.stderr)
        return BROKEN
    except ModuleNotFoundError as error:
        missing = missing_package(error, "audit")
        if missing is None or not args.json:
            raise
        print(refusals.as_json(missing))
        print(missing, file=sys.stderr)
        return BROKEN


def _asking(args: argparse.Namespace, most_questions: int = 3) -> int:
    """Audit; on a terminal, ask a person to choose where a reading is open."""
    is_asking = sys.stdin.isatty() and sys.stdout.isatty()
    if args.yes or args.json or args.quiet or not is_asking:
        return _audited(args)
    for _ in range(most_questions):
        try:
            return _audited(args)
        except UnclearColumns as error:
            chosen = refusals.chosen(error, input)
            if chosen is None:
                raise
            for flag, values in chosen.flags.items():
                single = flag in {"system", "decimal"}
                value = values[0] if single else list(values)
                setattr(args, flag, value)
    return _audited(args)


def _audited(args: argparse.Namespace) -> int:
    require = study.bars(args.require)
    if args.html is not None:
        check_output(args.html, [".html"])
    if args.markdown is not None:
        check_output(args.markdown, [args.markdown.suffix.lower()])
    if args.errors is not None:
        check_output(args.errors, [".csv"])
    draft = table.draft_of(args, require)
    columns = slices.slice_columns(draft, args.slice)
    if args.require_slices:
        slices.check_bars(draft, columns)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        kept = args.write or Path(folder)
        card = study.written(draft, kept)
        results = study.computed(draft, card, kept, Path(folder) / "results")
    findings = page.AuditFindings(
        draft,
        results,
        texts=not args.no_texts,
        slices=list(slices.slices_of(draft, args.slice, bars=args.require_slices)),
    )
    if args.html is not None:
        args.html.write_text(page.as_html(findings), encoding="utf-8", newline="\n")
    if args.markdown is not None:
        with args.markdown.open("a", encoding="utf-8", newline="\n") as file:
            file.write(markdown.as_markdown(findings))
    if args.json:
        print(page.as_json(findings))
    else:
        text = page.as_short_text if args.quiet else page.as_text
        print(with_commas(text(findings)))
    if args.errors is not None:
        lines = error_rows.write_errors(
            draft, findings.disagreements, args.errors, texts=not args.no_texts
        )
        for line in lines:
            print(plain(line), file=sys.stderr)
    if args.annotations is not None:
        for line in annotations.of_findings(findings):
            print(line, file=sys.stderr)
    if args.write is not None and not (args.json or args.quiet):
        print(
            f"\nwritten to {args.write}; for a full report, run `judgescope run "
            f"{card}` there"
        )
    return findings.status


def _hide_cells(error: UserError | UserErrors) -> None:
    """Remove values from errors, except those of the command line."""
    errors = error.errors if isinstance(error, UserErrors) else [error]
    named = set[str]()
    for word in sys.argv[1:]:
        named.update(re.split("[=,]", word))
    for each in errors:
        if str(each.got) not in named:
            each.got = None
