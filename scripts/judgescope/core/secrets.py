"""What looks like a key or a password: no card holds one, and no message shows one.

Keys are in the environment alone; a card names the variable. What only some process knows, the
value itself, is taken out of texts by `core.redaction`.
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
"""Fields that are named like one, and are none."""
HEADS = {"headers", "query"}
FREE = HEADS | {"extra_body", "model_args", "engine_args"}
"""Keys of cards in which anything may be named."""
VARIABLES = {"api_key_env", "env"}
"""Keys of cards that name variables of the environment."""
MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|hf|gsk|xai|rk|ghp|glpat)[-_]|github_pat_|AIza|AKIA|Bearer\s+|eyJ)"
    r"(?=[\w-]*?(?=[A-Za-z]*\d)[A-Za-z0-9]{13})[\w.+/=-]{12,}"
)
"""A key as providers mark it: with a long run of letters and digits, which names and paths lack."""
CREDENTIALS = re.compile(r"(?<=://)(?!git@)[^/?#@\s\"'<>]+@")
"""A name and a password before an address's host."""
QUERY = re.compile(
    r"(?<=[?&])(?!r(?:esource|l)key=)((?:[\w-]*(?:key|token|secret|password)|sig|signature)=)"
    r"[^&\s\"'#<>]+",
    re.IGNORECASE,
)
"""A key behind an address's `?`; links to shared files have one that is none."""
LONG = re.compile(
    r"(?![A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]{1,12}){2,}\Z)"
    r"(?:(?=.*[a-z])(?=.*\d).{20,}|[0-9A-F]{32,}|.{41,})"
)
"""What may be a key, although it has the form of a name: long, of letters and digits, no words."""
PLACE = "<not shown>"

Place = tuple[str | int, ...]


def masked(text: str) -> str:
    """Return a text without what looks like a secret in it."""
    text = CREDENTIALS.sub(f"{PLACE}@", MARKED.sub(PLACE, text))
    return QUERY.sub(rf"\1{PLACE}", text)


def suspects(content: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of everything in a card that looks like a secret."""
    if isinstance(content, dict):
        for name, value in content.items():
            if _is_named(name, value, place):
                yield (*place, name)
            else:
                yield from suspects(value, (*place, name))
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from suspects(value, (*place, number))
    elif isinstance(content, str):
        variable = any(part in VARIABLES for part in place[:2])
        if masked(content) != content or (variable and LONG.fullmatch(content)):
            yield place


def _is_named(name: object, value: object, place: Place) -> bool:
    """Return whether a text, or what holds one, has the name of a secret in a free part."""
    told = isinstance(value, str | list | dict) and bool(value)
    if not told or place[:1] not in {(part,) for part in FREE}:
        return False
    return is_secret(str(name)) if place[0] in HEADS else bool(IN_A_BODY.search(str(name)))


def is_secret(name: str) -> bool:
    """Return whether a field or a header has the name of a secret."""
    return bool(NAMED.search(name)) and name not in OPEN
