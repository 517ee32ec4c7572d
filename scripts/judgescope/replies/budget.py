"""A job's part of a study's caps: reserved before a request is sent, released at the
end.

A job reserves a part of what the study's ledger has left, and more when that part is
used up, but never more than the caps leave. So concurrent jobs, on one or several
machines, never exceed a cap.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from msgspec import Struct
from msgspec.json import decode

from judgescope.core import hosts
from judgescope.core.errors import UserError
from judgescope.engines.requests import Hold, Reply, Request
from judgescope.replies import ledger
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.claims import Claims, EarlierClaim
from judgescope.replies.journal import Keys
from judgescope.replies.pricing import ENOUGH, Pace, nanodollars, read_pace, write_pace
from judgescope.replies.store import FULL, Store, disk_full
from judgescope.schema.cards import AskedModel, Price

SIGN_SECONDS = 60.0  # between two signs of life
WAIT_SECONDS = 5.0  # between two looks for the replies of other jobs
MARGIN = 1.25
"""Assumed tokens per byte of a prompt, divided by the maximum in at least ENOUGH
replies."""


class _NoRoomError(UserError):
    """A cap leaves less than a request needs."""


class BudgetOption(Struct, frozen=True, forbid_unknown_fields=True):
    """The option `--budget` of jobs that ask: the name of the study's ledger, and its
    caps.
    """

    study: str
    caps: list[Cap]


def spending(option: str, store: Store, card: AskedModel) -> "Spending":
    """Return the budget of a job that asks a model, from the option `--budget`."""
    budget = decode(option, type=BudgetOption)
    return Spending(store, budget.study, card.model, card.price, budget.caps)


class Spending(AbstractContextManager["Spending"]):
    """The `engines.requests.Budget` of one process and model.

    The account is opened by `claim`, or else with the first request, and closed at the
    end of the `with` block.
    """

    def __init__(
        self,
        store: Store,
        study: str,
        model: str,
        price: Price | None,
        caps: Sequence[Cap],
    ) -> None:
        self.ledger = ledger.Ledger(store.shard.parent / ledger.FOLDER / study)
        self.model = model
        self.price = price
        self.caps = caps
        self.store = store.shard.parent
        self.owner = store.start
        self.journals = store.shard / store.start
        """The start of its journals' paths."""
        self.units = [
            unit for unit in ledger.UNITS if ledger.caps_on(caps, unit, model)
        ]
        self.spent = ledger.SpentUnits()
        self._under_way = ledger.SpentUnits()
        self._factor = self._next_factor = 1.0
        """Factor on a request's estimated maximum cost, because some cost more; a new
        factor applies once no request is in flight."""
        self._account: ledger.Account | None = None
        self._sign = ledger.Heartbeat(self.ledger.folder, self.owner)
        self._full: _NoRoomError | None = None
        self._dead: dict[str, ledger.SpentUnits] = {}
        self._before = read_pace(store.shard)
        self._pace = Pace()
        self._begun: float | None = None
        self._shard = store.shard
        self._claims = Claims(store, study)

    def claim(self, keys: Keys) -> list[EarlierClaim]:
        """Open the account of a job that lacks these distinct keys, and claim them.

        Return the claims of open jobs, of any study, that contain some of them: these
        are not to be asked for. Claims have one order, so of two jobs only one waits.
        """
        try:
            self._register()
            return self._claims.make(keys, self._sign)
        except OSError as error:
            if error.errno in FULL:
                raise disk_full(self._shard, "no request was sent") from None
            raise

    def wait(self, stored: Callable[[], bool]) -> None:
        """Wait until the replies that earlier jobs claimed are stored, or these jobs
        have ended.

        Jobs that gave no sign of life for long count as ended: at worst, their requests
        are sent twice. Meanwhile this job reserves nothing.
        """

        def release(state: ledger.State) -> None:
            for unit in self.units if self.owner in state.open else ():
                state.open[self.owner].held[unit] = (
                    self.spent[unit] + self._under_way[unit]
                )

        began = time.monotonic()
        state = self.ledger.change(release)
        while self.owner in state.open:
            self._account = state.open[self.owner]
            self._sign.give()
            looked = time.monotonic()
            if not self._claims.are_awaited(self._sign) or stored():
                break
            time.sleep(max(WAIT_SECONDS, 10 * (time.monotonic() - looked)))
            state = self.ledger.state()
        if self._begun is not None:
            self._begun += time.monotonic() - began

    def reserve(self, request: Request, draws: int) -> Hold | None:
        """Reserve the most that `draws` draws can cost; see
        `engines.requests.Budget`.
        """
        if self._begun is None:
            self._begun = time.monotonic()
        if self._next_factor > self._factor and any(self._under_way.values()):
            return None
        self._factor = self._next_factor
        hold = self.maximum(request, draws)
        self._add(hold, 1)
        fits = False
        try:
            self._stay_alive()
            fits = self._fits() or self._enlarge()
        finally:
            if not fits:
                self._add(hold, -1)
        if fits:
            return hold
        assert self._full is not None
        if any(self._under_way.values()):
            return None
        raise self._full

    def _add(self, hold: Hold, times: int) -> None:
        self._under_way[REQUESTS] += times * hold.draws
        self._under_way[NANOS] += times * hold.nanodollars

    def settle(self, hold: Hold, replies: Sequence[Reply]) -> None:
        """Replace a reserve by the cost of the replies; see
        `engines.requests.Budget`.
        """
        self._add(hold, -1)
        self._full = None
        if self._account is not None and self._sign.age() > SIGN_SECONDS:
            # its age stays, so the next reserve checks whether it is late
            self._sign.path.touch()
        self.spent[REQUESTS] += len(replies)
        usages = []
        for reply in replies:
            if reply.usage is not None:
                usages.append(reply.usage)
        if prompt := sum(usage.get("prompt") or 0 for usage in usages):
            self._pace = self._pace.with_request(hold.size, prompt, len(replies))
        if self.price is None:
            return
        cost = sum(nanodollars(usage, self.price) for usage in usages)
        if any(reply.usage is None and reply.status == "ok" for reply in replies):
            cost = max(cost, hold.nanodollars)
        self.spent[NANOS] += cost
        if cost > hold.nanodollars and NANOS in self.units:
            self._overrun(cost, hold)

    def _overrun(self, cost: int, hold: Hold) -> None:
        """Let all requests in flight finish, and reserve more per request from then on.

        The ledger is updated at once, so that no other job spends what this job has
        overspent.
        """
        held = hold.nanodollars
        if self._next_factor == self._factor:
            card = f"models/{self.model}.yaml"
            doubt = f"does the endpoint of {card} respect max_tokens?"
            if hold.decides:
                doubt = f"are its token counts, and `price` in {card}, right?"
            print(
                f"warning: a reply cost {ledger.shown(cost, NANOS)} by its "
                f"token counts, but only {ledger.shown(held, NANOS)} were "
                f"reserved for it: {doubt} New requests wait until the current ones "
                "finish",
                flush=True,
            )
        self._next_factor = max(
            self._next_factor, MARGIN * self._factor * cost / max(held, 1)
        )

        def step(state: ledger.State) -> None:
            if self.owner in state.open:
                account = state.open[self.owner]
                sure = self.spent[NANOS] + self._under_way[NANOS]
                account.held[NANOS] = max(account.held[NANOS], sure)

        if self._account is not None:
            self._account = self.ledger.change(step).open.get(self.owner, self._account)

    def maximum(self, request: Request, draws: int) -> Hold:
        """Return a request's maximum cost: a prompt has at most as many tokens as
        bytes.
        """
        template_tokens = 16  # the most that a chat template adds around a message
        size = len(request.prompt.encode()) + template_tokens * len(
            request.asked.get("messages", ())
        )
        if self.price is None:
            return Hold(draws, 0, size)
        dense = 1.0  # the most tokens per byte, in this and earlier jobs
        if self._before.replies + self._pace.replies >= ENOUGH:
            dense = min(1.0, MARGIN * max(self._before.densest, self._pace.densest))
        decides = "question" in request.asked
        # The assumed maximum tokens of a reply without a limit.
        longest_reply = 16384
        # The assumed maximum tokens of a decision, which is no text.
        longest_decision = 64
        longest = longest_decision if decides else longest_reply
        reply = request.asked.get("max_tokens", longest) * draws
        usage = {"prompt": math.ceil(size * dense), "completion": reply}
        cost_at_most = math.ceil(nanodollars(usage, self.price) * self._factor)
        return Hold(draws, cost_at_most, size, decides=decides)

    def _fits(self) -> bool:
        if self._account is None:
            return False
        held = self._account.held
        covered = self._account.under_way
        under_way = self._under_way
        return all(
            self.spent[unit] + under_way[unit] <= held[unit]
            and under_way[unit] <= covered[unit]
            for unit in self.units
        )

    def _enlarge(self) -> bool:
        """Reserve what is missing in the ledger; return False if a cap leaves too
        little.
        """
        if self._full:  # no request was settled since
            return False
        try:
            self._register()
        except _NoRoomError as error:
            self._full = error
            return False
        return True

    def _register(self) -> ledger.State:
        self._sign.give()
        state = self.ledger.change(self._reserve_in)
        # only now, because the change may have to be repeated
        self._account = state.open[self.owner]
        for owner in self._dead:
            ledger.Heartbeat(self.ledger.folder, owner).path.unlink(missing_ok=True)
        self._dead.clear()
        return state

    def _reserve_in(self, state: ledger.State) -> None:
        self._close_dead(state)
        if self._account is not None and self.owner not in state.open:
            raise self._disowned()
        account = ledger.Account(
            model=self.model,
            price=self.price.model_dump() if self.price else None,
            journals=os.path.relpath(self.journals, self.store),
            host=hosts.machine_id(),
            process=os.getpid(),
        )
        account = state.open.setdefault(self.owner, account)
        # A job reserves 1/8 of what is left: many jobs can work, with few ledger
        # changes.
        part = 8
        for unit in self.units:
            under_way = self._under_way[unit]
            lack = self.spent[unit] + under_way - account.held[unit]
            if lack > 0:
                room = state.free(unit, self.model, self.caps) or 0
                if lack > room:
                    raise self._no_room(state, unit)
                account.held[unit] += max(lack, room // part)
            if under_way > account.under_way[unit]:
                account.under_way[unit] = 2 * under_way

    def _no_room(self, state: ledger.State, unit: str) -> _NoRoomError:
        caps = ledger.caps_on(self.caps, unit, self.model)
        rooms = [(cap, *state.used(unit, cap.model)) for cap in caps]
        cap, spent, held = min(
            rooms, key=lambda room: room[0].limit - room[1] - room[2]
        )
        spent += self.spent[unit]
        held -= self._account.held[unit] if self._account else 0
        others = ""
        if held:
            others = f", {ledger.shown(held, unit)} reserved by other jobs"
        if (over := spent - cap.limit) > 0:
            others += (
                f"; {ledger.shown(over, unit)} over the cap, by requests in flight "
                "when a reply reported more tokens than were reserved"
            )
        return _NoRoomError(
            f"the next request could exceed the cap of {ledger.shown(cap.limit, unit)}",
            where=f"the study's card, key {cap.key}; models/{self.model}.yaml",
            got=f"{ledger.shown(spent, unit)} spent by this study so far{others}",
            todo="raise the cap and run again: paid replies are stored, so only "
            "missing ones are requested",
        )

    def _close_dead(self, state: ledger.State) -> None:
        for owner, account in list(state.open.items()):
            sign = ledger.Heartbeat(self.ledger.folder, owner)
            if owner != self.owner and ledger.is_dead(account, sign, self._sign):
                if owner not in self._dead:
                    self._dead[owner] = ledger.spent_by(
                        account, self.store, sign.behind(self._sign)
                    )
                state.close(owner, self._dead[owner])

    def _stay_alive(self) -> None:
        """Give a sign of life regularly; after a long silence, check that it is not too
        late.
        """
        if self._account is None or self._sign.age() < SIGN_SECONDS:
            return
        late = self._sign.age() > ledger.SILENT / 2
        self._sign.give()
        if late and self.owner not in self.ledger.state().open:
            raise self._disowned()

    def _disowned(self) -> UserError:
        return UserError(
            "this job was inactive for too long, so other jobs treated it as stopped",
            where=str(self.ledger.folder),
            todo="received replies are stored; run again to request the rest",
        )

    def __exit__(self, *_: object) -> None:
        """Book what was spent, including requests in flight, which may be billed."""
        if self._account is None:
            return
        spent = self.spent + self._under_way
        self._claims.end()
        self.ledger.change(lambda state: state.close(self.owner, spent))
        if self._begun is not None:
            seconds = time.monotonic() - self._begun
            write_pace(self.journals, self._pace._replace(seconds=seconds))
        self._sign.path.unlink(missing_ok=True)
