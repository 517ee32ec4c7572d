"""What an endpoint does with the fields that it is sent: many ignore some without a word.

A few small requests find out, once for each model and address; what they found is kept beside the
replies and told in the job's log.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from judgescope.core.errors import UserError
from judgescope.engines.requests import RefusedError, Reply, Request, request_of
from judgescope.schema.cards import Decoding, OpenAIModel

Finding = Literal["honoured", "ignored", "refused", "unknown"]
Findings = dict[str, Finding]
"""Field -> what the endpoint does with it."""
FIELDS = ("max_tokens", "seed", "n", "logprobs", "json_schema", "choice")

Try = Callable[[Request, Sequence[int]], list[Reply]]
"""(request, draws) -> the replies. Raises RefusedError if the endpoint refuses it."""

SHORT = 8
"""Tokens: too few to end what the prompt asks for."""
LONG = 48
ENDLESS = "Write the names of the numbers from one to one hundred, separated by commas."
PLAIN = "Say hello."
CHOICES = ["north", "south"]
SCHEMA = {
    "type": "object",
    "properties": {"direction": {"enum": CHOICES}},
    "required": ["direction"],
    "additionalProperties": False,
}


def probe(card: OpenAIModel, attempt: Try) -> Findings:
    """Return what became of each field; `unknown` where the replies do not tell.

    Raises UserError where a request is refused that wants nothing special.
    """

    def ask(prompt: str, tokens: int, *draws: int, **wants: Any) -> list[Reply] | None:
        decoding = Decoding(temperature=1.0, max_tokens=tokens)
        message = {"role": "user", "content": prompt}
        request = request_of(card, decoding, [message], seed=0, wants=wants)
        try:
            return attempt(request, draws or [0])
        except RefusedError as error:
            if wants or len(draws) > 1:
                return None
            raise UserError(
                f"the endpoint refuses a plain request: {error}",
                where=f"models/{card.model}.yaml",
                got=f"{card.served_name} at {card.base_url}",
                todo="look at name, base_url, field_names and extra_body of the card",
            ) from None

    first, again, other = (ask(ENDLESS, SHORT, draw) or [] for draw in (0, 0, 1))
    several = ask(ENDLESS, SHORT, 0, 1)
    likeliest = ask(PLAIN, SHORT, logprobs=5)
    chosen, filled = ask(PLAIN, LONG, choices=CHOICES), ask(PLAIN, LONG, json_schema=SCHEMA)
    return {
        "max_tokens": _short(first),
        "seed": _seeded(*(one[0].text for one in (first, again, other))),
        "n": _many(several),
        "logprobs": _finding(likeliest, lambda one: one.logprobs is not None),
        "json_schema": _finding(filled, lambda one: _filled(one.text)),
        "choice": _finding(chosen, lambda one: one.text.strip() in CHOICES),
    }


def _finding(replies: list[Reply] | None, holds: Callable[[Reply], bool]) -> Finding:
    if replies is None:
        return "refused"
    return "honoured" if holds(replies[0]) else "ignored"


def _short(replies: list[Reply]) -> Finding:
    def cut(reply: Reply) -> bool:
        tokens = (reply.usage or {}).get("completion")
        return reply.finish == "length" or (tokens is not None and tokens <= SHORT)

    return _finding(replies, cut)


def _many(replies: list[Reply] | None) -> Finding:
    if replies is None:
        return "refused"
    return "honoured" if len(replies) > 1 else "ignored"


def _seeded(first: str, again: str, other: str) -> Finding:
    """One seed twice gives one text; that tells something only where another gives another."""
    if first != again:
        return "ignored"
    return "honoured" if first != other else "unknown"


def _filled(text: str) -> bool:
    try:
        told = json.loads(text)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("direction") in CHOICES


def works(findings: Mapping[str, Finding], field: str) -> bool:
    """Return whether a field may be relied on: it was not seen to be without effect."""
    return findings.get(field, "unknown") in {"honoured", "unknown"}
