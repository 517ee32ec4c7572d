"""A scripted endpoint on loopback that speaks OpenAI's protocol and counts what it is
asked.
"""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """One answer: HTTP status, headers, and the body as an object or as raw bytes.

    `lacks`: so many bytes are announced and never come; the connection is held for
    `stalls` seconds and then closed.
    """

    body: Body | bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    lacks: int = 0
    stalls: float = 0


def reply(text: str | None, finish: str = "stop", **message: Any) -> Said:
    """Return an answer with one choice, 7 tokens of prompt and 3 of completion."""
    return answer({"finish_reason": finish, "message": {"content": text, **message}})


def replies(*texts: str) -> Said:
    """Return an answer with a choice for each text."""
    return answer(
        *({"finish_reason": "stop", "message": {"content": text}} for text in texts)
    )


def answer(*choices: Body) -> Said:
    """Return an answer with these choices, 7 tokens of prompt and 3 of completion for
    each.
    """
    numbered = [{"index": number, **choice} for number, choice in enumerate(choices)]
    usage = {"prompt_tokens": 7, "completion_tokens": 3 * len(choices)}
    return Said(
        {
            "model": "scripted",
            "system_fingerprint": "fp",
            "choices": numbered,
            "usage": usage,
        }
    )


def refusal(status: int, message: str, **headers: str) -> Said:
    """Return an error in the shape that most endpoints use."""
    return Said({"error": {"message": message}}, status, headers)


Script = Callable[[Body], Said]


@dataclass
class Endpoint:
    """A running endpoint; `script` may be replaced, `asked` has the body of every
    request.
    """

    url: str
    script: Script
    asked: list[Body] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def authorised(self) -> list[str | None]:
        """Return what every request gave as its authorisation."""
        return [headers.get("Authorization") for headers in self.headers]

    @property
    def prompts(self) -> list[str]:
        """Return the first message of every request, in the order of arrival."""
        return [body["messages"][0]["content"] for body in self.asked]


class Silent(BaseHTTPRequestHandler):
    """A handler that keeps connections open and logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that neither waits for its threads nor reports a client that went
    away.
    """

    daemon_threads = True
    request_queue_size = 1024  # of five, requests of a burst wait until they time out

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that went away is part of some tests."""


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[None]:
    """Let a server answer in a thread until the block ends."""
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}
    )
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    """Run an endpoint on a free port of loopback until the block ends; with `tls`, on
    https.
    """

    class Handler(Silent):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with endpoint.lock:
                endpoint.asked.append(body)
                endpoint.headers.append(dict(self.headers.items()))
                endpoint.paths.append(self.path)
            said = endpoint.script(body)
            content = (
                said.body
                if isinstance(said.body, bytes)
                else json.dumps(said.body).encode()
            )
            self.send_response(said.status)
            for name, value in {
                "Content-Type": "application/json",
                **said.headers,
            }.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) + said.lacks))
            self.end_headers()
            self.wfile.write(content)
            if said.lacks:
                self.wfile.flush()
                time.sleep(said.stalls)
                self.close_connection = True

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "https" if tls else "http"
    endpoint = Endpoint(f"{scheme}://127.0.0.1:{server.server_port}/v1", script)
    with running(server):
        yield endpoint
