"""How probable vLLM finds a given text: the log probabilities of a prompt's tokens.

The prompt is the rendered chat and the tokens of the text alone. `prompt_logprobs`
bypasses vLLM's prefix cache, so each prompt has its full price. The texts are tokenised
in the job in both modes, so that offline and served models get the same tokens.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from yarl import URL

from judgescope.engines.openai import wire
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import (
    CONTINUATION,
    Reply,
    Request,
    not_reproduced,
)
from judgescope.engines.served import LocalServer
from judgescope.schema.cards import VllmModel

PROMPT_IDS = "prompt_ids"
"""The field of a prepared request with the tokens of chat and text."""
PositionValues = Sequence[Mapping[int, float] | None]
"""For each token of a prompt: token id -> log probability; None for the first."""


class ScoredPrompt(NamedTuple):
    """The tokens of a rendered chat, and those of the text after it."""

    chat: list[int]
    ids: list[int]
    tokens: list[str]
    """The text of each of `ids`; of a byte, its replacement character."""
    part: str
    """The part of the text that `ids` spell."""

    @property
    def all_ids(self) -> list[int]:
        """Return the tokens of the prompt."""
        return [*self.chat, *self.ids]

    def reply(self, reply: Reply, values: PositionValues) -> Reply:
        """Return a reply with one entry a token of the text; an error if one lacks."""
        last = values[-len(self.ids) :] if self.ids else []
        known = list[float]()
        for number, position in zip(self.ids, last, strict=False):
            value = (position or {}).get(number, -math.inf)
            if math.isfinite(value):
                known.append(value)
        if len(known) < len(self.ids):
            return not_reproduced(reply, f"values of {len(known)} tokens came")
        usage = {"prompt": len(self.chat), "completion": len(self.ids)}
        logprobs = [[entry] for entry in zip(self.tokens, known, strict=True)]
        return Reply(
            reply.key,
            reply.draw,
            self.part,
            usage=usage,
            provenance=reply.provenance,
            logprobs=logprobs,
        )


class TextTokens:
    """A model's tokenizer, as far as scoring a text needs it."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, card: VllmModel) -> "TextTokens":
        """Return the tokenizer of a card's weights."""
        from transformers import AutoTokenizer

        load = AutoTokenizer.from_pretrained
        trusted = bool(card.model_args.get("trust_remote_code"))
        weights = card.path or card.name
        return cls(load(weights, revision=card.revision, trust_remote_code=trusted))

    def prompt(self, asked: Mapping[str, Any]) -> ScoredPrompt:
        """Return the tokens of a request's chat and of the beginning of its text."""
        options = asked["extra_body"].get("chat_template_kwargs") or {}
        rendered = self._tokenizer.apply_chat_template(
            asked["messages"], add_generation_prompt=True, tokenize=False, **options
        )
        chat = self._tokenizer(rendered, add_special_tokens=False)["input_ids"]
        text = asked[CONTINUATION]
        encoded = self._tokenizer(
            text,
            add_special_tokens=False,
            # A control token in a text is characters, not the end of a message.
            split_special_tokens=True,
            return_offsets_mapping=True,
        )
        spans = encoded["offset_mapping"]
        count = whole_characters(spans, asked["max_tokens"])
        ids = encoded["input_ids"][:count]
        tokens = [self._tokenizer.decode([number]) for number in ids]
        return ScoredPrompt(
            chat, ids, tokens, text[: spans[count - 1][1]] if ids else ""
        )


def whole_characters(spans: Sequence[tuple[int, int]], limit: int) -> int:
    """Return how many of the first `limit` tokens end with a whole character.

    `spans`: first and past-last character of each token; those of bytes of one
    character are equal.

    >>> whole_characters([(0, 1), (1, 2), (1, 2)], limit=2)
    1
    """
    count = min(limit, len(spans))
    while 0 < count < len(spans) and spans[count][0] < spans[count - 1][1]:
        count -= 1
    return count


class ScoringEndpoint(OpenAIEngine):
    """vLLM's server: prepared requests go to the route that takes token ids."""

    def address(self, request: Request) -> URL:
        """Return the address of chats, or of completions for a text to be scored."""
        if PROMPT_IDS not in request.asked:
            return super().address(request)
        route = "completions"
        return URL(f"{self.card.base_url.rstrip('/')}/{route}")

    def body(self, request: Request, draws: Sequence[int]) -> dict[str, Any]:
        """Return the body that asks for the values of a prompt's tokens."""
        if PROMPT_IDS not in request.asked:
            return super().body(request, draws)
        return {
            "model": request.asked["model"],
            "prompt": request.asked[PROMPT_IDS],
            "prompt_logprobs": 0,
            "max_tokens": 1,
            "temperature": 0,
        }

    def read(self, text: str, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies in an answer; the values of a prompt stand in the text."""
        if PROMPT_IDS not in request.asked:
            return super().read(text, request, draws)
        try:
            values = json.loads(text)["choices"][0]["prompt_logprobs"]
        except (ValueError, LookupError, TypeError):
            raise wire.NoReplyError("a response without a prompt's values") from None
        return [Reply(request.key, draws[0], json.dumps(values))]


class VllmScorer:
    """Asks a vLLM server for the probabilities of given texts."""

    def __init__(self, server: LocalServer) -> None:
        assert isinstance(server.card, VllmModel)
        self._card = server.card
        self._prompts: dict[str, ScoredPrompt] = {}
        """Key of a request under way -> its tokens."""

    @cached_property
    def _tokens(self) -> TextTokens:
        return TextTokens.of(self._card)

    def prepared(self, request: Request) -> Request | Reply:
        """Return the request with the tokens of its prompt; the reply of no tokens."""
        prompt = self._tokens.prompt(request.asked)
        if not prompt.ids:
            return prompt.reply(Reply(request.key, 0, ""), [])
        self._prompts[request.key] = prompt
        asked = {**request.asked, PROMPT_IDS: prompt.all_ids, "max_tokens": 1}
        return request.sent_as(asked)

    def scored(self, reply: Reply) -> Reply:
        """Return the reply with one entry a token of the text."""
        positions: list[dict[int, float] | None] = []
        for position in json.loads(reply.text):
            if position is None:
                positions.append(None)
                continue
            values = dict[int, float]()
            for number, token in position.items():
                values[int(number)] = float(token["logprob"])
            positions.append(values)
        return self._prompts.pop(reply.key).reply(reply, positions)
