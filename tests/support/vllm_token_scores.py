"""The log probabilities of a text's tokens, one request a token: the slow and safe way.

A program for the interpreter that has vLLM: `python vllm_token_scores.py MODEL MESSAGE
TEXT` prints a JSON list.
"""

import json
import sys
from importlib import import_module
from typing import Any


def token_scores(model: str, message: str, text: str) -> list[float]:
    """Return the log probability of each token of a text after a message."""
    vllm = import_module("vllm")
    llm = vllm.LLM(model=model, dtype="float32", enforce_eager=True, max_logprobs=1000)
    tokenizer: Any = llm.get_tokenizer()
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": message}],
        add_generation_prompt=True,
        tokenize=False,
    )
    before = tokenizer(chat, add_special_tokens=False)["input_ids"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    params = vllm.SamplingParams(temperature=0, max_tokens=1, logprobs=len(tokenizer))
    scores = list[float]()
    for location, wanted in enumerate(ids):
        prompt = {"prompt_token_ids": [*before, *ids[:location]]}
        [output] = llm.generate(prompt, params, use_tqdm=False)
        scores.append(output.outputs[0].logprobs[0][wanted].logprob)
    return scores


if __name__ == "__main__":
    print(json.dumps(token_scores(*sys.argv[1:])))
