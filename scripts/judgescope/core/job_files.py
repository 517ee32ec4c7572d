"""Which fields of a job's spec name files that the job reads or writes.

A field says so in its type: `items: Annotated[str, IN]`. A marked field holds a path,
None or "" for no file, or a list or dict of paths. Fields of records inside a spec are
marked in the record.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Any, get_args, get_type_hints

from msgspec import Struct


class Direction(Enum):
    """What a job does with a file that its spec names."""

    IN = "reads"
    OUT = "writes"
    OUT_FOLDER = "fills"


IN = Direction.IN
"""Marks a file that the job reads."""
OUT = Direction.OUT
"""Marks a file that the job writes.

A path with `{}` stands for a file of each cell, in a folder of their own."""
OUT_FOLDER = Direction.OUT_FOLDER
"""Marks a folder that the job fills."""


@dataclass(frozen=True)
class JobFiles:
    """The paths that a job's spec names, each once, in the order of its fields."""

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    """Files that the job writes, and folders that it fills."""


def job_files(spec: Struct) -> JobFiles:
    """Return the files that a job reads and writes.

    >>> from typing import Annotated
    >>> class Copy(Struct):
    ...     source: Annotated[str, IN]
    ...     copies: Annotated[list[str], OUT]
    >>> job_files(Copy("a.txt", ["b.txt", "c.txt"]))
    JobFiles(inputs=['a.txt'], outputs=['b.txt', 'c.txt'])
    """
    inputs = dict[str, None]()
    outputs = dict[str, None]()
    # What a path contains that stands for a file of each cell.
    each_cell = "/{}."
    for direction, path in _marked_paths(spec):
        if direction is Direction.IN:
            inputs[path] = None
        elif direction is Direction.OUT and each_cell in path:
            outputs[path.partition(each_cell)[0]] = None
        else:
            outputs[path] = None
    return JobFiles([*inputs], [*outputs])


def _marked_paths(record: Struct) -> Iterator[tuple[Direction, str]]:
    """Yield the paths in a record and in the records inside it."""
    for name, direction in _fields_with_paths(type(record)).items():
        for value in _single_values(getattr(record, name)):
            if isinstance(value, Struct):
                yield from _marked_paths(value)
            elif direction is not None and value:
                yield direction, value


def _single_values(value: Any) -> Iterator[Any]:
    """Yield what a list, a dict or a dict of lists contains, or a single value."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for element in value:
        yield from _single_values(element)


@cache
def _fields_with_paths(record: type[Struct]) -> dict[str, Direction | None]:
    """Return the fields of a type of record that are marked, or contain such fields.

    The direction is None for a field whose records have marked fields.
    """
    # No spec contains a record of its own type, so this ends.
    fields = dict[str, Direction | None]()
    for name, hint in get_type_hints(record, include_extras=True).items():
        marks = [mark for mark in get_args(hint) if isinstance(mark, Direction)]
        if marks:
            fields[name] = marks[0]
        elif any(_fields_with_paths(inner) for inner in _records_in(hint)):
            fields[name] = None
    return fields


def _records_in(hint: object) -> Iterator[type[Struct]]:
    """Yield the types of records that a type contains."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for argument in get_args(hint):
        yield from _records_in(argument)
