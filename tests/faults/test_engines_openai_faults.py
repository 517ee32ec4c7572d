"""Faults of an endpoint, each with the requests counted: nothing paid is lost or asked
twice.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from endpoint_asking import MANY, ask, draws
from engines_openai_setup import FAST, card, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply, Request, Work
from scripted import (
    Body,
    Endpoint,
    Said,
    answer,
    prompt_of,
    refusal,
    replies,
    reply,
    serve,
)
from waiting import patience


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


# --- too many requests ---


def crowded(
    places: int, text: Said, *, seconds: float = 0.005
) -> Callable[[Body], Said]:
    """Answer as long as so few are asked at once; else say `said`."""
    lock, now = threading.Lock(), 0

    def script(_: Body) -> Said:
        nonlocal now
        with lock:
            now += 1
            free = now <= places
        time.sleep(seconds)
        with lock:
            now -= 1
        return reply("4") if free else text

    return script


@pytest.mark.heavy
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0.02"}])
def test_a_storm_of_429_is_weathered(
    endpoint: Endpoint, tmp_path: Path, headers: dict[str, str]
) -> None:
    endpoint.script = crowded(2, refusal(429, "slow down", **headers))
    asked = requests(card(endpoint), *MANY)
    replies = ask(endpoint, tmp_path, asked, concurrency=16, attempts=2)
    assert [reply.text for reply in replies] == ["4"] * len(MANY)
    assert len(endpoint.asked) < 5 * len(MANY)
    assert ask(endpoint, tmp_path, asked) == replies  # and all of it is in the store


@pytest.mark.heavy
def test_fewer_are_under_way_after_429(endpoint: Endpoint, tmp_path: Path) -> None:
    """With room for two, sixteen at once would be refused seven times in eight, for
    ever.
    """
    endpoint.script = crowded(2, refusal(429, "slow down"), seconds=0.01)
    asked = requests(card(endpoint), *MANY, *(f"more {each}" for each in MANY))
    ask(endpoint, tmp_path, asked, concurrency=16)
    assert len(endpoint.asked) < 4 * len(asked)


@pytest.mark.heavy
def test_whoever_asks_for_more_patience_than_there_is_is_left(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _: refusal(429, "tomorrow", **{"Retry-After": "86400"})
    with pytest.raises(
        UserError, match=r"HTTP 429: tomorrow \(the endpoint asks to wait 86400 s\)"
    ):
        ask(endpoint, tmp_path, requests(card(endpoint), "a"))
    assert len(endpoint.asked) == 1
    endpoint.script = lambda _: refusal(429, "later")
    with pytest.raises(UserError, match=r"HTTP 429: later \(`patience` is used up\)"):
        ask(endpoint, tmp_path, requests(card(endpoint), "a"), patience=1)
    assert len(endpoint.asked) > 1 + FAST["attempts"]  # these do not count as attempts


@pytest.mark.heavy
def test_without_a_hint_the_waits_double_and_the_first_429_slows_all(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """Sixteen workers that are refused for 4 s: a constant wait would send some 3,000
    requests.

    None waits beyond its patience, neither for its turn nor while the endpoint is left
    in peace.
    """
    endpoint.script = lambda _: refusal(429, "slow down")
    asked = requests(card(endpoint), *MANY[:16])
    began = time.monotonic()
    with pytest.raises(UserError, match="`patience` is used up"):
        ask(endpoint, tmp_path, asked, concurrency=16, backoff=0.02, patience=4)
    assert time.monotonic() - began < patience(3 * 4)
    by_prompt = Counter(map(prompt_of, endpoint.asked))
    assert (
        len(by_prompt) == 16 and max(by_prompt.values()) <= 2 + 8
    )  # 0.02 * 2 ** 8 > 4
    assert len(endpoint.asked) < 16 * 6


@pytest.mark.heavy
def test_a_pause_that_an_answer_asks_for_holds_for_all_requests(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    moments: list[float] = []

    def script(_: Body) -> Said:
        moments.append(time.monotonic())
        if len(moments) == 1:
            return refusal(429, "later", **{"Retry-After": "0.5"})
        return reply("4")

    endpoint.script = script
    ask(endpoint, tmp_path, requests(card(endpoint), *MANY), concurrency=1)
    assert min(moments[1:]) - moments[0] >= 0.5


# --- answers that break off ---


@pytest.mark.heavy
@pytest.mark.parametrize(
    "text",
    [
        Said(b'{"choices": [{"mess', lacks=100),
        Said(b'{"choices": [{"mess'),
        Said(b"", lacks=1),
        Said(b'{"choices": [{"mess', lacks=100, stalls=1.5),
        Said(b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"}),
    ],
    ids=["cut", "half a JSON", "empty", "stalled", "a page"],
)
def test_an_answer_that_breaks_off_is_asked_for_again(
    endpoint: Endpoint, tmp_path: Path, text: Said
) -> None:
    broken = iter(["b", "d"])

    def script(body: Body) -> Said:
        if prompt_of(body) in "bd" and next(broken, None):
            return text
        return reply("4")

    endpoint.script = script
    replies = ask(endpoint, tmp_path, requests(card(endpoint), *"abcde"), timeout=0.5)
    assert [reply.text for reply in replies] == ["4"] * 5
    assert len(endpoint.asked) == 7


# --- several draws in one request ---


def drawn(body: Body) -> Said:
    """Give every draw that is asked for, each its own seed."""
    return replies(
        *(f"{prompt_of(body)} {body['seed'] + i}" for i in range(body.get("n", 1)))
    )


def by_seed(asked: list[Request]) -> list[str]:
    return [
        f"{request.prompt} {request.seed(draw)}"
        for request in asked
        for draw in range(request.draws)
    ]


def test_draws_are_asked_for_together_and_paid_once(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = drawn
    asked = draws(card(endpoint), 5, *"abc")
    replies = ask(endpoint, tmp_path, asked)
    assert [reply.text for reply in replies] == by_seed(asked)
    assert [body["n"] for body in endpoint.asked] == [5] * 3
    usage = [reply.usage or {} for reply in replies]
    assert sum(each["prompt"] for each in usage) == 3 * 7
    assert sum(each["completion"] for each in usage) == 3 * 15


def test_only_missing_draws_are_asked_for(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script = drawn
    ask(endpoint, tmp_path, draws(card(endpoint), 2, "a"))
    asked = draws(card(endpoint), 5, "a")
    replies = ask(endpoint, tmp_path, asked)
    assert [reply.text for reply in replies] == by_seed(asked)
    assert [(body["n"], body["seed"]) for body in endpoint.asked] == [
        (2, asked[0].seed(0)),
        (3, asked[0].seed(2)),
    ]


def test_draws_that_do_not_follow_each_other_are_asked_for_separately(
    endpoint: Endpoint,
) -> None:
    endpoint.script = drawn
    model = card(endpoint)
    [each] = draws(model, 6, "a")
    kept: list[Reply] = []
    OpenAIEngine(model)([Work(each, (0, 2, 3, 5))], False, kept.append)
    assert {(reply.draw, reply.text) for reply in kept} == {
        (draw, f"a {each.seed(draw)}") for draw in (0, 2, 3, 5)
    }
    assert sorted(body.get("n", 1) for body in endpoint.asked) == [1, 1, 2]


def test_at_temperature_zero_each_draw_is_asked_for_alone(endpoint: Endpoint) -> None:
    """Servers refuse several greedy draws, or give one of them many times."""
    endpoint.script = drawn
    model = card(endpoint)
    [request] = requests(model, "a", temperature=0)
    kept: list[Reply] = []
    OpenAIEngine(model)([Work(request, (0, 1))], False, kept.append)
    assert len(kept) == 2 and all("n" not in body for body in endpoint.asked)


@pytest.mark.parametrize("given", [1, 2, 3])
def test_draws_that_a_server_withholds_are_asked_for_again(
    endpoint: Endpoint, tmp_path: Path, given: int
) -> None:
    def stingy(body: Body) -> Said:
        return drawn({**body, "n": min(given, body.get("n", 1))})

    endpoint.script = stingy
    asked = draws(card(endpoint), 5, *"ab")
    replies = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [reply.text for reply in replies] == by_seed(asked)
    assert len({(reply.key, reply.draw) for reply in replies}) == 10
    wanted = [body.get("n", 1) for body in endpoint.asked]
    # one that gives one knows no `n`: it is not asked for several again
    expected = {1: [5, 1, 1, 1, 1] + [1] * 5, 2: [5, 3, 1] * 2, 3: [5, 2] * 2}
    assert wanted == expected[given]


def test_more_draws_than_asked_for_are_not_kept(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: drawn({**body, "n": 7})
    replies = ask(endpoint, tmp_path, draws(card(endpoint), 3, "a"))
    assert len(replies) == 3 and len(endpoint.asked) == 1


def test_too_many_at_once_are_asked_for_in_smaller_parts(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(400, "n is at most 4") if body.get("n", 1) > 4 else drawn(body)
    )
    asked = draws(card(endpoint), 8, *"ab")
    replies = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [reply.text for reply in replies] == by_seed(asked)
    assert [body.get("n", 1) for body in endpoint.asked] == [8, 1, 4, 3, 4, 4]


def test_a_request_that_is_refused_anyhow_is_refused_for_all_draws(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(400, "too long") if prompt_of(body) == "b" else drawn(body)
    )
    asked = draws(card(endpoint), 4, *"abc")
    replies = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [reply.status for reply in replies] == ["ok"] * 4 + ["error"] * 4 + [
        "ok"
    ] * 4
    assert [body.get("n", 1) for body in endpoint.asked] == [4, 4, 1, 4]


def test_a_card_may_say_how_many_draws_at_once(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = drawn
    ask(endpoint, tmp_path, draws(card(endpoint), 5, "a"), draws_per_request=2)
    assert [body.get("n", 1) for body in endpoint.asked] == [2, 2, 1]


def test_a_choice_without_a_message_is_no_draw(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        answer({"finish_reason": "stop"}, {"message": {"content": "5"}})
        if body.get("n", 1) == 2
        else reply("4")
    )
    replies = ask(endpoint, tmp_path, draws(card(endpoint), 2, "a"))
    assert [reply.text for reply in replies] == ["5", "4"]


def test_on_a_full_disk_all_draws_of_an_answer_are_kept_and_the_job_ends(
    endpoint: Endpoint,
) -> None:
    """The store raises with every reply from the one that found the disk full, and
    keeps it.
    """
    endpoint.script = drawn
    model = card(endpoint, limits={**FAST, "concurrency": 1})
    kept: list[Reply] = []

    def keep(reply: Reply) -> None:
        kept.append(reply)
        if len(kept) > 1:
            raise UserError("the disk is full", where="the store")

    with pytest.raises(UserError, match="disk is full"):
        OpenAIEngine(model)(
            [Work(draw, (0, 1, 2)) for draw in draws(model, 3, *"ab")], False, keep
        )
    assert len(kept) == 3 and len(endpoint.asked) == 1


# --- what a card says of an endpoint ---


def test_fields_are_spelled_as_the_card_says_and_what_is_not_sent_is_not_in_the_key(
    endpoint: Endpoint,
) -> None:
    plain, renamed = (
        card(endpoint),
        card(endpoint, field_names={"max_tokens": "max_completion_tokens"}),
    )
    bare = card(
        endpoint, field_names={"temperature": None, "top_p": None, "seed": None}
    )
    [each], [other], [least] = (
        requests(model, "a") for model in (plain, renamed, bare)
    )
    assert each.key == other.key != least.key
    for model, request in ((renamed, other), (bare, least)):
        OpenAIEngine(model)([Work(request, (0,))], False, lambda _: None)
    fields = {"model": "it", "messages": [{"role": "user", "content": "a"}]}
    assert endpoint.asked == [
        {
            **fields,
            **{
                "temperature": 0,
                "top_p": 1,
                "max_completion_tokens": 512,
                "seed": each.seed(0),
            },
        },
        {**fields, "max_tokens": 512},
    ]


def test_a_separate_key_in_a_header_and_what_follows_the_address(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IT_KEY", "azure-secret")
    model = card(
        endpoint,
        api_key_env="IT_KEY",
        key_header="api-key",
        headers={"X-Team": "us"},
        query={"api-version": "2024-10-21"},
    )
    OpenAIEngine(model)([Work(requests(model, "a")[0], (0,))], False, lambda _: None)
    [headers] = endpoint.headers
    assert headers["api-key"] == "azure-secret" and headers["X-Team"] == "us"
    assert "Authorization" not in headers
    assert endpoint.paths == ["/v1/chat/completions?api-version=2024-10-21"]
