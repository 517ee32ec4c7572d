"""Scores a cell: parses every reply and combines every target's draws into one
score.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import exp
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import joined
from judgescope.core.names import CONTENT
from judgescope.parsing.judgment import PARSERS, Judgment, Scale
from judgescope.parsing.parsers import ReplyReader, parsed_by
from judgescope.parsing.text import locate_errors
from judgescope.schema.tables import SCHEMAS, read_part, texts_of
from judgescope.scoring.aggregate import (
    LOGPROB_MEAN,
    SCORED,
    Scored,
    aggregated,
    write_cells,
)
from judgescope.scoring.likelihood import judgments_of, scored_rows
from judgescope.scoring.specs import (
    CellPart,
    ReplyReading,
    ScoredCells,
    ScoreSpec,
    Unread,
)

NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})


def score_cell(
    spec: ScoreSpec, cells: ScoredCells, perturbation: str
) -> Iterator[Scored]:
    """Yield the judgments and the scores of a cell, aspect by aspect.

    Aspects are read independently of each other. An error names its aspect.
    """
    scores_texts = any(reading.estimator in SCORED for reading in cells.readings)
    texts = NO_TEXTS
    if cells.located or scores_texts:
        texts = texts_of(spec.targets[perturbation])
    replies = spec.replies.format(f"{perturbation}/{cells.judge}")
    for (aspect, criterion), reading in cells.ordered:
        part = CellPart(spec.dataset, perturbation, cells.judge, aspect)
        try:
            # These columns are large, and most estimators do not need them.
            unused = {"usage", "provenance"}
            if reading.estimator not in (LOGPROB_MEAN, *SCORED):
                unused.add("logprobs")
            columns = [name for name in SCHEMAS["answers"].names if name not in unused]
            # Of a reply's provenance, a score needs what stands in place of a text.
            columns.append(f"provenance.{CONTENT}")
            answers = read_part("answers", replies, aspect, criterion, columns)
            yield score_part(
                answers, reading, part=part, texts=texts, unread=spec.unread
            )
        except Exception as error:  # of any kind: it is raised again
            error.add_note(f"{'/'.join(part[:3])}, aspect {joined(aspect, criterion)}")
            raise


def score_part(
    answers: pa.Table,
    reading: ReplyReading,
    *,
    part: CellPart,
    texts: Mapping[str, str] = NO_TEXTS,
    unread: Unread | None = None,
) -> Scored:
    """Return the judgments and the scores of a cell's answers on one aspect.

    `texts`: target -> its text, if errors are to be located or texts were scored.
    Scores are those of `aggregated`.
    """
    # Equal replies are common (`5`), and parsing is slow.
    read = cache(reader(reading))
    scale = reading.scale
    columns = [answers[name].to_pylist() for name in ("text", "finish", "status")]
    columns.append(pc.struct_field(answers["provenance"], CONTENT).to_pylist())
    verdicts = [read(*reply) for reply in zip(*columns, strict=True)]
    if reading.estimator in SCORED:
        judgments = judgments_of(answers, verdicts, reading, texts)
        return aggregated(
            scored_rows(answers),
            judgments,
            _values(judgments),
            part=part,
            estimator=reading.estimator,
            scale=None,
            unread=unread,
        )
    values = _values(verdicts)
    estimator = reading.estimator
    if estimator == LOGPROB_MEAN:
        if reading.samples and answers["logprobs"].null_count == len(answers):
            estimator = "mean"
        else:
            values = _expectations(answers, verdicts, scale)
    return aggregated(
        answers,
        verdicts,
        values,
        part=part,
        estimator=estimator,
        scale=scale,
        unread=unread,
        spans=_located(answers, verdicts, texts) if texts else None,
    )


def _values(verdicts: Sequence[Judgment]) -> list[float | None]:
    """Return the value of each verdict that has one."""
    return [verdict.value if verdict.status == "ok" else None for verdict in verdicts]


def _located(
    answers: pa.Table, verdicts: Sequence[Judgment], texts: Mapping[str, str]
) -> list[list[dict[str, Any]]]:
    """Return the errors that each reply lists, with their places in its text."""
    spans = list[list[dict[str, Any]]]()
    targets = answers["target"].to_pylist()
    for verdict, target in zip(verdicts, targets, strict=True):
        errors = locate_errors(verdict.errors, texts[target])
        spans.append([error._asdict() for error in errors])
    return spans


def reader(reading: ReplyReading) -> ReplyReader:
    """Return the function that parses a reply."""
    return parsed_by(
        PARSERS.load(reading.parser),
        scale=reading.scale,
        settings=reading.settings,
        cut=reading.cut,
    )


def _expectations(
    answers: pa.Table, verdicts: Sequence[Judgment], scale: Scale | None
) -> list[float | None]:
    """Return each reply's expected score by its probabilities, or None if these are
    missing.
    """
    assert scale is not None, "the plan allows this only on a scale with steps"
    grid = scale.grid() or []
    values = {f"{value:g}": value for value in grid}
    for word, value in zip(scale.labels, grid, strict=False):
        values[word.lower()] = value
    expectations = list[float | None]()
    logprobs_by_reply = answers["logprobs"].to_pylist()
    for logprobs, verdict in zip(logprobs_by_reply, verdicts, strict=True):
        expected = None
        if logprobs and verdict.status == "ok" and verdict.tail is not None:
            expected = expectation(logprobs, verdict.tail, values)
        expectations.append(expected)
    return expectations


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
    total = sum(shares.values())
    if total < 0.5:
        return None
    return sum(value * share for value, share in shares.items()) / total


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


def score(spec: ScoreSpec) -> None:
    """Read the reply file of each cell, write judgments and scores, and a hash of all
    files.
    """

    def scored() -> Iterator[tuple[str, Iterator[Scored]]]:
        for cells in spec.cells:
            for perturbation in cells.perturbations:
                parts = score_cell(spec, cells, perturbation)
                yield f"{perturbation}/{cells.judge}", parts

    write_cells(scored(), spec.judgments, spec.scores, spec.hashes)
