"""The shipped cards of providers: each is read as it is and asks a double of its
endpoint.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from engines_openai_setup import FAST, ask, requests
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.loading import read_card
from running import HOME
from scripted import Body, Said, refusal, replies, reply, serve

KEY = "key-of-the-double"
REASONING = {"max_tokens", "temperature", "top_p", "logprobs"}
CARDS: Mapping[str, tuple[str, str, set[str]]] = {
    "openai": ("/v1", "Bearer", set()),
    "openai-reasoning": ("/v1", "Bearer", REASONING),
    "azure": ("/openai/v1", "", set()),
    "azure-token": ("/openai/v1", "Bearer", set()),
    "anthropic": ("/v1", "Bearer", {"temperature", "top_p", "n", "seed"}),
    "gemini": ("/v1beta/openai", "Bearer", set()),
    "openrouter": ("/api/v1", "Bearer", {"n"}),
    "ollama": ("/v1", "none", {"n"}),
    "vllm": ("/v1", "none", set()),
    "llama-cpp": ("/v1", "none", set()),
}
"""Card -> the path of its address, how it is authorised, the fields that its endpoint
refuses."""


def shipped(name: str) -> OpenAIModel:
    card = read_card("model", HOME / "config" / "models" / f"{name}.yaml")
    assert isinstance(card, OpenAIModel)
    return card


@pytest.mark.parametrize("name", CARDS)
def test_a_shipped_card_asks_a_double_of_its_endpoint(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, authorised, refused = CARDS[name]
    card = shipped(name)
    assert urlsplit(card.base_url).path == path
    if card.token_command:
        program = tmp_path / card.token_command[0]
        program.write_text(f"#!/bin/sh\necho '{KEY}'\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    elif card.api_key_env:
        monkeypatch.setenv(card.api_key_env, KEY)

    def script(body: Body) -> Said:
        if unknown := refused & body.keys():
            return refusal(400, f"Unsupported parameter: {sorted(unknown)}")
        return replies("4", "5") if body.get("n") == 2 else reply("4")

    with serve(script) as endpoint:
        loopback = endpoint.url.removesuffix("/v1") + path
        limits = card.limits.model_copy(update=FAST | {"draws_per_request": None})
        if card.limits.draws_per_request:
            limits = limits.model_copy(update={"draws_per_request": 1})
        card = card.model_copy(update={"base_url": loopback, "limits": limits})
        came, failures = ask(card, *requests(card, "Rate it.", temperature=1), draws=2)
    assert failures == [] and came["Rate it."] in {"ok: 4", "ok: 5"}
    assert set(endpoint.paths) == {f"{path}/chat/completions"}
    assert all(body["model"] == card.served_name for body in endpoint.asked)
    assert all(body.items() >= card.extra_body.items() for body in endpoint.asked)
    [sent] = {headers.get(card.key_header) for headers in endpoint.headers}
    assert sent == {"Bearer": f"Bearer {KEY}", "": KEY, "none": None}[authorised]


@pytest.mark.parametrize("name", CARDS)
def test_a_shipped_card_dates_its_facts_and_says_what_it_needs(name: str) -> None:
    text = (HOME / "config" / "models" / f"{name}.yaml").read_text(encoding="utf-8")
    assert (
        re.search(r"^# Facts of \d{4}-\d\d-\d\d", text, re.MULTILINE)
        and "Needs: " in text
    )
