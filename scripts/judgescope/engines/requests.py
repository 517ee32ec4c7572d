"""What every engine that is asked takes and gives: requests, replies, and failures."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from judgescope.core.canonical import canonical
from judgescope.schema.cards import CommandModel, Decoding, PromptedModel

Message = Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """One question; everything that can change its answer is in `asked`, and so in its key.

    `about` names it in messages to people (a target, an item); `asked` has the engine, the model's
    name, revision and variant, the messages, further fields of the body, and the decoding; for a
    program, its words and files and the `target` that it is shown.
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
        """Return what is read as one text: requests in its order share long beginnings."""
        if "target" in self.asked:
            return canonical(self.asked["target"])
        return "\n".join(message["content"] for message in self.asked["messages"])

    def seed(self, draw: int) -> int:
        """Return the seed of a draw: the key's own, so that it never depends on other requests."""
        return (int(self.key[:8], 16) + draw) % 2**31


def request_of(
    model: PromptedModel,
    decoding: Decoding,
    messages: Sequence[Message],
    *,
    seed: int,
    draws: int = 1,
    about: str = "",
    wants: Mapping[str, Any] | None = None,
) -> Request:
    """Return the request of a model card, a decoding and messages; `seed` is the study's.

    Not part of it, because they change no reply: address, key variable, how fields are spelled,
    price, limits. A field that is not sent at all is no part of it either. `wants` is what only
    some requests ask for: `logprobs` (of how many tokens), `choices` or a `json_schema`.
    """
    asked = {
        **model.identity(),
        "messages": [dict(message) for message in messages],
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "max_tokens": decoding.max_tokens,
        **(wants or {}),
    }
    for name in model.unsent & asked.keys():
        del asked[name]
    if decoding.seed == "study":
        asked["study_seed"] = seed
    return Request(asked, draws, about)


def request_of_program(
    model: CommandModel,
    decoding: Decoding,
    target: Mapping[str, Any],
    *,
    seed: int,
    draws: int = 1,
    about: str = "",
) -> Request:
    """Return the request of a settled command card and what its program is shown of a target."""
    asked = {**model.identity(), "target": target}
    if decoding.seed == "study":
        asked["study_seed"] = seed
    return Request(asked, draws, about)


TOKENS = frozenset(("prompt", "completion", "reasoning", "cached"))
"""What usage counts."""
STATUSES = frozenset(("ok", "error"))
MOST_TOKENS = 1_000_000_000
"""Of a reply: what says more counts nothing, and sums of it would fit into no table."""


def is_count(told: object) -> bool:
    """Return whether something that an endpoint or a journal says is a number of tokens."""
    return type(told) is int and 0 <= told <= MOST_TOKENS


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
    logprobs: list[list[tuple[str, float]]] | None = None


class RefusedError(Exception):
    """The endpoint will never answer this request."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Failure(NamedTuple):
    """A draw for which no reply came, and why; it is asked again in the next run."""

    about: str
    reason: str


class Work(NamedTuple):
    """A request and those of its draws, ascending, that nobody has answered."""

    request: Request
    draws: tuple[int, ...]

    def runs(self) -> Iterator[list[int]]:
        """Yield the draws that follow each other, and whose seeds do: the first's stands for all.

        Seeds begin again at 0 where a generator's would go on.
        """

        def place(numbered: tuple[int, int]) -> tuple[int, int]:
            number, draw = numbered
            return draw - number, self.request.seed(draw) - draw

        for _, run in groupby(enumerate(self.draws), key=place):
            yield [draw for _, draw in run]


class Hold(NamedTuple):
    """What is set aside for a request under way: its draws, their price, its size in bytes."""

    draws: int
    nanodollars: int
    size: int


class Budget(Protocol):
    """What may still be asked; an engine heeds it around everything that it sends."""

    def reserve(self, request: Request, draws: int) -> Hold | None:
        """Set aside the most that so many draws of a request can cost.

        None: there is no room before something that is under way is settled; try again after that.
        Raises UserError where nothing is under way and there is no room.
        """
        ...

    def settle(self, hold: Hold, replies: Sequence[Reply]) -> None:
        """Put what the replies cost, once they are kept, in the place of what was set aside.

        No replies: nothing came, and nothing was billed.
        """
        ...


Keep = Callable[[Reply], None]
Ask = Callable[[Iterable[Work], bool, Keep], list[Failure]]
"""(what to ask for, whether the model has answered before, what to do with a reply) -> failures.

The work is read once, a piece at a time, as workers become free. Replies are handed on as they
come. Raises UserError where no request can succeed (a wrong key).
"""
