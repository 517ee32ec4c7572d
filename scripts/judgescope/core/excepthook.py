"""Tracebacks of unforeseen exceptions, without secrets and without the workflow's folder."""

import os
import sys
import traceback
from types import TracebackType

from judgescope.core.paths import HOME
from judgescope.core.secrets import is_secret, masked


def show_without_secrets() -> None:
    """Mask in all tracebacks what looks like a key, and variables that are named like one."""
    sys.excepthook = _show


def print_exception() -> None:
    """Print the exception that is being handled, masked in the same way."""
    error = sys.exception()
    assert error is not None
    _show(type(error), error, error.__traceback__)


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    from judgescope.core.api_keys import KEYS_READ  # only needed if the job fails
    from judgescope.core.redaction import Redactor

    named = {f"<{name}>": value for name, value in os.environ.items() if is_secret(name)}
    text = "".join(traceback.format_exception(kind, error, trace)).replace(f"{HOME}{os.sep}", "")
    print(masked(Redactor(named | KEYS_READ).redact(text)), end="", file=sys.stderr)
