"""The parser of `rate-plan`."""

from judgescope.cli.commands import Commands, act, add_filters, add_study

FILTERS = ("dataset", "judge", "aspect", "system_subset")


def add_commands(commands: Commands) -> None:
    """Add the command `rate-plan`."""
    parser = commands.add_parser(
        "rate-plan",
        help="how many ratings a wished width needs",
        description="Print how many sources people have to rate so that every "
        "corrected number of a study has a wished width, beside each judge and without "
        "one, and what both cost. It reads the table of the method corrected and sends "
        "no request.",
    )
    add_study(parser)
    parser.add_argument(
        "--half-width",
        type=float,
        required=True,
        metavar="W",
        help="the wished width: a 95 %% interval of value ± W, in points of the scale, "
        "or of two labels as a share",
    )
    parser.add_argument(
        "--sources",
        type=int,
        metavar="T",
        help="the number of sources that the judge scores; default: as in the study",
    )
    parser.add_argument(
        "--rating-price",
        type=float,
        metavar="P",
        help="the price of all ratings of one text",
    )
    parser.add_argument(
        "--judgment-price",
        type=float,
        metavar="P",
        help="the price of a judgment; default: that of the table cost, in US dollars",
    )
    add_filters(parser, FILTERS)
    parser.set_defaults(act=act("rate_plan", "rate_plan"))
