"""Put a dataset's cells together: scores, draws, how judgments ended, and the replies bought."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import by_cell, joined
from judgescope.core.files import write_text
from judgescope.core.names import SYSTEMS
from judgescope.core.paths import Paths
from judgescope.schema.tables import SCHEMAS, TEXT, read_table, table_of, write_parts, write_table
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


def main(spec: CollectSpec) -> None:
    """Concatenate scores and draws, count statuses per cell, list the replies of models."""
    cells, paths = _cells(spec), Paths(spec.results)
    collected = {name: paths.collected(spec.dataset, name) for name in TABLES}
    write_parts(
        "scores", (read_table("scores", cell.scores) for cell in cells), collected["scores"]
    )
    for name, judges in (("draws", spec.repeated), ("marked", spec.annotators)):
        tables = (_of_cell(name, spec.dataset, cell) for cell in cells if cell.judge in judges)
        write_parts(name, tables, collected[name])
    rationales = (
        _rationales(cell)
        for cell in cells
        if cell.judge in spec.explained and cell.perturbation == SYSTEMS
    )
    write_parts("rationales", rationales, collected["rationales"])
    statuses = [row for cell in cells for row in _statuses(spec.dataset, cell, spec.asked)]
    write_table("statuses", table_of("statuses", statuses), collected["statuses"])
    write_parts("bought", _bought(spec, cells), collected["bought"])
    write_text(Path(paths.cell_hashes(spec.dataset)), _hash_of(cells) + "\n")


def _cells(spec: CollectSpec) -> list[Cell]:
    paths, cells = Paths(spec.results), []
    for perturbation, judge in by_cell(spec.cells):
        judgments, scores, replies = (
            paths.cell(kind, spec.dataset, spec.models[judge], perturbation, judge)
            for kind in ("judgments", "scores", "replies")
        )
        has_replies = judge in spec.replied
        cells.append(Cell(perturbation, judge, judgments, scores, replies if has_replies else None))
    return cells


def _hash_of(cells: Iterable[Cell]) -> str:
    """Return a hash of all files of all cells: what reads these depends on it alone."""
    digest = hashlib.sha256()
    for cell in cells:
        for path in filter(None, (cell.scores, cell.judgments, cell.replies)):
            digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()


def _judgments(cell: Cell, names: Collection[str]) -> pa.Table:
    """Return columns of a cell's judgments, `aspect` with its criterion in it.

    The value is null where nothing was parsed.
    """
    wanted = {*names, "aspect", "criterion", "status", "value"} & {*SCHEMAS["judgments"].names}
    table = read_table("judgments", cell.judgments, sorted(wanted))
    worded = pc.binary_join_element_wise(table["aspect"], table["criterion"], ".")
    aspects = pc.if_else(pc.is_null(table["criterion"]), table["aspect"], worded)
    values = pc.if_else(pc.equal(table["status"], "ok"), table["value"], None)
    for name, column in (("aspect", aspects), ("value", values)):
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _of_cell(name: str, dataset: str, cell: Cell) -> pa.Table:
    """Return a cell's judgments as table `name`."""
    keys = {"dataset": dataset, "perturbation": cell.perturbation, "judge": cell.judge}
    return _with_keys(name, _judgments(cell, SCHEMAS[name].names), keys)


def _rationales(cell: Cell) -> pa.Table:
    """Return the reasons that a cell's judgments give."""
    judgments = _judgments(cell, [*SCHEMAS["rationales"].names, "rationale"])
    judgments = judgments.append_column("text", judgments["rationale"])
    return _with_keys("rationales", judgments, {"judge": cell.judge})


def _with_keys(name: str, judgments: pa.Table, keys: dict[str, str]) -> pa.Table:
    """Return judgments as table `name`; `keys` are columns with one value."""
    schema = SCHEMAS[name]
    columns = [
        pa.repeat(keys[column], len(judgments)) if column in keys else judgments[column]
        for column in schema.names
    ]
    return pa.table(columns, schema=schema)


def _statuses(dataset: str, cell: Cell, asked: Collection[str]) -> Iterator[dict[str, object]]:
    """Yield how many judgments of a cell ended how, aspect by aspect, and once what served them."""
    judged = _judgments(cell, ["rule"])
    names = ("aspect", "status", "rule")
    ends = Counter(zip(*(judged[name].to_pylist() for name in names), strict=True))
    served = _served(cell.replies) if cell.replies and cell.judge in asked else {}
    about = {"dataset": dataset, "perturbation": cell.perturbation, "judge": cell.judge}
    for (aspect, status, rule), count in sorted(ends.items()):
        row = {**about, "aspect": aspect, "status": status, "rule": rule, "n": count}
        if aspect in served:
            row["served"] = sorted(served.pop(aspect))
        yield row


def _served(path: str) -> dict[str, set[str]]:
    """Return aspect -> what answered, as the endpoints name it: model and fingerprint."""
    answers = read_table("answers", path, ["aspect", "criterion", "provenance"])
    served: dict[str, set[str]] = {}
    for aspect, criterion, origin in zip(*answers.to_pydict().values(), strict=True):
        names = served.setdefault(joined(aspect, criterion), set())
        if origin and origin["engine"]:
            names.add(" ".join(filter(None, (origin["model"], origin["fingerprint"]))))
    return {aspect: names - {""} for aspect, names in served.items()}


def _bought(spec: CollectSpec, cells: Iterable[Cell]) -> Iterator[pa.Table]:
    """Yield the replies of each judge, then of each model that wrote texts, with their usage."""
    files: dict[tuple[str | None, str | None], list[str]] = {}
    for cell in cells:
        if cell.replies and cell.judge in spec.asked:
            files.setdefault((cell.judge, None), []).append(cell.replies)
    for name, model in spec.made.items():
        path = Paths(spec.results).made(spec.dataset, name)
        files.setdefault((None, model), []).append(path)
    for judge, writer in sorted(files, key=lambda buyer: (buyer[0] is None, buyer)):
        yield _once(files[judge, writer], judge, writer)


def _once(paths: Iterable[str], judge: str | None, writer: str | None) -> pa.Table:
    """Return every reply in some files once: it may stand behind several cells."""
    replies = pa.concat_tables(map(_usage, paths)).group_by(["key", "draw"])
    unique = replies.aggregate([(name, "max") for name in TOKENS])
    unique = unique.sort_by([("key", "ascending"), ("draw", "ascending")])
    columns = [pa.repeat(pa.scalar(name, TEXT), len(unique)) for name in (judge, writer)]
    columns += [unique[name] for name in ("key", "draw", *(f"{name}_max" for name in TOKENS))]
    return pa.table(columns, schema=SCHEMAS["bought"])


def _usage(path: str) -> pa.Table:
    """Return what the replies in a file cost; what was not asked was not bought."""
    answers = read_table("answers", path, ["key", "draw", "usage"])
    answers = answers.filter(pc.is_valid(answers["key"]))
    columns = {name: answers[name] for name in ("key", "draw")}
    return pa.table(columns | {name: pc.struct_field(answers["usage"], name) for name in TOKENS})
