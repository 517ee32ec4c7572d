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
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import quote, quote_plus

from judgescope.core.paths import HOME


@dataclass(frozen=True)
class SecretPatterns:
    """Regular expressions for secrets, and for names of secrets."""

    name: re.Pattern[str] = re.compile(
        r"(?<![a-z])(?:api|access|auth|private|subscription)?[-_]?keys?(?![a-z])|"
        r"token$|secret|passw|credential|authori[sz]ation|cookie",
        re.IGNORECASE,
    )
    """Names of secrets, for headers and fields."""
    name_in_body: re.Pattern[str] = re.compile(
        r"(?:api|access|auth|bearer|private|subscription)[-_]?(?:key|token)s?$|"
        r"secret|passw|credential|authori[sz]ation|cookie",
        re.IGNORECASE,
    )
    """Names of secrets for fields of a request or a library, where many keys and tokens
    are harmless."""
    marked: re.Pattern[str] = re.compile(
        r"(?<![A-Za-z0-9])(?:(?:sk|hf|gsk|xai|rk|ghp|glpat)[-_]|github_pat_|AIza|AKIA|"
        r"Bearer\s+|eyJ)"
        r"(?=[\w-]*?(?=[A-Za-z]*\d)[A-Za-z0-9]{13})[\w.+/=-]{12,}"
    )
    """A key with a provider's prefix and a long run of letters and digits, unlike names
    and paths."""
    credentials: re.Pattern[str] = re.compile(r"(?<=://)(?!git@)[^/?#@\s\"'<>]+@")
    """User and password in a URL."""
    query: re.Pattern[str] = re.compile(
        r"(?<=[?&])(?!r(?:esource|l)key=)"
        r"((?:[\w-]*(?:key|token|secret|password)|sig|signature)=)"
        r"[^&\s\"'#<>]+",
        re.IGNORECASE,
    )
    """A key in the query of a URL; the resource keys of shared files are not
    secrets."""


@dataclass(frozen=True)
class SecretKeys:
    """Keys of cards by what they may hold."""

    headers: frozenset[str] = frozenset(("headers", "query"))
    """Keys in which users can name anything, as a header or query parameter."""
    body: frozenset[str] = frozenset(("extra_body", "model_args", "engine_args"))
    """Keys in which users can name any field of a request or a library."""
    sources: frozenset[str] = frozenset(
        ("api_key_env", "api_key_file", "env", "proxy_auth_env", "proxy_auth_file")
    )
    """Keys that name the source of a secret."""


PATTERNS = SecretPatterns()
CARD_KEYS = SecretKeys()
LONG = re.compile(
    r"(?![A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]{1,12}){2,}\Z)"
    r"(?:(?=.*[a-z])(?=.*\d).{20,}|[0-9A-F]{32,}|.{41,})"
)
"""A possible key in the form of a name: long, of letters and digits, without words."""

KeyPlace = tuple[str | int, ...]


def masked(text: str) -> str:
    """Return a text in which everything that looks like a secret is masked."""
    not_shown = "<not shown>"
    text = PATTERNS.marked.sub(not_shown, text)
    text = PATTERNS.credentials.sub(f"{not_shown}@", text)
    return PATTERNS.query.sub(rf"\1{not_shown}", text)


def suspects(content: Any, path: KeyPlace = ()) -> Iterator[KeyPlace]:
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
        names_source = any(part in CARD_KEYS.sources for part in path[:2])
        is_name = names_source and "/" not in content
        if masked(content) != content or (is_name and LONG.fullmatch(content)):
            yield path


def _is_named(name: object, value: object, path: KeyPlace) -> bool:
    """Return whether a value that contains text has the name of a secret, in a free
    part.
    """
    has_text = isinstance(value, str | list | dict) and bool(value)
    if not has_text or not path:
        return False
    if path[0] in CARD_KEYS.headers:
        return is_secret(str(name))
    if path[0] in CARD_KEYS.body:
        return PATTERNS.name_in_body.search(str(name)) is not None
    return False


def is_secret(name: str) -> bool:
    """Return whether a field or a header has the name of a secret."""
    # Their names look like secrets, their values are not.
    open_fields = {
        "prompt_cache_key",
        "bos_token",
        "eos_token",
        "pad_token",
        "stop_token",
        "unk_token",
    }
    return PATTERNS.name.search(name) is not None and name not in open_fields


KEYS_READ: dict[str, str] = {}
"""Secrets that this process has read, whatever their source: replacement -> secret."""
SHORTEST = 8
"""Shorter values are placeholders such as `test`, which any text may contain."""


class Redactor:
    """Secrets, and the replacement of each in a text."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets`: replacement -> secret value."""
        replacements: dict[str, str] = {}
        for shown, value in secrets.items():
            if len(value) >= SHORTEST:
                replacements |= dict.fromkeys(forms(value), shown)
        # The longest first: a secret may be part of another, or of another form of it.
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
    result = {value, html.escape(value)}
    result |= {quote(value), quote(value, safe=""), quote_plus(value)}
    result.add(json.dumps(value, ensure_ascii=True)[1:-1])
    result.add(json.dumps(value, ensure_ascii=False)[1:-1])
    result |= {form.replace("/", "\\/") for form in result}
    result |= {_with_small_codes(form) for form in result}
    return result | set(_in_base64(value.encode("utf-8", "replace")))


def _with_small_codes(form: str) -> str:
    """Return a form with the codes of URLs in lower case: `%2f`."""
    return re.sub(r"%[0-9A-F]{2}", lambda code: code[0].lower(), form)


def _in_base64(value: bytes) -> Iterator[str]:
    """Yield the base64 digits of a value at each of the three offsets among other
    bytes.
    """
    for before in range(3):
        # Only digits that the value alone decides: six bits each.
        first = -(-before * 8 // 6)
        last = (before + len(value)) * 8 // 6
        for alphabet in (b"+/", b"-_"):
            digits = base64.b64encode(b"\0" * before + value, alphabet).decode()
            yield digits[first:last]


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
    secrets = dict(KEYS_READ)
    for name, value in os.environ.items():
        if is_secret(name):
            secrets.setdefault(f"<{name}>", value)
    lines = traceback.format_exception(kind, error, trace)
    text = "".join(lines).replace(f"{HOME}{os.sep}", "")
    print(masked(Redactor(secrets).redact(text)), end="", file=sys.stderr)
