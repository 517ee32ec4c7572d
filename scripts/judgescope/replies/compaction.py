"""Compaction: many journals become one Parquet file, and nothing is lost by it.

The file is written beside the others and appears when it is whole. A file that it was made from is
removed only when everything in it was read back from there; a journal, besides, only when nobody
wrote to it for a day. Two compactions at once leave two files with the same lines, which the next
one joins; a job that writes meanwhile keeps its journal.
"""

import os
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.replies import compacted
from judgescope.replies.compacted import Line
from judgescope.replies.files import Files, Place
from judgescope.replies.journal import DIGEST, digest_of, row_of
from judgescope.replies.key_table import KEY, Chosen, Counts, Keys
from judgescope.replies.ledger import unbooked
from judgescope.replies.shard import COMPACTED, JOURNAL, blocks, files_of, placed

DAY = 86400.0


class Compacted(NamedTuple):
    """What became of a shard: lines in the new file, files removed, and files left, with why."""

    lines: int
    removed: list[Path]
    left: dict[Path, str]
    freed: int
    """Bytes by which the shard became smaller."""


class Entries(NamedTuple):
    """Whole lines of a shard: key, draw, and its place."""

    keys: Keys
    draws: Counts
    places: NDArray[np.int64]


def compact(shard: Path, *, keep: Chosen | None = None, now: float | None = None) -> Compacted:
    """Join a shard's files into one; `keep` chooses the keys that stay (default: all)."""
    try:
        return _compact(shard, keep, time.time() if now is None else now)
    except FileNotFoundError as error:
        raise UserError(
            "another compaction of this shard is under way",
            where=str(shard),
            got=Path(str(error.filename)).name,
            todo="nothing is lost; run this again when it has ended",
        ) from None


def _compact(shard: Path, keep: Chosen | None, now: float) -> Compacted:
    inputs = files_of(shard)
    if keep is None and len(inputs) < 2 and not any(path.suffix == JOURNAL for path in inputs):
        return Compacted(0, [], {}, 0)
    before = _size(inputs)
    files = Files()
    path = shard / f"{os.urandom(8).hex()}{COMPACTED}"
    count = compacted.write(path, in_order(entries_of(inputs, files, keep), files, shard.name))
    removed, left = _remove(inputs, path, keep, now)
    if count and keep is None and not removed:
        names = "".join(f"{one.name}\n" for one in inputs)
        compacted.sources_of(path).write_text(names, encoding="utf-8")
    return Compacted(count, removed, left, before - _size(files_of(shard)))


def _size(paths: list[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def unused(shard: Path, keep: Chosen) -> tuple[int, int]:
    """Return how many lines, and bytes of them, have no key that stays."""
    lines = size = 0
    for path in files_of(shard):
        for block in blocks(path):
            gone = ~keep(block.keys)
            lines += int(gone.sum())
            size += int((block.ends - block.starts)[gone].sum())
    return lines, size


def entries_of(inputs: list[Path], files: Files, chosen: Chosen | None = None) -> Entries:
    """Return the whole lines of some files, or those with a chosen key."""
    keys: list[Keys] = [np.empty(0, KEY)]
    draws: list[int] = []
    places: list[Place] = []
    for path in inputs:
        for file, block in placed(path, files, chosen):
            whole = np.ones(len(block.keys), bool) if chosen is None else chosen(block.keys)
            for number in np.flatnonzero(whole).tolist():
                line = block.line(number)
                row = row_of(line)
                if row is None:
                    whole[number] = False
                else:
                    draws.append(row["draw"])
                    places.append(Place(file, block.offset + int(block.starts[number]), len(line)))
            keys.append(block.keys[whole])
    at = np.array(places, np.int64).reshape(-1, 3)
    return Entries(np.concatenate(keys), np.array(draws, np.int64), at)


def in_order(entries: Entries, files: Files, model: str) -> Iterator[Line]:
    """Yield each different line once, by key, draw and bytes."""
    order = np.lexsort((entries.draws, entries.keys))
    keys, draws = entries.keys[order], entries.draws[order].tolist()
    raw = keys.tobytes()
    places = map(Place._make, entries.places[order].tolist())
    rows = ((raw[32 * n : 32 * n + 32], draws[n], place) for n, place in enumerate(places))
    for (key, draw), group in groupby(rows, key=lambda row: row[:2]):
        for line in sorted({files.read(place) for *_, place in group}):
            yield Line(model, key, draw, line)


def _remove(
    inputs: list[Path], path: Path, keep: Chosen | None, now: float
) -> tuple[list[Path], dict[Path, str]]:
    """Remove the files of which everything that stays is in the new one."""
    there = np.sort(_digests(path, None)) if path.is_file() else np.empty(0, f"S{DIGEST}")
    removed, left = [], {}
    begun = unbooked(path.parent.parent)
    for one in inputs:
        open_ = any(one.name.startswith(begin.name) for begin in begun)
        reason = "what it cost is not booked" if open_ else _why_left(one, there, keep, now)
        if reason:
            left[one] = reason
        else:
            one.unlink(missing_ok=True)
            compacted.sources_of(one).unlink(missing_ok=True)
            removed.append(one)
    return removed, left


def _why_left(path: Path, there: NDArray[np.bytes_], keep: Chosen | None, now: float) -> str | None:
    """Return why a file stays, or None."""
    written = path.stat().st_mtime
    if path.suffix == JOURNAL and now - written < DAY:
        return "written to within a day"
    if path.suffix == JOURNAL and _foreign(path):
        return "it has lines that are no replies"
    digests = _digests(path, keep)
    if not np.isin(digests, there).all() or path.stat().st_mtime != written:
        return "not all of it is in the new file"
    return None


def _foreign(path: Path) -> bool:
    """Return whether a journal has lines that are not ours; an unfinished last one may be."""
    with path.open("rb") as file:
        return any(line.endswith(b"\n") and row_of(line) is None for line in file)


def _digests(path: Path, keep: Chosen | None) -> NDArray[np.bytes_]:
    """Return a hash of each line that stays."""
    found = []
    for block in blocks(path, keep):
        mask = np.ones(len(block.keys), bool) if keep is None else keep(block.keys)
        found += [digest_of(block.line(number)) for number in np.flatnonzero(mask).tolist()]
    return np.array(found, f"S{DIGEST}")
