"""YAML of bounded size: a card that unfolds into millions of values is refused before it does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from judgescope.core.errors import UserError

MOST_BYTES = 2_000_000
MOST_VALUES = 50_000
DEEPEST = 40
"""No card needs a tenth of these; the parser itself ends at some hundred levels."""


class _Extent(NamedTuple):
    """How many values something is, with what its aliases stand for, and how many levels deep."""

    values: int
    levels: int


ONE = _Extent(1, 0)


def read_bounded(path: Path, loader: Any) -> str:
    """Return the text of a YAML file; UserError where it is too large, too deep, or unfolds so.

    Raises UnicodeDecodeError and yaml.YAMLError for what is no YAML in UTF-8 to the loader.
    """
    if (size := path.stat().st_size) > MOST_BYTES:
        raise _refused(path, "this file is too large for a card", f"{size:,} bytes")
    text = path.read_text(encoding="utf-8")
    for extent in _extents(path, text, loader):
        if extent.levels > DEEPEST:
            raise _refused(path, "this is nested too deeply for a card", f"over {DEEPEST} levels")
        if extent.values > MOST_VALUES:
            got = f"over {MOST_VALUES:,} values, those of aliases counted where they stand"
            raise _refused(path, "this unfolds into too much for a card", got)
    return text


def _extents(path: Path, text: str, loader: Any) -> Iterator[_Extent]:
    """Yield how much there is so far of whatever stands open, and of each anchor once it is whole.

    Works on the parser's events: nothing is built.
    """
    known: dict[str, _Extent] = {}
    open_: list[tuple[str | None, _Extent]] = [(None, ONE)]
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, ONE))
            yield _Extent(1, len(open_) - 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, own = open_.pop()
            known |= {anchor: own} if anchor else {}
            yield _add(open_, own)
        elif isinstance(event, yaml.ScalarEvent):
            known |= {event.anchor: ONE} if event.anchor else {}
            yield _add(open_, ONE)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in {anchor for anchor, _ in open_}:
                raise _refused(path, "this is part of itself", f"*{event.anchor}")
            yield _add(open_, known.get(str(event.anchor), ONE))


def _add(open_: list[tuple[str | None, _Extent]], more: _Extent) -> _Extent:
    anchor, own = open_[-1]
    grown = _Extent(own.values + more.values, max(own.levels, more.levels + 1))
    open_[-1] = (anchor, grown)
    return _Extent(grown.values, grown.levels + len(open_) - 1)


def _refused(path: Path, what: str, got: Any) -> UserError:
    return UserError(what, where=str(path), got=got, todo="write the values out, and fewer of them")
