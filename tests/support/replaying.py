"""Replays what an endpoint may do (behaviours.py) with the real engine and store.

    python tests/support/replaying.py

prints each behaviour with what followed, and how many were tried and survived. One is
survived if no reply is lost and none paid twice, if nothing ends with a traceback, and
if what is said names the cause.
"""

import contextlib
import io
import logging
import os
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from yarl import URL

from behaviour_base import ATTEMPTS, ONE, TEXTS, Behaviour, good
from behaviours import BEHAVIOURS
from engines_openai_setup import FAST, requests
from judgescope.core.errors import UserError
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Reply
from judgescope.replies.asking import AskingJob, giving_up_of, obtain
from judgescope.replies.inspection import verify
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel
from scripted import Body, Said, prompt_of, serve, unsigned
from waiting import patience

KEY = "loopback-key-12345"
VARIABLE = "LOOPBACK_KEY"


@dataclass
class Replay:
    """What followed from a behaviour; `problems` is empty if it was survived."""

    behaviour: Behaviour
    concurrency: int
    said: str = ""
    """The message that ended the first run, or the error that it stored."""
    requests: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class _Server:
    """Answers as a behaviour says until it is mended; counts the usual answers to each
    prompt.
    """

    behaviour: Behaviour
    mended: bool = False
    met: int = 0
    usual: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: Body) -> Said:
        prompt = prompt_of(body)
        if not self.mended and self._meets(prompt):
            self.met += 1
            return self.behaviour.answer(prompt)
        self.usual[prompt] += 1
        return good(prompt)

    def _meets(self, prompt: str) -> bool:
        if self.behaviour.meets == "one text":
            return prompt == ONE
        return self.behaviour.meets == "all" or not self.met


class _Noted(logging.Handler):
    """Keeps what asyncio and the HTTP client complain about: tracebacks of tasks."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines = list[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(record.getMessage().splitlines()[0])


@contextlib.contextmanager
def _noting() -> Iterator[_Noted]:
    noted, loggers = (
        _Noted(),
        [logging.getLogger(name) for name in ("asyncio", "aiohttp")],
    )
    for logger in loggers:
        logger.addHandler(noted)
    try:
        yield noted
    finally:
        for logger in loggers:
            logger.removeHandler(noted)


class _Study:
    """Asks for all texts, in a store of its own."""

    def __init__(
        self, url: str, folder: Path, behaviour: Behaviour, concurrency: int
    ) -> None:
        self.url, self.folder = url, folder
        self.limits = {"concurrency": concurrency, **behaviour.limits}
        self.place = {
            key: value.replace("{port}", str(URL(url).port))
            for key, value in behaviour.place.items()
        }
        self.wanted = requests(self.card, *map(str, range(TEXTS)))

    @property
    def card(self) -> OpenAIModel:
        """Return the card of the model at the address."""
        limits = {**FAST, "attempts": ATTEMPTS}
        limits |= {"timeout": patience(60), **self.limits}
        keys = {"model": "it", "engine": "openai", "base_url": self.url}
        keys |= {"api_key_env": VARIABLE, **self.place}
        return OpenAIModel.model_validate({**keys, "limits": limits})

    def ask(self) -> str:
        """Ask for what is missing; return the message that ends the job, or ""."""
        engine = OpenAIEngine(self.card)
        with Store(self.folder, self.card.served_name) as store:
            try:
                giving_up = giving_up_of(self.card, engine)
                obtain(self.wanted, AskingJob(store, engine, giving_up=giving_up))
            except UserError as error:
                return str(error)
        return ""

    def stored(self) -> dict[str, Reply]:
        """Return prompt -> what the store has."""
        store = Store(self.folder, self.card.served_name)
        result = store.read({reply.key: 1 for reply in self.wanted})
        prompts = {reply.key: str(number) for number, reply in enumerate(self.wanted)}
        return {prompts[key]: reply for (key, _), reply in result.items()}


def replay(behaviour: Behaviour, folder: Path, concurrency: int = 1) -> Replay:
    """Return what follows from a behaviour: a run, and another one when the server is
    mended.

    `concurrency`: with more than one request at a time, some are sent before the job
    knows that it must end.
    """
    result, server = Replay(behaviour, concurrency), _Server(behaviour)
    os.environ[VARIABLE] = KEY
    output, store = io.StringIO(), folder / "store"
    with (
        serve(server, tls=unsigned(folder) if behaviour.tls else None) as endpoint,
        serve(server) as mended,
        _noting() as noted,
        contextlib.redirect_stdout(output),
    ):
        study = _Study(endpoint.url, store, behaviour, concurrency)
        try:
            message, first = study.ask(), study.stored()
            server.mended, study.url, study.place = True, mended.url, {}
            later, last = study.ask(), study.stored()
        except Exception:
            result.problems.append(f"traceback: {traceback.format_exc()}")
            return result
    result.requests, again = len(endpoint.asked), len(mended.asked)
    errors = [reply.text for reply in first.values() if reply.status == "error"]
    result.said = message or next(iter(errors), "")
    result.problems += [
        *_outcome(behaviour, message, first),
        *_counts(result, first, again),
        *_replies(behaviour, server, first, last),
        *_words(result, output.getvalue()),
        *(f"complaint: {line}" for line in noted.lines),
    ]
    if later:
        result.problems.append(f"the mended server's run ends with: {later}")
    result.problems += _damage(store)
    return result


def _met(behaviour: Behaviour) -> set[str]:
    if behaviour.meets == "once":
        return {"0"}
    return {ONE} if behaviour.meets == "one text" else set(map(str, range(TEXTS)))


def _outcome(
    behaviour: Behaviour, message: str, first: dict[str, Reply]
) -> Iterator[str]:
    if (behaviour.outcome == "stop") != bool(message):
        yield f"the run ends with: {message or 'no message'}"
    for prompt in _met(behaviour):
        reply = first.get(prompt)
        status = reply.status if reply else "stop"
        expected = {"reply": "ok", "error": "error", "stop": "stop"}
        if status != expected[behaviour.outcome]:
            yield f"text {prompt} is {status}"


def _counts(message: Replay, first: dict[str, Reply], again: int) -> Iterator[str]:
    fewest = message.behaviour.requests
    ends = message.behaviour.outcome == "stop" and message.behaviour.meets == "all"
    limit = fewest + (message.concurrency - 1) * ATTEMPTS if ends else fewest
    if not fewest <= message.requests <= limit:
        yield f"{message.requests} requests, not {fewest} to {limit}"
    if again != TEXTS - len(first):
        yield f"the second run sends {again} requests for {TEXTS - len(first)} texts"


def _replies(
    behaviour: Behaviour,
    server: _Server,
    first: dict[str, Reply],
    last: dict[str, Reply],
) -> Iterator[str]:
    """Yield replies that were lost, changed, paid twice or given to another text."""
    usual = Behaviour("usual", "", good, "all", "reply", TEXTS)
    met = _met(behaviour) if behaviour.meets != "once" else set()
    if last | first != last or len(last) != TEXTS:
        yield f"{len(last)} texts are stored, or one has changed"
    for prompt, reply in last.items():
        kind = behaviour if prompt in met and prompt in first else usual
        if reply.status == "ok" and (reply.text, reply.finish) != (
            kind.text.replace("{prompt}", prompt),
            kind.finish,
        ):
            yield f"text {prompt} has {reply.text[:80]!r}, {reply.finish}"
        bought = prompt not in met or prompt not in first
        if server.usual[prompt] != bought:
            yield f"text {prompt} was answered {server.usual[prompt]} times"


def _words(message: Replay, printed: str) -> Iterator[str]:
    behaviour, text = message.behaviour, message.said
    for word in behaviour.names:
        if word not in text:
            yield f"the message lacks {word!r}: {text}"
    if behaviour.outcome == "stop" and "it" not in text.split("models/")[-1]:
        yield f"the message names no place: {text}"
    if (VARIABLE in text) != behaviour.names_key:
        yield f"the source of the key: {text}"
    if KEY in text + printed:
        yield "the key is told"


def _damage(folder: Path) -> Iterator[str]:
    for shard in folder.iterdir():
        for finding in verify(shard):
            yield f"the store: {finding}"


def main() -> int:
    """Replay all behaviours and print what followed; return 1 if one was not
    survived.
    """
    chosen = sys.argv[1:]
    replays = list[Replay]()
    for behaviour in BEHAVIOURS:
        if chosen and behaviour.name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            result = replay(behaviour, Path(folder))
        replays.append(result)
        print(f"{behaviour.name}: the server {behaviour.does}")
        print(f"  {behaviour.outcome}, {result.requests} requests")
        if result.said:
            print("  says: " + result.said.replace("\n", "\n  "))
        for problem in result.problems:
            print(f"  PROBLEM: {problem}")
    survived = sum(not replay.problems for replay in replays)
    print(f"tried {len(replays)}, survived {survived}")
    return int(survived < len(replays))


if __name__ == "__main__":
    sys.exit(main())
