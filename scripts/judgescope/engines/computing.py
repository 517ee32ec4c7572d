"""The answers of an engine that asks nobody, cell by cell and aspect by aspect."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell, split
from judgescope.core.control_chars import coded
from judgescope.data.rated import NO_NAMES
from judgescope.engines import build
from judgescope.engines.base import Answer, request_key
from judgescope.engines.specs import EngineSpec
from judgescope.engines.subjects import Subjects
from judgescope.schema.cards import Judge, RatedAspect
from judgescope.schema.loading import adapter
from judgescope.schema.tables import read_table

if TYPE_CHECKING:
    from judgescope.engines.recorded.engine import RecordedEngine

Ratings = dict[tuple[str, str], list[float]]


class Part(NamedTuple):
    """What a judge says of a set of targets on one aspect: a row and an answer for each draw."""

    perturbation: str
    judge: Judge
    aspect: str
    """`<aspect>` or `<aspect>.<criterion>`."""
    rows: list[dict[str, Any]]
    answers: list[Answer]


def cells_of(spec: EngineSpec) -> Iterator[list[Part]]:
    """Yield every cell of the spec as its parts, in the order of the cell's files.

    At the end the rows of a recorded model that were joined are counted, and notices printed.
    """
    model = adapter("model").validate_python(spec.model)
    targets = Subjects(spec.results, spec.dataset, spec.seed, spec.sample)
    engine = build(
        model,
        seed=spec.seed,
        dataset=spec.dataset,
        ratings=_ratings(f"{spec.results}/ratings/{spec.dataset}.parquet"),
        counted=spec.counted,
        folder=Path(spec.folder),
        data=Path(spec.data),
        names=targets.names if model.engine == "recorded" else NO_NAMES,
    )
    judges = {name: Judge(**told) for name, told in spec.judges.items()}

    def part(perturbation: str, judge: Judge, aspect: str) -> Part:
        name, criterion = split(aspect)
        rated = RatedAspect(**spec.scales[aspect])
        scale = judge.scale_on(name) or rated
        subjects = targets.of(perturbation, judge.share, aspect)
        version = engine.version(judge)
        rows = []
        answered = engine.answer(judge, name, scale, subjects)
        for subject, draws in zip(subjects, answered, strict=True):
            key = request_key(
                model, judge, name, scale, subject, seed=spec.seed, dataset=spec.dataset
            )
            rows += [
                {
                    "judge": judge.judge,
                    "kind": "rate",
                    "target": subject.target,
                    "aspect": name,
                    "criterion": criterion,
                    "key": key,
                    "draw": draw,
                    "provenance": {"model": judge.model, "version": version},
                }
                for draw in range(len(draws))
            ]
        return Part(perturbation, judge, aspect, rows, [one for own in answered for one in own])

    for (perturbation, name), aspects in by_cell(spec.cells).items():
        yield [part(perturbation, judges[name], aspect) for aspect in aspects]
    for notice in getattr(engine, "notices", []):
        print(coded(notice))  # it names what the data name
    if spec.joined:
        shared = {name for name, judge in judges.items() if judge.share < 1}
        joins = cast("RecordedEngine", engine).checked_joins(shared, selected=spec.joined.selected)
        path = Path(spec.joined.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(canonical(joins) + "\n", encoding="utf-8")


def _ratings(path: str) -> Ratings:
    found: Ratings = {}
    for row in read_table("ratings", path, ["target", "aspect", "value"]).to_pylist():
        found.setdefault((row["target"], row["aspect"]), []).append(row["value"])
    return found
