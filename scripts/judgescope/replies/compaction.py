"""Compaction, export and import of stored replies; removal of result files to be made
again.

Lines are exported or compacted into one Parquet file, and none is lost. Compaction
removes a file only after reading all its lines back from the new file, and a journal
only if it was not modified for a day. Two compactions at once leave two files with the
same lines, which the next compaction joins; the journal of a job that is still writing
stays.
"""

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.replies.inspection import has_all_lines
from judgescope.replies.journal import (
    DIGEST,
    KEY,
    Chosen,
    Keys,
    ReplyLine,
    digest_of,
    every,
    read_line,
)
from judgescope.replies.ledger import unbooked
from judgescope.replies.lookup import KeyedDraw, KeyTable
from judgescope.replies.shard import (
    COMPACTED,
    JOURNAL,
    CompactedLine,
    Files,
    JournalPlace,
    blocks,
    compacted_blocks,
    files_of,
    forget_prompts,
    shards,
    sources_of,
    write_compacted,
)
from judgescope.replies.store import DAY, Store
from judgescope.schema.tables import read_table


class Compacted(NamedTuple):
    """The lines of the new file, the removed files, and the remaining files with the
    reason.
    """

    lines: int
    removed: list[Path]
    left: dict[Path, str]
    freed: int
    """Bytes by which the shard became smaller."""


def compact(
    shard: Path, *, keep: Chosen = every, now: float | None = None
) -> Compacted:
    """Join a shard's files into one; `keep` selects the keys to keep."""
    if now is None:
        now = time.time()
    try:
        inputs = files_of(shard)
        if (
            keep is every
            and len(inputs) < 2
            and not any(path.suffix == JOURNAL for path in inputs)
        ):
            return Compacted(0, [], {}, 0)
        before = _size(inputs)
        path = shard / f"{os.urandom(8).hex()}{COMPACTED}"
        count = write_compacted(path, _sorted_lines(inputs, shard.name, keep))
        removed, left = _remove(inputs, path, keep, now)
        if count and keep is every and not removed:
            names = "".join(f"{source.name}\n" for source in inputs)
            sources_of(path).write_text(names, encoding="utf-8")
        return Compacted(count, removed, left, before - _size(files_of(shard)))
    except FileNotFoundError as error:
        raise UserError(
            "another process is compacting this shard",
            where=str(shard),
            got=Path(str(error.filename)).name,
            todo="nothing is lost; run the command again when the other process has "
            "finished",
        ) from None


def _size(paths: list[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def unused(shard: Path, keep: Chosen) -> tuple[int, int]:
    """Return the number of lines with keys that `keep` does not select, and their
    bytes.
    """
    lines = size = 0
    for path in files_of(shard):
        for block in blocks(path):
            gone = ~keep(block.keys)
            lines += int(gone.sum())
            size += int((block.ends - block.starts)[gone].sum())
    return lines, size


def _sorted_lines(
    inputs: list[Path], model: str, chosen: Chosen
) -> Iterator[CompactedLine]:
    """Yield each distinct valid line of some files once, sorted by key, draw and bytes.

    Memory holds key, draw and place of each line; the line itself is read when it is
    yielded.
    """
    files = Files()
    key_parts: list[Keys] = [np.empty(0, KEY)]
    draws: list[int] = []
    places: list[JournalPlace] = []
    for path in inputs:
        for file, block in files.placed(path, chosen):
            valid = chosen(block.keys)
            for number in np.flatnonzero(valid).tolist():
                line = read_line(data := block.line(number))
                if line is None:
                    valid[number] = False
                else:
                    draws.append(line.draw)
                    places.append(
                        JournalPlace(
                            file, block.offset + int(block.starts[number]), len(data)
                        )
                    )
            key_parts.append(block.keys[valid])
    keys = np.concatenate(key_parts)
    numbers = np.array(draws, np.int64)
    order = np.lexsort((numbers, keys))
    raw = keys[order].tobytes()
    numbers = numbers[order]
    by_key = np.array(places, np.int64).reshape(-1, 3)[order].tolist()
    rows = (
        (raw[32 * n : 32 * n + 32], draw, JournalPlace(*position))
        for n, (draw, position) in enumerate(zip(numbers.tolist(), by_key, strict=True))
    )
    for (key, draw), group in groupby(rows, key=lambda row: row[:2]):
        for data in sorted({files.read(position) for *_, position in group}):
            yield CompactedLine(model, key, draw, data)


def _remove(
    inputs: list[Path], path: Path, keep: Chosen, now: float
) -> tuple[list[Path], dict[Path, str]]:
    """Remove the files whose lines to keep are all in the new file."""
    copied = (
        np.sort(_digests(path, every)) if path.is_file() else np.empty(0, f"S{DIGEST}")
    )
    removed = []
    left = {}
    begun = unbooked(path.parent.parent)
    for source in inputs:
        if any(source.name.startswith(begin.name) for begin in begun):
            reason: str | None = "its cost is not in the ledger"
        else:
            reason = _why_left(source, copied, keep, now)
        if reason:
            left[source] = reason
        else:
            source.unlink(missing_ok=True)
            sources_of(source).unlink(missing_ok=True)
            removed.append(source)
    return removed, left


def _why_left(
    path: Path, copied: NDArray[np.bytes_], keep: Chosen, now: float
) -> str | None:
    written = path.stat().st_mtime
    if path.suffix == JOURNAL:
        if now - written < DAY:
            return "modified less than a day ago"
        if not has_all_lines(path):
            return "it has lines that are not replies, or lines were lost"
    if (
        not np.isin(_digests(path, keep), copied).all()
        or path.stat().st_mtime != written
    ):
        return "the new file lacks some of its lines"
    return None


def _digests(path: Path, keep: Chosen) -> NDArray[np.bytes_]:
    digests = []
    for block in blocks(path, keep):
        for number in np.flatnonzero(keep(block.keys)).tolist():
            digests.append(digest_of(block.line(number)))
    return np.array(digests, f"S{DIGEST}")


def export(store: Path, path: Path, chosen: Mapping[str, Chosen] | None = None) -> int:
    """Write the lines of a store to a file, return their number; `chosen`: shard -> its
    keys.
    """
    keys = {shard.name: every for shard in shards(store)} if chosen is None else chosen
    lines = (
        _sorted_lines(files_of(shard), shard.name, keys[shard.name])
        for shard in shards(store)
        if shard.name in keys
    )
    return write_compacted(path, chain.from_iterable(lines))


@dataclass
class Imported:
    """Counts of what an import did with the lines of one shard.

    `differs` counts new lines for draws that already have another reply in the shard;
    `skipped` counts lines that are not replies.
    """

    new: int = 0
    known: int = 0
    differs: int = 0
    skipped: int = 0


def merge(path: Path, store: Path) -> dict[str, Imported]:
    """Add the lines of an exported file that the store lacks; return shard -> counts.

    If a draw has two replies, both are kept. Which one is used does not depend on their
    origin, so everyone who exchanges replies uses the same one.
    """
    shards: dict[str, _Import] = {}
    try:
        for model, block in compacted_blocks(path):
            if model not in shards:
                shards[model] = _Import(Store(store, model))
            for data in block.lines():
                if shards[model].is_new(data):
                    shards[model].store.adopt(data)
    finally:
        for each in shards.values():
            each.store.close()
            if each.counts.new:
                forget_prompts(each.store.shard)
    return {model: each.counts for model, each in shards.items()}


class _Import:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.counts = Imported()
        store.closes = True
        self._digests = set[bytes]()
        self._answered = set[KeyedDraw]()
        for path in files_of(store.shard):
            for block in blocks(path):
                for data in block.lines():
                    self.is_new(data)
        self.counts = Imported()

    def is_new(self, data: bytes) -> bool:
        """Count a line and remember it; return whether it was unknown."""
        line = read_line(data)
        digest = digest_of(data)
        if line is None or data.find(b"\n") != len(data) - 1:
            self.counts.skipped += 1
            return False
        if digest in self._digests:
            self.counts.known += 1
            return False
        self._digests.add(digest)
        self.counts.new += 1
        if isinstance(line, ReplyLine) and line.status != "error":
            self.counts.differs += (line.key, line.draw) in self._answered
            self._answered.add((line.key, line.draw))
        return True


MOST_REPEATS = 2
"""How often an empty reply is requested again: more would select replies."""
REMOVED = ".removed"
"""The suffix of the mark beside a model's replies that their file of hashes was
removed."""


def forget_errors(store: Store) -> int:
    """Mark every error in a model's shard to be requested again; return their
    number.
    """
    errors = store.errors()
    store.closes = True
    for draw in errors:
        store.forget(draw)
    return len(errors)


def forget_empty(store: Store, draws: Iterable[KeyedDraw]) -> None:
    """Mark empty replies to be requested again (see `repeatable`)."""
    store.closes = True
    for draw in draws:
        store.forget(draw, replies=True)


def repeatable(store: Store, draws: Collection[KeyedDraw]) -> list[KeyedDraw]:
    """Return those of some draws that may be requested again: not yet MOST_REPEATS
    times.
    """
    counts: dict[str, int] = {}
    for key, draw in draws:
        counts[key] = max(draw + 1, counts.get(key, 0))
    store.find(KeyTable.from_counts(counts))
    again = store.asked_again
    return sorted(draw for draw in draws if len(again.get(draw, set())) < MOST_REPEATS)


def drop_answers(results: Path, keys: Collection[str] = ()) -> int:
    """Delete a study's reply files with errors, and those with replies to some keys, to
    be made again; return their number.
    """
    patterns = (
        "replies/**/*.parquet",
        "made/**/*.parquet",
        "construction/*/*.rated.parquet",
    )
    with_error = []
    for pattern in patterns:
        for path in sorted(results.glob(pattern)):
            if _has_error(path) or (keys and _has_key(path, keys)):
                with_error.append(path)
    replies = results / "replies"
    for path in with_error:
        path.unlink()
        if path.is_relative_to(
            replies
        ):  # Snakemake knows only the file of their hashes
            dataset, model = path.relative_to(replies).parts[:2]
            (replies / dataset / f"{model}.json").unlink(missing_ok=True)
            (replies / dataset / f"{model}{REMOVED}").touch()
    return len(with_error)


def _has_error(path: Path) -> bool:
    return "error" in read_table("answers", path, ["status"])["status"].to_pylist()


def _has_key(path: Path, keys: Collection[str]) -> bool:
    return not set(keys).isdisjoint(
        read_table("answers", path, ["key"])["key"].to_pylist()
    )


def cut_files(results: Path) -> dict[Path, list[Path]]:
    """Return file of hashes -> its files of replies and scores that are cut short or
    missing.

    A job writes a folder of files and a file of their hashes. Snakemake knows only the
    file of hashes: if that is deleted and requested, all files are made again, with
    replies from the store. A file of hashes that `drop_answers` removed has no files
    here: Snakemake would not miss it below a finished report.
    """
    cut: dict[Path, list[Path]] = {}
    for mark in sorted(results.glob(f"replies/*/*{REMOVED}")):
        hashes = mark.with_suffix(".json")
        if hashes.exists():  # made again
            mark.unlink()
        else:
            cut[hashes] = []
    for kind in ("replies", "scores"):
        for hashes in sorted(results.glob(f"{kind}/*/*.json")):
            below = f"{hashes.parent.name}/{hashes.stem}"
            try:
                names = json.loads(hashes.read_text(encoding="utf-8"))
            except ValueError:
                cut[hashes] = [hashes]
                continue
            paths = []
            for name in names:  # it may begin with its kind
                first, _, rest = name.partition("/")
                of_kind, cell = (
                    (first, rest) if first in ("judgments", "scores") else (kind, name)
                )
                paths.append(results / of_kind / below / f"{cell}.parquet")
            if incomplete := [path for path in paths if not _is_complete(path)]:
                cut[hashes] = incomplete
    return cut


def _is_complete(path: Path) -> bool:
    # The end of a Parquet file.
    magic = b"PAR1"
    try:
        with path.open("rb") as file:
            file.seek(-len(magic), os.SEEK_END)
            return file.read() == magic
    except OSError:  # missing, or shorter than MAGIC
        return False
