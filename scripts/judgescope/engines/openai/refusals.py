"""What an endpoint's error is about: the text of one request, or every request."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, Literal

RefusalRule = Literal["filtered", "too_long"]
"""Why an endpoint refuses a text: its contents, or its length."""
TOO_LARGE: Final = 413
NAMING: Final[dict[str, RefusalRule]] = {
    "contentfilter": "filtered",
    "contentpolicyviolation": "filtered",
    "responsibleaipolicy": "filtered",
    "responsibleaipolicyviolation": "filtered",
    "invalidprompt": "filtered",
    "promptblocked": "filtered",
    "contextlengthexceeded": "too_long",
    "stringabovemaxlength": "too_long",
}
"""A code or type of an error that names the text, without case and signs -> the
rule."""
DEEPEST: Final = 4
"""Levels of an error at which its inner codes are looked up."""


def refusal_rule(status: int, text: str) -> RefusalRule | None:
    """Return why an endpoint refuses a text; None if the error does not name the text.

    status: the HTTP status; text: the body of the answer.

    >>> refusal_rule(400, '{"error": {"code": "content_filter"}}')
    'filtered'
    >>> refusal_rule(413, "too large")
    'too_long'
    >>> refusal_rule(400, '{"error": {"code": "unknown_field"}}') is None
    True
    """
    if status == TOO_LARGE:
        return "too_long"
    named = (NAMING.get(code) for code in codes_of(text))
    return next((rule for rule in named if rule is not None), None)


def codes_of(text: str) -> list[str]:
    """Return all codes and types in an endpoint's error, without case and signs, the
    inner ones last.

    >>> codes_of('{"error": {"code": "A_b", "innererror": {"code": "InnerCode"}}}')
    ['ab', 'innercode']
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = _codes_in(answer, DEEPEST)
    return [re.sub(r"[^a-z0-9]", "", code.lower()) for code in found]


def _codes_in(value: Any, levels: int) -> Iterator[str]:
    if not isinstance(value, dict) or not levels:
        return
    for name in ("code", "type"):
        if isinstance(value.get(name), str):
            yield value[name]
    for inner in value.values():
        yield from _codes_in(inner, levels - 1)
