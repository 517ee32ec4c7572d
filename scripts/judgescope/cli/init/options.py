"""Options that `audit` and `init` share."""

import argparse


def add_paired(group: "argparse._ArgumentGroup") -> None:
    """Add the options of tables in which people chose between two texts."""
    for flag, about in (
        ("--texts", "where people chose between two texts: their columns, first and second"),
        ("--systems", "the columns of the systems that wrote the two texts"),
    ):
        group.add_argument(flag, metavar=("FIRST", "SECOND"), nargs=2, default=[], help=about)
