"""What all command lines of scripts/ share: one JSON spec in, errors without a traceback out."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from metajudge.schema.errors import UserError, UserErrors

Spec = dict[str, Any]


def read_spec(argv: list[str], stdin: IO[str], *, about: str | None = None) -> Spec:
    """Return the JSON object that `--spec` names: a file, or `-` for standard input."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--spec", required=True, help="JSON file, or - for standard input")
    place: str = parser.parse_args(argv).spec
    try:
        text = stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
        spec = json.loads(text)
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"the spec cannot be read: {error}", where=place) from error
    if not isinstance(spec, dict):
        raise UserError("a spec is a JSON object", where=place, got=spec)
    return spec


def run(main: Callable[[Spec], None]) -> None:
    """Call `main` with the spec of the command line; print a user's error and exit with 1."""
    try:
        main(read_spec(sys.argv[1:], sys.stdin, about=main.__doc__))
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
