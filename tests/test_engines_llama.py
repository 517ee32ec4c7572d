"""The HTTP engine, the store and the parser on a real server whose model speaks noise."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import llama
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.parsers import parse
from judgescope.replies.asking import obtain
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, OpenAIModel

llama.require()

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


def test_draws_differ_and_come_again_in_any_order(url: str, tmp_path: Path) -> None:
    """A draw's seed is its request's own: neither order nor company changes its reply."""
    one, many = card(url, concurrency=1), card(url)
    first = ask(many, asked(many, *PROMPTS, draws=4), tmp_path / "a")
    again = ask(one, asked(one, *PROMPTS[::-1], draws=4), tmp_path / "b")[::-1]
    texts = [[reply.text for reply in draws] for draws in first]
    assert texts == [[reply.text for reply in draws] for draws in again]
    assert sum(len(set(draws)) > 1 for draws in texts) >= 6
    assert {verdict(reply).status for draws in first for reply in draws} == {"ok"}
    values = {verdict(reply).value for draws in first for reply in draws}
    assert values <= {1, 2, 3, 4, 5} and len(values) >= 3
    alone = ask(many, asked(many, PROMPTS[3], draws=2), tmp_path / "c")
    assert [reply.text for reply in alone[0]] == texts[3][:2]


def test_gibberish_is_kept_as_it_is_and_never_becomes_a_number(url: str, tmp_path: Path) -> None:
    model = card(url, {})
    found = ask(model, asked(model, *PROMPTS, max_tokens=60), tmp_path)
    judged = [(reply, verdict(reply)) for [reply] in found]
    assert any("\ufffd" in reply.text for reply, _ in judged)
    for reply, judgment in judged:
        cut = reply.finish == "length"
        assert judgment.status == "truncated" if cut else judgment.status in {"unparsed", "empty"}
        assert judgment.value is None
    endless = card(url, llama.GIBBERISH)
    [[reply]] = ask(endless, asked(endless, "Rate it.", max_tokens=30), tmp_path)
    assert reply.finish == "length" and verdict(reply).status == "truncated"


def test_what_overflows_the_context_is_an_error_beside_replies(url: str, tmp_path: Path) -> None:
    model = card(url)
    found = ask(model, asked(model, "short", "long " * CONTEXT, "brief"), tmp_path)
    assert [verdict(reply).status for [reply] in found] == ["ok", "error", "ok"]
    told = found[1][0].text
    assert told.startswith("HTTP 400") and "context" in told


def test_the_score_is_after_the_reasoning_and_not_in_it(url: str, tmp_path: Path) -> None:
    model = card(url, llama.THOUGHT)
    [[reply]] = ask(model, asked(model, "Think.", max_tokens=80), tmp_path)
    assert reply.text.startswith("<think>") and "</think>" in reply.text
    assert verdict(reply).value == float(reply.text[-1])
    [[cut]] = ask(model, asked(model, "Think.", max_tokens=20), tmp_path)
    assert cut.finish == "length" and verdict(cut).status == "truncated"


@pytest.mark.parametrize(
    "text", ["né\u0301e ß", "\U0001f600\u200d\U0001f525", "שלום مرحبا", "a\0b\x1b\u2028c", "“½”"]
)
def test_a_prompt_of_any_characters_is_sent_whole(url: str, tmp_path: Path, text: str) -> None:
    """The model's tokens are bytes: the server counts what reached it."""
    model = card(url)
    [[reply]] = ask(model, asked(model, text), tmp_path)
    assert reply.usage is not None
    assert reply.usage["prompt"] == len(text.encode()) + llama.AROUND
    assert verdict(reply).status == "ok"


def test_a_reply_of_other_scripts_comes_back_whole(url: str, tmp_path: Path) -> None:
    said = "\U0001f600 5 \u05e9 é"
    model = card(url, {"grammar": f'root ::= "{said}"'})
    [[reply]] = ask(model, asked(model, "Say it."), tmp_path)
    assert reply.text == said


def test_one_endless_failure_loses_nothing_else(url: str, tmp_path: Path) -> None:
    model = card(url, llama.FAILURE)
    with pytest.raises(UserError, match="1 of 1 requests failed: HTTP 500"):
        ask(model, asked(model, "Rate it."), tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_served_model_and_tokens_are_recorded(url: str, tmp_path: Path) -> None:
    model = card(url)
    [[reply]] = ask(model, asked(model, "Rate it."), tmp_path)
    assert reply.provenance is not None and reply.provenance["model"] == llama.MODEL
    assert reply.usage is not None and reply.usage["completion"] >= 1
