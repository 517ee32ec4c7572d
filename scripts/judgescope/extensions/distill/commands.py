"""The parsers of `distill`."""

from judgescope.cli.commands import Command, Commands, act, study_file
from judgescope.cli.completion import MINE


def add_distill(commands: Commands) -> None:
    """Add the command `distill`."""
    parser = commands.add_parser(
        "distill", help="train a small judge on another's judgments"
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for name, about in {
        "export": "let the teacher judge the sample, and write training examples",
        "train": "write the examples, and train the judge's model",
        "card": "write a model card for the trained model, to use it in other studies",
    }.items():
        action = actions.add_parser(name, help=about)
        action.add_argument("study", type=study_file, help="the study's YAML file")
        action.set_defaults(
            act=act("actions", "distill", package=__package__),
            passes_options=name != "card",
        )
    actions.choices["card"].add_argument(
        "card", type=study_file, help="the card to write: config/models/<id>.yaml"
    )


COMMANDS = (
    Command(
        name="distill",
        group="training",
        add=add_distill,
        examples={
            "distill export": (f"distill export {MINE}",),
            "distill train": (f"distill train {MINE}",),
            "distill card": (f"distill card {MINE} config/models/small.yaml",),
        },
    ),
)
