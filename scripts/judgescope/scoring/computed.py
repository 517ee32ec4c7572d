"""Scores that are computed or recorded as numbers: judgments without a parser."""

from collections.abc import Iterator

from msgspec import Struct

from judgescope.core.cells import Block, unpack
from judgescope.core.files import write_hashes
from judgescope.core.names import COMPUTED
from judgescope.engines.base import Answer
from judgescope.engines.computing import EngineSpec, Part, ReplaySpec, cells_of
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.schema.tables import table_of, write_parts
from judgescope.scoring.aggregate import Scored, aggregated, write_cells
from judgescope.scoring.specs import CellPart, Unread

NUMBER, LABEL = "number", "label"
"""The rules that accept a computed value."""


class Read(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scale for a judge's values on an aspect in some sets of texts; None: any
    value.
    """

    cells: list[Block]
    scale: Scale | None


class ComputeSpec(EngineSpec, frozen=True, kw_only=True):
    """The job that writes an engine's answers as judgments and scores of cells."""

    read: list[Read]
    judgments: str
    """The path of a cell's file; `{}` stands for its set of texts and judge."""
    scores: str
    unread: Unread | None = None


def _computed(spec: ComputeSpec, part: Part, scale: Scale | None) -> Scored:
    """Return judgments and scores of a part of a cell whose draws are numbers or
    labels.
    """
    judge, aspect = part.judge, part.aspect.partition(".")[0]
    verdicts = [_verdict(answer, scale) for answer in part.answers]
    return aggregated(
        table_of("answers", part.rows),
        verdicts,
        [verdict.value for verdict in verdicts],
        part=CellPart(spec.dataset, part.perturbation, judge.judge, aspect),
        estimator=judge.estimator,
        scale=scale,
        unread=spec.unread,
    )


def _verdict(answer: Answer, scale: Scale | None) -> Judgment:
    if answer.status == "ok" and scale is not None and scale.words:
        read = scale.read_word(answer.text, LABEL)
    elif answer.status == "ok":
        value = float(answer.text)
        read = (
            Judgment("ok", NUMBER, value)
            if scale is None
            else scale.read(value, NUMBER)
        )
    else:
        read = Judgment(answer.status, answer.text.strip() or answer.status)
    return read._replace(rationale=answer.rationale, parser=COMPUTED)


def compute(spec: ComputeSpec) -> None:
    """Write the judgments and scores of every cell of a model that computes scores."""
    scales = {cell: read.scale for read in spec.read for cell in unpack(read.cells)}

    def scored() -> Iterator[tuple[str, list[Scored]]]:
        for parts in cells_of(spec):
            cell = parts[0].perturbation, parts[0].judge.judge
            made = [_computed(spec, part, scales[*cell, part.aspect]) for part in parts]
            yield "/".join(cell), made

    write_cells(scored(), spec.judgments, spec.scores, spec.hashes)


def replay(spec: ReplaySpec) -> None:
    """Write the recorded replies of all cells of a model in the format of requested
    replies.
    """
    paths = {}
    for parts in cells_of(spec):
        name = f"{parts[0].perturbation}/{parts[0].judge.judge}"
        paths[name] = spec.replies.format(name)
        tables = (
            [
                {**row, "text": answer.text, "finish": "stop", "status": answer.status}
                for row, answer in zip(part.rows, part.answers, strict=True)
            ]
            for part in parts
        )
        write_parts(
            "answers", (table_of("answers", rows) for rows in tables), paths[name]
        )
    if spec.hashes:
        write_hashes(paths, spec.hashes)
