"""Scores a cell: parses every reply and combines every target's draws into one
score.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import exp
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from judgescope.core.cells import joined
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.parsers import Read, parsed_by
from judgescope.parsing.text import locate_errors
from judgescope.schema.tables import SCHEMAS, read_part, texts_of
from judgescope.scoring.aggregate import LOGPROB_MEAN, Scored, aggregated, write_cells
from judgescope.scoring.specs import CellPart, Reading, ScoredCells, ScoreSpec, Unread

UNUSED: Final = {"usage", "provenance", "logprobs"}
"""Columns of replies that affect scores only if these are computed from
probabilities."""
NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})


def score_cell(
    spec: ScoreSpec, cells: ScoredCells, perturbation: str
) -> Iterator[Scored]:
    """Yield the judgments and the scores of a cell, aspect by aspect.

    Aspects are read independently of each other. An error names its aspect.
    """
    texts = texts_of(spec.targets.format(perturbation)) if cells.located else NO_TEXTS
    replies = spec.replies.format(f"{perturbation}/{cells.judge}")
    for (aspect, criterion), reading in cells.ordered:
        part = CellPart(spec.dataset, perturbation, cells.judge, aspect)
        try:
            unused = (
                UNUSED - {"logprobs"} if reading.estimator == LOGPROB_MEAN else UNUSED
            )
            columns = [name for name in SCHEMAS["answers"].names if name not in unused]
            answers = read_part("answers", replies, aspect, criterion, columns)
            yield score_part(
                answers, reading, part=part, texts=texts, unread=spec.unread
            )
        except Exception as error:
            error.add_note(f"{'/'.join(part[:3])}, aspect {joined(aspect, criterion)}")
            raise


def score_part(
    answers: pa.Table,
    reading: Reading,
    *,
    part: CellPart,
    texts: Mapping[str, str] = NO_TEXTS,
    unread: Unread | None = None,
) -> Scored:
    """Return the judgments and the scores of a cell's answers on one aspect.

    `texts`: target -> its text, if errors are to be located. Scores are those of
    `aggregated`.
    """
    read, scale = cache(reader(reading)), reading.scale
    columns = (answers[name].to_pylist() for name in ("text", "finish", "status"))
    verdicts = [read(*reply) for reply in zip(*columns, strict=True)]
    values = [verdict.value if verdict.status == "ok" else None for verdict in verdicts]
    estimator = reading.estimator
    if estimator == LOGPROB_MEAN:
        if reading.samples and answers["logprobs"].null_count == len(answers):
            estimator = "mean"
        else:
            values = _expectations(answers, verdicts, scale)
    targets = answers["target"].to_pylist() if texts else []
    return aggregated(
        answers,
        verdicts,
        values,
        part=part,
        estimator=estimator,
        scale=scale,
        unread=unread,
        spans=[
            [error._asdict() for error in locate_errors(verdict.errors, texts[target])]
            for verdict, target in zip(verdicts, targets, strict=True)
        ]
        if texts
        else None,
    )


def reader(reading: Reading) -> Read:
    """Return the function that parses a reply."""
    return parsed_by(
        reading.parser, scale=reading.scale, settings=reading.settings, cut=reading.cut
    )


def _expectations(
    answers: pa.Table, verdicts: list[Judgment], scale: Scale | None
) -> list[float | None]:
    """Return each reply's expected score by its probabilities, or None if these are
    missing.
    """
    assert scale is not None, "the plan allows this only on a scale with steps"
    grid = scale.grid() or []
    words = zip(scale.labels, grid, strict=False)
    values = {f"{value:g}": value for value in grid} | {
        word.lower(): at for word, at in words
    }
    return [
        expectation(logprobs, verdict.tail, values)
        if logprobs and verdict.status == "ok" and verdict.tail is not None
        else None
        for logprobs, verdict in zip(
            answers["logprobs"].to_pylist(), verdicts, strict=True
        )
    ]


ENOUGH = 0.5
"""The minimum total probability of all values for an expectation."""

Logprobs = Sequence[Sequence[tuple[str, float]]]
"""For each position of a reply: its token, then the likeliest others, with log
probabilities."""


def expectation(
    logprobs: Logprobs, tail: str, values: Mapping[str, float]
) -> float | None:
    """Return sum v P(v) / sum P(v) over the scale's values v, at the position of the
    verdict.

    tail: the reply's text from the verdict on; values: text of a value, in lower case
    -> the value. The probability of a value with several tokens is their product, which
    is known only along the reply's own tokens. If the reply has `1`, the next position
    separates 1 from 10 (without a next position it is 1); if the reply has another
    token, the share of `1` cannot be split and is left out, like all tokens that are
    not among the reported ones. None if the known values together have less than
    `ENOUGH` probability, or no token begins the verdict. Source: the weighting of
    G-Eval (Hu et al. 2025; Kartáč et al. 2025), normalised because the list of tokens
    is truncated.
    """
    result = _place("".join(likeliest[0][0] for likeliest in logprobs), tail, logprobs)
    if result is None:
        return None
    place, before = result
    first = [
        (token.removeprefix(before).lstrip(), logprob)
        for token, logprob in logprobs[place]
    ]
    shares = dict.fromkeys(values.values(), 0.0)
    for value, probability in _shares("", [first, *logprobs[place + 1 :]], 1.0, values):
        shares[value] += probability
    mass = sum(shares.values())
    if mass < ENOUGH:
        return None
    return sum(value * share for value, share in shares.items()) / mass


def _place(text: str, tail: str, logprobs: Logprobs) -> tuple[int, str] | None:
    """Return the index of the token in which the verdict begins, and the token's text
    before it.
    """
    start, offset = text.rfind(tail), 0
    for number, likeliest in enumerate(logprobs):
        token = likeliest[0][0]
        if offset <= start < offset + len(token):
            return number, token[: start - offset]
        offset += len(token)
    return None


def _shares(
    written: str, places: Logprobs, mass: float, values: Mapping[str, float]
) -> Iterator[tuple[float, float]]:
    """Yield (value, probability) for continuations of `written` from the first position
    on.
    """
    likeliest, rest = places[0], places[1:]
    for number, (token, logprob) in enumerate(likeliest):
        text, probability = written + token.lower(), mass * exp(logprob)
        ends = bool(written and not token)
        longer = not ends and any(
            one.startswith(text) and one != text for one in values
        )
        if longer and number == 0 and rest:
            yield from _shares(text, rest, probability, values)
        elif (not longer or number == 0) and (value := _said(text, values)) is not None:
            yield value, probability


def _said(text: str, values: Mapping[str, float]) -> float | None:
    """Return the value with which a text begins, if the rest does not turn it into
    another.
    """
    for one in sorted(values, key=len, reverse=True):
        if text.startswith(one):
            rest = text[len(one) :]
            another = rest[:1].isalnum() or (
                rest[:1] in {".", ","} and rest[1:2].isdigit()
            )
            return None if another else values[one]
    return None


def score(spec: ScoreSpec) -> None:
    """Read the reply file of each cell, write judgments and scores, and a hash of all
    files.
    """
    scored = (
        (f"{perturbation}/{cells.judge}", score_cell(spec, cells, perturbation))
        for cells in spec.cells
        for perturbation in cells.perturbations
    )
    write_cells(scored, spec.judgments, spec.scores, spec.hashes)
