"""Models behind an endpoint that speaks OpenAI's chat protocol, asked over HTTP.

A request is sent again while it fails for a passing reason. An endpoint's refusal of one request is
a reply of status `error`; a refusal of every request (a wrong key, no credit) ends the job.
"""

import asyncio
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import aiohttp
import orjson

from metajudge.engines.asked import Failure, Missing, Reply, Request
from metajudge.schema.cards import Limits, OpenAIModel
from metajudge.schema.errors import UserError

PASSING = {408, 409, 425, 429}
"""Beside 5xx: asked again."""
REFUSED = {400, 404, 413, 422}
"""This request will never succeed."""
LONGEST_WAIT = 60.0
HOPELESS = 8
"""So many refusals before any reply: not the requests are wrong, the card is."""
HALVES = re.compile("[\ud800-\udfff]")
SHORTEST_SECRET = 8
"""A shorter key is a placeholder such as `test`, which any reply may hold."""
QUOTED = 80
SHOWN = 300
"""Characters of an endpoint's message that are kept."""

Keep = Callable[[Reply], None]


class Passing(Exception):
    """It may succeed later; `wait` is what the endpoint asks for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class NoReplyError(Exception):
    """An answer with status 200 in which there is no reply, and why."""


class OpenAIEngine:
    """Asks one endpoint, with as many requests under way as its card allows."""

    def __init__(self, card: OpenAIModel) -> None:
        self.card = card
        self.url = f"{card.base_url.rstrip('/')}/chat/completions"
        self.key = os.environ.get(card.api_key_env, "").strip() if card.api_key_env else ""
        told = {
            self.key,
            json.dumps(self.key)[1:-1],
            json.dumps(self.key, ensure_ascii=False)[1:-1],
        }
        told |= {one.replace("/", "\\/") for one in told}
        secret = len(self.key) >= SHORTEST_SECRET
        self._secrets = sorted(told, key=len, reverse=True) if secret else []

    def __call__(self, missing: Missing, proven: bool, keep: Keep) -> list[Failure]:
        """Ask for every missing draw and hand on each reply as it comes (see `replies.Ask`)."""
        return asyncio.run(_Run(self, proven, keep).all(iter(missing)))

    def body(self, request: Request, draw: int) -> dict[str, Any]:
        """Return the body of the HTTP request for one draw."""
        asked = request.asked
        return {
            **asked["extra_body"],
            "model": asked["model"],
            "messages": asked["messages"],
            "temperature": asked["temperature"],
            "top_p": asked["top_p"],
            "max_tokens": asked["max_tokens"],
            "seed": request.seed(draw),
        }

    def headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        bearer = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return {"Content-Type": "application/json", **bearer}

    def clean(self, text: str) -> str:
        """Return what an endpoint said without the key: some say it back, even in a reply."""
        for secret in self._secrets:
            text = text.replace(secret, "<key>")
        return HALVES.sub("\ufffd", text)

    def safe(self, text: str) -> str:
        """Return what an endpoint said, short, on one line, and without the key."""
        return self.clean(" ".join(text.split()))[:SHOWN]


class _Run:
    """One call of the engine: workers that share an iterator, and what they found."""

    def __init__(self, engine: OpenAIEngine, proven: bool, keep: Keep) -> None:
        self.engine, self.proven, self.keep = engine, proven, keep
        self.limits: Limits = engine.card.limits
        self.failures: list[Failure] = []
        self.refusals: list[Reply] = []

    async def all(self, missing: Iterator[tuple[Request, int]]) -> list[Failure]:
        timeout = aiohttp.ClientTimeout(total=self.limits.timeout)
        connector = aiohttp.TCPConnector(limit=self.limits.concurrency)
        async with aiohttp.ClientSession(
            timeout=timeout, connector=connector, headers=self.engine.headers()
        ) as session:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.limits.concurrency):
                        group.create_task(self._work(session, missing))
            except* UserError as errors:
                raise errors.exceptions[0] from None
        if self.refusals and not self.failures:
            raise self._hopeless()
        return self.failures

    async def _work(
        self, session: aiohttp.ClientSession, missing: Iterator[tuple[Request, int]]
    ) -> None:
        for request, draw in missing:
            try:
                self._take(await self._reply(session, request, draw))
            except Passing as error:
                self.failures.append(Failure(request.about, str(error)))

    def _take(self, reply: Reply) -> None:
        """Keep a reply; hold refusals back until a reply shows that requests can succeed."""
        if reply.status == "ok" and not self.proven:
            self.proven = True
            for held in self.refusals:
                self.keep(held)
            self.refusals.clear()
        if self.proven:
            self.keep(reply)
            return
        self.refusals.append(reply)
        if len(self.refusals) >= HOPELESS:
            raise self._hopeless()

    def _hopeless(self) -> UserError:
        return UserError(
            f"the endpoint refuses every request: {self.refusals[0].text}",
            where=f"models/{self.engine.card.model}.yaml",
            got=f"{self.engine.card.served_name} at {self.engine.card.base_url}",
            todo="look at name, base_url and extra_body of the card; nothing was recorded",
        )

    async def _reply(self, session: aiohttp.ClientSession, request: Request, draw: int) -> Reply:
        """Send a request until an answer comes; raise Passing when its attempts are used up."""
        jitter = random.Random(f"{request.key}{draw}")
        for attempt in range(1, self.limits.attempts + 1):
            try:
                return await self._once(session, request, draw)
            except Passing as error:
                if attempt == self.limits.attempts:
                    raise Passing(f"{error} ({attempt} attempts)") from None
                wait = error.wait
                if wait is None:
                    wait = jitter.uniform(0.5, 1) * self.limits.backoff * 2 ** (attempt - 1)
                await asyncio.sleep(min(wait, LONGEST_WAIT))
        raise AssertionError("attempts are at least one")

    async def _once(self, session: aiohttp.ClientSession, request: Request, draw: int) -> Reply:
        body = orjson.dumps(self.engine.body(request, draw))
        try:
            async with session.post(self.engine.url, data=body) as response:
                text = (await response.read()).decode("utf-8", "replace")
                status, headers = response.status, response.headers
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            reason = self.engine.safe(str(error)) or type(error).__name__
            raise Passing(f"no answer: {reason}") from None
        if status == 200:
            try:
                return self._cleaned(read_reply(text, request.key, draw))
            except NoReplyError as error:
                raise Passing(f"{error}: {self.engine.safe(text)[:QUOTED]!r}") from None
        told = f"HTTP {status}: {self.engine.safe(_message(text))}"
        if status in REFUSED:
            return Reply(request.key, draw, told, finish="error", status="error")
        if (status in PASSING or status >= 500) and "insufficient_quota" not in text:
            raise Passing(told, _seconds(headers.get("Retry-After")))
        raise UserError(
            f"the endpoint will not answer: {told}",
            where=f"models/{self.engine.card.model}.yaml",
            got=self.engine.card.base_url,
            todo=f"key variable: {self.engine.card.api_key_env or 'none'}; replies so far are kept",
        )

    def _cleaned(self, reply: Reply) -> Reply:
        clean = self.engine.clean
        told = {name: clean(value) for name, value in (reply.provenance or {}).items()}
        return replace(reply, text=clean(reply.text), finish=clean(reply.finish), provenance=told)


def read_reply(text: str, key: str, draw: int) -> Reply:
    """Return the reply in the body of an answer; NoReplyError if it has none.

    Reasoning that came apart is put before the text as a `<think>` block: nothing paid for is lost.
    """
    answer = _loads(text)
    try:
        choice = answer["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        said = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        refusal = message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise NoReplyError("an answer without a reply") from None
    if isinstance(said, list):  # content in parts
        said = "".join(str(part.get("text") or "") for part in said if isinstance(part, dict))
    if refusal and not said:
        said, finish = refusal, "content_filter"
    if reasoning:
        said = f"<think>{reasoning}</think>\n{said or ''}"
    return Reply(
        key,
        draw,
        str(said or ""),
        finish=str(finish or "stop"),
        usage=_usage(answer.get("usage")),
        provenance=_provenance(answer),
    )


def _usage(told: Any) -> dict[str, int] | None:
    if not isinstance(told, dict):
        return None
    found = {
        "prompt": told.get("prompt_tokens"),
        "completion": told.get("completion_tokens"),
        "reasoning": _within(told, "completion_tokens_details", "reasoning_tokens"),
        "cached": _within(told, "prompt_tokens_details", "cached_tokens"),
    }
    return {name: count for name, count in found.items() if isinstance(count, int)}


def _within(told: dict[str, Any], outer: str, inner: str) -> Any:
    details = told.get(outer)
    return details.get(inner) if isinstance(details, dict) else None


def _provenance(answer: dict[str, Any]) -> dict[str, str]:
    told = {"model": answer.get("model"), "fingerprint": answer.get("system_fingerprint")}
    return {"engine": "openai", **{name: str(value) for name, value in told.items() if value}}


def _loads(text: str) -> Any:
    """Return JSON; halves of surrogate pairs, which no file can hold, become U+FFFD."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        loaded = json.loads(text.lstrip("\ufeff"), parse_constant=lambda _: None)
        whole = json.dumps(loaded, ensure_ascii=False)
        return orjson.loads(HALVES.sub("\ufffd", whole))
    except (ValueError, RecursionError):
        raise NoReplyError("an answer that is not JSON") from None


def _message(text: str) -> str:
    """Return the message inside an endpoint's error, in whatever shape it came."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(told, dict) and told.get(name):
            told = told[name]
    return told if isinstance(told, str) else json.dumps(told)


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None  # a date: the backoff serves as well


def build(card: OpenAIModel) -> OpenAIEngine:
    """Return the engine of a model card."""
    return OpenAIEngine(card)
