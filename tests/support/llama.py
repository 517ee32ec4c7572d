"""A real OpenAI-compatible server for tests: llama.cpp with a tiny model of random
weights.

Its replies are noise, but everything around them is real: HTTP, sampling, seeds, `n`,
log probabilities, stop reasons, refusals. A caller chooses what comes back by what it
merges into the body of a request (what OpenAI's clients call `extra_body`): `SCORE`,
`THOUGHT`, `GIBBERISH`, `FAILURE`, or any other `grammar` in llama.cpp's notation, such
as a choice of labels.
"""

import importlib
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

SCORE: Final[dict[str, Any]] = {"grammar": "root ::= [1-5]"}
"""One digit that depends on prompt and seed, then the end, which needs a second
token."""
THOUGHT: Final[dict[str, Any]] = {
    "grammar": r'root ::= "<think>\n" [a-z]{20} "\n</think>\n" [1-5]',
}
"""As `SCORE`, after a `reasoning_content` of 20 letters; `max_tokens` 20 leaves no
score."""
GIBBERISH: Final[dict[str, Any]] = {"ignore_eos": True}
"""Random bytes up to `max_tokens`; those that are no UTF-8 come as U+FFFD. Without it
the same, but it may end by itself before."""
FAILURE: Final[dict[str, Any]] = {**SCORE, **GIBBERISH}
"""HTTP 500, however often it is asked: a reply that must end and may not."""

MODEL: Final = "random"
"""The name under which the server knows the model, whatever its file is called."""
START_SECONDS: Final = 60.0
"""A start takes a fraction of a second; on a machine with other work to do, more."""

TEMPLATE: Final = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message.reasoning_content %}"
    "<think>\n{{ message.reasoning_content }}\n</think>\n"
    "{% endif %}"
    "{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""llama.cpp sees by the part on reasoning that `<think>` in a reply is to be taken
out."""
AROUND: Final = 19
"""Tokens that the template adds to one message of a user; the message has one for each
byte."""
CONTROL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
WIDTH, HEADS, HIDDEN, LONGEST = 64, 2, 128, 32768


def require() -> None:
    """Skip the calling test module, or test, where the packages of this rig are not
    installed.
    """
    import pytest

    for package in ("gguf", "xllamacpp"):
        reason = f"the package {package} cannot be imported"
        pytest.importorskip(package, reason=reason, exc_type=ImportError)


def _byte_tokens() -> list[str]:
    """Return the 256 bytes as GPT-2 spells them: the visible ones as they are, others
    shifted.
    """
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    shifted = iter(range(256, 512))
    return [chr(byte if byte in visible else next(shifted)) for byte in range(256)]


def _weights(seed: int, vocabulary: int) -> dict[str, NDArray[np.float32]]:
    """Return random tensors whose replies depend on the prompt and are far from
    uniform.
    """
    generator = np.random.default_rng(seed)

    def normal(rows: int, columns: int, scale: float = 1.0) -> NDArray[np.float32]:
        values = generator.standard_normal((rows, columns), dtype=np.float32)
        return values * np.float32(scale / columns**0.5)

    ones = np.ones(WIDTH, dtype=np.float32)
    return {
        "token_embd.weight": normal(vocabulary, WIDTH, 4.0),
        "output_norm.weight": ones,
        "output.weight": normal(vocabulary, WIDTH),
        "blk.0.attn_norm.weight": ones,
        "blk.0.attn_q.weight": normal(WIDTH, WIDTH, 5.0),
        "blk.0.attn_k.weight": normal(WIDTH, WIDTH, 5.0),
        "blk.0.attn_v.weight": normal(WIDTH, WIDTH, 4.0),
        "blk.0.attn_output.weight": normal(WIDTH, WIDTH, 4.0),
        "blk.0.ffn_norm.weight": ones,
        "blk.0.ffn_gate.weight": normal(HIDDEN, WIDTH),
        "blk.0.ffn_up.weight": normal(HIDDEN, WIDTH),
        "blk.0.ffn_down.weight": normal(WIDTH, HIDDEN),
    }


def write_random_gguf(path: Path, *, seed: int = 0) -> None:
    """Write a model that knows bytes and nothing else; the same bytes for the same
    seed.

    A token is a byte, so every text can be a prompt, every digit is one token, and the
    length of a prompt in tokens can be told without a tokenizer.
    """
    import gguf

    tokens = [*_byte_tokens(), *CONTROL]
    kinds = [gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * len(CONTROL)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(MODEL)
    writer.add_context_length(LONGEST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    # llama.cpp insists on a list of merges: this one never applies.
    writer.add_token_merges([f"{CONTROL[0]} {CONTROL[1]}"])
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, values in _weights(seed, len(tokens)).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def serve(model: Path, *, context: int = 2048, slots: int = 2) -> Iterator[str]:
    """Serve `model` on a free loopback port and yield the base URL, which ends in
    `/v1`.

    `context` is in tokens per request, that is, in bytes of the prompt after the chat
    template and of the reply; a multiple of 256, to which the server would round it up.
    `slots` requests are worked on at the same time, others wait, and a request may ask
    for no more than `slots` draws at once (`n`). The server is native code, so it has a
    process of its own: what crashes or blocks there is an error here. It ends with the
    context, and when this process ends, however that comes.
    """
    if context % 256:
        raise ValueError(f"The context must be a multiple of 256, not {context}")
    command = [sys.executable, "-P", __file__, str(model), str(context), str(slots)]
    with TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield f"{_started(process, log)}/v1"
        finally:
            process.kill()
            process.communicate()


def _started(process: subprocess.Popen[str], log: IO[bytes]) -> str:
    """Return the address that the child prints once its server answers."""
    assert process.stdout is not None
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        address = process.stdout.readline().strip()
    finally:
        late.cancel()
    if not address:
        process.wait()
        log.seek(0)  # one open file, shared with the child: it stands at the end
        text = log.read().decode(errors="replace")
        raise RuntimeError(
            f"The llama.cpp server did not start ({process.returncode}):\n{text}"
        )
    return address


def _parameters(model: str, context: int, slots: int) -> Any:
    """Return the settings of the server: nothing from outside, little memory, one
    thread.
    """
    params = importlib.import_module("xllamacpp").CommonParams()
    params.model.path = model
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context * slots
    params.n_parallel = slots
    params.fit_params = False
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.offline = True
    params.ui = False
    params.warmup = False
    return params


def _main(model: str, context: str, slots: str) -> None:
    """Be the child: serve until the parent closes the pipe, which its death does
    too.
    """
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the native code prints is for the log
    library = importlib.import_module("xllamacpp")
    server = library.Server(_parameters(model, int(context), int(slots)))
    _wait_until_healthy(server.listening_address)
    print(server.listening_address, file=answer, flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own end can wait for requests that nobody reads any more


def _wait_until_healthy(address: str, poll_seconds: float = 5.0) -> None:
    """Return once the server has its model; the parent's patience ends what never
    does.
    """
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with direct.open(f"{address}/health", timeout=poll_seconds):
                return
        except OSError:
            time.sleep(0.01)


if __name__ == "__main__":
    _main(*sys.argv[1:])
