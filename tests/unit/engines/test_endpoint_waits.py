"""How long the engine waits before it sends a request again."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from engines_openai_setup import FAST as QUICK
from engines_openai_setup import after, ask, card, requests
from judgescope.engines.openai.rate import LONGEST_WAIT
from judgescope.engines.requests import (
    Failure,
)
from scripted import Body, Endpoint, Said, prompt_of, refusal, reply, serve
from waiting import patience

FAST = {**QUICK, "timeout": 60}


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that says 4."""
    with serve(lambda _: reply("4")) as running:
        yield running


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let nobody wait, and note for how long each would have."""
    noted: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        if seconds:
            noted.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    return noted


# --- waiting ---


@pytest.mark.heavy
def test_the_wait_is_drawn_below_a_bound_that_doubles(
    endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.script = lambda _: refusal(503, "later")
    model = card(
        endpoint,
        limits={
            **FAST,
            "attempts": 12,
            "backoff": 0.5,
            "concurrency": 1,
            "patience": 3600,
        },
    )
    _, failures = ask(model, *requests(model, "a", "b"))
    assert [failure.reason for failure in failures] == [
        "HTTP 503: later (12 attempts)"
    ] * 2
    assert len(waits) == 22 and len(endpoint.asked) == 24
    for number, wait in enumerate(waits):
        assert 0 < wait <= min(0.5 * 2 ** (number % 11), LONGEST_WAIT)
    assert waits[0] != waits[11]
    assert (
        min(waits[n] / min(0.5 * 2 ** (n % 11), LONGEST_WAIT) for n in range(22)) < 0.3
    )


@pytest.mark.parametrize(
    ("header", "at_least", "at_most"),
    [
        *(("7", 6.9, 7), ("0", 0, 0), ("-3", 0, 0), ("nan", 0, 0.01)),
        *(("", 0, 0.01), ("soon", 0, 0.01), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0)),
    ],
)
def test_what_the_endpoint_says_of_waiting_is_followed_within_bounds(
    endpoint: Endpoint, waits: list[float], header: str, at_least: float, at_most: float
) -> None:
    endpoint.script = after(1, refusal(503, "later", **{"Retry-After": header}))
    model = card(endpoint)
    assert ask(model, *requests(model, "a")) == ({"a": "ok: 4"}, [])
    assert len(endpoint.asked) == 2
    assert at_least <= sum(waits) <= at_most


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_who_hangs_up_is_asked_as_often_as_the_card_says(
    endpoint: Endpoint, attempts: int
) -> None:
    def hang_up(_: Body) -> Said:
        raise ConnectionResetError

    endpoint.script = hang_up
    model = card(endpoint, limits={**FAST, "attempts": attempts})
    [failure] = ask(model, *requests(model, "a"))[1]
    assert failure.reason.startswith("no response: ")
    assert failure.reason.endswith(f"({attempts} attempts)")
    assert len(endpoint.asked) == attempts


def test_the_reason_says_that_the_time_was_up(endpoint: Endpoint) -> None:
    woken = threading.Event()
    endpoint.script = lambda _: reply("4") if woken.wait(patience(5)) else reply("5")
    model = card(endpoint, limits={**FAST, "timeout": 0.1, "attempts": 2})
    [failure] = ask(model, *requests(model, "a"))[1]
    woken.set()
    assert failure == Failure("a", "no response: TimeoutError (2 attempts)")


@pytest.mark.heavy
def test_who_waits_to_ask_again_still_has_his_location(endpoint: Endpoint) -> None:
    """Retries add no requests under way, and nobody is asked about twice at once."""
    lock, under_way, peak = threading.Lock(), set[str](), 0
    tried: dict[str, int] = {}

    def count(body: Body) -> Said:
        nonlocal peak
        with lock:
            assert prompt_of(body) not in under_way
            under_way.add(prompt_of(body))
            peak = max(peak, len(under_way))
            tried[prompt_of(body)] = tried.get(prompt_of(body), 0) + 1
        threading.Event().wait(0.01)
        with lock:
            under_way.remove(prompt_of(body))
        return reply("4") if tried[prompt_of(body)] == 3 else refusal(500, "later")

    endpoint.script = count
    model = card(endpoint, limits={**FAST, "concurrency": 3})
    came, failures = ask(model, *requests(model, *map(str, range(8))))
    assert len(came) == 8 and not failures and peak == 3
    assert set(tried.values()) == {3}
