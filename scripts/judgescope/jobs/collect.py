"""Put a dataset's cells together: scores, draws, how judgments ended, and the replies bought."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from judgescope.core.cells import by_cell, cell_file, joined
from judgescope.core.files import write_text
from judgescope.core.set_names import SYSTEMS
from judgescope.jobs.run import run
from judgescope.schema.tables import SCHEMAS, TEXT, read_table, table_of, write_parts, write_table
from judgescope.scoring.specs import CollectSpec

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
    cells = list(_cells(spec))
    out = f"{spec.results}/collected/{spec.dataset}"
    scores = (read_table("scores", cell.scores) for cell in cells)
    write_parts("scores", scores, f"{out}/scores.parquet")
    for name, judges in (("draws", spec.repeated), ("marked", spec.annotators)):
        tables = (_placed(name, spec.dataset, cell) for cell in cells if cell.judge in judges)
        write_parts(name, tables, f"{out}/{name}.parquet")
    said = (
        _rationales(cell)
        for cell in cells
        if cell.judge in spec.explained and cell.perturbation == SYSTEMS
    )
    write_parts("rationales", said, f"{out}/rationales.parquet")
    counted = [row for cell in cells for row in _statuses(spec.dataset, cell, spec.asked)]
    write_table("statuses", table_of("statuses", counted), f"{out}/statuses.parquet")
    write_parts("bought", _bought(spec, cells), f"{out}/bought.parquet")
    write_text(Path(f"{out}/cells.sha256"), _sum_of(cells) + "\n")


def _cells(spec: CollectSpec) -> Iterator[Cell]:
    for perturbation, judge in by_cell(spec.cells):
        place = partial(
            cell_file,
            spec.results,
            dataset=spec.dataset,
            model=spec.models[judge],
            perturbation=perturbation,
            judge=judge,
        )
        replies = place("replies") if judge in spec.replied else None
        yield Cell(perturbation, judge, place("judgments"), place("scores"), replies)


def _sum_of(cells: Collection[Cell]) -> str:
    """Return a hash of all files of all cells.

    Who reads them one by one depends on it alone, and not on thousands of files.
    """
    found = hashlib.sha256()
    for cell in cells:
        for path in filter(None, (cell.scores, cell.judgments, cell.replies)):
            found.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return found.hexdigest()


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


def _placed(name: str, dataset: str, cell: Cell) -> pa.Table:
    """Return a cell's judgments as table `name`."""
    schema = SCHEMAS[name]
    judgments = _judgments(cell, schema.names)
    places = {"dataset": dataset, "perturbation": cell.perturbation, "judge": cell.judge}
    columns = {one: pa.repeat(value, len(judgments)) for one, value in places.items()}
    columns |= {one: judgments[one] for one in schema.names if one not in places}
    return pa.table([columns[one] for one in schema.names], schema=schema)


def _rationales(cell: Cell) -> pa.Table:
    """Return what a cell's judgments say and why."""
    schema = SCHEMAS["rationales"]
    judgments = _judgments(cell, [*schema.names, "rationale"])
    columns = {"judge": pa.repeat(cell.judge, len(judgments)), "text": judgments["rationale"]}
    columns |= {one: judgments[one] for one in schema.names if one not in columns}
    return pa.table([columns[one] for one in schema.names], schema=schema)


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
    found: dict[str, set[str]] = {}
    for aspect, criterion, told in zip(*answers.to_pydict().values(), strict=True):
        names = found.setdefault(joined(aspect, criterion), set())
        if told and told["engine"]:
            names.add(" ".join(filter(None, (told["model"], told["fingerprint"]))))
    return {aspect: names - {""} for aspect, names in found.items()}


def _bought(spec: CollectSpec, cells: Iterable[Cell]) -> Iterator[pa.Table]:
    """Yield the replies of each judge, then of each model that wrote texts, with their usage."""
    files: dict[tuple[str | None, str | None], list[str]] = {}
    for cell in cells:
        if cell.replies and cell.judge in spec.asked:
            files.setdefault((cell.judge, None), []).append(cell.replies)
    for name, model in spec.made.items():
        path = f"{spec.results}/made/{spec.dataset}/{name}.parquet"
        files.setdefault((None, model), []).append(path)
    for judge, writer in sorted(files, key=lambda bought_by: (bought_by[0] is None, bought_by)):
        yield _once(files[judge, writer], judge, writer)


def _once(paths: Iterable[str], judge: str | None, writer: str | None) -> pa.Table:
    """Return every reply in some files once: it may stand behind several cells."""
    replies = pa.concat_tables(map(_usage, paths)).group_by(["key", "draw"])
    found = replies.aggregate([(name, "max") for name in TOKENS])
    found = found.sort_by([("key", "ascending"), ("draw", "ascending")])
    columns = [pa.repeat(pa.scalar(name, TEXT), len(found)) for name in (judge, writer)]
    columns += [found[name] for name in ("key", "draw", *(f"{name}_max" for name in TOKENS))]
    return pa.table(columns, schema=SCHEMAS["bought"])


def _usage(path: str) -> pa.Table:
    """Return what the replies in a file cost; what was not asked was not bought."""
    answers = read_table("answers", path, ["key", "draw", "usage"])
    answers = answers.filter(pc.is_valid(answers["key"]))
    columns = {name: answers[name] for name in ("key", "draw")}
    return pa.table(columns | {name: pc.struct_field(answers["usage"], name) for name in TOKENS})


if __name__ == "__main__":
    run(main)
