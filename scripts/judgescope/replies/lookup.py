"""The requested keys and the places of their replies: a few bytes per reply, whatever
its size.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from judgescope.core.errors import UserError
from judgescope.core.names import ASKED_AGAIN
from judgescope.engines.requests import Reply
from judgescope.replies.journal import (
    KEY,
    Block,
    Chosen,
    FailedLine,
    ForgetLine,
    Integers,
    Keys,
    ReplyLine,
    read_line,
    unknown_in,
)
from judgescope.replies.shard import Files, JournalPlace, files_of

KeyedDraw = tuple[str, int]  # (key, draw)
PLACE = np.dtype([("file", np.int32), ("offset", np.int64), ("length", np.int32)])


class KeyTable:
    """Distinct keys in ascending order, and the number of draws requested for each.

    Equal keys are joined, with the highest number of draws; `representative` is the
    index of the first key with so many draws. All draws form one sequence of slots:
    draw d of key k has slot `first[k] + d`.
    """

    def __init__(self, keys: Keys, draws: Integers) -> None:
        by_draws = np.argsort(-draws, kind="stable")
        self.keys, first = np.unique(keys[by_draws], return_index=True)
        self.representative = by_draws[first]
        self.draws = draws[self.representative]
        self.first = np.cumsum(self.draws) - self.draws
        self.slots = int(self.draws.sum())

    @classmethod
    def from_counts(cls, draws: Mapping[str, int]) -> Self:
        """Return the table for a mapping: key in hex -> number of draws."""
        keys = np.array([bytes.fromhex(key) for key in draws], KEY)
        return cls(keys, np.fromiter(draws.values(), np.int64, len(draws)))

    @classmethod
    def together(cls, tables: Iterable["KeyTable"]) -> Self:
        """Return the table of all keys of some tables, of which there is at least
        one.
        """
        keys, draws = zip(*((table.keys, table.draws) for table in tables), strict=True)
        return cls(np.concatenate(keys), np.concatenate(draws))

    def only(self, indices: Integers) -> "KeyTable":
        """Return the table of the keys at some indices."""
        return KeyTable(self.keys[indices], self.draws[indices])

    def indices(self, keys: Keys) -> Integers:
        """Return the index of each key in the table, or -1 if the table lacks it."""
        return indices_in(self.keys, keys)

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Return for each key whether it is in the table."""
        return self.indices(keys) >= 0

    def index(self, key: str) -> int:
        """Return the index of a key of the table."""
        return int(self.keys.searchsorted(bytes.fromhex(key)))


def indices_in(ascending: Keys, keys: Keys) -> Integers:
    """Return the index of each of `keys` in the sorted `ascending`, or -1 if it is
    missing.
    """
    if not len(ascending):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)
    return np.where(ascending[places] == keys, places, -1)


def having(*keys: Keys) -> Chosen:
    """Return a function that tests which keys are in any of these arrays."""
    members = np.concatenate([np.empty(0, KEY), *keys])
    return KeyTable(members, np.ones(len(members), np.int64)).has


class StoredReplies:
    """The places of a shard's replies to the keys of a table; a reply is read when it
    is needed.

    If a draw has several lines (two processes asked at once), replies precede errors,
    and the line whose bytes sort first is used, whatever the order of writing.

    `skipped` counts lines that are not a valid reply. `forgotten`: draw -> the last
    attempt whose error is to be requested again. `asked_again`: draw -> the attempts
    whose replies are to be requested again, too.
    """

    def __init__(self, shard: Path, key_table: KeyTable) -> None:
        self.shard = shard
        self.key_table = key_table
        self.scan()

    def scan(self) -> None:
        """Scan the shard's files; start again if a file was removed during the scan."""
        while True:
            try:
                self._scan()
                return
            except FileNotFoundError:
                continue

    def _scan(self) -> None:
        """Scan all files, again if they mark replies to be requested again."""
        ignored: dict[KeyedDraw, set[int]] = {}
        self._read_all(ignored)
        while self.asked_again != ignored:
            ignored = self.asked_again
            self._read_all(ignored)

    def _read_all(self, ignored: Mapping[KeyedDraw, set[int]]) -> None:
        """Read all files; `ignored`: draw -> attempts up to which no reply counts."""
        self._ignored = {draw: max(attempts) for draw, attempts in ignored.items()}
        self.asked_again: dict[KeyedDraw, set[int]] = {}
        self._failed: dict[KeyedDraw, list[FailedLine]] = {}
        self.files = Files()
        self.skipped = 0
        self.forgotten: dict[KeyedDraw, int] = {}
        self._places = np.zeros(self.key_table.slots, PLACE)
        self._places["file"] = -1
        self._refused: set[int] = set()
        errors: list[tuple[int, KeyedDraw, int, JournalPlace]] = []
        for path in files_of(self.shard):
            for file, block in self.files.placed(path, self.key_table.has):
                self._take(block, file, errors)
        # A line that forgets an error may stand in a later file than the error.
        for slot, draw, attempt, position in errors:
            if attempt > self.forgotten.get(draw, 0):
                self._put(slot, position, refused=True)

    def _take(
        self,
        block: Block,
        file: int,
        errors: list[tuple[int, KeyedDraw, int, JournalPlace]],
    ) -> None:
        """Record a block's replies; errors wait until all lines that forget errors are
        read.
        """
        self.skipped += block.skipped
        places = self.key_table.indices(block.keys)
        listed = places >= 0
        first = self.key_table.first[places[listed]].tolist()
        draws = self.key_table.draws[places[listed]].tolist()
        starts = block.starts[listed].tolist()
        ends = block.ends[listed].tolist()
        replies: list[tuple[int, JournalPlace]] = []
        for start, end, slot, n_draws in zip(starts, ends, first, draws, strict=True):
            line = read_line(block.data[start:end])
            if line is None:
                self.skipped += 1
                self._check_known(block.data[start:end])
            elif isinstance(line, ForgetLine):
                draw = (line.key, line.draw)
                self.forgotten[draw] = max(line.forget, self.forgotten.get(draw, 0))
                if line.marked == "any":
                    self.asked_again.setdefault(draw, set()).add(line.forget)
            elif isinstance(line, FailedLine):
                self._failed.setdefault((line.key, line.draw), []).append(line)
            elif line.draw < n_draws and not self._is_ignored(line):
                position = JournalPlace(file, block.offset + start, end - start)
                if line.status == "error":
                    draw = (line.key, line.draw)
                    errors.append((slot + line.draw, draw, line.attempt, position))
                else:
                    replies.append((slot + line.draw, position))
        self._put_all(replies)

    def _is_ignored(self, line: ReplyLine) -> bool:
        """Return whether a reply is to be requested again."""
        if not self._ignored:
            return False
        return line.attempt <= self._ignored.get((line.key, line.draw), 0)

    def failed(self, draw: KeyedDraw) -> dict[str, str]:
        """Return job -> the reason why it got no answer to a draw, since the last mark
        to request it again.
        """
        last = self.forgotten.get(draw, 0)
        lines = self._failed.get(draw, [])
        return {line.job: line.failed for line in lines if line.attempt > last}

    def failed_draws(self) -> list[KeyedDraw]:
        """Return the draws without a reply to which jobs got no answer, sorted."""
        return sorted(
            draw for draw in self._failed if self.failed(draw) and self.lacks(*draw)
        )

    def _check_known(self, line: bytes) -> None:
        """Raise UserError for a newer version's reply: it would be misread or paid for
        again.
        """
        if fields := unknown_in(line):
            raise UserError(
                "a newer version of Judgescope wrote a reply in the store",
                where=str(self.shard),
                got=", ".join(fields),
                allowed="replies without these fields",
                todo="use that version, or another store (key `store` of the study's "
                "card); no request was sent",
            )

    def _put_all(self, replies: list[tuple[int, JournalPlace]]) -> None:
        """Record many replies at once, or one by one if a draw has several."""
        slots = np.array([slot for slot, _ in replies], np.int64)
        if (
            len(np.unique(slots)) < len(slots)
            or (self._places["file"][slots] >= 0).any()
        ):
            for slot, position in replies:
                self._put(slot, position, refused=False)
        else:
            self._places[slots] = np.array([position for _, position in replies], PLACE)

    def _put(self, slot: int, position: JournalPlace, *, refused: bool) -> None:
        if self.has(slot):
            if refused and slot not in self._refused:
                return
            if self.files.read(self._place(slot)) <= self.files.read(position):
                return
        if refused:
            self._refused.add(slot)
        self._places[slot] = position

    def add(self, reply: Reply, path: Path, offset: int, length: int) -> None:
        """Record the place of a new reply; a draw that the table lacks is ignored."""
        key = self.key_table.index(reply.key)
        if reply.draw < self.key_table.draws[key]:
            slot = int(self.key_table.first[key]) + reply.draw
            self._put(
                slot,
                JournalPlace(self.files.number(path), offset, length),
                refused=False,
            )

    @property
    def count(self) -> int:
        """Return how many of the table's draws have a reply."""
        return int(np.count_nonzero(self._places["file"] >= 0))

    def lacking(self) -> Integers:
        """Return how many draws of each key are missing, in the order of the keys."""
        missing = np.flatnonzero(self._places["file"] < 0)
        owner = np.searchsorted(self.key_table.first, missing, side="right") - 1
        return np.bincount(owner, minlength=len(self.key_table.keys))

    def last_draw(self) -> int:
        """Return the highest draw of any key that has a reply, -1 without one."""
        slots = np.flatnonzero(self._places["file"] >= 0)
        owner = np.searchsorted(self.key_table.first, slots, side="right") - 1
        return int((slots - self.key_table.first[owner]).max(initial=-1))

    def has(self, slot: int) -> bool:
        """Return whether a slot has a reply."""
        return bool(self._places[slot]["file"] >= 0)

    def missing(self, index: int) -> tuple[int, ...]:
        """Return the missing draws of the key at an index."""
        first = self.key_table.first[index]
        files = self._places["file"][
            first : first + self.key_table.draws[index]
        ].tolist()
        return tuple(draw for draw, file in enumerate(files) if file < 0)

    def lacks(self, key: str, draw: int) -> bool | None:
        """Return whether a draw is missing; None if the table lacks it."""
        index = self.key_table.indices(np.array([bytes.fromhex(key)], KEY))[0]
        if index < 0 or draw >= self.key_table.draws[index]:
            return None
        return not self.has(int(self.key_table.first[index]) + draw)

    def _place(self, slot: int) -> JournalPlace:
        return JournalPlace(*self._places[slot].item())

    def reply(self, slot: int) -> Reply:
        """Return the reply of a slot that has one."""
        try:
            data = self.files.read(self._place(slot))
        except FileNotFoundError:  # compacted meanwhile: the reply is in another file
            self.scan()
            if not self.has(slot):
                raise UserError(
                    "a reply was removed from the store during the run",
                    where=str(self.shard),
                    todo="run again; missing replies are then requested",
                ) from None
            data = self.files.read(self._place(slot))
        line = read_line(data)
        if not isinstance(line, ReplyLine):
            raise UserError(
                "a reply in the store was changed during the run",
                where=str(self.shard),
                todo="find the line with `judgescope replies verify` and restore its "
                "file from a backup",
            )
        reply = line.reply()
        if again := len(self.asked_again.get((reply.key, reply.draw), ())):
            provenance = {**(reply.provenance or {}), ASKED_AGAIN: str(again)}
            reply = replace(reply, provenance=provenance)
        return reply

    def replies(self) -> Iterator[tuple[KeyedDraw, Reply]]:
        """Yield every existing reply, in the order of key and draw."""
        for slot in np.flatnonzero(self._places["file"] >= 0).tolist():
            reply = self.reply(slot)
            yield (reply.key, reply.draw), reply
