"""An endpoint that is ill: what ends a job, and what it keeps."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from endpoint_asking import MANY, ask, draws
from engines_openai_setup import card, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.run import GONE
from judgescope.engines.requests import HOPELESS
from scripted import Body, Endpoint, Said, prompt_of, refusal, reply, serve
from waiting import patience


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


# --- an endpoint that is ill ---


def test_a_connection_that_the_endpoint_gave_up_fails_a_single_attempt(
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
        if prompt_of(body) in "abcd":
            first_four.wait()
        return reply("4")

    endpoint.script = answers_once
    asked = draws(card(endpoint), 1, *"abcde")
    replies = ask(endpoint, tmp_path, asked, concurrency=4, attempts=2)
    assert [reply.text for reply in replies] == ["4"] * 5
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
    replies = ask(endpoint, tmp_path, asked)
    assert Counter(reply.text for reply in replies) == {"4": 5, "5": 55}
    assert len(endpoint.asked) == 5 + 7 * 2 + 55


@pytest.mark.heavy
def test_failures_that_differ_or_with_replies_between_end_nothing(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    def script(body: Body) -> Said:
        number = int(prompt_of(body))
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
        if proven and prompt_of(body) == MANY[0]:
            return reply("4")
        fields = {
            "type": "overloaded",
            "code": 7,
            "message": f"{99 - next(count)} s, request r-1",
        }
        return Said({"error": fields}, 503)

    endpoint.script = script
    asked = requests(card(endpoint), *MANY)
    limit = 12 if proven else HOPELESS
    with pytest.raises(
        UserError, match=f"{limit} consecutive requests failed: HTTP 503"
    ):
        ask(
            endpoint,
            tmp_path,
            asked,
            concurrency=1,
            attempts=1,
            max_consecutive_failures=12,
        )
    assert len(endpoint.asked) == limit + proven


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
    replies = ask(endpoint, tmp_path, asked)
    assert Counter(reply.text for reply in replies) == {"4": 3, "5": 57}


def test_a_lone_404_between_replies_is_that_requests(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script = lambda body: (
        refusal(404, "no") if prompt_of(body) in "be" else reply("4")
    )
    replies = ask(endpoint, tmp_path, requests(card(endpoint), *"abcde"), concurrency=1)
    assert [reply.status for reply in replies] == ["ok", "error", "ok", "ok", "error"]


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
        if prompt_of(body) == "h":
            return out
        time.sleep(0.3)
        return reply("4")

    endpoint.script = script
    wanted = requests(card(endpoint), *"abcdefghijkl")
    with pytest.raises(UserError, match=f"rejected a request: HTTP {out.status}"):
        ask(endpoint, tmp_path, wanted, concurrency=8)
    assert len(endpoint.asked) == 8
    endpoint.script = lambda _: reply("5")
    replies = ask(endpoint, tmp_path, wanted)
    assert [reply.text for reply in replies] == ["4"] * 7 + ["5"] * 5
    assert len(endpoint.asked) == 8 + 5


def test_a_header_that_nothing_is_left_is_heeded(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    moments: list[float] = []

    def script(_: Body) -> Said:
        moments.append(time.monotonic())
        result = reply("4")
        left = {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "300ms",
        }
        return Said(result.body, headers=left if len(moments) == 2 else {})

    endpoint.script = script
    ask(endpoint, tmp_path, requests(card(endpoint), *"abcd"), concurrency=1)
    gaps = [later - sooner for sooner, later in pairwise(moments)]
    assert gaps[1] >= 0.3 and len(endpoint.asked) == 4
