"""What all command lines of scripts/ share: one JSON spec in, errors without a traceback out."""

import argparse
import errno
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, get_type_hints

from msgspec import convert

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.excepthook import show_without_secrets
from judgescope.core.process_limits import hide_pandas

Spec = dict[str, Any]

MACHINE = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk's quota is used up",
    errno.EFBIG: "a file may not grow so large: a limit is set (ulimit -f)",
    errno.EMFILE: "no more files may be open: a limit is set (ulimit -n)",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "no permission to read or write",
    errno.EPERM: "no permission to read or write",
    errno.ENOTDIR: "a file is where a folder should be",
    errno.EEXIST: "a file is where a folder should be",
    errno.EIO: "the disk fails",
}
"""What is the machine's fault and no bug of ours."""
AGAIN = "then run again: what is there is kept, and no reply is asked for twice"


def read_spec(place: str, stdin: IO[str]) -> Spec:
    """Return the JSON object in a file, or the union of those on standard input if it is `-`."""
    spec: Spec = {}
    try:
        text = stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
        parts = text.rstrip("\n").split("\n") if place == "-" else [text]
        for part in map(json.loads, parts):
            if not isinstance(part, dict):
                raise UserError("a spec is a JSON object", where=place, got=part)
            spec |= part
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"the spec cannot be read: {error}", where=place) from error
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
    hide_pandas()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # see judgescope.cli.child_process
    told = vars(parser.parse_args())
    try:
        main(typed(main, read_spec(told.pop("spec"), sys.stdin)), **told)
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped by an interrupt", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except (MemoryError, OSError) as error:
        if (fault := of_machine(error)) is None:
            raise
        print(fault, file=sys.stderr)
        sys.exit(1)


def typed(main: Callable[..., None], spec: Spec) -> Any:
    """Return the spec as the record that `main` takes."""
    return convert(spec, get_type_hints(main)["spec"])


def of_machine(error: MemoryError | OSError) -> UserError | None:
    """Return a fault of the machine's as an error that says what to do; None for any other."""
    if isinstance(error, MemoryError):
        todo = f"give it more memory, or run fewer jobs at once (--cores 1); {AGAIN}"
        return UserError("memory ran out", where=Path(sys.argv[0]).name, todo=todo)
    if error.errno not in MACHINE:
        return None
    return UserError(
        MACHINE[error.errno], where=str(error.filename or "this folder"), todo=f"mend that, {AGAIN}"
    )
