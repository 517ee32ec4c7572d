"""A study of planted judges on simulated datasets: its cards and its data."""

import csv
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from judgescope.data.planted import SimulatedTexts, simulated, text_of
from running import HOME
from study import Study

BENCHMARKS = HOME / "benchmarks"


def benchmark(name: str) -> ModuleType:
    """Return a module of benchmarks/."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


worlds = benchmark("planted_worlds")


def planted_study(
    folder: Path, datasets: Mapping[str, tuple[Any, Sequence[Any]]]
) -> Study:
    """Write cards and data of a study in a folder, and return the study.

    datasets: name -> its design and its judges (`JudgeSetup`).
    """
    aspects, judged = dict[str, list[str]](), dict[str, Any]()
    for name, (design, judges) in datasets.items():
        texts = simulated(design, worlds.SEED, name)
        _write_dataset(folder, name, texts)
        for judge in judges:
            known = aspects.setdefault(judge.name, [])
            known += [
                aspect_name
                for aspect_name in design.aspect_names
                if aspect_name not in known
            ]
            judged[judge.name] = (judge, design.kind)
    study = Study(
        folder,
        study="planted",
        seed=worlds.SEED,
        datasets=[*datasets],
        judges=[*judged],
        methods=["agreement"],
        comparison={
            "judges": [*judged][:2],
            "statistics": ["spearman"],
            "levels": ["pooled"],
            "permutations": 100,
        },
    )
    for name, (judge, kind) in judged.items():
        model: dict[str, Any] = {"engine": "planted", "defect": judge.defect}
        if judge.strength is not None:
            model["strength"] = judge.strength
        if judge.family:
            model["family"] = judge.family
        if judge.systems:
            model["systems"] = [*judge.systems]
        study.card("models", name, **model, files="../../quality/{dataset}.csv")
        form = "compare" if kind == "pairs" else "rate"
        card = {"model": name, "form": form, "draws": judge.draws}
        study.card("judges", name, **card, aspects=aspects[name])
    del study.keys["aspects"], study.keys["perturbations"]
    study.write()
    return study


def _write_dataset(folder: Path, name: str, dataset: SimulatedTexts) -> None:
    design = dataset.design
    raters = range(1, design.raters + 1)
    columns_of = {}
    for aspect in design.aspect_names:
        columns_of[aspect] = [f"{aspect}-rater-{number}" for number in raters]
    columns: dict[str, Any] = {"item": "item", "source": "item"}
    if design.kind == "pairs":
        rows = _pair_rows(dataset, columns_of)
        columns |= {"texts": ["text_a", "text_b"], "systems": ["system_a", "system_b"]}
        columns["preferences"] = columns_of
    else:
        rows = _text_rows(dataset, columns_of)
        columns |= {"system": "system", "text": "text", "ratings": columns_of}
    _write(folder / f"data/{name}.csv", rows)
    _write(folder / f"quality/{name}.csv", _qualities(dataset))
    scales = {
        "scores": {"min": 1, "max": 5, "step": 1},
        "labels": {"labels": worlds.WORDS},
        "pairs": {"min": -1, "max": 1},
    }
    card = {
        "name": f"Simulated {design.kind}",
        "task": "qa",
        "format": "table",
        "files": f"../../data/{name}.csv",
        "columns": columns,
        "ratings": "people",
        "raters": "persons",
        "aspects": dict.fromkeys(design.aspect_names, scales[design.kind]),
        "licence": "MIT, as this repository; simulated",
        "citation": "none",
        "families": dict(FAMILIES),
    }
    if design.kind == "pairs":
        card["select"] = {"original": "none"}
    study = Study(folder, study="planted")
    study.card("datasets", name, **card)
    for aspect in design.aspect_names:
        text = f"Simulated quality {aspect}"
        study.card("aspects", aspect, name=text, definition=text)


Columns = Mapping[str, Sequence[str]]
"""Aspect -> a column for each rater."""


def _words(dataset: SimulatedTexts) -> list[str]:
    lengths = dataset.lengths.tolist()
    return list(map(text_of, dataset.texts.targets, lengths))


def _pair_rows(dataset: SimulatedTexts, columns_of: Columns) -> list[dict[str, Any]]:
    """Return a row for each pair of texts, with the choice of each rater."""
    texts = dataset.texts
    words = _words(dataset)
    rows = []
    for at in range(dataset.first.size):
        pair = {"a": int(dataset.first[at]), "b": int(dataset.second[at])}
        row: dict[str, Any] = {"item": texts.items[pair["a"]]}
        for side, number in pair.items():
            row[f"text_{side}"] = words[number]
            row[f"system_{side}"] = texts.systems[number]
        for aspect, columns in columns_of.items():
            for column, choices in zip(columns, dataset.choices[aspect], strict=True):
                row[column] = "a" if choices[at] > 0 else "b"
        rows.append(row)
    return rows


def _text_rows(dataset: SimulatedTexts, columns_of: Columns) -> list[dict[str, Any]]:
    """Return a row for each text, with the rating or label of each rater."""
    texts = dataset.texts
    labels = worlds.WORDS if dataset.design.kind == "labels" else None
    words = _words(dataset)
    rows = []
    for at, target in enumerate(texts.targets):
        row: dict[str, Any] = {"item": texts.items[at], "system": texts.systems[at]}
        row["text"] = words[at]
        for aspect, columns in columns_of.items():
            for column, ratings in zip(columns, dataset.ratings[aspect], strict=True):
                value = int(ratings[at])
                row[column] = labels[value] if labels else value
        rows.append(row)
        assert target == f"{row['item']}:{row['system']}"
    return rows


def _qualities(dataset: SimulatedTexts) -> list[dict[str, Any]]:
    """Return the true quality of each text."""
    texts = dataset.texts
    rows = []
    for at in range(len(texts.targets)):
        row = {"item": texts.items[at], "system": texts.systems[at]}
        for aspect in dataset.design.aspect_names:
            row[aspect] = repr(float(texts.quality[aspect][at]))
        rows.append(row)
    return rows


FAMILIES = dict.fromkeys(("s00", "s01"), "own")


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
