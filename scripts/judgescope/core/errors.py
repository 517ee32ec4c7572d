"""Errors for the user: what is wrong, where, the value, what is allowed, and what to
do.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from judgescope.core.secrets import masked

UNSEEN: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff"
    r"\U000e0000-\U000e0fff"
)
"""Characters that have no visible form, for a class in a regular expression; the same
as `CODES` in workflow/explore."""


def coded(text: str) -> str:
    """Return a text with each such character replaced by a code: ⟨U+202E⟩."""
    return re.sub(
        f"[{UNSEEN}]", lambda result: f"\u27e8U+{ord(result[0]):04X}\u27e9", text
    )


def escaped(text: str) -> str:
    r"""Return a text with the bytes of file names that are not UTF-8 as codes.

    >>> print(escaped("caf\udce9.csv"))
    caf\xe9.csv
    """
    return re.sub(
        "[\udc80-\udcff]", lambda byte: rf"\x{ord(byte[0]) - 0xDC00:02x}", text
    )


CONTROL = re.compile(f"[\t{UNSEEN}]")
"""Characters that could control a terminal: names in a message may come from data."""


class UserError(Exception):
    """Something that the user wrote or supplied cannot be used; the message says how to
    fix it.

    `what` is one sentence; `where` a file with key or row; `got` the offending value;
    `allowed` the values or the form that are allowed; `todo` the next step.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str,
        got: object = None,
        allowed: Iterable[str] | str | None = None,
        todo: str = "",
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.got = got
        self.todo = todo
        self.allowed: list[str] | str | None
        if isinstance(allowed, str | None):
            self.allowed = allowed
        else:
            self.allowed = sorted(set(allowed))

    def nearest(self) -> str | None:
        """Return the allowed value that is most similar to the given one, if any is."""
        if not isinstance(self.allowed, list) or not isinstance(self.got, str):
            return None
        # Two files are not alike because both end in .csv.
        end = Path(self.got).suffix
        if not any(name.endswith(end) for name in self.allowed):
            end = ""
        names = {name.removesuffix(end): name for name in self.allowed}
        near = get_close_matches(self.got.removesuffix(end), names, n=1, cutoff=0.6)
        if near:
            return names[near[0]]
        part = self.got.casefold()
        # One or two letters are in too many names.
        if len(self.got) >= 3:
            for name in self.allowed:
                if part in name.casefold():
                    return name
        return None

    def __str__(self) -> str:
        """Return the message, a line for each part that has content, with secrets
        masked.
        """
        allowed = self.allowed
        if isinstance(allowed, list):
            shown = ", ".join(allowed[:12]) or "nothing"
            if len(allowed) > 12:
                shown += f", … ({len(allowed)} in all)"
            allowed = shown
        parts = {
            "where": self.where,
            "got": None if self.got is None else _shown(self.got),
            "allowed": allowed,
            "nearest": self.nearest(),
            "do": self.todo,
        }
        lines = [self.what]
        for name, text in parts.items():
            if text:
                lines.append(f"  {name + ':':<9}{text}")
        return masked(CONTROL.sub(" ", escaped("\n".join(lines))))


class UserErrors(Exception):
    """Several user errors found in one pass."""

    def __init__(self, errors: list[UserError]) -> None:
        super().__init__(f"{len(errors)} problems")
        self.errors = errors

    def __str__(self) -> str:
        """Return all messages, a blank line between them."""
        return "\n\n".join(map(str, self.errors))


def check_known(
    names: Iterable[str], known: Iterable[str], what: str, *, where: str, todo: str = ""
) -> None:
    """Raise UserError, with the nearest known name, for the first name that is not
    known.
    """
    known = set(known)
    for name in names:
        if name not in known:
            raise UserError(what, where=where, got=name, allowed=known, todo=todo)


def _shown(value: object, width: int = 200) -> str:
    text = repr(value)
    if isinstance(value, str) and value != escaped(value):
        text = f"'{escaped(value)}'"
    if len(text) <= width:
        return text
    return text[: width - 1] + "…"
