"""Models that a job loads with vLLM, in its own process or in a server that it starts.

A job loads the model once, and not at all if no reply is missing. Requests are
submitted in chunks as the engine gets room, so that it stays full; each reply is passed
on as it arrives.
"""

import atexit
import json
import math
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from http.client import HTTPException
from itertools import groupby
from typing import Any, NamedTuple

from jinja2 import TemplateError

from judgescope.core.errors import UserError
from judgescope.core.secrets import print_exception
from judgescope.engines.devices import locks, take_for
from judgescope.engines.process_reaper import Guard
from judgescope.engines.requests import (
    CONTINUATION,
    Ask,
    Failure,
    Keep,
    Logprobs,
    Reply,
    Request,
    Work,
)
from judgescope.engines.served import (
    LOOPBACK,
    LocalServer,
    ServedEngine,
    inherited,
    uncut,
)
from judgescope.engines.vllm_options import NEUTRAL, STARTED, arguments, provenance
from judgescope.engines.vllm_options import located as located
from judgescope.engines.vllm_scores import (
    ScoredPrompt,
    ScoringEndpoint,
    TextTokens,
    VllmScorer,
)
from judgescope.schema.cards import VllmModel
from judgescope.schema.cards.engines import Engine
from judgescope.schema.cards.vllm import VLLM_ARGUMENTS


class DrawSpan(NamedTuple):
    """Consecutive draws of a request, asked for as one request."""

    request: Request
    first: int
    length: int


def spans(work: Work) -> Iterator[DrawSpan]:
    """Yield the missing draws of a request in as few requests to vLLM as possible.

    With `n`, vLLM gives the i-th reply the seed `seed + i`. At temperature 0 it rejects
    `n`.
    """
    for run in work.runs():
        size = 1
        if work.request.asked["temperature"] > 0:
            size = len(run)
        for first in run[::size]:
            yield DrawSpan(work.request, first, size)


def sampling(span: DrawSpan) -> dict[str, Any]:
    """Return all sampling parameters of a span, so that no default of vLLM or the model
    applies.
    """
    asked = span.request.asked
    extra = asked["extra_body"]
    structured = None
    if "json_schema" in asked:
        structured = {"json": asked["json_schema"]}
    if "choices" in asked:
        structured = {"choice": asked["choices"]}
    return {
        **NEUTRAL,
        **{
            name: value
            for name, value in extra.items()
            if name in VLLM_ARGUMENTS.sampling
        },
        "temperature": asked["temperature"],
        "top_p": asked["top_p"],
        "max_tokens": asked["max_tokens"],
        "n": span.length,
        "seed": span.request.seed(span.first),
        "logprobs": asked.get("logprobs"),
        **({"stop": asked["stop"]} if "stop" in asked else {}),
        "structured_outputs": structured,
    }


def replies(span: DrawSpan, output: Any, provenance: dict[str, str]) -> Iterator[Reply]:
    """Yield the replies in an output of vLLM, one per draw.

    The first reply's usage includes the prompt; cached tokens are known only for a
    single draw.
    """
    cached = {}
    if output.num_cached_tokens is not None:
        cached = {"cached": output.num_cached_tokens}
    for completion in output.outputs:
        usage = {"prompt": 0, "completion": len(completion.token_ids)}
        if completion.index == 0:
            usage["prompt"] = len(output.prompt_token_ids)
            usage |= cached if span.length == 1 else {}
        yield Reply(
            span.request.key,
            span.first + completion.index,
            completion.text,
            finish=completion.finish_reason,
            usage=usage,
            provenance=provenance,
            logprobs=logprobs(completion),
        )


def logprobs(completion: Any) -> Logprobs | None:
    """Return for each position the chosen token, then the likeliest others, with log
    probabilities.

    Tokens that a structured output forbids are left out.
    """
    if completion.logprobs is None:
        return None
    tokens = []
    for chosen, ranked in zip(completion.token_ids, completion.logprobs, strict=True):
        others = [
            token
            for number, token in ranked.items()
            if number != chosen and token.logprob > -math.inf
        ]
        others.sort(key=lambda token: token.rank)
        tokens.append(
            [(each.decoded_token, each.logprob) for each in (ranked[chosen], *others)]
        )
    return tokens


def prompt_values(output: Any) -> list[dict[int, float] | None]:
    """Return for each token of a prompt the log probabilities that vLLM gives."""
    positions: list[dict[int, float] | None] = []
    for position in output.prompt_logprobs or []:
        if position is None:
            positions.append(None)
            continue
        positions.append({number: token.logprob for number, token in position.items()})
    return positions


class VllmEngine:
    """vLLM in this job: loaded at the first call, kept for later ones."""

    def __init__(self, card: VllmModel) -> None:
        self.card = card
        self._llm: Any = None
        self._guard: Guard

    def __call__(self, work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        """Ask for every missing draw; pass on each reply as it arrives (see
        `requests.Ask`).
        """
        if self._llm is None:
            take_for(self.card)  # before vLLM imports torch
            self._guard = Guard(locks=locks())
            os.environ.update(self._guard.environment)
            self._llm = load(self.card)
        return _Run(self.card, self._llm, work, proven, keep).all()


def load(card: VllmModel) -> Any:
    """Return vLLM, loaded with a card's model."""
    for name, value in STARTED.items():
        os.environ.setdefault(name, value)
    try:
        from vllm import LLM

        return LLM(**arguments(card))
    except Exception as error:  # of any kind: from vLLM, torch, CUDA or the hub
        print_exception()
        raise UserError(
            f"vLLM cannot load the model: {str(error).partition(chr(10))[0]}",
            where=f"models/{card.model}.yaml",
            got=card.path or card.name,
            todo="see the job's log; no request was sent",
        ) from None


class _Run:
    def __init__(
        self, card: VllmModel, llm: Any, work: Iterable[Work], proven: bool, keep: Keep
    ) -> None:
        self.card = card
        self.llm = llm
        self.proven = proven
        self.keep = keep
        self.waiting = (span for piece in work for span in spans(piece))
        self.under_way: dict[str, DrawSpan] = {}
        self.draws_under_way = 0
        self.failures: list[Failure] = []
        self.refusals: list[Reply] = []
        self.scored: dict[str, ScoredPrompt] = {}
        """Key of a request under way that scores a text -> its tokens."""
        self.lora = None
        if card.tuned is not None:
            from vllm.lora.request import LoRARequest

            self.lora = LoRARequest(card.tuned.sha256, 1, card.tuned.path)
        # Draws submitted to the engine, as a multiple of those that it processes.
        ahead = 2
        self.room = ahead * llm.llm_engine.vllm_config.scheduler_config.max_num_seqs
        from vllm.version import __version__

        self.provenance = provenance(card, str(__version__))

    def all(self) -> list[Failure]:
        """Answer all requests, and return what failed."""
        from vllm.v1.engine.exceptions import EngineDeadError

        engine = self.llm.llm_engine
        try:
            while self._fill():
                for output in engine.step():
                    if output.finished:
                        self._take(output)
        except EngineDeadError as error:
            raise UserError(
                f"vLLM stopped: {error}",
                where=f"models/{self.card.model}.yaml",
                todo="see the job's log; received replies are stored: run again for "
                "the rest",
            ) from None
        if self.refusals and not self.failures:
            raise UserError(
                f"vLLM refuses every request: {self.refusals[0].text}",
                where=f"models/{self.card.model}.yaml",
                got=self.card.name,
                todo="check max_model_len and extra_body in the card; no reply was "
                "stored",
            )
        return self.failures

    def _fill(self) -> bool:
        """Submit as many requests as there is room for; return whether any is in
        flight.
        """
        while chunk := self._next_chunk():
            chats: list[DrawSpan] = []
            for span in chunk:
                if CONTINUATION in span.request.asked:
                    self._submit_scored(span)
                else:
                    chats.append(span)
            for options, spans in groupby(chats, _template_options):
                self._submit(list(spans), options)
        return bool(self.under_way)

    def _next_chunk(self) -> list[DrawSpan]:
        """Return the next requests for which the engine has room, at most CHUNK."""
        chunk: list[DrawSpan] = []
        room = self.room - self.draws_under_way
        # The most conversations that are submitted to the engine together.
        chunk_size = 256
        while room > 0 and len(chunk) < chunk_size:
            span = next(self.waiting, None)
            if span is None:
                break
            chunk.append(span)
            room -= span.length
        return chunk

    def _submit(self, chunk: list[DrawSpan], options: dict[str, Any] | None) -> None:
        """Submit requests to vLLM; record a refusal for each one that vLLM rejects.

        `options`: the arguments of the chat template.
        """
        from vllm.exceptions import VLLMClientError

        try:
            idents = self.llm.enqueue_chat(
                [span.request.asked["messages"] for span in chunk],
                [_parameters(span) for span in chunk],
                use_tqdm=False,
                lora_request=self.lora,
                chat_template_kwargs=options,
            )
        except (VLLMClientError, ValueError, TypeError, TemplateError) as error:
            if len(chunk) > 1:
                # vLLM accepts all of a chunk or nothing, and does not say which
                # request it rejects.
                for span in chunk:
                    self._submit([span], options)
                return
            self._refuse_draws(chunk[0], f"vLLM: {' '.join(str(error).split())}")
            return
        for ident, span in zip(idents, chunk, strict=True):
            # vLLM appends "-…" to the id
            self.under_way[ident.partition("-")[0]] = span
            self.draws_under_way += span.length

    def _refuse_draws(self, span: DrawSpan, reason: str) -> None:
        for draw in range(span.first, span.first + span.length):
            self._refuse(
                Reply(span.request.key, draw, reason, finish="error", status="error")
            )

    def _submit_scored(self, span: DrawSpan) -> None:
        """Submit a request that scores a text; record a refusal if vLLM rejects it."""
        from vllm.exceptions import VLLMClientError

        try:
            ident = self._enqueued(span)
        except (VLLMClientError, ValueError, TypeError, TemplateError) as error:
            self._refuse_draws(span, f"vLLM: {' '.join(str(error).split())}")
            return
        if ident is not None:
            # vLLM appends "-…" to the id
            self.under_way[ident.partition("-")[0]] = span
            self.draws_under_way += span.length

    def _enqueued(self, span: DrawSpan) -> str | None:
        """Return vLLM's name of a request; None if its text has no tokens to score."""
        prompt = self._tokens.prompt(span.request.asked)
        if not prompt.ids:
            self.keep(prompt.reply(self._bare(span), []))
            return None
        self.scored[span.request.key] = prompt
        from vllm.sampling_params import SamplingParams

        [ident] = self.llm.enqueue(
            {"prompt_token_ids": prompt.all_ids},
            SamplingParams(temperature=0, max_tokens=1, prompt_logprobs=0),
            use_tqdm=False,
            lora_request=self.lora,
        )
        return str(ident)

    @cached_property
    def _tokens(self) -> TextTokens:
        return TextTokens.of(self.card)

    def _bare(self, span: DrawSpan) -> Reply:
        return Reply(span.request.key, span.first, "", provenance=self.provenance)

    def _refuse(self, reply: Reply) -> None:
        """Store a refusal once a reply has shown that requests can succeed."""
        if self.proven:
            self.keep(reply)
        else:
            self.refusals.append(reply)

    def _take(self, output: Any) -> None:
        span = self.under_way.pop(output.request_id, None)
        if span is None:  # of a chunk that vLLM rejected
            return
        self.draws_under_way -= span.length
        # Finish reasons that come with a reply; all others mean that there is no reply.
        ended_reasons = {"stop", "length", "repetition"}
        reasons = {completion.finish_reason for completion in output.outputs}
        reasons -= ended_reasons
        if reasons:
            about = span.request.about
            self.failures += [Failure(about, f"vLLM: {reasons.pop()}")] * span.length
            return
        if (prompt := self.scored.pop(span.request.key, None)) is not None:
            self.keep(prompt.reply(self._bare(span), prompt_values(output)))
        else:
            for reply in replies(span, output, self.provenance):
                self.keep(uncut(reply, span.request.asked["max_tokens"], self.card))
        self.proven = True
        for refusal in self.refusals:
            self.keep(refusal)
        self.refusals.clear()


def _template_options(span: DrawSpan) -> dict[str, Any] | None:
    """Return the arguments of the chat template, which all requests of a call share."""
    options: dict[str, Any] | None = span.request.asked["extra_body"].get(
        "chat_template_kwargs"
    )
    return options


def _parameters(span: DrawSpan) -> Any:
    from vllm.sampling_params import SamplingParams

    parameters = sampling(span)
    if structure := parameters["structured_outputs"]:
        from vllm.sampling_params import StructuredOutputsParams

        parameters["structured_outputs"] = StructuredOutputsParams(**structure)
    return SamplingParams(**parameters)


def build(card: VllmModel) -> Ask:
    """Return the engine of a model card, in the card's mode."""
    if card.mode == "offline":
        return VllmEngine(card)
    return ServedEngine(
        card, partial(Server, card), scorer=VllmScorer, endpoint=ScoringEndpoint
    )


API_SERVER = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
SERVE = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve"]
"""The command `vllm serve`, in this environment."""


class Server(LocalServer):
    """A server for one model on this machine, which answers only requests with its
    key.
    """

    card: VllmModel

    def __init__(self, card: VllmModel, program: list[str] | None = None) -> None:
        self.card = card
        self.program = program
        self.token = secrets.token_hex(8)
        """A model name that only this server uses."""
        self.key = secrets.token_urlsafe(32)
        take_for(card)
        self._guard = Guard(locks=locks())
        atexit.register(self._guard.close)
        # Another program may take a port that was free a moment ago.
        port_attempts = 3
        for _ in range(port_attempts):
            if self._started():
                return
        raise self._failed("other programs took every port that was tried")

    def ended(self) -> UserError:
        """Return the error for a server that has ended."""
        return self._failed(f"its exit status is {self._child.returncode}")

    def _started(self) -> bool:
        """Start the server and wait until it answers; return False if it lost its
        port.
        """
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        # The server's key is in this variable, not on a command line.
        key_variable = "VLLM_API_KEY"
        # Variables with names like secrets that the server may need, for the hub and
        # its workers.
        needed = {
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "HF_HUB_DISABLE_IMPLICIT_TOKEN",
            "RAY_AUTH_TOKEN",
        }
        self._child = subprocess.Popen(
            command_line(self.card, port, self.token, self.program),
            stdin=subprocess.DEVNULL,
            env={
                **STARTED,
                **inherited(needed),
                **self._guard.environment,
                key_variable: self.key,
            },
        )
        deadline = time.monotonic() + self.card.start_timeout
        while not self._ready():
            if self._child.poll() is not None and taken(port):
                return False
            self.check()
            if time.monotonic() > deadline:
                raise self._failed(
                    f"it was not ready after {self.card.start_timeout:g} s"
                )
            time.sleep(0.2)
        self.provenance = provenance(self.card, str(self._get("version")["version"]))
        return True

    def _ready(self) -> bool:
        """Return whether this server answers: only it knows the token."""
        try:
            return self.token in json.dumps(self._get("v1/models"))
        except (OSError, HTTPException, ValueError):
            return False

    def _get(self, page: str) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.url}/{page}", headers=headers)
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


def command_line(
    card: VllmModel, port: int, token: str, program: list[str] | None = None
) -> list[str]:
    """Return the command that starts the server; `program` stands in for vLLM's.

    With several copies of the weights it is `vllm serve`, which runs an API process for
    each copy; one process for all would not keep them busy. With one copy it is the
    module that `serve` calls too: `serve` needs a distribution with the name vllm,
    which the build for CPUs has not.
    """
    args = server_arguments(card, port, token)
    if card.data_parallel == 1:
        return [*(program or API_SERVER), *flags(args)]
    model = args.pop("model")
    return [*(program or SERVE), str(model), *flags(args)]


def server_arguments(card: VllmModel, port: int, token: str) -> dict[str, Any]:
    """Return the arguments of the server; requests use the model name of the card."""
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
    """Return the arguments as words of a command line."""
    line = []
    for name, value in args.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            line.append(f"--{flag}" if value else f"--no-{flag}")
        elif isinstance(value, list):
            line += [f"--{flag}", *map(str, value)]
        else:
            line += [
                f"--{flag}",
                json.dumps(value) if isinstance(value, dict) else str(value),
            ]
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


ENGINE = Engine(
    name="vllm",
    card=VllmModel,
    build=build,
    located=located,
    executor="gpu",
    asked=True,
    reads_prompts=True,
    compares_forms=True,
    scores_texts=True,
)
