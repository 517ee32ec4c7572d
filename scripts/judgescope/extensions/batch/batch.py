"""Writes requests as files for a batch endpoint, reads its results as replies; uses no
network.

A line is one draw of one request, in the format that OpenAI's Batch API and `vllm
run-batch` both read; its `custom_id` is the key and the draw.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from judgescope.core.errors import UserError
from judgescope.engines.openai.endpoint import ABSENT, REFUSED
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.openai.refusals import refusal_rule
from judgescope.engines.openai.wire import (
    NoReplyError,
    body,
    loads,
    message_of,
    read_replies,
)
from judgescope.engines.requests import Reply, Request, Work
from judgescope.replies.lookup import KeyTable
from judgescope.replies.open_batches import CUSTOM_ID
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel

REQUESTS = 50_000
BYTES = 200_000_000
"""The most requests and bytes in one file."""
URL: Final = "/v1/chat/completions"


class FinalError(UserError):
    """A permanent error: a refused file, requests that are all refused, or too little
    money.
    """

    @classmethod
    def from_error(cls, error: UserError) -> "FinalError":
        """Return the same error, marked as one for which a retry is useless."""
        return cls(error.what, where=error.where, got=error.got, todo=error.todo)


def missing(work: Iterable[Work]) -> Iterator[tuple[Request, int]]:
    """Yield every draw of the work of several jobs once."""
    done: dict[
        str, int
    ] = {}  # key -> the number of its draws that are stored or yielded
    for request, draws in work:
        count = done.get(request.key, 0)
        yield from ((request, draw) for draw in draws if draw >= count)
        done[request.key] = max(count, draws[-1] + 1)


def line_of(card: OpenAIModel, request: Request, draw: int) -> bytes:
    """Return the line that requests a draw."""
    import orjson  # here: `audit` runs without

    line = {
        "custom_id": f"{request.key}-{draw}",
        "method": "POST",
        "url": URL,
        "body": body(card, request, [draw]),
    }
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def lines(card: OpenAIModel, work: Iterable[Work]) -> Iterator[bytes]:
    """Yield the lines of all missing draws."""
    return (line_of(card, *draw) for draw in missing(work))


def write(folder: Path, name: str, lines: Iterable[bytes]) -> dict[Path, int]:
    """Write lines into as many files as the limits require; return file -> number of
    lines.
    """
    if earlier := sorted(folder.glob(f"{name}-[0-9][0-9][0-9].jsonl")):
        raise UserError(
            "the folder contains requests of an earlier export",
            where=str(earlier[0]),
            todo="import their results first, or choose another folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, int] = {}
    path = folder
    size = 0
    with ExitStack() as stack:
        for line in lines:
            if not written or written[path] == REQUESTS or size + len(line) > BYTES:
                stack.close()
                path = folder / f"{name}-{len(written) + 1:03}.jsonl"
                file = stack.enter_context(path.open("wb"))
                written[path] = size = 0
            file.write(line)
            written[path] += 1
            size += len(line)
    return written


@dataclass
class Results:
    """Counts of the lines of result files.

    `failed`: reason -> failed requests that may succeed when sent again. `foreign`:
    lines about other requests. `of_files`: file -> all its results.
    """

    new: int = 0
    known: int = 0
    refused: int = 0
    foreign: int = 0
    torn: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    of_files: Counter[Path] = field(default_factory=Counter, compare=False)


def read(
    files: Iterable[Path],
    models: Iterable[tuple[OpenAIModel, Store, KeyTable]],
    *,
    engine: str | None = None,
) -> Results:
    """Store the replies in result files to the requested keys of each model.

    `engine`, if given, replaces that of their provenance.

    A refusal is stored as an error only if the model has a reply to one of these
    requests or, if few are refused, to any request in its store. Otherwise something
    common to all requests is wrong: then this raises FinalError and stores no refusal.
    """
    results = Results()
    readers = [_Reader(*model, results, engine) for model in models]
    for path in files:
        for row in rows(path):
            if row is None:
                results.torn += 1
            elif any(reader.take(row) for reader in readers):
                results.of_files[path] += 1
            else:
                results.foreign += 1
    for reader in readers:
        reader.settle()
    return results


def rows(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yield the results in a file, None for a line without a result."""
    with path.open("rb") as file:
        for line in file:
            if line.isspace():
                continue
            try:
                row = loads(line.decode("utf-8", "replace"))
            except NoReplyError:
                row = None
            named = isinstance(row, dict) and isinstance(row.get("custom_id"), str)
            # a request has neither a response nor an error
            yield row if named and {"response", "error"} & row.keys() else None


def _text(content: Any) -> str:
    """Return content as JSON text; "" if it is nested too deeply."""
    import orjson  # here: `audit` runs without

    try:
        return orjson.dumps(content).decode()
    except orjson.JSONEncodeError:
        return ""


class _Reader:
    """Reads the results of one model."""

    def __init__(
        self,
        card: OpenAIModel,
        store: Store,
        key_table: KeyTable,
        results: Results,
        engine: str | None,
    ) -> None:
        self.engine = OpenAIEngine(card)
        self.store = store
        self.stored = store.find(key_table)
        self.results = results
        self.origin = engine
        self.refusals: list[Reply] = []

    def take(self, row: dict[str, Any]) -> bool:
        """Read a result; return whether it is about a request to this model."""
        ident = CUSTOM_ID.fullmatch(row["custom_id"])
        if ident is None:
            return False
        key = ident[1]
        draw = int(ident[2])
        lacks = self.stored.lacks(key, draw)
        if not lacks:
            self.results.known += lacks is not None
            return lacks is not None
        reply = self._reply(row, key, draw)
        if reply is not None and reply.status == "error":
            self.refusals.append(reply)
        elif reply is not None:
            self._keep(reply)
            self.results.new += 1
        return True

    def _reply(self, row: dict[str, Any], key: str, draw: int) -> Reply | None:
        """Return the reply in a result; None, with its reason counted, if a retry may
        succeed.
        """
        response = row.get("response")
        if not isinstance(response, dict):
            response = {}
        status = response.get("status_code")
        content = response.get("body")
        if type(status) is not int:
            status = None
        if status == 200 and not row.get("error"):
            try:
                [reply] = read_replies(_text(content), key, [draw], logprobs=True)
                if self.origin:
                    provenance = {**(reply.provenance or {}), "engine": self.origin}
                    reply = replace(reply, provenance=provenance)
                return self.engine.cleaned(reply)
            except NoReplyError as error:
                self.results.failed[str(error)] += 1
                return None
        problem = _text(content or row.get("error"))
        reason = self.engine.safe(message_of(problem))
        reason = f"HTTP {status}: {reason}" if status else reason
        if status in REFUSED - {ABSENT}:
            rule = refusal_rule(status, problem)
            return Reply(key, draw, reason, rule or "error", "error")
        self.results.failed[reason] += 1
        return None

    def _keep(self, reply: Reply) -> None:
        self.stored.add(reply, *self.store.append(reply))

    def settle(self) -> None:
        """Store the refusals if a reply shows that requests can succeed.

        Those that name the text show nothing about the card.
        """
        refused = {reply.key for reply in self.refusals if reply.finish == "error"}
        if refused and not self.store.is_proven(len(refused)):
            raise FinalError(
                f"every request was refused: {self.refusals[0].text}",
                where=f"models/{self.engine.card.model}.yaml",
                todo="correct the card and export again; refusals are not stored",
            )
        for reply in self.refusals:
            if self.stored.lacks(reply.key, reply.draw):
                self._keep(reply)
                self.results.refused += 1
