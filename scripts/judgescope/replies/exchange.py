"""Replies from one machine to another: one file, of some keys or of a whole store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judgescope.replies import compacted
from judgescope.replies.compacted import Line
from judgescope.replies.compaction import entries_of, in_order
from judgescope.replies.files import Files
from judgescope.replies.journal import Row, digest_of, row_of
from judgescope.replies.key_table import Chosen
from judgescope.replies.lookup import Draw
from judgescope.replies.shard import blocks, files_of, shards
from judgescope.replies.store import Store


@dataclass
class Imported:
    """What an import did with the lines of one shard.

    `differs` counts those of the new ones that answer a draw to which the shard has another reply;
    `skipped` those that are no replies.
    """

    new: int = 0
    there: int = 0
    differs: int = 0
    skipped: int = 0


def export(store: Path, path: Path, chosen: Mapping[str, Chosen] | None = None) -> int:
    """Write the lines of a store, or of the chosen keys of its shards; return how many."""
    return compacted.write(path, _lines(store, chosen))


def _lines(store: Path, chosen: Mapping[str, Chosen] | None) -> Iterator[Line]:
    for shard in shards(store):
        if not chosen or shard.name in chosen:
            files = Files()
            entries = entries_of(files_of(shard), files, chosen[shard.name] if chosen else None)
            yield from in_order(entries, files, shard.name)


def merge(path: Path, store: Path) -> dict[str, Imported]:
    """Take those lines of an exported file that the store lacks; shard -> what was done.

    Of a draw with two replies both are kept. Which of them counts does not depend on where they
    came from: all who exchange replies come to use the same.
    """
    done: dict[str, Imported] = {}
    known: dict[str, _Known] = {}
    writers: dict[str, Store] = {}
    try:
        for model, block in compacted.blocks(path):
            if model not in done:
                writers[model] = Store(store, model)
                done[model], known[model] = Imported(), _known(writers[model].shard)
            for line in block.lines():
                if known[model].is_new(line, done[model]):
                    writers[model].adopt(line)
    finally:
        for writer in writers.values():
            writer.close()
    return done


@dataclass
class _Known:
    """The lines that a shard has, and the draws that it answers."""

    lines: set[bytes] = field(default_factory=set)
    answered: set[Draw] = field(default_factory=set)

    def add(self, line: bytes, row: Row) -> bool:
        """Note a line; return whether it answers a draw that was answered otherwise."""
        self.lines.add(digest_of(line))
        if "forget" in row or row["status"] == "error":
            return False
        draw = (row["key"], row["draw"])
        twice = draw in self.answered
        self.answered.add(draw)
        return twice

    def is_new(self, line: bytes, done: Imported) -> bool:
        """Return whether a line is to be taken; count what it is."""
        row = row_of(line)
        if row is None or line.find(b"\n") != len(line) - 1:
            done.skipped += 1
            return False
        if digest_of(line) in self.lines:
            done.there += 1
            return False
        done.new += 1
        done.differs += self.add(line, row)
        return True


def _known(shard: Path) -> _Known:
    known = _Known()
    for path in files_of(shard):
        for block in blocks(path):
            for line in block.lines():
                row = row_of(line)
                if row is not None:
                    known.add(line, row)
    return known
