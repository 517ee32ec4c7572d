"""What every engine that is asked takes and gives: requests, replies, and failures."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from metajudge.canonical import canonical
from metajudge.schema.cards import Decoding, OpenAIModel

Message = Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """One question; everything that can change its answer is in `asked`, and so in its key.

    `about` names it in messages to people (a target, an item); `asked` has the engine, the model's
    name, revision and variant, the messages, further fields of the body, and the decoding.
    """

    asked: Mapping[str, Any]
    draws: int = 1
    about: str = field(default="", compare=False)

    @cached_property
    def key(self) -> str:
        """Return sha256 of the canonical JSON of all that determines the answer, 64 hex digits."""
        return hashlib.sha256(canonical(self.asked).encode()).hexdigest()

    @cached_property
    def prompt(self) -> str:
        """Return the messages as one text: requests in its order share long beginnings."""
        return "\n".join(message["content"] for message in self.asked["messages"])

    def seed(self, draw: int) -> int:
        """Return the seed of a draw: the key's own, so that it never depends on other requests."""
        return (int(self.key[:8], 16) + draw) % 2**31


def request_of(
    model: OpenAIModel,
    decoding: Decoding,
    messages: Sequence[Message],
    *,
    seed: int,
    draws: int = 1,
    about: str = "",
) -> Request:
    """Return the request of a model card, a decoding and messages; `seed` is the study's.

    Not part of it, because they change no reply: address, key variable, price, limits.
    """
    asked = {
        "engine": model.engine,
        "model": model.served_name,
        "revision": model.revision,
        "variant": model.variant,
        "messages": [dict(message) for message in messages],
        "extra_body": model.extra_body,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
    }
    if decoding.seed == "study":
        asked["study_seed"] = seed
    return Request(asked, draws, about)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came for one draw of a request; final, whatever it says.

    status: `ok`, or `error` for a request that the endpoint refuses for good (its reason is the
    text). usage: tokens of prompt, completion, reasoning and cache. provenance: engine, model,
    version and fingerprint, as the endpoint names them.
    """

    key: str
    draw: int
    text: str
    finish: str = "stop"
    status: str = "ok"
    usage: dict[str, int] | None = None
    provenance: dict[str, str] | None = None


class Failure(NamedTuple):
    """A draw for which no reply came, and why; it is asked again in the next run."""

    about: str
    reason: str


Missing = Sequence[tuple[Request, int]]
Ask = Callable[[Missing, bool, Callable[[Reply], None]], list[Failure]]
"""(draws to ask for, whether the model has answered before, what to do with a reply) -> failures.

Replies are handed on as they come. Raises UserError where no request can succeed (a wrong key).
"""
