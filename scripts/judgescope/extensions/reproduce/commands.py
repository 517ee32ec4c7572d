"""The parser of `reproduce`."""

from pathlib import Path

from judgescope.cli.commands import Command, Commands, act


def add_reproduce(commands: Commands) -> None:
    """Add the command `reproduce`."""
    parser = commands.add_parser(
        "reproduce",
        help="recompute published figures and compare them",
        description="Fetch the data, compute the figures of a publication, and compare "
        "them with the printed ones.\n\nWrites "
        "results/published-<name>/index.html. The exit status is 1 if a figure "
        "differs and its card does not give a reason.",
    )
    parser.add_argument(
        "names", nargs="*", help="what to reproduce; default: list all names"
    )
    parser.add_argument(
        "--all", action="store_true", help="reproduce all, with one line for each"
    )
    parser.add_argument(
        "--data", default="data", help="the folder with your own copies of data"
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        help="write all results to this file, if all could be computed",
    )
    parser.add_argument(
        "--table",
        help="keep the figures in this CSV: rows of what is reproduced now replace "
        "its earlier rows, others stay",
    )
    parser.add_argument(
        "--leaderboard",
        type=Path,
        help="with --table: write the page of judges on public data to this file",
    )
    parser.set_defaults(act=act("reproduce", "reproduce", package=__package__))


COMMANDS = (
    Command(
        name="reproduce",
        group="results",
        add=add_reproduce,
        examples={"reproduce": ("reproduce hanna", "reproduce --all")},
    ),
)
