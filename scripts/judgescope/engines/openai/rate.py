"""How fast an endpoint is asked: the card's limits, lowered by 429s, shared by a
machine's jobs.
"""

import asyncio
import fcntl
import hashlib
import math
import os
import random
import re
from collections import deque
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from math import isnan
from time import monotonic, time

from judgescope.core.files import lock_folder
from judgescope.schema.cards import Limits

LONGEST_WAIT = 60.0  # seconds before another attempt, unless the endpoint asks for more


class Gate:
    """Limits requests under way, requests per minute and tokens per minute.

    A 429 halves the requests that may be under way, and closes the gate for a pause
    that doubles until an answer comes; both happen once for all requests sent before.
    Every answer raises the number by one over itself: by one each round, up to the
    card's. `most`: the places that other jobs at the endpoint leave.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = monotonic) -> None:
        self.places = self._limit = limits.concurrency
        self.allowed = float(limits.concurrency)
        self._backoff = limits.backoff
        self._rounds = 0
        self.under_way = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved = self._closed = self._next = self._next_token = clock()
        per_request = limits.requests_per_minute
        per_token = limits.tokens_per_minute
        self._request_seconds = 60 / per_request if per_request else 0.0
        self._token_seconds = 60 / per_token if per_token else 0.0

    async def enter(self, tokens: int) -> float:
        """Wait for a place and for the time; return when a request of so many tokens is
        sent.
        """
        while self.under_way >= self._room:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()  # another job may have taken the place
                raise
        self.under_way += 1
        try:
            await self._wait_for_time(tokens)
        except asyncio.CancelledError:
            self.leave()
            raise
        return self._clock()

    @property
    def _room(self) -> int:
        return min(self.places, max(1, int(self.allowed)))

    def share(self, places: int) -> None:
        """Let so many requests be under way at once from now on."""
        before = self.places
        self.places = places
        for _ in range(places - before):
            self._wake()

    async def _wait_for_time(self, tokens: int) -> None:
        now = self._clock()
        limited = self._request_seconds or self._token_seconds
        start = now
        if limited:
            start = max(now, self._next, self._next_token)
        self._next = start + self._request_seconds
        self._next_token = start + self._token_seconds * tokens
        if start > now:
            await asyncio.sleep(start - now)
        while (until := self._closed) > self._clock():
            await asyncio.sleep(until - self._clock())
            if until == self._closed:  # not closed for longer meanwhile
                break

    def leave(self) -> None:
        """Give the place back."""
        self.under_way -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.under_way < self._room:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def answered(self, tokens: int) -> None:
        """Raise the concurrency; `tokens`: by how many the estimate was too high."""
        self._rounds = 0
        self.allowed = min(self._limit, self.allowed + 1 / self.allowed)
        self._next_token -= self._token_seconds * tokens
        self._wake()

    def throttled(self, sent: float, *, pause: bool = True) -> None:
        """Slow all requests down, if the request was sent after this was last done.

        `pause`: the endpoint does not say how long to wait.
        """
        if sent < self._halved:
            return
        self._halved = self._clock()
        self.allowed = max(1.0, min(self.allowed, self.places) / 2)
        self._rounds += 1
        if (
            pause
        ):  # half a throttled request's longest wait, so that not all come back at once
            self.close(longest_wait(self._backoff, self._rounds) / 2)

    def close(self, seconds: float) -> None:
        """Block all requests for so many seconds."""
        self._closed = max(self._closed, self._clock() + seconds)


class Places:
    """The places of one job at one endpoint, shared by the jobs of a user on one
    machine.

    Every job holds an equal share of `limit` places, rounded up. A job that holds more
    gives places back as its requests end, so no more than `limit` requests are ever
    under way together. `close` gives back all. A place is a lock on one byte of a file
    in the machine's temporary folder: the kernel frees the locks of a dead job, and no
    network file system is needed.
    """

    def __init__(self, address: str, limit: int) -> None:
        """Raises OSError if files cannot be locked."""
        # Bytes of the file of places for one endpoint: half for places, half for jobs.
        span = 1 << 20
        self.limit = min(limit, span // 2)
        digest = hashlib.sha256(address.rstrip("/").lower().encode()).digest()
        self._first = int.from_bytes(digest[:5], "big") * span
        # Jobs at one endpoint that are counted; further ones take what these leave.
        most_jobs = 64
        self._jobs = range(self._first + span // 2, self._first + span // 2 + most_jobs)
        self._held: list[int] = []
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(lock_folder() / "places", flags, 0o600)
        self._job = next(filter(self._lock, self._jobs), None)

    def balance(self, under_way: int, demand: int) -> int:
        """Return how many requests may be under way now, at most `demand`; look again
        soon.

        Places beyond the job's share are given back once no request uses them.
        """
        share = min(math.ceil(self.limit / self._count()), demand)
        while len(self._held) > max(share, under_way):
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._held.pop())
        # from the top: a job whose card allows fewer looks for places at the bottom
        # only
        for byte in reversed(range(self._first, self._first + self.limit)):
            if len(self._held) >= share:
                break
            if byte not in self._held and self._lock(byte):
                self._held.append(byte)
        self._held.sort(reverse=True)
        return min(len(self._held), share)

    def _count(self) -> int:
        """Return how many jobs are at the endpoint, this one included."""
        count = 1
        for job in self._jobs:
            if (
                job == self._job
            ):  # locking it again would succeed, and unlocking would free it
                continue
            if self._lock(job):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, job)
            else:
                count += 1
        return count

    def _lock(self, byte: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (
            BlockingIOError,
            PermissionError,
        ):  # POSIX: EACCES or EAGAIN if it is locked
            return False
        return True

    def close(self) -> None:
        """Give back all places."""
        os.close(self._file)


def longest_wait(backoff: float, attempt: int) -> float:
    """Return the most seconds to wait after a request's n-th failed attempt: twice the
    last.
    """
    return min(backoff * 2.0 ** min(max(attempt, 1) - 1, 30), LONGEST_WAIT)


def drawn_wait(name: str, backoff: float, attempt: int, *, throttled: bool) -> float:
    """Return the seconds to wait after a failed attempt, drawn by the request's name.

    After a 429 at least half of the longest wait: the endpoint needs the rest.
    """
    longest = longest_wait(backoff, attempt)
    return random.Random(f"{name}.{attempt}").uniform(
        longest / 2 if throttled else 0, longest
    )


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait, if it does."""
    milliseconds = _number(headers.get("retry-after-ms"))
    value = headers.get("Retry-After")
    seconds = milliseconds / 1000 if milliseconds is not None else _number(value)
    if seconds is None and value:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time()
        except (ValueError, OverflowError):
            return None
    if seconds is None:
        return None
    return max(0.0, seconds)


def exhausted(headers: Mapping[str, str]) -> float:
    """Return the seconds until an endpoint that has no requests or tokens left has some
    again.
    """
    if not any("limit-remaining" in name.lower() for name in headers):
        return 0.0
    # Header that says how much is left, header that says when there is more.
    left_headers = [
        (f"{family}ratelimit-remaining{kind}", f"{family}ratelimit-reset{kind}")
        for family in ("x-", "")
        for kind in ("", "-requests", "-tokens")
    ]
    waits = []
    for left, reset in left_headers:
        if _number(headers.get(left)) == 0:
            waits.append(until(headers.get(reset)))
    return max((wait for wait in waits if wait is not None), default=0.0)


def until(value: str | None) -> float | None:
    """Return the seconds of `12`, `1.5s`, `6m0s`, `20ms`, or until a Unix time in s or
    ms.
    """
    duration = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
    parts = duration.findall(value or "")
    seconds_of_unit = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    if parts and "".join(number + unit for number, unit in parts) == value:
        return sum(float(number) * seconds_of_unit[unit] for number, unit in parts)
    seconds = _number(value)
    # So many seconds or more are a point in time, not a wait.
    first_timestamp = 1e9
    if seconds is None or seconds < first_timestamp:
        return seconds
    return max(
        0.0, (seconds / 1000 if seconds > 1000 * first_timestamp else seconds) - time()
    )


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value else None
    except ValueError:
        return None
    if number is None or isnan(number):
        return None
    return number
