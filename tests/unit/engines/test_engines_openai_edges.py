"""The HTTP engine at its edges: waits, odd answers, refusals in a row, and what is
never told.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engines_openai_setup import ANY, after, ask, card, requests
from engines_openai_setup import FAST as QUICK
from judgescope.core.errors import UserError
from judgescope.engines.openai.endpoint import SHOWN
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.wire import read_replies
from judgescope.engines.requests import (
    HOPELESS,
    MOST_TOKENS,
    Reply,
    Request,
    Work,
)
from judgescope.replies import ledger
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS, REQUESTS, Cap
from judgescope.replies.store import Store
from scripted import Body, Endpoint, Said, answer, prompt_of, refusal, reply, serve

KEY = "sk-very-secret"
FAST = {**QUICK, "timeout": 60}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


# --- what is sent ---


def test_further_fields_replace_nothing_that_the_key_says(endpoint: Endpoint) -> None:
    """A card may not hold them; a request that does is still the one that its key
    names.
    """
    fields = {
        "model": "x",
        "messages": [],
        "temperature": 2,
        "top_p": 0.1,
        "max_tokens": 1,
        "seed": 1,
    }
    model = card(endpoint)
    [plain] = requests(model, "What?", temperature=0.5, max_tokens=17)
    each = Request({**plain.asked, "extra_body": {**fields, "top_k": 5}})
    ask(model, each)
    assert endpoint.asked == [
        {
            **{
                "model": "it",
                "messages": [{"role": "user", "content": "What?"}],
                "top_k": 5,
            },
            **{"temperature": 0.5, "top_p": 1, "max_tokens": 17, "seed": each.seed(0)},
        }
    ]


def test_each_draw_gets_the_reply_to_its_seed(endpoint: Endpoint) -> None:
    endpoint.script = lambda body: reply(f"{prompt_of(body)} {body['seed']}")
    model = card(endpoint, limits={**FAST, "concurrency": 8})
    asked = requests(model, *"abcd")
    kept: list[Reply] = []
    OpenAIEngine(model)(
        [Work(each, tuple(range(5))) for each in asked], False, kept.append
    )
    actual = {(reply.key, reply.draw): reply.text for reply in kept}
    assert len(kept) == len(endpoint.asked) == 20
    assert actual == {
        (reply.key, draw): f"{reply.prompt} {reply.seed(draw)}"
        for reply in asked
        for draw in range(5)
    }


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_key_nothing_is_authorised(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("IT_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("IT_KEY", value)
    model = card(endpoint, api_key_env="IT_KEY")
    ask(model, *requests(model, "a"))
    assert endpoint.authorised == [None]


def test_another_server_gets_neither_the_key_nor_the_prompt(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IT_KEY", KEY)
    with serve(lambda _: reply("5")) as other:
        text = f"{other.url}/chat/completions"
        endpoint.script = lambda _: Said({}, 307, {"Location": text})
        model = card(endpoint, api_key_env="IT_KEY")
        with pytest.raises(UserError, match=f"HTTP 307: .*moved to {text}"):
            ask(model, *requests(model, "a"))
        assert other.asked == []


# --- refusals ---


def test_refusals_are_held_back_until_a_reply_and_then_kept(endpoint: Endpoint) -> None:
    endpoint.script = after(HOPELESS - 1, refusal(400, "too long"))
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    kept: list[Reply] = []
    missing = [
        Work(request, (0,)) for request in requests(model, *map(str, range(HOPELESS)))
    ]
    assert OpenAIEngine(model)(missing, False, kept.append) == []
    assert [reply.key for reply in kept] == [reply.key for reply, _ in missing]
    assert [reply.status for reply in kept] == ["error"] * (HOPELESS - 1) + ["ok"]
    assert {each.finish for each in kept} == {"error", "stop"}


@pytest.mark.heavy
def test_after_a_reply_any_number_of_refusals_is_kept(endpoint: Endpoint) -> None:
    left = iter([reply("4")])
    endpoint.script = lambda _: next(left, refusal(422, "too long"))
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    came, failures = ask(model, *requests(model, *map(str, range(2 * HOPELESS))))
    assert list(came.values()) == ["ok: 4"] + ["error: HTTP 422: too long"] * (
        2 * HOPELESS - 1
    )
    assert not failures


def test_without_credit_nothing_held_back_is_kept(endpoint: Endpoint) -> None:
    content = {"2": refusal(402, "pay"), "3": reply("4")}
    endpoint.script = lambda body: content.get(
        prompt_of(body), refusal(400, "too long")
    )
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    kept: list[Reply] = []
    with pytest.raises(UserError, match="rejected a request: HTTP 402: pay"):
        OpenAIEngine(model)(
            [Work(request, (0,)) for request in requests(model, *"0123")],
            False,
            kept.append,
        )
    assert kept == [] and endpoint.prompts == ["0", "1", "2"]


@pytest.mark.parametrize(
    "out", [refusal(402, "pay"), refusal(429, "insufficient_quota"), refusal(403, "no")]
)
def test_what_was_paid_for_before_the_credit_ended_is_never_asked_again(
    endpoint: Endpoint, tmp_path: Path, out: Said
) -> None:
    left = iter(range(3))
    endpoint.script = lambda _: reply("4") if next(left, None) is not None else out
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    asked = requests(model, *"abcde")
    with (
        Store(tmp_path, "it") as store,
        pytest.raises(UserError, match=f"HTTP {out.status}"),
    ):
        obtain(asked, AskingJob(store, OpenAIEngine(model)))
    endpoint.script = lambda _: reply("5")
    with Store(tmp_path, "it") as store:
        replies = obtain(asked, AskingJob(store, OpenAIEngine(model)))
    assert [replies[reply.key, 0].text for reply in asked] == ["4", "4", "4", "5", "5"]
    assert endpoint.prompts == ["a", "b", "c", "d", "d", "e"]


def test_a_failure_for_a_passing_reason_stops_nobody_and_is_not_recorded(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(500, "down") if prompt_of(body) in "bd" else reply("4")
    )
    model = card(endpoint)
    asked = requests(model, *"abcde")
    with (
        Store(tmp_path, "it") as store,
        pytest.raises(
            UserError, match="2 of 5 requests failed: HTTP 500: down"
        ) as error,
    ):
        obtain(asked, AskingJob(store, OpenAIEngine(model)))
    assert set(error.value.where.split(", ")) == {"b", "d"}
    result = Store(tmp_path, "it").read({reply.key: 1 for reply in asked})
    assert {asked[i].key for i in (0, 2, 4)} == {key for key, _ in result}


# --- what an endpoint says of its reasons ---


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "too long", "code": 1}}, "too long"),
        ({"error": "too long"}, "too long"),
        ({"object": "error", "message": "too long"}, "too long"),
        ({"detail": "too long"}, "too long"),
        ({"detail": [{"msg": "too long"}]}, '[{"msg": "too long"}]'),
        ({"other": "too long"}, '{"other": "too long"}'),
        (b'["too", "long"]', '["too", "long"]'),
        (b"too\r\n\r\n  long\x85 \xe2\x80\xa8", "too long\ufffd"),
        (b"x" * 5 * SHOWN, "x" * SHOWN),
        (
            json.dumps({"error": "Pr\u00fcfe \U0001f600"}).encode(),
            "Pr\u00fcfe \U0001f600",
        ),
    ],
)
def test_the_reason_of_a_refusal_is_detected_in_any_shape(
    endpoint: Endpoint, body: Any, message: str
) -> None:
    endpoint.script = lambda _: Said(body, 400)
    model = card(endpoint)
    came, _ = ask(model, *requests(model, "a"), proven=True)
    assert came == {"a": f"error: HTTP 400: {message}"}


def test_a_refusal_without_a_body_is_reported_by_its_status(endpoint: Endpoint) -> None:
    endpoint.script = lambda _: Said(b"", 400)
    model = card(endpoint)
    came, _ = ask(model, *requests(model, "a"), proven=True)
    assert came == {"a": "error: HTTP 400"}


SHAPES: list[Callable[[int], Said]] = [
    lambda status: refusal(status, f"{'x' * (SHOWN - 5)}{KEY}"),
    lambda status: refusal(status, f"{KEY}\n{KEY}"),
    lambda status: Said(
        {"error": {"headers": {"Authorization": f"Bearer {KEY}"}}}, status
    ),
    lambda status: Said(f"<p>Bearer {KEY}</p>".encode(), status),
]


@pytest.mark.heavy
@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.parametrize("status", [400, 401, 402, 429, 500])
def test_no_message_shows_the_key_in_any_shape(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, status: int, shape: int
) -> None:
    """Neither whole nor cut short, in replies, failures, errors and what stands behind
    them.
    """
    monkeypatch.setenv("IT_KEY", KEY)
    endpoint.script = lambda _: SHAPES[shape](status)
    model = card(endpoint, api_key_env="IT_KEY", limits={**FAST, "patience": 1})
    try:
        text = repr(ask(model, *requests(model, "a"), proven=True))
    except UserError as error:
        text = f"{error} {error.__dict__} {error.__cause__!r}"
        assert error.__suppress_context__
    assert str(status) in text
    assert "sk-v" not in text and "secret" not in text
    assert set(endpoint.authorised) == {f"Bearer {KEY}"}


# --- odd answers ---


def test_bytes_that_are_no_text_are_marked(endpoint: Endpoint) -> None:
    endpoint.script = lambda _: Said(
        b'{"choices":[{"message":{"content":"4 \xff\xc3"}}]}'
    )
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4 \ufffd\ufffd"}, [])


def test_an_answer_that_says_it_is_packed_and_is_not_is_no_answer(
    endpoint: Endpoint,
) -> None:
    endpoint.script = after(1, Said(b"{}" * 50, headers={"Content-Encoding": "gzip"}))
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('"\\ud83d\\ude00\\ud83d"', "\U0001f600\ufffd"),
        ('"\\ude00\\ud83d 4"', "\ufffd\ufffd 4"),
        ('"\\u0000\\u001b[0m\\u2028"', "\0\x1b[0m\u2028"),
        ('"שלום \\ufeff e\\u0301"', "שלום \ufeff e\u0301"),
        ('" 4\\n"', " 4\n"),
    ],
)
def test_any_text_reaches_the_store_and_comes_back(
    endpoint: Endpoint, tmp_path: Path, text: str, content: str
) -> None:
    endpoint.script = lambda _: Said(
        f'{{"choices":[{{"message":{{"content":{text}}}}}]}}'.encode()
    )
    model = card(endpoint)
    [request] = requests(model, "a")
    with Store(tmp_path, "it") as store:
        came = obtain([request], AskingJob(store, OpenAIEngine(model)))
    assert came == Store(tmp_path, "it").read({request.key: 1})
    assert came[request.key, 0].text == content


COUNTED = {"prompt_tokens": 7, "completion_tokens": 3}
USAGE = {"prompt": 7, "completion": 3}


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, None),
        ("many", None),
        ({}, None),
        ({"total_tokens": 10}, None),
        ({"input_tokens": 7, "output_tokens": 3}, None),
        ({"prompt_tokens": 7.0, "completion_tokens": 3.0}, None),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, None),
        ({"prompt_tokens": 7, "completion_tokens": None, "total_tokens": 10}, None),
        ({**COUNTED, "completion_tokens": 0}, {"prompt": 7, "completion": 0}),
        ({**COUNTED, "prompt_tokens_details": None}, USAGE),
        ({**COUNTED, "completion_tokens_details": {"audio_tokens": 1}}, USAGE),
        ({**COUNTED, "total_tokens": 10}, USAGE),
        ({**COUNTED, "total_tokens": 9}, USAGE),
        ({**COUNTED, "total_tokens": "12"}, USAGE),
        ({**COUNTED, "total_tokens": MOST_TOKENS + 1}, USAGE),
        # reasoning is not part of the completion
        ({**COUNTED, "total_tokens": 396}, {"prompt": 7, "completion": 389}),
    ],
)
def test_tokens_are_known_completely_or_not_at_all(usage: Any, counts: Any) -> None:
    answer = {"choices": [{"message": {"content": "4"}}], "usage": usage}
    [read_reply] = read_replies(json.dumps(answer), ANY.key, [0], logprobs=False)
    assert read_reply.usage == counts


@pytest.mark.parametrize(
    ("reported", "finish"),
    [
        (None, "stop"),
        ("", "stop"),
        ("content_filter", "content_filter"),
        ("eos", "eos"),
    ],
)
def test_how_it_ended_is_kept_as_it_was_reported(
    reported: str | None, finish: str
) -> None:
    answer = {"choices": [{"message": {"content": "4"}, "finish_reason": reported}]}
    result = read_replies(json.dumps(answer), ANY.key, [3], logprobs=False)
    assert result == [Reply(ANY.key, 3, "4", finish, provenance={"engine": "openai"})]


FAILURE = {"error": {"code": 502, "message": "Provider returned error"}}


@pytest.mark.parametrize(
    "failed",
    [
        {"finish_reason": "error", "message": {"content": ""}},
        {"finish_reason": "abort", "message": {"content": "Rating: 1"}},
        {"finish_reason": "stop", "message": {"content": "Rating: 1"}, **FAILURE},
    ],
)
def test_a_failure_at_the_provider_is_not_a_reply(
    endpoint: Endpoint, failed: Body
) -> None:
    endpoint.script = after(1, answer(failed))
    model = card(endpoint, limits=FAST)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    assert len(endpoint.asked) == 2
    beside = json.dumps(answer(failed, {"message": {"content": "4"}}).body)
    [came] = read_replies(beside, ANY.key, [0, 1], logprobs=False)
    assert (came.draw, came.text) == (0, "4")


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": [{"message": {"content": "4"}, "finish_reason": DEEP}]}',
        '{"choices": [{"message": {"content": [{"text": DEEP}]}}]}',
        '{"choices": [{"message": {"content": "4"}}], "model": DEEP}',
    ],
)
def test_an_answer_nested_too_deeply_is_no_reply_and_harms_no_other(
    endpoint: Endpoint, body: str
) -> None:
    deep = body.replace("DEEP", "[" * 1000 + "]" * 1000)
    endpoint.script = lambda asked: (
        Said(deep.encode()) if prompt_of(asked) == "a" else reply("4")
    )
    model = card(endpoint, limits=FAST)
    came, [failure] = ask(model, *requests(model, *"abcdef"))
    assert came == dict.fromkeys("bcdef", "ok: 4")
    assert failure.about == "a" and "nested too deeply" in failure.reason


# --- what is booked ---

TWO_ANSWERS = Cap("max_usd", NANOS, 2_200_000_000)
"""A cap that two answers of `spend` fit under."""


def spend(endpoint: Endpoint, folder: Path, cap: Cap) -> tuple[ledger.SpentUnits, str]:
    """Ask for ten replies of a dollar at most; return what is booked, and why it ended
    early.
    """
    model = card(endpoint, limits=FAST, price={"input": 1, "output": 1000})
    work = [
        Work(request, (0,))
        for request in requests(model, *"abcdefghij", max_tokens=1000)
    ]
    ended = ""
    with (
        Store(folder, "it") as store,
        Spending(store, "s", "it", model.price, [cap]) as budget,
    ):
        try:
            OpenAIEngine(model, budget=budget)(work, True, lambda _: None)
        except UserError as error:
            ended = str(error)
    return ledger.Ledger(folder / ledger.FOLDER / "s").state().spent["it"], ended


def test_a_refused_request_counts_towards_a_cap(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _: refusal(400, "flagged by the content policy")
    booked, ended = spend(endpoint, tmp_path, Cap("max_requests", REQUESTS, 5))
    assert (booked[REQUESTS], booked[NANOS]) == (5, 0)
    assert len(endpoint.asked) == 5 and "exceed the cap of 5 requests" in ended


PAID = {"prompt_tokens": 7, "completion_tokens": 1000}


@pytest.mark.parametrize(
    "text",
    [
        Said({"choices": [], "usage": PAID}),
        Said({"choices": []}),
        Said({**FAILURE, "usage": PAID}),
        Said(
            {
                "choices": [
                    {"finish_reason": "error", "message": {"content": ""}, **FAILURE}
                ]
            }
        ),
        Said(b"<html>"),
        Said(b"", headers={"Content-Encoding": "br"}),
    ],
)
def test_an_answer_without_a_reply_is_paid_for_each_time(
    endpoint: Endpoint, tmp_path: Path, text: Said
) -> None:
    endpoint.script = lambda _: text
    booked, ended = spend(endpoint, tmp_path, TWO_ANSWERS)
    assert booked[NANOS] == pytest.approx(2 * 10**9, rel=1e-3)
    assert len(endpoint.asked) == 2 and "exceed the cap of 2.2 US dollars" in ended


@pytest.mark.parametrize(
    "text", [Said(FAILURE), Said(FAILURE, 502), Said(b"<html>", 503)]
)
def test_a_failure_without_token_counts_is_free(
    endpoint: Endpoint, tmp_path: Path, text: Said
) -> None:
    endpoint.script = lambda _: text
    booked, ended = spend(endpoint, tmp_path, TWO_ANSWERS)
    assert +booked == ledger.SpentUnits() and not ended and len(endpoint.asked) == 30


# --- the key ---


def test_a_key_that_is_the_name_of_an_encoding_is_not_shown(
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = "sk-Very-Secret-" + "1aB" * 30  # too long to be quoted whole
    monkeypatch.setenv("IT_KEY", key)
    endpoint.script = lambda _: Said(b"{}", headers={"Content-Encoding": key})
    model = card(endpoint, limits=FAST, api_key_env="IT_KEY")
    result = f"{ask(model, *requests(model, 'a'))} {capsys.readouterr().out}".lower()
    assert "unrequested encoding: '<key>'" in result and "secret" not in result
