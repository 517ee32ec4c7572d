"""What is said where a table cannot be audited: errors, and the readings to choose
from.
"""

import json
import shlex
import sys
from collections.abc import Callable, Sequence

from msgspec import to_builtins

from judgescope.cli.audit.content import AuditRefusal, RefusalReason
from judgescope.cli.init.open_readings import OpenReading, UnclearColumns
from judgescope.cli.terminal import plain
from judgescope.core.errors import UserError, UserErrors


def as_json(error: UserError | UserErrors) -> str:
    """Return an error for programs: what, where, got, allowed, what to do, and each
    reading with its command line.
    """
    options = []
    for reading in options_of(error):
        options.append(
            {
                "meaning": reading.meaning,
                "arguments": reading.words,
                "command": command(reading),
            }
        )
    reasons = [_reason(each) for each in _errors(error)]
    content = AuditRefusal(error=reasons, options=options)
    return json.dumps(to_builtins(content), indent=2)


def as_text(error: UserError | UserErrors) -> str:
    """Return an error with its readings, each with its command line."""
    lines = [str(error)]
    options = options_of(error)
    if options:
        lines.append("           or choose one of these readings:")
    for number, reading in enumerate(options, start=1):
        lines.append(f"  {number}. {plain(reading.meaning)}: {plain(command(reading))}")
    return "\n".join(lines)


def chosen(error: UnclearColumns, ask: Callable[[str], str]) -> OpenReading | None:
    """Ask which reading is meant; return None if the person names none."""
    options = options_of(error)
    if not options:
        return None
    print(f"\n{plain(error.what)}. Which is meant?")
    for number, reading in enumerate(options, start=1):
        print(f"  {number}. {plain(reading.meaning)}")
    typed = ask("a number, Enter for none of them: ").strip()
    if typed.isascii() and typed.isdigit() and 0 < int(typed) <= len(options):
        return options[int(typed) - 1]
    return None


def options_of(error: UserError | UserErrors) -> Sequence[OpenReading]:
    """Return the readings to choose from, [] if no choice helps."""
    if isinstance(error, UnclearColumns):
        return error.options
    return []


def command(reading: OpenReading) -> str:
    """Return the command line of this call with the flags of a reading."""
    called = ["judgescope", *sys.argv[1:]]
    return shlex.join([*called, *reading.words])


def _errors(error: UserError | UserErrors) -> list[UserError]:
    if isinstance(error, UserErrors):
        return error.errors
    return [error]


def _reason(error: UserError) -> RefusalReason:
    got = error.got
    if not isinstance(got, str | int | float | None):
        got = str(got)
    return RefusalReason(
        what=error.what,
        where=error.where,
        todo=error.todo,
        got=got,
        allowed=error.allowed,
    )
