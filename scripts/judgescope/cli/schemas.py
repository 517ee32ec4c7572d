"""The command `judgescope schema`: the JSON schema of a card or of an output."""

import argparse

from judgescope.core.errors import check_known
from judgescope.core.paths import WORKFLOW

FOLDER = WORKFLOW / "schemas"


def schema_names() -> list[str]:
    """The schemas that the package has."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def print_schema(args: argparse.Namespace) -> int:
    """Print a JSON schema: of a kind of card, or of the output of `audit --json`."""
    names = schema_names()
    check_known([args.name], names, "unknown schema", where="judgescope schema")
    text = (FOLDER / f"{args.name}.json").read_text(encoding="utf-8")
    print(text, end="")
    return 0
