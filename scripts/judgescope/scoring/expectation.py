"""The score that a reply's probabilities say, from one forward pass."""

from collections.abc import Iterator, Mapping, Sequence
from math import exp

ENOUGH = 0.5
"""The probability of all values together under which there is no expectation."""

Logprobs = Sequence[Sequence[tuple[str, float]]]
"""Per token of a reply: the one that came, then the likeliest others, with log probabilities."""


def expectation(logprobs: Logprobs, tail: str, values: Mapping[str, float]) -> float | None:
    """Return sum v P(v) / sum P(v) over the scale's values v, at the place of the verdict.

    tail: the reply's text from the verdict on; values: what the model writes, in lower case -> its
    value. A value of several tokens has the product of their probabilities, which is known along
    the tokens that came: where `1` came, the next place tells 1 from 10 (if there is none, it is
    1); where it did not come, its share is unknown and left out, like all that is not among the
    likeliest tokens told. None where the values known have less than `ENOUGH` probability together,
    or no token begins the verdict. Source: the weighting of G-Eval (papers 002 and 004), normalised
    because the list of tokens is cut.
    """
    found = _place("".join(likeliest[0][0] for likeliest in logprobs), tail, logprobs)
    if found is None:
        return None
    place, before = found
    first = [(_without(before, token), logprob) for token, logprob in logprobs[place]]
    shares = dict.fromkeys(values.values(), 0.0)
    for value, probability in _shares("", [first, *logprobs[place + 1 :]], 1.0, values):
        shares[value] += probability
    mass = sum(shares.values())
    if mass < ENOUGH:
        return None
    return sum(value * share for value, share in shares.items()) / mass


def _place(text: str, tail: str, logprobs: Logprobs) -> tuple[int, str] | None:
    """Return the number of the token in which the verdict begins, and what it has before that."""
    start, offset = text.rfind(tail), 0
    for number, likeliest in enumerate(logprobs):
        token = likeliest[0][0]
        if offset <= start < offset + len(token):
            return number, token[: start - offset]
        offset += len(token)
    return None


def _without(before: str, token: str) -> str:
    """Return a token without what stands before the verdict in the one that came."""
    return token.removeprefix(before).lstrip()


def _shares(
    written: str, places: Logprobs, mass: float, values: Mapping[str, float]
) -> Iterator[tuple[float, float]]:
    """Yield (value, probability) of what the first place and those after it make of `written`."""
    likeliest, rest = places[0], places[1:]
    for number, (token, logprob) in enumerate(likeliest):
        text, probability = written + token.lower(), mass * exp(logprob)
        ends = bool(written and not token)
        longer = not ends and any(one.startswith(text) and one != text for one in values)
        came = number == 0
        if longer and came and rest:
            yield from _shares(text, rest, probability, values)
        elif not longer or came:
            value = _said(text, values)
            if value is not None:
                yield value, probability


def _said(text: str, values: Mapping[str, float]) -> float | None:
    """Return the value with which a text begins, if what follows does not make it another."""
    for one in sorted(values, key=len, reverse=True):
        if text.startswith(one):
            rest = text[len(one) :]
            another = rest[:1].isalnum() or (rest[:1] in {".", ","} and rest[1:2].isdigit())
            return None if another else values[one]
    return None
