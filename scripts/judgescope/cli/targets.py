"""Every target of a study in one file, so that it can be scored elsewhere.

The scores come back through a model of engine `recorded` that joins its rows by target.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.core.paths import Paths
from judgescope.engines.subjects import Subjects
from judgescope.plan import Plan
from judgescope.plan.generators import waiting
from judgescope.prompts import rated

Row = dict[str, Any]

TEXT, NUMBER = pa.string(), pa.float64()
ASPECT = pa.struct(
    {
        **dict.fromkeys(("aspect", "name", "definition"), TEXT),
        **dict.fromkeys(("min", "max", "step"), NUMBER),
        **{"labels": pa.list_(TEXT), "source_visible": pa.bool_()},
    }
)
SCHEMA = pa.schema(
    {
        **dict.fromkeys(("dataset", "target", "item", "system", "perturbation", "degree"), TEXT),
        **{"step": pa.int64(), "source": TEXT, "references": pa.list_(TEXT), "text": TEXT},
        "aspects": pa.list_(ASPECT),
    }
)
"""The columns of an export; in CSV, the lists are JSON."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so is a formula to a spreadsheet."""


def check_file(path: Path) -> None:
    """Raise UserError for a file that cannot be written, before anything is run for it."""
    if path.suffix.lower() not in WRITERS:
        allowed = ", ".join(WRITERS)
        raise UserError(
            "this kind of file is not written", where=str(path), got=path.suffix, allowed=allowed
        )
    if not path.parent.is_dir():
        raise UserError("there is no such folder", where=str(path), got=str(path.parent))


def export(plan: Plan, out: Path, path: Path, *, made: bool) -> str:
    """Write the targets of a study whose texts are there; return what there is to say of it.

    `made`: with the texts that models write. The file appears under its name only when it is whole.
    """
    rows = list(_rows(plan, out, made))
    with whole(path) as part:
        WRITERS[path.suffix.lower()](rows, part)
    told = [f"{path}: {len(rows)} targets of {len(plan.datasets)} datasets"]
    left = [f"{name} of {dataset}" for dataset in plan.datasets for name in waiting(plan, dataset)]
    if left and not made:
        more = "--made adds them, and asks for those that the store lacks"
        told.append(f"left out, because a model writes them: {', '.join(left)}; {more}")
    formulas = sum(str(row[name]).startswith(FORMULA) for row in rows for name in row)
    if formulas and path.suffix.lower() == ".csv":
        told.append(
            f"{formulas} cells begin like a formula (=, +, -, @) and stand as they are: import "
            "every column as text, never open this file in a spreadsheet; or export .jsonl"
        )
    return "\n".join(told)


def _rows(plan: Plan, out: Path, made: bool) -> Iterator[Row]:
    for dataset in plan.datasets:
        sample = Paths(str(out)).sample() if dataset in plan.taught else None
        subjects = Subjects(str(out), dataset, plan.study.seed, sample)
        aspects = _aspects(plan, dataset)
        for name in plan.target_sets(dataset):
            if name in waiting(plan, dataset) and not made:
                continue
            own = [one for one in aspects if one["aspect"] in plan.judged_on(dataset, name)]
            drawn = {one["aspect"]: _drawn(subjects, name, one["aspect"]) for one in own}
            for one in subjects.of(name):
                told = [row for row in own if one.target in drawn[row["aspect"]]]
                if not told:
                    continue
                yield {
                    "dataset": dataset,
                    "target": one.target,
                    "item": one.item,
                    "system": one.system,
                    "perturbation": one.perturbation,
                    "degree": name.partition(".")[2] or None,
                    "step": one.step,
                    "source": one.source,
                    "references": list(one.references),
                    "text": one.text,
                    "aspects": told,
                }


def _drawn(subjects: Subjects, perturbation: str, aspect: str) -> set[str]:
    """Return the targets that are judged on an aspect, in any wording: of a sample those drawn."""
    if subjects.sample is None:
        return {one.target for one in subjects.of(perturbation)}
    return {
        target
        for (name, told), targets in subjects.drawn.items()
        if (name, split(told)[0]) == (perturbation, aspect)
        for target in targets
    }


def _aspects(plan: Plan, dataset: str) -> list[Row]:
    """Return on what the targets of a dataset are judged, and on which scales."""
    found = []
    for name in plan.plain_aspects(dataset):
        scale = plan.datasets[dataset].aspects[name]
        told = rated(plan.aspect_of(dataset, name), scale)
        about = {key: told["aspect"][key] for key in ("name", "definition")}
        visible = {"source_visible": scale.source_visible}
        found.append({"aspect": name, **about, **told["scale"], **visible})
    return found


def _csv(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.names)
        for row in rows:
            cells = (row[name] for name in SCHEMA.names)
            writer.writerow(_json(one) if isinstance(one, list) else one for one in cells)


def _jsonl(rows: Iterable[Row], path: Path) -> None:
    """Write ASCII: whatever a program takes for the end of a line, no text has it."""
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def _parquet(rows: list[Row], path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, compression="zstd")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


WRITERS: dict[str, Callable[[list[Row], Path], None]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
