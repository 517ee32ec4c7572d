"""Keys of endpoints: a card names a variable of the environment or a file, never the key itself."""

import os
import stat
from pathlib import Path

from judgescope.core.errors import UserError
from judgescope.core.job_spec import SpecPart
from judgescope.core.paths import HOME

SHARED = ("config", "results")
"""Folders that users publish or archive, in the workflow and in the working directory."""
READABLE = stat.S_IRGRP | stat.S_IROTH
KEYS_OF_FILES: dict[str, str] = {}
"""Keys that this process has read from files, by their replacements: no traceback shows them."""


class KeySource(SpecPart, frozen=True, kw_only=True):
    """The variable or the file that holds the key of a model's endpoint."""

    model: str
    variable: str | None = None
    file: str | None = None
    """An absolute path."""

    def __str__(self) -> str:
        """Return the source in words."""
        if self.file:
            return f"file {self.file}"
        return f"variable {self.variable}" if self.variable else "none"

    def read(self) -> str:
        """Return the key; "" if the card names none, or a variable that is not set.

        Raises UserError for a file that cannot hold a key, and for a key that no header can carry:
        the HTTP client would quote it.
        """
        key = (self._in_file() if self.file else os.environ.get(self.variable or "", "")).strip()
        if not key.isprintable():
            raise self.error(
                "the key has characters that no HTTP header can carry",
                "store the key alone, on one line and without control characters",
            )
        if self.file:
            KEYS_OF_FILES[f"<key of {self.model}>"] = key
        return key

    def check(self) -> None:
        """Raise UserError unless there is a key."""
        if not self.read():
            raise self.error(
                "the variable that holds the endpoint's key is not set",
                f"export {self.variable}=… (the key is never written anywhere)",
            )

    def error(self, what: str, todo: str) -> UserError:
        """Return the error of a key that cannot be used."""
        key = "api_key_file" if self.file else "api_key_env"
        where = f"models/{self.model}.yaml, key {key}"
        return UserError(what, where=where, got=self.file or self.variable, todo=todo)

    def _in_file(self) -> str:
        path = Path(self.file or "")
        if not path.is_file():
            todo = "name a file that holds the key alone; a relative path starts at the card"
            raise self.error("the file that holds the endpoint's key does not exist", todo)
        real = path.resolve()
        if any(
            real.is_relative_to((folder / name).resolve())
            for folder in (HOME, Path.cwd())
            for name in SHARED
        ):
            raise self.error(
                "the key is in a folder of cards or results, which others may come to read",
                f"move the file out of {' and '.join(SHARED)}, for instance to your home folder",
            )
        if path.stat().st_mode & READABLE:
            raise self.error("other users can read the key", f"chmod 600 {path}")
        try:
            key = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            todo = "store the key alone, as text that you can read"
            raise self.error(f"the key cannot be read: {reason}", todo) from None
        if not key.strip():
            raise self.error("the file of the endpoint's key is empty", "write the key into it")
        return key
