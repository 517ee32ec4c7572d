"""How fast an endpoint is asked: what its card allows, less while it says that this is too much."""

import asyncio
import random
import re
from collections import deque
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isnan
from time import monotonic, time

from judgescope.schema.cards import Limits

LONGEST_WAIT = 60.0
"""Seconds before another attempt, where the endpoint does not ask for more."""
LEFT = [
    (f"{family}ratelimit-remaining{kind}", f"{family}ratelimit-reset{kind}")
    for family in ("x-", "")
    for kind in ("", "-requests", "-tokens")
]
"""Header that says how much is left, header that says when there is more."""
LONG_AGO = 1e9
"""A number of seconds so large is a moment, not a wait."""
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")


class Gate:
    """Lets requests pass: so many under way at once, so many and so many tokens a minute.

    Too many requests (429) halve how many may be under way and close the gate for a pause that
    doubles while nothing is answered, once for all that were sent before; every answer raises it by
    one over their number: one more each round, up to the card's. Of these, `most` may be under way
    now: the places that other jobs at the endpoint leave.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = monotonic) -> None:
        self.most = self._limit = limits.concurrency
        self.allowed = float(limits.concurrency)
        self._backoff, self._rounds = limits.backoff, 0
        self.under_way = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved = self._closed = self._next = self._next_token = clock()
        per_request, per_token = limits.requests_per_minute, limits.tokens_per_minute
        self._apart = 60 / per_request if per_request else 0.0
        self._token = 60 / per_token if per_token else 0.0

    async def enter(self, tokens: int) -> float:
        """Wait for a place and for the time; return when a request of so many tokens is sent."""
        while self.under_way >= self._room:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._wake()  # the place was given to one who no longer wants it
                raise
        self.under_way += 1
        try:
            await self._time(tokens)
        except asyncio.CancelledError:
            self.leave()
            raise
        return self._clock()

    @property
    def _room(self) -> int:
        return min(self.most, max(1, int(self.allowed)))

    def share(self, most: int) -> None:
        """Let so many requests be under way at once from now on."""
        before, self.most = self.most, most
        for _ in range(most - before):
            self._wake()

    async def _time(self, tokens: int) -> None:
        now = self._clock()
        start = max(now, self._next, self._next_token) if self._apart or self._token else now
        self._next, self._next_token = start + self._apart, start + self._token * tokens
        if start > now:
            await asyncio.sleep(start - now)
        while (until := self._closed) > self._clock():
            await asyncio.sleep(until - self._clock())
            if until == self._closed:  # nobody closed it for longer
                break

    def leave(self) -> None:
        """Give the place back."""
        self.under_way -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.under_way < self._room:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return

    def answered(self, tokens: int) -> None:
        """Allow a little more; `tokens`: how many fewer it took than was thought."""
        self._rounds = 0
        self.allowed = min(self._limit, self.allowed + 1 / self.allowed)
        self._next_token -= self._token * tokens
        self._wake()

    def throttled(self, sent: float, *, pause: bool = True) -> None:
        """Slow all requests down, if the request was sent after this was last done.

        `pause`: the endpoint does not say when it wants to be asked again.
        """
        if sent < self._halved:
            return
        self._halved = self._clock()
        self.allowed = max(1.0, min(self.allowed, self.most) / 2)
        self._rounds += 1
        if pause:  # half of what a throttled request waits at most: they do not come back at once
            self.close(longest_wait(self._backoff, self._rounds) / 2)

    def close(self, seconds: float) -> None:
        """Let nothing pass for so long."""
        self._closed = max(self._closed, self._clock() + seconds)


def longest_wait(backoff: float, attempt: int) -> float:
    """Return the most seconds to wait after a request's n-th failed attempt: twice the last."""
    return min(backoff * 2.0 ** min(max(attempt, 1) - 1, 30), LONGEST_WAIT)


def drawn_wait(name: str, backoff: float, attempt: int, *, throttled: bool) -> float:
    """Return the seconds to wait after a failed attempt, drawn by the request's name.

    After too many requests no less than half of the longest wait: the endpoint needs the rest.
    """
    most = longest_wait(backoff, attempt)
    return random.Random(f"{name}.{attempt}").uniform(most / 2 if throttled else 0, most)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds after which an endpoint wants to be asked again, if it says so."""
    exact = _number(headers.get("retry-after-ms"))
    told = headers.get("Retry-After")
    seconds = exact / 1000 if exact is not None else _number(told)
    if seconds is None and told:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    return None if seconds is None else max(0.0, seconds)


def exhausted(headers: Mapping[str, str]) -> float:
    """Return the seconds until an endpoint that has no requests or tokens left has some again."""
    if not any("limit-remaining" in name.lower() for name in headers):
        return 0.0
    waits = [until(headers.get(reset)) for left, reset in LEFT if _number(headers.get(left)) == 0]
    return max((wait for wait in waits if wait is not None), default=0.0)


def until(told: str | None) -> float | None:
    """Return the seconds of `12`, `1.5s`, `6m0s`, `20ms`, or until a Unix time in s or ms."""
    parts = _DURATION.findall(told or "")
    if parts and "".join(number + unit for number, unit in parts) == told:
        return sum(float(number) * UNITS[unit] for number, unit in parts)
    seconds = _number(told)
    if seconds is None or seconds < LONG_AGO:
        return seconds
    return max(0.0, (seconds / 1000 if seconds > 1000 * LONG_AGO else seconds) - time())


def _number(told: str | None) -> float | None:
    try:
        value = float(told) if told else None
    except ValueError:
        return None
    return None if value is None or isnan(value) else value
