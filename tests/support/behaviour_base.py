"""What an endpoint may do: the record of a behaviour, and answers as bytes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from scripted import Said, reply

TEXTS: Final = 10
"""Texts of a replay; each is one draw."""
ATTEMPTS: Final = 3
HOPELESS: Final = 8
"""Refused or failed requests before any reply, after which a job ends."""
ONE: Final = "5"
"""The prompt that meets a behaviour of one text."""
HOUR: Final = 3600.0
"""Seconds that a server holds a connection: longer than a client waits."""

Meets = Literal["once", "one text", "all"]
"""Which requests meet a behaviour: the first one, those of one text, or each."""
Outcome = Literal["reply", "error", "stop"]
"""`reply`: every text gets a reply; `error`: what meets the behaviour is stored as an
error, and the job goes on; `stop`: the job ends with a message, and what met the
behaviour is requested again by the next run."""
Answer = Callable[[str], Said]
"""The prompt -> what the server answers."""


@dataclass(frozen=True)
class Behaviour:
    """What a server does, and what has to follow.

    `requests`: of the first run, to the last one. `names`: what the message, or the
    error that is stored, has to say. `names_key`: whether it names the source of the
    key. `text`: of each reply, where {prompt} stands for the prompt; `finish`: how it
    ended. `limits`: of the model's card. `place`: keys of the card for the first run,
    where {port} stands for the server's port; `tls`: the server speaks TLS, with a
    certificate that nobody signed.
    """

    name: str
    does: str
    answer: Answer
    meets: Meets
    outcome: Outcome
    requests: int
    names: tuple[str, ...] = ()
    names_key: bool = False
    text: str = "Rating: {prompt}"
    finish: str = "stop"
    limits: Mapping[str, float] = field(default_factory=dict)
    place: Mapping[str, str] = field(default_factory=dict)
    tls: bool = False


def good(prompt: str) -> Said:
    """Return a usual answer, which says its prompt."""
    return reply(f"Rating: {prompt}")


def packet(text: Said) -> bytes:
    """Return the body of an answer as bytes."""
    return text.body if isinstance(text.body, bytes) else json.dumps(text.body).encode()


def raw(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    """Return an answer as it goes over the wire, with these headers only."""
    return "\r\n".join([status, *headers, "", ""]).encode() + body


def sized(body: bytes, *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    """Return an answer as it goes over the wire, with its length."""
    return raw(body, f"Content-Length: {len(body)}", *headers, status=status)


def behaviour_saying(change: Callable[[bytes], bytes]) -> Answer:
    """Return a usual answer whose bytes are changed."""
    return lambda prompt: Said(change(packet(good(prompt))))
