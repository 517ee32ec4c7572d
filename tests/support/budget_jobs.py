"""Jobs that ask within caps on money and requests."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply, Request
from judgescope.replies.budget import Spending
from judgescope.replies.caps import REQUESTS, Cap
from judgescope.replies.journal import KEY, Keys
from judgescope.replies.ledger import (
    FOLDER,
    Ledger,
)
from judgescope.replies.store import Store
from judgescope.schema.cards import Price

PRICE = Price(input=1, output=2)
USAGE = {"prompt": 7, "completion": 3}


def request(number: int, max_tokens: int = 10) -> Request:
    message = {"role": "user", "content": f"Rate text {number}."}
    return Request({"messages": [message], "max_tokens": max_tokens})


def requests(limit: int, model: str | None = None) -> Cap:
    return Cap("max_requests", REQUESTS, limit, model)


class Job:
    """An asking job: a journal of its own, and a budget."""

    def __init__(
        self,
        folder: Path,
        *caps: Cap,
        model: str = "m",
        price: Price | None = PRICE,
        study: str = "s",
    ) -> None:
        self.store = Store(folder, model)
        self.budget = Spending(self.store, study, model, price, caps)

    def ask(self, number: int, usage: dict[str, int] | None = USAGE) -> None:
        """Ask for one reply and keep it."""
        asked = request(number)
        hold = self.budget.reserve(asked, 1)
        assert hold is not None
        reply = Reply(asked.key, 0, "4", usage=usage)
        self.store.append(reply)
        self.budget.settle(hold, [reply])

    def all(self, numbers: Sequence[int]) -> int:
        """Ask for many until a cap stops it; return how many came."""
        came = 0
        with self.store, self.budget:
            for number in numbers:
                try:
                    self.ask(number)
                except UserError:
                    return came
                came += 1
        return came


def used(
    folder: Path, unit: str = REQUESTS, model: str | None = None
) -> tuple[int, int]:
    """Return what is spent and what is set aside."""
    return Ledger(folder / FOLDER / "s").state().used(unit, model)


def keys(*numbers: int) -> Keys:
    return np.array([bytes.fromhex(request(number).key) for number in numbers], KEY)
