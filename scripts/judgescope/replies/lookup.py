"""Where the replies to what is wanted lie: a few bytes a reply, however long the replies are."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply
from judgescope.replies.files import Files, Place
from judgescope.replies.journal import Block, Row, reply_of, row_of, unknown_in
from judgescope.replies.key_table import KEY, Counts, Wanted
from judgescope.replies.shard import files_of, placed

Draw = tuple[str, int]
"""(key, draw)."""


class _Error(NamedTuple):
    slot: int
    draw: Draw
    attempt: int
    place: Place


def _error(row: Row, file: int, slot: int, offset: int, length: int) -> _Error:
    place = Place(file, offset, length)
    return _Error(slot, (row["key"], row["draw"]), row.get("attempt", 1), place)


class Found:
    """The replies of a shard to what is wanted: where each lies, read when it is looked at.

    Of several replies to one draw (two processes asked at once) a reply goes before an error, then
    the first in the order of the bytes: the same, in whatever order they were written.

    `skipped` counts the lines that are no whole reply: torn by a crash, or not ours. `forgotten`
    has the errors that are to be asked again: draw -> the last such attempt.
    """

    def __init__(self, shard: Path, wanted: Wanted) -> None:
        self.shard, self.wanted = shard, wanted
        self.look()

    def look(self) -> None:
        """Look through the shard's files; once more where one was moved meanwhile."""
        while True:
            try:
                self._look()
                return
            except FileNotFoundError:
                continue

    def _look(self) -> None:
        self.files = Files()
        self.skipped = 0
        self.forgotten: dict[Draw, int] = {}
        slots = self.wanted.slots
        self._file = np.full(slots, -1, np.int32)
        self._offset, self._length = np.zeros(slots, np.int64), np.zeros(slots, np.int32)
        self._refused: set[int] = set()
        errors: list[_Error] = []
        for path in files_of(self.shard):
            for file, block in placed(path, self.files, self.wanted.has):
                self._take(block, file, errors)
        for error in errors:
            if error.attempt > self.forgotten.get(error.draw, 0):
                self._put(error.slot, error.place, refused=True)

    def _take(self, block: Block, file: int, errors: list[_Error]) -> None:
        """Note the replies of a block's lines; an error waits until all that forgets it is read."""
        self.skipped += block.skipped
        keys = self.wanted.places(block.keys)
        wanted = keys >= 0
        keys = keys[wanted]
        first, most = self.wanted.first[keys].tolist(), self.wanted.draws[keys].tolist()
        starts, ends = block.starts[wanted].tolist(), block.ends[wanted].tolist()
        replies: list[tuple[int, int, int]] = []
        for start, end, slot, draws in zip(starts, ends, first, most, strict=True):
            row = row_of(block.data[start:end])
            if row is None:
                self.skipped += 1
                self._refuse(unknown_in(block.data[start:end]))
            elif "forget" in row:
                draw = (row["key"], row["draw"])
                self.forgotten[draw] = max(row["forget"], self.forgotten.get(draw, 0))
            elif row["draw"] < draws:
                at = (slot + row["draw"], block.offset + start, end - start)
                if row["status"] == "error":
                    errors.append(_error(row, file, *at))
                else:
                    replies.append(at)
        self._put_all(replies, file)

    def _refuse(self, fields: list[str]) -> None:
        """Stop at a reply of a newer version: it would be misread, or asked and paid for again."""
        if fields:
            raise UserError(
                "a reply in the store was written by a newer version of Judgescope",
                where=str(self.shard),
                got=", ".join(fields),
                allowed="replies without these fields",
                todo="use that version, or another store (key `store` of the study's card); "
                "nothing was asked",
            )

    def _put_all(self, replies: list[tuple[int, int, int]], file: int) -> None:
        """Note many replies at once, or one by one where a draw has several."""
        slots, offsets, lengths = np.array(replies, np.int64).reshape(-1, 3).T
        if len(np.unique(slots)) < len(slots) or (self._file[slots] >= 0).any():
            for slot, offset, length in replies:
                self._put(slot, Place(file, offset, length), refused=False)
        else:
            self._file[slots], self._offset[slots], self._length[slots] = file, offsets, lengths

    def _put(self, slot: int, place: Place, *, refused: bool) -> None:
        if self._file[slot] >= 0:
            if refused and slot not in self._refused:
                return
            if self.files.read(self._place(slot)) <= self.files.read(place):
                return
        if refused:
            self._refused.add(slot)
        self._file[slot], self._offset[slot], self._length[slot] = place

    def add(self, reply: Reply, path: Path, offset: int, length: int) -> None:
        """Note where a new reply was written."""
        key = self.wanted.place(reply.key)
        if reply.draw >= self.wanted.draws[key]:
            return  # more than was wanted: the journal has it
        slot = int(self.wanted.first[key]) + reply.draw
        self._put(slot, Place(self.files.number(path), offset, length), refused=False)

    @property
    def count(self) -> int:
        """Return how many of the wanted replies there are."""
        return int(np.count_nonzero(self._file >= 0))

    def lacking(self) -> Counts:
        """Return how many draws of each wanted key there are not, in the order of the keys."""
        owner = np.searchsorted(self.wanted.first, np.flatnonzero(self._file < 0), side="right") - 1
        return np.bincount(owner, minlength=len(self.wanted.keys))

    def there(self, slot: int) -> bool:
        """Return whether there is a reply for a slot."""
        return bool(self._file[slot] >= 0)

    def missing(self, place: int) -> tuple[int, ...]:
        """Return the draws of a key that there are not."""
        first = self.wanted.first[place]
        files = self._file[first : first + self.wanted.draws[place]].tolist()
        return tuple(draw for draw, file in enumerate(files) if file < 0)

    def lacks(self, key: str, draw: int) -> bool | None:
        """Return whether a draw is wanted and not there; None if it is not wanted."""
        place = self.wanted.places(np.array([bytes.fromhex(key)], KEY))[0]
        if place < 0 or draw >= self.wanted.draws[place]:
            return None
        return bool(self._file[self.wanted.first[place] + draw] < 0)

    def line(self, slot: int) -> bytes:
        """Return the line in which a reply stands."""
        try:
            return self.files.read(self._place(slot))
        except FileNotFoundError:  # the shard was compacted since: it is all there, elsewhere
            self.look()
        if self._file[slot] < 0:
            raise UserError(
                "a reply was taken away while it was needed",
                where=str(self.shard),
                todo="run again: what is missing is asked for",
            )
        return self.files.read(self._place(slot))

    def _place(self, slot: int) -> Place:
        return Place(int(self._file[slot]), int(self._offset[slot]), int(self._length[slot]))

    def reply(self, slot: int) -> Reply:
        """Return a reply that is there."""
        row = row_of(self.line(slot))
        if row is None:
            raise UserError(
                "a reply was changed in the store while it was needed",
                where=str(self.shard),
                todo="judgescope replies verify names the line; fetch its file from a backup",
            )
        return reply_of(row)

    def replies(self) -> Iterator[tuple[Draw, Reply]]:
        """Yield every reply that is there, by key and draw."""
        for slot in np.flatnonzero(self._file >= 0).tolist():
            reply = self.reply(slot)
            yield (reply.key, reply.draw), reply
