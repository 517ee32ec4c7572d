"""Taking a known secret out of a text: the one way by which keys are kept out of all that stays.

An endpoint or a program may say back what it was given: in an error, in a header, in an answer.
"""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from judgescope.core.errors import UserError

SHORTEST = 8
"""A shorter value is a placeholder such as `test`, which any text may hold."""
PERCENT = re.compile(r"%[0-9A-F]{2}")


class Redactor:
    """Secrets, and what stands for each of them in a text."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets`: what is shown in the place of a value -> the value."""
        told = {
            form: place
            for place, value in secrets.items()
            if len(value) >= SHORTEST
            for form in forms(value)
        }
        # the longest first: a secret may be part of another, or of another form of it
        self._told = sorted(told.items(), key=lambda one: (-len(one[0]), one[0]))

    def __bool__(self) -> bool:
        """Return whether there is anything to hide."""
        return bool(self._told)

    def redact(self, text: str) -> str:
        """Return a text in which every secret has been replaced, in whatever form it stands."""
        for form, place in self._told:
            text = text.replace(form, place)
        return text


def check_key(key: str, model: str, variable: str | None) -> None:
    """Raise UserError for a key that no header can carry: what sends it would quote it."""
    if not key.strip().isprintable():
        raise UserError(
            "the key has characters that no header can carry",
            where=f"models/{model}.yaml, key api_key_env",
            got=variable,
            todo="look at the variable: more than one line, or something of a terminal in it?",
        )


def forms(value: str) -> set[str]:
    """Return a value as it is, and as JSON, an address, HTML and base64 write it."""
    result = {value, html.escape(value), quote_plus(value), quote(value), quote(value, safe="")}
    result |= {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    result |= {one.replace("/", "\\/") for one in result}
    result |= {PERCENT.sub(lambda sign: sign[0].lower(), one) for one in result}
    return result | set(_in_base64(value.encode("utf-8", "replace")))


def _in_base64(value: bytes) -> Iterator[str]:
    """Yield the digits that a value has in base64 wherever it stands among other bytes."""
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        for alphabet in (b"+/", b"-_"):
            yield base64.b64encode(b"\0" * before + value, alphabet).decode()[first:last]
