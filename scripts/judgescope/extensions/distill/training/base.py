"""The base model of a trained judge, and prompts and replies as its tokens."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.paths import located_folder
from judgescope.core.secrets import print_exception
from judgescope.engines.vllm_options import located
from judgescope.replies.specs import ModelSpec
from judgescope.schema.cards import Recipe, VllmModel
from judgescope.schema.loading import read_card

TRUST = "trust_remote_code"
"""The only argument of vLLM's engine that training supports."""
GB = 1e9


class Size(NamedTuple):
    """Sizes of a base model and its adapter that need memory; `width`: bytes per
    number.
    """

    parameters: int
    trainable: int
    layers: int
    hidden: int
    vocabulary: int
    width: int


@dataclass(frozen=True)
class AdapterBase:
    """The base model of an adapter."""

    card: VllmModel
    config: Any
    tokenizer: Any

    @property
    def where(self) -> str:
        """Return the name of its card for errors."""
        return f"models/{self.card.model}.yaml"

    @property
    def template(self) -> str:
        """Return the chat template that vLLM uses for it."""
        return str(self.tokenizer.get_chat_template())

    @property
    def commit(self) -> str | None:
        """Return the model's commit on the hub, if it came from there."""
        return getattr(self.config, "_commit_hash", None)

    @property
    def context(self) -> int:
        """Return the most tokens that a prompt and its reply may have together."""
        config = self.config.get_text_config()
        positions = getattr(config, "max_position_embeddings", None)
        limits = [length for length in (positions, self.card.max_model_len) if length]
        if not limits:
            raise UserError(
                "the base model's context length is unknown",
                where=f"{self.where}, key max_model_len",
                todo="set this key to the context length in tokens",
            )
        return int(min(limits))

    @cached_property
    def dtype(self) -> str:
        """Return the number format of the weights, such as bfloat16."""
        torch_names = {"half": "float16", "float": "float32"}
        asked = self.card.dtype or "auto"
        if asked != "auto":
            return torch_names.get(asked, asked)
        in_config = getattr(self.config, "dtype", None) or "float32"
        return str(in_config).removeprefix("torch.")

    def stops(self) -> set[int]:
        """Return the tokens at which vLLM ends a reply."""
        from transformers import GenerationConfig

        name, options = _source(self.card)
        try:
            generation = GenerationConfig.from_pretrained(
                name, revision=options["revision"]
            )
        except OSError:
            # Many base models have no such file; vLLM then uses the config.
            generation = GenerationConfig.from_model_config(self.config)
        ends = generation.eos_token_id
        tokens = set(ends) if isinstance(ends, list) else {ends}
        tokens.add(self.tokenizer.eos_token_id)
        return tokens - {None}

    def empty(self) -> Any:
        """Return the model with the shapes of its weights only."""
        import torch
        from transformers import AutoModelForCausalLM

        trust = bool(self.card.model_args.get(TRUST))
        make = AutoModelForCausalLM.from_config
        with torch.device("meta"):
            return _tried(self.card, lambda: make(self.config, trust_remote_code=trust))

    def size(self, adapted: Callable[[Any], Any]) -> Size:
        """Return the sizes that determine memory, of the base model and of the
        adapter.
        """
        import torch

        config = self.config.get_text_config()
        model = self.empty()
        parameters = sum(weights.numel() for weights in model.parameters())
        with torch.device("meta"):
            model = adapted(model)
        trainable = 0
        for weights in model.parameters():
            if weights.requires_grad:
                trainable += weights.numel()
        return Size(
            parameters=parameters,
            trainable=trainable,
            layers=config.num_hidden_layers,
            hidden=config.hidden_size,
            vocabulary=config.vocab_size,
            width=getattr(torch, self.dtype).itemsize,
        )

    def weights(self, device: str) -> Any:
        """Return the model with its weights, loaded directly to the device.

        A machine may have less memory than its GPU.
        """
        import torch
        from transformers import AutoModelForCausalLM

        dtype = getattr(torch, self.dtype)
        name, options = _source(self.card)
        load = AutoModelForCausalLM.from_pretrained
        if device == "cuda":
            options["device_map"] = {"": 0}
        return _tried(self.card, lambda: load(name, dtype=dtype, **options))


def adapted(model: Any, recipe: Recipe) -> Any:
    """Return a model with a fresh adapter on all its linear layers but the last."""
    import peft

    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        target_modules="all-linear",
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        bias="none",
    )
    return peft.get_peft_model(model, config)


def card_of(card: str, spec: ModelSpec) -> VllmModel:
    """Return the card of a base model, with full paths and without an adapter."""
    model: VllmModel = read_card("model", Path(card))
    model = model.model_copy(update=spec.card | {"adapter": None})
    return located(model, located_folder(spec.folder), Path(spec.data))


def opened(card: VllmModel) -> AdapterBase:
    """Return the base model of a card; no weights are loaded.

    Raises UserError for a model that cannot be read, or cannot be trained in the way in
    which vLLM would use it.
    """
    where = f"models/{card.model}.yaml"
    if card.quantization:
        raise _quantized(f"{where}, key quantization", card.quantization)
    unknown = sorted(set(card.model_args) - {TRUST})
    if unknown:
        raise UserError(
            "training does not support these arguments of vLLM's engine",
            where=f"{where}, key model_args",
            got=", ".join(unknown),
            allowed=[TRUST],
            todo="remove them, or train another base model",
        )
    name, options = _source(card)
    if card.path:
        _check_weights(Path(name), f"{where}, key path")
    from transformers import AutoConfig, AutoTokenizer

    config = _tried(card, lambda: AutoConfig.from_pretrained(name, **options))
    tokenizer = _tried(card, lambda: AutoTokenizer.from_pretrained(name, **options))
    quantization = getattr(config, "quantization_config", None)
    if quantization:
        raise _quantized(f"{where}, key name", quantization)
    if not tokenizer.chat_template:
        raise UserError(
            "the base model has no chat template, which a judge needs",
            where=f"{where}, key name",
            got=card.name,
            todo="name a chat-tuned base model",
        )
    return AdapterBase(card, config, tokenizer)


def _check_weights(folder: Path, where: str) -> None:
    """Raise UserError if a folder has no file with a model's weights."""
    patterns = ("*.safetensors", "*.bin", "*.pt")
    for pattern in patterns:
        if any(folder.glob(pattern)):
            return
    raise UserError(
        "this folder contains no weights",
        where=where,
        got=str(folder),
        allowed=", ".join(patterns),
    )


def _source(card: VllmModel) -> tuple[str, dict[str, Any]]:
    """Return the path or name of a base model, and the options for reading it."""
    trust = bool(card.model_args.get(TRUST))
    return card.path or card.name, {"revision": card.revision, TRUST: trust}


def _quantized(where: str, got: object) -> UserError:
    return UserError(
        "a base model with quantized weights cannot be trained",
        where=where,
        got=got,
        todo=(
            "name a base model with float32, bfloat16 or float16 weights; the judge "
            "runs with the weights that it was trained with"
        ),
    )


def _tried(card: VllmModel, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # transformers, torch and the hub raise many kinds
        print_exception()
        first_line = str(error).strip().partition("\n")[0]
        raise UserError(
            f"the base model cannot be loaded: {first_line}",
            where=f"models/{card.model}.yaml, key {'path' if card.path else 'name'}",
            got=card.path or card.name,
            todo="see the job's log for the full error",
        ) from None


UNHEARD = -100
"""The label of a token without a training loss."""
REPLY = "No errors."
"""A sample reply, used to see how a chat template ends replies."""


class TokenExample(NamedTuple):
    """A prompt and its reply, as tokens; `row` is the line that they come from."""

    row: dict[str, Any]
    prompt: list[int]
    reply: list[int]

    @property
    def length(self) -> int:
        """Return the number of tokens of both."""
        return len(self.prompt) + len(self.reply)


class Chat:
    """A base model's chat template and tokenizer, used in the same way as vLLM does."""

    def __init__(self, base: AdapterBase) -> None:
        self.base = base
        self.options = base.card.extra_body.get("chat_template_kwargs", {})

    def prompt(self, messages: list[dict[str, str]]) -> list[int]:
        """Return the tokens after which the model begins its reply."""
        return self._encoded(self._rendered(messages, add_generation_prompt=True))

    def reply(self, text: str) -> list[int]:
        """Return the tokens of a reply, including its end token."""
        return [*self._encoded(text), *self.ending]

    @cached_property
    def ending(self) -> list[int]:
        """Return the template's tokens after a reply, up to the one at which vLLM
        stops.
        """
        chat = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": REPLY},
        ]
        self._check(chat)
        after = self._encoded(self._rendered(chat).rpartition(REPLY)[2])
        stops = self.base.stops()
        for number, token in enumerate(after, 1):
            if token in stops:
                return after[:number]
        raise UserError(
            "the base model's chat template ends a reply without a token at which vLLM "
            "stops",
            where=f"{self.base.where}, key name",
            got=self.base.tokenizer.decode(after),
            allowed=self.base.tokenizer.convert_ids_to_tokens(sorted(stops)),
            todo="name a base model whose template and generation config agree",
        )

    def _check(self, chat: list[dict[str, str]]) -> None:
        """Raise UserError for a template that does not show plain text, or that shows
        the date.
        """
        shown = self._rendered(chat)
        dateless = self._rendered(chat, strftime_now=str)
        if REPLY not in shown:
            raise UserError(
                "the base model's chat template does not render messages as plain text",
                where=f"{self.base.where}, key name",
                got=self.base.card.name,
                todo="name a base model that was tuned for text-only chat",
            )
        if shown != dateless:
            raise UserError(
                "the base model's chat template includes today's date: the judge's "
                "prompts would differ from its training prompts",
                where=f"{self.base.where}, key extra_body.chat_template_kwargs",
                got=self.options or None,
                todo=(
                    "give the template a fixed date if it accepts one: for Llama 3.2 "
                    "`{date_string: 26 Jul 2024}`"
                ),
            )

    def _rendered(self, messages: list[dict[str, str]], **options: Any) -> str:
        render = self.base.tokenizer.apply_chat_template
        return str(render(messages, tokenize=False, **(self.options | options)))

    def _encoded(self, text: str) -> list[int]:
        return list(self.base.tokenizer.encode(text, add_special_tokens=False))


def examples(path: Path, chat: Chat, longest_reply: int) -> list[TokenExample]:
    """Return the examples of a file, tokenised.

    Raises UserError for an example that exceeds the base model's context, and for a
    reply that the judge could not write: nothing is truncated.
    """
    tokenised: list[TokenExample] = []
    too_long: dict[str, int] = {}
    # splitlines would cut texts at U+2028.
    lines = path.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines[:-1], 1):
        row = json.loads(line)
        prompt = chat.prompt(row["messages"])
        example = TokenExample(row, prompt, chat.reply(row["reply"]))
        rated = f"{row['dataset']}: {row['target']}, {row['aspect']}"
        where = f"{path.name}:{number}, {rated}"
        if example.length > chat.base.context:
            raise UserError(
                "a prompt and its reply exceed the base model's context",
                where=where,
                got=f"{len(example.prompt)} + {len(example.reply)} tokens",
                allowed=f"{chat.base.context} tokens",
                todo="name a base model with a longer context",
            )
        if len(example.reply) > longest_reply:
            too_long[where] = len(example.reply)
        tokenised.append(example)
    if too_long:
        raise UserError(
            f"{len(too_long)} training replies are longer than the judge's max_tokens",
            where=max(too_long, key=lambda where: too_long[where]),
            got=f"{max(too_long.values())} tokens",
            allowed=f"{longest_reply} tokens",
            todo="raise the judge's max_tokens to this number at least",
        )
    return tokenised


class Padded(NamedTuple):
    """Examples padded on the right; `kept`: the number of final positions to predict
    from.
    """

    tokens: list[list[int]]
    attention: list[list[int]]
    labels: list[list[int]]
    kept: int


def padded(batch: Sequence[TokenExample]) -> Padded:
    """Return examples as rows of the same length; only the tokens of replies have a
    label.

    The first of `kept` positions predicts the first token of the reply after the
    shortest prompt.
    """
    width = max(example.length for example in batch)
    shortest_prompt = min(len(example.prompt) for example in batch)
    rows = Padded([], [], [], width - shortest_prompt + 1)
    for example in batch:
        padding = width - example.length
        rows.tokens.append(example.prompt + example.reply + [0] * padding)
        rows.attention.append([1] * example.length + [0] * padding)
        labels = [UNHEARD] * len(example.prompt) + example.reply
        rows.labels.append(labels + [UNHEARD] * padding)
    return rows


def tensors(batch: Sequence[TokenExample]) -> dict[str, Any]:
    """Return examples as a model's input; it predicts only the positions that are
    needed.
    """
    import torch

    rows = padded(batch)
    return {
        "input_ids": torch.tensor(rows.tokens),
        "attention_mask": torch.tensor(rows.attention),
        "labels": torch.tensor(rows.labels),
        "logits_to_keep": rows.kept,
    }


def surprise(logits: Any, labels: Any) -> Any:
    """−Σ ln p(token | all tokens before it), over the labelled tokens of each row, in
    nats.

    `logits` (rows × positions × vocabulary) are those of the last positions of
    `labels`.
    """
    from torch.nn import functional

    labels = labels[:, labels.shape[1] - logits.shape[1] + 1 :]
    return functional.cross_entropy(
        logits[:, :-1].float().transpose(1, 2),
        labels,
        ignore_index=UNHEARD,
        reduction="none",
    ).sum(1)
