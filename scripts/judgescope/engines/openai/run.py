"""One run of requests to an endpoint: workers that share work, limits and failures.

A request is sent again after a transient failure, until its patience or its attempts
are used up.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING

from judgescope.core.errors import CONTROL, UserError
from judgescope.engines.openai import connection, rate
from judgescope.engines.openai.endpoint import ABSENT, Endpoint, TransientError
from judgescope.engines.openai.session import session
from judgescope.engines.requests import (
    HOPELESS,
    Failure,
    Hold,
    Keep,
    RefusedError,
    Reply,
    Request,
    Work,
)
from judgescope.schema.cards import Limits

if TYPE_CHECKING:
    import aiohttp

GONE = 3
"""So many refusals 404 in a row, after a reply, mean that the model is gone."""
BALANCE_SECONDS = 0.5
"""The time between checks of the connections that other jobs leave."""


class StoppedError(Exception):
    """The job ends: waiting requests are not sent any more."""


class RetryLog:
    """Prints a line at the first failed attempt, and now and then at a later one."""

    def __init__(self) -> None:
        self.count = 0
        self._began = self._next = 0.0

    def add(self, reason: str) -> None:
        """Count a failed attempt, and print a line if it is time: at first every 5
        seconds, later after 2 % of the elapsed time.
        """
        now = monotonic()
        if not self.count:
            self._began = self._next = now
        self.count += 1
        # The beginning of a line about failed attempts; the logger reads it.
        failed_note = "attempts failed: "
        if now >= self._next:
            self._next = now + max(5.0, 0.02 * (now - self._began))
            print(
                f"{failed_note}{self.count}, the last with: {CONTROL.sub(' ', reason)}",
                flush=True,
            )


class _Shutdown:
    """Ends the job on signals; counts the requests under way, and those that were cut
    off.

    After the first signal no request is sent, and those under way may come for
    STOP_SECONDS; a second one ends the job at once.
    """

    def __init__(self) -> None:
        self.under_way = self.cut = 0
        self.requested = False

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Count a request as under way, and as cut if it is cancelled."""
        self.under_way += 1
        try:
            yield
        except asyncio.CancelledError:
            self.cut += 1
            raise
        finally:
            self.under_way -= 1

    @contextmanager
    def on_signal(self, run: "EndpointRun") -> Iterator[None]:
        """While the current task runs, let a signal stop a run, then cancel the
        task.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None
        first = loop.time()
        draining: list[asyncio.Task[None]] = []
        signals = (signal.SIGINT, signal.SIGTERM)
        # One wish to stop can come as both signals.
        repeated_seconds = 1.0

        def handle() -> None:
            nonlocal first
            if self.requested:
                if loop.time() > first + repeated_seconds:
                    task.cancel()
                return
            self.requested = True
            first = loop.time()
            run.stop = run.stop or StoppedError()
            draining.append(loop.create_task(self._drain(task)))

        for number in signals:
            loop.add_signal_handler(number, handle)
        try:
            yield
        except asyncio.CancelledError:
            if not self.requested:
                raise
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
            for waiting in draining:
                waiting.cancel()

    async def _drain(self, task: asyncio.Task[object]) -> None:
        # After a first signal, requests under way may still come for so long.
        stop_seconds = 5.0
        until = asyncio.get_running_loop().time() + stop_seconds
        while self.under_way and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0)  # the last reply is kept
        task.cancel()


class EndpointRun:
    """One call of the engine: workers that share the work and what they learn."""

    session: "aiohttp.ClientSession"

    def __init__(
        self,
        endpoint: Endpoint,
        proven: bool,
        keep: Keep,
        *,
        probing: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.proven = proven
        self.keep = keep
        self.probing = probing
        self.limits: Limits = endpoint.card.limits
        self.gate = rate.Gate(self.limits)
        self.shutdown = _Shutdown()
        self.retries = RetryLog()
        self.failures: list[Failure] = []
        self.refusals: list[list[Reply]] = []
        """Of each refused request, kept once any reply shows that requests can
        succeed."""
        self.max_draws = self.limits.draws_per_request
        self.stop: Exception | None = None
        self.working = self.limits.concurrency
        """Workers that still have something to do."""
        self._last_kind = ""
        self._alike = 0
        """The kind of the last failure, and how many of it came in a row."""
        self._replies = 0
        self._absent = 0
        """The replies of this run, and the refusals 404 since the last answer."""

    async def all(self, missing: Iterable[Work]) -> list[Failure]:
        """Ask for everything; when the job must end, requests under way may still
        come.
        """
        work = iter(missing)
        card = self.endpoint.card
        with self.shutdown.on_signal(self), self._sharing():
            async with (
                session(card) as self.session,
                asyncio.TaskGroup() as group,
            ):
                for _ in range(self.limits.concurrency):
                    group.create_task(self._work(work))
        # The beginning of the line that says how a stopped job ended; the logger reads
        # it.
        stopped_note = "stopped"
        if self.shutdown.requested:
            cut = self.shutdown.cut
            raise UserError(
                f"{stopped_note}: {cut} requests were in flight and may be billed"
                if cut
                else f"{stopped_note}: no request was in flight",
                where=f"models/{card.model}.yaml",
                todo="run the same command to request the rest; every received reply "
                "is stored",
            )
        if (
            self.stop is None
            and self.refusals
            and not self.proven
            and not self.failures
        ):
            self.stop = self._hopeless()
        if self.stop is not None:
            raise self.stop from None
        if self.proven:
            self._keep_refusals()
        return self.failures

    @contextmanager
    def _sharing(self) -> Iterator[None]:
        """Share the card's concurrency with the other jobs at the endpoint."""
        try:
            places = rate.Places(self.endpoint.card.base_url, self.limits.concurrency)
        except OSError as error:
            print(
                f"concurrency is not shared with other jobs at this endpoint: {error}"
            )
            yield
            return
        loop = asyncio.get_running_loop()

        def balance() -> None:
            self.gate.share(places.balance(self.gate.under_way, self.working))
            self._next_balance = loop.call_later(BALANCE_SECONDS, balance)

        try:
            balance()
            if not self.gate.places:
                print(
                    "other jobs on this machine use all connections to the endpoint",
                    flush=True,
                )
            yield
        finally:
            self._next_balance.cancel()
            places.close()

    async def _work(self, work: Iterator[Work]) -> None:
        try:
            for piece in work:
                for run in piece.runs():
                    try:
                        await self._obtain(piece.request, run)
                    except TransientError as error:
                        self._fail(piece.request, run, error)
                if self.stop is not None:
                    return
        except StoppedError:
            return
        except (UserError, OSError) as error:
            self.stop = self.stop or error
        finally:
            self.working -= 1

    async def _obtain(self, request: Request, draws: list[int]) -> None:
        """Ask until every draw has a reply: an endpoint may give fewer than it is asked
        for.

        It removes draws from the list as they come: what is left when it raises has no
        reply.
        """
        alone = False
        while draws:
            # at temperature 0 all draws are equal
            is_random = request.asked.get("temperature", 1) != 0
            together = self.max_draws if is_random else 1
            asked = draws[: 1 if alone else together]
            try:
                replies = await self.patiently(request, asked)
            except RefusedError as error:
                if len(asked) == 1:
                    self._refuse(error, request, draws)
                    return
                alone = True  # too many at once, or a request that is refused anyhow?
                refused = len(asked)
                continue
            if alone:
                self.max_draws = min(self.max_draws or refused, max(1, refused // 2))
                alone = False
            elif len(replies) < len(asked) and len(replies) == 1:
                self.max_draws = 1  # the endpoint ignores `n`
            del draws[: len(replies)]

    @asynccontextmanager
    async def _within_budget(
        self, request: Request, draws: Sequence[int]
    ) -> AsyncIterator[list[Reply]]:
        """Wait until the budget has room for an attempt; then book what is added to the
        list.
        """
        budget = self.endpoint.budget
        answered = list[Reply]()
        hold: Hold | None = None
        while budget and self.stop is None and hold is None:
            hold = budget.reserve(request, len(draws))
            if hold is None:
                await asyncio.sleep(0.02)
        try:
            yield answered
        except asyncio.CancelledError:  # sent, and may be billed: it stays reserved
            hold = None
            raise
        finally:
            if budget and hold:
                budget.settle(hold, answered)

    async def patiently(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Send a request until an answer comes, and keep its replies.

        Raises TransientError when patience is used up.
        """
        # About 4 characters a token, to stay under a limit until the usage is known.
        tokens = len(request.prompt) // 4
        tokens += int(request.asked.get("max_tokens", 0)) * len(draws)
        end = 0.0
        attempt = 0
        tries = 0
        failure: TransientError | None = None
        connection.OPENS_ANOTHER.set(False)
        while True:
            async with self._within_budget(request, draws) as answered:
                sent = await self._enter(tokens, failure, end)
                end = end or monotonic() + self.limits.patience
                try:
                    if self.stop is not None:
                        raise StoppedError
                    with self.shutdown.sending():
                        replies, nothing_left = await self.endpoint.ask(
                            self.session, request, draws, probing=self.probing
                        )
                    answered += replies
                    usage = replies[0].usage or {}
                    used = usage.get("prompt", 0) + usage.get("completion", 0)
                    self.gate.answered(tokens - used if used else 0)
                    if nothing_left:
                        self.gate.close(min(nothing_left, rate.LONGEST_WAIT))
                    self._take(replies)
                    return replies
                except RefusedError as error:
                    answered += _refusals(error, request, draws)
                    raise
                except TransientError as error:
                    failure = error
                    if error.unanswered:
                        connection.OPENS_ANOTHER.set(True)
                    answered += error.billed
                    self.retries.add(str(error))
                finally:
                    self.gate.leave()
            tries += 1
            attempt += not failure.throttled
            if failure.attempts is not None and attempt >= failure.attempts:
                raise self.endpoint.error(
                    f"{failure} ({attempt} attempts)", failure.advice
                )
            if attempt >= self.limits.attempts:
                raise failure.final(f"{attempt} attempts")
            if failure.throttled:
                self.gate.throttled(sent, pause=not failure.wait)
            await self._wait(failure, end, f"{request.key}{draws[0]}", tries)

    async def _enter(
        self, tokens: int, failure: TransientError | None, end: float
    ) -> float:
        """Wait at the gate; after a failure no longer than until the request's patience
        ends.
        """
        if failure is None:
            return await self.gate.enter(tokens)
        try:
            async with asyncio.timeout(end - monotonic()):
                return await self.gate.enter(tokens)
        except TimeoutError:
            raise failure.final("`patience` is used up") from None

    async def _wait(
        self, failure: TransientError, end: float, name: str, attempt: int
    ) -> None:
        """Wait before the next attempt; if the endpoint says how long, close the gate
        instead.
        """
        drawn = rate.drawn_wait(
            name, self.limits.backoff, attempt, throttled=failure.throttled
        )
        wait = drawn if failure.wait is None else failure.wait
        if monotonic() + wait > end:
            asked = "`patience` is used up"
            if failure.wait:
                asked = f"the endpoint asks to wait {wait:g} s"
            raise failure.final(asked)
        if failure.wait is None:
            await asyncio.sleep(wait)
        else:
            self.gate.close(wait)

    def _take(self, replies: Sequence[Reply]) -> None:
        """Keep replies, and with them the refusals before: those requests were at
        fault.
        """
        self.proven = True
        self._alike = self._absent = 0
        self._replies += len(replies)
        for reply in replies:  # store each reply, even if storing another one failed
            try:
                self._keep_refusals()
                self.keep(reply)
            except (UserError, OSError) as error:
                self.stop = self.stop or error

    def _keep_refusals(self) -> None:
        held = self.refusals
        self.refusals = []
        for reply in chain(*held):
            self.keep(reply)

    def _refuse(
        self, error: RefusedError, request: Request, draws: Sequence[int]
    ) -> None:
        """Keep a refusal for all draws of a request; hold it back while the card may be
        wrong.

        The card is not to blame if the endpoint's error names the text, or if another
        request was answered; the latter does not excuse 404.
        """
        replies = _refusals(error, request, draws)
        self._absent = self._absent + 1 if error.status == ABSENT else 0
        about_text = error.rule is not None
        answered = self.proven or self.endpoint.answered
        if about_text or (answered and error.status != ABSENT):
            for reply in replies:
                self.keep(reply)
            return
        self.refusals.append(replies)
        if self._replies and self._absent >= GONE:
            raise self._gone()
        if len(self.refusals) >= HOPELESS:
            raise self._hopeless()

    def _gone(self) -> UserError:
        return self.endpoint.error(
            "the endpoint no longer knows the model; it refuses every request: "
            f"{self.refusals[-1][0].text}; {self._replies} replies are stored",
            "was the model retired or renamed? Ask its provider, and if it has another "
            "name now, write it into `name` of the card; these refusals are not stored",
        )

    def _fail(
        self, request: Request, draws: Sequence[int], error: TransientError
    ) -> None:
        """Note that draws have no reply; end the job if requests in a row fail
        alike.
        """
        self.failures += [
            Failure(request.about, str(error), error.advice, request.key, draw)
            for draw in draws
        ]
        self._alike = self._alike + 1 if error.kind == self._last_kind else 1
        self._last_kind = error.kind
        allowed = self.limits.max_consecutive_failures
        if not self.proven:
            allowed = min(HOPELESS, allowed)
        if self._alike >= allowed:
            later = (
                "received replies are stored; run the same command once the endpoint "
                "works again"
            )
            self.stop = self.endpoint.error(
                f"{self._alike} consecutive requests failed: {error}",
                f"{error.advice}; {later}" if error.advice else later,
            )

    def _hopeless(self) -> UserError:
        reason = self.refusals[0][0].text
        return self.endpoint.error(
            f"the endpoint refuses every request: {reason}",
            f"check {self.endpoint.keys_to_check(reason)} of the card; these refusals "
            "are not stored",
        )


def _refusals(
    error: RefusedError, request: Request, draws: Sequence[int]
) -> list[Reply]:
    return [
        Reply(
            request.key,
            draw,
            str(error),
            finish=error.rule or "error",
            status="error",
        )
        for draw in draws
    ]
