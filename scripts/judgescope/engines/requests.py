"""The interface of every engine that is asked: it gets requests, gives replies and
failures.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, get_args

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.schema.cards import Decoding, ProbedModel, PromptedModel

CONTINUATION = "continuation"
"""The field of a request with a text that is not written but scored: how probable it is
after the messages."""
Message = Mapping[str, str]
Logprobs = list[list[tuple[str, float]]]
"""For each token of a reply: the token with its log probability, then its likeliest
rivals; of a scored text, empty for a token without a value."""


@dataclass(frozen=True)
class Request:
    """One question; everything that can change its answer is in `asked`, and so in its
    key.

    asked: engine, model name, revision, variant, messages, further fields of the body,
    decoding; for a program its arguments, its files and the `target` that it is shown;
    for a decision model the `state` and the `question`.
    about: the name of the request in messages to users (a target, an item).
    """

    asked: Mapping[str, Any]
    draws: int = 1
    about: str = field(default="", compare=False)

    @cached_property
    def key(self) -> str:
        """sha256 of the canonical JSON of `asked`, 64 hex digits.

        `replies.judging.outline` computes the same for the many questions of a study.
        """
        return hashlib.sha256(canonical(self.asked).encode()).hexdigest()

    @cached_property
    def prompt(self) -> str:
        """Return the prompt's text; requests sorted by it share long prefixes."""
        if "target" in self.asked:
            return canonical(self.asked["target"])
        if "state" in self.asked:
            question = canonical(self.asked["question"])
            return f"{question}\n{canonical(self.asked['state'])}"
        return "\n".join(message["content"] for message in self.asked["messages"])

    @property
    def transcript(self) -> str:
        """Return what is sent, for people: several messages stand under their roles."""
        messages = self.asked.get("messages", ())
        if len(messages) < 2:
            return self.prompt
        return "\n\n".join(
            f"[{message['role']}]\n{message['content']}" for message in messages
        )

    def sent_as(self, asked: Mapping[str, Any]) -> "Request":
        """Return the request with other contents and the same key, for a server that
        needs them.
        """
        sent = Request(asked, self.draws, self.about)
        vars(sent)["key"] = self.key
        return sent

    def seed(self, draw: int) -> int:
        """Return the seed of a draw, derived from the key, so independent of other
        requests.
        """
        return (int(self.key[:8], 16) + draw) % 2**31


def request_of(
    model: PromptedModel,
    decoding: Decoding,
    messages: Sequence[Message],
    *,
    seed: int,
    about: str = "",
    wants: Mapping[str, Any] | None = None,
) -> Request:
    """Return the request for a model card, a decoding and messages; `seed` is the
    study's.

    It leaves out everything that changes no reply (address, key variable, spelling of
    fields, price, limits) and the fields that are not sent. `wants` are fields that
    only some requests have: `logprobs` (of how many tokens), `choices`, a
    `json_schema`, `stop`.
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
    return Request(asked, about=about)


TokenKind = Literal["prompt", "completion", "reasoning", "cached"]
"""The kinds of tokens that a reply's usage counts."""
TOKENS: tuple[TokenKind, ...] = get_args(TokenKind)
MOST_TOKENS = (
    1_000_000_000  # larger counts are ignored: their sums would overflow tables
)


def counted(usage: object) -> dict[str, int] | None:
    """Return the numbers of tokens in a usage; None without those of prompt and
    completion.
    """
    if not isinstance(usage, Mapping):
        return None
    counts = dict[str, int]()
    for name in TOKENS:
        count = usage.get(name)
        # by type: true is an integer, too
        if type(count) is int and 0 <= count <= MOST_TOKENS:
            counts[name] = count
    if {"prompt", "completion"} <= counts.keys():
        return counts
    return None


@dataclass(frozen=True, slots=True)
class Reply:
    """A stored reply to one draw of a request; never requested again, even if unusable.

    status: `ok`, or `error` for a request that the endpoint refuses permanently (the
    text is its reason). usage: tokens of prompt, completion, reasoning and cache, None
    if it is unknown what the reply costs; of several draws in one answer the first has
    all. provenance: engine, model, version and fingerprint, as the endpoint reports
    them.
    """

    key: str
    draw: int
    text: str
    finish: str = "stop"
    status: str = "ok"
    usage: dict[str, int] | None = None
    provenance: dict[str, str] | None = None
    logprobs: Logprobs | None = None


def not_reproduced(reply: Reply, why: str) -> Reply:
    """Return the error in place of a reply whose text is not the one to be scored."""
    # Why a request has no reply: the server did not score the text that it was given.
    not_reproduced_key = "not_reproduced"
    return replace(
        reply,
        text=f"not reproduced: {why}",
        finish=not_reproduced_key,
        status="error",
        logprobs=None,
    )


class RefusedError(Exception):
    """The endpoint refuses this request permanently.

    A probe's request is refused by any status that says so (4xx), another one only by
    those that are certainly its own fault. `rule`: why the text is refused, if the
    endpoint's error names the text; None if anything of the request may be wrong.
    `advice`: what to do if plain requests are refused, too.
    """

    def __init__(
        self, status: int, reason: str, rule: str | None = None, advice: str = ""
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.rule = rule
        self.advice = advice


@dataclass(frozen=True)
class Failure:
    """A draw without a reply, and the reason; the next run requests it again.

    `advice`: what to do about it, if that is known. `key` and `draw` name the draw of
    an endpoint's model.
    """

    about: str
    reason: str
    advice: str = field(default="", compare=False)
    key: str = field(default="", compare=False)
    draw: int = field(default=0, compare=False)


class Work(NamedTuple):
    """A request and its draws that lack a reply, ascending."""

    request: Request
    draws: tuple[int, ...]

    def runs(self) -> Iterator[list[int]]:
        """Yield runs of consecutive draws with consecutive seeds, so the first seed is
        enough.

        A run ends where seeds wrap around to 0, because an endpoint's seeds would not.
        """
        run: list[int] = []
        seed = self.request.seed
        for draw in self.draws:
            if run and (draw != run[-1] + 1 or seed(draw) != seed(run[-1]) + 1):
                yield run
                run = []
            run.append(draw)
        if run:
            yield run


class Hold(NamedTuple):
    """The reserve for a request in flight: its draws, their maximum cost, its size in
    bytes.
    """

    draws: int
    nanodollars: int
    size: int
    decides: bool = False
    """Whether it is for a decision, which has no limit of tokens."""


class Budget(Protocol):
    """The money and requests left; an engine reserves before it sends and settles
    afterwards.
    """

    def reserve(self, request: Request, draws: int) -> Hold | None:
        """Reserve the most that these draws of a request can cost.

        None: there is no room until a request in flight is settled; try again then.
        Raises UserError if there is no room and no request is in flight.
        """
        ...

    def settle(self, hold: Hold, replies: Sequence[Reply]) -> None:
        """Replace a reserve by the cost of the replies that came; without replies it is
        0.
        """
        ...


HOPELESS = (
    8  # so many refusals before any reply mean that the card is wrong, not the requests
)

Keep = Callable[[Reply], None]
Ask = Callable[[Iterable[Work], bool, Keep], list[Failure]]
"""(work, whether the model has answered before, callback for each reply) -> failures.

An engine reads the work once, piece by piece, as workers become free, and passes on
every reply as it arrives. It raises UserError if no request can succeed (such as with a
wrong key).
"""


class Probed(Protocol):
    """An engine whose endpoint can be probed."""

    @property
    def card(self) -> ProbedModel:
        """The settled card of its model."""
        ...

    def request(self, request: Request, draws: Sequence[int]) -> list[Reply]:
        """Return the replies to one request, without storing them.

        Raises RefusedError, or UserError if the endpoint does not answer.
        """
        ...

    def respelled(self, reason: str) -> "Probed | None":
        """Return an engine that renames or leaves out the field that a refusal names.

        None if the refusal names no field. The engine's replies are never stored: they
        would have another key.
        """
        ...

    def error(self, problem: str, todo: str) -> UserError:
        """Return the error that describes an endpoint's problem."""
        ...

    def refusal(self, error: RefusedError) -> UserError:
        """Return the error for an endpoint that refuses a plain request."""
        ...
