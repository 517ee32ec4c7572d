"""Draw the texts and aspects that a judge will learn from, none of them evaluated on."""

from collections.abc import Iterator, Mapping
from typing import Any

from judgescope.core.errors import UserError
from judgescope.core.sampling import share_of
from judgescope.core.set_names import new_target
from judgescope.distill.prompts import prompts
from judgescope.distill.sampling import Drawn, Text, draw, held_out
from judgescope.distill.sources import Place, groups_of, key_of, same_sources
from judgescope.engines.base import Subject
from judgescope.engines.subjects import Subjects
from judgescope.jobs.run import run
from judgescope.schema.tables import read_table, table_of, write_table

Row = dict[str, Any]
Spec = dict[str, Any]


def main(spec: Spec) -> None:
    """Read items and texts of all datasets, compare sources, write the sample."""
    taught = _sources(spec, spec["taught"])
    same = same_sources(taught, _sources(spec, spec["evaluated"]))
    if same and spec["overlap"] == "stop":
        raise _overlap(same, len(taught))
    kept = {place: source for place, source in taught.items() if place not in same}
    groups = groups_of(kept)
    held = set[str]()
    for dataset in spec["taught"]:
        sources = [group for (name, _), group in groups.items() if name == dataset]
        held |= held_out(sources, spec["held_out"], seed=spec["seed"], dataset=dataset)
    rows = [row for dataset in spec["taught"] for row in _rows(spec, dataset, groups, held)]
    print(f"items left out, whose source is evaluated on: {len(same)}")
    bare = sum(not key_of(source or "") for source in kept.values())
    print(f"items without a source, which nothing can be compared with: {bare}")
    for dataset in spec["taught"]:
        own = [row["held_out"] for row in rows if row["dataset"] == dataset]
        print(f"{dataset}: {len(own):,} texts and aspects, {sum(own):,} of them held out")
    for split in (False, True):
        if not any(row["held_out"] == split for row in rows):
            raise _empty(split)
    write_table("samples", table_of("samples", rows), spec["output"])


def _sources(spec: Spec, datasets: Mapping[str, float]) -> dict[Place, str | None]:
    """Return the sources of a share of each dataset's items: what its judges are given."""
    found: dict[Place, str | None] = {}
    for dataset, share in datasets.items():
        path = f"{spec['results']}/items/{dataset}.parquet"
        rows = read_table("items", path, ["item", "source"]).to_pylist()
        names = (row["item"] for row in rows)
        given = share_of(names, share, seed=spec["seed"], dataset=dataset)
        found |= {(dataset, row["item"]): row["source"] for row in rows if row["item"] in given}
    return found


def _rows(spec: Spec, dataset: str, groups: Mapping[Place, str], held: set[str]) -> Iterator[Row]:
    """Yield what is drawn of a dataset, with the prompts about it as far as they are known."""
    told = spec["student"]["datasets"][dataset]
    known = Subjects(spec["results"], dataset, spec["seed"])
    there = {name: known.of(name) for name in told["sets"]}
    there |= {
        name: [
            _unwritten(item, name, row["source"])
            for item, row in known.items.items()
            if row["source"]  # of nothing no text can be written
        ]
        for name in told["new"]
    }
    texts: dict[str, list[Text]] = {}
    subjects: dict[str, Subject] = {}
    for name, found in there.items():
        for text in found:
            if (dataset, text.item) in groups and (text.text or name in told["new"]):
                subjects[text.target] = text
                own = Text(name, text.target, text.system or "")
                texts.setdefault(text.item, []).append(own)
    numbers = {"n_texts": spec["systems"], "n_aspects": spec["n_aspects"]}
    drawn = draw(dataset, texts, list(told["aspects"]), seed=spec["seed"], **numbers)
    shown = _prompts(spec, dataset, drawn, subjects)
    for one, prompt in zip(drawn, shown, strict=True):
        yield {
            "dataset": dataset,
            "item": one.item,
            **one.text._asdict(),
            "aspect": one.aspect,
            "held_out": groups[dataset, one.item] in held,
            "prompt": prompt,
            "room": spec["room"] if one.text.perturbation in told["new"] else 0,
        }


def _unwritten(item: str, name: str, source: str | None) -> Subject:
    return Subject(new_target(item, name), item, name, name, "", source)


def _prompts(
    spec: Spec, dataset: str, drawn: list[Drawn], subjects: Mapping[str, Subject]
) -> list[str]:
    """Return the prompt of each, an aspect at a time: its form is filled once."""
    found = [""] * len(drawn)
    for aspect in dict.fromkeys(one.aspect for one in drawn):
        own = [number for number, one in enumerate(drawn) if one.aspect == aspect]
        about = [subjects[drawn[number].text.target] for number in own]
        shown = prompts(spec["student"], dataset, aspect, about)
        for number, prompt in zip(own, shown, strict=True):
            found[number] = prompt
    return found


def _overlap(same: Mapping[Place, Place], n: int) -> UserError:
    (ours, item), (theirs, other) = next(iter(same.items()))
    return UserError(
        f"{len(same)} of {n} items to learn from have a source that is also evaluated on",
        where="the study, key distill.datasets",
        got=f"item {item} of {ours} is item {other} of {theirs}",
        todo="choose other datasets or items (`select`), or leave these out: distill.overlap: drop",
    )


def _empty(split: bool) -> UserError:
    return UserError(
        "nothing is left to be held out" if split else "nothing is left to learn from",
        where="the study, key distill.datasets",
        todo="name datasets with more items: one at least is held out, and one must be left",
    )


if __name__ == "__main__":
    run(main)
