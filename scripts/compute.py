"""Let one model that computes or replays judge a dataset; one reply file per cell."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from metajudge.canonical import canonical
from metajudge.cells import split, unpack
from metajudge.command import run
from metajudge.data.rated import NO_NAMES
from metajudge.engines import build
from metajudge.engines.base import Answer, Engine, Subject, request_key
from metajudge.engines.subjects import Subjects
from metajudge.schema.cards import Judge, RatedAspect
from metajudge.schema.loading import adapter
from metajudge.schema.tables import read_table, table_of, write_table
from metajudge.unseen import coded

if TYPE_CHECKING:
    from metajudge.engines.recorded import RecordedEngine

Ratings = dict[tuple[str, str], list[float]]


def main(spec: dict[str, Any]) -> None:
    """Read items, targets and ratings; write the answers of every cell of the model."""
    out, dataset = spec["output"], spec["dataset"]
    model = adapter("model").validate_python(spec["model"])
    targets = Subjects(out, dataset, spec["seed"], spec.get("sample"))
    engine = build(
        model,
        seed=spec["seed"],
        dataset=dataset,
        ratings=_ratings(f"{out}/ratings/{dataset}.parquet"),
        counted=spec.get("counted", {}),
        folder=Path(spec["folder"]),
        data=Path(spec["data"]),
        names=targets.names if model.engine == "recorded" else NO_NAMES,
    )
    judges = {name: Judge(**told) for name, told in spec["judges"].items()}
    for perturbation, judge, aspect in unpack(spec["cells"]):
        asked, rated = judges[judge], RatedAspect(**spec["scales"][aspect])
        subjects = targets.of(perturbation, asked.share, aspect)
        name, criterion = split(aspect)
        scale = asked.scale_on(name) or rated
        told = engine.answer(asked, name, scale, subjects)
        keys = [
            request_key(model, asked, name, scale, one, seed=spec["seed"], dataset=dataset)
            for one in subjects
        ]
        about = {"aspect": name, "criterion": criterion}
        rows = _rows(engine, asked, about, zip(subjects, keys, told, strict=True))
        path = spec["replies"].format(f"{perturbation}/{judge}/{aspect}")
        write_table("answers", table_of("answers", list(rows)), path)
    for notice in getattr(engine, "notices", []):
        print(coded(notice))  # it names what the data name
    if place := spec.get("joined"):
        shared = {name for name, judge in judges.items() if judge.share < 1}
        joins = cast("RecordedEngine", engine).checked_joins(shared, selected=place["selected"])
        Path(place["path"]).parent.mkdir(parents=True, exist_ok=True)
        Path(place["path"]).write_text(canonical(joins) + "\n", encoding="utf-8")


def _ratings(path: str) -> Ratings:
    found: Ratings = {}
    for row in read_table("ratings", path, ["target", "aspect", "value"]).to_pylist():
        found.setdefault((row["target"], row["aspect"]), []).append(row["value"])
    return found


def _rows(
    engine: Engine,
    judge: Judge,
    about: dict[str, str | None],
    answered: Iterable[tuple[Subject, str, list[Answer]]],
) -> Iterable[dict[str, Any]]:
    version = engine.version(judge)
    for subject, key, draws in answered:
        for draw, answer in enumerate(draws):
            yield {
                "judge": judge.judge,
                "kind": "rate",
                "target": subject.target,
                **about,
                "key": key,
                "draw": draw,
                "text": answer.text,
                "finish": answer.finish,
                "usage": answer.usage,
                "status": answer.status,
                "provenance": {"model": judge.model, "version": version},
            }


if __name__ == "__main__":
    run(main)
