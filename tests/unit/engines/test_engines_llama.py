"""The HTTP engine, the store and the parser on a real server whose model speaks noise."""

from pathlib import Path

import pytest

import llama
from engines_llama_setup import CONTEXT, PROMPTS, ask, asked, card, url, verdict
from judgescope.core.errors import UserError

__all__ = ["url"]

llama.require()


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
