"""Answers that are legal and unusual: read at once, and never paid for twice."""

import gzip
import json

import pytest

from engines_openai_setup import FAST, card, endpoint, requests
from judgescope.engines.openai import wire
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Failure, Reply, Work
from scripted import Endpoint, Said, reply

__all__ = ["endpoint"]
BODY = json.dumps(reply("4").body).encode()
LARGE = json.dumps({**json.loads(BODY), "padding": "x" * 700_000}).encode()
PACKED = {"Content-Encoding": "gzip"}


def members(body: bytes, count: int) -> bytes:
    """Return a body in so many members of gzip."""
    size = -(-len(body) // count)
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(map(gzip.compress, parts))


def asked(endpoint: Endpoint, answer: Said) -> tuple[list[str], list[Failure]]:
    """Return the texts and failures of 40 draws."""
    endpoint.script = lambda _: answer
    model = card(endpoint, limits={**FAST, "concurrency": 4})
    kept: list[Reply] = []
    wanted = requests(model, *map(str, range(40)))
    work = [Work(each, (0,)) for each in wanted]
    failures = OpenAIEngine(model)(work, False, kept.append)
    return [each.text for each in kept], failures


@pytest.mark.parametrize("body", [BODY, LARGE])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_gzip_in_several_members_is_read(
    endpoint: Endpoint, body: bytes, count: int
) -> None:
    answer = Said(members(body, count), headers=PACKED)
    assert asked(endpoint, answer) == (["4"] * 40, [])
    assert len(endpoint.asked) == 40


@pytest.mark.parametrize("rest", [b"\0" * 9, b"\x1f", b"garbage"])
def test_what_follows_the_last_member_is_ignored(
    endpoint: Endpoint, rest: bytes
) -> None:
    answer = Said(members(BODY, 2) + rest, headers=PACKED)
    assert asked(endpoint, answer) == (["4"] * 40, [])


@pytest.mark.parametrize("digits", [19, 400, 4_300, 4_301, 100_000])
def test_an_integer_that_nobody_reads_may_have_any_length(
    endpoint: Endpoint, digits: int
) -> None:
    body = BODY[:-1] + b', "created": ' + b"9" * digits + b"}"
    assert asked(endpoint, Said(body)) == (["4"] * 40, [])
    assert len(endpoint.asked) == 40


def test_members_together_obey_the_limit(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1 << 19)
    model = card(endpoint, limits={**FAST, "attempts": 1})
    endpoint.script = lambda _: Said(members(LARGE, 7), headers=PACKED)
    [wanted] = requests(model, "a")
    [failure] = OpenAIEngine(model)([Work(wanted, (0,))], True, lambda _: None)
    assert "decompresses to more than 524,288 bytes" in failure.reason


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (members(BODY, 2)[:-12], "ends before its compressed data does"),
        (members(BODY, 1) + b"\x1f\x8bnothing", "cannot be decompressed"),
        (members(BODY, 1) + gzip.compress(b"") * 10_001, "10,000 gzip members"),
    ],
)
def test_broken_members_are_half_an_answer(
    endpoint: Endpoint, body: bytes, problem: str
) -> None:
    model = card(endpoint, limits={**FAST, "attempts": 1})
    endpoint.script = lambda _: Said(body, headers=PACKED)
    [wanted] = requests(model, "a")
    [failure] = OpenAIEngine(model)([Work(wanted, (0,))], True, lambda _: None)
    assert problem in failure.reason
