"""The canonical JSON text of a value, for hashes, specs and files that must be
reproducible.
"""

import json
from functools import cache

from msgspec import Struct


@cache
def _encoder(strict: bool) -> json.JSONEncoder:
    """Return the encoder, which is made once: `json.dumps` makes one in every call."""
    return json.JSONEncoder(
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=not strict,
        default=None if strict else str,
    )


def canonical(value: object, *, strict: bool = True) -> str:
    """Return JSON with sorted keys and no blanks.

    Raises TypeError or ValueError for a value that is not JSON (a date, NaN); with
    `strict=False` such a value becomes its `str`, or NaN.

    >>> canonical({"b": 1, "a": ["ä", None]})
    '{"a":["ä",null],"b":1}'
    """
    return _encoder(strict).encode(value)


class SpecPart(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A part of a spec."""


class JobSpec(SpecPart, frozen=True, kw_only=True):
    """Everything that determines a job's output, except the files that it reads."""

    code: str
    """A hash of the code that the job can import."""
    versions: dict[str, str]
    """Versions of the packages whose behaviour changes the output."""
