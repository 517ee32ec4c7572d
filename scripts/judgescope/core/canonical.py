"""The canonical JSON text of a value, for hashes, specs and files that must be reproducible."""

import json

_STRICT, _LAX = (
    json.JSONEncoder(
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=not strict,
        default=None if strict else str,
    )
    for strict in (True, False)
)


def canonical(value: object, *, strict: bool = True) -> str:
    """Return JSON with sorted keys and no blanks.

    TypeError or ValueError for a value that is not JSON (a date, NaN); with `strict=False` it
    becomes its `str`, or NaN.
    """
    return (_STRICT if strict else _LAX).encode(value)
