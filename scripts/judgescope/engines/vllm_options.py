"""A vLLM card's paths, engine arguments, and the provenance of its replies."""

import json
import os
from pathlib import Path
from typing import Any

from judgescope.data.files import absolute
from judgescope.schema.cards import VllmModel
from judgescope.schema.cards.vllm import ADAPTER_FILES

NEUTRAL = {
    "frequency_penalty": 0.0,
    "min_p": 0.0,
    "presence_penalty": 0.0,
    "repetition_penalty": 1.0,
    "top_k": 0,
}
"""Fields that are always sent, because a model's generation config may set other
values."""
STARTED = {
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn"
}  # spawned processes inherit the guard's mark
RANKS = (
    1,
    8,
    16,
    32,
    64,
    128,
    256,
    320,
    512,
)  # the adapter ranks that vLLM can reserve


def located(card: VllmModel, folder: Path, data: Path) -> VllmModel:
    """Return the card with the absolute paths of its folders."""
    paths: dict[str, Any] = {"path": card.path and absolute(card.path, folder, data)}
    if card.tuned:
        paths["adapter"] = card.tuned.model_copy(
            update={"path": absolute(card.tuned.path, folder, data)}
        )
    return card.model_copy(update=paths)


def arguments(card: VllmModel) -> dict[str, Any]:
    """Return the arguments of vLLM's engine for a card, offline and served."""
    args = {
        "model": card.path or card.name,
        "revision": card.revision,
        "dtype": card.dtype,
        "quantization": card.quantization,
        "tensor_parallel_size": card.tensor_parallel,
        "max_model_len": card.max_model_len,
        "gpu_memory_utilization": card.gpu_memory_utilization,
        **card.model_args,
        **card.engine_args,
    }
    if card.tuned:
        args |= {"enable_lora": True, "max_lora_rank": room(Path(card.tuned.path))}
    return {name: value for name, value in args.items() if value is not None}


def room(adapter: Path) -> int:
    """Return the rank that vLLM must reserve: the smallest of RANKS that fits the
    adapter.
    """
    rank = json.loads((adapter / ADAPTER_FILES[0]).read_text(encoding="utf-8"))["r"]
    return next((allowed for allowed in RANKS if allowed >= rank), rank)


def provenance(card: VllmModel, version: str) -> dict[str, str]:
    """Return the provenance of replies from this vLLM; the same for both modes."""
    invariant = ""
    if os.environ.get("VLLM_BATCH_INVARIANT") == "1":
        invariant = "batch invariant"
    fingerprint = " ".join(filter(None, [_commit(card), invariant]))
    names = {
        "engine": "vllm",
        "model": card.name,
        "version": version,
        "fingerprint": fingerprint,
    }
    return {name: value for name, value in names.items() if value}


def _commit(card: VllmModel) -> str | None:
    """Return the commit of weights from the hub: the name of its snapshot's folder."""
    if card.path:
        return None
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(card.name, "config.json", revision=card.revision)
    if isinstance(path, str):
        return Path(path).parent.name
    return None
