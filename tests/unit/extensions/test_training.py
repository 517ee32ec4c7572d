"""Training a judge, as far as it needs no torch: what is kept where, what is learnt in
which order.

The training itself is tested in test_training_vllm.py.
"""

import builtins
import json
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgescope.core import process_limits
from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.engines import devices
from judgescope.extensions.distill.training import train
from judgescope.extensions.distill.training.base import (
    UNHEARD,
    AdapterBase,
    Chat,
    Size,
    TokenExample,
    examples,
    opened,
    padded,
)
from judgescope.extensions.distill.training.checks import (
    Longest,
    check_context,
    check_dtype,
    check_memory,
    free,
    longest,
    needed,
)
from judgescope.extensions.distill.training.folder import TrainingFolder
from judgescope.extensions.distill.training.train import (
    TrainingRun,
    held_out_row,
    loss_rows,
    order,
    rate,
    step_rows,
)
from judgescope.schema.cards import Recipe, VllmModel
from judgescope.schema.tables import table_of

STOP = 3


class Tokens:
    """A tokenizer of characters; ETX is the end of a turn."""

    eos_token_id = STOP
    chat_template = "one"
    ending = "\x03\n"
    dated = False

    def apply_chat_template(self, messages: list[dict[str, str]], **parts: Any) -> str:
        assert parts.pop("tokenize") is False
        tell = parts.pop("strftime_now", lambda form: "1 May 2030")
        if self.dated and "date_string" not in parts:
            parts[tell("%d %b %Y")] = True
        text = "".join(
            f"{message['role'][0]}:{message['content']}{self.ending}"
            for message in messages
        )
        return (
            text
            + ("a:" if parts.pop("add_generation_prompt", False) else "")
            + "".join(parts)
        )

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return list(map(ord, text))

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))

    def convert_ids_to_tokens(self, tokens: list[int]) -> list[str]:
        return list(map(chr, tokens))


@dataclass(frozen=True)
class Characters(AdapterBase):
    """A base that reads characters, for which no file is asked where a reply ends."""

    def stops(self) -> set[int]:
        return {STOP, 1}


def base(**keys: Any) -> Characters:
    card = VllmModel(model="small", engine="vllm", name="maker/small", **keys)
    text = SimpleNamespace(max_position_embeddings=60)
    return Characters(card, SimpleNamespace(get_text_config=lambda: text), Tokens())


def example(prompt: int, reply: int, **row: Any) -> TokenExample:
    return TokenExample(row, [7] * prompt, [8] * reply)


def line(
    target: str = "t", prompt: str = "Rate.", reply: str = "Fine"
) -> dict[str, Any]:
    fields = {
        "dataset": "d",
        "item": "i",
        "target": target,
        "aspect": "fluency",
        "score": 90,
    }
    return {**fields, "messages": [{"role": "user", "content": prompt}], "reply": reply}


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "train.jsonl"
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    return path


# What is learnt


def test_a_reply_is_learnt_as_far_as_the_token_that_ends_it() -> None:
    chat = Chat(base())
    assert chat.prompt([{"role": "user", "content": "Hi"}]) == list(
        map(ord, "u:Hi\x03\na:")
    )
    assert chat.reply("Ja") == [ord("J"), ord("a"), STOP]


def test_the_template_gets_the_options_that_every_request_has() -> None:
    body = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 3}
    tokens = Chat(base(extra_body=body)).prompt([{"role": "user", "content": "Hi"}])
    assert tokens == list(map(ord, "u:Hi\x03\na:enable_thinking"))


def test_a_template_that_ends_no_reply_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Tokens, "ending", "\n")
    with pytest.raises(UserError, match="ends a reply without a token") as caught:
        Chat(base()).reply("Ja")
    assert (
        caught.value.where == "models/small.yaml, key name" and caught.value.got == "\n"
    )


def test_a_template_that_tells_the_day_is_an_error_unless_it_is_given_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Tokens, "dated", True)
    with pytest.raises(UserError, match="includes today's date") as caught:
        Chat(base()).reply("Ja")
    assert (
        caught.value.where == "models/small.yaml, key extra_body.chat_template_kwargs"
    )
    steady = {"chat_template_kwargs": {"date_string": "26 Jul 2024"}}
    assert Chat(base(extra_body=steady)).reply("Ja")[-1] == STOP


def test_a_template_that_shows_no_plain_text_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Tokens, "apply_chat_template", lambda *_, **options: "u:\x03\na:\x03\n"
    )
    with pytest.raises(UserError, match="as plain text") as caught:
        Chat(base()).reply("Ja")
    assert caught.value.where == "models/small.yaml, key name"


def test_an_example_is_a_line_whatever_ends_lines_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    result = line(prompt="a\u2028b\x85c\u2029d\n")
    path.write_text(canonical(result) + "\n", encoding="utf-8")
    [example] = examples(path, Chat(base()), 5)
    assert example.row == result and example.prompt == list(
        map(ord, "u:a\u2028b\x85c\u2029d\n\x03\na:")
    )


def test_examples_are_tokens_of_the_lines(tmp_path: Path) -> None:
    [each, two] = examples(
        written(tmp_path, line("a"), line("b", reply="")), Chat(base()), 5
    )
    assert (each.row["target"], two.row["target"]) == ("a", "b")
    assert each.prompt == list(map(ord, "u:Rate.\x03\na:")) and each.length == 16
    assert each.reply == [*map(ord, "Fine"), STOP] and two.reply == [STOP]


def test_nothing_is_cut(tmp_path: Path) -> None:
    """Prompt and reply have 11 + 49 tokens at the most, of 60."""
    limit = written(tmp_path, line(reply="x" * 48))
    assert [example.length for example in examples(limit, Chat(base()), 49)] == [60]
    several = written(
        tmp_path, line("a", reply="x" * 47), line("b", reply="x" * 48), line("c")
    )
    with pytest.raises(
        UserError, match=r"^2 training replies are longer than"
    ) as reply:
        examples(several, Chat(base()), 47)
    assert (reply.value.got, reply.value.allowed) == ("49 tokens", "47 tokens")
    assert ":2, " in reply.value.where
    more = written(tmp_path, line("first"), line("second", reply="x" * 49))
    with pytest.raises(UserError, match="exceed the base model's context") as both:
        examples(more, Chat(base()), 50)
    assert both.value.where == "train.jsonl:2, d: second, fluency"
    assert (both.value.got, both.value.allowed) == ("11 + 50 tokens", "60 tokens")


def test_a_batch_is_padded_on_the_right_and_learns_replies_alone() -> None:
    made = padded([TokenExample({}, [1, 2, 3], [4, 5]), TokenExample({}, [6], [7, 8])])
    assert made.tokens == [[1, 2, 3, 4, 5], [6, 7, 8, 0, 0]]
    assert made.attention == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    no = UNHEARD
    assert made.labels == [[no, no, no, 4, 5], [no, 7, 8, no, no]]
    assert (
        made.kept == 5
    )  # the first of 5 predicts the second token, which is a reply's


def test_only_the_end_is_predicted() -> None:
    """The last 3 of 12 positions: the first of them predicts the reply's first
    token.
    """
    assert padded([example(10, 2)]).kept == 3


# In which order, how fast, and what is noted


def test_each_epoch_sees_every_example_once_in_a_new_order() -> None:
    seen = order(3, 20, 2)
    first, second = seen[:20], seen[20:]
    assert sorted(first) == sorted(second) == list(
        range(20)
    ) and first != second != sorted(second)
    assert order(3, 20, 1) == first and order(4, 20, 1) != first


def test_the_rate_rises_and_then_falls_in_a_line() -> None:
    """10 steps of which 2 warm up: (s + 1)/3, then (10 − s)/8."""
    rates = [rate(step, 10, 0.2) for step in range(10)]
    assert rates == pytest.approx(
        [1 / 3, 2 / 3, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]
    )
    assert [rate(step, 4, 0) for step in range(4)] == [1, 3 / 4, 2 / 4, 1 / 4]
    assert rate(0, 1, 1) == 1  # the one step that there is does not warm up


def test_the_log_tells_what_was_seen_until_a_step() -> None:
    """5 examples in batches of 2: the last step has one."""
    seen = [example(9, reply) for reply in (1, 2, 3, 4, 5)]
    recipe = Recipe(batch=2)
    assert TrainingRun(base(), recipe, 1, seen, []).last == 3
    assert TrainingRun(base(), recipe, 1, seen[:4], []).last == 2
    noted = [
        {"step": step, "loss": 0.5, "learning_rate": 0.1, "epoch": 1}
        for step in (1, 2, 3)
    ]
    rows = step_rows(seen, 2, noted)
    assert [(row["step"], row["examples"], row["tokens"]) for row in rows] == [
        *((1, 2, 3), (2, 4, 10), (3, 5, 15))
    ]
    table_of("training", rows)


def test_losses_are_means_over_tokens() -> None:
    fields = {"dataset": "d", "item": "i", "aspect": "fluency", "score": 1}
    of = [example(3, 2, target="a", **fields), example(3, 6, target="b", **fields)]
    row = held_out_row(50, 4.0, of)
    assert row == {
        "step": 50,
        "split": "held_out",
        "loss": 0.5,
        "examples": 2,
        "tokens": 8,
    }
    each, two = loss_rows(of, [3.0, 12.0], [1.0, 0.0])
    assert (each["before"], each["after"], each["tokens"]) == (1.5, 0.5, 2)
    assert (two["before"], two["after"], two["tokens"]) == (2.0, 0.0, 6)
    table_of("losses", [each, two])


# What fits on the device


def test_the_memory_of_a_training_by_hand() -> None:
    """A base of 2 layers, 4 wide, each with one linear layer from 4 to 4; numbers of 2
    bytes.

    1000 parameters: 2000. Rank 2: 2·(4 + 4)·2 = 32 in the adapter: 768. 2 examples of 5
    tokens: 10·2·4·2 = 160 into the layers; 10 · 32/(2·2) · (2·2 + 4) = 640 in the one.
    2·3 tokens of replies, 11 that there may be: 6·11·(4 + 12) = 1056.
    """
    size = Size(
        parameters=1000, trainable=32, layers=2, hidden=4, vocabulary=11, width=2
    )
    result = needed(size, rank=2, batch=2, tokens=5, replies=3)
    assert result == 2000 + 768 + 160 + 640 + 1056


def test_the_machine_tells_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_limits, "MEMORY", tmp_path / "meminfo")
    meminfo = "MemTotal:  100 kB\nMemFree:    10 kB\nMemAvailable:      50 kB\n"
    (tmp_path / "meminfo").write_text(meminfo)
    assert free("cpu") == 51200


def test_a_training_takes_a_gpu_before_torch_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another job has the first one."""
    for name in list(os.environ):
        if name.startswith("SLURM"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))  # no driver
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    locks: list[int] = []
    monkeypatch.setattr(devices, "_taken", locks)
    seen: list[str | None] = []
    torch = SimpleNamespace(
        use_deterministic_algorithms=lambda on: None,
        utils=SimpleNamespace(deterministic=SimpleNamespace()),
    )

    imported = builtins.__import__

    def load(name: str, *details: Any) -> Any:
        if name != "torch":
            return imported(name, *details)
        seen.append(os.environ.get("CUDA_VISIBLE_DEVICES"))
        return torch

    monkeypatch.setattr(builtins, "__import__", load)
    train.prepare("cuda")
    other = locks.pop()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    train.prepare("cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    train.prepare("cpu")
    assert seen == ["2", "3", "2,3"]
    for lock in (other, *locks):
        os.close(lock)


def test_a_training_that_does_not_fit_is_an_error_with_both_amounts() -> None:
    check_memory(base(), Recipe(device_batch=4), 1000, 1000)
    with pytest.raises(
        UserError, match=r"about 40\.0 GB, and the device has 24\.5 GB"
    ) as caught:
        check_memory(base(), Recipe(device_batch=4), 40_000_000_000, 24_500_000_000)
    assert (
        "device_batch" in caught.value.where
        and "models/small.yaml" in caught.value.where
    )
    assert "smaller base" in caught.value.todo and "quantized" in caught.value.todo


@pytest.mark.parametrize(
    ("dtype", "device", "modern", "allowed"),
    [
        ("half", "cpu", True, ["float32", "bfloat16"]),
        ("int4", "cuda", True, ["float32", "bfloat16", "float16"]),
        ("bfloat16", "cuda", False, ["float32", "float16"]),
    ],
)
def test_numbers_that_the_device_cannot_train_with_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
    dtype: str,
    device: str,
    modern: bool,
    allowed: list[str],
) -> None:
    cuda = SimpleNamespace(is_bf16_supported=lambda emulated: modern)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    check_dtype(base(dtype=allowed[-1]), device)
    with pytest.raises(
        UserError, match="does not support this number format"
    ) as caught:
        check_dtype(base(dtype=dtype), device)
    assert caught.value.where == "models/small.yaml, key dtype"
    assert caught.value.allowed == sorted(allowed)


def test_the_longest_prompt_counts_what_is_yet_to_be_written() -> None:
    where = {"dataset": "d", "aspect": "fluency"}
    rows = [
        {**where, "target": "long", "prompt": "x" * 20, "room": 0},
        {**where, "target": "short", "prompt": "x" * 5, "room": 16},
    ]
    assert longest(rows, base()) == Longest(6 + 21, "d: short, fluency")


def test_prompt_and_reply_must_fit_into_the_context() -> None:
    prompt = Longest(50, "d: t, fluency")
    check_context(base(), prompt, 10)
    with pytest.raises(UserError, match="exceed the base model's context") as caught:
        check_context(base(), prompt, 11)
    assert caught.value.where == "models/small.yaml, key name"
    assert (caught.value.got, caught.value.allowed) == (
        "50 + 11 tokens (d: t, fluency)",
        "60 tokens",
    )
    with pytest.raises(UserError) as error:
        check_context(base(max_model_len=55), prompt, 6)
    assert error.value.where == "models/small.yaml, key max_model_len"


def test_a_base_that_tells_no_context_needs_one_in_its_card() -> None:
    silent = SimpleNamespace(get_text_config=lambda: SimpleNamespace())
    card = base(max_model_len=40).card
    assert AdapterBase(card, silent, Tokens()).context == 40
    with pytest.raises(UserError, match="is unknown"):
        _ = AdapterBase(base().card, silent, Tokens()).context


@pytest.mark.parametrize(
    ("keys", "where", "what"),
    [
        ({"quantization": "fp8"}, "key quantization", "quantized weights"),
        (
            {"model_args": {"hf_overrides": {}}},
            "key model_args",
            "does not support these arguments",
        ),
    ],
)
def test_a_base_that_would_be_asked_in_another_way_is_an_error(
    keys: dict[str, Any], where: str, what: str
) -> None:
    with pytest.raises(UserError, match=what) as caught:
        opened(base(**keys).card)
    assert caught.value.where == f"models/small.yaml, {where}"


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_nothing_comes_of_a_model_whose_loss_is_no_number_at_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loss: float
) -> None:
    recipe = Recipe(epochs=1, batch=2, learning_rate=9.0)
    training = TrainingRun(base(), recipe, 3, [example(2, 2)] * 3, [example(2, 2)] * 2)
    monkeypatch.setattr(training, "_losses", lambda model: [1.0, loss])
    with pytest.raises(UserError, match="not finite at step 2") as caught:
        training._finish(SimpleNamespace(model=None), TrainingFolder(tmp_path, "key"))
    assert caught.value.where == "study, key distill.recipe.learning_rate"
    assert not TrainingFolder(tmp_path, "key").finished


def test_without_a_generation_config_replies_end_where_the_model_and_its_tokenizer_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Generation(SimpleNamespace):
        @classmethod
        def from_pretrained(cls, location: str, revision: str | None) -> "Generation":
            raise OSError

        @classmethod
        def from_model_config(cls, config: Any) -> "Generation":
            return cls(eos_token_id=config.eos_token_id)

    library = SimpleNamespace(GenerationConfig=Generation)
    monkeypatch.setitem(sys.modules, "transformers", library)
    for own_part, result in ((7, {7, STOP}), ([7, 8], {7, 8, STOP}), (None, {STOP})):
        assert (
            AdapterBase(
                base().card, SimpleNamespace(eos_token_id=own_part), Tokens()
            ).stops()
            == result
        )


class OutOfMemoryError(RuntimeError):
    """As torch has it."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OutOfMemoryError("CUDA out of memory. Tried to"),
            "the device is out of memory: CUDA",
        ),
        (
            RuntimeError("x_cuda does not have a deterministic implementation. Set"),
            "each time",
        ),
        (RuntimeError("anything else"), None),
    ],
)
def test_what_torch_raises_in_a_training(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    error: RuntimeError,
    message: str | None,
) -> None:
    training = TrainingRun(base(), Recipe(), 0, [example(2, 2)], [])

    def fails(folder: TrainingFolder) -> None:
        raise error

    library = SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
    monkeypatch.setitem(sys.modules, "torch", library)
    monkeypatch.setattr(training, "_trainer", fails)
    with pytest.raises(
        UserError if message else RuntimeError, match=message or "anything else"
    ):
        training.run(TrainingFolder(tmp_path, "key"))
