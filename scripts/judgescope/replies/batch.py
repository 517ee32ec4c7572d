"""Requests as files for a batch endpoint, and its results as replies.

A line is one draw of one request, in the form that OpenAI's Batch API and `vllm run-batch` both
read; its `custom_id` is the key and the draw. No network here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import REFUSED, OpenAIEngine
from judgescope.engines.openai.wire import NoReplyError, body, message_of, read_replies
from judgescope.engines.requests import Reply, Request
from judgescope.replies.lookup import Found
from judgescope.replies.planning import Job
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel

REQUESTS, BYTES = 50_000, 200_000_000  # of one file, at most
URL = "/v1/chat/completions"
ABSENT = 404  # says more of the endpoint than of a request
CUSTOM_ID = re.compile(r"([0-9a-f]{64})-([0-9]{1,6})")


class Looked(NamedTuple):
    """A job, and what the store has of it."""

    job: Job
    found: Found


def lines(card: OpenAIModel, jobs: Iterable[Looked]) -> Iterator[bytes]:
    """Yield a line for every missing draw, each key once, in the order in which they are asked."""
    seen: set[str] = set()
    for job, found in jobs:
        for request, draws in job.work(found):
            if request.key not in seen:
                seen.add(request.key)
                yield from (_line(card, request, draw) for draw in draws)


def _line(card: OpenAIModel, request: Request, draw: int) -> bytes:
    name = f"{request.key}-{draw}"
    asked = body(card, request, [draw])
    told = {"custom_id": name, "method": "POST", "url": URL, "body": asked}
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)


def write(folder: Path, name: str, told: Iterable[bytes]) -> dict[Path, int]:
    """Write lines into as many files as the limits need; file -> its lines."""
    if there := sorted(folder.glob(f"{name}-*.jsonl")):
        raise UserError(
            "the requests of an earlier export are there",
            where=str(there[0]),
            todo="import their results, or name another folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, int] = {}
    for number, part in groupby(told, key=_Parts().part_of):
        path = folder / f"{name}-{number:03}.jsonl"
        with path.open("wb") as file:
            written[path] = sum(file.write(line) > 0 for line in part)
    return written


class _Parts:
    """Which file a line goes to, told the lines one after the other."""

    def __init__(self) -> None:
        self.number, self.lines, self.bytes = 1, 0, 0

    def part_of(self, line: bytes) -> int:
        if self.lines == REQUESTS or self.bytes + len(line) > BYTES:
            self.number, self.lines, self.bytes = self.number + 1, 0, 0
        self.lines, self.bytes = self.lines + 1, self.bytes + len(line)
        return self.number


@dataclass
class Results:
    """What became of the lines of result files.

    `failed` has what may yet succeed, by reason; `foreign` counts lines about other requests;
    `of_files` the results in each file, whatever they are.
    """

    new: int = 0
    there: int = 0
    refused: int = 0
    foreign: int = 0
    torn: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    of_files: Counter[Path] = field(default_factory=Counter, compare=False)


def read(
    files: Iterable[Path], models: Iterable[tuple[OpenAIModel, Store, list[Looked]]]
) -> Results:
    """Take the replies in result files into the stores of their models.

    A refusal is kept as an error only beside a reply, there or in these files: else not the request
    is wrong, but what all have in common. Raises UserError then, and keeps none.
    """
    done = Results()
    readers = [_Reader(*model, done) for model in models]
    for path in files:
        for line in path.open("rb"):
            row = _row(line)
            if row is None:
                done.torn += 1
            elif any(reader.take(row) for reader in readers):
                done.of_files[path] += 1
            else:
                done.foreign += 1
    for reader in readers:
        reader.settle()
    return done


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("custom_id"), str):
        return None
    return row if {"response", "error"} & row.keys() else None  # a request has neither


def _text(content: Any) -> str:
    """Return JSON as a text again; none for what is nested more deeply than anybody writes."""
    try:
        return orjson.dumps(content).decode()
    except orjson.JSONEncodeError:
        return ""


class _Reader:
    """Takes the results that belong to one model."""

    def __init__(self, card: OpenAIModel, store: Store, jobs: list[Looked], done: Results) -> None:
        self.engine, self.store, self.jobs, self.done = OpenAIEngine(card), store, jobs, done
        self.proven = any(found.count for _, found in jobs)
        self.refusals: list[Reply] = []

    def take(self, row: dict[str, Any]) -> bool:
        """Take a result; return whether it is about a request to this model."""
        named = CUSTOM_ID.fullmatch(row["custom_id"])
        if named is None:
            return False
        key, draw = named[1], int(named[2])
        mine = [(job, found) for job, found in self.jobs if found.lacks(key, draw) is not None]
        if not mine:
            return False
        job, found = mine[0]
        if not found.lacks(key, draw):
            self.done.there += 1
            return True
        reply = self._reply(row, job.request(job.wanted.place(key)), draw)
        if reply is not None and reply.status == "error":
            self.refusals.append(reply)
        elif reply is not None:
            self._keep(reply)
            self.done.new += 1
        return True

    def _reply(self, row: dict[str, Any], request: Request, draw: int) -> Reply | None:
        """Return the reply in a result; None, and its reason counted, if it may yet succeed."""
        response = row.get("response")
        response = response if isinstance(response, dict) else {}
        status, content = response.get("status_code"), response.get("body")
        status = status if type(status) is int else None
        if status == 200 and not row.get("error"):
            try:
                [reply] = read_replies(_text(content), request, [draw])
                return self.engine.cleaned(reply)
            except NoReplyError as error:
                self.done.failed[str(error)] += 1
                return None
        said = self.engine.safe(message_of(_text(content or row.get("error"))))
        if status in REFUSED - {ABSENT}:
            return Reply(request.key, draw, f"HTTP {status}: {said}", "error", "error")
        self.done.failed[f"HTTP {status}: {said}" if status else said] += 1
        return None

    def _keep(self, reply: Reply) -> None:
        written = self.store.append(reply)
        for _, found in self.jobs:
            if found.lacks(reply.key, reply.draw):
                found.add(reply, *written)

    def settle(self) -> None:
        """Keep the refusals, if a reply shows that requests can succeed."""
        if self.refusals and not self.proven and not any(found.count for _, found in self.jobs):
            raise UserError(
                f"every request was refused: {self.refusals[0].text}",
                where=f"models/{self.engine.card.model}.yaml",
                todo="mend the card and export again; no refusal is kept",
            )
        for reply in self.refusals:
            if any(found.lacks(reply.key, reply.draw) for _, found in self.jobs):
                self._keep(reply)
                self.done.refused += 1
