"""Cards of models that a job loads itself with vLLM."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from judgescope.schema.cards.base import Card, Sha256, Slug
from judgescope.schema.cards.models import Limits, Parts, Price

SAMPLING = {
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "min_p", "top_k"),
    *("bad_words", "ignore_eos", "logit_bias", "min_tokens", "stop", "stop_token_ids"),
    *("include_stop_str_in_output", "skip_special_tokens", "spaces_between_special_tokens"),
}
"""Sampling parameters of vLLM that its server takes under the same name."""
VLLM_BODY = SAMPLING | {"chat_template_kwargs"}
SPOKEN_FOR = {
    *("model", "revision", "dtype", "quantization", "tensor_parallel_size", "data_parallel_size"),
    *("max_model_len", "gpu_memory_utilization", "enable_lora", "max_lora_rank", "lora_modules"),
    *("host", "port", "api_key", "served_model_name", "override_generation_config"),
}
"""Arguments of vLLM's engine and server that other keys of a card say, or that we do."""
HARMLESS = {
    *("async_scheduling", "block_size", "cpu_offload_gb", "disable_custom_all_reduce"),
    *("distributed_executor_backend", "download_dir", "enable_chunked_prefill", "enforce_eager"),
    *("enable_expert_parallel", "enable_prefix_caching", "kv_cache_memory_bytes", "load_format"),
    *("max_logprobs", "max_num_batched_tokens", "max_num_seqs", "max_parallel_loading_workers"),
    *("disable_log_stats", "safetensors_load_strategy"),
}
"""Arguments of vLLM's engine that say how it works, not what it answers."""


ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
"""What an adapter consists of, as peft writes it."""
TRAINED = "trained"
"""In the place of an adapter: the one that the study trains."""
PLACE = r"^(\{data\}/)?[^{}]+$"


class Adapter(Card):
    """A LoRA adapter over a model's weights."""

    path: str = Field(
        pattern=PLACE,
        description="Its folder (adapter_config.json, adapter_model.*): from the card's, absolute, "
        "or from `{data}/`.",
    )
    sha256: Sha256 = Field(
        description="Of its files `adapter_*`: sha256 of all their `name sha256` lines."
    )


class VllmModel(Card):
    """A model that a job itself loads with vLLM, in its own process or behind its own server."""

    model: Slug = Field(description="The id, equal to the file's name.")
    engine: Literal["vllm"] = Field(description="What answers.")
    mode: Literal["offline", "served"] = Field(
        "offline",
        description="How it is asked, which changes no reply: `offline`, inside the job; `served`, "
        "by a server that the job starts and ends: for data_parallel, and models that need it.",
    )
    name: str = Field(description="The name of the weights on the hub.")
    path: str | None = Field(
        None,
        pattern=PLACE,
        description="The folder where they lie: from the card's, absolute, or from `{data}/`. "
        "Default: the hub, or what it left on this machine.",
    )
    revision: str | None = Field(
        None, description="The commit of the weights; without one, the hub's newest."
    )
    variant: str | None = Field(None, description="What else tells these weights from others.")
    family: Slug | None = Field(None, description="Models of one family may favour each other.")
    dtype: str | None = Field(None, description="Numbers of the weights; default: their own.")
    quantization: str | None = Field(
        None, description="How weights are made smaller; default: as they are."
    )
    adapter: Adapter | Literal["trained"] | None = Field(
        None,
        description="A LoRA adapter that every request uses; `trained`: the one that the study "
        "trains (its key `distill`).",
    )
    extra_body: dict[str, Any] = Field(
        {},
        description="Further fields of every request: chat_template_kwargs (`enable_thinking: "
        "false`), sampling parameters of vLLM such as top_k.",
    )
    model_args: dict[str, Any] = Field(
        {}, description="Further arguments of vLLM's engine that may change replies."
    )
    engine_args: dict[str, Any] = Field(
        {}, description="Further arguments that say how it works only, such as max_num_seqs."
    )
    tensor_parallel: int = Field(1, ge=1, description="So many GPUs hold the weights together.")
    data_parallel: int = Field(1, ge=1, description="Mode served: so many copies of the weights.")
    max_model_len: int | None = Field(
        None,
        ge=1,
        description="Tokens of prompt and reply; a longer prompt is refused. Default: the model's.",
    )
    gpu_memory_utilization: float | None = Field(
        None, gt=0, le=1, description="The share of a GPU's memory it takes; default: vLLM's."
    )
    gpu_model: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.]+$",
        description="On a cluster: the type of its GPUs, as the cluster calls it; default: the "
        "profile's.",
    )
    mem_mb: int | None = Field(
        None,
        ge=1,
        description="On a cluster: megabytes of the job's memory (not the GPU's), as many again "
        "with every further attempt; default: the profile's.",
    )
    runtime: int | None = Field(
        None, ge=1, description="On a cluster: the job's minutes; default: the profile's."
    )
    start_timeout: float = Field(
        1800, gt=0, description="Mode served: seconds until the server must be ready."
    )
    price: Price | None = Field(None, description="What its tokens cost; default: not known.")
    limits: Limits = Field(Limits(concurrency=256), description="Mode served: how it is asked.")
    parts: Parts = 1

    @model_validator(mode="after")
    def _known(self) -> Self:
        if unknown := sorted(set(self.extra_body) - VLLM_BODY):
            allowed = ", ".join(sorted(VLLM_BODY))
            raise ValueError(f"extra_body may not hold {', '.join(unknown)}; allowed: {allowed}")
        if unknown := sorted(set(self.engine_args) - HARMLESS):
            raise ValueError(
                f"engine_args may hold {', '.join(sorted(HARMLESS))}; {', '.join(unknown)} may "
                "change replies: model_args"
            )
        if taken := sorted(set(self.model_args) & (SPOKEN_FOR | HARMLESS)):
            raise ValueError(f"model_args may not hold {', '.join(taken)}: other keys say it")
        if self.data_parallel > 1 and self.mode == "offline":
            raise ValueError("data_parallel needs `mode: served`")
        return self

    @property
    def tuned(self) -> Adapter | None:
        """Return the adapter that is there; one that is to be trained is not."""
        return self.adapter if isinstance(self.adapter, Adapter) else None

    @property
    def served_name(self) -> str:
        """Return the name of the weights."""
        return self.name

    @property
    def unsent(self) -> set[str]:
        """Return the fields of a decoding that vLLM is not told: none."""
        return set()

    @property
    def gpus(self) -> int:
        """Return how many GPUs a job needs."""
        return self.tensor_parallel * self.data_parallel

    @property
    def machine(self) -> dict[str, int | str]:
        """Return what a job needs of its machine, as far as the card says it, without memory."""
        told = {"gpu": self.gpus, "gpu_model": self.gpu_model, "runtime": self.runtime}
        return {name: value for name, value in told.items() if value is not None}

    @property
    def files(self) -> dict[str, str]:
        """Return role -> pattern of the files that the card names: the adapter's."""
        return {"adapter": f"{self.tuned.path}/adapter_{{part}}"} if self.tuned else {}

    @property
    def sha256(self) -> dict[str, str]:
        """Return role -> the hash that its files must have."""
        return {"adapter": self.tuned.sha256} if self.tuned else {}

    def identity(self) -> dict[str, Any]:
        """Return what of the card changes a reply: the part of it in every request's key."""
        return {
            "engine": self.engine,
            "model": self.name,
            "revision": self.revision,
            "variant": self.variant,
            "dtype": self.dtype,
            "quantization": self.quantization,
            "adapter": self.tuned.sha256 if self.tuned else self.adapter,
            "model_args": self.model_args,
            "extra_body": self.extra_body,
        }
