"""Stands in for vLLM's server: its command line, its key, two pages, and processes of
its own.

`python vllm_stand_in.py HOW --port N --served-model-name NAME…`, HOW being `well`,
`broken` (ends at once), `deaf` (never ready), `stubborn` (will not end when asked),
`late` (its first start finds the port taken) or `crowded` (it answers once $CROWD
requests are open, and writes how many were into $PIDS/most). Every process it consists
of writes its number into a file of $PIDS.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from waiting import patience

PIDS = Path(os.environ["PIDS"])


def note() -> None:
    """Leave a note of this process."""
    (PIDS / str(os.getpid())).touch()


def start_others() -> None:
    """Start a process in a session of its own, which has lost its parent, and leave a
    fork too.
    """
    code = (
        f"import os, time, pathlib\npathlib.Path({str(PIDS)!r}, "
        "str(os.getpid())).touch()\n"
    )
    code += "os.setsid()\ntime.sleep(120)"
    again = (
        f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {code!r}])"
    )
    subprocess.run([sys.executable, "-c", again], check=True)
    if os.fork() == 0:
        note()
        time.sleep(120)
        os._exit(0)


class Pages(BaseHTTPRequestHandler):
    """What vLLM's server answers."""

    names: tuple[str, ...] = ()

    def do_GET(self) -> None:
        pages: dict[str, dict[str, Any]] = {
            "/version": {"version": "0.0"},
            "/v1/models": {"data": [{"id": name} for name in self.names]},
        }
        self._say(pages[self.path])

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] not in self.names:
            self.send_error(404)
            return
        content = {"message": {"content": "4"}, "finish_reason": "stop"}
        self._say({"model": body["model"], "choices": [content] * body.get("n", 1)})

    def _say(self, body: dict[str, Any]) -> None:
        if self.headers.get("Authorization") != f"Bearer {os.environ['VLLM_API_KEY']}":
            self.send_error(401)
            return
        result = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(result)))
        self.end_headers()
        self.wfile.write(result)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main(how: str, line: list[str]) -> None:
    """Behave."""
    # A server holds a file for each connection, also where the job has few.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    port = int(line[line.index("--port") + 1])
    first = line.index("--served-model-name") + 1
    last = next(i for i in range(first, len(line)) if line[i].startswith("--"))
    Pages.names = tuple(line[first:last])
    first_start = not any(PIDS.iterdir())
    note()
    if how == "broken":
        sys.exit("no such model")
    if how == "late" and first_start:
        take_for_good(port)
        sys.exit("address already in use")
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    start_others()
    if how == "deaf":
        time.sleep(120)
    pages = Crowd if how == "crowded" else Pages
    Threads(("127.0.0.1", port), pages).serve_forever()


class Crowd(Pages):
    """Answers when so many requests are open at once, or when no further one comes."""

    opened, peak = 0, 0
    changed = threading.Condition()
    wanted = int(os.environ.get("CROWD", "0"))

    def do_POST(self) -> None:
        with self.changed:
            Crowd.opened += 1
            if Crowd.opened > Crowd.peak:
                Crowd.peak = Crowd.opened
                (PIDS / "most").write_text(str(Crowd.peak))
                self.changed.notify_all()
            self.changed.wait_for(lambda: Crowd.peak >= self.wanted, patience(60))
        try:
            super().do_POST()
        finally:
            with self.changed:
                Crowd.opened -= 1


class Threads(ThreadingHTTPServer):
    """Accepts many connections at once, as vLLM's server does."""

    request_queue_size = 4096


def take_for_good(port: int) -> None:
    """Let another program have the port."""
    if os.fork() == 0:
        os.environ.clear()
        with socket.create_server(("127.0.0.1", port)):
            (PIDS / "taker").write_text(str(os.getpid()))
            time.sleep(20)
        os._exit(0)
    while not (PIDS / "taker").exists():
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
