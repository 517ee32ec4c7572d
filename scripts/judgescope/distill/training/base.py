"""The base of a judge that is trained: its configuration, tokenizer and, once all fits, weights."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.excepthook import print_exception
from judgescope.distill.training.memory import Size
from judgescope.engines.vllm.options import located
from judgescope.replies.specs import ModelSpec
from judgescope.schema.cards import VllmModel
from judgescope.schema.loading import read_card

DTYPES = {"half": "float16", "float": "float32"}
"""vLLM's other names of them."""
TRUST = "trust_remote_code"
"""The one argument of vLLM's engine that a training can heed."""
WEIGHTS = ("*.safetensors", "*.bin", "*.pt")


@dataclass(frozen=True)
class Base:
    """A model that an adapter is trained over."""

    card: VllmModel
    config: Any
    tokenizer: Any

    @property
    def where(self) -> str:
        """Return how errors name its card."""
        return f"models/{self.card.model}.yaml"

    @property
    def template(self) -> str:
        """Return the chat template that vLLM asks it with."""
        return str(self.tokenizer.get_chat_template())

    @property
    def commit(self) -> str | None:
        """Return the commit of what came from the hub."""
        return getattr(self.config, "_commit_hash", None)

    @property
    def context(self) -> int:
        """Return how many tokens a prompt and its reply may have together."""
        own = getattr(self.config.get_text_config(), "max_position_embeddings", None)
        told = [length for length in (own, self.card.max_model_len) if length]
        if not told:
            raise UserError(
                "how many tokens the base can read is not known",
                where=f"{self.where}, key max_model_len",
                todo="say it there",
            )
        return int(min(told))

    @cached_property
    def dtype(self) -> str:
        """Return the type of its numbers."""
        told = self.card.dtype or "auto"
        own = str(getattr(self.config, "dtype", None) or "float32").removeprefix("torch.")
        return own if told == "auto" else DTYPES.get(told, told)

    def stops(self) -> set[int]:
        """Return the tokens at which vLLM ends a reply."""
        kind = import_module("transformers").GenerationConfig
        place, told = _place(self.card)
        try:
            ends = kind.from_pretrained(place, revision=told["revision"]).eos_token_id
        except OSError:  # many bases have no such file, and vLLM then looks into this one
            ends = kind.from_model_config(self.config).eos_token_id
        listed = ends if isinstance(ends, list) else [ends]
        return {one for one in (*listed, self.tokenizer.eos_token_id) if one is not None}

    def empty(self) -> Any:
        """Return the model without weights: its shapes alone."""
        torch, transformers = import_module("torch"), import_module("transformers")
        trust = bool(self.card.model_args.get(TRUST))
        make = transformers.AutoModelForCausalLM.from_config
        with torch.device("meta"):
            return _tried(self.card, lambda: make(self.config, trust_remote_code=trust))

    def size(self, adapted: Callable[[Any], Any]) -> Size:
        """Return what takes memory of the base and what `adapted` adds to it."""
        torch, config = import_module("torch"), self.config.get_text_config()
        model = self.empty()
        parameters = sum(one.numel() for one in model.parameters())
        with torch.device("meta"):
            model = adapted(model)
        return Size(
            parameters=parameters,
            trainable=sum(one.numel() for one in model.parameters() if one.requires_grad),
            layers=config.num_hidden_layers,
            hidden=config.hidden_size,
            vocabulary=config.vocab_size,
            width=getattr(torch, self.dtype).itemsize,
        )

    def weights(self, device: str) -> Any:
        """Return the model with its weights, on the device alone: a machine may have less memory
        than its GPU.
        """
        dtype = getattr(import_module("torch"), self.dtype)
        place, told = _place(self.card)
        load = import_module("transformers").AutoModelForCausalLM.from_pretrained
        first = {"device_map": {"": 0}} if device == "cuda" else {}
        return _tried(self.card, lambda: load(place, dtype=dtype, **first, **told))


def card_of(card: str, spec: ModelSpec) -> VllmModel:
    """Return the card of a base, with full paths and without an adapter."""
    model: VllmModel = read_card("model", Path(card))
    model = model.model_copy(update=spec.card | {"adapter": None})
    return located(model, Path(spec.folder), Path(spec.data))


def opened(card: VllmModel) -> Base:
    """Return the base of a card; no weights are loaded.

    Raises UserError for one that cannot be read, and for one that could not be trained as vLLM
    would then be asked.
    """
    where = f"models/{card.model}.yaml"
    if card.quantization:
        raise _quantized(f"{where}, key quantization", card.quantization)
    if unknown := sorted(set(card.model_args) - {TRUST}):
        raise UserError(
            "a training cannot heed these arguments of vLLM's engine",
            where=f"{where}, key model_args",
            got=", ".join(unknown),
            allowed=[TRUST],
            todo="leave them out, or train over another base",
        )
    place, told = _place(card)
    if card.path and not any(path for one in WEIGHTS for path in Path(place).glob(one)):
        raise UserError(
            "there are no weights in this folder",
            where=f"{where}, key path",
            got=place,
            allowed=", ".join(WEIGHTS),
        )
    transformers = import_module("transformers")
    config = _tried(card, lambda: transformers.AutoConfig.from_pretrained(place, **told))
    tokenizer = _tried(card, lambda: transformers.AutoTokenizer.from_pretrained(place, **told))
    if made_smaller := getattr(config, "quantization_config", None):
        raise _quantized(f"{where}, key name", made_smaller)
    if not tokenizer.chat_template:
        raise UserError(
            "the base has no chat template: it cannot be asked as a judge is",
            where=f"{where}, key name",
            got=card.name,
            todo="name a base that was tuned to chat",
        )
    return Base(card, config, tokenizer)


def _place(card: VllmModel) -> tuple[str, dict[str, Any]]:
    """Return where the files of a base lie, and how they are read."""
    trust = bool(card.model_args.get(TRUST))
    return card.path or card.name, {"revision": card.revision, TRUST: trust}


def _quantized(where: str, got: object) -> UserError:
    return UserError(
        "a base with quantized weights cannot be trained",
        where=where,
        got=got,
        todo="name a base whose weights are float32, bfloat16 or float16; the judge is asked with "
        "the weights that it was trained with",
    )


def _tried(card: VllmModel, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # of transformers, torch or the hub: of any kind, and told whole
        print_exception()
        raise UserError(
            f"the base cannot be loaded: {str(error).strip().partition(chr(10))[0]}",
            where=f"models/{card.model}.yaml, key {'path' if card.path else 'name'}",
            got=card.path or card.name,
            todo="the log tells more",
        ) from None
