"""What an annotator's reply says in JSON, fenced or not."""

import json
import re
from collections.abc import Iterator
from typing import Any

from judgescope.parsing.labelled import Entry, Said, field_of
from judgescope.parsing.text import fold

_BEGIN = re.compile(r"\{(?=\s{0,40}[\"}])|\[(?=\s{0,40}[{\]])")
TRIES = 40
"""So many places are tried at which JSON may begin."""
_LISTS = re.compile(
    r"(?:identified |found |list of )?(?:errors?|issues|mistakes)"
    r"|(?:error )?(?:spans|annotations|list)"
)
_TEXTS = frozenset(("text", "quoted text", "error span"))
_VERDICTS = ("overall", "score", "category")


def read_objects(answer: str) -> tuple[Said | None, str]:
    """Return what the last annotation in JSON says, None without one, and the answer without JSON.

    An annotation is an object with a list of errors or a verdict, or a list of errors alone. Keys
    are read as labels are. An empty list says that there are no errors.
    """
    said: Said | None = None
    rest, done = list[str](), 0
    for value, start, end in _values(answer):
        found = _annotation(value)
        if found:
            found.superseded = len(said.errors) + said.superseded if said else 0
            said = found
            rest.append(answer[done:start])
            done = end
    rest.append(answer[done:])
    return said, "".join(rest)


def _values(answer: str) -> Iterator[tuple[Any, int, int]]:
    """Yield the objects and lists that stand in an answer, none within another, and where."""
    decoder = json.JSONDecoder()
    done = 0
    for _ in range(TRIES):
        begin = _BEGIN.search(answer, done)
        if begin is None:
            return
        try:
            value, done = decoder.raw_decode(answer, begin.start())
        except (ValueError, RecursionError):
            done = begin.start() + 1
        else:
            yield value, begin.start(), done


def _annotation(value: Any) -> Said | None:
    if isinstance(value, list):
        value = {"errors": value} if all(isinstance(one, dict) for one in value) else {}
    said = Said()
    for key, inner in value.items():
        if isinstance(inner, list) and _LISTS.fullmatch(_label(key)):
            _add_errors(inner, said)
        else:
            _add_verdict(field_of(key), inner, said)
    return said if said.errors or said.clean or said.verdicts else None


def _add_errors(listed: list[Any], said: Said) -> None:
    said.clean = not listed
    for one in listed:
        if isinstance(one, dict):
            said.errors += _entries(one)
        elif text := _text(one):
            said.errors.append(Entry(heading=text))


def _add_verdict(name: str | None, inner: Any, said: Said) -> None:
    if name in _VERDICTS and isinstance(inner, dict):
        for key, part in inner.items():
            _add_verdict(field_of(key), part, said)
    elif name in _VERDICTS:
        said.verdicts.append((name == "overall", _text(inner)))
    elif name in ("why", "explanation"):
        said.why = _text(inner)


def _entries(told: dict[str, Any]) -> list[Entry]:
    """Return the error of an object, once for each place it names."""
    entry, places = Entry(), [""]
    for key, inner in told.items():
        name = "location" if _label(key) in _TEXTS else field_of(key)
        if name == "location":
            places = [_text(one) for one in inner] if isinstance(inner, list) else [_text(inner)]
        elif name in ("explanation", "why", "severity", "category"):
            setattr(entry, "explanation" if name == "why" else name, _text(inner))
    return [
        Entry(place, entry.explanation, entry.severity, entry.category) for place in places or [""]
    ]


def _label(key: str) -> str:
    return fold(key).replace("_", " ").strip()


def _text(value: Any) -> str:
    """Return a string or a number as text, anything else as nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split())
