"""Keys of endpoints: a card names the source of the key, never the key itself."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

from judgescope.core.canonical import SpecPart
from judgescope.core.errors import CONTROL, UserError
from judgescope.core.paths import HOME
from judgescope.core.secrets import KEYS_READ, masked

COMMAND_SECONDS = 60.0
"""How long a program may take to print a key."""


class KeySource(SpecPart, frozen=True, kw_only=True):
    """The variable, the file or the program that gives the key of a model's
    endpoint.
    """

    model: str
    variable: str | None = None
    file: str | None = None
    """An absolute path."""
    command: list[str] | None = None
    """A program and its arguments."""
    what: str = "the endpoint's key"
    key: str = "api_key"
    """The prefix of the card's keys."""

    def __bool__(self) -> bool:
        """Return whether the card names a source."""
        return bool(self.variable or self.file or self.command)

    def __str__(self) -> str:
        """Return the source in words."""
        if self.command:
            return f"program {self.command[0]}"
        if self.file:
            return f"file {self.file}"
        if self.variable:
            return f"variable {self.variable}"
        return "none"

    def read(self) -> str:
        """Return the key; "" if the card names none, or a variable that is not set.

        Raises UserError for a file that cannot contain a key, a program that prints
        none, and a key that no header can contain: the HTTP client's own error would
        show it.
        """
        if self.command:
            key = self._printed(self.command)
        elif self.file:
            key = self._in_file()
        else:
            key = os.environ.get(self.variable or "", "")
        key = key.strip()
        if not key.isprintable():
            raise self.error(
                "the key has characters that are not allowed in an HTTP header",
                "store or print only the key, on one line and without control "
                "characters",
            )
        if key:
            KEYS_READ[f"<{self.key.removeprefix('api_')} of {self.model}>"] = key
        return key

    def check(self) -> None:
        """Raise UserError unless there is a key."""
        if not self.read():
            raise self.error(
                f"the variable that holds {self.what} is not set",
                f"export {self.variable}=… (it is never written anywhere)",
            )

    def check_without_running(self) -> None:
        """Raise UserError unless there is a key, or the program that prints it."""
        if not self.command:
            self.check()
        elif shutil.which(self.command[0]) is None:
            raise self.error(
                "the program that prints the endpoint's key was not found",
                "install it, or name it by its path",
            )

    def error(self, what: str, todo: str) -> UserError:
        """Return the error for a key that cannot be used."""
        key = f"{self.key}_env"
        got = self.variable
        if self.command:
            key = "token_command"
            got = self.command[0]
        elif self.file:
            key = f"{self.key}_file"
            got = self.file
        where = f"models/{self.model}.yaml, key {key}"
        return UserError(what, where=where, got=got, todo=todo)

    def _printed(self, command: list[str]) -> str:
        """Return what the program prints; no shell interprets its arguments."""
        todo = (
            "run the program in a terminal: it must print only the key and exit with 0"
        )
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=COMMAND_SECONDS,
            )
        except subprocess.TimeoutExpired:
            what = (
                "the program that prints the endpoint's key took over "
                f"{COMMAND_SECONDS:.0f} s"
            )
            raise self.error(what, todo) from None
        except OSError as error:
            what = (
                "the program that prints the endpoint's key cannot be started: "
                f"{error.strerror}"
            )
            raise self.error(what, todo) from None
        if done.returncode:
            printed = CONTROL.sub(" ", done.stderr.decode("utf-8", "replace"))
            message = " ".join(masked(printed).split())
            what = (
                "the program that prints the endpoint's key ended with status "
                f"{done.returncode}: {message[:300] or 'no message'}"
            )
            raise self.error(what, todo)
        key = done.stdout.decode("utf-8", "replace")
        if not key.strip():
            raise self.error("the program for the endpoint's key prints nothing", todo)
        return key

    def _in_file(self) -> str:
        path = Path(self.file or "")
        if not path.is_file():
            todo = (
                "name a file with only the key; the path is relative to the card's "
                "folder"
            )
            raise self.error(f"the file that holds {self.what} does not exist", todo)
        real = path.resolve()
        for folder in (HOME, Path.cwd()):
            # Users publish or archive these folders.
            for name in ("config", "results"):
                if real.is_relative_to((folder / name).resolve()):
                    raise self.error(
                        "the key is in a folder of cards or results, which others may "
                        "get to read",
                        "move the file out of config and results, for example to your "
                        "home folder",
                    )
        if path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            raise self.error("other users can read the key", f"chmod 600 {path}")
        try:
            key = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            todo = "store only the key, as text that you can read"
            raise self.error(f"the key cannot be read: {reason}", todo) from None
        if not key.strip():
            raise self.error(
                f"the file for {self.what} is empty", "write it into the file"
            )
        return key
