"""Scores that are computed or recorded as numbers: judgments without a parser."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from judgescope.core.cells import CellBlock, unpack
from judgescope.core.files import write_hashes
from judgescope.core.job_files import OUT
from judgescope.core.names import COMPUTED
from judgescope.engines.base import Answer
from judgescope.engines.computing import EngineSpec, Part, ReplaySpec, cells_of
from judgescope.parsing.judgment import Judgment, Scale
from judgescope.schema.tables import table_of, write_parts
from judgescope.scoring.aggregate import ScoredCell, aggregated, write_cells
from judgescope.scoring.specs import CellPart, Unread


class ValuesScale(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scale for a judge's values on an aspect in some sets of texts; None: any
    value.
    """

    cells: list[CellBlock]
    scale: Scale | None


class ComputeSpec(EngineSpec, frozen=True, kw_only=True):
    """The job that writes an engine's answers as judgments and scores of cells."""

    read: list[ValuesScale]
    judgments: Annotated[str, OUT]
    """The path of a cell's file; `{}` stands for its set of texts and judge."""
    scores: Annotated[str, OUT]
    unread: Unread | None = None


def _computed(spec: ComputeSpec, part: Part, scale: Scale | None) -> ScoredCell:
    """Return judgments and scores of a part of a cell whose draws are numbers or
    labels.
    """
    judge = part.judge
    aspect = part.aspect.partition(".")[0]
    parsed = [verdict(answer, scale) for answer in part.answers]
    return aggregated(
        table_of("answers", part.rows),
        parsed,
        [judgment.value for judgment in parsed],
        part=CellPart(spec.dataset, part.perturbation, judge.judge, aspect),
        estimator=judge.estimator,
        scale=scale,
        unread=spec.unread,
    )


def verdict(answer: Answer, scale: Scale | None) -> Judgment:
    """Return the judgment in an answer; its rule says what was accepted."""
    if answer.status != "ok":
        read = Judgment(answer.status, answer.text.strip() or answer.status)
    elif scale is not None and scale.words:
        read = scale.read_word(answer.text, "label")
    elif scale is not None:
        read = scale.read(float(answer.text), "number")
    else:
        read = Judgment("ok", "number", float(answer.text))
    read = read._replace(rationale=answer.rationale, parser=COMPUTED)
    return _with_confidence(read, answer)


def _with_confidence(read: Judgment, answer: Answer) -> Judgment:
    """Return a judgment with the confidence of its answer.

    A probability of a named label is that of the verdict, or of the other of two.
    """
    known = answer.confidence
    if known is None or answer.status != "ok":
        return read
    chance = known.chance
    if known.about is not None and chance is not None and read.label != known.about:
        chance = 1 - chance
    return read._replace(
        confidence=chance, confidence_source=known.source, confidence_rule=known.rule
    )


def scales_of(spec: ComputeSpec) -> dict[tuple[str, str, str], Scale | None]:
    """Return (set of texts, judge, aspect) -> the scale of the judge's values."""
    scales = {}
    for read in spec.read:
        for cell in unpack(read.cells):
            scales[cell] = read.scale
    return scales


def compute(spec: ComputeSpec) -> None:
    """Write the judgments and scores of every cell of a model that computes scores."""
    scales = scales_of(spec)

    def scored() -> Iterator[tuple[str, list[ScoredCell]]]:
        for parts in cells_of(spec):
            perturbation = parts[0].perturbation
            judge = parts[0].judge.judge
            made = list[ScoredCell]()
            for part in parts:
                scale = scales[perturbation, judge, part.aspect]
                made.append(_computed(spec, part, scale))
            yield f"{perturbation}/{judge}", made

    write_cells(scored(), spec.judgments, spec.scores, spec.hashes)


def replay(spec: ReplaySpec) -> None:
    """Write the recorded replies of all cells of a model in the format of requested
    replies.
    """
    paths = {}
    for parts in cells_of(spec):
        name = f"{parts[0].perturbation}/{parts[0].judge.judge}"
        paths[name] = spec.replies.format(name)
        tables = (table_of("answers", _replies(part)) for part in parts)
        write_parts("answers", tables, paths[name])
    if spec.hashes:
        write_hashes(paths, spec.hashes)


def _replies(part: Part) -> list[dict[str, object]]:
    """Return the recorded answers of a part of a cell as rows of the table answers."""
    rows = list[dict[str, object]]()
    for row, answer in zip(part.rows, part.answers, strict=True):
        reply = {"text": answer.text, "finish": "stop", "status": answer.status}
        rows.append({**row, **reply})
    return rows
