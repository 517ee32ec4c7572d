"""What several tests of engines openai share."""

from collections.abc import Iterator
from typing import Any

import pytest

from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Failure, Reply, Request, Work, request_of
from judgescope.schema.cards import Decoding, OpenAIModel
from scripted import Endpoint, Said, Script, reply, serve

FAST = {"backoff": 0.01, "attempts": 3, "concurrency": 2, "timeout": 10, "patience": 20}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


def card(endpoint: Endpoint, **keys: Any) -> OpenAIModel:
    fields = {
        "model": "it",
        "engine": "openai",
        "base_url": endpoint.url,
        "limits": FAST,
    }
    return OpenAIModel.model_validate(fields | keys)


def requests(model: OpenAIModel, *prompts: str, **decoding: Any) -> list[Request]:
    return [
        request_of(
            model,
            Decoding(**decoding),
            [{"role": "user", "content": prompt}],
            seed=7,
            about=prompt,
        )
        for prompt in prompts
    ]


def ask(
    model: OpenAIModel, *asked: Request, draws: int = 1, proven: bool = False
) -> tuple[dict[str, str], list[Failure]]:
    """Return prompt -> `status: text` of what came, and the failures."""
    came: list[Reply] = []
    prompts = {request.key: request.prompt for request in asked}
    missing = [Work(request, tuple(range(draws))) for request in asked]
    failures = OpenAIEngine(model)(missing, proven, came.append)
    return {
        prompts[reply.key]: f"{reply.status}: {reply.text}" for reply in came
    }, failures


def after(times: int, first: Said) -> Script:
    """Answer `first` so many times, then 4."""
    left = iter(range(times))
    return lambda _: first if next(left, None) is not None else reply("4")


ANY = Request({"messages": [{"role": "user", "content": "Rate it."}]})
