"""Packed answers: unpacked up to a limit, and large ones beside the event loop."""

import asyncio
import gzip
import json
import random
import threading
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from engines_openai_setup import FAST, ask, card, requests
from judgescope.engines.openai import wire
from judgescope.engines.openai.wire import AT_ONCE, NoReplyError, text_of
from scripted import Body, Said, reply, serve

TEXT = "R\u00e4ting: 4 " * 5


def deflated(data: bytes, bits: int) -> bytes:
    packer = zlib.compressobj(wbits=bits)
    return packer.compress(data) + packer.flush()


def unpacked(data: bytes, packing: str) -> str:
    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 1000):
            yield data[start : start + 1000]

    async def go() -> str:
        return await text_of(parts(), packing)

    return asyncio.run(go())


@pytest.mark.parametrize("times", [1, 10_000])
@pytest.mark.parametrize(
    ("packing", "pack"),
    [
        *(("", bytes), ("identity", bytes), ("gzip", gzip.compress), ("X-Gzip", gzip.compress)),
        *(("deflate", zlib.compress), ("deflate", lambda data: deflated(data, -15))),
    ],
)
def test_any_packing_that_was_asked_for_is_unpacked(
    times: int, packing: str, pack: Callable[[bytes], bytes]
) -> None:
    assert unpacked(pack((TEXT * times).encode()), packing) == TEXT * times


@pytest.mark.parametrize(
    ("data", "packing", "reason"),
    [
        (b"{}", "br", "unrequested encoding"),
        (b"{}", "gzip, gzip", "unrequested encoding"),
        (b"{}" * 50, "gzip", "cannot be decompressed"),
        (gzip.compress(b"{}" * 50, mtime=0)[:-9], "gzip", "ends before its compressed data does"),
        (
            gzip.compress(bytes(AT_ONCE * 4), mtime=0)[:-9],
            "gzip",
            "ends before its compressed data does",
        ),
    ],
)
def test_what_cannot_be_unpacked_is_no_reply(data: bytes, packing: str, reason: str) -> None:
    with pytest.raises(NoReplyError, match=reason):
        unpacked(data, packing)


def test_much_is_unpacked_in_another_thread_and_up_to_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = zlib.decompressobj, list[tuple[bool, int]]()
    monkeypatch.setattr(wire, "MOST_BYTES", 4 * AT_ONCE)

    class Watched:
        """An unpacker that notes in which thread it works, and up to how many bytes."""

        def __init__(self, bits: int) -> None:
            self.real = real(bits)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def decompress(self, data: bytes, most: int) -> bytes:
            calls.append((threading.current_thread() is threading.main_thread(), most))
            return self.real.decompress(data, most)

    monkeypatch.setattr("judgescope.engines.openai.wire.zlib.decompressobj", Watched)
    unpacked(gzip.compress(bytes(AT_ONCE - 1)), "gzip")
    assert calls == [(True, AT_ONCE)]
    calls.clear()
    with pytest.raises(NoReplyError, match="decompresses to more"):
        unpacked(gzip.compress(bytes(100 * AT_ONCE)), "gzip")
    assert calls == [(True, AT_ONCE), *[(False, AT_ONCE)] * 4]
    assert len(unpacked(gzip.compress(bytes(4 * AT_ONCE)), "gzip")) == 4 * AT_ONCE
    calls.clear()
    noise = random.Random(1).randbytes(AT_ONCE).hex()  # large as it comes
    assert unpacked(gzip.compress(noise.encode()), "gzip") == noise
    assert calls and not any(main for main, _ in calls)


@pytest.mark.heavy
def test_a_bomb_among_packed_answers_costs_its_neighbours_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wire, "MOST_BYTES", 1 << 22)
    bomb = gzip.compress(bytes(1 << 26))

    def script(body: Body) -> Said:
        said = reply("4")
        if body["messages"][0]["content"] == "bomb":
            return Said(bomb, headers={"Content-Encoding": "gzip"})
        packed = gzip.compress(json.dumps(said.body).encode())
        return Said(packed, headers={"Content-Encoding": "gzip"})

    with serve(script) as endpoint:
        model = card(endpoint, limits={**FAST, "concurrency": 4, "timeout": 60})
        came, failures = ask(model, *requests(model, "a", "bomb", *"bcdef"))
    assert came == dict.fromkeys("abcdef", "ok: 4")
    assert [one.about for one in failures] == ["bomb"] and "decompresses" in failures[0].reason
    assert Counter(endpoint.prompts) == {**dict.fromkeys("abcdef", 1), "bomb": FAST["attempts"]}
    assert endpoint.headers[0]["Accept-Encoding"] == "gzip, deflate"
