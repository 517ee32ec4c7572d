"""Limits on what a study may spend."""

from typing import Final, NamedTuple

REQUESTS: Final = "requests"
"""The unit of limits on requested replies."""
NANOS: Final = "nanodollars"
"""The unit of limits on money."""


class Cap(NamedTuple):
    """A limit on a study's spending, for one model or for all; `key` is its key in the
    card.
    """

    key: str
    unit: str
    limit: int
    model: str | None = None
