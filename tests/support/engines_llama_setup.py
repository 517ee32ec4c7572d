"""What several tests of engines llama share."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import llama
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.parsers import parse
from judgescope.replies.asking import obtain
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, OpenAIModel

CONTEXT = 512
FIVE = Scale(1, 5, 1)
PROMPTS = [f"Rate text {number} from 1 to 5." for number in range(12)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("llama") / "random.gguf"
    llama.write_random_gguf(path)
    with llama.serve(path, context=CONTEXT) as url:
        yield url


def card(url: str, extra: Mapping[str, Any] = llama.SCORE, concurrency: int = 4) -> OpenAIModel:
    limits = {"concurrency": concurrency, "attempts": 2, "backoff": 0.01, "timeout": 60}
    return OpenAIModel.model_validate(
        {
            **{"model": "random", "name": llama.MODEL, "engine": "openai", "base_url": url},
            **{"extra_body": dict(extra), "limits": limits},
        }
    )


def asked(model: OpenAIModel, *prompts: str, draws: int = 1, **decoding: Any) -> list[Request]:
    choice = Decoding.model_validate({"temperature": 1, "max_tokens": 40} | decoding)
    return [
        request_of(model, choice, [{"role": "user", "content": prompt}], seed=0, draws=draws)
        for prompt in prompts
    ]


def ask(model: OpenAIModel, requests: list[Request], folder: Path) -> list[list[Reply]]:
    """Return the draws of each request, as the store hands them on to a later reader."""
    with Store(folder, "random") as store:
        obtain(requests, store, OpenAIEngine(model))
    found = Store(folder, "random").read({one.key: one.draws for one in requests})
    return [[found[one.key, draw] for draw in range(one.draws)] for one in requests]


def verdict(reply: Reply) -> Judgment:
    return parse(reply.text, scale=FIVE, finish=reply.finish, reply_status=reply.status)
