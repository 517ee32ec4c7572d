"""Texts made by a model: asked for, checked, asked for again with the reason, or failed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from judgescope.engines.requests import Reply, Request
from judgescope.parsing.text import without_reasoning
from judgescope.perturb.edits import Amount
from judgescope.perturb.validation import CHECKS, echo_of
from judgescope.replies.judging import reply_columns

ANY = Amount()

Replies = Mapping[tuple[str, int], Reply]
Read = Callable[[str, str], tuple[str, str | None]]
"""(what a reply says, parent) -> the text that it makes, and why it cannot be used, if so."""


def whole(said: str, _: str) -> tuple[str, str | None]:
    """Return what a reply says: the whole text."""
    return said, None


def appended(said: str, parent: str) -> tuple[str, str | None]:
    """Return the parent with what a reply says behind it."""
    return behind(parent, said), None


class Made(NamedTuple):
    """A made text (the parent where it failed), `ok` or `failed: reason`, and the last reply.

    `tries` has all replies, each with the problem that it was to mend.
    """

    text: str
    status: str
    request: Request
    reply: Reply
    tries: tuple[tuple[str | None, Reply], ...]


def make_texts(
    parents: Mapping[str, str],
    *,
    ask_for: Callable[[str, str, str | None], Request],
    obtain: Callable[[Sequence[Request]], Replies],
    checks: Sequence[str],
    amount: Amount = ANY,
    attempts: int,
    read: Callable[[str], Read] = lambda item: whole,
    apart: bool = False,
    also: Callable[[str, str], str | None] = lambda item, text: None,
) -> dict[str, Made]:
    """Return item -> the text made from its parent.

    ask_for(item, parent, problem) is the request for a text; problem tells why the one before
    cannot be used. Each round asks for all that are still open at once. A request whose reply
    could not be used for the reason that it names is asked for its next draw. read(item) makes the
    text of what a reply says. `apart`: what two items ask alike is asked for two draws.
    also(item, text) tells what is wrong with a text in which no check finds anything. A text that
    repeats the reason of its request cannot be used.
    """
    made: dict[str, Made] = {}
    problems: dict[str, str | None] = dict.fromkeys(parents)
    drawn: Counter[tuple[str, str]] = Counter()
    for _ in range(attempts):
        requests = {item: ask_for(item, parents[item], why) for item, why in problems.items()}
        places = {}
        for item, request in requests.items():
            asker = ("" if apart else item, request.key)
            places[item] = drawn[asker]
            drawn[asker] += 1
        wanted = [replace(one, draws=places[item] + 1) for item, one in requests.items()]
        replies = obtain(wanted)
        for item, request in requests.items():
            reply = replies[request.key, places[item]]
            text, problem = checked(reply, parents[item], checks, amount, read(item))
            if (named := problems[item]) is not None:
                problem = problem or echo_of(named, text, parents[item])
            problem = problem or also(item, text)
            status = f"failed: {problem}" if problem else "ok"
            tries = (*(made[item].tries if item in made else ()), (problems[item], reply))
            made[item] = Made(parents[item] if problem else text, status, request, reply, tries)
        problems = {item: made[item].status[8:] for item in problems if made[item].status != "ok"}
    return made


def checked(
    reply: Reply,
    parent: str,
    checks: Sequence[str],
    amount: Amount = ANY,
    read: Read = whole,
) -> tuple[str, str | None]:
    """Return the text that a reply makes and the first reason why it cannot be used, if any."""
    text, endless = without_reasoning(reply.text)
    if reply.status == "error":
        return text, f"the endpoint refused: {reply.text}"
    if reply.finish == "length" or endless:
        return text, "the reply was cut"
    if not text:
        return text, "the reply is empty"
    text, problem = read(text, parent)
    found = (CHECKS[check](text, parent, amount) for check in checks)
    return text, problem or next((problem for problem in found if problem), None)


def behind(parent: str, more: str) -> str:
    """Return a text with more behind it; every character of the text stays."""
    return parent + ("" if parent[-1:].isspace() else " ") + more


def answers_of(
    writer: str, target: str, made: Made, kind: str = "edit", **aspect: Any
) -> list[dict[str, Any]]:
    """Return a row of table `answers` for every reply that a made text took."""
    known = {"judge": writer, "kind": kind, "target": target, **aspect}
    return [{**known, "hint": problem, **reply_columns(reply)} for problem, reply in made.tries]
