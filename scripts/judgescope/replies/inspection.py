"""The contents of a store, and its lines that were changed after they were written."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.engines.requests import counted
from judgescope.replies.journal import (
    CUT,
    KEY,
    NUL,
    FailedLine,
    ForgetLine,
    JournalLine,
    ReplyLine,
    closed_count,
    digest_of,
    is_damaged,
    read_line,
    unknown_in,
)
from judgescope.replies.shard import (
    JOURNAL,
    MODEL_FILE,
    DamagedFileError,
    blocks,
    compacted_blocks,
    files_of,
    is_spare,
    model_of,
    packed_files_of,
)

DROPPED = ".dropped"
"""In a shard: digests of damaged lines whose replies may be requested again, one per
line."""
SHOWN = 5


@dataclass
class Stats:
    """The figures of one shard.

    `replies` and `errors` count lines: a draw that two jobs requested at once has two.
    `tokens`: tokens of prompts and completions in all lines; `unknown`: replies without
    usage.
    """

    journals: int = 0
    compacted: int = 0
    bytes: int = 0
    questions: int = 0
    replies: int = 0
    errors: int = 0
    forgotten: int = 0
    failed: int = 0
    skipped: int = 0
    unknown: int = 0
    tokens: Counter[str] = field(default_factory=Counter)


def stats(shard: Path) -> Stats:
    """Count a shard's contents; a line that is in a journal and a compacted file counts
    once.
    """
    stats = Stats()
    keys = [np.empty(0, KEY)]
    seen: set[bytes] = set()
    for path in files_of(shard):
        stats.bytes += path.stat().st_size
        stats.journals += path.suffix == JOURNAL
        stats.compacted += path.suffix != JOURNAL
        for block in blocks(path):
            stats.skipped += block.skipped
            keys.append(np.unique(block.keys))
            for data in block.lines():
                line = read_line(data)
                if line is None:
                    stats.skipped += 1
                elif (digest := digest_of(data)) not in seen:
                    seen.add(digest)
                    _count(stats, line)
    stats.questions = len(np.unique(np.concatenate(keys)))
    return stats


def _count(stats: Stats, line: JournalLine) -> None:
    if isinstance(line, ForgetLine):
        stats.forgotten += 1
    elif isinstance(line, FailedLine):
        stats.failed += 1
    elif line.status == "error":
        stats.errors += 1
    else:
        stats.replies += 1
        usage = counted(line.usage)
        stats.unknown += usage is None
        stats.tokens.update(usage or {})


class StoreFinding(NamedTuple):
    """A remark on a line; `wrong` is false if the remark is about normal operation."""

    where: str
    message: str
    wrong: bool


def verify(shard: Path) -> Iterator[StoreFinding]:
    """Yield remarks on a shard: its name, its lines, file by file, and draws with two
    replies.
    """
    yield from _misplaced(shard)
    answers: list[tuple[bytes, int, bytes, str]] = []
    redundant = (
        "unreadable, but the journals contain all of its lines: rebuild it with "
        "`judgescope replies compact`"
    )
    for path in files_of(shard):
        try:
            for number, data in enumerate(_all_lines(path), 1):
                if closed_count(data) is not None:
                    continue
                where = f"{path}:{number}"
                line = read_line(data)
                if line is None:
                    yield _fault(where, data)
                elif isinstance(line, ReplyLine) and line.status != "error":
                    answers.append(
                        (bytes.fromhex(line.key), line.draw, digest_of(data), where)
                    )
            if path.suffix == JOURNAL:
                yield from _closing(path)
        except UserError as error:
            spare = isinstance(error, DamagedFileError) and is_spare(path)
            yield StoreFinding(str(path), redundant if spare else error.what, True)
    differs = (
        "another reply to the same draw is at {}; the one whose bytes sort first is "
        "used"
    )
    for answer, other in pairwise(sorted(answers)):
        if answer[:2] == other[:2] and answer[2] != other[2]:
            yield StoreFinding(other[3], differs.format(answer[3]), False)


def _misplaced(shard: Path) -> Iterator[StoreFinding]:
    """Yield remarks on a renamed shard and on packed files."""
    renamed = (
        "this folder was renamed, so its replies are not used: it holds those of the "
        "model {}; rename it to {}"
    )
    try:
        model = model_of(shard)
    except UserError as error:
        yield StoreFinding(error.where, error.what, True)
    else:
        if model is not None and slug(model) != shard.name:
            yield StoreFinding(str(shard), renamed.format(model, slug(model)), True)
    packed = (
        "the replies in this file are not used: unpack it, or move it out of the store"
    )
    for path in packed_files_of(shard):
        yield StoreFinding(str(path), packed, True)


def _closing(path: Path) -> Iterator[StoreFinding]:
    """Yield a remark if a journal lacks its closing line, or lines before it."""
    lines = 0
    closed: int | None = None
    not_last = "lines follow this journal's closing line"
    for number, line in enumerate(_journal_lines(path)):
        if closed is not None:
            yield StoreFinding(f"{path}:{number}", not_last, True)
            return
        closed = closed_count(line)
        if closed is None and line.endswith(b"\n") and not line.endswith(CUT):
            lines += 1
    added = "its job wrote {} lines and {} are there: {} lines were added"
    # Seconds after which a journal without a closing line is noted.
    day = 86400.0
    lost = "its job wrote {} lines and {} are left: {} lines were lost"
    not_closed = (
        "this journal has no closing line: its job was stopped, an older version wrote "
        "it, or lines at its end were lost"
    )
    if closed is None:
        if time.time() - path.stat().st_mtime > day:
            yield StoreFinding(str(path), not_closed, False)
    elif lines < closed:
        yield StoreFinding(str(path), lost.format(closed, lines, closed - lines), True)
    elif lines > closed:
        yield StoreFinding(str(path), added.format(closed, lines, lines - closed), True)


def has_all_lines(path: Path) -> bool:
    """Return whether every line of a journal is a reply, a mark or its closing line,
    and none is known to be lost. An incomplete last line may be missing.
    """
    for line in _journal_lines(path):
        known = read_line(line) is not None or closed_count(line) is not None
        if not known and (line.endswith(b"\n") or is_damaged(line)):
            return False
    return not any(finding.wrong for finding in _closing(path))


def _all_lines(path: Path) -> Iterator[bytes]:
    if path.suffix == JOURNAL:
        yield from _journal_lines(path)
    else:
        for _, block in compacted_blocks(path):
            yield from block.lines()


def _journal_lines(path: Path) -> Iterator[bytes]:
    """Yield a journal's lines up to the first incomplete one: its job may be writing
    the rest.
    """
    with path.open("rb") as file:
        for line in file:
            yield line
            if not line.endswith(b"\n"):
                return


def _fault(where: str, line: bytes) -> StoreFinding:
    shown = repr(line[:60].decode("utf-8", "replace"))
    nuls = (
        "this line has NUL bytes, as a file system leaves them after a power cut: "
        "replies were lost"
    )
    if NUL in line:
        return StoreFinding(where, nuls, True)
    if not line.endswith(b"\n") or line.endswith(CUT):
        return StoreFinding(
            where, "incomplete line, skipped: the job that wrote it was stopped", False
        )
    damaged = "this line was changed after it was written: its checksum is wrong"
    if is_damaged(line):
        return StoreFinding(where, f"{damaged}: {shown}", True)
    if fields := unknown_in(line):
        problem = (
            "written by a newer version of Judgescope, with the fields "
            f"{', '.join(fields)}"
        )
        return StoreFinding(where, problem, True)
    return StoreFinding(where, f"not a reply: {shown}", True)


def check(shard: Path) -> None:
    """Raise UserError if a shard has damaged lines, or replies that are not used: each
    may have cost money.
    """
    _check_place(shard)
    if damaged := list(_damaged(shard)):
        lines = "1 line"
        if len(damaged) != 1:
            lines = f"{len(damaged)} lines"
        raise UserError(
            "stored replies were changed after they were written; no request was sent",
            where=", ".join(where for where, _ in damaged[:SHOWN]),
            got=f"{lines} with a wrong checksum",
            todo="restore these files from a backup, or drop these replies with "
            "`judgescope replies verify --drop` and pay for new ones",
        )


def _check_place(shard: Path) -> None:
    """Raise UserError if a shard was renamed, or has packed files."""
    renamed = []
    for path in sorted(shard.parent.glob(f"[!.]*/{MODEL_FILE}")):
        model = model_of(path.parent)
        if model and slug(model) != path.parent.name:
            renamed.append((path.parent, model))
    for folder, model in renamed:
        ours = slug(model) == shard.name and not files_of(shard)
        if ours or folder == shard:
            raise UserError(
                f"a folder of the store was renamed: it holds replies of {model}; no "
                "request was sent",
                where=str(folder),
                todo=f"rename it to {slug(model)}, or move it out of the store to pay "
                "for new replies",
            )
    if packed := packed_files_of(shard):
        raise UserError(
            "stored replies are packed and cannot be used; no request was sent",
            where=", ".join(map(str, packed[:SHOWN])),
            todo="unpack these files, or move them out of the store to pay for new "
            "replies",
        )


def drop(shard: Path) -> int:
    """Mark the replies in damaged lines to be requested again; return their number.

    The lines stay in their files.
    """
    digests = [digest for _, digest in _damaged(shard)]
    if digests:
        lines = b"".join(digest.hex().encode() + b"\n" for digest in digests)
        with (shard / DROPPED).open("ab", buffering=0) as file:
            file.write(lines)
            os.fsync(file)
    return len(digests)


def _damaged(shard: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (file:line, digest) of the damaged journal lines that were not dropped."""
    path = shard / DROPPED
    text = ""
    if path.is_file():
        text = path.read_text(encoding="ascii")
    dropped = {bytes.fromhex(line) for line in text.split()}
    for path in files_of(shard):
        if path.suffix != JOURNAL:
            continue
        try:
            for number, line in enumerate(_journal_lines(path), 1):
                if is_damaged(line) and (digest := digest_of(line)) not in dropped:
                    yield f"{path}:{number}", digest
        except FileNotFoundError:  # another process compacted it
            continue
