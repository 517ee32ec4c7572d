"""Annotations in JSON: objects with a list of errors or a verdict."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from judgescope.parsing.annotation_lines import (
    ErrorEntry,
    Listing,
    field_of,
)
from judgescope.parsing.characters import fold

TRIES = 40
"""The maximum number of places at which JSON parsing is tried."""
_BEGIN = re.compile(r"\{(?=\s{0,40}[\"}])|\[(?=\s{0,40}[{\]])")
_LISTS = re.compile(
    r"(?:identified |found |list of )?(?:errors?|issues|mistakes)"
    r"|(?:error )?(?:spans|annotations|list)"
)
_VERDICTS = ("overall", "score", "category")


def read_objects(answer: str) -> tuple[Listing | None, str]:
    """Return the last annotation in JSON (None if there is none) and the remaining
    text.

    An annotation is an object with a list of errors or a verdict, or only a list of
    errors. Keys are read like labels. An empty list means that there are no errors.
    """
    last: Listing | None = None
    rest: list[str] = []
    done = 0
    for value, start, end in _values(answer):
        listing = _listing(value)
        if listing:
            listing.superseded = len(last.errors) + last.superseded if last else 0
            last = listing
            rest.append(answer[done:start])
            done = end
    rest.append(answer[done:])
    return last, "".join(rest)


def _values(answer: str) -> Iterator[tuple[object, int, int]]:
    """Yield the outermost objects and lists of an answer with their start and end."""
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


def _listing(value: object) -> Listing | None:
    if isinstance(value, list):
        is_list_of_errors = all(isinstance(entry, dict) for entry in value)
        value = {"errors": value} if is_list_of_errors else {}
    assert isinstance(value, dict)  # _BEGIN finds objects and lists
    listing = Listing()
    for key, inner in value.items():
        if isinstance(inner, list) and _LISTS.fullmatch(_label(key)):
            listing.clean = not inner
            for entry in inner:
                if isinstance(entry, dict):
                    listing.errors += _entries(entry)
                elif text := _text(entry):
                    listing.errors.append(ErrorEntry(heading=text))
        else:
            _add_verdict(field_of(key), inner, listing)
    if listing.errors or listing.clean or listing.verdicts:
        return listing
    return None


def _add_verdict(name: str | None, inner: object, listing: Listing) -> None:
    if name in _VERDICTS and isinstance(inner, dict):
        for key, part in inner.items():
            _add_verdict(field_of(key), part, listing)
    elif name in _VERDICTS:
        listing.verdicts.append((name == "overall", _text(inner)))
    elif name in ("why", "explanation"):
        listing.why = _text(inner)


def _entries(fields: dict[str, object]) -> list[ErrorEntry]:
    """Return the error in an object, once for each of its locations."""
    entry = ErrorEntry()
    locations = [""]
    for key, inner in fields.items():
        name = field_of(key)
        if _label(key) in ("text", "quoted text", "error span"):
            name = "location"
        if name == "location":
            quotes = inner if isinstance(inner, list) else [inner]
            locations = [_text(quote) for quote in quotes]
        elif name in ("explanation", "why", "severity", "category"):
            setattr(entry, "explanation" if name == "why" else name, _text(inner))
    return [replace(entry, location=location) for location in locations or [""]]


def _label(key: str) -> str:
    return fold(key).replace("_", " ").strip()


def _text(value: object) -> str:
    """Return a string or a number as text, anything else as ""."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(str(value).split())
