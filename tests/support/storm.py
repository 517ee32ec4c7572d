"""An endpoint in a process of its own that answers one request in ten with a fault.

    python tests/support/storm.py

prints its address, answers until its input ends, and then prints what it did as JSON.
Which fault a request meets depends on its bytes and on how often it came: the same in
every run.
"""

import asyncio
import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Any

SLOW, SHARE, IN_A_ROW = 0.2, 0.1, 3
"""Seconds of a slow answer; how many are faults; how many faults one request meets at
most."""
LENGTH = b"content-length:"
USAGE = {"prompt_tokens": 300, "completion_tokens": 4}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"content": "Rating: 4"}}
GOOD = json.dumps(
    {"model": "storm", "system_fingerprint": "fp", "choices": [CHOICE], "usage": USAGE}
).encode()


def message(status: int, body: bytes, *headers: str, lacks: int = 0) -> bytes:
    """Return an answer as it goes over the wire; so many announced bytes never come."""
    values = (f"HTTP/1.1 {status} So", *headers, f"Content-Length: {len(body) + lacks}")
    return "\r\n".join(values).encode() + b"\r\n\r\n" + body


OK, REFUSED = message(200, GOOD), message(400, b'{"error": {"message": "too odd"}}')
FAULTS = {
    "429": message(429, b"{}"),
    "429 with a time": message(429, b"{}", "Retry-After: 0.01"),
    "500": message(500, b'{"error": {"message": "broken"}}'),
    "502 in HTML": message(502, b"<html>Bad gateway</html>"),
    "connection dropped": b"",
    "dropped in the headers": OK[:20],
    "dropped in the body": message(200, GOOD[:40], lacks=99),
    "broken JSON": message(200, GOOD[:-30]),
    "no body": message(200, b""),
    "no choice": message(200, b'{"choices": []}'),
    "not an object": message(200, b"[1, 2]"),
    "slow": OK,
    "refused": REFUSED,
}
DROPPED = {name for name in FAULTS if name.startswith(("connection", "dropped"))}
ANSWERS = {"good", "slow", "refused"}
"""What ends a request: each is kept, and never asked for again."""


class Storm:
    """What the endpoint did: how often each request came, and what was said."""

    def __init__(self) -> None:
        self.came: Counter[bytes] = Counter()
        self.answered: Counter[bytes] = Counter()
        self.said: Counter[str] = Counter()

    def fate(self, body: bytes) -> str:
        """Return what becomes of a request."""
        name = hashlib.blake2b(body, digest_size=8).digest()
        self.came[name] += 1
        chance = hashlib.blake2b(
            name + bytes([self.came[name]]), digest_size=8
        ).digest()
        fault = (
            int.from_bytes(chance[:4]) < SHARE * 2**32 and self.came[name] <= IN_A_ROW
        )
        result = (
            list(FAULTS)[int.from_bytes(chance[4:]) % len(FAULTS)] if fault else "good"
        )
        self.said[result] += 1
        self.answered[name] += result in ANSWERS
        return result

    def told(self) -> dict[str, Any]:
        """Return the figures; `answers` has how often requests were answered -> how
        many were.
        """
        answers = Counter(self.answered.values())
        return {"requests": self.came.total(), "said": self.said, "answers": answers}


class Connection(asyncio.Protocol):
    """Reads requests, one at a time, and answers each as its fate is."""

    def __init__(self, storm: Storm, later: Callable[..., Any]) -> None:
        self.storm, self.later, self.buffer = storm, later, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start with nothing read."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self.buffer += data
        while (body := self._body()) is not None:
            result = self.storm.fate(body)
            self.later(SLOW if result == "slow" else 0, self._answer, result)

    def _body(self) -> bytes | None:
        head, result, rest = self.buffer.partition(b"\r\n\r\n")
        if not result:
            return None
        size = int(head.lower().partition(LENGTH)[2].split(b"\r\n", 1)[0])
        if len(rest) < size:
            return None
        self.buffer = rest[size:]
        return rest[:size]

    def _answer(self, expected: str) -> None:
        self.transport.write(OK if expected == "good" else FAULTS[expected])
        if expected in DROPPED:
            self.transport.close()


async def main() -> None:
    """Serve until the input ends."""
    loop, storm, ended = asyncio.get_running_loop(), Storm(), asyncio.Event()
    server = await loop.create_server(
        lambda: Connection(storm, loop.call_later), "127.0.0.1", 0, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    threading.Thread(
        target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)),
        daemon=True,
    ).start()
    await ended.wait()
    server.close()
    print(json.dumps(storm.told()), flush=True)


class Running:
    """The endpoint while it runs; `told` is there when it has ended."""

    def __init__(self, url: str) -> None:
        self.url, self.told = url, dict[str, Any]()


@contextmanager
def storm() -> Iterator[Running]:
    """Run the endpoint in a process of its own."""
    with Popen(
        [sys.executable, __file__], stdin=PIPE, stdout=PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        running = Running(process.stdout.readline().strip())
        try:
            yield running
        finally:
            process.stdin.close()
            running.told = json.loads(process.stdout.read())


if __name__ == "__main__":
    asyncio.run(main())
