"""The parsers of `batch`."""

import argparse
from pathlib import Path

from judgescope.cli.commands import Command, Commands, act, add_study, add_trust
from judgescope.cli.completion import MINE


def add_batch(commands: Commands) -> None:
    """Add the command `batch`; each action sets `act`."""
    parser = commands.add_parser(
        "batch", help="use the Batch API: cheaper, within a day"
    )
    actions = parser.add_subparsers(dest="action", required=True)

    def add(
        name: str, function: str, about: str, *, sends: bool = True
    ) -> argparse.ArgumentParser:
        action: argparse.ArgumentParser = actions.add_parser(name, help=about)
        add_study(action)
        action.set_defaults(act=act("actions", function, package=__package__))
        if sends:
            add_trust(action)
        return action

    add("submit", "submit", "send the requests without a stored reply as batches")
    add("status", "status", "print the progress of the study's batches")
    add("fetch", "fetch", "store the replies of finished batches")
    add(
        "cancel",
        "cancel",
        "cancel the study's batches (then fetch the replies so far)",
    )
    export = add(
        "export",
        "export_batch",
        "write the requests without a stored reply to files",
        sends=False,
    )
    export.add_argument("folder", type=Path, help="the folder to write to")
    imported = add(
        "import",
        "import_batch",
        "add results from files to the reply store",
        sends=False,
    )
    imported.add_argument(
        "files", type=Path, nargs="+", help="result and error files, in any order"
    )


COMMANDS = (
    Command(
        name="batch",
        group="replies and money",
        add=add_batch,
        examples={
            "batch submit": (f"batch submit {MINE}",),
            "batch status": (f"batch status {MINE}",),
            "batch fetch": (f"batch fetch {MINE}",),
            "batch cancel": (f"batch cancel {MINE}",),
            "batch export": (f"batch export {MINE} files",),
            "batch import": (f"batch import {MINE} output.jsonl errors.jsonl",),
        },
    ),
)
