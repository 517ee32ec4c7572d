"""Programs as scorers: they read targets and write answers, one JSON object per line.

Each time the program is started it gets a batch of targets, answers them in any order
and exits; every answer is stored as soon as its line arrives. A program that crashes,
hangs or answers for an unknown id ends the job. For a target that it cannot score, it
answers with an error.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.secrets import Redactor
from judgescope.data.files import resolve
from judgescope.engines.devices import ORDER, VISIBLE, locks, take_for
from judgescope.engines.process_reaper import Guard
from judgescope.engines.requests import Failure, Keep, Reply, Request, Work, counted
from judgescope.schema.cards import CommandModel, PythonModel
from judgescope.schema.cards.engines import Engine
from judgescope.schema.cards.models import PYTHON, ROLE

LONGEST = 1 << 20  # the most bytes in a line of output


class MissingDraw(NamedTuple):
    """One line of a program's input: a draw of a request."""

    request: Request
    draw: int

    @property
    def ident(self) -> str:
        """Return the id that the program's answer must name."""
        return f"{self.request.key}.{self.draw}"

    @property
    def line(self) -> bytes:
        """Return the line, in ASCII, so that no program can misread it."""
        target = {"id": self.ident, **self.request.asked["target"]}
        target |= {"seed": self.request.seed(self.draw), "draw": self.draw}
        return json.dumps(target).encode() + b"\n"


class ProgramError(Exception):
    """A program broke the protocol, so its further answers cannot be trusted."""


def located(card: CommandModel, folder: Path, data: Path) -> CommandModel:
    """Return the card with absolute paths for all files that its arguments name.

    Raises UserError for a missing file, and for an argument that names a file not in
    `files`.
    """
    where = f"models/{card.model}.yaml"
    roles = {role for word in card.argv for role in ROLE.findall(word)} - {PYTHON}
    paths = {}
    for role in sorted(roles):
        files = resolve(card.files, role, folder, data, where=where)
        if len(files) > 1:
            raise UserError(
                "an argument of the command stands for one file, but this role has "
                "several files",
                where=f"{where}, key argv",
                got=f"{{{role}}}: {len(files)} files",
            )
        paths[role] = os.path.abspath(files[0][0])
    for word in card.argv:
        if not os.path.isabs(word) and (folder / word).is_file():
            raise UserError(
                "the command runs a file that is not in `files`: changes to it would "
                "not be detected",
                where=f"{where}, key argv",
                got=word,
                todo=f"write `files: {{program: {word}}}`, and `{{program}}` in argv",
            )
    return card.model_copy(update={"files": card.files | paths})


def words(card: CommandModel) -> list[str]:
    """Return the command line of a located card; UserError for a program that cannot
    start.
    """
    paths = card.files | {PYTHON: sys.executable}
    line = []
    for word in card.argv:
        line.append(ROLE.sub(lambda role: paths[role[1]], word))
    where = f"models/{card.model}.yaml, key argv"
    if shutil.which(line[0]):
        return line
    if Path(line[0]).is_file():
        todo = (
            "run chmod +x on it, or write its interpreter before it: {python}, sh, "
            "Rscript"
        )
        raise UserError(
            "this program is not executable", where=where, got=line[0], todo=todo
        )
    todo = (
        "give its full path, or install it in a folder of PATH; {python} is this "
        "interpreter"
    )
    raise UserError("program not found", where=where, got=line[0], todo=todo)


class CommandEngine:
    """Runs a program, in as many processes at once as its card allows."""

    def __init__(self, card: CommandModel | PythonModel) -> None:
        self.card = card
        self.words = self.command_line()
        for name in card.env:
            if name not in os.environ:
                raise UserError(
                    "an environment variable for the program is not set",
                    where=f"models/{card.model}.yaml, key env",
                    got=name,
                    todo=f"export {name}=… (its value is never written anywhere)",
                )
        # The variables that every program sees, with those named LC_*; none of them is
        # a secret.
        seen = (
            "PATH",
            "HOME",
            "USER",
            "LOGNAME",
            "LANG",
            "LANGUAGE",
            "TZ",
            "TMPDIR",
            "LD_LIBRARY_PATH",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "CUDA_VISIBLE_DEVICES",
            "ROCR_VISIBLE_DEVICES",
        )
        inherited = {
            name for name in os.environ if name in seen or name.startswith("LC_")
        }
        # Variables for Python programs: stable order of sets, unbuffered lines, UTF-8.
        fixed_variables = {
            "PYTHONHASHSEED": "0",
            "PYTHONUNBUFFERED": "1",
            "PYTHONUTF8": "1",
        }
        self.environment = fixed_variables | {
            name: os.environ[name] for name in {*inherited, *card.env}
        }
        self.redactor = Redactor({f"<{name}>": os.environ[name] for name in card.env})

    def command_line(self) -> list[str]:
        """Return the words that start the program."""
        assert isinstance(self.card, CommandModel)
        return words(self.card)

    def __call__(
        self, missing: Iterable[Work], proven: bool, keep: Keep
    ) -> list[Failure]:
        """Ask for every missing draw; pass on each reply as it arrives (see
        `requests.Ask`).
        """
        draws = (
            MissingDraw(work.request, draw) for work in missing for draw in work.draws
        )
        take_for(self.card)
        for name in (VISIBLE, ORDER):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        # ends the programs of a job that is killed
        guard = Guard(patience=0, locks=locks())
        self.environment |= guard.environment
        try:
            asyncio.run(self._all(draws, keep))
        except asyncio.CancelledError:
            raise SystemExit(128 + signal.SIGTERM) from None
        finally:
            guard.close()
        return []

    async def _all(self, draws: Iterator[MissingDraw], keep: Keep) -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.card.workers):
                    group.create_task(self._work(draws, keep))
        except* (
            UserError,
            OSError,
        ) as errors:  # OSError: the store's, such as of a full disk
            raise errors.exceptions[0] from None

    async def _work(self, draws: Iterator[MissingDraw], keep: Keep) -> None:
        while batch := list(islice(draws, self.card.per_start)):
            await _Start(self, batch, keep).run()

    def clean(self, text: str) -> str:
        """Return a program's text without secrets and unpaired surrogates."""
        return self.redactor.redact(text).encode("utf-8", "replace").decode()

    def safe(self, text: str) -> str:
        """Return the end of a program's text, on one line, fit for a terminal."""
        escape_sequence = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
        plain = " ".join(escape_sequence.sub("", self.clean(text)).split())
        # Characters of a program's output that an error shows.
        most_shown = 300
        return "".join(letter for letter in plain if letter.isprintable())[-most_shown:]


class _Start:
    def __init__(
        self, engine: CommandEngine, batch: list[MissingDraw], keep: Keep
    ) -> None:
        self.engine = engine
        self.batch = batch
        self.keep = keep
        self.waiting = {draw.ident: draw for draw in batch}
        self.answered: set[str] = set()
        self.noise = 0
        self.first_noise = ""
        self.errors = b""

    async def run(self) -> None:
        """Start the program and read its whole output; UserError if a draw has no
        answer.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *self.engine.words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self.engine.environment,
                limit=LONGEST,
                # its own process group, so that all of it can be killed
                start_new_session=True,
            )
        except OSError as error:
            raise self._failed(f"cannot be started: {error.strerror}") from None
        try:
            async with asyncio.timeout(self.engine.card.timeout):
                await self._exchange(process)
        except TimeoutError:
            limit = f"{self.engine.card.timeout:g} s"
            raise self._failed(
                f"did not finish within {limit} and was killed"
            ) from None
        except ProgramError as error:
            raise self._failed(str(error)) from None
        finally:
            _end(process)
            await process.wait()
        if self.waiting:
            raise self._failed(_ended(process.returncode))
        if self.noise:
            print(f"program output that is not an answer: {self._noise()}")
        if process.returncode:
            print(f"the program {_ended(process.returncode)}, after its last answer")

    async def _exchange(self, process: asyncio.subprocess.Process) -> None:
        """Write and read at the same time: a program may answer before it has read all
        input.
        """
        assert process.stdin and process.stdout and process.stderr
        beside = [
            asyncio.create_task(self._listen(process.stderr)),
            asyncio.create_task(self._give(process.stdin)),
            asyncio.create_task(_reap(process)),
        ]
        try:
            await self._read(process.stdout)
            await process.wait()
        finally:
            _end(process)
            await asyncio.wait(beside, timeout=1)
            for task in beside:
                task.cancel()

    async def _give(self, stream: asyncio.StreamWriter) -> None:
        with suppress(
            BrokenPipeError, ConnectionResetError
        ):  # it may exit without reading all
            for draw in self.batch:
                stream.write(draw.line)
                await stream.drain()
        stream.close()

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        # Bytes kept from the end of the error output.
        kept_bytes = 1 << 14
        while output := await stream.read(kept_bytes):
            self.errors = (self.errors + output)[-kept_bytes:]

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than the stream's limit
                raise ProgramError(
                    f"wrote a line of more than {LONGEST} bytes"
                ) from None
            if not line:
                return
            self._take(line)

    def _take(self, line: bytes) -> None:
        """Store an answer; a line that is not an object with an id is noise."""
        text = line.decode("utf-8", "replace").strip()
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or "id" not in answer:
            self.noise += bool(text)
            self.first_noise = self.first_noise or text
            return
        ident = str(answer["id"])
        if ident not in self.waiting:
            twice = "for an unknown id"
            if ident in self.answered:
                twice = "twice for one id"
            raise ProgramError(f"answered {twice}: {self.engine.safe(ident)}")
        kind, text = _content(answer)
        if kind is None:
            shown = self.engine.safe(json.dumps(answer))
            raise ProgramError(
                "gave an answer without exactly one of `score`, `text` and `error`: "
                f"{shown}"
            )
        draw = self.waiting[ident]
        failed = kind == "error"
        self.keep(
            Reply(
                draw.request.key,
                draw.draw,
                self.engine.clean(text),
                finish="error" if failed else "stop",
                status="error" if failed else "ok",
                usage=counted(answer.get("usage")),
                provenance={
                    "engine": self.engine.card.engine,
                    "model": self.engine.card.model,
                },
            )
        )
        self.answered.add(ident)
        del self.waiting[ident]

    def _noise(self) -> str:
        return f"{self.noise}, first {self.engine.safe(self.first_noise)!r}"

    def _failed(self, how: str) -> UserError:
        last = self.engine.safe(self.errors.decode("utf-8", "replace"))
        first = next(iter(self.waiting.values()), self.batch[0])
        parts = [
            f"the program {how}",
            f"not answered: {len(self.waiting)} of {len(self.batch)}, first "
            f"{first.request.about}",
            *([f"output that is not an answer: {self._noise()}"] if self.noise else []),
            *([f"its last output: {last}"] if last else []),
        ]
        return UserError(
            "; ".join(parts),
            where=f"models/{self.engine.card.model}.yaml",
            todo="fix the program and run again for the rest; received answers are "
            "stored",
        )


def _content(answer: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the field that an answer has (score, text or error) and its text; else
    None.
    """
    kinds = []
    for name in ("score", "text", "error"):
        if answer.get(name) is not None:
            kinds.append(name)
    if not kinds and ("score" in answer or "text" in answer):
        return "text", ""
    if len(kinds) != 1:
        return None, ""
    [kind] = kinds
    value = answer[kind]
    if kind == "score":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number:
            return ("score", repr(value))
        return (None, "")
    if isinstance(value, str):
        return (kind, value)
    return (None, "")


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was terminated by signal {-code} ({signal.strsignal(-code)})"
    return f"exited with code {code}"


async def _reap(process: asyncio.subprocess.Process) -> None:
    """Kill the processes that a program leaves behind: they keep its outputs open.

    This polls, because `wait` would wait until the outputs are closed.
    """
    while process.returncode is None:
        await asyncio.sleep(0.05)
    _end(process)


def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


build = CommandEngine
ENGINE = Engine(
    name="command", card=CommandModel, build=build, located=located, asked=True
)
