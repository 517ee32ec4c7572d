"""How many changes a made text should have, and what a check of it is."""

from collections.abc import Callable
from typing import NamedTuple


class Amount(NamedTuple):
    """How many edits were asked for: exactly `k`, or `least` and more; None is any number."""

    k: int | str | None = None
    least: int | None = None

    def problem(self, found: int, what: str) -> str | None:
        """Return what is wrong with a number of edits, or None."""
        if isinstance(self.k, int) and found != self.k:
            return f"it has {_counted(found, what)}, not {self.k}"
        if self.least is not None and found < self.least:
            return f"it has {_counted(found, what)}, fewer than {self.least}"
        return None


def _counted(number: int, what: str) -> str:
    return f"{number} {what if number == 1 else what + 's'}"


Check = Callable[[str, str, Amount], str | None]
"""(text, parent, amount) -> what is wrong with the text, or None."""
