"""Faults of an endpoint, each with the requests counted: nothing paid is lost or asked
twice.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engines_openai_setup import FAST, card, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.run import GONE
from judgescope.engines.requests import HOPELESS, Reply, Request, Work
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.store import Store
from scripted import Body, Endpoint, Said, answer, refusal, replies, reply, serve
from waiting import patience

MANY = [f"{number:02}" for number in range(60)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


def prompt(body: Body) -> str:
    return str(body["messages"][0]["content"])


def draws(model: Any, count: int, *prompts: str) -> list[Request]:
    return [
        Request(one.asked, count, one.about)
        for one in requests(model, *prompts, temperature=1)
    ]


def ask(
    endpoint: Endpoint, folder: Path, asked: list[Request], **limits: Any
) -> list[Reply]:
    """Return every draw's reply, after each was written to the store once."""
    model = card(endpoint, limits={**FAST, **limits})
    with Store(folder, "it") as store:
        found = obtain(asked, AskingJob(store, OpenAIEngine(model)))
    return [found[one.key, draw] for one in asked for draw in range(one.draws)]


# --- too many requests ---


def crowded(
    places: int, said: Said, *, seconds: float = 0.005
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
        return reply("4") if free else said

    return script


@pytest.mark.heavy
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0.02"}])
def test_a_storm_of_429_is_weathered(
    endpoint: Endpoint, tmp_path: Path, headers: dict[str, str]
) -> None:
    endpoint.script = crowded(2, refusal(429, "slow down", **headers))
    asked = requests(card(endpoint), *MANY)
    found = ask(endpoint, tmp_path, asked, concurrency=16, attempts=2)
    assert [one.text for one in found] == ["4"] * len(MANY)
    assert len(endpoint.asked) < 5 * len(MANY)
    assert ask(endpoint, tmp_path, asked) == found  # and all of it is in the store


@pytest.mark.heavy
def test_fewer_are_under_way_after_429(endpoint: Endpoint, tmp_path: Path) -> None:
    """With room for two, sixteen at once would be refused seven times in eight, for
    ever.
    """
    endpoint.script = crowded(2, refusal(429, "slow down"), seconds=0.01)
    asked = requests(card(endpoint), *MANY, *(f"more {one}" for one in MANY))
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
    assert time.monotonic() - began < 3 * 4
    by_prompt = Counter(map(prompt, endpoint.asked))
    assert (
        len(by_prompt) == 16 and max(by_prompt.values()) <= 2 + 8
    )  # 0.02 * 2 ** 8 > 4
    assert len(endpoint.asked) < 16 * 6


@pytest.mark.heavy
def test_a_pause_that_one_is_told_holds_for_all(
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
    "said",
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
    endpoint: Endpoint, tmp_path: Path, said: Said
) -> None:
    broken = iter(["b", "d"])

    def script(body: Body) -> Said:
        if prompt(body) in "bd" and next(broken, None):
            return said
        return reply("4")

    endpoint.script = script
    found = ask(endpoint, tmp_path, requests(card(endpoint), *"abcde"), timeout=0.5)
    assert [one.text for one in found] == ["4"] * 5
    assert len(endpoint.asked) == 7


# --- several draws in one request ---


def drawn(body: Body) -> Said:
    """Give every draw that is asked for, each its own seed."""
    return replies(
        *(f"{prompt(body)} {body['seed'] + i}" for i in range(body.get("n", 1)))
    )


def by_seed(asked: list[Request]) -> list[str]:
    return [
        f"{one.prompt} {one.seed(draw)}" for one in asked for draw in range(one.draws)
    ]


def test_draws_are_asked_for_together_and_paid_once(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = drawn
    asked = draws(card(endpoint), 5, *"abc")
    found = ask(endpoint, tmp_path, asked)
    assert [one.text for one in found] == by_seed(asked)
    assert [body["n"] for body in endpoint.asked] == [5] * 3
    usage = [one.usage or {} for one in found]
    assert sum(one["prompt"] for one in usage) == 3 * 7
    assert sum(one["completion"] for one in usage) == 3 * 15


def test_only_missing_draws_are_asked_for(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.script = drawn
    ask(endpoint, tmp_path, draws(card(endpoint), 2, "a"))
    asked = draws(card(endpoint), 5, "a")
    found = ask(endpoint, tmp_path, asked)
    assert [one.text for one in found] == by_seed(asked)
    assert [(body["n"], body["seed"]) for body in endpoint.asked] == [
        (2, asked[0].seed(0)),
        (3, asked[0].seed(2)),
    ]


def test_draws_that_do_not_follow_each_other_are_asked_for_apart(
    endpoint: Endpoint,
) -> None:
    endpoint.script = drawn
    model = card(endpoint)
    [one] = draws(model, 6, "a")
    kept: list[Reply] = []
    OpenAIEngine(model)([Work(one, (0, 2, 3, 5))], False, kept.append)
    assert {(reply.draw, reply.text) for reply in kept} == {
        (draw, f"a {one.seed(draw)}") for draw in (0, 2, 3, 5)
    }
    assert sorted(body.get("n", 1) for body in endpoint.asked) == [1, 1, 2]


def test_at_temperature_zero_each_draw_is_asked_for_alone(endpoint: Endpoint) -> None:
    """Servers refuse several greedy draws, or give one of them many times."""
    endpoint.script = drawn
    model = card(endpoint)
    [one] = requests(model, "a", temperature=0)
    kept: list[Reply] = []
    OpenAIEngine(model)([Work(one, (0, 1))], False, kept.append)
    assert len(kept) == 2 and all("n" not in body for body in endpoint.asked)


@pytest.mark.parametrize("given", [1, 2, 3])
def test_draws_that_a_server_withholds_are_asked_for_again(
    endpoint: Endpoint, tmp_path: Path, given: int
) -> None:
    def stingy(body: Body) -> Said:
        return drawn({**body, "n": min(given, body.get("n", 1))})

    endpoint.script = stingy
    asked = draws(card(endpoint), 5, *"ab")
    found = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [one.text for one in found] == by_seed(asked)
    assert len({(one.key, one.draw) for one in found}) == 10
    wanted = [body.get("n", 1) for body in endpoint.asked]
    # one that gives one knows no `n`: it is not asked for several again
    expected = {1: [5, 1, 1, 1, 1] + [1] * 5, 2: [5, 3, 1] * 2, 3: [5, 2] * 2}
    assert wanted == expected[given]


def test_more_draws_than_asked_for_are_not_kept(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: drawn({**body, "n": 7})
    found = ask(endpoint, tmp_path, draws(card(endpoint), 3, "a"))
    assert len(found) == 3 and len(endpoint.asked) == 1


def test_too_many_at_once_are_asked_for_in_smaller_parts(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(400, "n is at most 4") if body.get("n", 1) > 4 else drawn(body)
    )
    asked = draws(card(endpoint), 8, *"ab")
    found = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [one.text for one in found] == by_seed(asked)
    assert [body.get("n", 1) for body in endpoint.asked] == [8, 1, 4, 3, 4, 4]


def test_a_request_that_is_refused_anyhow_is_refused_for_all_draws(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(400, "too long") if prompt(body) == "b" else drawn(body)
    )
    asked = draws(card(endpoint), 4, *"abc")
    found = ask(endpoint, tmp_path, asked, concurrency=1)
    assert [one.status for one in found] == ["ok"] * 4 + ["error"] * 4 + ["ok"] * 4
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
    found = ask(endpoint, tmp_path, draws(card(endpoint), 2, "a"))
    assert [one.text for one in found] == ["5", "4"]


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
            [Work(one, (0, 1, 2)) for one in draws(model, 3, *"ab")], False, keep
        )
    assert len(kept) == 3 and len(endpoint.asked) == 1


# --- an endpoint that is ill ---


def test_one_attempt_at_most_meets_a_connection_that_the_endpoint_gave_up(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """Four connections wait in the pool, and the endpoint answers on none of them
    again: the second attempt does not try the next one.
    """
    first_four = threading.Barrier(4, timeout=patience(20))
    used = set[threading.Thread]()  # the endpoint has a thread for every connection

    def answers_once(body: Body) -> Said:
        if threading.current_thread() in used:
            return Said(b"", wire=())
        used.add(threading.current_thread())
        if prompt(body) in "abcd":
            first_four.wait()
        return reply("4")

    endpoint.script = answers_once
    asked = draws(card(endpoint), 1, *"abcde")
    found = ask(endpoint, tmp_path, asked, concurrency=4, attempts=2)
    assert [one.text for one in found] == ["4"] * 5
    assert len(endpoint.asked) == 6


@pytest.mark.heavy
def test_the_same_failure_again_and_again_ends_the_job(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """What came is kept; the rest is not asked in vain."""
    left = iter(range(5))
    endpoint.script = lambda _: (
        reply("4") if next(left, None) is not None else refusal(503, "out of order")
    )
    asked = requests(card(endpoint), *MANY)
    limits = {"concurrency": 1, "attempts": 2, "max_consecutive_failures": 7}
    with pytest.raises(
        UserError, match="7 consecutive requests failed: HTTP 503: out of order"
    ):
        ask(endpoint, tmp_path, asked, **limits)
    assert len(endpoint.asked) == 5 + 7 * 2
    endpoint.script = lambda _: reply("5")
    found = ask(endpoint, tmp_path, asked)
    assert Counter(one.text for one in found) == {"4": 5, "5": 55}
    assert len(endpoint.asked) == 5 + 7 * 2 + 55


@pytest.mark.heavy
def test_failures_that_differ_or_with_replies_between_end_nothing(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    def script(body: Body) -> Said:
        number = int(prompt(body))
        if number % 3 == 0:
            return refusal(500, "down")
        return refusal(503, "down") if number % 3 == 1 else reply("4")

    endpoint.script = script
    limits = {"concurrency": 1, "attempts": 1, "max_consecutive_failures": 2}
    with pytest.raises(UserError, match="40 of 60 requests failed"):
        ask(endpoint, tmp_path, requests(card(endpoint), *MANY), **limits)
    assert len(endpoint.asked) == 60


@pytest.mark.heavy
@pytest.mark.parametrize("proven", [False, True])
def test_a_number_in_the_message_does_not_defeat_the_breaker(
    endpoint: Endpoint, tmp_path: Path, proven: bool
) -> None:
    """A wait that counts down, or the request's id, makes no failure another one."""
    count = iter(range(10_000))

    def script(body: Body) -> Said:
        if proven and prompt(body) == MANY[0]:
            return reply("4")
        told = {
            "type": "overloaded",
            "code": 7,
            "message": f"{99 - next(count)} s, request r-1",
        }
        return Said({"error": told}, 503)

    endpoint.script = script
    asked = requests(card(endpoint), *MANY)
    most = 12 if proven else HOPELESS
    with pytest.raises(
        UserError, match=f"{most} consecutive requests failed: HTTP 503"
    ):
        ask(
            endpoint,
            tmp_path,
            asked,
            concurrency=1,
            attempts=1,
            max_consecutive_failures=12,
        )
    assert len(endpoint.asked) == most + proven


@pytest.mark.heavy
def test_another_type_of_error_is_another_failure(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    count = iter(range(10_000))
    endpoint.script = lambda _: Said({"error": {"type": "ab"[next(count) % 2]}}, 503)
    with pytest.raises(UserError, match="60 of 60 requests failed"):
        ask(
            endpoint,
            tmp_path,
            requests(card(endpoint), *MANY),
            concurrency=1,
            attempts=1,
        )


def test_before_any_reply_few_failures_are_enough(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda _: refusal(502, "nobody there")
    with pytest.raises(UserError, match=f"{HOPELESS} consecutive requests failed"):
        ask(
            endpoint,
            tmp_path,
            requests(card(endpoint), *MANY),
            concurrency=1,
            attempts=1,
        )
    assert len(endpoint.asked) == HOPELESS


@pytest.mark.heavy
def test_a_model_that_is_gone_is_no_error_of_the_requests(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    """404 again and again, after replies: nothing of it is recorded."""
    left = iter(range(3))
    endpoint.script = lambda _: (
        reply("4") if next(left, None) is not None else refusal(404, "no such model")
    )
    asked = requests(card(endpoint), *MANY)
    with pytest.raises(UserError, match="refuses every request: HTTP 404"):
        ask(endpoint, tmp_path, asked, concurrency=1)
    assert len(endpoint.asked) == 3 + GONE
    endpoint.script = lambda _: reply("5")
    found = ask(endpoint, tmp_path, asked)
    assert Counter(one.text for one in found) == {"4": 3, "5": 57}


def test_a_lone_404_between_replies_is_that_requests(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(404, "no") if prompt(body) in "be" else reply("4")
    )
    found = ask(endpoint, tmp_path, requests(card(endpoint), *"abcde"), concurrency=1)
    assert [one.status for one in found] == ["ok", "error", "ok", "ok", "error"]


@pytest.mark.parametrize(
    "out", [refusal(401, "expired"), refusal(402, "pay"), refusal(403, "no")]
)
def test_what_is_under_way_when_the_job_ends_still_comes(
    endpoint: Endpoint, tmp_path: Path, out: Said
) -> None:
    """It is paid for: seven slow replies are kept, though the eighth request ended the
    job.
    """
    asked = threading.Barrier(8)

    def script(body: Body) -> Said:
        asked.wait(patience(20))
        if prompt(body) == "h":
            return out
        time.sleep(0.3)
        return reply("4")

    endpoint.script = script
    wanted = requests(card(endpoint), *"abcdefghijkl")
    with pytest.raises(UserError, match=f"rejected a request: HTTP {out.status}"):
        ask(endpoint, tmp_path, wanted, concurrency=8)
    assert len(endpoint.asked) == 8
    endpoint.script = lambda _: reply("5")
    found = ask(endpoint, tmp_path, wanted)
    assert [one.text for one in found] == ["4"] * 7 + ["5"] * 5
    assert len(endpoint.asked) == 8 + 5


def test_a_header_that_nothing_is_left_is_heeded(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    moments: list[float] = []

    def script(_: Body) -> Said:
        moments.append(time.monotonic())
        said = reply("4")
        left = {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "300ms",
        }
        return Said(said.body, headers=left if len(moments) == 2 else {})

    endpoint.script = script
    ask(endpoint, tmp_path, requests(card(endpoint), *"abcd"), concurrency=1)
    gaps = [later - sooner for sooner, later in pairwise(moments)]
    assert gaps[1] >= 0.3 and len(endpoint.asked) == 4


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
    [one], [other], [least] = (requests(model, "a") for model in (plain, renamed, bare))
    assert one.key == other.key != least.key
    for model, request in ((renamed, other), (bare, least)):
        OpenAIEngine(model)([Work(request, (0,))], False, lambda _: None)
    said = {"model": "it", "messages": [{"role": "user", "content": "a"}]}
    assert endpoint.asked == [
        {
            **said,
            **{
                "temperature": 0,
                "top_p": 1,
                "max_completion_tokens": 512,
                "seed": one.seed(0),
            },
        },
        {**said, "max_tokens": 512},
    ]


def test_a_key_in_a_header_of_its_own_and_what_follows_the_address(
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
