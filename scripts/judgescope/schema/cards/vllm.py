"""The card of a model that a job itself loads with vLLM."""

from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import (
    Access,
    Asking,
    Card,
    JsonFields,
    Price,
    Sha256,
)
from judgescope.schema.cards.models import (
    FOLDER,
    MOST_CONCURRENT,
    BaseAskedModel,
    Limits,
    SystemRole,
)

CONCURRENT = 512
"""Concurrent requests that fill a copy of a model in vLLM: twice as many as it
processes at once by default."""


@dataclass(frozen=True)
class VllmArguments:
    """Names of vLLM's arguments, by what a card may do with them."""

    sampling: frozenset[str] = frozenset(
        (
            "frequency_penalty",
            "presence_penalty",
            "repetition_penalty",
            "min_p",
            "top_k",
            "bad_words",
            "ignore_eos",
            "logit_bias",
            "min_tokens",
            "stop",
            "stop_token_ids",
            "include_stop_str_in_output",
            "skip_special_tokens",
            "spaces_between_special_tokens",
        )
    )
    """Sampling parameters that its server takes under the same name."""
    set_elsewhere: frozenset[str] = frozenset(
        (
            "model",
            "revision",
            "dtype",
            "quantization",
            "tensor_parallel_size",
            "data_parallel_size",
            "max_model_len",
            "gpu_memory_utilization",
            "enable_lora",
            "max_lora_rank",
            "lora_modules",
            "host",
            "port",
            "api_key",
            "served_model_name",
            "override_generation_config",
        )
    )
    """Arguments of the engine and server that other keys of a card or the workflow
    set."""
    harmless: frozenset[str] = frozenset(
        (
            "async_scheduling",
            "block_size",
            "cpu_offload_gb",
            "disable_custom_all_reduce",
            "distributed_executor_backend",
            "download_dir",
            "enable_chunked_prefill",
            "enforce_eager",
            "enable_expert_parallel",
            "enable_prefix_caching",
            "kv_cache_memory_bytes",
            "load_format",
            "max_logprobs",
            "max_num_batched_tokens",
            "max_num_seqs",
            "max_parallel_loading_workers",
            "disable_log_stats",
            "safetensors_load_strategy",
        )
    )
    """Arguments of the engine that change how it works, not what it answers."""


VLLM_ARGUMENTS = VllmArguments()


ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
"""The files of an adapter, as peft writes them."""


TRAINED = "trained"
"""Stands for the adapter that the study trains."""


class Adapter(Card):
    """A LoRA adapter over a model's weights."""

    path: str = Field(pattern=FOLDER)
    """The adapter's folder (adapter_config.json, adapter_model.*): relative to the
    card's folder, absolute, or from `{data}/`."""
    sha256: Sha256
    """The hash of its files `adapter_*`: the sha256 of all their `name sha256`
    lines."""


class VllmModel(BaseAskedModel, SystemRole):
    """A model that a job itself loads with vLLM, in its own process or behind its own
    server.
    """

    engine: Asking[Literal["vllm"]]
    mode: Access[Literal["offline", "served"]] = "offline"
    """How the model runs, which changes no reply: `offline`, inside the job; `served`,
    in a server that the job starts and stops: for data_parallel, and models that need
    it."""
    name: Asking[str]
    """The name of the weights on the hub."""
    path: str | None = Field(None, pattern=FOLDER)
    """The folder of the weights: relative to the card's folder, absolute, or from
    `{data}/`. Default: the hub, or its cache on this machine."""
    revision: Asking[str | None] = None
    """The commit of the weights; default: the hub's newest."""
    variant: Asking[str | None] = None
    """What else distinguishes these weights."""
    dtype: Asking[str | None] = None
    """The number format of the weights; default: their own."""
    quantization: Asking[str | None] = None
    """The quantisation of the weights; default: none."""
    adapter: Adapter | Literal["trained"] | None = None
    """A LoRA adapter that every request uses; `trained`: the one that the study trains
    (its key `distill`)."""
    extra_body: Asking[JsonFields] = Field({})
    """Further fields of every request: chat_template_kwargs (`enable_thinking: false`),
    sampling parameters of vLLM such as top_k."""
    model_args: Asking[JsonFields] = Field({})
    """Further arguments of vLLM's engine that may change replies."""
    engine_args: Access[JsonFields] = Field({})
    """Further arguments that change no reply, such as max_num_seqs."""
    tensor_parallel: Access[int] = Field(1, ge=1)
    """Number of GPUs that share the weights; the job takes them, times data_parallel,
    for itself (`CUDA_VISIBLE_DEVICES`)."""
    data_parallel: Access[int] = Field(1, ge=1)
    """Mode served: number of copies of the weights."""
    max_model_len: int | None = Field(None, ge=1)
    """Maximum number of tokens of prompt and reply together; a longer prompt is
    refused. Default: the model's."""
    gpu_memory_utilization: Access[float | None] = Field(None, gt=0, le=1)
    """The share of a GPU's memory that it uses; default: vLLM's."""
    gpu_model: Access[str | None] = Field(None, pattern=r"^[A-Za-z0-9_.]+$")
    """On a cluster: the type of its GPUs, as the cluster calls it; default: the
    profile's."""
    cpus: Access[int | None] = Field(None, ge=1)
    """On a cluster: number of the job's CPU cores; default: the profile's, for each
    GPU."""
    mem_mb: Access[int | None] = Field(None, ge=1)
    """On a cluster: megabytes of the job's main memory, increased by the same amount
    with each further attempt; default: the profile's."""
    runtime: Access[int | None] = Field(None, ge=1)
    """On a cluster: the job's time limit in minutes; default: the profile's."""
    start_timeout: Access[float] = Field(1800, gt=0)
    """Mode served: seconds until the server must be ready."""
    price: Access[Price | None] = None
    """The price of its tokens; default: unknown."""
    limits: Access[Limits] = Limits(concurrency=CONCURRENT)
    """Mode served: limits on requests; default `concurrency`: 512 × data_parallel."""

    @model_validator(mode="before")
    @classmethod
    def _fills_copies(cls, keys: Any) -> Any:
        """Let the default concurrency grow with the copies of the weights."""
        if not isinstance(keys, dict):
            return keys
        limits = keys.get("limits", {})
        copies = keys.get("data_parallel", 1)
        if not isinstance(limits, dict) or not isinstance(copies, int) or copies < 1:
            return keys  # the fields' own checks say what is wrong
        concurrency = min(CONCURRENT * copies, MOST_CONCURRENT)
        return {**keys, "limits": {"concurrency": concurrency, **limits}}

    @model_validator(mode="after")
    def _known(self) -> Self:
        in_body = VLLM_ARGUMENTS.sampling | {"chat_template_kwargs"}
        if unknown := sorted(set(self.extra_body) - in_body):
            allowed = ", ".join(sorted(in_body))
            raise ValueError(
                f"extra_body may not contain {', '.join(unknown)}; allowed: {allowed}"
            )
        harmless = VLLM_ARGUMENTS.harmless
        if unknown := sorted(set(self.engine_args) - harmless):
            raise ValueError(
                f"engine_args may contain {', '.join(sorted(harmless))}; "
                f"{', '.join(unknown)} may change replies and belongs in model_args"
            )
        if taken := sorted(
            set(self.model_args) & (VLLM_ARGUMENTS.set_elsewhere | harmless)
        ):
            raise ValueError(
                f"model_args may not contain {', '.join(taken)}: other keys set it"
            )
        if self.data_parallel > 1 and self.mode == "offline":
            raise ValueError("data_parallel needs `mode: served`")
        return self

    @property
    def tuned(self) -> Adapter | None:
        """Return the adapter, or None if there is none or it is still to be trained."""
        if isinstance(self.adapter, Adapter):
            return self.adapter
        return None

    @property
    def served_name(self) -> str:
        """Return the name of the weights."""
        return self.name

    @property
    def machine(self) -> dict[str, int | str]:
        """Return the resources that a job needs, as far as the card gives them, without
        memory.
        """
        needs = {
            "gpu": self.gpus,
            "gpu_model": self.gpu_model,
            "runtime": self.runtime,
            "cpus_per_task": self.cpus,
        }
        return {name: value for name, value in needs.items() if value is not None}

    @property
    def gpus(self) -> int:
        """Return the number of GPUs that a job needs."""
        return self.tensor_parallel * self.data_parallel

    @property
    def files(self) -> dict[str, str]:
        """Return role -> pattern of the files that the card names: the adapter's."""
        if self.tuned:
            return {"adapter": f"{self.tuned.path}/adapter_{{part}}"}
        return {}

    @property
    def sha256(self) -> dict[str, str]:
        """Return role -> the hash that its files must have."""
        if self.tuned:
            return {"adapter": self.tuned.sha256}
        return {}

    def identity(self) -> dict[str, Any]:
        """Return what of the card changes a reply: the part of it in every request's
        key.
        """
        keys = {"engine", "revision", "variant", "dtype", "quantization"}
        settings = self.model_dump(include=keys | {"model_args", "extra_body"})
        adapter = self.tuned.sha256 if self.tuned else self.adapter
        return {"model": self.name, "adapter": adapter, **settings}

    def scoring_identity(self) -> dict[str, Any]:
        """Return what of the card changes the probabilities of a given text."""
        return self.identity()
