"""The gate before an endpoint: how many and how fast, and what the endpoint says of
it.
"""

import asyncio
from collections.abc import Callable
from email.utils import formatdate
from time import time
from typing import Any

import pytest

from judgescope.engines.openai.rate import (
    LONGEST_WAIT,
    Gate,
    asked_wait,
    drawn_wait,
    exhausted,
    until,
)
from judgescope.schema.cards import Limits


class Clock:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, pause = Clock(), asyncio.sleep

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        await pause(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return clock


def passed(clock: Clock, use: Callable[[Gate], Any], **limits: Any) -> list[float]:
    """Return the seconds from the start at which the requests of `use` were sent."""

    async def go() -> list[float]:
        gate = Gate(Limits(**limits), clock)
        return [moment - 1000 for moment in await use(gate)]

    return asyncio.run(go())


def test_so_many_requests_a_minute(clock: Clock) -> None:
    async def five(gate: Gate) -> list[float]:
        return [await gate.enter(1) for _ in range(5)]

    assert passed(clock, five, requests_per_minute=30) == [0, 2, 4, 6, 8]


def test_so_many_tokens_a_minute_and_what_was_not_used_is_given_back(
    clock: Clock,
) -> None:
    async def use(gate: Gate) -> list[float]:
        sent = [await gate.enter(100) for _ in range(2)]
        gate.answered(50)  # of the two, one took half of what was thought
        return [*sent, *[await gate.enter(100) for _ in range(2)]]

    assert passed(clock, use, tokens_per_minute=600) == [0, 10, 15, 25]


def test_what_fits_is_sent_at_once(clock: Clock) -> None:
    async def use(gate: Gate) -> list[float]:
        return [await gate.enter(10**9) for _ in range(16)]

    assert passed(clock, use) == [0] * 16


def test_a_closed_gate_lets_nobody_pass_and_closing_for_less_changes_nothing(
    clock: Clock,
) -> None:
    async def use(gate: Gate) -> list[float]:
        gate.close(7)
        gate.close(3)
        return [await gate.enter(1), await gate.enter(1)]

    assert passed(clock, use) == [7, 7]


def test_too_many_halves_once_for_all_sent_before_and_answers_raise_it_slowly(
    clock: Clock,
) -> None:
    gate = Gate(Limits(concurrency=16), clock)
    sent = clock()
    clock.now += 1
    for _ in range(10):
        gate.throttled(sent)
    assert gate.allowed == 8
    gate.throttled(clock())
    assert gate.allowed == 4
    for _ in range(4):  # a round of answers: about one more
        gate.answered(0)
    assert 4.8 < gate.allowed <= 5
    for _ in range(10):
        clock.now += 1
        gate.throttled(clock())
    assert gate.allowed == 1
    for _ in range(1000):
        gate.answered(0)
    assert gate.allowed == 16


def test_each_round_of_429_closes_the_gate_twice_as_long_until_an_answer(
    clock: Clock,
) -> None:
    gate = Gate(Limits(concurrency=16, backoff=2), clock)

    async def pause() -> float:
        sent = clock()
        clock.now += 1
        for _ in range(3):  # of one round, once
            gate.throttled(sent)
        refused = clock()
        opened = await gate.enter(1)
        gate.leave()
        return opened - refused

    async def go() -> list[float]:
        pauses = [await pause() for _ in range(7)]
        gate.answered(0)
        return [*pauses, await pause()]

    assert asyncio.run(go()) == [1, 2, 4, 8, 16, LONGEST_WAIT / 2, LONGEST_WAIT / 2, 1]


def test_throttled_request_waits_half_to_all_of_a_doubling_bound_by_its_name() -> None:
    waits = {
        name: [drawn_wait(name, 1, attempt, throttled=True) for attempt in range(1, 10)]
        for name in ("k0", "k1")
    }
    for drawn in waits.values():
        for number, wait in enumerate(drawn):
            minimum = min(2.0**number, LONGEST_WAIT)
            assert minimum / 2 <= wait <= minimum
    assert waits["k0"] != waits["k1"]
    assert waits["k0"][3] == drawn_wait("k0", 1, 4, throttled=True)


def test_as_many_as_other_jobs_leave_are_under_way(clock: Clock) -> None:
    async def go() -> list[str]:
        gate, order = Gate(Limits(concurrency=4), clock), list[str]()
        gate.share(0)

        async def take(name: str) -> None:
            await gate.enter(1)
            order.append(name)

        tasks = [asyncio.create_task(take(name)) for name in "abc"]
        for _ in range(3):
            await asyncio.sleep(0)
        assert order == []
        gate.share(2)
        for _ in range(3):
            await asyncio.sleep(0)
        assert order == ["a", "b"]
        gate.share(1)
        gate.leave()
        for _ in range(3):
            await asyncio.sleep(0)
        assert order == ["a", "b"]  # one is under way still, and one may be
        gate.leave()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(go()) == ["a", "b", "c"]


def test_who_waits_gets_the_location_of_who_leaves_also_when_another_gives_up() -> None:
    async def go() -> list[str]:
        gate, order = Gate(Limits(concurrency=1)), []

        async def take(name: str) -> None:
            await gate.enter(1)
            order.append(name)

        await take("a")
        waiting = {name: asyncio.create_task(take(name)) for name in "bcd"}
        await asyncio.sleep(0)
        gate.leave()  # b has the place, and gives up before it takes it
        waiting["b"].cancel()
        for _ in range(3):
            await asyncio.sleep(0)
        gate.leave()
        await asyncio.gather(waiting["c"], waiting["d"])
        assert gate.under_way == 1
        return order

    assert asyncio.run(go()) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "inf"}, float("inf")),
        ({"Retry-After": "3", "retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_how_long_the_endpoint_wants_to_rest(
    headers: dict[str, str], seconds: Any
) -> None:
    assert asked_wait(headers) == seconds


def test_a_date_is_a_wait_until_then() -> None:
    wait = asked_wait({"Retry-After": formatdate(time() + 30, usegmt=True)})
    assert wait is not None and 27 < wait <= 30


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("12", 12), ("1.5s", 1.5), ("6m0s", 360), ("20ms", 0.02), ("1h2m", 3720)),
        *((None, None), ("", None), ("soon", None), ("5 apples", None)),
    ],
)
def test_a_reset_is_read_in_any_form(header: str | None, seconds: float | None) -> None:
    assert until(header) == seconds


def test_a_reset_may_be_a_moment() -> None:
    for moment in (time() + 40, 1000 * (time() + 40)):
        assert until(str(moment)) == pytest.approx(40, abs=2)
    assert until("1500000000") == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        (
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"},
            2,
        ),
        (
            {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "2s"},
            0,
        ),
        (
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"},
            360,
        ),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "5"}, 5),
        ({"x-ratelimit-remaining": "0"}, 0),
    ],
)
def test_nothing_left_is_a_wait_for_the_reset(
    headers: dict[str, str], seconds: float
) -> None:
    assert exhausted(headers) == seconds
