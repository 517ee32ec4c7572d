"""Jobs of engines that compute or replay: their specs, and their answers cell by
cell.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Struct, field, to_builtins

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell, split
from judgescope.core.errors import coded
from judgescope.core.files import write_text
from judgescope.core.job_files import OUT
from judgescope.core.paths import located_folder
from judgescope.data.rated import NO_NAMES
from judgescope.engines import base
from judgescope.engines.subjects import Subjects
from judgescope.schema.cards import (
    COMPARE,
    Judge,
    Model,
    PlantedModel,
    RatedAspect,
    RecordedModel,
)
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.loading import adapter


class JoinsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file for the counts of joined rows; `selected`: the study judges only some
    texts.
    """

    path: Annotated[str, OUT]
    selected: bool


class EngineSpec(base.CellsSpec, frozen=True, kw_only=True):
    """The answers that one model computes or replays for one dataset."""

    counted: dict[str, base.ErrorCounts] = field(default_factory=dict)
    """Set of texts with inserted errors -> their counts."""
    joined: JoinsFile | None = None
    language: str = ""
    """The language of the dataset's card, "" without one."""


class ReplaySpec(EngineSpec, frozen=True, kw_only=True):
    """The job that writes an engine's answers as replies, one file per cell."""

    replies: Annotated[str, OUT]
    """The path of a cell's replies; `{}` stands for `<perturbation>/<judge>`."""


class Part(NamedTuple):
    """A judge's answers for a set of targets on one aspect: a row and an answer for
    each draw.
    """

    perturbation: str
    judge: Judge
    aspect: str
    """`<aspect>` or `<aspect>.<criterion>`."""
    rows: list[dict[str, Any]]
    answers: list[base.Answer]


def reads_ratings(model: Model) -> bool:
    """Return whether a model's answers are made from people's ratings or choices.

    Recorded comparisons are: the pairs are those that people compared.
    """
    compares = isinstance(model, RecordedModel) and model.rows.compares
    return compares or ENGINES[model.engine].reads_ratings


def cells_of(spec: EngineSpec) -> Iterator[list[Part]]:
    """Yield the parts of every cell of the spec, in the order of the cells' files.

    After the last cell it prints notices and, for a recorded model, writes the join
    counts.
    """
    build = ENGINES.load(spec.engine).build
    model: Model = adapter("model", spec.model).validate_python(spec.model)
    targets = Subjects(spec.subjects, spec.dataset, spec.seed)
    rated = reads_ratings(model)
    inputs = base.EngineInputs(
        seed=spec.seed,
        dataset=spec.dataset,
        ratings=targets.ratings if rated else {},
        preferences=targets.preferences if rated else {},
        counted=spec.counted,
        folder=located_folder(spec.folder),
        data=Path(spec.data),
        names=targets.names if isinstance(model, RecordedModel) else NO_NAMES,
        texts=targets.references or targets.sources,
        language=spec.language,
    )
    engine = build(model, inputs)
    judges = {name: Judge(**card) for name, card in spec.judges.items()}

    def part(perturbation: str, judge: Judge, aspect: str) -> Part:
        subjects = targets.in_set(perturbation, judge.share, aspect)
        return _part(spec, model, engine, subjects, perturbation, judge, aspect)

    for (perturbation, name), aspects in by_cell(spec.cells).items():
        yield [part(perturbation, judges[name], aspect) for aspect in aspects]
    for notice in getattr(engine, "notices", []):
        print(coded(notice))  # names from the data may hold control characters
    if spec.joined:
        shared = {name for name, judge in judges.items() if judge.share < 1}
        joins = engine.checked_joins(shared, selected=spec.joined.selected)
        write_text(Path(spec.joined.path), canonical(to_builtins(joins)) + "\n")


def _part(
    spec: EngineSpec,
    model: Model,
    engine: Any,
    subjects: list[base.Subject],
    perturbation: str,
    judge: Judge,
    aspect: str,
) -> Part:
    """Return a judge's answers for these texts, or for pairs of them."""
    name, criterion = split(aspect)
    scale = judge.scale_on(name) or RatedAspect(**spec.scales[aspect])
    shown: list[tuple[base.Subject, base.Subject | None]] = [
        (subject, None) for subject in subjects
    ]
    if isinstance(model, RecordedModel) and model.rows.compares:
        shown, answered = engine.compare(judge, name, subjects)
    elif isinstance(model, PlantedModel) and judge.form == COMPARE:
        shown, answered = engine.compare(judge, name, scale, subjects)
    else:
        answered = engine.answer(judge, name, scale, subjects)
    provenance = {"model": judge.model, "version": engine.version(judge)}
    seed = spec.seed
    dataset = spec.dataset
    rows = []
    answers = []
    for (subject, other), draws in zip(shown, answered, strict=True):
        key = base.request_key(
            model, judge, name, scale, subject, seed=seed, dataset=dataset, other=other
        )
        row = {
            "judge": judge.judge,
            "kind": "compare" if other else "rate",
            "target": subject.target,
            "target_b": other.target if other else None,
            "aspect": name,
            "criterion": criterion,
            "key": key,
            "provenance": provenance,
        }
        rows += [{**row, "draw": draw} for draw in range(len(draws))]
        answers += draws
    return Part(perturbation, judge, aspect, rows, answers)
