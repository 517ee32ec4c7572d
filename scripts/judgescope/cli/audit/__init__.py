"""The command `judgescope audit`: is a judge any good? From one table of scores and
ratings.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from judgescope.cli.audit import page, study, table
from judgescope.cli.context import check_output
from judgescope.cli.terminal import with_commas


def audit(args: argparse.Namespace) -> int:
    """Print the page and return the exit code."""
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
    print(page.as_json(findings) if args.json else with_commas(page.as_text(findings)))
    if args.write is not None and not args.json:
        print(
            f"\nwritten to {args.write}; for a full report, run `judgescope run "
            f"{card}` there"
        )
    return findings.status
