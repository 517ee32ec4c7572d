"""A public repository on loopback: it serves files, cuts them, moves them, refuses
them.
"""

import hashlib
import threading
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789" * 4


class Repository:
    """What is served, how, and which paths were asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.status = 200
        self.cut = False
        self.moved: dict[str, str] = {}
        self.asked: list[str] = []
        self.url = ""


def blob(content: bytes) -> str:
    """Return the id that git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()


def source(
    files: Mapping[str, bytes],
    folder: str = "mine",
    *,
    by_blob: Container[str] = (),
    **keys: Any,
) -> dict[str, Any]:
    """Return the key `source` of a card for files by their path in a repository;
    those of `by_blob` are pinned by their git blob id alone.
    """
    described: list[dict[str, Any]] = []
    for path, content in files.items():
        entry: dict[str, Any] = {
            "path": path,
            "file": f"{folder}/{path.rpartition('/')[2]}",
        }
        if path in by_blob:
            entry["git_blob"] = blob(content)
        else:
            entry["bytes"] = len(content)
            entry["sha256"] = hashlib.sha256(content).hexdigest()
        described.append(entry)
    return {"repository": "some/data", "commit": COMMIT, "files": described, **keys}


@contextmanager
def served(
    files: Mapping[str, bytes], root: str = f"/some/data/{COMMIT}"
) -> Iterator[Repository]:
    """Serve files below a root; `url` of what is yielded is the mirror's."""
    repository = Repository(
        {f"{root}/{path}": content for path, content in files.items()}
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            repository.asked.append(self.path)
            if value := repository.moved.get(self.path):
                self.send_response(301)
                self.send_header("Location", value)
                self.end_headers()
                return
            content = repository.files.get(self.path)
            status = 404 if content is None else repository.status
            content = content if content is not None and status == 200 else b"no"
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(
                content[: len(content) // 2] if repository.cut else content
            )

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    repository.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield repository
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
