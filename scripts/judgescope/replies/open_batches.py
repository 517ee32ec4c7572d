"""Open batches: requests that an endpoint answers later, which no job sends again.

A folder beside the shards of the store has a file of requests for each batch, and next
to it the record of its progress.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import MsgspecError, Struct
from msgspec.json import decode, encode

from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write
from judgescope.replies import ledger
from judgescope.replies.lookup import KeyedDraw, StoredReplies

FOLDER = ".batches"
"""The folder of batches, below that of a store."""
CUSTOM_ID = re.compile(r"([0-9a-f]{64})-([0-9]{1,6})")


class Record(Struct, kw_only=True, forbid_unknown_fields=True):
    """The record of a batch: `held` is its reserve, `file` and `batch` are the
    endpoint's ids.
    """

    study: str
    model: str
    requests: int
    held: dict[str, int]
    file: str | None = None
    batch: str | None = None


class Batch:
    """One file of requests, and its record."""

    def __init__(self, path: Path, record: Record) -> None:
        self.path = path
        self.record = record

    @classmethod
    def read(cls, path: Path) -> "Batch":
        """Return the batch of a file of requests."""
        try:
            return cls(
                path, decode(path.with_suffix(".json").read_bytes(), type=Record)
            )
        except MsgspecError as error:
            raise UserError(
                f"the record of a batch cannot be read: {error}",
                where=str(path.with_suffix(".json")),
                todo="download the results from the endpoint, store them with "
                "`judgescope batch import`, then delete the file: its reserve then "
                "counts as spent",
            ) from None

    def save(self) -> None:
        """Write the record."""
        with atomic_write(self.path.with_suffix(".json")) as part:
            part.write_bytes(encode(self.record))

    @property
    def owner(self) -> str:
        """Return the name of the batch's account in the ledger and its mark at the
        endpoint.
        """
        return self.path.stem

    def remove(self, keep: Iterable[Path] = ()) -> None:
        """Delete the record, then its other files."""
        self.path.with_suffix(".json").unlink(missing_ok=True)
        for path in {*self.path.parent.glob(f"{self.owner}.*")}.difference(keep):
            path.unlink()


def draws_in(path: Path) -> Iterator[KeyedDraw]:
    """Yield the key and the draw of every request in a file."""
    id_begin = len('{"custom_id":"')
    with path.open("rb") as file:
        for line in file:
            ident = CUSTOM_ID.match(line[id_begin : id_begin + 80].decode("ascii"))
            assert ident is not None, "a line as `line_of` writes it"
            yield ident[1], int(ident[2])


def under_way(store: Path, study: str | None = None) -> list[Batch]:
    """Return the batches of one or all studies whose results were not fetched yet."""
    paths = sorted((store / FOLDER).glob(f"{study or '*'}/*.json"))
    return [Batch.read(path.with_suffix(".jsonl")) for path in paths]


def close_lost(store: Path, study: str) -> None:
    """Book the reserves of a study's batches whose record was deleted: their cost is
    unknown.
    """
    books = ledger.Ledger(store / ledger.FOLDER / study)

    def lost(state: ledger.State) -> list[str]:
        return [
            owner
            for owner, account in state.open.items()
            if account.process == ledger.NO_PROCESS
            and not Path(f"{store / account.journals}.json").exists()
        ]

    def step(state: ledger.State) -> None:
        for owner in lost(state):
            state.close(owner, state.open[owner].held)

    if lost(books.state()):
        books.change(step)


def check_not_in_batch(stored: StoredReplies) -> None:
    """Raise UserError if missing draws are in a batch of any study, which will be paid
    for.
    """
    counts: Counter[str] = Counter()  # study -> its missing draws
    for each in under_way(stored.shard.parent):
        counts[each.record.study] += sum(
            stored.lacks(key, draw) is True for key, draw in draws_in(each.path)
        )
    if count := counts.total():
        raise UserError(
            f"{count:,} of the missing replies are in batches; no request was sent",
            where=", ".join(f"study {study}" for study in sorted(+counts)),
            todo="run `judgescope batch fetch` with the file of that study, then run "
            "again; or `batch cancel`, then `batch fetch`",
        )
