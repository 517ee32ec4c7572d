"""The lines of journals: what a whole one is, and how millions are looked through.

A line is `{"key":"…","draw":…,…,"crc":"…"}`, the key first: what is not wanted is passed over
unread. `crc` is a checksum of all before it, in eight hex digits. A line that could not be written
to its end ends with CUT.
"""

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from judgescope.engines.requests import STATUSES, TOKENS, Reply, is_count
from judgescope.replies.key_table import KEY, Counts, Keys

HEAD = b'{"key":"'
DIGEST = 16
HEX, DIGITS = 64, "0123456789abcdef"
CRC = b',"crc":"'
SEAL = len(CRC) + len('01234567"}\n')
"""Bytes at the end of a line that its checksum does not cover."""
CUT = b"\x18\n"
BLOCK = 1 << 20
"""Bytes that are looked through at once."""
MOST_DRAWS = 1 << 20
KEY_PLACE = slice(len(HEAD), len(HEAD) + HEX)
SHORTEST = len(HEAD) + HEX + len('"}\n')

Row = dict[str, Any]
_FIELDS = {one.name for one in fields(Reply)}
_NOTHING = type(None)
_NAMES = frozenset((str, _NOTHING))
FORMAT = "format"
"""The field in which a later format of lines is to name itself."""
_KNOWN = _FIELDS | {"attempt", "forget", "crc"}
_NONE = np.empty(0, np.int64)
_HEAD = np.frombuffer(HEAD, np.uint8)
_DIGITS = np.isin(np.arange(256), np.frombuffer(DIGITS.encode(), np.uint8))


class Block(NamedTuple):
    """Lines of one file: where each starts and ends in `data`, and its key.

    `offset` is where `data` starts in the file. `skipped` counts what begins or ends otherwise.
    """

    offset: int
    data: bytes
    starts: Counts
    ends: Counts
    keys: Keys
    skipped: int

    def line(self, number: int) -> bytes:
        """Return a line, with its end."""
        return self.data[self.starts[number] : self.ends[number]]

    def lines(self) -> Iterator[bytes]:
        """Yield all lines."""
        return map(self.line, range(len(self.keys)))


def blocks(path: Path) -> Iterator[Block]:
    """Yield a journal's lines block by block, in memory that does not grow with it."""
    offset, rest = 0, b""
    with path.open("rb") as file:
        while read := file.read(BLOCK):
            data = rest + read
            whole = data.rfind(b"\n") + 1
            if whole:
                yield _block(offset, data[:whole])
            offset, rest = offset + whole, data[whole:]
    if rest:
        yield Block(offset, rest, _NONE, _NONE, np.empty(0, KEY), 1)


def _block(offset: int, data: bytes) -> Block:
    found = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(found == ord("\n")) + 1
    starts = np.concatenate([[0], ends[:-1]])
    ours = (ends - starts >= SHORTEST) & (found[ends - 2] == ord("}"))
    ours[ours] = (_after(found, starts[ours], 0, len(HEAD)) == _HEAD).all(axis=1)
    starts, ends, skipped = starts[ours], ends[ours], len(ends) - int(ours.sum())
    digits = _after(found, starts, len(HEAD), HEX)
    keyed = _DIGITS[digits].all(axis=1)
    keys = np.frombuffer(bytes.fromhex(digits[keyed].tobytes().decode("ascii")), KEY)
    return Block(offset, data, starts[keyed], ends[keyed], keys, skipped)


def _after(found: NDArray[np.uint8], starts: Counts, first: int, length: int) -> NDArray[np.uint8]:
    """Return (lines, length): the bytes that stand `first` after each start."""
    taken: NDArray[np.uint8] = found[starts[:, None] + np.arange(first, first + length)]
    return taken


def sealed(row: Row) -> bytes:
    """Return the line of a row, with its checksum."""
    body = orjson.dumps(row)[:-1]
    return b'%b%b%08x"}\n' % (body, CRC, zlib.crc32(body))


def is_sealed(line: bytes) -> bool:
    """Return whether a line is as it was written."""
    return line[-SEAL:] == b',"crc":"%08x"}\n' % zlib.crc32(line[:-SEAL])


def is_damaged(line: bytes) -> bool:
    """Return whether a line is neither as it was written, nor empty, nor one that was cut short."""
    cut = not line.endswith(b"\n") or line.endswith(CUT)
    return not cut and line != b"\n" and not is_sealed(line)


def row_of(line: bytes) -> Row | None:
    """Return a line of ours, or None: a reply with all its fields, or an error to be forgotten.

    One with a field that this version does not know is none: it may mean something else. So is one
    that is not as it was written.
    """
    row = _row_of(line) if is_sealed(line) else None
    return row if row is not None and row.keys() <= _KNOWN else None


def unknown_in(line: bytes) -> list[str]:
    """Return the fields that this version does not know of a reply that is whole besides.

    A newer version wrote it; one whose replies lack a field of ours says so in a field `format`.
    """
    row = (_row_of(line) or _row_of(line, formatted=True)) if is_sealed(line) else None
    return sorted(row.keys() - _KNOWN) if row else []


def _row_of(line: bytes, *, formatted: bool = False) -> Row | None:
    try:
        row: Row = orjson.loads(line)
        ours = row["key"].encode() == line[KEY_PLACE] and not row["key"].strip(DIGITS)
        ours = ours and type(row["draw"]) is int
        if formatted:
            whole = type(row[FORMAT]) is int
        else:
            whole = type(row["forget"]) is int if "forget" in row else _whole(row)
        return row if ours and whole and 0 <= row["draw"] < MOST_DRAWS else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _whole(row: Row) -> bool:
    """Return whether a reply's fields are what they are called (a million times: no loop)."""
    return (
        type(row["text"]) is str
        and type(row["finish"]) is str
        and row["status"] in STATUSES
        and (row["usage"] is None or _is_usage(row["usage"]))
        and (row["provenance"] is None or _NAMES.issuperset(map(type, row["provenance"].values())))
        and (row.get("logprobs") is None or _are_logprobs(row["logprobs"]))
        and type(row.get("attempt", 1)) is int
    )


def _is_usage(told: dict[str, Any]) -> bool:
    """Return whether counts of tokens are some: none negative, none that no sum could hold."""
    return told.keys() <= TOKENS and all(one is None or is_count(one) for one in told.values())


def _are_logprobs(told: Any) -> bool:
    return type(told) is list and all(
        type(token) is str and type(p) in (int, float, _NOTHING) for one in told for token, p in one
    )


def digest_of(line: bytes) -> bytes:
    """Return a hash by which equal lines are known."""
    return hashlib.blake2b(line, digest_size=DIGEST).digest()


def reply_of(row: Row) -> Reply:
    """Return the reply of a whole line."""
    told = {name: row[name] for name in _FIELDS.intersection(row)}
    if told.get("logprobs"):
        told["logprobs"] = _logprobs(told["logprobs"])
    return Reply(**told)


def _logprobs(told: list[list[Any]]) -> list[list[tuple[str, float]]] | None:
    """Return log probabilities; an older line may have no number where one was not finite."""
    if any(one[0][1] is None for one in told if one):
        return None
    return [[(token, p) for token, p in one if p is not None] for one in told]


def line_of(reply: Reply, attempt: int = 1) -> bytes:
    """Return the line of a reply; `attempt` counts the errors that were forgotten before it."""
    row = {
        "key": reply.key,
        "draw": reply.draw,
        "text": reply.text,
        "finish": reply.finish,
        "status": reply.status,
        "usage": reply.usage,
        "provenance": reply.provenance,
    }
    if reply.logprobs is not None:
        row["logprobs"] = reply.logprobs
    if attempt > 1:
        row["attempt"] = attempt
    return sealed(row)


def forgetting(key: str, draw: int, attempt: int) -> bytes:
    """Return the line that lets a draw's errors up to this attempt be asked again."""
    row = {"key": key, "draw": draw, "forget": attempt}
    return sealed(row)
