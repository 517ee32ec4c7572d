"""Data for a page that is opened from a disk, where a script may load scripts and nothing else.

A shard is a script that calls one function of the page with plain data. The data are untrusted:
no character of theirs ends the script, and what is in them is never more than a JSON literal.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from judgescope.core.control_chars import UNSEEN

CALL = "judgescope"
"""The function of the page."""
LIMIT = 250_000
"""Characters after which a numbered shard is full; one row is never split."""

_UNSAFE = re.compile(rf"[<>&\u200c\u200d{UNSEEN}]")
"""What ends a script or its line, and what nobody would see, beside what JSON itself escapes."""


def literal(value: object) -> str:
    """Return a value as JSON that stands safely in a script, whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: _escaped(found[0]), text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def call(kind: str, place: Sequence[int], data: str) -> str:
    """Return one line of a shard: `data` is a literal, `place` numbers what it belongs to."""
    told = ",".join([f'"{kind}"', *map(str, place), data])
    return f"{CALL}({told});\n"


class Shelf:
    """Shards `<name>.<number>.js` of one kind in a folder, filled one after another."""

    def __init__(self, folder: Path, name: str, kind: str) -> None:
        self._folder, self._name, self._kind = folder, name, kind
        self._number = self._size = 0

    def put(self, place: Sequence[int], rows: Iterable[object]) -> list[list[int]]:
        """Write rows; return [the first row, the number of its shard] for each part of them."""
        parts: list[list[int]] = []
        lines: list[str] = []
        for number, row in enumerate(rows):
            line = literal(row)
            if self._size and self._size + len(line) > LIMIT:
                self._write(place, parts, lines)
                self._number, self._size, lines = self._number + 1, 0, []
            if not lines:
                parts.append([number, self._number])
            lines.append(line)
            self._size += len(line) + 1
        self._write(place, parts, lines)
        return parts

    def _write(
        self, place: Sequence[int], parts: Sequence[Sequence[int]], lines: Sequence[str]
    ) -> None:
        if lines:
            told = call(self._kind, [*place, parts[-1][0]], f"[{','.join(lines)}]")
            append(self._folder / f"{self._name}.{self._number}.js", told)


def append(path: Path, text: str) -> None:
    """Add a line to a shard."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)
