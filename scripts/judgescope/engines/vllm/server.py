"""A vLLM server of the job's own: started with the first request, ended with the job."""

import atexit
import json
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from http.client import HTTPException
from typing import Any

from judgescope.core.errors import UserError
from judgescope.engines.process_reaper import Guard
from judgescope.engines.served import LOOPBACK, inherited
from judgescope.engines.vllm.options import NEUTRAL, STARTED, arguments, provenance
from judgescope.schema.cards import OpenAIModel, VllmModel

PROGRAM = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
KEY = "VLLM_API_KEY"  # the variable that holds the server's key, so that no command line does
NEEDED = {
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_DISABLE_IMPLICIT_TOKEN"),
    "RAY_AUTH_TOKEN",
}
"""Variables named like secrets that the server may need: for the hub and its own workers."""
PORT_ATTEMPTS = 3  # another program may take a port that was free a moment ago


class Server:
    """A server for one model on this machine, which answers only requests with its key."""

    def __init__(self, card: VllmModel, program: list[str] = PROGRAM) -> None:
        self.card, self.program = card, program
        self.token = secrets.token_hex(8)
        """A name that only this server has for the model."""
        self.key = secrets.token_urlsafe(32)
        self._guard = Guard()
        atexit.register(self._guard.close)
        for _ in range(PORT_ATTEMPTS):
            if self._started():
                return
        raise self._failed("other programs took every free port that was tried")

    def model(self) -> OpenAIModel:
        """Return the card of the server's endpoint."""
        return OpenAIModel(
            model=self.card.model,
            engine="openai",
            base_url=f"http://{LOOPBACK}:{self.port}/v1",
            name=self.card.name,
            probe=False,
            limits=self.card.limits,
        )

    def check(self) -> None:
        """Raise UserError if the server has ended."""
        if self._child.poll() is not None:
            raise self._failed(f"its exit status is {self._child.returncode}")

    def _started(self) -> bool:
        """Start the server and wait until it answers; return False if it lost its port."""
        self.port = free_port()
        self._child = subprocess.Popen(
            [*self.program, *flags(server_arguments(self.card, self.port, self.token))],
            stdin=subprocess.DEVNULL,
            env={**STARTED, **inherited(NEEDED), **self._guard.environment, KEY: self.key},
        )
        deadline = time.monotonic() + self.card.start_timeout
        while not self._ready():
            if self._child.poll() is not None and taken(self.port):
                return False
            self.check()
            if time.monotonic() > deadline:
                raise self._failed(f"it was not ready after {self.card.start_timeout:g} s")
            time.sleep(0.2)
        self.provenance = provenance(self.card, str(self._get("version")["version"]))
        return True

    def _ready(self) -> bool:
        """Return whether this server answers: no other knows the token."""
        try:
            return self.token in json.dumps(self._get("v1/models"))
        except (OSError, HTTPException, ValueError):
            return False

    def _get(self, page: str) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"http://{LOOPBACK}:{self.port}/{page}", headers=headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=5) as answer:
            return json.load(answer)

    def _failed(self, why: str) -> UserError:
        self._guard.close()
        return UserError(
            f"the vLLM server is not running: {why}",
            where=f"models/{self.card.model}.yaml",
            got=self.card.path or self.card.name,
            todo="see the server's output above; received replies are stored",
        )


def server_arguments(card: VllmModel, port: int, token: str) -> dict[str, Any]:
    """Return the arguments of the server; requests name the model as the card does."""
    names = {"served_model_name": [card.name, token]}
    if card.tuned:
        adapter = {"name": card.name, "path": card.tuned.path}
        names = {"served_model_name": [token], "lora_modules": [json.dumps(adapter)]}
    return {
        **arguments(card),
        **names,
        "host": LOOPBACK,
        "port": port,
        "data_parallel_size": card.data_parallel,
        "override_generation_config": NEUTRAL,
        "disable_uvicorn_access_log": True,
        "enable_prompt_tokens_details": True,
    }


def flags(args: dict[str, Any]) -> list[str]:
    """Return arguments as the words of a command line."""
    line = []
    for name, value in args.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            line.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, list):
            line += [f"--{flag}", *map(str, value)]
        else:
            line += [f"--{flag}", json.dumps(value) if isinstance(value, dict) else str(value)]
    return line


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def taken(port: int) -> bool:
    """Return whether a program listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
