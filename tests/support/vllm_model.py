"""A tiny model of random weights for vLLM, and an adapter for it; no download.

A program for the interpreter that has vLLM: `python vllm_model.py FOLDER`. A token is a
byte, so every text can be a prompt, and the length of a prompt in tokens can be told
without a tokenizer.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    "{% if enable_thinking is defined and not enable_thinking "
    "%}<think>\n\n</think>\n\n{% endif %}"
)
"""Qwen's, as far as it matters: thinking can be turned off by an option."""
AROUND = 19
"""Tokens that the template adds to one message of a user; the message has one for each
byte."""
NO_THINKING = 19
"""Tokens that the template adds when thinking is turned off."""
LONGEST = 4096
WIDTH, HIDDEN, LAYERS, HEADS = 64, 128, 2, 2


def write_tokenizer(folder: Path) -> Any:
    """Write a tokenizer of bytes with a chat template, and return it."""
    library = import_module("tokenizers")
    alphabet = sorted(library.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*alphabet, *CONTROL])}
    made = library.Tokenizer(library.models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = library.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    made.decoder = library.decoders.ByteLevel()
    tokenizer = import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_model(folder: Path) -> None:
    """Write a model whose replies depend on the prompt and are far from uniform.

    Its generation config asks for what no judge does: whoever heeds it gives other
    replies.
    """
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = write_tokenizer(folder)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=LONGEST,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        tie_word_embeddings=False,
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                weight.normal_(
                    0, 4.0 if "embed" in name else 2.0 / weight.shape[1] ** 0.5
                )
    model.generation_config.update(do_sample=True, top_k=1, repetition_penalty=1.9)
    model.save_pretrained(folder)


def write_adapter(folder: Path, rank: int = 4) -> None:
    """Write a LoRA adapter that changes what the model says."""
    torch = import_module("torch")
    folder.mkdir(parents=True)
    torch.manual_seed(1)
    parts = [
        f"layers.{layer}.self_attn.{part}_proj"
        for layer in range(LAYERS)
        for part in "qv"
    ]
    weights = {}
    for part in parts:
        weights[f"base_model.model.model.{part}.lora_A.weight"] = torch.randn(
            rank, WIDTH
        )
        weights[f"base_model.model.model.{part}.lora_B.weight"] = torch.randn(
            WIDTH, rank
        )
    import_module("safetensors.torch").save_file(
        weights, folder / "adapter_model.safetensors"
    )
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 8}
    config |= {"target_modules": ["q_proj", "v_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    write_model(Path(sys.argv[1]) / "model")
    write_adapter(Path(sys.argv[1]) / "adapter")
