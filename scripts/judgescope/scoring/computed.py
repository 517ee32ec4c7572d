"""Scores that are computed or were recorded as numbers: judgments without a parser."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from msgspec import Struct

from judgescope.core.cells import Block
from judgescope.core.names import COMPUTED
from judgescope.engines.base import Answer
from judgescope.engines.computing import EngineSpec
from judgescope.parsing.judgment import Judgment, Reading, Scale
from judgescope.schema.tables import table_of
from judgescope.scoring.aggregate import aggregated
from judgescope.scoring.specs import CellPart, Missing

NUMBER, LABEL = "number", "label"
"""The rules by which a computed value counts."""


class Read(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """On which scale a judge's values on an aspect of some sets of texts are read; None: any."""

    cells: list[Block]
    scale: Scale | None


class ComputeSpec(EngineSpec, frozen=True, kw_only=True):
    """The job that writes the answers of an engine as judgments and scores of cells."""

    read: list[Read]
    judgments: str
    """Where a cell's file lies; `{}` stands for its set of texts and judge."""
    scores: str
    missing: Missing | None = None


def computed_part(
    rows: Sequence[Mapping[str, Any]],
    answers: Sequence[Answer],
    scale: Scale | None,
    *,
    part: CellPart,
    estimator: str,
    missing: Missing | None = None,
) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a part of a cell, of draws that are numbers or labels.

    `rows` are the columns that say of what each draw is. Without a scale any value counts.
    """
    verdicts = [_verdict(answer, scale) for answer in answers]
    return aggregated(
        table_of("answers", [dict(row) for row in rows]),
        verdicts,
        [verdict.value for verdict in verdicts],
        part=part,
        estimator=estimator,
        scale=scale,
        missing=missing,
    )


def _verdict(answer: Answer, scale: Scale | None) -> Judgment:
    if answer.status == "ok" and scale is not None and scale.words:
        read = scale.read_word(answer.text, LABEL)
    elif answer.status == "ok":
        value = float(answer.text)
        read = Reading("ok", NUMBER, value) if scale is None else scale.read(value, NUMBER)
    else:
        read = Reading(answer.status, answer.text.strip() or answer.status)
    return Judgment(read.value, read.label, answer.rationale, read.status, read.rule, COMPUTED)
