"""How sure a reply is of its verdict: by its log-probabilities, or by what it says."""

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

from judgescope.parsing.judgment import CHOICE_VALUES, Judgment
from judgescope.parsing.stated_confidence import stated_confidence
from judgescope.scoring.shares import PositionLogprobs, known_mass, shares_at
from judgescope.scoring.specs import ReplyReading

_CHOSEN = re.compile(r"\A[^\w]{0,10}(?:choice\b[^\w]{0,10})?(?P<side>[a-z]+)\b", re.I)


def with_confidence(
    answers: pa.Table, parsed: Sequence[Judgment], reading: ReplyReading
) -> list[Judgment]:
    """Return the judgments with the confidence of each that has a value.

    `answers` have the columns `text` and, for log-probabilities, `logprobs`.
    """
    texts = answers["text"].to_pylist()
    logprobs: Sequence[PositionLogprobs | None] = [None] * len(texts)
    values: Mapping[str, float] = {}
    if reading.confidence == "logprobs":
        logprobs = answers["logprobs"].to_pylist()
        values = words_of_values(reading)
    judgments = []
    for judgment, text, positions in zip(parsed, texts, logprobs, strict=True):
        if judgment.status != "ok":
            judgments.append(judgment)
        elif reading.confidence == "stated":
            statement = stated_confidence(text or "")
            judgments.append(
                judgment._replace(
                    confidence=statement.chance,
                    confidence_source="stated",
                    confidence_rule=statement.rule,
                )
            )
        else:
            judgments.append(_by_logprobs(judgment, text or "", positions, values))
    return judgments


def words_of_values(reading: ReplyReading) -> dict[str, float]:
    """Return each text of a verdict, in lower case -> its value: numbers and labels of
    the scale; without a scale the choices between two texts.
    """
    if reading.scale is None:
        sides = {}
        for word, value in CHOICE_VALUES.items():
            if word != "tie":
                sides[word] = value
        tie = reading.settings.get("tie") or "tie"
        return {**sides, "tie": 0.0, str(tie).lower(): 0.0}
    grid = reading.scale.grid() or []
    if not reading.scale.words:
        values = {f"{value:g}": value for value in grid}
        values |= dict(zip(map(str.lower, reading.scale.labels), grid, strict=False))
        return values
    return {word.lower(): float(index) for word, index in reading.scale.words}


def _by_logprobs(
    judgment: Judgment,
    text: str,
    positions: PositionLogprobs | None,
    values: Mapping[str, float],
) -> Judgment:
    """Return a judgment with the probability of its value among all values.

    Missing where these together have less than probability 1/2: the model would have
    said something else.
    """
    chance = None
    # The rule of a reply without probabilities.
    no_logprobs = "no_logprobs"
    rule = no_logprobs
    # The rule of a reply in which no token begins the verdict.
    no_place = "no_verdict_token"
    # The rule of a reply whose labels together have less than probability 1/2.
    low_mass = "low_mass"
    least_mass = 0.5
    if positions:
        tail = judgment.tail
        if tail is None and (chosen := _CHOSEN.match(text)):
            tail = text[chosen.start("side") :]
        shares = None
        if tail is not None:
            shares = shares_at(positions, tail, values)
        rule = no_place
        if shares is not None:
            mass = known_mass(shares)
            rule = low_mass
            if mass >= least_mass and judgment.value in shares:
                chance = shares[judgment.value] / mass
                rule = f"mass {mass:.2f}"
    return judgment._replace(
        confidence=chance, confidence_source="logprobs", confidence_rule=rule
    )
