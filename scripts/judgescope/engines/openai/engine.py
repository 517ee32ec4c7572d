"""Models behind an endpoint that speaks OpenAI's chat protocol, asked over HTTP.

A request is sent again after a transient failure. An endpoint's refusal of one request
is a reply of status `error`; a refusal of every request (a wrong key, no credit) ends
the job.
"""

import asyncio
import gc
import signal
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from itertools import chain
from time import monotonic
from typing import Any

import aiohttp
import orjson
from yarl import URL

from judgescope.core.errors import CONTROL, UserError
from judgescope.core.secrets import Redactor
from judgescope.engines.openai import connection, rate, refusals, wire
from judgescope.engines.requests import (
    HOPELESS,
    Budget,
    Failure,
    Hold,
    Keep,
    RefusedError,
    Reply,
    Request,
    Work,
)
from judgescope.schema.cards import Limits, OpenAIModel
from judgescope.schema.cards.engines import Engine

THROTTLED = 429
REFUSED = {400, 404, 413, 422}  # this request will never succeed
# rather the model than the request: after HOPELESS of them in a row the job ends
ABSENT = 404
GONE = 3
"""So many refusals 404 in a row, after a reply, mean that the model is gone."""
UNAUTHORISED = 401
PROXY_UNAUTHORISED = 407
QUOTED = 80  # characters of an unusable answer that a message quotes
BALANCE_SECONDS = 0.5  # between checks of the connections that other jobs leave
SHOWN = 300  # characters of an endpoint's message that are kept
STOP_SECONDS = 5.0
"""After a first signal, requests under way may still come for so long."""
STOPPED = "stopped"
"""The beginning of the line that says how a stopped job ended; the logger reads it."""
# the beginning of a line about failed attempts; the logger reads it
FAILED = "attempts failed: "


class TransientError(Exception):
    """A failed attempt that may succeed later; `wait`: the seconds that the endpoint
    asks for.

    `kind`: failures are alike by status and error type, never by message: it may count
    down. `billed`: what is paid for nevertheless. `advice`: what to do if it does not
    pass. `attempts`: after so many the job ends; None: the request fails after the
    card's attempts. `unanswered`: the connection ended before an answer came.
    """

    def __init__(
        self,
        reason: str,
        kind: str,
        wait: float | None = None,
        *,
        throttled: bool = False,
        unanswered: bool = False,
        billed: Sequence[Reply] = (),
        advice: str = "",
        attempts: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.wait = wait
        self.throttled = throttled
        self.billed = billed
        self.advice = advice
        self.attempts = attempts
        self.unanswered = unanswered

    def final(self, reason: str) -> "TransientError":
        """Return the same failure as the last of its request, and why it is the
        last.
        """
        return TransientError(f"{self} ({reason})", self.kind, advice=self.advice)


class StoppedError(Exception):
    """The job ends: waiting requests are not sent any more."""


class OpenAIEngine:
    """Asks one endpoint, with as many requests under way as its card allows."""

    def __init__(
        self, card: OpenAIModel, key: str | None = None, *, budget: Budget | None = None
    ) -> None:
        """`key`: by default what the variable or the file holds that the card names."""
        self.card = card
        self.budget = budget
        self.answered = False
        """Whether a request of `request` was answered: not every one is refused."""
        self.url = URL(f"{card.base_url.rstrip('/')}/chat/completions").with_query(
            card.query
        )
        self.key = card.key_source.read() if key is None else key
        login = connection.proxy_login(card)
        self._secrets = {"<proxy password>": login[1]} if login else {}
        self.redactor = Redactor({"<key>": self.key, **self._secrets})

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Keep
    ) -> list[Failure]:
        """Ask for every missing draw and hand on each reply as it comes (see
        `requests.Ask`).
        """
        with _rare_collection():
            return asyncio.run(_Run(self, proven, keep).all(missing))

    def request(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies to one request, which are not kept, with the card's
        patience.

        Raises RefusedError, or UserError if the endpoint does not answer.
        """

        async def send() -> list[Reply]:
            run = _Run(self, True, lambda _: None, probing=True)
            async with connection.session(self.card) as run.session:
                return await run.patiently(request, draws)

        try:
            replies = asyncio.run(send())
            self.answered = True
            return replies
        except TransientError as error:
            running = "check that the endpoint is running, or run again later"
            todo = error.advice or running
            raise self.error(
                f"a test request failed: {error}",
                f"{todo}; no judgment was requested",
            ) from None

    def respelled(self, reason: str) -> "OpenAIEngine | None":
        """Return an engine that sends fields as a refusal asks for (see
        `requests.Probed`).
        """
        names = wire.respelled(self.card, reason)
        if names is None:
            return None
        card = self.card.model_copy(update={"field_names": names})
        return OpenAIEngine(card, self.key, budget=self.budget)

    def refusal(self, error: RefusedError) -> UserError:
        """Return the error for an endpoint that refuses a plain request."""
        if error.status not in REFUSED:
            return self._rejected(error.status, str(error), error.advice)
        return self.error(
            f"the endpoint refused a simple test request: {error}",
            "check name, base_url, field_names and extra_body in the card",
        )

    def error(self, problem: str, todo: str) -> UserError:
        """Return the error of an endpoint's problem."""
        return UserError(
            problem,
            where=f"models/{self.card.model}.yaml",
            got=f"{self.card.served_name} at {self.card.base_url}",
            todo=todo,
        )

    async def ask(
        self,
        session: aiohttp.ClientSession,
        request: Request,
        draws: Sequence[int],
        *,
        renew: bool = True,
        probing: bool = False,
    ) -> tuple[list[Reply], float]:
        """Send one request for consecutive draws, once more with a new key if the old
        one expired.

        Return the replies, and the seconds for which the endpoint has nothing left.
        Raises TransientError, RefusedError, or UserError if no request can succeed.
        `probing`: the caller compares this request with an answered one, so any refusal
        is about this request.
        """
        body = orjson.dumps(self.body(request, draws))
        key = self.key
        text: str | None = None
        try:
            async with session.post(
                self.address(request),
                data=body,
                headers=connection.key_header(self.card, key),
                allow_redirects=False,
            ) as response:
                status = response.status
                headers = response.headers
                parts = response.content.iter_chunked(1 << 16)
                text = await wire.text_of(parts, headers.get("Content-Encoding", ""))
            if status == 200:
                replies = self.read(text, request, draws)
                seconds = rate.exhausted(headers)
                return [self.cleaned(reply) for reply in replies], seconds
        except wire.NoReplyError as error:
            kind = self.safe(str(error))
            reason = kind if text is None else f"{kind}: {self.safe(text)[:QUOTED]!r}"
            usages = error.billed if status == 200 else ()
            billed = [Reply(request.key, draws[0], "", usage=usage) for usage in usages]
            raise TransientError(
                reason, kind, billed=billed, advice=refusals.HALF
            ) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._unconnected(error) from None
        if status == UNAUTHORISED and renew and self._renewed(key):
            return await self.ask(session, request, draws, renew=False, probing=probing)
        raise self._not_replied(status, text, headers, probing=probing)

    def _unconnected(self, error: Exception) -> Exception:
        """Return the error for a request without an answer: transient, or one that ends
        the job.
        """
        if getattr(error, "status", None) == PROXY_UNAUTHORISED:  # no tunnel to https
            reason = f"HTTP {PROXY_UNAUTHORISED} from the proxy"
            return self._rejected(
                PROXY_UNAUTHORISED, reason, self._advice(PROXY_UNAUTHORISED, "", {})
            )
        reason = self.safe(str(error)) or type(error).__name__
        host = getattr(error, "host", None)
        proxied = self.card.proxy is not None and URL(self.card.proxy).host == host
        advice = refusals.connection_advice(error, self.url.scheme, proxied=proxied)
        if advice is not None:
            return self.error(f"no connection to the endpoint: {reason}", advice)
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            key = "proxy" if proxied else "base_url"
            return TransientError(
                f"no response: {reason}",
                type(error).__name__,
                advice=f"host not found: check `{key}` of the card, and this machine's "
                "network",
                attempts=refusals.HOST_ATTEMPTS,
            )
        return TransientError(
            f"no response: {reason}",
            type(error).__name__,
            unanswered=True,
            advice=refusals.broken_advice(error, self.url.scheme),
        )

    def _not_replied(
        self, status: int, text: str, headers: Mapping[str, str], *, probing: bool
    ) -> Exception:
        """Return the error for an answer without a reply (see `ANSWER_RULES`)."""
        message = self.safe(wire.message_of(text))
        reason = f"HTTP {status}: {message}" if message else f"HTTP {status}"
        outcome = refusals.answer_rule(status, text).outcome
        advice = self._advice(status, text, headers)
        if refusals.PLAIN_TO_TLS.search(text) and self.url.scheme == "http":
            advice = "this port speaks TLS: write https:// in `base_url` of the card"
            return self._rejected(status, reason, advice)
        # 4xx that are never about a single field: key, account, proxy, load
        job_wide = {401, 402, 407, 408, 409, 425, 429}
        about_request = status in REFUSED or (
            400 <= status < 500
            and status not in job_wide
            and refusals.QUOTA not in text.lower()
        )
        rule = refusals.refusal_rule(status, text) if about_request else None
        if outcome == "refuse" or rule or (probing and about_request):
            return RefusedError(status, reason, rule, advice)
        if outcome == "retry":
            return TransientError(
                reason,
                f"HTTP {status} {wire.error_kind(text)}",
                rate.asked_wait(headers),
                throttled=status == THROTTLED,
                advice=advice,
            )
        if 300 <= status < 400:
            reason += f" (moved to {self.safe(headers.get('Location', 'nowhere'))})"
        return self._rejected(status, reason, advice)

    def _advice(self, status: int, text: str, headers: Mapping[str, str]) -> str:
        """Return what to do about an answer, with what the table leaves open."""
        rule = refusals.answer_rule(status, text)
        moved = refusals.moved_to(self.url, self.safe(headers.get("Location", "")))
        if rule.advice == refusals.MOVED and moved is None:
            return refusals.MOVED_NOWHERE
        key = str(self.card.key_source) if self.card.key_source else refusals.NO_KEY
        return rule.advice.format(key=key, proxy=self.card.proxy_auth, moved=moved)

    def _rejected(self, status: int, reason: str, advice: str) -> UserError:
        """Return the error of a request that cannot succeed."""
        by_proxy = status == PROXY_UNAUTHORISED
        return UserError(
            f"the {'proxy' if by_proxy else 'endpoint'} rejected a request: {reason}",
            where=f"models/{self.card.model}.yaml",
            got=self.card.proxy if by_proxy else self.card.base_url,
            todo=f"{advice}; received replies are stored",
        )

    def _renewed(self, expired: str) -> bool:
        """Let the card's program print a new key, unless another request did; return
        whether so.

        All requests wait for it: none would be answered.
        """
        if self.key == expired and self.card.token_command:
            self.key = self.card.key_source.read()
            self.redactor = Redactor(
                {"<key>": self.key, "<old key>": expired, **self._secrets}
            )
        return self.key != expired

    def address(self, request: Request) -> URL:
        """Return the address to which a request is sent; here all go to one."""
        return self.url

    def body(self, request: Request, draws: Sequence[int]) -> dict[str, Any]:
        """Return the body that asks for consecutive draws of a request."""
        return wire.body(self.card, request, draws)

    def read(self, text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies in an answer; NoReplyError if it has none."""
        logprobs = "logprobs" in request.asked
        return wire.read_replies(text, request.key, draws, logprobs=logprobs)

    def clean(self, text: str) -> str:
        """Return an endpoint's text without the key: some send it back, even in a
        reply.
        """
        return wire.HALVES.sub("\ufffd", self.redactor.redact(text))

    def safe(self, text: str) -> str:
        """Return an endpoint's text without the key, short and on one line."""
        return " ".join(CONTROL.sub(" ", self.clean(text)).split())[:SHOWN]

    def cleaned(self, reply: Reply) -> Reply:
        """Return a reply without the key."""
        if not self.redactor and not wire.HALVES.search(reply.text):
            return reply
        provenance = {
            name: self.clean(value) for name, value in (reply.provenance or {}).items()
        }
        return replace(
            reply,
            text=self.clean(reply.text),
            finish=self.clean(reply.finish),
            provenance=provenance,
            logprobs=None
            if wire.spells(reply.logprobs, self.redactor)
            else reply.logprobs,
        )


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Collect cyclic garbage rarely, and among new objects: it takes a seventh of the
    time.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


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
        if now >= self._next:
            self._next = now + max(5.0, 0.02 * (now - self._began))
            print(
                f"{FAILED}{self.count}, the last with: {CONTROL.sub(' ', reason)}",
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
        self.under_way += 1
        try:
            yield
        except asyncio.CancelledError:
            self.cut += 1
            raise
        finally:
            self.under_way -= 1

    @contextmanager
    def on_signal(self, run: "_Run") -> Iterator[None]:
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
        until = asyncio.get_running_loop().time() + STOP_SECONDS
        while self.under_way and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0)  # the last reply is kept
        task.cancel()


class _Run:
    """One call of the engine: workers that share the work and what they learn."""

    session: aiohttp.ClientSession

    def __init__(
        self,
        engine: OpenAIEngine,
        proven: bool,
        keep: Keep,
        *,
        probing: bool = False,
    ) -> None:
        self.engine = engine
        self.proven = proven
        self.keep = keep
        self.probing = probing
        self.limits: Limits = engine.card.limits
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
        card = self.engine.card
        with self.shutdown.on_signal(self), self._sharing():
            async with (
                connection.session(card) as self.session,
                asyncio.TaskGroup() as group,
            ):
                for _ in range(self.limits.concurrency):
                    group.create_task(self._work(work))
        if self.shutdown.requested:
            cut = self.shutdown.cut
            raise UserError(
                f"{STOPPED}: {cut} requests were in flight and may be billed"
                if cut
                else f"{STOPPED}: no request was in flight",
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
            places = rate.Places(self.engine.card.base_url, self.limits.concurrency)
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
            together = 1 if request.asked.get("temperature", 1) == 0 else self.max_draws
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
        budget = self.engine.budget
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
                        replies, nothing_left = await self.engine.ask(
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
                raise self.engine.error(
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
            asked = (
                f"the endpoint asks to wait {wait:g} s"
                if failure.wait
                else "`patience` is used up"
            )
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
        answered = self.proven or self.engine.answered
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
        return self.engine.error(
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
            self.stop = self.engine.error(
                f"{self._alike} consecutive requests failed: {error}",
                f"{error.advice}; {later}" if error.advice else later,
            )

    def _hopeless(self) -> UserError:
        reason = self.refusals[0][0].text
        names = wire.respelled(self.engine.card, reason)
        line = (
            "field_names"
            if names is None
            else f"field_names (try {wire.field_line(names)})"
        )
        return self.engine.error(
            f"the endpoint refuses every request: {reason}",
            f"check name, base_url, {line} and extra_body of the card; these refusals "
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


build = OpenAIEngine
ENGINE = Engine(
    name="openai", card=OpenAIModel, build=build, asked=True, reads_prompts=True
)
