"""All targets of a study in one file, to be scored by another program.

The scores come back by a model of engine `recorded`, which joins its rows by target.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.cli.context import write_json_lines
from judgescope.cli.terminal import plural
from judgescope.core.cells import split
from judgescope.core.files import whole
from judgescope.core.paths import Paths
from judgescope.engines.subjects import Subjects
from judgescope.plan.generators import waiting
from judgescope.plan.study import Plan
from judgescope.prompts import rated

Row = dict[str, Any]

TEXT, NUMBER = pa.string(), pa.float64()
ASPECT = pa.struct(
    {
        **dict.fromkeys(("aspect", "name", "definition"), TEXT),
        **dict.fromkeys(("min", "max", "step"), NUMBER),
        **{"best": TEXT, "labels": pa.list_(TEXT), "source_visible": pa.bool_()},
    }
)
SCHEMA = pa.schema(
    {
        **dict.fromkeys(
            ("dataset", "target", "item", "system", "perturbation", "degree"), TEXT
        ),
        **{
            "step": pa.int64(),
            "source": TEXT,
            "references": pa.list_(TEXT),
            "text": TEXT,
        },
        "aspects": pa.list_(ASPECT),
    }
)
"""The columns of an export; in CSV, the lists are JSON."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The beginnings of cells that a spreadsheet takes for formulas."""


def export(plan: Plan, out: Path, path: Path, *, made: bool) -> str:
    """Write the targets of a study whose texts exist; return a summary and warnings.

    `made`: include texts that models write. The file gets its name once it is complete.
    """
    rows = list(_rows(plan, out, made))
    with whole(path) as part:
        WRITERS[path.suffix.lower()](rows, part)
    of_datasets = plural(len(plan.datasets), "dataset")
    lines = [f"{path}: {plural(len(rows), 'target')} of {of_datasets}"]
    left = [
        f"{name} of {dataset}"
        for dataset in plan.datasets
        for name in waiting(plan, dataset)
    ]
    if left and not made:
        more = "--made adds them, and requests those that are not stored yet"
        lines.append(f"omitted, because a model writes them: {', '.join(left)}; {more}")
    formulas = sum(
        str(value).startswith(FORMULA) for row in rows for value in row.values()
    )
    if formulas and path.suffix.lower() == ".csv":
        lines.append(
            f"{formulas} cells begin like a formula (=, +, -, @) and are written "
            "unchanged: import every column as text, never open this file in a "
            "spreadsheet; or export .jsonl"
        )
    return "\n".join(lines)


def _rows(plan: Plan, out: Path, made: bool) -> Iterator[Row]:
    for dataset in plan.datasets:
        sample = Paths(str(out)).sample() if dataset in plan.taught else None
        subjects = Subjects(str(out), dataset, plan.study.seed, sample)
        aspects = _aspects(plan, dataset)
        for target_set in plan.target_sets(dataset):
            if target_set in waiting(plan, dataset) and not made:
                continue
            judged = {
                name: _drawn(subjects, target_set, name)
                for name in aspects
                if name in plan.judged_on(dataset, target_set)
            }
            for subject in subjects.in_set(target_set):
                shown = [
                    aspects[name]
                    for name, drawn in judged.items()
                    if subject.target in drawn
                ]
                if shown:
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
    return {
        target
        for (name, wording), targets in subjects.drawn.items()
        if (name, split(wording)[0]) == (target_set, aspect)
        for target in targets
    }


def _aspects(plan: Plan, dataset: str) -> dict[str, Row]:
    """Return the aspects of a dataset's targets, with definitions and scales, by id."""
    aspects = {}
    for name in plan.plain_aspects(dataset):
        scale = plan.datasets[dataset].aspects[name]
        shown = rated(plan.aspect_of(dataset, name), scale)
        about = {key: shown["aspect"][key] for key in ("name", "definition")}
        more = {"best": scale.best, "source_visible": scale.source_visible}
        aspects[name] = {"aspect": name, **about, **shown["scale"], **more}
    return aspects


def _csv(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.names)
        for row in rows:
            cells = (row[name] for name in SCHEMA.names)
            writer.writerow(
                json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else cell
                for cell in cells
            )


def _parquet(rows: list[Row], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, compression="zstd")


WRITERS: dict[str, Callable[[list[Row], Path], None]] = {
    ".csv": _csv,
    ".jsonl": write_json_lines,
    ".parquet": _parquet,
}
