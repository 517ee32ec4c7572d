"""The HTTP engine, the store and the parser on a real server whose model speaks
noise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import llama
from judgescope.core.errors import UserError
from judgescope.engines.factory import asking
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Request, Work, request_of
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, OpenAIModel, SystemOneModel
from parsed import parse

llama.require()

CONTEXT = 512
FIVE = Scale(1, 5, 1)
PROMPTS = [f"Rate text {number} from 1 to 5." for number in range(12)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("llama") / "random.gguf"
    llama.write_random_gguf(path)
    return path


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    with llama.serve(model, context=CONTEXT) as url:
        yield url


def card(
    url: str, extra: Mapping[str, Any] = llama.SCORE, concurrency: int = 4
) -> OpenAIModel:
    limits = {"concurrency": concurrency, "attempts": 2, "backoff": 0.01, "timeout": 60}
    return OpenAIModel.model_validate(
        {
            **{
                "model": "random",
                "name": llama.MODEL,
                "engine": "openai",
                "base_url": url,
            },
            **{"extra_body": dict(extra), "limits": limits},
        }
    )


def asked(
    model: OpenAIModel, *prompts: str, draws: int = 1, **decoding: Any
) -> list[Request]:
    choice = Decoding.model_validate({"temperature": 1, "max_tokens": 40} | decoding)
    messages = [[{"role": "user", "content": prompt}] for prompt in prompts]
    return [
        replace(request_of(model, choice, each, seed=0), draws=draws)
        for each in messages
    ]


def ask(model: OpenAIModel, requests: list[Request], folder: Path) -> list[list[Reply]]:
    """Return the draws of each request, as the store hands them on to a later
    reader.
    """
    with Store(folder, "random") as store:
        obtain(requests, AskingJob(store, OpenAIEngine(model)))
    result = Store(folder, "random").read(
        {request.key: request.draws for request in requests}
    )
    return [
        [result[request.key, draw] for draw in range(request.draws)]
        for request in requests
    ]


def verdict(reply: Reply) -> Judgment:
    return parse(reply.text, scale=FIVE, finish=reply.finish, reply_status=reply.status)


def test_draws_differ_and_come_again_in_any_order(url: str, tmp_path: Path) -> None:
    """A draw's seed is its request's own: neither order nor company changes its
    reply.
    """
    fields, many = card(url, concurrency=1), card(url)
    first = ask(many, asked(many, *PROMPTS, draws=4), tmp_path / "a")
    again = ask(fields, asked(fields, *PROMPTS[::-1], draws=4), tmp_path / "b")[::-1]
    texts = [[reply.text for reply in draws] for draws in first]
    assert texts == [[reply.text for reply in draws] for draws in again]
    assert sum(len(set(draws)) > 1 for draws in texts) >= 6
    assert {verdict(reply).status for draws in first for reply in draws} == {"ok"}
    values = {verdict(reply).value for draws in first for reply in draws}
    assert values <= {1, 2, 3, 4, 5} and len(values) >= 3
    alone = ask(many, asked(many, PROMPTS[3], draws=2), tmp_path / "c")
    assert [reply.text for reply in alone[0]] == texts[3][:2]


def test_gibberish_is_kept_as_it_is_and_never_becomes_a_number(
    url: str, tmp_path: Path
) -> None:
    model = card(url, {})
    replies = ask(model, asked(model, *PROMPTS, max_tokens=60), tmp_path)
    judged = [(reply, verdict(reply)) for [reply] in replies]
    assert any("\ufffd" in reply.text for reply, _ in judged)
    for reply, judgment in judged:
        cut = reply.finish == "length"
        assert (
            judgment.status == "truncated"
            if cut
            else judgment.status in {"unparsed", "empty"}
        )
        assert judgment.value is None
    endless = card(url, llama.GIBBERISH)
    [[reply]] = ask(endless, asked(endless, "Rate it.", max_tokens=30), tmp_path)
    assert reply.finish == "length" and verdict(reply).status == "truncated"


def test_what_overflows_the_context_is_an_error_beside_replies(
    url: str, tmp_path: Path
) -> None:
    model = card(url)
    replies = ask(model, asked(model, "short", "long " * CONTEXT, "brief"), tmp_path)
    assert [verdict(reply).status for [reply] in replies] == ["ok", "error", "ok"]
    text = replies[1][0].text
    assert text.startswith("HTTP 400") and "context" in text


def test_the_score_is_after_the_reasoning_and_not_in_it(
    url: str, tmp_path: Path
) -> None:
    model = card(url, llama.THOUGHT)
    [[reply]] = ask(model, asked(model, "Think.", max_tokens=80), tmp_path)
    assert reply.text.startswith("<think>") and "</think>" in reply.text
    assert verdict(reply).value == float(reply.text[-1])
    [[cut]] = ask(model, asked(model, "Think.", max_tokens=20), tmp_path)
    assert cut.finish == "length" and verdict(cut).status == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        "né\u0301e ß",
        "\U0001f600\u200d\U0001f525",
        "שלום مرحبا",
        "a\0b\x1b\u2028c",
        "“½”",
    ],
)
def test_a_prompt_of_any_characters_is_sent_complete(
    url: str, tmp_path: Path, text: str
) -> None:
    """The model's tokens are bytes: the server counts what reached it."""
    model = card(url)
    [[reply]] = ask(model, asked(model, text), tmp_path)
    assert reply.usage is not None
    assert reply.usage["prompt"] == len(text.encode()) + llama.AROUND
    assert verdict(reply).status == "ok"


def test_a_reply_of_other_scripts_comes_back_complete(url: str, tmp_path: Path) -> None:
    text = "\U0001f600 5 \u05e9 é"
    model = card(url, {"grammar": f'root ::= "{text}"'})
    [[reply]] = ask(model, asked(model, "Say it."), tmp_path)
    assert reply.text == text


def test_a_single_endless_failure_loses_nothing_else(url: str, tmp_path: Path) -> None:
    model = card(url, llama.FAILURE)
    with pytest.raises(UserError, match="1 of 1 requests failed: HTTP 500"):
        ask(model, asked(model, "Rate it."), tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_served_model_and_tokens_are_recorded(url: str, tmp_path: Path) -> None:
    model = card(url)
    [[reply]] = ask(model, asked(model, "Rate it."), tmp_path)
    assert reply.provenance is not None and reply.provenance["model"] == llama.MODEL
    assert reply.usage is not None and reply.usage["completion"] >= 1


def grammar(root: str) -> dict[str, Any]:
    return {"grammar": f"root ::= {root}"}


def journals(folder: Path) -> list[Path]:
    return list(folder.rglob("*.jsonl"))


# --- decoding reaches the server ---


@pytest.mark.parametrize(
    "likeliest", [{"temperature": 0}, {"temperature": 1, "top_p": 1e-6}]
)
def test_the_likeliest_word_is_the_same_for_every_seed(
    url: str, tmp_path: Path, likeliest: dict[str, float]
) -> None:
    noise = card(url, grammar("[a-z]{20}"))
    sure = ask(noise, asked(noise, *PROMPTS[:3], draws=4, **likeliest), tmp_path)
    free = ask(noise, asked(noise, *PROMPTS[:3], draws=4), tmp_path)
    assert [len({reply.text for reply in draws}) for draws in sure] == [1, 1, 1]
    assert [len({reply.text for reply in draws}) for draws in free] == [4, 4, 4]


def test_the_address_may_end_in_a_slash(url: str, tmp_path: Path) -> None:
    model = card(f"{url}/")
    [[reply]] = ask(model, asked(model, "Rate it."), tmp_path)
    assert verdict(reply).status == "ok"


def test_wrong_address_is_an_error_and_nothing_is_kept(
    url: str, tmp_path: Path
) -> None:
    model = card(f"{url}/nowhere")
    with pytest.raises(UserError, match="refuses every request: HTTP 404"):
        ask(model, asked(model, *PROMPTS), tmp_path)
    assert not journals(tmp_path)


# --- replies that are no answer ---


def test_noise_that_ends_by_itself_is_unparsed(url: str, tmp_path: Path) -> None:
    model = card(url, grammar("[b-df-hj-np-tv-z]{12} [@#%]"))
    result = ask(model, asked(model, *PROMPTS[:4], draws=3), tmp_path)
    replies = [reply for draws in result for reply in draws]
    assert {reply.finish for reply in replies} == {"stop"}
    assert len({reply.text for reply in replies}) > 6
    judged = {(verdict(reply).status, verdict(reply).value) for reply in replies}
    assert judged == {("unparsed", None)}


def test_a_cut_reply_is_no_answer_though_a_score_stands_in_it(
    url: str, tmp_path: Path
) -> None:
    model = card(url, grammar('"Rating: 4\\n" [a-z]{20}'))
    [[cut]] = ask(model, asked(model, "Rate it.", max_tokens=15), tmp_path)
    assert cut.text.startswith("Rating: 4\n") and cut.finish == "length"
    assert (verdict(cut).status, verdict(cut).value) == ("truncated", None)
    [[complete]] = ask(model, asked(model, "Rate it.", max_tokens=60), tmp_path)
    assert (verdict(complete).status, verdict(complete).value) == ("ok", 4)


def test_a_score_without_room_for_its_end_is_cut(url: str, tmp_path: Path) -> None:
    model = card(url)
    [[cut]] = ask(model, asked(model, "Rate it.", max_tokens=1), tmp_path)
    [[complete]] = ask(model, asked(model, "Rate it.", max_tokens=2), tmp_path)
    assert cut.text in set("12345") and verdict(cut).status == "truncated"
    assert verdict(complete).value == float(complete.text)


def test_a_score_outside_the_scale_is_not_moved_into_it(
    url: str, tmp_path: Path
) -> None:
    model = card(url, grammar("[6-9]"))
    replies = ask(model, asked(model, *PROMPTS[:5]), tmp_path)
    judged = {(verdict(reply).status, verdict(reply).value) for [reply] in replies}
    assert judged == {("out_of_range", None)}


def test_a_score_within_the_reasoning_does_not_count(url: str, tmp_path: Path) -> None:
    thought = '"<think>\\nRating: 1, or rather Rating: 2.\\n</think>\\n"'
    model = card(url, grammar(f'{thought} "Rating: 5"'))
    [[reply]] = ask(model, asked(model, "Rate it.", max_tokens=90), tmp_path)
    assert "Rating: 2." in reply.text and verdict(reply).value == 5
    [[cut]] = ask(model, asked(model, "Rate it.", max_tokens=30), tmp_path)
    assert "Rating: 1" in cut.text and verdict(cut).status == "truncated"
    unsaid = card(url, grammar(f'{thought} "zzz"'))
    [[reply]] = ask(unsaid, asked(unsaid, "Rate it.", max_tokens=90), tmp_path)
    assert "Rating: 2." in reply.text and verdict(reply).status == "unparsed"


# --- what does not fit, what fails, who goes away ---


def test_a_prompt_may_fill_the_context_to_the_last_byte(
    url: str, tmp_path: Path
) -> None:
    model, room = card(url), CONTEXT - llama.AROUND
    prompts = ["x" * (room - 2), "y" * room, "é" * (room // 2 + 1)]
    replies = ask(model, asked(model, *prompts, max_tokens=2), tmp_path)
    assert [reply.status for [reply] in replies] == ["ok", "error", "error"]
    assert verdict(replies[0][0]).status == "ok"
    for [reply] in replies[1:]:
        assert (verdict(reply).status, verdict(reply).value) == ("error", None)
        assert reply.finish == "error" and reply.usage is None


def test_where_nothing_fits_nothing_is_kept_until_something_does(
    url: str, tmp_path: Path
) -> None:
    model = card(url)
    [long] = asked(model, "long " * CONTEXT)
    with pytest.raises(
        UserError, match=r"refuses every request: HTTP 400(?s:.*)context"
    ):
        ask(model, [long], tmp_path)
    assert not journals(tmp_path)
    replies = ask(model, [long, *asked(model, "short")], tmp_path)
    assert [reply.status for [reply] in replies] == ["error", "ok"]
    nobody = card("http://127.0.0.1:1")
    assert ask(nobody, [long], tmp_path) == replies[:1]


def test_an_endless_failure_costs_only_itself(url: str, tmp_path: Path) -> None:
    model, failing = card(url), card(url, llama.FAILURE)
    good = asked(model, *PROMPTS, draws=2)
    bad = asked(failing, "Rate it.")
    with (
        Store(tmp_path, "random") as store,
        pytest.raises(UserError, match="1 of 25 requests"),
    ):
        obtain([*good, *bad], AskingJob(store, OpenAIEngine(model)))
    result = Store(tmp_path, "random").read(
        {reply.key: reply.draws for reply in [*good, *bad]}
    )
    assert set(result) == {(reply.key, draw) for reply in good for draw in range(2)}
    assert {verdict(reply).status for reply in result.values()} == {"ok"}


@pytest.mark.heavy
def test_when_the_server_goes_away_only_the_rest_is_asked_of_the_next(
    model: Path, tmp_path: Path
) -> None:
    with llama.serve(model, context=CONTEXT) as first:
        before = ask(card(first), asked(card(first), *PROMPTS[:4]), tmp_path)
    requests = asked(card(first), *PROMPTS)
    with pytest.raises(
        UserError, match=r"8 of 8 requests failed: no response(?s:.*)2 attempts"
    ):
        ask(card(first), requests, tmp_path)
    assert len(journals(tmp_path)) == 1
    with llama.serve(model, context=CONTEXT) as second:
        replies = ask(card(second), requests, tmp_path)
        anew = ask(card(second), requests, tmp_path / "anew")
    assert replies[:4] == before
    assert [reply.text for [reply] in replies] == [reply.text for [reply] in anew]
    lines = sorted(
        path.read_bytes().count(b'{"key":') for path in journals(tmp_path / "random")
    )
    assert lines == [4, 8]


# --- any character, both ways ---


def test_what_came_is_what_is_read_later(url: str, tmp_path: Path) -> None:
    """Random bytes: halves of characters, controls, and whatever stands for what is no
    UTF-8.
    """
    model = card(url, llama.GIBBERISH)
    requests = asked(model, *PROMPTS, draws=2, max_tokens=50)
    with Store(tmp_path, "random") as store:
        came = obtain(requests, AskingJob(store, OpenAIEngine(model)))
    later = Store(tmp_path, "random").read(
        {request.key: request.draws for request in requests}
    )
    assert later == came and len(came) == 24
    texts = "".join(reply.text for reply in came.values())
    assert "\ufffd" in texts and any(ord(sign) < 32 for sign in texts)
    assert not any("\ud800" <= sign <= "\udfff" for sign in texts)


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        (
            "\U0001f468\u200d\U0001f469 Rating: 4",
            "\U0001f468\u200d\U0001f469 Rating: 4",
        ),
        ("e\u0301\u0323 o\u0303 Rating: 4", "e\u0301\u0323 o\u0303 Rating: 4"),
        ("\u202eשלום مرحبا\u202c Rating: 4", "\u202eשלום مرحبا\u202c Rating: 4"),
        (r"4\x1b\x07\t", "4\x1b\x07\t"),
        ("Rating: ４", "Rating: ４"),
    ],
)
def test_a_score_beside_any_characters_is_read_and_they_come_back_complete(
    url: str, tmp_path: Path, spelled: str, message: str
) -> None:
    model = card(url, grammar(f'"{spelled}"'))
    [[reply]] = ask(model, asked(model, "Say it.", max_tokens=60), tmp_path)
    assert (reply.text, verdict(reply).value) == (message, 4)


def test_ordinary_weights_give_no_decisions_and_the_message_says_what_to_do(
    url: str,
) -> None:
    model = SystemOneModel.model_validate(
        {"model": "random", "name": llama.MODEL, "engine": "systemone", "base_url": url}
    )
    question = {"type": "choice", "instructions": "Which?", "criteria": {"a": None}}
    state = {"text": "A text."}
    request = Request({**model.identity(), "state": state, "question": question})
    with pytest.raises(UserError) as caught:
        asking(model)([Work(request, (0,))], False, lambda _: None)
    assert "HTTP 501" in str(caught.value)
    assert "no decision model at this address" in str(caught.value)
