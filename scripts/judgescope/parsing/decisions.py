"""Answers of decision models: a probability of each option, as canonical JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

from judgescope.parsing.judgment import CHOICE_VALUES, Judgment, Scale, parser

MASS_TOLERANCE: Final = 0.02
"""How far probabilities may be from a sum of 1: some hosts round them to hundredths."""
PERCENT: Final = 100.0
SIDES: Final = ("A", "B", "tie")
"""The options of a question which of two texts is better."""


class _UnreadError(Exception):
    """An answer whose probabilities cannot be used; its text is the rule."""


@parser("decision", 1, options=("expected",), in_cards=False)
def read_decision(text: str, scale: Scale | None, *, expected: float = 0) -> Judgment:
    """Return the verdict of a decision, and how probable it is.

    scale: that of the judge; None: the question is which of two texts is better.
    expected: whether the value of a decision between two labels is the probability of
    the better one (for a threshold). On a scale of numbers the value is the mean of its
    values, weighted by their probabilities; the confidence is about the likeliest one.

    >>> read_decision('{"noul":0.8,"type":"noul"}', LABELS).confidence
    0.8
    >>> answer = '{"probabilities":{"0":0.1,"1":0.2,"2":0.7},"type":"score"}'
    >>> read_decision(answer, Scale(1, 3, 1)).value
    2.6
    """
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return Judgment("unparsed", "no_decision")
    if not isinstance(answer, dict):
        return Judgment("unparsed", "no_decision")
    mass = answer.get("label_mass")
    # The least probability of the options together: below it the model would have said
    # something else.
    least_label_mass = 0.5
    if _is_number(mass) and mass < least_label_mass:
        return Judgment("unparsed", "low_label_mass")
    kind = answer.get("type")
    rule = f"decision.{kind}"
    try:
        if scale is None:
            return _choice(answer, rule)
        if kind == "noul":
            shares = _of_two(answer, scale)
        else:
            options = options_of(scale, str(kind))
            shares = _shares(answer, options)
            _agreeing(answer, shares, options)
    except _UnreadError as error:
        return Judgment("unparsed", str(error))
    return _verdict(shares, scale, answer, rule, expected=bool(expected))


LABELS: Final = Scale(
    0, 1, 1, labels=("fail", "pass"), words=(("fail", 0), ("pass", 1))
)


def options_of(scale: Scale, kind: str) -> list[str]:
    """Return the options of a question, in the order of the scale's values: their
    places for a score, else their labels or numbers.
    """
    grid = scale.grid() or []
    if kind == "score":
        return [str(position) for position in range(len(grid))]
    return list(scale.labels) or [f"{value:g}" for value in grid]


def _is_number(value: Any) -> TypeGuard[float]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def _choice(answer: Mapping[str, Any], rule: str) -> Judgment:
    """Return the judgment of a choice between two texts."""
    shares = _shares(answer, SIDES)
    _agreeing(answer, shares, SIDES)
    position = _likeliest(shares, SIDES, answer)
    if position is None:
        return Judgment("unparsed", "equal_options")
    value = CHOICE_VALUES[SIDES[position].lower()]
    return _sure(Judgment("ok", rule, value, SIDES[position]), shares[position])


def _agreeing(
    answer: Mapping[str, Any], shares: Sequence[float], options: Sequence[str]
) -> None:
    """Raise _UnreadError where an answer says something else than its probabilities:
    a choice that is not the likeliest, a score that is not their mean.
    """
    # How far a score may be from the mean of its places; further on scales of more than
    # four levels, as far as rounding to hundredths can move both.
    mean_tolerance = 0.05
    # The most that rounding to hundredths moves a number.
    rounding = 0.005
    if answer.get("type") == "score":
        score = answer.get("score")
        given = [answer["probabilities"][option] for option in options]
        mean = math.fsum(position * share for position, share in enumerate(given))
        rounded = rounding * (sum(range(len(given))) + 1)
        near = max(mean_tolerance, rounded) + 1e-9
        agrees = not answer.get("relabelled")
        if score is not None:
            agrees &= _is_number(score) and abs(score - mean) <= near
    else:
        choice = answer.get("choice")
        largest = max(shares)
        leading = []
        for option, share in zip(options, shares, strict=True):
            if share == largest:
                leading.append(option)
        agrees = choice is None or choice in leading
    if not agrees:
        raise _UnreadError("contradiction")


def _sure(judgment: Judgment, chance: float) -> Judgment:
    """Return a judgment with its probability."""
    return judgment._replace(
        confidence=round(chance, 12),
        confidence_source="decision",
        confidence_rule=judgment.rule,
    )


def _of_two(answer: Mapping[str, Any], scale: Scale) -> list[float]:
    """Return the probabilities of the two values from that of the better one."""
    if len(scale.grid() or ()) != len(("false", "true")):
        raise _UnreadError("other_options")
    chance = answer.get("noul")
    if not _is_number(chance):
        raise _UnreadError("no_probability")
    if not 0 <= chance <= 1:
        raise _UnreadError("percentages" if 1 < chance <= PERCENT else "outside_0_to_1")
    if not _is_same_chance(answer.get("probabilities"), chance):
        raise _UnreadError("contradiction")
    better_last = scale.best == "max"
    if better_last:
        return [1 - chance, chance]
    return [chance, 1 - chance]


def _is_same_chance(shares: Any, chance: float) -> bool:
    """Return whether probabilities beside that of true say the same."""
    if not isinstance(shares, dict):
        return True
    expected = {"yes": chance, "true": chance, "no": 1 - chance, "false": 1 - chance}
    return all(
        not _is_number(share) or abs(share - expected[name]) <= MASS_TOLERANCE + 1e-9
        for name, share in shares.items()
        if name in expected
    )


def _shares(answer: Mapping[str, Any], options: Sequence[str]) -> list[float]:
    """Return the probability of each option, in their order, with the sum 1."""
    given = answer.get("probabilities")
    if not isinstance(given, dict):
        raise _UnreadError("no_probability")
    if given.keys() - set(options):
        raise _UnreadError("unknown_option")
    if set(options) - given.keys():
        raise _UnreadError("missing_option")
    shares = [given[option] for option in options]
    if not all(map(_is_number, shares)):
        raise _UnreadError("no_probability")
    total = math.fsum(shares)
    positive = min(shares) >= 0
    if positive and abs(total - PERCENT) <= PERCENT * MASS_TOLERANCE:
        raise _UnreadError("percentages")
    if not positive or max(shares) > 1:
        raise _UnreadError("outside_0_to_1")
    if abs(total - 1) > MASS_TOLERANCE + 1e-9:
        raise _UnreadError("sum_not_1")
    return [share / total for share in shares]


def _likeliest(
    shares: Sequence[float], options: Sequence[str], answer: Mapping[str, Any]
) -> int | None:
    """Return the place of the likeliest option; of equal ones that which the answer
    names, None if it names none.
    """
    largest = max(shares)
    leading = []
    for position, share in enumerate(shares):
        if share == largest:
            leading.append(position)
    if len(leading) == 1:
        return leading[0]
    named = [
        position for position in leading if options[position] == answer.get("choice")
    ]
    return named[0] if named else None


def _verdict(
    shares: Sequence[float],
    scale: Scale,
    answer: Mapping[str, Any],
    rule: str,
    *,
    expected: bool,
) -> Judgment:
    """Return the judgment of the probabilities of a scale's values."""
    grid = scale.grid() or []
    kind = str(answer.get("type"))
    if kind == "noul":
        # One half counts as true.
        better = 0
        if scale.best == "max":
            better = len(grid) - 1
        position: int | None = better if shares[better] >= 1 / 2 else 1 - better
    else:
        position = _likeliest(shares, options_of(scale, kind), answer)
    if position is None and scale.words:
        return Judgment("unparsed", "equal_options")
    likeliest = shares.index(max(shares)) if position is None else position
    label = scale.labels[likeliest] if scale.labels else None
    if scale.words and not expected:
        judgment = Judgment("ok", rule, float(likeliest), label)
        return _sure(judgment, shares[likeliest])
    terms = [share * value for share, value in zip(shares, grid, strict=True)]
    judgment = Judgment("ok", rule, round(math.fsum(terms), 12), label)
    about = judgment._replace(confident_of=grid[likeliest])
    return _sure(about, shares[likeliest])
