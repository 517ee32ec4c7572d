"""Models behind an endpoint that speaks OpenAI's chat protocol, asked over HTTP.

A request is sent again while it fails for a passing reason. An endpoint's refusal of one request is
a reply of status `error`; a refusal of every request (a wrong key, no credit) ends the job.
"""

import asyncio
import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import NamedTuple

import aiohttp
import orjson
from yarl import URL

from judgescope.core.errors import CONTROL, UserError
from judgescope.core.redaction import Redactor, check_key
from judgescope.engines import EngineDeclaration
from judgescope.engines.openai import wire
from judgescope.engines.openai.probe import Findings, probe
from judgescope.engines.openai.rate import LONGEST_WAIT, Gate, asked_wait, drawn_wait, exhausted
from judgescope.engines.openai.slots import Places
from judgescope.engines.requests import (
    Budget,
    Failure,
    Hold,
    Keep,
    RefusedError,
    Reply,
    Request,
    Work,
)
from judgescope.engines.retry_log import Setbacks
from judgescope.engines.shutdown import Ending
from judgescope.schema.cards import Limits, OpenAIModel

PASSING = {408, 409, 425, 429}
"""Beside 5xx: asked again."""
THROTTLED = 429
REFUSED = {400, 404, 413, 422}
"""This request will never succeed."""
ABSENT = 404
"""Rather the model than the request: so many in a row are no replies, whatever came before."""
HOPELESS = 8
"""So many refusals before any reply: not the requests are wrong, the card is."""
CONNECT = 30.0
"""Seconds until an address counts as not answering."""
QUOTED = 80
BALANCED = 0.5
"""Seconds between two looks at how many places other jobs leave."""
ROOM_WAIT = 0.02
"""Seconds between two looks whether the budget has room again."""
SHOWN = 300
"""Characters of an endpoint's message that are kept."""
PER_TOKEN = 4
"""Characters of a prompt in a token, roughly: to stay under a limit until usage is known."""


class Passing(Exception):
    """It may succeed later; `wait` is what the endpoint asks for, in seconds.

    `kind` is by what failures are alike: status and error type, never a message, in which a number
    may count down.
    """

    def __init__(
        self, reason: str, kind: str, wait: float | None = None, *, throttled: bool = False
    ) -> None:
        super().__init__(reason)
        self.kind, self.wait, self.throttled = kind, wait, throttled

    def final(self, why: str) -> "Passing":
        """Return the same failure as the last of its request, and why it is the last."""
        return Passing(f"{self} ({why})", self.kind)


class Stopped(Exception):
    """The job ends: what waits is not sent any more."""


class Refusal(NamedTuple):
    """A refused request: what is kept of it, once a reply shows that requests can succeed."""

    status: int
    replies: list[Reply]


class OpenAIEngine:
    """Asks one endpoint, with as many requests under way as its card allows."""

    def __init__(
        self, card: OpenAIModel, key: str | None = None, *, budget: Budget | None = None
    ) -> None:
        """`key` is for those who know it; by default it is in the variable that the card names."""
        self.card, self.budget = card, budget
        self.url = URL(f"{card.base_url.rstrip('/')}/chat/completions").with_query(card.query)
        in_variable = os.environ.get(card.api_key_env, "") if card.api_key_env else ""
        self.key = (in_variable if key is None else key).strip()
        check_key(self.key, card.model, card.api_key_env)
        self.redactor = Redactor({"<key>": self.key})

    def __call__(self, missing: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        """Ask for every missing draw and hand on each reply as it comes (see `requests.Ask`)."""
        with _rare_collection():
            return asyncio.run(_Run(self, proven, keep).all(missing))

    def findings(self) -> Findings:
        """Return what the endpoint does with the fields that it is sent; a few small requests."""
        return probe(self.card, lambda request, draws: asyncio.run(self._once(request, draws)))

    async def _once(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Ask one thing, with the patience that the card allows."""
        try:
            async with self.session() as session:
                return await _Run(self, True, lambda _: None).within_budget(session, request, draws)
        except Passing as error:
            raise UserError(
                f"the endpoint does not answer: {error}",
                where=f"models/{self.card.model}.yaml",
                got=f"{self.card.served_name} at {self.card.base_url}",
                todo="nothing was asked yet; look whether the endpoint is up",
            ) from None

    def session(self) -> aiohttp.ClientSession:
        """Return a session with the key and as many connections as requests may be under way."""
        limits = self.card.limits
        return aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(
                total=limits.timeout, sock_connect=min(CONNECT, limits.timeout)
            ),
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # it would hold up all other answers, and know no end
            headers=self.headers(),
        )

    def headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        name = self.card.key_header
        value = f"Bearer {self.key}" if name.lower() == "authorization" else self.key
        key = {name: value} if self.key else {}
        own = {"Content-Type": "application/json", "Accept-Encoding": wire.ACCEPTED}
        return {**own, **self.card.headers, **key}

    async def ask(
        self, session: aiohttp.ClientSession, request: Request, draws: Sequence[int]
    ) -> tuple[list[Reply], float]:
        """Send one request for draws that follow each other.

        Return the replies, and the seconds for which the endpoint has nothing left. Raises Passing,
        RefusedError, or UserError where no request can succeed.
        """
        body = orjson.dumps(wire.body(self.card, request, draws))
        try:
            async with session.post(self.url, data=body, allow_redirects=False) as response:
                status, headers = response.status, response.headers
                parts = response.content.iter_chunked(1 << 16)
                text = await wire.text_of(parts, headers.get("Content-Encoding", ""))
        except wire.NoReplyError as error:
            raise Passing(str(error), str(error)) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            reason = self.safe(str(error)) or type(error).__name__
            raise Passing(f"no answer: {reason}", type(error).__name__) from None
        if status == 200:
            try:
                replies = wire.read_replies(text, request, draws)
            except wire.NoReplyError as error:
                told = f"{error}: {self.safe(text)[:QUOTED]!r}"
                raise Passing(told, str(error)) from None
            return [self.cleaned(reply) for reply in replies], exhausted(headers)
        told = f"HTTP {status}: {self.safe(wire.message_of(text))}"
        if status in REFUSED:
            raise RefusedError(status, told)
        if (status in PASSING or status >= 500) and "insufficient_quota" not in text:
            kind = f"HTTP {status} {wire.error_kind(text)}"
            raise Passing(told, kind, asked_wait(headers), throttled=status == THROTTLED)
        if 300 <= status < 400:
            told += f" (moved to {self.safe(headers.get('Location', 'nowhere'))})"
        raise UserError(
            f"the endpoint will not answer: {told}",
            where=f"models/{self.card.model}.yaml",
            got=self.card.base_url,
            todo=f"key variable: {self.card.api_key_env or 'none'}; replies so far are kept",
        )

    def clean(self, text: str) -> str:
        """Return what an endpoint said without the key: some say it back, even in a reply."""
        return wire.HALVES.sub("\ufffd", self.redactor.redact(text))

    def safe(self, text: str) -> str:
        """Return what an endpoint said, short, on one line, and without the key."""
        return " ".join(CONTROL.sub(" ", self.clean(text)).split())[:SHOWN]

    def cleaned(self, reply: Reply) -> Reply:
        """Return a reply without the key, if the endpoint said it back."""
        if not self.redactor and not wire.HALVES.search(reply.text):
            return reply
        told = {name: self.clean(value) for name, value in (reply.provenance or {}).items()}
        return replace(
            reply,
            text=self.clean(reply.text),
            finish=self.clean(reply.finish),
            provenance=told,
            logprobs=None if wire.spells(reply.logprobs, self.redactor) else reply.logprobs,
        )


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Look for cyclic garbage seldom, and among what is new: else that takes a seventh of all."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


class _Run:
    """One call of the engine: workers that share what is missing, and what they found."""

    def __init__(self, engine: OpenAIEngine, proven: bool, keep: Keep) -> None:
        self.engine, self.proven, self.keep = engine, proven, keep
        self.limits: Limits = engine.card.limits
        self.gate, self.ending = Gate(self.limits), Ending()
        self.failures: list[Failure] = []
        self.refusals: list[Refusal] = []
        self.most, self.setbacks = self.limits.draws_per_request, Setbacks()
        self.stop: Exception | None = None
        self._last_failure, self._alike = "", 0
        self.working = self.limits.concurrency
        """Workers that still have something to do."""

    async def all(self, missing: Iterable[Work]) -> list[Failure]:
        """Ask for everything; when the job must end, what is under way may still come."""
        work = iter(missing)
        with self.ending.heeded(self._end), self._sharing():
            async with self.engine.session() as session, asyncio.TaskGroup() as group:
                for _ in range(self.limits.concurrency):
                    group.create_task(self._work(session, work))
        if self.ending.asked_to:
            raise self.ending.error(f"models/{self.engine.card.model}.yaml")
        if self.stop is None and self.refusals and not self.proven and not self.failures:
            self.stop = self._hopeless()
        if self.stop is not None:
            raise self.stop from None
        if self.proven:
            self._keep_refusals()
        return self.failures

    def _end(self) -> None:
        self.stop = self.stop or Stopped()

    @contextmanager
    def _sharing(self) -> Iterator[None]:
        """Share the card's concurrency with the other jobs at the endpoint."""
        try:
            places = Places(self.engine.card.base_url, self.limits.concurrency)
        except OSError as error:
            print(f"concurrency is not shared with other jobs at this endpoint: {error}")
            yield
            return
        try:
            self._balance(places, asyncio.get_running_loop())
            if not self.gate.most:
                print("other jobs on this machine have all places at the endpoint", flush=True)
            yield
        finally:
            self._next_look.cancel()
            places.close()

    def _balance(self, places: Places, loop: asyncio.AbstractEventLoop) -> None:
        """Let as many requests be under way as other jobs leave; look again soon."""
        self.gate.share(places.balance(self.gate.under_way, self.working))
        self._next_look = loop.call_later(BALANCED, self._balance, places, loop)

    async def _work(self, session: aiohttp.ClientSession, work: Iterator[Work]) -> None:
        try:
            for one in work:
                for run in one.runs():
                    try:
                        await self._obtain(session, one.request, run)
                    except Passing as error:
                        self._fail(one.request, run, error)
                if self.stop is not None:
                    return
        except Stopped:
            return
        except (UserError, OSError) as error:
            self.stop = self.stop or error
        finally:
            self.working -= 1

    async def _obtain(
        self, session: aiohttp.ClientSession, request: Request, draws: list[int]
    ) -> None:
        """Ask until every draw has a reply: an endpoint may give fewer at once than it is asked.

        `draws` is emptied as they come: what is left when this raises was not answered.
        """
        alone = False
        while draws:
            asked = draws[: 1 if alone else self._together(request)]
            try:
                replies = await self.within_budget(session, request, asked)
            except RefusedError as error:
                if len(asked) == 1:
                    self._refuse(error, request, draws)
                    return
                alone = True  # too many at once, or a request that is refused anyhow?
                refused = len(asked)
                continue
            if alone:
                self.most = min(self.most or refused, max(1, refused // 2))
                alone = False
            elif len(replies) < len(asked) and len(replies) == 1:
                self.most = 1  # it knows no `n`
            del draws[: len(replies)]

    async def within_budget(
        self, session: aiohttp.ClientSession, request: Request, draws: Sequence[int]
    ) -> list[Reply]:
        """Ask for draws when the budget has room for them, and keep the replies."""
        hold, replies = await self._room(request, len(draws)), list[Reply]()
        try:
            replies += await self.patiently(session, request, draws)
            self._take_all(replies)
        except asyncio.CancelledError:  # it was sent, and may be billed: it stays set aside
            hold = None
            raise
        finally:
            if self.engine.budget and hold:
                self.engine.budget.settle(hold, replies)
        return replies

    async def _room(self, request: Request, draws: int) -> Hold | None:
        budget = self.engine.budget
        while budget and self.stop is None:
            if hold := budget.reserve(request, draws):
                return hold
            await asyncio.sleep(ROOM_WAIT)
        return None

    def _together(self, request: Request) -> int | None:
        """Return how many draws are asked for in one request; at temperature 0 they are all one."""
        return 1 if request.asked.get("temperature", 1) == 0 else self.most

    async def patiently(
        self, session: aiohttp.ClientSession, request: Request, draws: Sequence[int]
    ) -> list[Reply]:
        """Send a request until an answer comes; raise Passing when time or attempts are used up."""
        tokens = len(request.prompt) // PER_TOKEN
        tokens += int(request.asked.get("max_tokens", 0)) * len(draws)
        end, attempt, tries = 0.0, 0, 0
        failure: Passing | None = None
        while True:
            sent = await self._enter(tokens, failure, end)
            end = end or monotonic() + self.limits.patience
            try:
                if self.stop is not None:
                    raise Stopped
                with self.ending.sending():
                    answer = await self.engine.ask(session, request, draws)
                return self._answered(tokens, *answer)
            except Passing as error:
                failure = error
                self.setbacks.add(str(error))
            finally:
                self.gate.leave()
            tries += 1
            attempt += not failure.throttled
            if attempt >= self.limits.attempts:
                raise failure.final(f"{attempt} attempts")
            if failure.throttled:
                self.gate.throttled(sent, pause=not failure.wait)
            await self._wait(failure, end, f"{request.key}{draws[0]}", tries)

    async def _enter(self, tokens: int, failure: Passing | None, end: float) -> float:
        """Wait at the gate; after a failure no longer than until the request's patience ends."""
        if failure is None:
            return await self.gate.enter(tokens)
        try:
            async with asyncio.timeout(end - monotonic()):
                return await self.gate.enter(tokens)
        except TimeoutError:
            raise failure.final("patience is used up") from None

    def _answered(self, tokens: int, replies: list[Reply], nothing_left: float) -> list[Reply]:
        """Let the gate know what came."""
        used = sum((replies[0].usage or {}).get(name, 0) for name in ("prompt", "completion"))
        self.gate.answered(tokens - used if used else 0)
        if nothing_left:
            self.gate.close(min(nothing_left, LONGEST_WAIT))
        return replies

    async def _wait(self, failure: Passing, end: float, name: str, attempt: int) -> None:
        """Wait before the next attempt; where the endpoint says how long, nobody else passes."""
        drawn = drawn_wait(name, self.limits.backoff, attempt, throttled=failure.throttled)
        wait = drawn if failure.wait is None else failure.wait
        if monotonic() + wait > end:
            asked = f"it asks to wait {wait:g} s" if failure.wait else "patience is used up"
            raise failure.final(asked)
        if failure.wait is None:
            await asyncio.sleep(wait)
        else:
            self.gate.close(wait)

    def _take_all(self, replies: Sequence[Reply]) -> None:
        """Keep each reply, whatever becomes of the others; the job ends where one cannot be."""
        for reply in replies:
            try:
                self._take(reply)
            except (UserError, OSError) as error:
                self.stop = self.stop or error

    def _take(self, reply: Reply) -> None:
        """Keep a reply, and with it the refusals before it: they were the requests' own."""
        self.proven = True
        self._alike = 0
        self._keep_refusals()
        self.keep(reply)

    def _keep_refusals(self) -> None:
        held, self.refusals = self.refusals, []
        for refusal in held:
            for reply in refusal.replies:
                self.keep(reply)

    def _refuse(self, error: RefusedError, request: Request, draws: Sequence[int]) -> None:
        """Keep a refusal for all draws of a request; hold it back while the card may be wrong."""
        replies = [
            Reply(request.key, draw, str(error), finish="error", status="error") for draw in draws
        ]
        self.refusals.append(Refusal(error.status, replies))
        if self.proven and error.status != ABSENT:
            self._keep_refusals()
        elif len(self.refusals) >= HOPELESS:
            raise self._hopeless()

    def _fail(self, request: Request, draws: Sequence[int], error: Passing) -> None:
        """Note that draws have no reply; end the job where requests in a row fail alike."""
        self.failures += [Failure(request.about, str(error))] * len(draws)
        self._alike = self._alike + 1 if error.kind == self._last_failure else 1
        self._last_failure = error.kind
        most = self.limits.breaker if self.proven else min(HOPELESS, self.limits.breaker)
        if self._alike >= most:
            self.stop = UserError(
                f"{self._alike} requests in a row failed: {error}",
                where=f"models/{self.engine.card.model}.yaml",
                got=f"{self.engine.card.served_name} at {self.engine.card.base_url}",
                todo="replies so far are kept; when the endpoint is well again, the same command "
                "asks for the rest",
            )

    def _hopeless(self) -> UserError:
        return UserError(
            f"the endpoint refuses every request: {self.refusals[0].replies[0].text}",
            where=f"models/{self.engine.card.model}.yaml",
            got=f"{self.engine.card.served_name} at {self.engine.card.base_url}",
            todo="look at name, base_url, spelling and extra_body of the card; none of these "
            "refusals was recorded",
        )


def build(card: OpenAIModel, budget: Budget | None = None) -> OpenAIEngine:
    """Return the engine of a model card."""
    return OpenAIEngine(card, budget=budget)


ENGINE = EngineDeclaration(name="openai", asked=True, reads_prompts=True, packages=("jinja2",))
