"""What is learnt: prompts and replies as the tokens that vLLM reads and should answer with."""

import json
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.errors import UserError
from judgescope.distill.training.base import Base

UNHEARD = -100
"""The label of a token that is not learnt."""
REPLY = "No errors."
"""Stands for a reply where a chat template is asked how one ends."""
Row = dict[str, Any]


class Example(NamedTuple):
    """A prompt and the reply to it, in tokens; `row` is the line that it comes from."""

    row: Row
    prompt: list[int]
    reply: list[int]

    @property
    def length(self) -> int:
        """Return the tokens of both."""
        return len(self.prompt) + len(self.reply)


class Chat:
    """A base's chat template and tokenizer, used as vLLM uses them."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.options = base.card.extra_body.get("chat_template_kwargs", {})

    def prompt(self, messages: list[Row]) -> list[int]:
        """Return the tokens after which the model begins its reply."""
        return self._encoded(self._rendered(messages, add_generation_prompt=True))

    def reply(self, text: str) -> list[int]:
        """Return the tokens of a reply, the one that ends it included."""
        return [*self._encoded(text), *self.ending]

    @cached_property
    def ending(self) -> list[int]:
        """Return what the template has after a reply, as far as the token at which vLLM ends it."""
        told = [{"role": "user", "content": "?"}, {"role": "assistant", "content": REPLY}]
        self._check(told)
        after = self._encoded(self._rendered(told).rpartition(REPLY)[2])
        stops = self.base.stops()
        for number, token in enumerate(after, 1):
            if token in stops:
                return after[:number]
        raise UserError(
            "the base's chat template ends a reply with no token at which vLLM would end it",
            where=f"{self.base.where}, key name",
            got=self.base.tokenizer.decode(after),
            allowed=self.base.tokenizer.convert_ids_to_tokens(sorted(stops)),
            todo="name a base whose template and generation config fit together",
        )

    def _check(self, told: list[Row]) -> None:
        """Raise UserError for a template that shows no plain text, or another one every day."""
        shown, dateless = self._rendered(told), self._rendered(told, strftime_now=str)
        if REPLY not in shown:
            raise UserError(
                "the base's chat template does not show what is said as plain text",
                where=f"{self.base.where}, key name",
                got=self.base.card.name,
                todo="name a base that was tuned to chat in texts alone",
            )
        if shown != dateless:
            raise UserError(
                "the base's chat template tells today's date: the judge would be asked in other "
                "words than those that it was taught",
                where=f"{self.base.where}, key extra_body.chat_template_kwargs",
                got=self.options or None,
                todo="give the template a date that stays, if it takes one: for Llama 3.2 "
                "`{date_string: 26 Jul 2024}`",
            )

    def _rendered(self, messages: list[Row], **told: Any) -> str:
        return str(
            self.base.tokenizer.apply_chat_template(
                messages, tokenize=False, **{**self.options, **told}
            )
        )

    def _encoded(self, text: str) -> list[int]:
        return list(self.base.tokenizer.encode(text, add_special_tokens=False))


def examples(path: Path, chat: Chat, longest_reply: int) -> list[Example]:
    """Return the examples of a file, tokenised.

    Raises UserError for one that is longer than the base can read, and for a reply that the judge
    could not write: nothing is cut.
    """
    found, long = list[Example](), dict[str, int]()
    lines = path.read_text(encoding="utf-8").split("\n")  # splitlines would cut texts at U+2028
    for number, line in enumerate(lines[:-1], 1):
        row = json.loads(line)
        example = Example(row, chat.prompt(row["messages"]), chat.reply(row["reply"]))
        where = f"{path.name}:{number}, {row['dataset']}: {row['target']}, {row['aspect']}"
        if example.length > chat.base.context:
            raise UserError(
                "a prompt and its reply are longer than the base's context",
                where=where,
                got=f"{len(example.prompt)} + {len(example.reply)} tokens",
                allowed=f"{chat.base.context} tokens",
                todo="name a base with a longer context",
            )
        if len(example.reply) > longest_reply:
            long[where] = len(example.reply)
        found.append(example)
    if long:
        raise UserError(
            f"replies that are to be learnt are longer than the judge may write: {len(long)}",
            where=max(long, key=lambda place: long[place]),
            got=f"{max(long.values())} tokens",
            allowed=f"{longest_reply} tokens",
            todo="give the judge so many in its max_tokens",
        )
    return found


class Padded(NamedTuple):
    """Examples side by side, padded on the right; `kept`: positions to predict from, at the end."""

    tokens: list[list[int]]
    attention: list[list[int]]
    labels: list[list[int]]
    kept: int


def padded(batch: Sequence[Example]) -> Padded:
    """Return examples as rows of the same length; the tokens of replies alone have a label.

    The first of `kept` positions predicts the first token of the reply after the shortest prompt.
    """
    width = max(one.length for one in batch)
    rest = [width - one.length for one in batch]
    return Padded(
        [one.prompt + one.reply + [0] * more for one, more in zip(batch, rest, strict=True)],
        [[1] * one.length + [0] * more for one, more in zip(batch, rest, strict=True)],
        [
            [UNHEARD] * len(one.prompt) + one.reply + [UNHEARD] * more
            for one, more in zip(batch, rest, strict=True)
        ],
        width - min(len(one.prompt) for one in batch) + 1,
    )


def tensors(batch: Sequence[Example]) -> dict[str, Any]:
    """Return examples as a model takes them; it predicts no more than what is learnt."""
    made, tensor = padded(batch), import_module("torch").tensor
    return {
        "input_ids": tensor(made.tokens),
        "attention_mask": tensor(made.attention),
        "labels": tensor(made.labels),
        "logits_to_keep": made.kept,
    }


def surprise(logits: Any, labels: Any) -> Any:
    """−Σ ln p(token | all before it) over the tokens with a label, for each row, in nats.

    `logits` (rows × positions × vocabulary) are those of the last positions of `labels`.
    """
    functional = import_module("torch").nn.functional
    labels = labels[:, labels.shape[1] - logits.shape[1] + 1 :]
    return functional.cross_entropy(
        logits[:, :-1].float().transpose(1, 2), labels, ignore_index=UNHEARD, reduction="none"
    ).sum(1)
