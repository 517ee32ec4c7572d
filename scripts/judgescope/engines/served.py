"""Engines that start a server on this machine, ask it over HTTP, and stop it with the
job.
"""

import json
import os
import subprocess
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from http.client import HTTPException
from typing import Any, Protocol

from judgescope.core.errors import UserError
from judgescope.core.finish import ending
from judgescope.core.secrets import is_secret, masked
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import (
    CONTINUATION,
    Budget,
    Failure,
    Keep,
    RefusedError,
    Reply,
    Request,
    Work,
)
from judgescope.schema.cards import LlamaModel, OpenAIModel, VllmModel

LOOPBACK = "127.0.0.1"


class LocalServer(ABC):
    """A server of the job at `url`, which answers only requests with its key.

    `provenance`: the engine, model and version that answer. `_child`: the server's
    process.
    """

    card: LlamaModel | VllmModel
    key: str
    url: str
    provenance: dict[str, str]
    _child: subprocess.Popen[bytes]

    @abstractmethod
    def ended(self) -> UserError:
        """Return the error for a server that has ended."""

    def check(self) -> None:
        """Raise UserError if the server has ended."""
        if self._child.poll() is not None:
            raise self.ended()

    def post(self, route: str, body: dict[str, Any]) -> Any:
        """Return the server's JSON answer; UserError if it gives none."""
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(
            f"{self.url}/{route}", json.dumps(body).encode(), headers
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        # Until a small question to the server itself fails.
        post_seconds = 60.0
        try:
            with direct.open(request, timeout=post_seconds) as answer:
                return json.load(answer)
        except (OSError, HTTPException, ValueError) as error:
            self.check()
            raise UserError(
                f"the server does not answer: {error}",
                where=f"models/{self.card.model}.yaml",
                got=f"POST /{route}",
                todo="received replies are stored: run again for the rest",
            ) from None

    def model(self) -> OpenAIModel:
        """Return the card of the server's endpoint."""
        return OpenAIModel(
            model=self.card.model,
            engine="openai",
            base_url=f"{self.url}/v1",
            name=self.card.served_name,
            probe=False,
            limits=self.card.limits,
        )


class TextScorer(Protocol):
    """How a kind of server is asked for the probabilities of a given text."""

    def prepared(self, request: Request) -> Request | Reply:
        """Return the request as it is sent, with the same key; a reply if nothing needs
        to be asked.
        """
        ...

    def scored(self, reply: Reply) -> Reply:
        """Return the reply to a prepared request with one entry a token of the text."""
        ...


class ServedEngine:
    """Starts its server with the first request and asks it through the HTTP engine."""

    def __init__(
        self,
        card: LlamaModel | VllmModel,
        start: Callable[[], LocalServer],
        budget: Budget | None = None,
        *,
        scorer: Callable[[LocalServer], TextScorer],
        endpoint: type[OpenAIEngine] = OpenAIEngine,
    ) -> None:
        """`endpoint`: the HTTP engine that sends what `scorer` prepares."""
        self.card = card
        self.budget = budget
        self._start = start
        self._new_scorer = scorer
        self._endpoint_type = endpoint

    @cached_property
    def server(self) -> LocalServer:
        """Return the server; start it if it does not run yet."""
        return self._start()

    @cached_property
    def _endpoint(self) -> OpenAIEngine:
        model = self.server.model()
        key = self.server.key
        return self._endpoint_type(model, key, budget=self.budget)

    @cached_property
    def _scorer(self) -> TextScorer:
        return self._new_scorer(self.server)

    def __call__(self, work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        """Ask for every missing draw; pass on each reply as it arrives (see
        `requests.Ask`).
        """
        provenance = self.server.provenance
        max_tokens: dict[str, int] = {}  # key -> max_tokens
        scored: set[str] = set()  # keys of requests that score a text

        def noted() -> Iterator[Work]:
            for piece in work:
                if CONTINUATION in piece.request.asked:
                    prepared = self._scorer.prepared(piece.request)
                    if isinstance(prepared, Reply):
                        keep(replace(prepared, provenance=provenance))
                        continue
                    scored.add(prepared.key)
                    piece = piece._replace(request=prepared)
                max_tokens[piece.request.key] = piece.request.asked["max_tokens"]
                yield piece

        def keep_as_ours(reply: Reply) -> None:
            if reply.status == "ok":
                reply = replace(reply, provenance=provenance)
                if (
                    reply.usage and reply.usage["prompt"]
                ):  # later draws of an answer have no count
                    reply = uncut(reply, max_tokens[reply.key], self.card)
                if reply.key in scored and reply.status == "ok":
                    reply = self._scorer.scored(reply)
            keep(reply)

        with self._alive():
            failures = self._endpoint(noted(), proven, keep_as_ours)
        if failures:
            self.server.check()
        return failures

    def request(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies to one request, without storing them (see
        `requests.Probed`).
        """
        with self._alive():
            return self._endpoint.request(request, draws)

    def respelled(self, reason: str) -> None:
        """Return None: a server that Judgescope starts accepts its fields as they are
        named.
        """

    def error(self, problem: str, todo: str) -> UserError:
        """Return the error that describes a server's problem."""
        where = f"models/{self.card.model}.yaml"
        return UserError(problem, where=where, got=self.card.served_name, todo=todo)

    def refusal(self, error: RefusedError) -> UserError:
        """Return the error for a server that refuses a plain request."""
        return self.error(
            f"the server refused a simple test request: {error}",
            "check `extra_body` in the card; no judgment was requested",
        )

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """If the server has ended, report that instead of an address that does not
        respond.
        """
        try:
            yield
        except UserError:
            self.server.check()
            raise


def uncut(reply: Reply, max_tokens: int, card: LlamaModel | VllmModel) -> Reply:
    """Return a reply; an error in its place if it ends before `max_tokens` as the
    context is full.

    The context is not in a request's key, so only an error can be requested again.
    """
    if (
        ending(reply.finish) != "cut"
        or not reply.usage
        or reply.usage["completion"] >= max_tokens
    ):
        return reply
    key = "max_model_len"
    if isinstance(card, LlamaModel):
        key = "context"
    text = f"the context is full: raise `{key}`"
    return replace(reply, text=text, finish="error", status="error", logprobs=None)


def inherited(needed: Collection[str] = ()) -> dict[str, str]:
    """Return the job's environment variables for a server, without those that look like
    secrets.

    `needed` names variables that the server gets even if they look like secrets.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name in needed
        or name.upper().endswith("_PROXY")
        or not (is_secret(name) or masked(value) != value)
    }
