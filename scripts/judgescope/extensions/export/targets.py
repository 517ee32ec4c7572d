"""All targets of a study in one file, to be scored by another program.

The scores come back by a model of engine `recorded`, which joins its rows by target.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.cli.context import write_json_lines
from judgescope.cli.terminal import plural
from judgescope.core.cells import split
from judgescope.core.files import atomic_write
from judgescope.core.paths import Paths
from judgescope.engines.subjects import Subjects
from judgescope.plan.generators import waiting
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.study import Plan
from judgescope.prompts import rated


def target_schema() -> pa.Schema:
    """Return the columns of an export; in CSV, the lists are JSON."""
    text = pa.string()
    aspect = pa.struct(
        {
            "aspect": text,
            "name": text,
            "definition": text,
            "min": pa.float64(),
            "max": pa.float64(),
            "step": pa.float64(),
            "best": text,
            "labels": pa.list_(text),
            "source_visible": pa.bool_(),
        }
    )
    return pa.schema(
        {
            "dataset": text,
            "target": text,
            "item": text,
            "system": text,
            "perturbation": text,
            "degree": text,
            "step": pa.int64(),
            "source": text,
            "references": pa.list_(text),
            "text": text,
            "aspects": pa.list_(aspect),
        }
    )


SCHEMA = target_schema()


def export(plan: Plan, out: Path, path: Path, *, made: bool) -> str:
    """Write the targets of a study whose texts exist; return a summary and warnings.

    `made`: include texts that models write. The file gets its name once it is complete.
    """
    rows = list(_rows(plan, out, made))
    suffix = path.suffix.lower()
    with atomic_write(path) as part:
        WRITERS[suffix](rows, part)
    of_datasets = plural(len(plan.datasets), "dataset")
    lines = [f"{path}: {plural(len(rows), 'target')} of {of_datasets}"]
    omitted = []
    for dataset in plan.datasets:
        omitted += [f"{name} of {dataset}" for name in waiting(plan, dataset)]
    if omitted and not made:
        more = "--made adds them, and requests those that are not stored yet"
        names = ", ".join(omitted)
        lines.append(f"omitted, because a model writes them: {names}; {more}")
    formulas = sum(map(_formulas, rows))
    if formulas and suffix == ".csv":
        lines.append(
            f"{formulas} cells begin like a formula (=, +, -, @) and are written "
            "unchanged: import every column as text, never open this file in a "
            "spreadsheet; or export .jsonl"
        )
    return "\n".join(lines)


def _formulas(row: Mapping[str, object]) -> int:
    """Return how many cells of a row a spreadsheet takes for formulas."""
    begins = ("=", "+", "-", "@", "\t", "\r")
    return sum(str(value).startswith(begins) for value in row.values())


def _rows(plan: Plan, out: Path, made: bool) -> Iterator[dict[str, object]]:
    for dataset in plan.datasets:
        files = every_file(plan, dataset, Paths(str(out)))
        subjects = Subjects(files, dataset, plan.study.seed)
        aspects = _aspects(plan, dataset)
        for target_set in plan.target_sets(dataset):
            if target_set in waiting(plan, dataset) and not made:
                continue
            judged = {}
            for name in aspects:
                if name in plan.judged_on(dataset, target_set):
                    judged[name] = _drawn(subjects, target_set, name)
            for subject in subjects.in_set(target_set):
                shown = []
                for name, drawn in judged.items():
                    if subject.target in drawn:
                        shown.append(aspects[name])
                if not shown:
                    continue
                yield {
                    "dataset": dataset,
                    "target": subject.target,
                    "item": subject.item,
                    "system": subject.system,
                    "perturbation": subject.perturbation,
                    "degree": target_set.partition(".")[2] or None,
                    "step": subject.step,
                    "source": subject.source,
                    "references": list(subject.references),
                    "text": subject.text,
                    "aspects": shown,
                }


def _drawn(subjects: Subjects, target_set: str, aspect: str) -> set[str]:
    """Return the targets judged on an aspect in any wording; with a sample, the drawn
    ones.
    """
    if subjects.sample is None:
        return {subject.target for subject in subjects.in_set(target_set)}
    drawn: set[str] = set()
    for (name, wording), targets in subjects.drawn.items():
        if name == target_set and split(wording)[0] == aspect:
            drawn.update(targets)
    return drawn


def _aspects(plan: Plan, dataset: str) -> dict[str, dict[str, object]]:
    """Return the aspects of a dataset's targets, with definitions and scales, by id."""
    aspects: dict[str, dict[str, object]] = {}
    for name in plan.plain_aspects(dataset):
        scale = plan.datasets[dataset].aspects[name]
        shown = rated(plan.aspect_of(dataset, name), scale)
        shown["scale"].pop("agreement", None)  # words of prompts
        aspects[name] = {
            "aspect": name,
            "name": shown["aspect"]["name"],
            "definition": shown["aspect"]["definition"],
            **shown["scale"],
            "best": scale.best,
            "source_visible": scale.source_visible,
        }
    return aspects


def _csv(rows: Iterable[Mapping[str, object]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.names)
        for row in rows:
            cells = []
            for name in SCHEMA.names:
                cell = row[name]
                if isinstance(cell, list):
                    cell = json.dumps(cell, ensure_ascii=False)
                cells.append(cell)
            writer.writerow(cells)


def _parquet(rows: list[dict[str, object]], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, compression="zstd")


WRITERS: dict[str, Callable[[list[dict[str, object]], Path], None]] = {
    ".csv": _csv,
    ".jsonl": write_json_lines,
    ".parquet": _parquet,
}
