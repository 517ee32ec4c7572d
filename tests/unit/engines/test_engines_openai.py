"""The HTTP engine and a scripted endpoint: what is sent, what is sent again, what ends
a job.
"""

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from engines_openai_setup import ANY, FAST, after, ask, card, endpoint, requests
from judgescope.core.errors import UserError, UserErrors
from judgescope.engines.factory import located
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.wire import read_replies
from judgescope.engines.requests import HOPELESS, Failure, Reply, Work
from judgescope.replies.journal import line_of
from judgescope.schema.loading import read_card
from scripted import Body, Endpoint, Said, Script, prompt_of, refusal, reply
from waiting import patience

__all__ = ["endpoint"]


def only_for(prompt: str, text: Said) -> Script:
    """Answer `said` to one prompt and 4 to all others."""
    return lambda body: text if prompt_of(body) == prompt else reply("4")


def test_the_body_says_all_that_the_cards_say(endpoint: Endpoint) -> None:
    model = card(endpoint, name="org/it", extra_body={"top_k": 5})
    [request] = requests(model, "What?", temperature=0.5, top_p=0.9, max_tokens=17)
    ask(model, request, draws=2)
    first, second = endpoint.asked  # it gave one of two: the other is asked for alone
    fields = {
        **{"model": "org/it", "messages": [{"role": "user", "content": "What?"}]},
        **{"temperature": 0.5, "top_p": 0.9, "max_tokens": 17, "top_k": 5},
    }
    assert first == {**fields, "n": 2, "seed": request.seed(0)}
    assert (
        second == {**fields, "seed": request.seed(1)}
        and request.seed(1) == request.seed(0) + 1
    )
    assert endpoint.authorised == [None, None]


@pytest.mark.parametrize("source", ["api_key_env", "api_key_file"])
def test_the_key_is_sent_and_never_reported(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    monkeypatch.setenv("IT_KEY", "sk-very-secret")
    (tmp_path / "key").write_text("sk-very-secret\n", encoding="utf-8")
    (tmp_path / "key").chmod(0o600)
    model = card(
        endpoint, **{source: {"api_key_env": "IT_KEY", "api_key_file": "key"}[source]}
    )
    model = located(model, tmp_path, tmp_path)
    endpoint.script = lambda _: refusal(400, "bad key sk-very-secret")
    came, _ = ask(model, *requests(model, "a"), proven=True)
    assert came == {"a": "error: HTTP 400: bad key <key>"}
    assert endpoint.authorised == ["Bearer sk-very-secret"]
    for status in (401, 500):
        endpoint.script = lambda _, status=status: refusal(status, "no: sk-very-secret")  # type: ignore[misc]
        try:
            _, failures = ask(model, *requests(model, "a"))
            result = str(failures)
        except UserError as error:
            result = str(error)
        assert str(status) in result and "secret" not in result


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 529])
def test_a_passing_failure_is_sent_again_and_then_named(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    endpoint.script = only_for("b", refusal(status, "later"))
    model = card(endpoint)
    came, failures = ask(model, *requests(model, "a", "b", "c"))
    assert came == {"a": "ok: 4", "c": "ok: 4"}
    assert failures == [Failure("b", f"HTTP {status}: later (3 attempts)")]
    assert endpoint.prompts.count("b") == 3 and len(endpoint.asked) == 5
    assert (
        capsys.readouterr().out
        == f"attempts failed: 1, the last with: HTTP {status}: later\n"
    )


@pytest.mark.parametrize(
    "headers",
    [{}, {"Retry-After": "0.01"}, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}],
)
def test_a_reply_that_comes_late_is_a_single_reply(
    endpoint: Endpoint, headers: dict[str, str]
) -> None:
    endpoint.script = after(2, refusal(429, "later", **headers))
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    assert len(endpoint.asked) == 3


@pytest.mark.heavy
def test_the_endpoint_says_how_long_to_wait(endpoint: Endpoint) -> None:
    endpoint.script = after(1, refusal(429, "later", **{"Retry-After": "0.5"}))
    model, start = card(endpoint), time.monotonic()
    ask(model, *requests(model, "a"))
    assert time.monotonic() - start >= 0.5  # without the header: 0.01


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"",
        b"{}",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
    ],
)
def test_an_answer_without_a_reply_is_asked_again(
    endpoint: Endpoint, body: bytes
) -> None:
    endpoint.script = after(1, Said(body))
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    endpoint.script = lambda _: Said(body)
    [failure] = ask(model, *requests(model, "a"))[1]
    assert "3 attempts" in failure.reason and failure.about == "a"


def test_no_listener_and_no_answer_in_time_are_failures(endpoint: Endpoint) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        model = card(
            endpoint, base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        )
        [failure] = ask(model, *requests(model, "a"))[1]
    assert "no response" in failure.reason and "3 attempts" in failure.reason
    woken = threading.Event()
    endpoint.script = lambda _: reply("4") if woken.wait(patience(5)) else reply("5")
    model = card(endpoint, limits={**FAST, "timeout": 0.1, "attempts": 1})
    [failure] = ask(model, *requests(model, "a"))[1]
    woken.set()
    assert failure.reason.startswith("no response: ")


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_refusal_is_a_reply_and_is_not_sent_again(
    endpoint: Endpoint, status: int
) -> None:
    endpoint.script = only_for("b", refusal(status, "too long"))
    model = card(endpoint)
    came, failures = ask(model, *requests(model, "b", "a"))
    assert (
        came == {"a": "ok: 4", "b": f"error: HTTP {status}: too long"} and not failures
    )
    assert endpoint.prompts.count("b") == 1


@pytest.mark.heavy
@pytest.mark.parametrize("count", [1, HOPELESS, 5 * HOPELESS])
def test_where_all_is_refused_the_card_is_wrong_and_nothing_is_kept(
    endpoint: Endpoint, count: int
) -> None:
    endpoint.script = lambda _: refusal(404, "no such model")
    model = card(endpoint)
    kept: list[Reply] = []
    missing = [
        Work(request, (0,)) for request in requests(model, *map(str, range(count)))
    ]
    with pytest.raises(
        UserError, match="refuses every request: HTTP 404: no such model"
    ) as error:
        OpenAIEngine(model)(missing, False, kept.append)
    assert not kept and "models/it.yaml" in error.value.where
    assert len(endpoint.asked) < HOPELESS + FAST["concurrency"]
    endpoint.script = lambda _: refusal(400, "too long")
    OpenAIEngine(model)(missing, True, kept.append)  # a model that answered before
    assert len(kept) == count


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "wrong key"), (402, "no credit"), (403, "no"), (429, "insufficient_quota")],
)
def test_what_no_request_can_pass_ends_the_job_at_once(
    endpoint: Endpoint, status: int, message: str
) -> None:
    """Replies so far are kept; nothing more is sent than was under way."""
    endpoint.script = lambda body: (
        reply("4") if prompt_of(body) == "0" else refusal(status, message)
    )
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    kept: list[Reply] = []
    missing = [Work(request, (0,)) for request in requests(model, *map(str, range(20)))]
    with pytest.raises(
        UserError, match=f"rejected a request: HTTP {status}: {message}"
    ):
        OpenAIEngine(model)(missing, False, kept.append)
    assert [each.text for each in kept] == ["4"] and len(endpoint.asked) == 2


@pytest.mark.heavy
def test_never_more_requests_under_way_than_the_card_allows(endpoint: Endpoint) -> None:
    lock, now, peak = threading.Lock(), 0, 0

    def count(_: Body) -> Said:
        nonlocal now, peak
        with lock:
            now, peak = now + 1, max(peak, now + 1)
        time.sleep(0.01)
        with lock:
            now -= 1
        return reply("4")

    endpoint.script = count
    model = card(endpoint, limits={**FAST, "concurrency": 3})
    came, _ = ask(model, *requests(model, *map(str, range(30))))
    assert len(came) == 30 and peak == 3


def test_a_reply_is_handed_on_before_the_next_comes(endpoint: Endpoint) -> None:
    """What is paid for is in the journal at once: the endpoint sees it before its next
    request.
    """
    kept: list[Reply] = []
    seen: list[int] = []
    endpoint.script = lambda _: seen.append(len(kept)) or reply("4")  # type: ignore[func-returns-value]
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    OpenAIEngine(model)(
        [Work(request, (0,)) for request in requests(model, *"abcde")],
        False,
        kept.append,
    )
    assert seen == [0, 1, 2, 3, 4]


# --- what is in an answer ---


def read(text: Said) -> Reply:
    body = text.body if isinstance(text.body, bytes) else json.dumps(text.body).encode()
    [read_reply] = read_replies(body.decode(), ANY.key, [0], logprobs=False)
    return read_reply


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        (reply("4"), "4", "stop"),
        (reply("4", finish="length"), "4", "length"),
        (reply(None), "", "stop"),
        (reply("", refusal="I will not."), "I will not.", "content_filter"),
        (reply("4", refusal="I will not."), "4", "stop"),
        (reply("4", reasoning_content="Hm."), "<think>Hm.</think>\n4", "stop"),
        (
            reply(None, "length", reasoning_content="Hm."),
            "<think>Hm.</think>\n",
            "length",
        ),
        (Said(b'{"choices":[{"message":{"content":"a\\ud83d"}}]}'), "a\ufffd", "stop"),
        (
            Said(b'{"choices":[{"message":{"content":"\\ud83d\\ude00"}}]}'),
            "\U0001f600",
            "stop",
        ),
    ],
)
def test_the_text_and_how_it_ended(answer: Said, text: str, finish: str) -> None:
    result = read(answer)
    assert (result.text, result.finish) == (text, finish)


def test_usage_and_provenance_are_those_of_the_endpoint() -> None:
    answer = reply("4")
    assert isinstance(answer.body, dict)
    answer.body["usage"] |= {
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_tokens_details": {"cached_tokens": 5},
    }
    result = read(answer)
    assert result.usage == {"prompt": 7, "completion": 3, "reasoning": 2, "cached": 5}
    assert result.provenance == {
        "engine": "openai",
        "model": "scripted",
        "fingerprint": "fp",
    }
    bare = read(Said(b'{"choices":[{"message":{"content":"4"}}]}'))
    assert bare.usage is None and bare.provenance == {"engine": "openai"}


def test_provenance_names_the_tools_that_a_reply_calls() -> None:
    call = {"function": {"name": "submit_score", "arguments": '{"score": 4}'}}
    message = {"content": None, "tool_calls": [call]}
    result = read(Said({"choices": [{"message": message}]}))
    assert result.provenance == {"engine": "openai", "tool": "submit_score"}
    assert '{"score": 4}' in result.text.replace('\\"', '"')


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ({"content": None}, "null"),
        ({}, "null"),
        ({"content": ""}, "empty"),
        ({"content": " \n"}, "empty"),
        ({"content": []}, "empty"),
        ({"content": None, "tool_calls": []}, "null"),
        ({"content": None, "tool_calls": [{"function": {"name": "rate"}}]}, "tool"),
        ({"content": "", "function_call": {"name": "rate", "arguments": ""}}, "tool"),
        ({"content": "4"}, None),
        ({"content": None, "reasoning_content": "A 4?"}, None),
        (
            {"tool_calls": [{"function": {"name": "rate", "arguments": "{}"}}]},
            None,
        ),
    ],
)
def test_provenance_says_what_stands_instead_of_a_text(
    message: dict[str, Any], content: str | None
) -> None:
    result = read(Said({"choices": [{"message": message}]}))
    assert result.provenance is not None
    assert result.provenance.get("content") == content
    assert bool(result.text.strip()) == (content is None)


def test_a_reply_with_a_text_is_stored_as_before() -> None:
    result = read(Said({"choices": [{"message": {"content": "4"}}]}))
    head = f'{{"key":"{result.key}","draw":0,"text":"4","finish":"stop","status":"ok",'
    end = '"usage":null,"provenance":{"engine":"openai"},"crc":"'
    assert line_of(result).startswith((head + end).encode())


def test_content_in_parts_is_joined_and_odd_usage_is_no_reason_to_fail() -> None:
    parts = [{"type": "text", "text": "Rating: "}, {"type": "text", "text": "4"}]
    body = {"choices": [{"message": {"content": parts}}]}
    odd = {
        "prompt_tokens": "n/a",
        "completion_tokens": 3,
        "completion_tokens_details": [1],
    }
    result = read(Said(body | {"usage": odd}))
    assert (result.text, result.usage) == ("Rating: 4", None)


@pytest.mark.parametrize("where", ["a reply", "an error with 200", "no JSON"])
def test_an_endpoint_that_says_the_key_back_is_not_quoted(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("IT_KEY", "sk-very-secret")
    message = {
        "a reply": reply("4, sk-very-secret"),
        "an error with 200": Said({"error": "bad key Bearer sk-very-secret"}),
        "no JSON": Said(b"<html>sk-very-secret</html>"),
    }[where]
    endpoint.script = lambda _: message
    model = card(endpoint, api_key_env="IT_KEY")
    text = str(ask(model, *requests(model, "a")))
    assert "<key>" in text and "secret" not in text


@pytest.mark.parametrize(
    "keys",
    [
        {"base_url": "http://user:pa55w0rd@127.0.0.1:1/v1"},
        {"api_key_env": "sk-very-secret"},
        {"extra_body": {"messages": []}},
        {"extra_body": {"seed": 5}},
    ],
)
def test_a_card_holds_no_secret_and_no_field_that_other_keys_say(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    fields = {
        "model": "it",
        "engine": "openai",
        "base_url": "http://127.0.0.1:1/v1",
    } | keys
    (tmp_path / "it.yaml").write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises((UserError, UserErrors)) as error:
        read_card("model", tmp_path / "it.yaml")
    assert "very-secret" not in str(error.value) and "pa55" not in str(error.value)


def test_a_placeholder_for_a_key_is_no_secret_and_an_escaped_key_is(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IT_KEY", "test\n")
    model = card(endpoint, api_key_env="IT_KEY")
    endpoint.script = lambda _: reply("This is a test: 4")
    assert ask(model, *requests(model, "a")) == ({"a": "ok: This is a test: 4"}, [])
    assert endpoint.authorised[-1] == "Bearer test"
    monkeypatch.setenv("IT_KEY", 'ab/cd"1234')
    model = card(endpoint, api_key_env="IT_KEY")
    echo = b'{"choices":[{"message":{"content":"you sent ab\\/cd\\"1234"}}]}'
    endpoint.script = lambda _: Said(echo)
    assert ask(model, *requests(model, "b"))[0] == {"b": "ok: you sent <key>"}
    endpoint.script = lambda _: Said({"error": {"key": 'ab/cd"1234'}}, 500)
    assert "1234" not in str(ask(model, *requests(model, "c")))


def test_odd_answers_are_read_or_named(endpoint: Endpoint) -> None:
    model = card(endpoint)
    half = Said(b'{"error":{"message":"bad \\ud83d"}}', 400)
    endpoint.script = only_for("b", half)
    came, _ = ask(model, *requests(model, "a", "b"))
    assert came["b"] == "error: HTTP 400: bad \ufffd"
    assert read(reply("4", reasoning="Hm.")).text == "<think>Hm.</think>\n4"
    numbers = b'\xef\xbb\xbf{"choices":[{"message":{"content":"4"},"logprobs":NaN}]}'
    assert read(Said(numbers)).text == "4"
    endpoint.script = lambda _: Said(b"[" * 100_000)
    assert "not JSON" in ask(model, *requests(model, "c"))[1][0].reason
    refused, broken = refusal(400, "no"), refusal(500, "down")
    endpoint.script = lambda body: refused if prompt_of(body) == "d" else broken
    failures = ask(model, *requests(model, "d", "e"))[1]
    assert [failure.about for failure in failures] == ["e"] and "HTTP 500" in failures[
        0
    ].reason
