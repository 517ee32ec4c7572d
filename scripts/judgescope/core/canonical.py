"""The one JSON text of a value, for hashes, specs and files that must not change by chance."""

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

    Raises TypeError or ValueError for what JSON does not know (dates, NaN); with `strict=False`
    that becomes its `str`, or NaN.
    """
    return (_STRICT if strict else _LAX).encode(value)
