"""Scores a cell: parses every reply and combines every target's draws into one
score.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
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
    LIKELIHOOD_ESTIMATORS,
    LOGPROB_MEAN,
    ScoredCell,
    aggregated,
    write_cells,
)
from judgescope.scoring.confidences import with_confidence
from judgescope.scoring.likelihood import judgments_of, scored_rows
from judgescope.scoring.shares import expectation
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
) -> Iterator[ScoredCell]:
    """Yield the judgments and the scores of a cell, aspect by aspect.

    Aspects are read independently of each other. An error names its aspect.
    """
    scores_texts = any(
        reading.estimator in LIKELIHOOD_ESTIMATORS for reading in cells.readings
    )
    texts = NO_TEXTS
    if cells.located or scores_texts:
        texts = texts_of(spec.targets[perturbation])
    replies = spec.replies.format(f"{perturbation}/{cells.judge}")
    for (aspect, criterion), reading in cells.ordered:
        part = CellPart(spec.dataset, perturbation, cells.judge, aspect)
        try:
            # These columns are large, and most estimators do not need them.
            unused = {"usage", "provenance"}
            weighted = reading.estimator in (LOGPROB_MEAN, *LIKELIHOOD_ESTIMATORS)
            if not weighted and reading.confidence != "logprobs":
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
) -> ScoredCell:
    """Return the judgments and the scores of a cell's answers on one aspect.

    `texts`: target -> its text, if errors are to be located or texts were scored.
    Scores are those of `aggregated`.
    """
    # Equal replies are common (`5`), and parsing is slow.
    read = cache(reader(reading))
    scale = reading.scale
    columns = [answers[name].to_pylist() for name in ("text", "finish", "status")]
    columns.append(pc.struct_field(answers["provenance"], CONTENT).to_pylist())
    parsed = [read(*reply) for reply in zip(*columns, strict=True)]
    if reading.estimator in LIKELIHOOD_ESTIMATORS:
        judgments = judgments_of(answers, parsed, reading, texts)
        return aggregated(
            scored_rows(answers),
            judgments,
            _values(judgments),
            part=part,
            estimator=reading.estimator,
            scale=None,
            unread=unread,
        )
    values = _values(parsed)
    if reading.confidence:
        parsed = with_confidence(answers, parsed, reading)
    estimator = reading.estimator
    if estimator == LOGPROB_MEAN:
        if reading.samples and answers["logprobs"].null_count == len(answers):
            estimator = "mean"
        else:
            values = _expectations(answers, parsed, scale)
    return aggregated(
        answers,
        parsed,
        values,
        part=part,
        estimator=estimator,
        scale=scale,
        unread=unread,
        spans=_located(answers, parsed, texts) if texts else None,
    )


def _values(parsed: Sequence[Judgment]) -> list[float | None]:
    """Return the value of each verdict that has one."""
    return [judgment.value if judgment.status == "ok" else None for judgment in parsed]


def _located(
    answers: pa.Table, parsed: Sequence[Judgment], texts: Mapping[str, str]
) -> list[list[dict[str, Any]]]:
    """Return the errors that each reply lists, with their places in its text."""
    spans = list[list[dict[str, Any]]]()
    targets = answers["target"].to_pylist()
    for judgment, target in zip(parsed, targets, strict=True):
        errors = locate_errors(judgment.errors, texts[target])
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
    answers: pa.Table, parsed: Sequence[Judgment], scale: Scale | None
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
    for logprobs, judgment in zip(logprobs_by_reply, parsed, strict=True):
        expected = None
        if logprobs and judgment.status == "ok" and judgment.tail is not None:
            expected = expectation(logprobs, judgment.tail, values)
        expectations.append(expected)
    return expectations


def score(spec: ScoreSpec) -> None:
    """Read the reply file of each cell, write judgments and scores, and a hash of all
    files.
    """

    def scored() -> Iterator[tuple[str, Iterator[ScoredCell]]]:
        for cells in spec.cells:
            for perturbation in cells.perturbations:
                parts = score_cell(spec, cells, perturbation)
                yield f"{perturbation}/{cells.judge}", parts

    write_cells(scored(), spec.judgments, spec.scores, spec.hashes)
