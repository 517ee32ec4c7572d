"""A scripted endpoint on loopback that speaks OpenAI's protocol and counts what it is
asked.
"""

import json
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """One answer: HTTP status, headers, and the body as an object or as raw bytes.

    `lacks`: so many bytes are announced and never come; the connection is held for
    `stalls` seconds and then closed. `wire`: parts that are sent as they are, `stalls`
    seconds apart, in place of status, headers and body; then the connection is closed,
    reset if it `resets`, or open for the next request if it `keeps`.
    """

    body: Body | bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    lacks: int = 0
    stalls: float = 0
    wire: Sequence[bytes] | None = None
    resets: bool = False
    keeps: bool = False


TEXT_HEAD = re.compile(
    r"^(?:[A-Z][a-z]+ to (?:rate|judge|annotate|check)|The [a-z]+):\n", re.MULTILINE
)
"""In shipped prompts, what stands before the text."""
PAIR_HEAD = re.compile(r"^[A-Z][a-z]+ [AB]:\n", re.MULTILINE)
"""In shipped prompts that compare, what stands before each text."""


def text_in(prompt: str) -> str:
    """Return the text that a shipped prompt is about, with what follows it."""
    return TEXT_HEAD.split(prompt)[-1]


def texts_in(prompt: str) -> list[str]:
    """Return both texts that a shipped prompt compares, each with what follows it."""
    return PAIR_HEAD.split(prompt)[1:]


def prompt_of(body: Body) -> str:
    """Return the text of a request's first message."""
    return str(body["messages"][0]["content"])


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
        return [prompt_of(body) for body in self.asked]


class Silent(BaseHTTPRequestHandler):
    """A handler that keeps connections open and logs nothing."""

    protocol_version = "HTTP/1.1"
    # else headers and body, two packets, are 40 ms apart
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def send_parts(self, text: Said) -> None:
        """Send the parts of an answer as they are, and end the connection."""
        for number, part in enumerate(text.wire or ()):
            time.sleep(text.stalls if number else 0)
            self.wfile.write(part)
            self.wfile.flush()
        if text.resets:  # without lingering, the kernel sends a reset
            lingering = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
        self.close_connection = not text.keeps


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


def unsigned(folder: Path) -> ssl.SSLContext:
    """Return TLS with a certificate for loopback that nobody signed, made in a folder.

    Needs the program openssl.
    """
    key, certificate = folder / "key.pem", folder / "ca.pem"
    words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1")
    subject = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(certificate))
    subprocess.run([*words, *subject, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


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
            text = endpoint.script(body)
            if text.wire is not None:
                self.send_parts(text)
                return
            content = (
                text.body
                if isinstance(text.body, bytes)
                else json.dumps(text.body).encode()
            )
            self.send_response(text.status)
            for name, value in {
                "Content-Type": "application/json",
                **text.headers,
            }.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content) + text.lacks))
            self.end_headers()
            self.wfile.write(content)
            if text.lacks:
                self.wfile.flush()
                time.sleep(text.stalls)
                self.close_connection = True

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "https" if tls else "http"
    endpoint = Endpoint(f"{scheme}://127.0.0.1:{server.server_port}/v1", script)
    with running(server):
        yield endpoint
