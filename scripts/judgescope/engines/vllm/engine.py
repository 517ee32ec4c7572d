"""Models that a job loads with vLLM: offline here, behind a server of the job's in `server`.

One load per job, and none when nothing is missing. Requests go in as the engine has room for them,
not in batches, so that it is never half empty; a reply is handed on as soon as it is there.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from jinja2 import TemplateError

from judgescope.core.errors import UserError
from judgescope.core.excepthook import print_exception
from judgescope.engines import EngineDeclaration
from judgescope.engines.process_reaper import Guard
from judgescope.engines.requests import Ask, Failure, Keep, Reply, Request, Work
from judgescope.engines.vllm.options import NEUTRAL, STARTED, arguments, provenance
from judgescope.engines.vllm.options import located as located
from judgescope.schema.cards import VllmModel
from judgescope.schema.cards.vllm import SAMPLING

ENDED = {"stop", "length", "repetition"}
"""Reasons to finish of a reply; all others mean that there is none."""
AHEAD = 2
"""So many times the requests that the engine works on at once wait in it."""


class Span(NamedTuple):
    """Draws of a request, one after the other from `first` on, asked for as one."""

    request: Request
    first: int
    length: int

    def draws(self) -> range:
        """Return the draws."""
        return range(self.first, self.first + self.length)


def spans(work: Work) -> Iterator[Span]:
    """Yield the missing draws of a request in as few requests to vLLM as there can be.

    With `n`, vLLM gives the i-th reply the seed `seed + i`. At temperature 0 it takes no `n`.
    """
    most = None if work.request.asked["temperature"] > 0 else 1
    for run in work.runs():
        size = most or len(run)
        for first in run[::size]:
            yield Span(work.request, first, size)


def sampling(span: Span) -> dict[str, Any]:
    """Return the sampling parameters of a span, none left to vLLM's or the model's defaults.

    `structured_outputs` is what the reply must be, such as `{"choice": ["1", "2"]}`.
    """
    asked = span.request.asked
    extra = asked["extra_body"]
    return {
        **NEUTRAL,
        **{name: value for name, value in extra.items() if name in SAMPLING},
        "temperature": asked["temperature"],
        "top_p": asked["top_p"],
        "max_tokens": asked["max_tokens"],
        "n": span.length,
        "seed": span.request.seed(span.first),
        "logprobs": asked.get("logprobs"),
        **({"stop": asked["stop"]} if "stop" in asked else {}),
        "structured_outputs": _structure(asked),
    }


def _structure(asked: Mapping[str, Any]) -> dict[str, Any] | None:
    if "choices" in asked:
        return {"choice": asked["choices"]}
    return {"json": asked["json_schema"]} if "json_schema" in asked else None


def replies(span: Span, output: Any, provenance: dict[str, str]) -> Iterator[Reply]:
    """Yield the replies in an output of vLLM, one per draw.

    The prompt is counted with the first; whether it was cached is known where there is one draw.
    """
    cached = {"cached": output.num_cached_tokens} if output.num_cached_tokens is not None else {}
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


def logprobs(completion: Any) -> list[list[tuple[str, float]]] | None:
    """Return per token the one that came, then the likeliest others, with their logarithms.

    Tokens that could not come, because a structure forbids them, are left out.
    """
    if completion.logprobs is None:
        return None
    told = []
    for token, known in zip(completion.token_ids, completion.logprobs, strict=True):
        others = sorted(
            (one for number, one in known.items() if number != token and one.logprob > -math.inf),
            key=lambda one: one.rank,
        )
        told.append([(one.decoded_token, one.logprob) for one in (known[token], *others)])
    return told


class VllmEngine:
    """vLLM in this job: loaded with the first call, kept for all others."""

    def __init__(self, card: VllmModel) -> None:
        self.card = card
        self._llm: Any = None
        self._guard: Guard

    def __call__(self, work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        """Ask for every missing draw and hand on each reply as it comes (see `requests.Ask`)."""
        if self._llm is None:
            self._guard = Guard()
            os.environ.update(self._guard.environment)
            self._llm = load(self.card)
        return _Run(self.card, self._llm, work, proven, keep).all()


def load(card: VllmModel) -> Any:
    """Return vLLM with the model of a card."""
    for name, value in STARTED.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("vllm").LLM(**arguments(card))
    except Exception as error:  # of vLLM, torch, CUDA or the hub: of any kind, and told whole
        print_exception()
        raise UserError(
            f"vLLM cannot load the model: {str(error).partition(chr(10))[0]}",
            where=f"models/{card.model}.yaml",
            got=card.path or card.name,
            todo="the log tells more; nothing was asked",
        ) from None


class _Run:
    """One call of the engine: what flies, what came, what it refused."""

    def __init__(
        self, card: VllmModel, llm: Any, work: Iterable[Work], proven: bool, keep: Keep
    ) -> None:
        self.card, self.llm, self.proven, self.keep = card, llm, proven, keep
        self.todo = (span for one in work for span in spans(one))
        self.flying: dict[str, Span] = {}
        self.aloft = 0
        self.failures: list[Failure] = []
        self.refusals: list[Reply] = []
        self.lora = _lora(card)
        self.room = AHEAD * llm.llm_engine.vllm_config.scheduler_config.max_num_seqs
        self.provenance = provenance(card, str(import_module("vllm.version").__version__))

    def all(self) -> list[Failure]:
        engine = self.llm.llm_engine
        dead = import_module("vllm.v1.engine.exceptions").EngineDeadError
        try:
            while self._fill():
                for output in engine.step():
                    if output.finished:
                        self._take(output)
        except dead as error:
            raise UserError(
                f"vLLM has died: {error}",
                where=f"models/{self.card.model}.yaml",
                todo="the log tells why; the replies so far are kept: run again for the rest",
            ) from None
        if self.refusals and not self.failures:
            raise UserError(
                f"vLLM refuses every request: {self.refusals[0].text}",
                where=f"models/{self.card.model}.yaml",
                got=self.card.name,
                todo="look at max_model_len and extra_body of the card; nothing was recorded",
            )
        return self.failures

    def _fill(self) -> bool:
        """Let as many requests in as there is room for; return whether any is under way."""
        while self.aloft < self.room and (span := next(self.todo, None)):
            self._submit(span)
        return bool(self.flying)

    def _submit(self, span: Span) -> None:
        """Hand a request to vLLM; what it will not take is a refusal of this request alone."""
        asked = span.request.asked
        client_error = import_module("vllm.exceptions").VLLMClientError
        try:
            [ident] = self.llm.enqueue_chat(
                asked["messages"],
                _parameters(span),
                use_tqdm=False,
                lora_request=self.lora,
                chat_template_kwargs=asked["extra_body"].get("chat_template_kwargs"),
            )
        except (client_error, ValueError, TypeError, TemplateError) as error:
            told = f"vLLM: {' '.join(str(error).split())}"
            for draw in span.draws():
                self._refuse(Reply(span.request.key, draw, told, finish="error", status="error"))
            return
        self.flying[ident.partition("-")[0]] = span  # the rest of it is vLLM's own
        self.aloft += span.length

    def _refuse(self, reply: Reply) -> None:
        """Keep a refusal once a reply has shown that requests can succeed."""
        if self.proven:
            self.keep(reply)
        else:
            self.refusals.append(reply)

    def _take(self, output: Any) -> None:
        span = self.flying.pop(output.request_id)
        self.aloft -= span.length
        reasons = {one.finish_reason for one in output.outputs} - ENDED
        if reasons:
            about = span.request.about
            self.failures += [Failure(about, f"vLLM: {reasons.pop()}")] * span.length
            return
        for reply in replies(span, output, self.provenance):
            self.keep(reply)
        self.proven = True
        for held in self.refusals:
            self.keep(held)
        self.refusals.clear()


def _parameters(span: Span) -> Any:
    """Return vLLM's own object of a span's sampling parameters."""
    module = import_module("vllm.sampling_params")
    told = sampling(span)
    structured = told.pop("structured_outputs")
    made = module.StructuredOutputsParams(**structured) if structured else None
    return module.SamplingParams(**told, structured_outputs=made)


def _lora(card: VllmModel) -> Any:
    if card.tuned is None:
        return None
    request = import_module("vllm.lora.request").LoRARequest
    return request(card.tuned.sha256, 1, card.tuned.path)


def build(card: VllmModel) -> Ask:
    """Return the engine of a model card, in the mode it names."""
    if card.mode == "offline":
        return VllmEngine(card)
    from judgescope.engines.vllm.server import ServedEngine

    return ServedEngine(card)


ENGINE = EngineDeclaration(name="vllm", asked=True, reads_prompts=True)
