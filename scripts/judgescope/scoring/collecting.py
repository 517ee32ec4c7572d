"""Joins a dataset's cells: scores, draws, status counts of judgments, and paid
replies.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import by_cell, joined
from judgescope.core.files import write_text
from judgescope.core.names import BATCH, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.schema import tables
from judgescope.scoring.specs import CollectSpec

TABLES = ("scores", "draws", "marked", "rationales", "statuses", "bought")
TOKENS = ("prompt", "completion", "reasoning", "cached")


class Cell(NamedTuple):
    """A cell and its files."""

    perturbation: str
    judge: str
    judgments: str
    scores: str
    replies: str | None


def collect(spec: CollectSpec) -> None:
    """Concatenate scores and draws, count statuses per cell, list the replies of
    models.
    """
    cells, paths = _cells(spec), Paths(spec.results)
    collected = {name: paths.collected(spec.dataset, name) for name in TABLES}
    tables.write_parts(
        "scores",
        (tables.read_table("scores", cell.scores) for cell in cells),
        collected["scores"],
    )
    rated = [cell for cell in cells if cell.perturbation == SYSTEMS]
    for name, judges, used in (
        ("draws", spec.repeated, cells),
        ("marked", spec.annotators, cells),
        ("rationales", spec.explained, rated),
    ):
        parts = (
            _of_cell(name, spec.dataset, cell) for cell in used if cell.judge in judges
        )
        tables.write_parts(name, parts, collected[name])
    statuses = [
        row for cell in cells for row in _statuses(spec.dataset, cell, spec.asked)
    ]
    tables.write_table(
        "statuses", tables.table_of("statuses", statuses), collected["statuses"]
    )
    tables.write_parts("bought", _bought(spec, cells), collected["bought"])
    write_text(Path(paths.cell_hashes(spec.dataset)), _hash_of(cells) + "\n")


def _cells(spec: CollectSpec) -> list[Cell]:
    paths, cells = Paths(spec.results), []
    for perturbation, judge in by_cell(spec.cells):
        judgments, scores, replies = (
            paths.cell(kind, spec.dataset, spec.models[judge], perturbation, judge)
            for kind in ("judgments", "scores", "replies")
        )
        has_replies = judge in spec.replied
        cells.append(
            Cell(
                perturbation, judge, judgments, scores, replies if has_replies else None
            )
        )
    return cells


def _hash_of(cells: Iterable[Cell]) -> str:
    """Return a hash of all files of all cells, on which later jobs depend instead of
    the files.
    """
    digest = hashlib.sha256()
    for cell in cells:
        for path in filter(None, (cell.scores, cell.judgments, cell.replies)):
            digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()


def _judgments(cell: Cell, names: Collection[str]) -> pa.Table:
    """Return columns of a cell's judgments; `aspect` includes the criterion."""
    known = tables.SCHEMAS["judgments"].names
    wanted = {*names, "aspect", "criterion", "status", "value"}.intersection(known)
    table = tables.read_table("judgments", cell.judgments, sorted(wanted))
    worded = pc.binary_join_element_wise(table["aspect"], table["criterion"], ".")
    aspects = pc.if_else(pc.is_null(table["criterion"]), table["aspect"], worded)
    values = pc.if_else(pc.equal(table["status"], "ok"), table["value"], None)
    for name, column in (("aspect", aspects), ("value", values)):
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _of_cell(name: str, dataset: str, cell: Cell) -> pa.Table:
    """Return a cell's judgments as table `name`; in `rationales`, `text` is the
    rationale.
    """
    keys = {"dataset": dataset, "perturbation": cell.perturbation, "judge": cell.judge}
    schema = tables.SCHEMAS[name]
    names = ["rationale" if column == "text" else column for column in schema.names]
    judgments = _judgments(cell, names)
    columns = [
        pa.repeat(keys[column], len(judgments)) if column in keys else judgments[column]
        for column in names
    ]
    return pa.table(columns, schema=schema)


def _statuses(
    dataset: str, cell: Cell, asked: Collection[str]
) -> Iterator[dict[str, object]]:
    """Yield a cell's status counts by aspect, and once the model and fingerprint that
    answered.
    """
    names = ["aspect", "status", "rule"]
    counts = _judgments(cell, ["rule"]).group_by(names).aggregate([([], "count_all")])
    served = _served(cell.replies) if cell.replies and cell.judge in asked else {}
    about = {"dataset": dataset, "perturbation": cell.perturbation, "judge": cell.judge}
    for aspect, status, rule, n in sorted(
        zip(*counts.to_pydict().values(), strict=True)
    ):
        row = {**about, "aspect": aspect, "status": status, "rule": rule, "n": n}
        if aspect in served:
            row["served"] = sorted(served.pop(aspect))
        yield row


def _served(path: str) -> dict[str, set[str]]:
    """Return aspect -> the model and fingerprint that answered, as the endpoints report
    them.
    """
    names = ["aspect", "criterion", "engine", "model", "fingerprint"]
    answers = tables.read_table("answers", path, ["aspect", "criterion", "provenance"])
    columns = [answers["aspect"], answers["criterion"]]
    columns += [pc.struct_field(answers["provenance"], name) for name in names[2:]]
    origins = pa.table(columns, names).group_by(names).aggregate([])
    served: dict[str, set[str]] = {}
    for aspect, criterion, engine, *origin in zip(
        *origins.to_pydict().values(), strict=True
    ):
        endpoints = served.setdefault(joined(aspect, criterion), set())
        if engine and any(origin):
            endpoints.add(" ".join(filter(None, origin)))
    return served


def _bought(spec: CollectSpec, cells: Iterable[Cell]) -> Iterator[pa.Table]:
    """Yield the replies of each judge, then of each model that wrote texts, with their
    usage.
    """
    files: dict[tuple[str | None, str | None], list[str]] = {}
    for cell in cells:
        if cell.replies and cell.judge in spec.asked:
            files.setdefault((cell.judge, None), []).append(cell.replies)
    for name, model in spec.made.items():
        path = Paths(spec.results).made(spec.dataset, name)
        files.setdefault((None, model), []).append(path)
    for judge, writer in sorted(files, key=lambda buyer: (buyer[0] is None, buyer)):
        yield from _once(files[judge, writer], judge, writer)


def _once(
    paths: list[str], judge: str | None, writer: str | None
) -> Iterator[pa.Table]:
    """Yield every reply in some files once, by key: several cells can share a reply."""
    for low, high in tables.key_ranges(
        sum(tables.count_rows("answers", path) for path in paths)
    ):
        replies = pa.concat_tables(_usage(path, low, high) for path in paths)
        names = [*TOKENS, "batch"]
        unique = replies.group_by(["key", "draw"]).aggregate(
            [(name, "max") for name in names]
        )
        unique = unique.sort_by([("key", "ascending"), ("draw", "ascending")])
        columns = [
            pa.repeat(pa.scalar(name, tables.TEXT), len(unique))
            for name in (judge, writer)
        ]
        columns += [
            unique[name] for name in ("key", "draw", *(f"{name}_max" for name in names))
        ]
        yield pa.table(columns, schema=tables.SCHEMAS["bought"])


def _usage(path: str, low: str, high: str) -> pa.Table:
    """Return the usage of replies with low <= key < high; replies without a key cost
    nothing.
    """
    names = ["key", "draw", "usage", "provenance"]
    answers = tables.read_key_range("answers", path, names, low, high)
    columns = {name: answers[name] for name in ("key", "draw")}
    columns |= {name: pc.struct_field(answers["usage"], name) for name in TOKENS}
    engine = pc.struct_field(answers["provenance"], "engine")
    return pa.table({**columns, "batch": pc.fill_null(pc.equal(engine, BATCH), False)})
