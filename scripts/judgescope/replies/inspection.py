"""What a store holds, and whether it is whole."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from judgescope.core.errors import UserError
from judgescope.replies import compacted
from judgescope.replies.journal import CUT, Row, digest_of, is_damaged, row_of, unknown_in
from judgescope.replies.key_table import KEY
from judgescope.replies.shard import JOURNAL, blocks, files_of


@dataclass
class Stats:
    """The figures of one shard.

    `replies` and `errors` count lines: a draw that two jobs asked for at once has two. `tokens` is
    what all of them cost, prompt and completion; `unknown` counts replies that do not say.
    """

    journals: int = 0
    compacted: int = 0
    bytes: int = 0
    questions: int = 0
    replies: int = 0
    errors: int = 0
    forgotten: int = 0
    skipped: int = 0
    unknown: int = 0
    tokens: Counter[str] = field(default_factory=Counter)


def stats(shard: Path) -> Stats:
    """Count what a shard holds; a line that is in a journal and compacted counts once."""
    told = Stats()
    keys = [np.empty(0, KEY)]
    seen: set[bytes] = set()
    for path in files_of(shard):
        told.bytes += path.stat().st_size
        told.journals += path.suffix == JOURNAL
        told.compacted += path.suffix != JOURNAL
        for block in blocks(path):
            told.skipped += block.skipped
            keys.append(np.unique(block.keys))
            for line in block.lines():
                row = row_of(line)
                if row is None:
                    told.skipped += 1
                elif (digest := digest_of(line)) not in seen:
                    seen.add(digest)
                    _count(told, row)
    told.questions = len(np.unique(np.concatenate(keys)))
    return told


def _count(told: Stats, row: Row) -> None:
    if "forget" in row:
        told.forgotten += 1
    elif row["status"] == "error":
        told.errors += 1
    else:
        told.replies += 1
        told.unknown += not row["usage"]
        used = {name: n for name, n in (row["usage"] or {}).items() if type(n) is int}
        told.tokens.update(used)


class Finding(NamedTuple):
    """Something about a line; not `wrong`: it happens, and a reader knows what to do."""

    where: str
    what: str
    wrong: bool


DAMAGED = "a line that was changed since it was written: its checksum is wrong"
PASSED_OVER = (
    "it cannot be read; all that is in it is in journals, too: `judgescope replies compact` makes "
    "it again"
)
TORN = "a line without its end: its writer was stopped; it is passed over"
DIFFERS = "another reply to this draw stands at {}; the first by its bytes counts"


def verify(shard: Path) -> Iterator[Finding]:
    """Yield what is to be said of a shard's lines, file by file, and of draws with two replies."""
    answers: list[tuple[bytes, int, bytes, str]] = []
    for path in files_of(shard):
        try:
            for number, line in _numbered(path):
                where = f"{path}:{number}"
                row = row_of(line)
                if row is None:
                    yield _fault(where, line)
                elif "forget" not in row and row["status"] != "error":
                    key = bytes.fromhex(row["key"])
                    answers.append((key, row["draw"], digest_of(line), where))
        except UserError as error:
            yield Finding(str(path), error.what, True)
        if path.suffix != JOURNAL and compacted.is_passed_over(path):
            yield Finding(str(path), PASSED_OVER, True)
    yield from _twice(sorted(answers))


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    if path.suffix == JOURNAL:
        with path.open("rb") as file:
            yield from enumerate(file, 1)
    else:
        lines = (line for _, block in compacted.blocks(path) for line in block.lines())
        yield from enumerate(lines, 1)


def _fault(where: str, line: bytes) -> Finding:
    if not line.endswith(b"\n") or line.endswith(CUT):
        return Finding(where, TORN, False)
    if is_damaged(line):
        return Finding(where, f"{DAMAGED}: {line[:60].decode('utf-8', 'replace')!r}", True)
    if fields := unknown_in(line):
        return Finding(where, f"a newer version of Judgescope wrote it: {', '.join(fields)}", True)
    return Finding(where, f"this is no reply: {line[:60].decode('utf-8', 'replace')!r}", True)


def _twice(answers: list[tuple[bytes, int, bytes, str]]) -> Iterator[Finding]:
    for one, other in pairwise(answers):
        if one[:2] == other[:2] and one[2] != other[2]:
            yield Finding(other[3], DIFFERS.format(one[3]), False)
