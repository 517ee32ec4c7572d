"""The ledger of a study: its spending and the reserves of its jobs, shared without a
lock.

A ledger is a chain of numbered folders, each with the state after one change. A change
is first written outside the chain and then moved to the next number. A folder cannot be
moved onto one that is not empty: if two jobs change the same state, one succeeds and
the other starts again from the new state. This works on network file systems too.
Numbers are never removed, so that a slow job cannot fork the chain. The spending of a
dead job is read from its journals.
"""

import json
import os
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from judgescope.core import hosts
from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.hosts import is_running
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.journal import ReplyLine, blocks, read_line
from judgescope.replies.pricing import nanodollars
from judgescope.schema.cards import Price

STATE = "state.json"
FOLDER = ".budget"  # next to the shards of the store; no model's slug begins with a dot
UNITS = (REQUESTS, NANOS)
SpentUnits = Counter[str]  # unit -> an integer; one request means one requested reply
# seconds without a sign of life after which a job on another machine is dead
SILENT = 3600.0
JOURNALS_STAY = 86400.0  # seconds before compaction may remove a journal


NO_PROCESS = 0
"""The process number of an account that lives until it is closed: a batch at an
endpoint."""


@dataclass
class Account:
    """The amount that an open job has reserved of a model's caps.

    under_way: the most that was ever in flight at once; if the job dies, it counts as
    spent. journals: the prefix of its journals' paths, relative to the store's folder.
    host: the machine of `process` (`machine_id`).
    """

    model: str
    price: dict[str, float | None] | None
    journals: str
    host: str
    process: int
    held: SpentUnits = field(default_factory=Counter)
    under_way: SpentUnits = field(default_factory=Counter)


@dataclass
class State:
    """Model -> the spending of closed jobs, and owner -> the account of an open job."""

    spent: dict[str, SpentUnits] = field(default_factory=dict)
    open: dict[str, Account] = field(default_factory=dict)

    def used(self, unit: str, model: str | None = None) -> tuple[int, int]:
        """Return the spent and the reserved amount of a unit, for one model or all."""
        spent = []
        for name, amount in self.spent.items():
            if model in (None, name):
                spent.append(amount)
        held = []
        for each in self.open.values():
            if model in (None, each.model):
                held.append(each.held)
        return sum(amount[unit] for amount in spent), sum(
            amount[unit] for amount in held
        )

    def free(self, unit: str, model: str, caps: Sequence[Cap]) -> int | None:
        """Return how much of a unit a model's jobs may still reserve; None: no cap."""
        rooms = []
        for cap in caps_on(caps, unit, model):
            rooms.append(cap.limit - sum(self.used(unit, cap.model)))
        if rooms:
            return max(0, min(rooms))
        return None

    def close(self, owner: str, spent: SpentUnits) -> None:
        """Book an owner's spending, unless it is booked, and release the rest of its
        reserve.
        """
        if owner in self.open:
            model = self.open.pop(owner).model
            self.spent[model] = self.spent.get(model, SpentUnits()) + spent


def caps_on(caps: Sequence[Cap], unit: str, model: str) -> list[Cap]:
    """Return the caps on a unit that apply to a model."""
    return [cap for cap in caps if cap.unit == unit and cap.model in (None, model)]


def unbooked(store: Path) -> list[Path]:
    """Return the path prefixes of the journals of jobs whose spending is not booked
    yet.
    """
    journals = []
    for folder in sorted((store / FOLDER).glob("*/")):
        for account in Ledger(folder).state().open.values():
            journals.append(store / account.journals)
    return journals


def shown(amount: int, unit: str) -> str:
    """Return an amount as text for messages."""
    if unit == REQUESTS:
        return f"{amount} requests"
    return f"{amount / 1e9:.6g} US dollars"


ChainState = TypeVar("ChainState")


class Chain(ABC, Generic[ChainState]):
    """The chain in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def empty(self) -> ChainState:
        """Return the state before the first change."""

    @abstractmethod
    def encoded(self, state: ChainState) -> dict[str, Any]:
        """Return a state as JSON, without the key `by`."""

    @abstractmethod
    def decoded(self, state: dict[str, Any]) -> ChainState:
        """Return a state from JSON."""

    @abstractmethod
    def unreadable(self) -> tuple[str, str]:
        """Return the message about a damaged state, and what to do."""

    def state(self) -> ChainState:
        """Return the state after the last change, or an empty state before the first
        change.
        """
        return self._last()[1]

    def change(self, step: Callable[[ChainState], object]) -> ChainState:
        """Apply `step` to the state (again if another job was faster); return the new
        state.

        If `step` raises, the chain stays as it is.
        """
        number, state = self._last()
        while True:
            step(state)
            if self._add(number + 1, state):
                return state
            number, state = self._last(number + 1)

    def _last(self, number: int = 0) -> tuple[int, ChainState]:
        """Return the last number, not below `number`, and its state: a listing may be
        stale.
        """
        named = self.folder.iterdir() if self.folder.is_dir() else ()
        number = max(
            [number, *(int(path.name) for path in named if path.name.isdigit())]
        )
        while (self._path(number + 1) / STATE).exists():
            number += 1
        return number, self._read(number) if number else self.empty()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}"

    def _read(self, number: int) -> ChainState:
        path = self._path(number) / STATE
        try:
            return self.decoded(json.loads(path.read_text(encoding="utf-8")))
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            what, todo = self.unreadable()
            raise UserError(f"{what}: {error}", where=str(path), todo=todo) from error

    def _add(self, number: int, state: ChainState) -> bool:
        """Append a state to the chain as `number`; return False if the number is
        taken.
        """
        mark = os.urandom(8).hex()
        beside = self.folder / f".{mark}"
        beside.mkdir(parents=True)
        written = {"by": mark, **self.encoded(state)}
        with (beside / STATE).open("w", encoding="utf-8") as file:
            file.write(canonical(written))
            file.flush()
            os.fsync(file.fileno())
        try:
            beside.rename(self._path(number))
        except OSError:
            if not (self._path(number) / STATE).exists():
                raise
            # a file server may have moved it and lost its response: then the mark is
            # this job's
            won = mark in (self._path(number) / STATE).read_text(encoding="utf-8")
            if not won:
                (beside / STATE).unlink()
                beside.rmdir()
            return won
        return True


class Ledger(Chain[State]):
    """The chain of a study's spending."""

    def empty(self) -> State:
        """Return the state before anything was spent."""
        return State()

    def encoded(self, state: State) -> dict[str, Any]:
        """Return a state as JSON."""
        accounts = {name: vars(account) for name, account in state.open.items()}
        return {"spent": state.spent, "open": accounts}

    def decoded(self, state: dict[str, Any]) -> State:
        """Return a state from JSON."""
        spent = {model: Counter(amount) for model, amount in state["spent"].items()}
        accounts = {}
        for name, each in state["open"].items():
            counters = {key: Counter(each[key]) for key in ("held", "under_way")}
            accounts[name] = Account(**each | counters)
        return State(spent, accounts)

    def unreadable(self) -> tuple[str, str]:
        """Return the message about damaged spending, and what to do."""
        return (
            "the record of the study's spending cannot be read",
            "restore it from a backup, or delete its folder; spending then restarts "
            "at 0",
        )


class Heartbeat:
    """A file that a job touches while it runs; its time is that of the file server's
    clock.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        self.path = folder / f"{owner}.alive"
        self._given = 0.0

    def give(self) -> None:
        """Touch the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        self._given = time.monotonic()

    def age(self) -> float:
        """Return the seconds since this process gave the sign."""
        return time.monotonic() - self._given

    def behind(self, now: "Heartbeat") -> float:
        """Return the sign's age in seconds compared with `now`; infinity if there is
        none.
        """
        try:
            return now.path.stat().st_mtime - self.path.stat().st_mtime
        except FileNotFoundError:
            return float("inf")


class Located(Protocol):
    """What a job leaves about itself: its machine (`machine_id`) and process."""

    @property
    def host(self) -> str: ...  # noqa: D102

    @property
    def process(self) -> int: ...  # noqa: D102


def is_dead(account: Located, sign: Heartbeat, now: Heartbeat) -> bool:
    """Return whether an account's owner is dead; `now` is a sign given just now."""
    if account.process == NO_PROCESS:
        return False
    if account.host == hosts.machine_id():
        return not is_running(account.process)
    return sign.behind(now) > SILENT


def askers(shard: Path, now: Heartbeat) -> list[str]:
    """Return the studies that have a living job which asks a shard's model."""
    store = shard.parent
    studies = []
    for folder in sorted((store / FOLDER).glob("*/")):
        for owner, account in Ledger(folder).state().open.items():
            if (store / account.journals).parent != shard:
                continue
            if not is_dead(account, Heartbeat(folder, owner), now):
                studies.append(folder.name)
    return studies


def spent_by(account: Account, store: Path, silent: float) -> SpentUnits:
    """Return a dead owner's spending: its stored replies and the most it may have had
    in flight.

    If a reply has no usage or the journals were removed, return its entire reserve.
    """
    begin = store / account.journals
    journals = sorted(begin.parent.glob(f"{begin.name}.*.jsonl"))
    price = None
    if account.price is not None:
        price = Price.model_validate(account.price)
    stored = SpentUnits()
    for path in journals:
        for block in blocks(path):
            for line in map(read_line, block.lines()):
                if not isinstance(line, ReplyLine):
                    continue
                stored[REQUESTS] += 1
                if price is None:
                    continue
                usage = line.reply().usage
                if usage is not None:
                    stored[NANOS] += nanodollars(usage, price)
                elif line.status == "ok":
                    return Counter(account.held)
    if not journals and silent > JOURNALS_STAY:
        return Counter(account.held)
    spent = SpentUnits()
    for unit in UNITS:
        at_most = min(stored[unit] + account.under_way[unit], account.held[unit])
        spent[unit] = max(stored[unit], at_most)
    return spent
