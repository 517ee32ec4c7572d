"""What all command lines of scripts/ share: one JSON spec in, errors without a traceback out."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from metajudge.schema.errors import UserError, UserErrors
from metajudge.unexpected import show_without_secrets

Spec = dict[str, Any]


def read_spec(place: str, stdin: IO[str]) -> Spec:
    """Return the JSON object in a file, or on standard input if `place` is `-`."""
    try:
        text = stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
        spec = json.loads(text)
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"the spec cannot be read: {error}", where=place) from error
    if not isinstance(spec, dict):
        raise UserError("a spec is a JSON object", where=place, got=spec)
    return spec


def run(main: Callable[..., None], *options: str, **defaults: str) -> None:
    """Call `main` with the spec of the command line; print a user's error and exit with 1.

    `options` are passed on by name: what no output depends on, such as where the store lies. Those
    in `defaults` may be left out.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--spec", required=True, help="JSON file, or - for standard input")
    for option in options:
        parser.add_argument(f"--{option}", required=True)
    for option, default in defaults.items():
        parser.add_argument(f"--{option}", default=default)
    show_without_secrets()
    told = vars(parser.parse_args())
    try:
        main(read_spec(told.pop("spec"), sys.stdin), **told)
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
