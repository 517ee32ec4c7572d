"""GGUF files served with llama.cpp: the job that asks starts the server and stops it.

The server listens on a free port of the loopback interface and answers only requests
with its key. It is not started if the store has every reply.
"""

import atexit
import json
import os
import secrets
import subprocess
import sys
import threading
from collections import deque
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryFile

from judgescope.core.errors import UserError
from judgescope.core.extras import install_command
from judgescope.core.process_limits import available_memory
from judgescope.data.files import resolve
from judgescope.engines import llama_child as child
from judgescope.engines.llama_scores import LlamaScorer
from judgescope.engines.requests import Budget
from judgescope.engines.served import LOOPBACK, LocalServer, ServedEngine, inherited
from judgescope.schema.cards import LlamaModel
from judgescope.schema.cards.engines import Engine
from judgescope.schema.cards.models import BINDING, WEIGHTS


class LlamaServer(LocalServer):
    """llama.cpp's server in a child process, which ends when its standard input closes.

    The kernel closes the input when the job ends, even by kill -9. Neither Ctrl-C nor a
    signal to the job's process group reaches the child: requests in flight may still be
    answered.
    """

    card: LlamaModel

    def __init__(self, card: LlamaModel) -> None:
        """Raise UserError if the server cannot start, before anything is asked."""
        check_binding(card)
        self.card = card
        self.key = secrets.token_urlsafe(32)
        self.provenance = {
            "engine": card.engine,
            "model": card.served_name,
            "version": BINDING,
            "fingerprint": card.sha256[WEIGHTS][:16],
        }
        path = card.files[WEIGHTS]
        self._check_memory(Path(path).stat().st_size)
        settings = {
            "path": path,
            "alias": card.served_name,
            "key": self.key,
            "host": LOOPBACK,
            **card.model_dump(include={"context", "threads", "cache"}),
        }
        self._log = TemporaryFile()  # noqa: SIM115 (closed with the job)
        self._child = subprocess.Popen(
            [sys.executable, "-P", child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=inherited(),
            start_new_session=True,
        )
        atexit.register(self.close)
        print(f"llama.cpp is loading {card.served_name}", flush=True)
        self.url = self._started(settings)

    def ended(self) -> UserError:
        """Return the error for a server that has ended."""
        return self._failed("the llama.cpp server has ended")

    def close(self) -> None:
        """Stop the server and return when it has ended."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        end_seconds = 10.0
        try:
            self._child.wait(end_seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _started(self, settings: dict[str, object]) -> str:
        """Return the address that the child prints once its server answers."""
        assert self._child.stdin is not None and self._child.stdout is not None
        # Seconds in which the weights are read.
        start_seconds = 600.0
        late = threading.Timer(start_seconds, self._child.kill)
        late.start()
        try:
            self._child.stdin.write(json.dumps(settings).encode() + b"\n")
            self._child.stdin.flush()
            url = self._child.stdout.readline().decode().strip()
        except BrokenPipeError:
            url = ""
        finally:
            late.cancel()
        if not url:
            self._child.wait()
            raise self._failed("the llama.cpp server does not start")
        return url

    def _check_memory(self, size: int) -> None:
        free = available_memory()
        if free is not None and size > free:
            raise UserError(
                "there is too little memory for the model",
                where=self._where,
                got=f"{size / 1e6:.0f} MB of weights, {free / 1e6:.0f} MB available",
                todo="use a smaller or more strongly quantised file, or another "
                "machine",
            )

    def _failed(self, problem: str) -> UserError:
        """Return the error for a server that has ended, with its exit status and last
        log lines.
        """
        code = self._child.returncode
        exit_by = f"signal {-code}" if code < 0 else f"exit status {code}"
        self._log.seek(0)
        text = self._log.read().decode(errors="replace").replace(self.key, "<key>")
        lines = []
        for line in text.splitlines():
            if line.strip():
                lines.append(line.strip())
        # Lines of the server's log that the job's log shows.
        printed_lines = 20
        print(*deque(lines, printed_lines), sep="\n", flush=True)
        # Marks an error line of the log.
        error_mark = " E "
        errors = [
            line.partition(error_mark)[2] for line in lines if error_mark in line
        ] or lines
        last_two = deque(dict.fromkeys(errors), 2)
        last = "; ".join(last_two)[-300:]
        killed = ""
        if code == -9:
            killed = "; signal 9 often means that memory ran out"
        return UserError(
            f"{problem} ({exit_by}): {last or 'its log is empty'}",
            where=self._where,
            got=self.card.files[WEIGHTS],
            todo=f"see the job's log{killed}; a smaller `context` needs less memory; "
            "received replies are stored: run again for the rest",
        )

    @property
    def _where(self) -> str:
        return f"models/{self.card.model}.yaml"


def check_binding(card: LlamaModel) -> None:
    """Raise UserError if the pinned version of xllamacpp is not installed."""
    package_name = "xllamacpp"
    try:
        installed = version(package_name)
    except PackageNotFoundError:
        installed = None
    if installed != BINDING:
        raise UserError(
            f"the engine llama needs the package {package_name} {BINDING}",
            where=f"models/{card.model}.yaml, key engine",
            got=installed or "not installed",
            todo=f"{install_command('llama')}; in a checkout: make env-llama",
        )


def located(card: LlamaModel, folder: Path, data: Path) -> LlamaModel:
    """Return the card with the absolute path of its file; UserError if it is not a GGUF
    file.
    """
    where = f"models/{card.model}.yaml"
    [(path, _)] = resolve(card.files, WEIGHTS, folder, data, where=where)
    magic = b"GGUF"
    with path.open("rb") as file:
        begins = file.read(len(magic))
    if begins != magic:
        raise UserError(
            "this is not a GGUF file",
            where=where,
            got=path.name,
            allowed="a model in llama.cpp's format, as published with the suffix .gguf",
        )
    return card.model_copy(update={"path": os.path.abspath(path), "package": None})


def build(card: LlamaModel, budget: Budget | None = None) -> ServedEngine:
    """Return the engine of a settled model card."""
    return ServedEngine(card, partial(LlamaServer, card), budget, scorer=LlamaScorer)


ENGINE = Engine(
    name="llama",
    card=LlamaModel,
    build=build,
    located=located,
    asked=True,
    reads_prompts=True,
    compares_forms=True,
    scores_texts=True,
)
