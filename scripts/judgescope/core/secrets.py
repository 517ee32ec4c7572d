"""Keys and passwords: no card may contain one; no message, file or traceback shows one.

Possible secrets are found by patterns, known secrets are removed from texts: an
endpoint or a program may return what it was given, in an error, a header or an answer.
"""

import base64
import html
import json
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote, quote_plus

from judgescope.core.paths import HOME

NAMED = re.compile(
    r"(?<![a-z])(?:api|access|auth|private|subscription)?[-_]?keys?(?![a-z])|token$|"
    r"secret|passw|"
    r"credential|authori[sz]ation|cookie",
    re.IGNORECASE,
)
"""Names of secrets, for headers and fields."""
IN_A_BODY = re.compile(
    r"(?:api|access|auth|bearer|private|subscription)[-_]?(?:key|token)s?$|secret|"
    r"passw|"
    r"credential|authori[sz]ation|cookie",
    re.IGNORECASE,
)
"""Names of secrets for fields of a request or a library, where many keys and tokens are
harmless."""
OPEN = {
    "prompt_cache_key",
    "bos_token",
    "eos_token",
    "pad_token",
    "stop_token",
    "unk_token",
}
"""Fields whose names look like secrets, but whose values are not."""
HEADS = {"headers", "query"}
FREE = HEADS | {"extra_body", "model_args", "engine_args"}
"""Keys of cards in which users can name anything."""
VARIABLES = {"api_key_env", "api_key_file", "env", "proxy_auth_env", "proxy_auth_file"}
"""Keys of cards that name the source of a secret."""
MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|hf|gsk|xai|rk|ghp|glpat)[-_]|github_pat_|AIza|AKIA|"
    r"Bearer\s+|eyJ)"
    r"(?=[\w-]*?(?=[A-Za-z]*\d)[A-Za-z0-9]{13})[\w.+/=-]{12,}"
)
"""A key with a provider's prefix and a long run of letters and digits, unlike names and
paths."""
CREDENTIALS = re.compile(r"(?<=://)(?!git@)[^/?#@\s\"'<>]+@")
"""User and password in a URL."""
QUERY = re.compile(
    r"(?<=[?&])(?!r(?:esource|l)key=)((?:[\w-]*(?:key|token|secret|password)|sig|"
    r"signature)=)"
    r"[^&\s\"'#<>]+",
    re.IGNORECASE,
)
"""A key in the query of a URL; the resource keys of shared files are not secrets."""
LONG = re.compile(
    r"(?![A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]{1,12}){2,}\Z)"
    r"(?:(?=.*[a-z])(?=.*\d).{20,}|[0-9A-F]{32,}|.{41,})"
)
"""A possible key in the form of a name: long, of letters and digits, without words."""
PLACE = "<not shown>"

Place = tuple[str | int, ...]


def masked(text: str) -> str:
    """Return a text in which everything that looks like a secret is masked."""
    text = CREDENTIALS.sub(f"{PLACE}@", MARKED.sub(PLACE, text))
    return QUERY.sub(rf"\1{PLACE}", text)


def suspects(content: Any, path: Place = ()) -> Iterator[Place]:
    """Yield the place of everything in a card that looks like a secret."""
    if isinstance(content, dict):
        for name, value in content.items():
            if _is_named(name, value, path):
                yield (*path, name)
            else:
                yield from suspects(value, (*path, name))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from suspects(value, (*path, number))
    elif isinstance(content, str):
        name = any(part in VARIABLES for part in path[:2]) and "/" not in content
        if masked(content) != content or (name and LONG.fullmatch(content)):
            yield path


def _is_named(name: object, value: object, path: Place) -> bool:
    """Return whether a value that contains text has the name of a secret, in a free
    part.
    """
    has_text = isinstance(value, str | list | dict) and bool(value)
    if not has_text or path[:1] not in {(part,) for part in FREE}:
        return False
    return (
        is_secret(str(name)) if path[0] in HEADS else bool(IN_A_BODY.search(str(name)))
    )


def is_secret(name: str) -> bool:
    """Return whether a field or a header has the name of a secret."""
    return bool(NAMED.search(name)) and name not in OPEN


KEYS_READ: dict[str, str] = {}
"""Secrets that this process has read, whatever their source: replacement -> secret."""
SHORTEST = 8
"""Shorter values are placeholders such as `test`, which any text may contain."""
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
        self._replacements = sorted(
            replacements.items(), key=lambda pair: (-len(pair[0]), pair[0])
        )

    def __bool__(self) -> bool:
        """Return whether there is anything to hide."""
        return bool(self._replacements)

    def redact(self, text: str) -> str:
        """Return a text with every secret replaced, in each of its `forms`."""
        for form, shown in self._replacements:
            text = text.replace(form, shown)
        return text


def forms(value: str) -> set[str]:
    """Return a value unchanged, and as encoded by JSON, URLs, HTML and base64."""
    result = {
        value,
        html.escape(value),
        quote_plus(value),
        quote(value),
        quote(value, safe=""),
    }
    result |= {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    result |= {one.replace("/", "\\/") for one in result}
    result |= {PERCENT.sub(lambda sign: sign[0].lower(), one) for one in result}
    return result | set(_in_base64(value.encode("utf-8", "replace")))


def _in_base64(value: bytes) -> Iterator[str]:
    """Yield the base64 digits of a value at each of the three offsets among other
    bytes.
    """
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        for alphabet in (b"+/", b"-_"):
            yield base64.b64encode(b"\0" * before + value, alphabet).decode()[
                first:last
            ]


def show_without_secrets() -> None:
    """Mask in all tracebacks what looks like a key, and values of variables that are
    named like keys."""
    sys.excepthook = _show


def print_exception() -> None:
    """Print the exception that is being handled, masked in the same way."""
    error = sys.exception()
    assert error is not None
    _show(type(error), error, error.__traceback__)


def _show(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    named = {
        f"<{name}>": value for name, value in os.environ.items() if is_secret(name)
    }
    text = "".join(traceback.format_exception(kind, error, trace)).replace(
        f"{HOME}{os.sep}", ""
    )
    print(masked(Redactor(named | KEYS_READ).redact(text)), end="", file=sys.stderr)
