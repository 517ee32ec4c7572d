"""A static chat endpoint on loopback for the benchmarks: one reply to everything, at
once.

    python benchmarks/loopback.py

prints its address and answers until its input ends. It reads no more of a request than
its length, so that one core of it outruns any client.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

REPLY = {
    "id": "static",
    "object": "chat.completion",
    "created": 0,
    "model": "static",
    "system_fingerprint": "fp",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Rating: 4"},
        }
    ],
    "usage": {"prompt_tokens": 900, "completion_tokens": 4, "total_tokens": 904},
}
BODY = json.dumps(REPLY).encode()
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)
ANSWER = HEAD % len(BODY) + BODY
LENGTH = b"content-length:"


class Static(asyncio.Protocol):
    """One connection: counts the bytes of each request, then answers."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start with nothing read."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.head, self.left = transport, b"", 0

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        while data:
            if self.left:
                taken = min(self.left, len(data))
                data, self.left = data[taken:], self.left - taken
                if not self.left:
                    self.transport.write(ANSWER)
                continue
            self.head += data
            head, found, data = self.head.partition(b"\r\n\r\n")
            if not found:
                return
            lower = head.lower()
            start = lower.index(LENGTH) + len(LENGTH)
            self.left, self.head = int(lower[start:].split(b"\r\n", 1)[0]), b""


@contextmanager
def static_server() -> Iterator[str]:
    """Run the server in a process of its own; yield its address."""
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


async def main() -> None:
    """Serve until the input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Static, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    ended = asyncio.Event()
    threading.Thread(
        target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)),
        daemon=True,
    ).start()
    await ended.wait()
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
