"""Cells of exports as texts and values: JSON in a cell, chats, scalars, texts."""

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from judgescope.data.rows import FileRow
from judgescope.tables.profile import profile
from judgescope.tables.spelling import is_missing
from judgescope.tables.structure import conversation, is_conversation
from judgescope.tables.words import classes_of


def unpacked(cell: Any) -> Any:
    """The list or object that a cell has as JSON, or as Python prints it; any other
    cell unchanged.

    >>> unpacked("['a', 'b']"), unpacked("[good] answer")
    (['a', 'b'], '[good] answer')
    """
    if not isinstance(cell, str) or cell.lstrip()[:1] not in {"[", "{"}:
        return cell
    readers: tuple[Callable[[str], Any], ...] = (json.loads, ast.literal_eval)
    for read in readers:
        try:
            value = read(cell.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list | dict):
            return value
        return cell
    return cell


def text_of(value: Any) -> str | None:
    """A text unchanged, chats with roles and calls, an object with one text as this
    text, other values as JSON; None for nothing.

    >>> text_of({"question": "Why?"}), text_of([{"role": "user", "content": "Hi"}])
    ('Why?', 'user: Hi')
    """
    chat = _chat(unpacked(value))
    if chat:
        return conversation(chat)
    if value is None or value in ("", [], {}):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        return text_of(next(iter(value.values())))
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def _chat(value: Any) -> list[Mapping[str, Any]]:
    """The messages of a chat: a list of them, one alone, or those of an object."""
    if isinstance(value, Mapping):
        value = value.get("messages", [value])
    return value if is_conversation(value) else []


def scalar(value: Any) -> Any:
    """A number, truth value or short word; None for any other value."""
    if isinstance(value, bool | int | float):
        return value
    # Characters of a cell that may be a label.
    most_short = 40
    if isinstance(value, str) and not is_missing(value) and len(value) <= most_short:
        return value.strip()
    return None


def scalars(content: Any, prefix: str) -> dict[str, Any]:
    """The numbers and short words directly in an object, by `prefix` and key."""
    fields: dict[str, Any] = {}
    if isinstance(content, Mapping):
        for name, cell in content.items():
            value = scalar(cell)
            if value is not None:
                fields[f"{prefix}{name}"] = value
    return fields


def columns_in(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys of all rows, in the order of their first use."""
    return list(dict.fromkeys(chain.from_iterable(rows)))


def kind_of(rows: Sequence[FileRow], column: str) -> str:
    """The kind of a column's cells: number, label, text …"""
    return profile(rows, column).kind


def first_of_kind(
    rows: Sequence[FileRow], columns: Iterable[str], kind: str
) -> str | None:
    """The first column whose header has a word of a class; else None."""
    for column in columns:
        if kind in classes_of(column):
            return column
    return None


def longest_text(rows: Sequence[FileRow], columns: Iterable[str]) -> str | None:
    """The column with the longest texts; None without a text."""
    sizes: dict[str, int] = {}
    for column in columns:
        size = 0
        for row in rows:
            cell = row.get(column)
            if isinstance(cell, str):
                size += len(cell)
        if size:
            sizes[column] = size
    return max(sizes, key=lambda column: sizes[column], default=None)
