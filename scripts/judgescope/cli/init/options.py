"""Options that `audit` and `init` share: the columns of a table."""

import argparse


def add_columns(group: "argparse._ArgumentGroup") -> None:
    """Add the options of a table's roles and scales."""
    for flag, metavar, about in (
        ("--text", "COLUMN", "the text that is judged"),
        ("--source", "COLUMN", "the source of the text; repeat it for several columns"),
        ("--references", "COLUMN", "reference texts; repeat it for several columns"),
        ("--item", "COLUMN", "the id that rows of one source share"),
        ("--system", "COLUMN", "the system that wrote the text"),
        ("--scale", "[ASPECT=]MIN:MAX[:STEP]", "the scale of the ratings, from worst to best"),
    ):
        if flag in {"--source", "--references", "--scale"}:
            group.add_argument(flag, metavar=metavar, action="append", default=[], help=about)
        else:
            group.add_argument(flag, metavar=metavar, help=about)
    for flag, about in (
        ("--texts", "if people chose between two texts: the columns of the first and the second"),
        ("--systems", "the columns of the systems that wrote the two texts"),
    ):
        group.add_argument(flag, metavar=("FIRST", "SECOND"), nargs=2, default=[], help=about)
