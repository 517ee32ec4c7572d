"""The command `judgescope spotcheck`: the page of damaged texts, without the rest of a study."""

import argparse
from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError

EXAMPLES = """example:
  judgescope spotcheck config/config.yaml
"""


def add_commands(commands: Any) -> None:
    """Add the command `spotcheck` to a parser's subcommands; it sets `act`, which does it."""
    parser = commands.add_parser(
        "spotcheck",
        help="a page of damaged texts, to see by eye whether the damage is what it claims to be",
        description="Make the study's damaged texts and a page with a sample of each damage. Asks "
        "a model only for texts that a model has to write.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("study", type=Path, help="the study's YAML file")
    parser.set_defaults(act=spotcheck)


def spotcheck(told: argparse.Namespace) -> int:
    """Make the page of a study that damages texts, and say where it is."""
    from judgescope.cli.context import snakemake
    from judgescope.cli.people import plan_of
    from judgescope.plan.specs.pages import damaged

    plan, out = plan_of(told.study)
    if not damaged(plan):
        raise UserError(
            "this study damages no text",
            where=f"{told.study}, key perturbations",
            todo="name perturbations and the method discernment or confusion",
        )
    page = out / "report" / "texts.html"
    status = snakemake(told.study, str(page), [])
    if status == 0:
        print(f"open {page}")
    return status
