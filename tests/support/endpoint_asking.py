"""Requests to an endpoint of a test, and what came of them."""

from pathlib import Path
from typing import Any

from engines_openai_setup import FAST, card, requests
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Request
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.store import Store
from scripted import Endpoint

MANY = [f"{number:02}" for number in range(60)]


def draws(model: Any, count: int, *prompts: str) -> list[Request]:
    return [
        Request(request.asked, count, request.about)
        for request in requests(model, *prompts, temperature=1)
    ]


def ask(
    endpoint: Endpoint, folder: Path, asked: list[Request], **limits: Any
) -> list[Reply]:
    """Return every draw's reply, after each was written to the store once."""
    model = card(endpoint, limits={**FAST, **limits})
    with Store(folder, "it") as store:
        replies = obtain(asked, AskingJob(store, OpenAIEngine(model)))
    return [replies[reply.key, draw] for reply in asked for draw in range(reply.draws)]
