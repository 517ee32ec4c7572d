"""Let one model answer all that a study asks it about one dataset; one reply file per cell."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from metajudge.cells import unpack
from metajudge.command import run
from metajudge.engines import Answer, Engine, Subject, build, request_key
from metajudge.schema.cards import Judge, RatedAspect
from metajudge.schema.loading import adapter
from metajudge.schema.tables import read_table, table_of, write_table

Ratings = dict[tuple[str, str], list[float]]


def main(spec: dict[str, Any]) -> None:
    """Read items, targets and ratings; write the replies of every cell of the model."""
    out, dataset = spec["output"], spec["dataset"]
    model = adapter("model").validate_python(spec["model"])
    engine = build(
        model,
        seed=spec["seed"],
        dataset=dataset,
        ratings=_ratings(f"{out}/ratings/{dataset}.parquet"),
        folder=Path(spec["folder"]),
        data=Path(spec["data"]),
    )
    judges = {name: Judge(**told) for name, told in spec["judges"].items()}
    items = _items(f"{out}/items/{dataset}.parquet")
    subjects: dict[str, list[Subject]] = {}
    for perturbation, judge, aspect in unpack(spec["cells"]):
        if perturbation not in subjects:
            path = f"{out}/targets/{dataset}/{perturbation}.parquet"
            subjects[perturbation] = list(_subjects(path, items))
        asked, rated = judges[judge], RatedAspect(**spec["scales"][aspect])
        scale = asked.scale or rated
        told = engine.answer(asked, aspect, scale, subjects[perturbation])
        keys = [
            request_key(model, asked, aspect, scale, one, seed=spec["seed"], dataset=dataset)
            for one in subjects[perturbation]
        ]
        rows = _rows(engine, asked, aspect, zip(subjects[perturbation], keys, told, strict=True))
        path = f"{out}/replies/{dataset}/{perturbation}/{judge}/{aspect}.parquet"
        write_table("answers", table_of("answers", list(rows)), path)
    for notice in getattr(engine, "notices", []):
        print(notice)


def _ratings(path: str) -> Ratings:
    found: Ratings = {}
    for row in read_table("ratings", path, ["target", "aspect", "value"]).to_pylist():
        found.setdefault((row["target"], row["aspect"]), []).append(row["value"])
    return found


def _items(path: str) -> dict[str, dict[str, Any]]:
    return {row["item"]: row for row in read_table("items", path).to_pylist()}


def _subjects(path: str, items: Mapping[str, dict[str, Any]]) -> Iterable[Subject]:
    """Yield the targets that were made; one made from a reference is never judged against it."""
    for row in read_table("targets", path).to_pylist():
        if row["status"].startswith(("impossible", "failed")):
            continue
        item = items[row["item"]]
        references = list(item["references"])
        if row["perturbation"] != "systems":
            del references[json.loads(item["meta"])["original_reference"]]
        yield Subject(
            target=row["target"],
            item=row["item"],
            system=row["system"],
            perturbation=row["perturbation"],
            text=row["text"],
            source=item["source"],
            references=tuple(references),
        )


def _rows(
    engine: Engine,
    judge: Judge,
    aspect: str,
    answered: Iterable[tuple[Subject, str, list[Answer]]],
) -> Iterable[dict[str, Any]]:
    version = engine.version(judge)
    for subject, key, draws in answered:
        for draw, answer in enumerate(draws):
            yield {
                "judge": judge.judge,
                "kind": "rate",
                "target": subject.target,
                "aspect": aspect,
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
