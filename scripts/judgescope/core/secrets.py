"""Patterns of keys and passwords: no card may contain one, and no message shows one.

Keys are in the environment or in files; a card names the variable or the file. `core.redaction`
removes the known values themselves.
"""

import re
from collections.abc import Iterator
from typing import Any

NAMED = re.compile(
    r"(?<![a-z])(?:api|access|auth|private|subscription)?[-_]?keys?(?![a-z])|token$|secret|passw|"
    r"credential|authori[sz]ation|cookie",
    re.IGNORECASE,
)
"""What names a secret, as the name of a header or of a field."""
IN_A_BODY = re.compile(
    r"(?:api|access|auth|bearer|private|subscription)[-_]?(?:key|token)s?$|secret|passw|"
    r"credential|authori[sz]ation|cookie",
    re.IGNORECASE,
)
"""The same among fields of a request or a library: many of these are keys or tokens of texts."""
OPEN = {"prompt_cache_key", "bos_token", "eos_token", "pad_token", "stop_token", "unk_token"}
"""Fields whose names look like secrets, but whose values are not."""
HEADS = {"headers", "query"}
FREE = HEADS | {"extra_body", "model_args", "engine_args"}
"""Keys of cards in which anything may be named."""
VARIABLES = {"api_key_env", "api_key_file", "env", "proxy_auth_env", "proxy_auth_file"}
"""Keys of cards that name what holds a secret."""
MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|hf|gsk|xai|rk|ghp|glpat)[-_]|github_pat_|AIza|AKIA|Bearer\s+|eyJ)"
    r"(?=[\w-]*?(?=[A-Za-z]*\d)[A-Za-z0-9]{13})[\w.+/=-]{12,}"
)
"""A key with a provider's prefix and a long run of letters and digits, unlike names and paths."""
CREDENTIALS = re.compile(r"(?<=://)(?!git@)[^/?#@\s\"'<>]+@")
"""User and password in a URL."""
QUERY = re.compile(
    r"(?<=[?&])(?!r(?:esource|l)key=)((?:[\w-]*(?:key|token|secret|password)|sig|signature)=)"
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
    """Return a text with everything masked that looks like a secret."""
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
    """Return whether a value that contains text has the name of a secret, in a free part."""
    has_text = isinstance(value, str | list | dict) and bool(value)
    if not has_text or path[:1] not in {(part,) for part in FREE}:
        return False
    return is_secret(str(name)) if path[0] in HEADS else bool(IN_A_BODY.search(str(name)))


def is_secret(name: str) -> bool:
    """Return whether a field or a header has the name of a secret."""
    return bool(NAMED.search(name)) and name not in OPEN
