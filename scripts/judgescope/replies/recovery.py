"""What a job spent that died before it could say so: its journal tells."""

import os
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from judgescope.replies.journal import blocks, row_of
from judgescope.replies.ledger import NANOS, REQUESTS, UNITS, Account, Amount
from judgescope.replies.pricing import nanodollars
from judgescope.schema.cards import Price

SILENT = 3600.0
"""A job elsewhere that gave no sign for so many seconds is dead."""
JOURNALS_STAY = 86400.0
"""Compaction leaves a journal alone for so long."""


def here() -> str:
    """Return the name of what a process number belongs to: the host, and the container in it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}".strip()


class Sign:
    """A file that a job touches while it lives; its times are the file server's."""

    def __init__(self, folder: Path, owner: str) -> None:
        self.path = folder / f"{owner}.alive"
        self._given = 0.0

    def give(self) -> None:
        """Say that this job lives."""
        self.path.touch()
        self._given = time.monotonic()

    def age(self) -> float:
        """Return the seconds since this process gave the sign."""
        return time.monotonic() - self._given

    def behind(self, now: "Sign") -> float:
        """Return how much older the sign is than one given now; without end if there is none."""
        try:
            return now.path.stat().st_mtime - self.path.stat().st_mtime
        except FileNotFoundError:
            return float("inf")


def is_dead(account: Account, sign: Sign, now: Sign) -> bool:
    """Return whether an account's owner will never close it; `now` is a sign just given."""
    if sign.behind(now) > SILENT:
        return True
    return account.place == here() and not is_running(account.process)


def is_running(process: int) -> bool:
    """Return whether there is a process of this number on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def spent_by(account: Account, store: Path, silent: float) -> Amount:
    """Return what a dead owner spent: what its journal has, and what it may have had under way.

    All that it held where that cannot be known: a reply without usage, a journal tidied away.
    """
    begin = store / account.journals
    journals = sorted(begin.parent.glob(f"{begin.name}.*.jsonl"))
    price = None if account.price is None else Price.model_validate(account.price)
    told = _journalled(journals, price)
    if not journals and silent > JOURNALS_STAY:
        told = None
    if told is None:
        return Counter(account.held)
    found = Amount()
    for unit in UNITS:
        most = min(told[unit] + account.under_way[unit], account.held[unit])
        found[unit] = max(told[unit], most)
    return found


def _journalled(journals: Iterable[Path], price: Price | None) -> Amount | None:
    """Return what the replies in journals cost, None where one does not tell."""
    found = Amount()
    for row in _rows(journals):
        found[REQUESTS] += 1
        if price is not None and row["status"] == "ok":
            if row["usage"] is None:
                return None
            found[NANOS] += nanodollars(row["usage"], price)
    return found


def _rows(journals: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the replies in journals."""
    for path in journals:
        for block in blocks(path):
            for row in map(row_of, block.lines()):
                if row is not None and "text" in row:
                    yield row
