"""The jobs of the rules: each reads one JSON spec, and shows errors without a
traceback.
"""

import argparse
import errno
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import IO, get_type_hints

from msgspec import convert

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.extensions import extension_files
from judgescope.core.paths import PACKAGE
from judgescope.core.process_limits import hide_pandas
from judgescope.core.secrets import show_without_secrets

JobFields = dict[str, object]


def modules_of_jobs(package: Path, folders: Iterable[Path]) -> dict[str, str]:
    """Return job -> its module, of the folders of a package; RuntimeError for a name
    that two have.
    """
    modules = dict[str, str]()
    for folder in folders:
        room = ".".join(folder.relative_to(package).parts)
        for path in folder.glob("[!_]*.py"):
            module = f"{room}.{path.stem}"
            if path.stem in modules:
                raise RuntimeError(
                    f"the job {path.stem} is there twice: {modules[path.stem]} and "
                    f"{module}; rename one of them"
                )
            modules[path.stem] = module
    return dict(sorted(modules.items()))


JOBS = modules_of_jobs(PACKAGE, [PACKAGE / "jobs", *extension_files("jobs")])
"""Job -> its module in the package, which the code of a job's output begins with."""

MACHINE = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk's quota is used up",
    errno.EFBIG: "the file is larger than the limit of this machine (ulimit -f)",
    errno.EMFILE: "too many open files: more than the limit of this machine (ulimit "
    "-n)",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "no permission to read or write",
    errno.EPERM: "no permission to read or write",
    errno.ENOTDIR: "there is a file where a folder should be",
    errno.EEXIST: "there is a file where a folder should be",
    errno.EIO: "disk error",
}
"""Faults of the machine, not of the program."""


def read_spec(source: str, stdin: IO[str]) -> JobFields:
    """Return the JSON object in a file, or the union of those on standard input if it
    is `-`.
    """
    spec: JobFields = {}
    try:
        text = (
            stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        )
        parts = text.rstrip("\n").split("\n") if source == "-" else [text]
        for part in map(json.loads, parts):
            if not isinstance(part, dict):
                raise UserError("a spec must be a JSON object", where=source, got=part)
            spec |= part
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"the spec cannot be read: {error}", where=source) from error
    return spec


def job(name: str) -> Callable[..., None]:
    """Return the function of a job."""
    function: Callable[..., None] = import_module(f"judgescope.{JOBS[name]}").run
    return function


def run(main: Callable[..., None]) -> None:
    """Call a function with the spec of the command line; print a user's error and exit
    with 1.

    Keyword-only parameters are options of the command line, on which no output depends,
    such as the path of the store.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--spec", required=True, help="JSON file, or - for standard input"
    )
    for option in signature(main).parameters.values():
        if option.kind is not Parameter.KEYWORD_ONLY:
            continue
        required = option.default is Parameter.empty
        parser.add_argument(
            f"--{option.name}", required=required, default=option.default
        )
    show_without_secrets()
    hide_pandas()
    signal.pthread_sigmask(
        signal.SIG_UNBLOCK, {signal.SIGTERM}
    )  # see judgescope.cli.child_process
    args = vars(parser.parse_args())
    try:
        main(typed(main, read_spec(args.pop("spec"), sys.stdin)), **args)
        sys.stdout.flush()
    except (UserError, UserErrors) as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        if not _is_reader_gone():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("stopped by an interrupt", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    except (MemoryError, OSError) as error:
        if (fault := of_machine(error)) is None:
            raise
        print(fault, file=sys.stderr)
        sys.exit(1)


def _is_reader_gone() -> bool:
    """Return whether the reader closed the pipe: `judgescope check … | head`."""
    try:
        print(flush=True)
    except BrokenPipeError:
        return True
    return False


def typed(main: Callable[..., None], spec: JobFields) -> object:
    """Return the spec as the record that `main` takes."""
    return convert(spec, get_type_hints(main)["spec"])


def of_machine(error: MemoryError | OSError) -> UserError | None:
    """Return a fault of the machine as an error that says what to do; None for other
    errors.
    """
    again_note = (
        "then run again: finished files are kept and no reply is requested twice"
    )
    if isinstance(error, MemoryError):
        todo = (
            f"give it more memory, or run fewer jobs at once (--cores 1); {again_note}"
        )
        return UserError("out of memory", where=Path(sys.argv[0]).name, todo=todo)
    if error.errno not in MACHINE:
        return None
    return UserError(
        MACHINE[error.errno],
        where=str(error.filename or "this folder"),
        todo=f"fix that, {again_note}",
    )
