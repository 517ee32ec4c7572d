"""What all jobs share: one JSON spec in, errors without a traceback out."""

import argparse
import errno
import json
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, isfunction, signature
from pathlib import Path
from typing import IO, get_type_hints

from msgspec import convert

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.excepthook import show_without_secrets
from judgescope.core.process_limits import hide_pandas

Spec = dict[str, object]

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
    errno.EIO: "disk error",
}
"""Faults of the machine, not of the program."""
AGAIN = "then run again: finished files are kept and no reply is requested twice"


def read_spec(source: str, stdin: IO[str]) -> Spec:
    """Return the JSON object in a file, or the union of those on standard input if it is `-`."""
    spec: Spec = {}
    try:
        text = stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        parts = text.rstrip("\n").split("\n") if source == "-" else [text]
        for part in map(json.loads, parts):
            if not isinstance(part, dict):
                raise UserError("a spec is a JSON object", where=source, got=part)
            spec |= part
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"the spec cannot be read: {error}", where=source) from error
    return spec


def run_job(name: str) -> None:
    """Run the job `name` with the spec of the command line: `main` of its module, or what is named.

    Where a module has no `main`, the next argument names one of its public functions.
    """
    module = import_module(f"judgescope.jobs.{name}")
    own = [
        each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__
    ]
    public = [each for each in own if isfunction(each) and not each.__name__.startswith("_")]
    run(*([module.main] if hasattr(module, "main") else public))


def run(*mains: Callable[..., None]) -> None:
    """Call a function with the spec of the command line; print a user's error and exit with 1.

    Where a module has several functions, the first argument names one. Keyword-only parameters are
    options of the command line: what no output depends on, such as where the store lies.
    """
    parser = argparse.ArgumentParser()
    if len(mains) > 1:
        parser.add_argument("job", choices=[main.__name__ for main in mains])
    parser.add_argument("--spec", required=True, help="JSON file, or - for standard input")
    for option in _options(mains[0]):
        required = option.default is Parameter.empty
        parser.add_argument(f"--{option.name}", required=required, default=option.default)
    show_without_secrets()
    hide_pandas()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # see judgescope.cli.child_process
    args = vars(parser.parse_args())
    name = args.pop("job", mains[0].__name__)
    [main] = [each for each in mains if each.__name__ == name]
    try:
        main(typed(main, read_spec(args.pop("spec"), sys.stdin)), **args)
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


def _options(main: Callable[..., None]) -> list[Parameter]:
    """Return the parameters of a job beside its spec; all jobs of a module have the same."""
    parameters = signature(main).parameters.values()
    return [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


def typed(main: Callable[..., None], spec: Spec) -> object:
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
        MACHINE[error.errno], where=str(error.filename or "this folder"), todo=f"fix that, {AGAIN}"
    )
