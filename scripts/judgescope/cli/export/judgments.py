"""Every judgment of a study as one tidy file.

Read cell by cell and written block by block: no more than one set of texts, one cell and one block
are in memory, however many judgments there are.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from math import fsum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from judgescope.cli.export.dictionary import schema
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import whole
from judgescope.plan import Plan
from judgescope.plan.judges import engine_of, scale_of
from judgescope.plan.study import Cell, CellAspect
from judgescope.report.items import Texts
from judgescope.schema.tables import TEXT, read_part

Row = dict[str, Any]
BLOCK = 50_000
"""Judgments that are written at once; a row group of Parquet."""
FORMULA = r"^('*[=+\-@\t\r\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
"""A text that begins so is a formula to a spreadsheet, or looks like one that was guarded."""
NUMERAL = r"^[+-]?[0-9]+([.][0-9]+)?$"
NAMES = [
    *("kind", "target", "target_b", "hint", "key", "draw", "value", "label"),
    *("spans", "rationale", "status", "rule", "parser"),
]


def export(plan: Plan, out: Path, path: Path, *, texts: bool, source: str) -> str:
    """Write all judgments of a study's results; return what there is to say of it.

    `source` names the study's file in messages. Raises UserError where a cell was not
    judged yet.
    """
    cells = check(plan, out, source)
    told, number = schema(texts=texts), 0
    kept = guarded if path.suffix.lower() == ".csv" else lambda block: block
    with whole(path) as part, WRITERS[path.suffix.lower()](part, told) as file:
        for block in blocks(rows(plan, out, texts=texts), told):
            file.write_table(kept(block))
            number += len(block)
    return f"{path}: {number:,} judgments in {len(cells):,} cells"


def guarded(block: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before every text that a spreadsheet would run.

    Numbers stay. To read such a text as it was, leave one apostrophe out.
    """
    for at, told in enumerate(block.schema):
        if told.type == TEXT:
            texts = block.column(at)
            safe = pc.replace_substring_regex(texts, FORMULA, r"'\1")
            number = pc.match_substring_regex(texts, NUMERAL)
            block = block.set_column(at, told, pc.if_else(number, texts, safe))
    return block


def check(plan: Plan, out: Path, source: str) -> list[Cell]:
    """Return the cells of a study. Raises UserError if the judgments of one are not there."""
    cells = [cell for dataset in plan.datasets for cell in plan.cells_of(dataset)]
    files = {cell: Path(plan.file(out, "judgments", cell)) for cell in cells}
    missing = [cell for cell in cells if not files[cell].is_file()]
    if missing:
        raise UserError(
            "not every cell of this study has been judged",
            where=str(files[missing[0]]),
            got=f"{len(missing)} cells without judgments",
            todo=f"judgescope run {source}",
        )
    return cells


def rows(plan: Plan, out: Path, *, texts: bool) -> Iterator[Row]:
    """Yield every judgment, in the order of datasets, sets of texts, judges, aspects, requests."""
    for dataset in plan.datasets:
        known = Texts(str(out), dataset)
        sources = {one.item: one.source for one in known.items()} if texts else {}
        by = plan.datasets[dataset].ratings
        for cell in _by_set(plan, dataset):
            common = _of_cell(plan, cell)
            ratings = known.ratings(split(cell.aspect)[0])
            hashes = _Hashes()
            for told in _read(plan, out, cell):
                target = known.of(cell.perturbation)[told["target"]]
                found = ratings.get((told["target"], told["target_b"]), [])
                row = {
                    **common,
                    **_said(told),
                    "item": target.item,
                    "system": target.system,
                    "step": target.step,
                    "rating": fsum(found) / len(found) if found else None,
                    "rating_n": len(found),
                    "rating_by": by if found else None,
                    "text_sha256": hashes.of(told["target"], target.text),
                }
                if texts:
                    other = known.of(cell.perturbation).get(told["target_b"])
                    row |= {"source": sources[target.item] or None, "text": target.text}
                    row |= {"text_b": other and other.text, "rationale": told["rationale"]}
                yield row


def blocks(found: Iterable[Row], told: pa.Schema, size: int = BLOCK) -> Iterator[pa.Table]:
    """Yield the rows as tables of at most `size` rows."""
    held: list[Row] = []
    for row in found:
        held.append(row)
        if len(held) == size:
            yield pa.Table.from_pylist(held, schema=told)
            held = []
    if held:
        yield pa.Table.from_pylist(held, schema=told)


class _Hashes:
    """The hashes of texts, each made once for all draws of its target."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, target: str, text: str) -> str:
        """Return the hash of a target's text."""
        if target not in self._known:
            self._known[target] = sha256(text.encode()).hexdigest()
        return self._known[target]


def _by_set(plan: Plan, dataset: str) -> list[CellAspect]:
    """Return a dataset's cells, those of one set of texts side by side."""
    order = {name: at for at, name in enumerate(plan.target_sets(dataset))}
    return sorted(plan.cell_aspects_of(dataset), key=lambda cell: order[cell.perturbation])


def _read(plan: Plan, out: Path, cell: CellAspect) -> list[Row]:
    """Return the judgments of a cell on its aspect."""
    path = plan.file(out, "judgments", cell)
    rows: list[Row] = read_part("judgments", path, *split(cell.aspect), NAMES).to_pylist()
    return rows


def _of_cell(plan: Plan, cell: CellAspect) -> Row:
    """Return what all judgments of a cell have in common."""
    name, _, degree = cell.perturbation.partition(".")
    card = plan.judges.get(cell.judge)
    aspect, criterion = split(cell.aspect)
    scale = scale_of(plan, cell.dataset, cell.judge, aspect, name) if card else None
    return {
        "dataset": cell.dataset,
        "perturbation": name,
        "degree": degree or None,
        "judge": cell.judge,
        "engine": engine_of(plan, cell.judge),
        "model": card and card.model,
        "form": card and card.form,
        "aspect": aspect,
        "criterion": criterion,
        "scale_min": scale and scale.min,
        "scale_max": scale and scale.max,
    }


def _said(told: Row) -> Row:
    """Return what a judgment says, under the names of an export."""
    same = ("kind", "target", "target_b", "hint", "draw", "status", "rule", "parser", "label")
    return {
        **{name: told[name] for name in same},
        "score": told["value"] if told["status"] == "ok" else None,
        "errors": None if told["spans"] is None else len(told["spans"]),
        "request_key": told["key"],
    }


WRITERS: dict[str, Callable[[Path, pa.Schema], Any]] = {
    ".parquet": lambda path, told: pq.ParquetWriter(path, told, compression="zstd"),
    ".csv": lambda path, told: csv.CSVWriter(path, told),
}
SUFFIXES = tuple(WRITERS)
