"""The lines of journals: their format, and a scan that is fast for millions of them.

A line is `{"key":"…","draw":…,…,"crc":"…"}`, with the key first, so that lines with
other keys need not be parsed. `crc` is a checksum of everything before it, in eight hex
digits. A line whose writing was interrupted ends with CUT. The last line of a journal
that a job closed is `{"closed":…,"crc":"…"}`, with the number of lines before it.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from msgspec import Meta, MsgspecError, Struct, convert, field
from msgspec.json import Decoder
from numpy.typing import NDArray

from judgescope.engines.requests import MOST_TOKENS, Logprobs, Reply, TokenKind, counted

Keys = NDArray[np.bytes_]
"""Keys of 32 bytes; NumPy hides NULs at their ends, but compares all bytes."""
KEY = np.dtype("S32")
Integers = NDArray[np.int64]
Chosen = Callable[[Keys], NDArray[np.bool_]]  # which keys are requested

HEAD = b'{"key":"'
DIGEST = 16
HEX = 64
DIGITS = "0123456789abcdef"
CRC = b',"crc":"'
SEAL = len(CRC) + len(
    '01234567"}\n'
)  # bytes at a line's end that its checksum does not cover
CUT = b"\x18\n"
CLOSED = b'{"closed":'
NUL = b"\0"  # in no line; what a file system leaves of a write after a power cut
FORMAT = "format"  # the field that future line formats must use for their name
_HEAD = np.frombuffer(HEAD, np.uint8)
_DIGITS = np.isin(np.arange(256), np.frombuffer(DIGITS.encode(), np.uint8))


class _Line(Struct, forbid_unknown_fields=True, kw_only=True):
    key: str
    draw: Annotated[int, Meta(ge=0, lt=1 << 20)]
    crc: str = ""


class ReplyLine(_Line, kw_only=True):
    """A stored reply; `attempt` is 1 plus the errors of this draw that were forgotten
    before.
    """

    text: str
    finish: str
    status: Literal["ok", "error"]
    usage: dict[TokenKind, Annotated[int, Meta(ge=0, le=MOST_TOKENS)] | None] | None
    provenance: dict[str, str | None] | None
    logprobs: list[list[tuple[str, float | None]]] | None = None
    attempt: int = 1

    def reply(self) -> Reply:
        """Return the reply."""
        logprobs: Logprobs | None = None
        tokens = self.logprobs
        # older lines have None for non-finite log probabilities, which no chosen token
        # has
        if tokens is not None and not any(
            ranked and ranked[0][1] is None for ranked in tokens
        ):
            logprobs = []
            for ranked in tokens:
                logprobs.append([(name, p) for name, p in ranked if p is not None])
        return Reply(
            self.key,
            self.draw,
            self.text,
            self.finish,
            self.status,
            counted(self.usage),  # older lines have incomplete ones
            self.provenance,  # type: ignore[arg-type]
            logprobs,
        )


class ForgetLine(_Line, kw_only=True):
    """Marks the errors of a draw, up to this attempt, to be requested again; `of: any`
    marks every reply up to this attempt.
    """

    forget: int
    marked: Literal["errors", "any"] = field(default="errors", name="of")


class FailedLine(_Line, kw_only=True):
    """A draw to which a job got no answer, though the endpoint answered others.

    `failed` is the reason, `job` the beginning of the job's journals; `attempt` is that
    of the reply that was to come (see `ReplyLine`).
    """

    failed: str
    job: str
    format: Literal[2]
    attempt: int = 1


JournalLine = ReplyLine | ForgetLine | FailedLine
_DECODERS = (Decoder(ReplyLine), Decoder(ForgetLine), Decoder(FailedLine))
_KNOWN = {
    *ReplyLine.__struct_encode_fields__,
    *ForgetLine.__struct_encode_fields__,
    *FailedLine.__struct_encode_fields__,
} - {FORMAT}


def every(keys: Keys) -> NDArray[np.bool_]:
    """Choose all keys."""
    return np.ones(len(keys), bool)


class Block(NamedTuple):
    """Lines of one file: the start and end of each in `data`, and its key.

    `offset` is the start of `data` in the file; `skipped` counts invalid lines.
    """

    offset: int
    data: bytes
    starts: Integers
    ends: Integers
    keys: Keys
    skipped: int

    def line(self, number: int) -> bytes:
        """Return a line, including its line end."""
        return self.data[self.starts[number] : self.ends[number]]

    def lines(self) -> Iterator[bytes]:
        """Yield all lines."""
        return map(self.line, range(len(self.keys)))


def blocks(path: Path) -> Iterator[Block]:
    """Yield a journal's lines block by block, in memory that does not grow with its
    size.
    """
    offset = 0
    rest = b""
    block = 1 << 20  # bytes scanned at once
    with path.open("rb") as file:
        while read := file.read(block):
            data = rest + read
            end = data.rfind(b"\n") + 1
            if end:
                yield _block(offset, data[:end])
            offset += end
            rest = data[end:]
    if rest:
        none = np.empty(0, np.int64)
        yield Block(offset, rest, none, none, np.empty(0, KEY), 1)


def _block(offset: int, data: bytes) -> Block:
    array = np.frombuffer(data, np.uint8)

    def columns(starts: Integers, first: int, length: int) -> NDArray[np.uint8]:
        """Return an array (lines, length): the bytes from offset `first` after each
        start.
        """
        taken: NDArray[np.uint8] = array[
            starts[:, None] + np.arange(first, first + length)
        ]
        return taken

    ends = np.flatnonzero(array == ord("\n")) + 1
    starts = np.concatenate([[0], ends[:-1]])
    shortest_line = len(HEAD) + HEX + len('"}\n')
    is_long_enough = ends - starts >= shortest_line
    is_closed = array[ends - 2] == ord("}")
    ours = is_long_enough & is_closed
    # Only of these: a shorter line has fewer bytes than a head.
    heads = columns(starts[ours], 0, len(HEAD))
    ours[ours] = (heads == _HEAD).all(axis=1)
    skipped = len(ends) - int(ours.sum())
    if closed_count(data[starts[-1] : ends[-1]]) is not None:
        skipped -= 1
    starts = starts[ours]
    ends = ends[ours]
    digits = columns(starts, len(HEAD), HEX)
    keyed = _DIGITS[digits].all(axis=1)
    hexadecimal = digits[keyed].tobytes().decode("ascii")
    keys = np.frombuffer(bytes.fromhex(hexadecimal), KEY)
    return Block(offset, data, starts[keyed], ends[keyed], keys, skipped)


def sealed(row: Mapping[str, Any]) -> bytes:
    """Return the line of a row, with its checksum."""
    import orjson  # here: `audit` runs without

    body = orjson.dumps(row)[:-1]
    return b'%b%b%08x"}\n' % (body, CRC, zlib.crc32(body))


def is_sealed(line: bytes) -> bool:
    """Return whether a line's checksum is right."""
    return line[-SEAL:] == b',"crc":"%08x"}\n' % zlib.crc32(line[:-SEAL])


def is_damaged(line: bytes) -> bool:
    """Return whether a line was changed: wrong checksum, but neither empty nor cut
    short; or it contains NUL bytes.
    """
    if NUL in line:
        return True
    cut = not line.endswith(b"\n") or line.endswith(CUT)
    return not cut and line != b"\n" and not is_sealed(line)


def closing(lines: int) -> bytes:
    """Return the last line of a journal with so many lines before it."""
    return sealed({"closed": lines})


def closed_count(line: bytes) -> int | None:
    """Return the number of lines before a closing line; None for any other line.

    >>> closed_count(closing(3))
    3
    """
    import orjson  # here: `audit` runs without

    if not line.startswith(CLOSED) or not is_sealed(line):
        return None
    count: int = orjson.loads(line)["closed"]
    return count


def read_line(line: bytes) -> JournalLine | None:
    """Return a line's record; None if it was changed, lacks a field or has an unknown
    one.
    """
    if not is_sealed(line):
        return None
    for decoder in _DECODERS:
        try:
            record = decoder.decode(line)
        except (MsgspecError, ValueError, RecursionError):
            continue
        if _is_key(record.key, line):
            return record
        return None
    return None


def _is_key(key: object, line: bytes) -> bool:
    key_place = slice(len(HEAD), len(HEAD) + HEX)
    if not isinstance(key, str):
        return False
    if key.encode() != line[key_place]:
        return False
    return not key.strip(DIGITS)


def unknown_in(line: bytes) -> list[str]:
    """Return the unknown fields of a line that is valid without them: a newer version
    wrote it.

    A line of a newer version that lacks a field of this version must have a field
    `format`.
    """
    import orjson  # here: `audit` runs without

    try:
        row = None
        if is_sealed(line):
            row = orjson.loads(line)
        if not isinstance(row, dict) or not _is_key(row.get("key"), line):
            return []
        unknown = row.keys() - _KNOWN
        kind: type[_Line] = ForgetLine if "forget" in row else ReplyLine
        if type(row.get(FORMAT)) is int:
            kind = _Line
            row = {"key": row["key"], "draw": row.get("draw")}
        convert(
            {name: value for name, value in row.items() if name not in unknown}, kind
        )
    except (MsgspecError, ValueError):
        return []
    return sorted(unknown)


def digest_of(line: bytes) -> bytes:
    """Return a hash that identifies equal lines."""
    return hashlib.blake2b(line, digest_size=DIGEST).digest()


def line_of(reply: Reply, attempt: int = 1) -> bytes:
    """Return the line of a reply; see `ReplyLine`."""
    row = {name: getattr(reply, name) for name in Reply.__slots__}
    if reply.logprobs is None:
        del row["logprobs"]
    if attempt > 1:
        row["attempt"] = attempt
    return sealed(row)


def forgetting(key: str, draw: int, attempt: int, *, replies: bool = False) -> bytes:
    """Return the line that marks a draw's errors, up to this attempt, to be requested
    again; with `replies`, all its replies.
    """
    row = {"key": key, "draw": draw, "forget": attempt}
    return sealed(row | {"of": "any"} if replies else row)


def failing(key: str, draw: int, reason: str, *, job: str, attempt: int) -> bytes:
    """Return the line of a draw to which a job got no answer; see `FailedLine`."""
    row = {"key": key, "draw": draw, "failed": reason, "job": job, FORMAT: 2}
    return sealed(row | {"attempt": attempt} if attempt > 1 else row)
