"""What a study has spent and what its jobs have set aside, shared by all of them without a lock.

A ledger is a chain of numbered folders, each with the whole state after one change. A change is
made beside the chain and then moved to the next number: a folder cannot be moved onto one that is
not empty, so of two jobs that change the same state one wins, and the other looks again. That holds
on network file systems too. Numbers are never removed, so that a slow job cannot fork the chain.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError

STATE = "state.json"
FOLDER = ".budget"
"""Beside the shards of the store; no model's slug begins with a dot."""
REQUESTS, NANOS = "requests", "nanodollars"
UNITS = (REQUESTS, NANOS)
Amount = Counter[str]
"""Unit -> a whole number of it. A request is one reply asked for."""


class Cap(NamedTuple):
    """The most that a study may spend: `key` names it to people; no model: on all together."""

    key: str
    unit: str
    limit: int
    model: str | None = None


@dataclass
class Account:
    """What an open job has set aside of a model's caps.

    `under_way` is the most that it may have sent without an answer at any time: if it dies, that
    counts as spent beside what its journals tell. `journals` is the path with which their names
    begin, from the store's folder.
    """

    model: str
    price: dict[str, float | None] | None
    journals: str
    place: str
    process: int
    held: Amount = field(default_factory=Counter)
    under_way: Amount = field(default_factory=Counter)


@dataclass
class State:
    """Model -> what closed jobs spent on it, and owner -> the account of an open job."""

    spent: dict[str, Amount] = field(default_factory=dict)
    open: dict[str, Account] = field(default_factory=dict)

    def used(self, unit: str, model: str | None = None) -> tuple[int, int]:
        """Return what was spent of a unit and what is set aside, for one model or all."""
        spent = [amount for name, amount in self.spent.items() if model in (None, name)]
        held = [one.held for one in self.open.values() if model in (None, one.model)]
        return sum(one[unit] for one in spent), sum(one[unit] for one in held)

    def free(self, unit: str, model: str, caps: Sequence[Cap]) -> int | None:
        """Return how much of a unit a model's jobs may still set aside; None: no cap."""
        rooms = [cap.limit - sum(self.used(unit, cap.model)) for cap in of(caps, unit, model)]
        return max(0, min(rooms)) if rooms else None

    def close(self, owner: str, spent: Amount) -> None:
        """Book what an owner spent, and give back the rest of what it held."""
        model = self.open.pop(owner).model
        self.spent[model] = self.spent.get(model, Amount()) + spent


def of(caps: Sequence[Cap], unit: str, model: str) -> list[Cap]:
    """Return the caps on a unit that bind a model."""
    return [cap for cap in caps if cap.unit == unit and cap.model in (None, model)]


def unbooked(store: Path) -> list[Path]:
    """Return how the journals of jobs begin whose spending is not booked: running or killed."""
    return [
        store / account.journals
        for folder in sorted((store / FOLDER).glob("*/"))
        for account in Ledger(folder).state().open.values()
    ]


def shown(amount: int, unit: str) -> str:
    """Return an amount as people write it."""
    return f"{amount} requests" if unit == REQUESTS else f"{amount / 1e9:.6g} US dollars"


class Ledger:
    """The chain in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> State:
        """Return the state after the last change; an empty one before the first."""
        return self._last()[1]

    def change(self, step: Callable[[State], None]) -> State:
        """Let `step` change the state, again from the new one where another job was faster.

        Return the state as it is then. What `step` raises leaves the chain as it is.
        """
        number, state = self._last()
        while True:
            step(state)
            if self._add(number + 1, state):
                return state
            number, state = self._last(number + 1)

    def _last(self, number: int = 0) -> tuple[int, State]:
        """Return the last number, not below `number`, and its state: a listing may be stale."""
        named = self.folder.iterdir() if self.folder.is_dir() else ()
        number = max([number, *(int(path.name) for path in named if path.name.isdigit())])
        while (self._path(number + 1) / STATE).exists():
            number += 1
        return number, self._read(number) if number else State()

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}"

    def _read(self, number: int) -> State:
        path = self._path(number) / STATE
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            spent = {model: Counter(amount) for model, amount in told["spent"].items()}
            return State(spent, {name: _account(one) for name, one in told["open"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(
                f"what the study has spent so far cannot be read: {error}",
                where=str(path),
                todo="if the ledger is lost, delete its folder: spending counts from 0 again",
            ) from error

    def _add(self, number: int, state: State) -> bool:
        """Make a state the chain's next; False if the number is taken."""
        mark = os.urandom(8).hex()
        beside = self.folder / f".{mark}"
        beside.mkdir(parents=True)
        told = {
            "by": mark,
            "spent": state.spent,
            "open": {name: vars(one) for name, one in state.open.items()},
        }
        with (beside / STATE).open("w", encoding="utf-8") as file:
            file.write(canonical(told))
            file.flush()
            os.fsync(file.fileno())
        try:
            beside.rename(self._path(number))
        except OSError:
            if not (self._path(number) / STATE).exists():
                raise
            # a file server may have moved it and lost its answer: the mark tells
            won = mark in (self._path(number) / STATE).read_text(encoding="utf-8")
            if not won:
                (beside / STATE).unlink()
                beside.rmdir()
            return won
        return True


def _account(told: dict[str, Any]) -> Account:
    amounts = {name: Counter(told[name]) for name in ("held", "under_way")}
    return Account(**{**told, **amounts})
