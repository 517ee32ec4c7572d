"""Models behind an HTTP endpoint, and those that speak OpenAI's chat protocol."""

import asyncio
import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from judgescope.engines.openai import wire
from judgescope.engines.openai.connection import with_certificates
from judgescope.engines.openai.endpoint import Endpoint, TransientError
from judgescope.engines.openai.run import EndpointRun
from judgescope.engines.openai.session import session
from judgescope.engines.requests import Failure, Keep, Reply, Request, Work
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.cards.engines import Engine


class EndpointEngine(Endpoint):
    """Asks one endpoint, with as many requests under way as its card allows."""

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Keep
    ) -> list[Failure]:
        """Ask for every missing draw and hand on each reply as it comes (see
        `requests.Ask`).
        """
        with _rare_collection():
            return asyncio.run(EndpointRun(self, proven, keep).all(missing))

    def request(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies to one request, which are not kept, with the card's
        patience.

        Raises RefusedError, or UserError if the endpoint does not answer.
        """

        async def send() -> list[Reply]:
            run = EndpointRun(self, True, lambda _: None, probing=True)
            async with session(self.card) as run.session:
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


class OpenAIEngine(EndpointEngine):
    """Asks an endpoint that speaks OpenAI's chat protocol."""

    card: OpenAIModel

    def body(self, request: Request, draws: Sequence[int]) -> dict[str, Any]:
        """Return the body that asks for consecutive draws of a request."""
        return wire.body(self.card, request, draws)

    def read(self, text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies in an answer; NoReplyError if it has none."""
        logprobs = "logprobs" in request.asked
        return wire.read_replies(text, request.key, draws, logprobs=logprobs)

    def keys_to_check(self, reason: str) -> str:
        """Return the keys of the card that may be wrong if every request is refused."""
        names = wire.respelled(self.card, reason)
        line = ""
        if names is not None:
            line = f" (try {wire.field_line(names)})"
        return f"name, base_url, field_names{line} and extra_body"

    def respelled(self, reason: str) -> "OpenAIEngine | None":
        """Return an engine that sends fields as a refusal asks for (see
        `requests.Probed`).
        """
        names = wire.respelled(self.card, reason)
        if names is None:
            return None
        card = self.card.model_copy(update={"field_names": names})
        return OpenAIEngine(card, self.key, budget=self.budget)


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


build = OpenAIEngine
ENGINE = Engine(
    name="openai",
    card=OpenAIModel,
    build=build,
    located=with_certificates,
    executor="api",
    asked=True,
    reads_prompts=True,
    compares_forms=True,
)
