"""Removal of known secrets from texts before anything is stored or shown.

An endpoint or a program may return what it was given: in an error, a header, an answer.
"""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""A shorter value is a placeholder such as `test`, which any text may contain."""
PERCENT = re.compile(r"%[0-9A-F]{2}")


class Redactor:
    """Secrets, and the replacement of each in a text."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets`: replacement -> secret value."""
        replacements = {
            form: shown
            for shown, value in secrets.items()
            if len(value) >= SHORTEST
            for form in forms(value)
        }
        # the longest first: a secret may be part of another, or of another form of it
        self._replacements = sorted(replacements.items(), key=lambda pair: (-len(pair[0]), pair[0]))

    def __bool__(self) -> bool:
        """Return whether there is anything to hide."""
        return bool(self._replacements)

    def redact(self, text: str) -> str:
        """Return a text with every secret replaced, in each of its `forms`."""
        for form, shown in self._replacements:
            text = text.replace(form, shown)
        return text


def forms(value: str) -> set[str]:
    """Return a value as it is, and as JSON, a URL, HTML and base64 encode it."""
    result = {value, html.escape(value), quote_plus(value), quote(value), quote(value, safe="")}
    result |= {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    result |= {one.replace("/", "\\/") for one in result}
    result |= {PERCENT.sub(lambda sign: sign[0].lower(), one) for one in result}
    return result | set(_in_base64(value.encode("utf-8", "replace")))


def _in_base64(value: bytes) -> Iterator[str]:
    """Yield the base64 digits of a value at each of the three offsets among other bytes."""
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        for alphabet in (b"+/", b"-_"):
            yield base64.b64encode(b"\0" * before + value, alphabet).decode()[first:last]
