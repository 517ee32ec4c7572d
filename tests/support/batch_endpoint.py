"""A loopback endpoint with files and batches, as OpenAI and Azure have them."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from scripted import Body, Said, Script, Server, Silent, refusal, running

Row = dict[str, Any]
LOST = "lost"
"""A route that is done whose answer never comes."""


@dataclass
class BatchEndpoint:
    """A running endpoint: what it was sent, and what it says of its batches.

    `script` answers each line of a batch. `faults`: route -> what to answer in its
    place, once; LOST: the work is done, and the answer is lost.
    """

    url: str
    script: Script
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, Row] = field(default_factory=dict)
    faults: dict[str, Said | str] = field(default_factory=dict)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    asked: list[Body] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    checking: list[str] = field(default_factory=list)
    """What files say before they say `processed`."""

    def lines(self, ident: str) -> list[Row]:
        """Return the requests of a batch."""
        content = self.files[self.batches[ident]["input_file_id"]]
        return [json.loads(line) for line in content.splitlines()]

    def end(self, status: str = "completed", answered: int | None = None) -> None:
        """End every batch that runs, with results for its first requests, by default
        for all.
        """
        for ident, batch in self.batches.items():
            if batch["status"] != "in_progress":
                continue
            output, errors = list[Row](), list[Row]()
            for number, line in enumerate(self.lines(ident)):
                if answered is not None and number >= answered:
                    error = {
                        "code": f"batch_{status}",
                        "message": f"The batch {status}.",
                    }
                    errors.append({"custom_id": line["custom_id"], "error": error})
                    continue
                text = self.script(line["body"])
                response = {"status_code": text.status, "body": text.body}
                row = {"id": "r", "custom_id": line["custom_id"], "response": response}
                (output if text.status == 200 else errors).append(row | {"error": None})
            batch["status"] = status
            batch["request_counts"] |= {"completed": len(output), "failed": len(errors)}
            for name, rows in (("output", output), ("error", errors)):
                if rows:
                    batch[f"{name}_file_id"] = self.keep(
                        "\n".join(map(json.dumps, rows)).encode()
                    )

    def keep(self, content: bytes) -> str:
        """Keep a file and return its id."""
        ident = f"file-{len(self.files)}"
        self.files[ident] = content
        return ident

    def do(self, method: str, path: str, content: bytes, kind: str) -> Said | bytes:
        """Answer one request."""
        match [method, *path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                mark = kind.partition("boundary=")[2].strip('"').encode()
                parts = [
                    part for part in content.split(b"--" + mark) if b"filename=" in part
                ]
                assert b'name="purpose"' in content and b"\r\nbatch\r\n" in content
                return self._file(
                    self.keep(parts[0].partition(b"\r\n\r\n")[2].rstrip(b"\r\n"))
                )
            case ["GET", "files", ident]:
                return self._file(ident)
            case ["GET", "files", ident, "content"]:
                return self.files[ident]
            case ["POST", "batches"]:
                body = json.loads(content)
                assert body["endpoint"] == "/v1/chat/completions"
                assert body["completion_window"] == "24h"
                ident = f"batch-{len(self.batches)}"
                total = len(self.files[body["input_file_id"]].splitlines())
                counts = {"total": total, "completed": 0, "failed": 0}
                fields = {
                    "id": ident,
                    "object": "batch",
                    "status": "in_progress",
                    "created_at": 1,
                }
                self.batches[ident] = {**body, **fields, "request_counts": counts}
                return Said(self.batches[ident])
            case ["GET", "batches"]:
                return Said(
                    {
                        "object": "list",
                        "data": [*self.batches.values()],
                        "has_more": False,
                    }
                )
            case ["GET", "batches", ident]:
                return Said(self.batches[ident])
            case ["POST", "batches", ident, "cancel"]:
                if self.batches[ident]["status"] != "in_progress":
                    return refusal(409, "Cannot cancel this batch.")
                self.cancelled.append(ident)
                return Said(self.batches[ident])
            case ["POST", "chat", "completions"]:
                self.asked.append(json.loads(content))
                return self.script(self.asked[-1])
        return refusal(404, f"no route {method} {path}")

    def _file(self, ident: str) -> Said:
        status = self.checking.pop(0) if self.checking else "processed"
        known = {"id": ident, "object": "file", "purpose": "batch", "status": status}
        return Said(
            {**known, "bytes": len(self.files[ident]), "created_at": 1, "filename": "f"}
        )


@contextmanager
def serve_batches(script: Script) -> Iterator[BatchEndpoint]:
    """Run an endpoint on a free port of loopback until the block ends."""

    class Handler(Silent):
        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            endpoint.headers.append(
                {n.lower(): value for n, value in self.headers.items()}
            )
            path = self.path.partition("?")[0]
            route = re.sub(r"(file|batch)-\d+", "*", f"{self.command} {path}")
            fault = endpoint.faults.pop(route, None)
            kind = self.headers.get("Content-Type") or ""
            if isinstance(fault, Said):
                text: Said | bytes = fault
            else:
                text = endpoint.do(self.command, path, content, kind)
            if fault == LOST:
                self.close_connection = True
                return
            if isinstance(text, bytes):
                text = Said(text)
            body = (
                text.body
                if isinstance(text.body, bytes)
                else json.dumps(text.body).encode()
            )
            self.send_response(text.status)
            for name, value in (
                {"Content-Type": "application/json"} | dict(text.headers)
            ).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _answer

    server = Server(("127.0.0.1", 0), Handler)
    endpoint = BatchEndpoint(f"http://127.0.0.1:{server.server_port}/v1", script)
    with running(server):
        yield endpoint
