"""The parsers of `passport` and `gate`."""

from pathlib import Path

from judgescope.cli.commands import Commands, act, add_study, add_trust


def add_commands(commands: Commands) -> None:
    """Add the commands `passport` and `gate`."""
    _add_passport(commands)
    _add_gate(commands)


def _add_passport(commands: Commands) -> None:
    parser = commands.add_parser(
        "passport",
        help="write what a judge was when it was tested",
        description="Write one JSON file with a judge's model, prompt, parser and "
        "threshold, its verdicts on anchors (the rated texts), its numbers with their "
        "intervals, and an expiry date. It sends no request.",
    )
    add_study(parser)
    parser.add_argument("--judge", required=True, help="the judge")
    parser.add_argument("--dataset", help="the dataset; default: the only one")
    parser.add_argument("--aspect", help="the aspect; default: the only one")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the file, such as judge.json"
    )
    parser.add_argument(
        "--looks",
        dest="horizon",
        type=int,
        default=300,
        metavar="H",
        help="how often `gate --fresh` may be run: over all looks a judge that has not "
        "moved raises an alarm in at most 5 %% of cases; default: %(default)s",
    )
    parser.add_argument(
        "--days",
        type=int,
        default=90,
        help="for how many days it holds; default: %(default)s",
    )
    parser.set_defaults(act=act("passport", "passport"))


def _add_gate(commands: Commands) -> None:
    parser = commands.add_parser(
        "gate",
        help="is a judge still the one of its passport?",
        description="Say whether the judge moved (new draws of its anchors), the "
        "systems moved (their corrected means, while the judge did not), or that it "
        "cannot be told. Exit codes: 0 nothing moved, 1 the judge or the systems "
        "moved, 2 cannot tell, 3 the input cannot be used. Without --fresh it sends no "
        "request.",
    )
    add_study(parser)
    parser.add_argument("passport", type=Path, help="the passport's file")
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="ask one new draw of each anchor, and add the look to the passport",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="STATISTIC=VALUE",
        help="a floor of the share of right verdicts at the last look: accuracy, tpr "
        "or tnr, such as tnr=.8; repeat it for more",
    )
    parser.add_argument(
        "--slice",
        action="append",
        default=[],
        metavar="COLUMN",
        help="every floor must hold on each value of this column of the items "
        "(`columns.meta` of the dataset's card); repeat it for more",
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="append the answer to this file, such as a summary of CI",
    )
    parser.add_argument("--json", action="store_true", help="print an object")
    add_trust(parser)
    parser.set_defaults(act=act("gate", "gate"))
