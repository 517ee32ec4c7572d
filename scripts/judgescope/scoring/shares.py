"""Probabilities of the values of a scale, from the log-probabilities of a reply."""

from collections.abc import Iterator, Mapping, Sequence
from math import exp

PositionLogprobs = Sequence[Sequence[tuple[str, float]]]
"""For each position of a reply: its token, then the likeliest others, with log
probabilities."""


def expectation(
    logprobs: PositionLogprobs, tail: str, values: Mapping[str, float]
) -> float | None:
    """Return sum v P(v) / sum P(v) over the scale's values v, at the position of the
    verdict.

    tail: the reply's text from the verdict on; values: text of a value, in lower case
    -> the value. The probability of a value with several tokens is their product, which
    is known only along the reply's own tokens. If the reply has `1`, the next position
    separates 1 from 10 (without a next position it is 1); if the reply has another
    token, the share of `1` cannot be split and is left out, like all tokens that are
    not among the reported ones. None if the known values together have less than
    probability 1/2, or no token begins the verdict. Source: the weighting of G-Eval (Hu
    et al. 2025; Kartáč et al. 2025), normalised because the list of tokens is
    truncated.

    >>> from math import log
    >>> verdict = [("4", log(0.6)), ("5", log(0.2))]
    >>> round(expectation([verdict], "4", {"4": 4, "5": 5}), 9)
    4.25
    """
    shares = shares_at(logprobs, tail, values)
    if shares is None:
        return None
    total = known_mass(shares)
    if total < 0.5:
        return None
    return sum(value * share for value, share in shares.items()) / total


def shares_at(
    logprobs: PositionLogprobs, tail: str, values: Mapping[str, float]
) -> dict[float, float] | None:
    """Return value -> its probability at the position of the verdict, not normalised.

    None: no token begins the verdict. Arguments are those of `expectation`.

    >>> from math import log
    >>> verdict = [("pass", log(0.6)), ("fail", log(0.3))]
    >>> shares = shares_at([verdict], "pass", {"fail": 0.0, "pass": 1.0})
    >>> [round(shares[value], 9) for value in (0.0, 1.0)]
    [0.3, 0.6]
    """
    reply = "".join(likeliest[0][0] for likeliest in logprobs)
    begin = _verdict_token(reply, tail, logprobs)
    if begin is None:
        return None
    position, before = begin
    first = list[tuple[str, float]]()
    for token, logprob in logprobs[position]:
        first.append((token.removeprefix(before).lstrip(), logprob))
    positions = [first, *logprobs[position + 1 :]]
    shares = dict.fromkeys(values.values(), 0.0)
    for value, probability in _shares("", positions, 1.0, values):
        shares[value] += probability
    return shares


def known_mass(shares: Mapping[float, float]) -> float:
    """Return the probability of all values together."""
    return sum(shares.values())


def _verdict_token(
    text: str, tail: str, logprobs: PositionLogprobs
) -> tuple[int, str] | None:
    """Return the index of the token in which the verdict begins, and the token's text
    before it.
    """
    start = text.rfind(tail)
    offset = 0
    for number, likeliest in enumerate(logprobs):
        token = likeliest[0][0]
        if offset <= start < offset + len(token):
            return number, token[: start - offset]
        offset += len(token)
    return None


def _shares(
    written: str, positions: PositionLogprobs, mass: float, values: Mapping[str, float]
) -> Iterator[tuple[float, float]]:
    """Yield (value, probability) for continuations of `written` from the first position
    on.
    """
    likeliest = positions[0]
    rest = positions[1:]
    for number, (token, logprob) in enumerate(likeliest):
        text = written + token.lower()
        probability = mass * exp(logprob)
        is_chosen = number == 0
        ends = bool(written and not token)
        continues = not ends and _begins_longer(text, values)
        if continues and is_chosen and rest:
            yield from _shares(text, rest, probability, values)
        elif is_chosen or not continues:
            value = _value_at(text, values)
            if value is not None:
                yield value, probability


def _value_at(text: str, values: Mapping[str, float]) -> float | None:
    """Return the value with which a text begins, if the rest does not turn it into
    another.
    """
    for value in sorted(values, key=len, reverse=True):
        if text.startswith(value):
            rest = text[len(value) :]
            has_fraction = rest[:1] in {".", ","} and rest[1:2].isdigit()
            if rest[:1].isalnum() or has_fraction:
                return None
            return values[value]
    return None


def _begins_longer(text: str, values: Mapping[str, float]) -> bool:
    """Return whether a text is the beginning of a value, but not all of it."""
    return any(value.startswith(text) and value != text for value in values)
