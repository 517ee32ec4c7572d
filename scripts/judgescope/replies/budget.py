"""A job's part of a study's caps: set aside before a request is sent, given back at the end.

A job takes from the study's ledger a part of what is left, more when that is used up, and never
more than the caps leave; so jobs that run at once, on one machine or several, never pass a cap
together. What a job has set aside and not spent goes back when it ends.
"""

import json
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from judgescope.core.errors import UserError
from judgescope.engines.requests import Hold, Reply, Request
from judgescope.replies.ledger import (
    FOLDER,
    NANOS,
    REQUESTS,
    UNITS,
    Account,
    Amount,
    Cap,
    Ledger,
    State,
    of,
    shown,
)
from judgescope.replies.pricing import nanodollars
from judgescope.replies.recovery import SILENT, Sign, here, is_dead, spent_by
from judgescope.replies.speed import Pace, read_pace, write_pace
from judgescope.replies.store import Store
from judgescope.schema.cards import AskedModel, Price

PART = 8
"""A job takes an eighth of what is left: many can work at once, and few changes are made."""
EVERY = 60.0
"""Seconds between two signs of life."""
AROUND = 16
"""Tokens that a chat template may put around a message."""
LONGEST = 16384
"""Tokens that a reply is thought to have at most where the endpoint is not told how many."""
ENOUGH, MARGIN = 20, 1.25
"""After so many replies, a prompt counts as at most this much denser than all of theirs."""


class _NoRoomError(Exception):
    """A cap leaves less than is needed."""

    def __init__(self, cap: Cap, spent: int, held: int) -> None:
        super().__init__(cap.key)
        self.cap, self.spent, self.held = cap, spent, held


def spending(told: str, store: Store, card: AskedModel) -> "Spending":
    """Return the budget of a job that asks a model, from the option `--budget`."""
    budget = json.loads(told)
    caps = [Cap(*cap) for cap in budget["caps"]]
    folder = store.shard.parent
    return Spending(
        folder, budget["study"], card.model, card.price, caps, store.shard / store.start
    )


class Spending:
    """What one process may spend on one model, and has spent (an `engines.requests.Budget`).

    `journals` is the path with which the names of its journals begin. The account is opened with
    the first request; the end of the `with` block closes it.
    """

    def __init__(
        self,
        store: Path,
        study: str,
        model: str,
        price: Price | None,
        caps: Sequence[Cap],
        journals: Path,
    ) -> None:
        self.ledger = Ledger(store / FOLDER / study)
        self.store, self.model, self.price, self.caps = store, model, price, caps
        self.journals = journals
        self.owner = journals.name
        self.units = [unit for unit in UNITS if of(caps, unit, model)]
        self.spent, self._under_way = Amount(), Amount()
        self._dearer = self._dearest = 1.0
        """By what the most that a request should cost is multiplied; the least that this must be:
        more, while requests wait for those that are under way."""
        self._account: Account | None = None
        self._sign = Sign(self.ledger.folder, self.owner)
        self._full: _NoRoomError | None = None
        self._dead: dict[str, Amount] = {}
        self._before = read_pace(journals.parent)
        self._pace = Pace()
        self._begun = time.monotonic()

    def reserve(self, request: Request, draws: int) -> Hold | None:
        """Set aside the most that so many draws can cost; see `engines.requests.Budget`."""
        if self._dearest > self._dearer and any(self._under_way.values()):
            return None
        self._dearer = self._dearest
        hold = self._most(request, draws)
        self._add(hold, 1)
        fits = False
        try:
            self._live()
            fits = self._fits(self._under_way) or self._take(self._under_way)
        finally:
            if not fits:
                self._add(hold, -1)
        if fits:
            return hold
        assert self._full is not None
        if any(self._under_way.values()):
            return None
        raise self._reached(self._full)

    def _add(self, hold: Hold, times: int) -> None:
        """Count a request as under way, or no longer so."""
        self._under_way[REQUESTS] += times * hold.draws
        self._under_way[NANOS] += times * hold.nanodollars

    def settle(self, hold: Hold, replies: Sequence[Reply]) -> None:
        """Book what came in the place of what was set aside; see `engines.requests.Budget`."""
        self._add(hold, -1)
        self._full = None
        self.spent[REQUESTS] += len(replies)
        told = [reply.usage for reply in replies if reply.usage is not None]
        if prompt := sum(usage.get("prompt") or 0 for usage in told):
            self._pace = self._pace.with_request(hold.size, prompt, len(replies))
        if self.price is None or all(reply.status == "error" for reply in replies):
            return
        if not told:
            self.spent[NANOS] += hold.nanodollars
            return
        cost = sum(nanodollars(usage, self.price) for usage in told)
        self.spent[NANOS] += cost
        if cost > hold.nanodollars and NANOS in self.units:
            self._overrun(cost, hold.nanodollars)

    def _overrun(self, cost: int, held: int) -> None:
        """Send nothing more until all that is under way has come, and set aside more from then on.

        The ledger is told at once: what this job spends beside the cap, no other job may.
        """
        if self._dearest == self._dearer:
            print(
                f"warning: a reply cost {shown(cost, NANOS)} by the tokens that it reports, and at "
                f"most {shown(held, NANOS)} were set aside for it: models/{self.model}.yaml, does "
                "the endpoint heed max_tokens? New requests wait until those under way have come",
                flush=True,
            )
        self._dearest = max(self._dearest, MARGIN * self._dearer * cost / max(held, 1))

        def step(state: State) -> None:
            if self.owner in state.open:
                account = state.open[self.owner]
                sure = self.spent[NANOS] + self._under_way[NANOS]
                account.held[NANOS] = max(account.held[NANOS], sure)

        if self._account is not None:
            self._account = self.ledger.change(step).open.get(self.owner, self._account)

    def _most(self, request: Request, draws: int) -> Hold:
        """Return the most that a request can cost: a prompt has no more tokens than bytes."""
        size = len(request.prompt.encode()) + AROUND * len(request.asked.get("messages", ()))
        if self.price is None:
            return Hold(draws, 0, size)
        dense = self._dense()
        reply = request.asked.get("max_tokens", LONGEST) * draws
        usage = {"prompt": math.ceil(size * dense), "completion": reply}
        return Hold(draws, math.ceil(nanodollars(usage, self.price) * self._dearer), size)

    def _dense(self) -> float:
        """Return the most tokens that a byte of a prompt may be, from this and earlier jobs."""
        if self._before.replies + self._pace.replies < ENOUGH:
            return 1.0
        return min(1.0, MARGIN * max(self._before.densest, self._pace.densest))

    def _fits(self, under_way: Amount) -> bool:
        if self._account is None:
            self._begun = time.monotonic()
            return False
        held, covered = self._account.held, self._account.under_way
        return all(
            self.spent[unit] + under_way[unit] <= held[unit] and under_way[unit] <= covered[unit]
            for unit in self.units
        )

    def _take(self, under_way: Amount) -> bool:
        """Set aside as much more in the ledger as is needed; False where a cap leaves less."""
        if self._full:  # nothing was settled since
            return False
        self._give_sign()
        try:
            state = self.ledger.change(lambda state: self._enlarge(state, under_way))
        except _NoRoomError as error:
            self._full = error
            return False
        self._account = state.open[self.owner]  # now only: a change may be made again
        return True

    def _enlarge(self, state: State, under_way: Amount) -> None:
        self._bury(state)
        if self._account is not None and self.owner not in state.open:
            raise self._disowned()
        account = state.open.setdefault(self.owner, self._opened())
        for unit in self.units:
            lack = self.spent[unit] + under_way[unit] - account.held[unit]
            if lack > 0:
                room = state.free(unit, self.model, self.caps) or 0
                if lack > room:
                    raise self._full_of(state, unit, lack)
                account.held[unit] += max(lack, room // PART)
            if under_way[unit] > account.under_way[unit]:
                account.under_way[unit] = 2 * under_way[unit]

    def _opened(self) -> Account:
        return Account(
            model=self.model,
            price=self.price.model_dump() if self.price else None,
            journals=os.path.relpath(self.journals, self.store),
            place=here(),
            process=os.getpid(),
        )

    def _full_of(self, state: State, unit: str, lack: int) -> _NoRoomError:
        """Return what to say of the cap with the least room."""
        rooms = [(cap, *state.used(unit, cap.model)) for cap in of(self.caps, unit, self.model)]
        cap, spent, held = min(rooms, key=lambda room: room[0].limit - room[1] - room[2])
        mine = self._account.held[unit] if self._account else 0
        return _NoRoomError(cap, spent + self.spent[unit], held - mine)

    def _bury(self, state: State) -> None:
        """Close the accounts of jobs that died."""
        for owner, account in list(state.open.items()):
            sign = Sign(self.ledger.folder, owner)
            if owner != self.owner and is_dead(account, sign, self._sign):
                if owner not in self._dead:
                    self._dead[owner] = spent_by(account, self.store, sign.behind(self._sign))
                state.close(owner, self._dead[owner])

    def _live(self) -> None:
        """Give a sign of life now and then; after a long silence look whether it came too late."""
        if self._account is None or self._sign.age() < EVERY:
            return
        late = self._sign.age() > SILENT / 2
        self._give_sign()
        if late and self.owner not in self.ledger.state().open:
            raise self._disowned()

    def _give_sign(self) -> None:
        self.ledger.folder.mkdir(parents=True, exist_ok=True)
        self._sign.give()

    def _disowned(self) -> UserError:
        return UserError(
            "this job was silent for so long that others took it for dead",
            where=str(self.ledger.folder),
            todo="the replies so far are kept; run again to ask for the rest",
        )

    def _reached(self, full: _NoRoomError) -> UserError:
        cap, spent, held = full.cap, full.spent, full.held
        others = f", {shown(held, cap.unit)} set aside by other jobs" if held else ""
        if (over := spent - cap.limit) > 0:
            others += (
                f"; {shown(over, cap.unit)} too much, for requests that were under way when a "
                "reply reported more tokens than were set aside"
            )
        return UserError(
            f"the next request could pass the cap of {shown(cap.limit, cap.unit)}",
            where=f"the study's card, key {cap.key}; models/{self.model}.yaml",
            got=f"{shown(spent, cap.unit)} spent by this study so far{others}",
            todo="raise the cap and run again: what was paid for is kept, only the rest is asked",
        )

    def __enter__(self) -> Self:
        """Return the budget; its account is opened with the first request."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Book what was spent, whatever happened; what is under way still may be billed."""
        if self._account is None:
            return
        spent = self.spent + self._under_way

        def step(state: State) -> None:
            if self.owner in state.open:
                state.close(self.owner, spent)

        self.ledger.change(step)
        seconds = time.monotonic() - self._begun
        write_pace(self.journals, self._pace._replace(seconds=seconds))
        self._sign.path.unlink(missing_ok=True)
