"""Scoring one cell: every reply is parsed, every target's draws become one score."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from judgescope.core.cells import joined
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.parsing.locate import locate_errors
from judgescope.parsing.parsers import parse
from judgescope.schema.tables import read_part, texts_of
from judgescope.scoring.aggregate import aggregated
from judgescope.scoring.expectation import expectation
from judgescope.scoring.specs import CellSpec, Missing, Reading

LOGPROB_MEAN = "logprob_mean"
NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})


def score_cell(spec: CellSpec) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the judgments and the scores of a cell, aspect by aspect.

    Each aspect is read by itself: nothing of one is known when another one is read. What goes wrong
    names its aspect.
    """
    texts = texts_of(spec.targets) if spec.targets else NO_TEXTS
    cell = {"dataset": spec.cell.dataset, "perturbation": spec.cell.perturbation}
    cell["judge"] = spec.cell.judge
    for (aspect, criterion), reading in spec.ordered:
        try:
            answers = read_part("answers", spec.replies, aspect, criterion)
            told = {**cell, "aspect": aspect}
            yield score_part(answers, reading, cell=told, texts=texts, missing=spec.missing)
        except Exception as error:
            error.add_note(f"{'/'.join(cell.values())}, aspect {joined(aspect, criterion)}")
            raise


def score_part(
    answers: pa.Table,
    reading: Reading,
    *,
    cell: Mapping[str, str],
    texts: Mapping[str, str] = NO_TEXTS,
    missing: Missing | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a cell's answers on one aspect.

    `cell` names dataset, perturbation, judge and aspect; `texts` are those of the targets, where
    errors are located in them. Scores as in `aggregated`.
    """
    read, scale = cache(reader(reading)), reading.scale
    columns = (answers[name].to_pylist() for name in ("text", "finish", "status"))
    verdicts = [read(*reply) for reply in zip(*columns, strict=True)]
    weighs = reading.estimator == LOGPROB_MEAN and (
        not reading.samples or any(one is not None for one in answers["logprobs"].to_pylist())
    )
    values = (
        _expectations(answers, verdicts, scale)
        if weighs
        else [verdict.value if verdict.status == "ok" else None for verdict in verdicts]
    )
    judgments, scores = aggregated(
        answers,
        verdicts,
        values,
        cell=cell,
        estimator="mean" if reading.estimator == LOGPROB_MEAN else reading.estimator,
        scale=scale,
        missing=missing,
        spans=[
            _spans(verdict, texts[target])
            for verdict, target in zip(verdicts, answers["target"].to_pylist(), strict=True)
        ]
        if texts
        else None,
    )
    if weighs:
        name = pa.repeat(pa.scalar(LOGPROB_MEAN), len(scores))
        scores = scores.set_column(scores.schema.get_field_index("estimator"), "estimator", name)
    return judgments, scores


Read = Callable[[str, str | None, str], Judgment]
"""(text, finish, status) of a reply -> what it says."""


def reader(reading: Reading) -> Read:
    """Return what reads a reply."""
    return partial(
        _read,
        scale=reading.scale,
        parser=reading.parser,
        settings=reading.settings,
        cut=reading.cut,
    )


def _read(text: str, finish: str | None, status: str, **told: Any) -> Judgment:
    return parse(text, finish=finish, reply_status=status, **told)


def _expectations(
    answers: pa.Table, verdicts: list[Judgment], scale: Scale | None
) -> list[float | None]:
    """Return what the probabilities of each reply say of its score, None where they say nothing."""
    assert scale is not None, "the plan allows it on a scale with steps only"
    grid = scale.grid() or []
    words = zip(scale.labels, grid, strict=False)
    values = {f"{value:g}": value for value in grid} | {word.lower(): at for word, at in words}
    return [
        expectation(logprobs, verdict.tail, values)
        if logprobs and verdict.status == "ok" and verdict.tail is not None
        else None
        for logprobs, verdict in zip(answers["logprobs"].to_pylist(), verdicts, strict=True)
    ]


def _spans(verdict: Judgment, text: str) -> list[dict[str, Any]]:
    return [one._asdict() for one in locate_errors(verdict.errors, text)]
